//! What can be asked for: covariates, levels, weights, entries, strata, comparison.

use serde_json::Value;

use super::{ATTACKS, covariates, estimate, object, refused, table};

const ASK: &str = "data.csv --duration seconds --event succeeded";

#[test]
fn text_becomes_levels_against_the_first() {
    let folder = table("levels", ATTACKS);
    let got = object(&folder, &format!("{ASK} --model weibull"));
    assert_eq!(covariates(&got), ["Intercept", "layers", "defence=none", "Intercept"][..]);
    assert_eq!(got["base_levels"]["defence"], "noise");
    let by_hand =
        ATTACKS.replace("defence", "plain").replace(",none\n", ",1\n").replace(",noise\n", ",0\n");
    let numbers = object(&table("numbers", &by_hand), &format!("{ASK} --model weibull"));
    let (a, b) = (estimate(&got, "lambda", "defence=none"), estimate(&numbers, "lambda", "plain"));
    assert_eq!(a, b);
    let layers = object(&folder, &format!("{ASK} --model exponential --levels layers"));
    assert_eq!(covariates(&layers)[1..], ["layers=34", "layers=50", "defence=none"]);
    assert_eq!(layers["base_levels"]["layers"], "18");
}

#[test]
fn covariates_are_chosen_and_dropped() {
    let folder = table("chosen", ATTACKS);
    let model = format!("{ASK} --model exponential");
    let none = object(&folder, &format!("{model} --covariates none"));
    // Without covariates λ is the time at risk per event.
    let (time, events) = (14.6_f64, 9.0);
    assert!((estimate(&none, "lambda", "Intercept") - (time / events).ln()).abs() < 1e-9);
    let lasting = |key: &str| none["at_mean_covariates"][key]["value"].as_f64().unwrap();
    assert!((lasting("mean") - time / events).abs() < 1e-6, "{none}");
    assert!((lasting("median") - time / events * 2.0_f64.ln()).abs() < 1e-9, "{none}");
    let chosen = object(&folder, &format!("{model} --covariates layers"));
    let dropped = object(&folder, &format!("{model} --drop defence"));
    assert_eq!(chosen, dropped);
    assert_eq!(covariates(&chosen), ["Intercept", "layers"]);
}

#[test]
fn every_row_ends_with_the_event_without_an_event_column() {
    let folder = table("no_event", ATTACKS);
    let args = "data.csv --duration seconds --drop succeeded --covariates none --model exponential";
    let got = object(&folder, args);
    assert_eq!((&got["rows"], &got["events"]), (&12.into(), &12.into()));
    assert!((estimate(&got, "lambda", "Intercept") - (14.6_f64 / 12.0).ln()).abs() < 1e-9);
}

#[test]
fn weights_are_repeated_rows() {
    let weighed: Vec<String> = ATTACKS
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("{line},w") } else { format!("{line},{}", 1 + i % 3) })
        .collect();
    let mut repeated = vec![ATTACKS.lines().next().unwrap()];
    for (i, line) in ATTACKS.lines().enumerate().skip(1) {
        repeated.extend(std::iter::repeat_n(line, 1 + i % 3));
    }
    let args = format!("{ASK} --model weibull");
    let a = object(&table("weighed", &weighed.join("\n")), &format!("{args} --weights w"));
    let b = object(&table("repeated", &repeated.join("\n")), &args);
    for covariate in ["Intercept", "layers", "defence=none"] {
        let (a, b) = (estimate(&a, "lambda", covariate), estimate(&b, "lambda", covariate));
        assert!((a - b).abs() < 1e-7, "{covariate}: {a} {b}");
    }
    let bad = weighed.join("\n").replacen(",2\n", ",0\n", 1);
    let said = refused(&table("weightless", &bad), &format!("{args} --weights w"));
    assert!(said.contains("line 2: w is 0, but a weight must be above 0"), "{said}");
}

#[test]
fn late_entries_count_from_when_they_entered() {
    // Without memory, the exponential's λ is the time under observation per event.
    let text = "t,e,from\n5,1,1\n8,0,2\n3,1,0\n9,1,4\n";
    let args = "data.csv --duration t --event e --entry from --model exponential";
    let got = object(&table("entry", text), args);
    let watched = 4.0 + 6.0 + 3.0 + 5.0_f64;
    assert!((estimate(&got, "lambda", "Intercept") - (watched / 3.0).ln()).abs() < 1e-9);
    let said = refused(&table("entry_late", &text.replace("9,1,4", "9,1,9")), args);
    assert!(said.contains("line 5: from is 9, but an entry must lie between"), "{said}");
}

#[test]
fn other_parameters_depend_on_covariates_too() {
    let folder = table("ancillary", ATTACKS);
    let args = format!("{ASK} --model weibull --covariates defence --ancillary rho=defence");
    let got = object(&folder, &args);
    assert_eq!(covariates(&got), ["Intercept", "defence=none", "Intercept", "defence=none"]);
    for (args, wanted) in [
        ("--model weibull --ancillary sigma=defence", "nothing is called sigma; known are rho"),
        ("--model weibull --ancillary rho=size", "no covariate is called size"),
        ("--model exponential --ancillary rho=defence", "exponential has no parameter rho"),
        ("--model cox --ancillary rho=defence", "--ancillary needs one parametric model"),
        ("--model weibull --strata defence", "--strata needs --model km or cox"),
        ("--model weibull --formula layers+strata(defence)", "--strata needs --model km or cox"),
        ("--model cox --formula layers+defense", "did you mean defence"),
        ("--model km --formula layers", "other than km"),
        ("--model km --penalty 1", "other than km"),
    ] {
        let said = refused(&folder, &format!("{ASK} {args}"));
        assert!(said.contains(wanted), "{args}: {said}");
    }
}

#[test]
fn ties_have_two_methods() {
    let text: String = ATTACKS.replace("0.8", "1.1").replace("0.9", "1.2");
    let folder = table("ties", &text);
    let slope = |ties: &str| {
        let got = object(&folder, &format!("{ASK} --model cox --ties {ties}"));
        assert!(got["proportionality"]["all"]["p"].is_number());
        estimate(&got, "beta", "defence=none")
    };
    assert!((slope("efron") - slope("breslow")).abs() > 1e-3);
}

#[test]
fn the_curve_of_a_textbook() {
    // Freireich's 6-MP group, as Klein and Moeschberger print it.
    let mut text = "weeks,relapse,arm\n".to_owned();
    for week in [6, 6, 6, 7, 10, 13, 16, 22, 23] {
        text += &format!("{week},1,drug\n");
    }
    for week in [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35] {
        text += &format!("{week},0,drug\n");
    }
    for week in [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23] {
        text += &format!("{week},1,placebo\n");
    }
    let folder = table("km", &text);
    let args = "data.csv --duration weeks --event relapse --model km";
    let got = object(&folder, &format!("{args} --strata arm"));
    let drug = &got["groups"][0];
    assert_eq!((drug["level"].as_str(), drug["median"].as_f64()), (Some("drug"), Some(23.0)));
    let steps = drug["curve"].as_array().unwrap();
    let survival: Vec<f64> = steps.iter().map(|s| s["survival"].as_f64().unwrap()).collect();
    let want = [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448];
    assert_eq!(survival.len(), want.len());
    for (got, want) in survival.iter().zip(want) {
        assert!((got - want).abs() < 6e-4, "{survival:?}");
    }
    assert!((got["log_rank"]["statistic"].as_f64().unwrap() - 16.79).abs() < 5e-3);
    let whole = object(&folder, args);
    assert!(whole["curve"].as_array().unwrap().len() > steps.len());
    assert_eq!((&whole["coefficients"], &whole["aic"]), (&Value::Array(vec![]), &Value::Null));

    let text = folder.run(&format!("survive {args} --strata arm")).stdout;
    assert!(text.contains("drug: 21 rows, 9 events, median 23"), "{text}");
    assert!(
        text.contains("log-rank: chi-squared 16.79, 1 degree of freedom, p < 0.0001"),
        "{text}"
    );
}

#[test]
fn a_curve_needs_no_events_and_takes_durations_of_zero() {
    let got =
        object(&table("flat", "t,e\n0,0\n2,0\n"), "data.csv --duration t --event e --model km");
    assert_eq!((got["curve"].as_array().unwrap().len(), &got["median"]), (0, &Value::Null));
    let zero = "t,e,x\n0,1,1\n1,1,2\n2,1,1\n3,0,3\n4,1,3\n5,1,2\n";
    let got = object(&table("zero_cox", zero), "data.csv --duration t --event e --model cox");
    // Only lifelines' definition takes the logarithm of durations.
    assert!(got["concordance"].is_number() && got["ici"].is_number(), "{got}");
    assert!(got["ici_lifelines"].is_null(), "{got}");
}

/// Durations of a Weibull distribution at two levels, in order of quantiles.
fn weibull(rows: usize) -> String {
    let mut text = "t,e,x,group\n".to_owned();
    for i in 0..rows {
        let share = (i as f64 + 0.5) / rows as f64;
        let group = if i % 2 == 0 { "a" } else { "b" };
        let time = (-(1.0 - share).ln()).powf(0.5) * if i % 2 == 0 { 1.0 } else { 2.0 };
        let event = u8::from(i % 5 != 0);
        text += &format!("{time},{event},{},{group}\n", i * 7919 % 101);
    }
    text
}

#[test]
fn all_models_are_compared_and_one_is_recommended() {
    let folder = table("all", &weibull(500));
    let args = "data.csv --duration t --event e --model all";
    let got = object(&folder, args);
    let comparison = &got["comparison"];
    let models = comparison["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().map(|m| m["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["exponential", "weibull", "lognormal", "loglogistic", "gengamma", "cox"]);
    for model in models {
        let partial = model["model"] == "cox";
        assert_eq!(model["aic"].is_null(), partial, "{model}");
        for (part, rows) in [("train", 400), ("test", 100)] {
            assert_eq!(model[part]["rows"], rows, "{model}");
            for key in ["concordance", "ici", "e50"] {
                assert!(model[part][key].is_number(), "{key}: {model}");
            }
        }
    }
    assert_eq!(comparison["recommended"], "weibull");
    assert!(comparison["reason"].as_str().unwrap().contains("AIC"), "{comparison}");
    // What is recommended is fitted to all rows.
    let alone = object(&folder, "data.csv --duration t --event e --model weibull");
    assert_eq!(got["coefficients"], alone["coefficients"]);
    assert_eq!((&got["rows"], &got["aic"]), (&500.into(), &alone["aic"]));

    assert_eq!(object(&folder, &format!("{args} --seed 1")), got);
    assert_ne!(object(&folder, &format!("{args} --seed 2")), got);
    let whole = object(&folder, &format!("{args} --test 0"));
    assert!(whole["comparison"]["models"][0]["test"].is_null());
}

#[test]
fn one_model_is_tested_on_rows_it_has_not_seen() {
    let folder = table("held_out", &weibull(200));
    let args = "data.csv --duration t --event e --model lognormal --test 0.25";
    let got = object(&folder, args);
    assert_eq!((&got["rows"], &got["test"]["rows"]), (&150.into(), &50.into()));
    assert!(got["test"]["ici"].is_number());
    let few = refused(&table("few", "t,e\n1,1\n"), "data.csv --duration t --event e");
    assert!(few.contains("too few rows to hold 1 out; use --test 0"), "{few}");
}
