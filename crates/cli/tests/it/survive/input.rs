//! Tables that are not as they should be: a clear refusal, or the right answer.

use serde_json::Value;

use super::{ATTACKS, covariates, estimate, object, refused, table};

const ASK: &str = "data.csv --duration seconds --event succeeded --model weibull";

/// The table with something else in one place of its text.
fn with(from: &str, to: &str) -> String {
    let changed = ATTACKS.replacen(from, to, 1);
    assert_ne!(changed, ATTACKS, "{from} is not there");
    changed
}

#[test]
fn what_cannot_be_used_is_refused() {
    let no_events = ATTACKS.replace(",1,", ",0,");
    let cases: &[(&str, String, &str, &str)] = &[
        ("rows", "seconds,succeeded,layers,defence\n".into(), ASK, "no rows"),
        ("nothing", String::new(), ASK, "no header"),
        (
            "negative",
            with("0.8,1", "-0.8,1"),
            ASK,
            "line 2: seconds is -0.8, but a duration cannot be negative",
        ),
        ("zero", with("0.8,1", "0,1"), ASK, "line 2: seconds is 0, and parametric models"),
        ("endless", with("0.8,1", "inf,1"), ASK, "line 2: seconds is inf, and a finite number"),
        ("text", with("0.8,1", "soon,1"), ASK, "line 2: seconds is \"soon\", but a number"),
        ("event", with("0.8,1", "0.8,2"), ASK, "line 2: succeeded is \"2\"; 1 or 0, true or false"),
        ("ragged", with("0.8,1,18,none", "0.8,1,18"), ASK, "line 2 has 3 values, the header 4"),
        ("mixed", with("1.1,1,34", "1.1,1,many"), ASK, "line 4: layers is \"many\", and a number"),
        ("censored", no_events, ASK, "no events: every row is censored"),
        ("duplicate", with("defence", "layers"), ASK, "two columns are called layers"),
        (
            "unknown",
            ATTACKS.into(),
            "data.csv --duration second --event succeeded",
            "no column is called second; did you mean seconds?",
        ),
        (
            "far",
            ATTACKS.into(),
            "data.csv --duration zzzzzz --event succeeded",
            "there are seconds, succeeded, layers, defence",
        ),
        ("drop", ATTACKS.into(), &format!("{ASK} --drop layer"), "did you mean layers?"),
        (
            "twice",
            ATTACKS.into(),
            "data.csv --duration seconds --event seconds",
            "seconds cannot be both --duration and --event",
        ),
        (
            "role",
            ATTACKS.into(),
            &format!("{ASK} --covariates succeeded"),
            "succeeded is the --event",
        ),
        (
            "model",
            ATTACKS.into(),
            "data.csv --duration seconds --model weibul",
            "did you mean weibull?",
        ),
        ("penalty", ATTACKS.into(), &format!("{ASK} --penalty=-1"), "a penalty is"),
        (
            "weights",
            ATTACKS.into(),
            &format!("{ASK} --weights succeeded"),
            "both --event and --weights",
        ),
        ("time", ATTACKS.into(), &format!("{ASK} --time=-3"), "--time must be a number above 0"),
        ("page", ATTACKS.into(), &format!("{ASK} -o page.pdf"), ".html"),
        ("share", ATTACKS.into(), &format!("{ASK} --test 1"), "a share from 0 to below 1"),
    ];
    for (name, text, args, wanted) in cases {
        let said = refused(&table(&format!("wrong_{name}"), text), args);
        assert!(said.contains(wanted), "{name}: {said}");
    }
    let folder = table("absent", ATTACKS);
    assert!(refused(&folder, "no.csv --duration a --event b").contains("no.csv"));
}

/// Coefficients that no data can place.
#[test]
fn fits_without_an_answer_are_refused() {
    let mut separated = "t,e,x,y\n".to_owned();
    let mut collinear = "t,e,x,y\n".to_owned();
    for i in 0..40 {
        let (t, x) = (f64::from(i * 7 % 23) + 1.0, i % 2);
        separated += &format!("{t},{x},{x},{}\n", i % 3);
        collinear += &format!("{t},1,{i},{}\n", 3 * i + 1);
    }
    for model in ["weibull", "cox", "all"] {
        let args = format!("data.csv --duration t --event e --model {model}");
        let said = refused(&table(&format!("separated_{model}"), &separated), &args);
        assert!(said.contains("x separates events from censored rows"), "{model}: {said}");
        let said = refused(&table(&format!("collinear_{model}"), &collinear), &args);
        assert!(said.contains("y follows from x; drop one of them"), "{model}: {said}");
    }
    // A penalty gives the separated one an answer, and so does leaving the column out.
    let folder = table("separated_mended", &separated);
    let ask = "data.csv --duration t --event e --model weibull";
    assert!(estimate(&object(&folder, &format!("{ask} --penalty 0.1")), "lambda", "x") < 0.0);
    assert_eq!(covariates(&object(&folder, &format!("{ask} --drop x"))).len(), 3);
}

#[test]
fn missing_values_are_left_out_and_counted() {
    let whole = object(&table("whole", ATTACKS), ASK);
    let holes = "\n,1,18,none\n1.5,,18,none\n1.5,NA,50,noise\n1.5,1,nan,none\n1.5,1,18,\n";
    let folder = table("holes", &format!("{}{holes}", ATTACKS.trim_end()));
    let run = folder.run(&format!("survive {ASK} --json"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let counted = "note: 5 of 17 rows left out for missing values \
                   (seconds 1, succeeded 2, layers 1, defence 1)";
    assert!(run.stderr.contains(counted), "{}", run.stderr);
    let got: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&got["rows"], &got["left_out"]), (&12.into(), &5.into()));
    assert_eq!(got["coefficients"], whole["coefficients"]);
    // A hole in a column that is not used costs no row.
    let kept = object(&folder, &format!("{ASK} --drop layers"));
    assert_eq!((&kept["rows"], &kept["left_out"]), (&13.into(), &4.into()));
}

#[test]
fn the_same_table_in_other_clothes() {
    let plain = object(&table("plain", ATTACKS), ASK);
    let semicolons = ATTACKS.replace(',', ";");
    let quoted: Vec<String> = ATTACKS
        .lines()
        .map(|line| line.split(',').map(|v| format!("\"{v}\"")).collect::<Vec<_>>().join(","))
        .collect();
    let words = ATTACKS.replace(",1,", ",Yes,").replace(",0,", ",no,");
    let truths = ATTACKS.replace(",1,", ",TRUE,").replace(",0,", ",false,");
    for (name, text) in [
        ("semicolons", semicolons),
        ("quoted", quoted.join("\r\n")),
        ("mark", format!("\u{feff}{ATTACKS}")),
        ("marked_quotes", format!("\u{feff}{}", quoted.join("\n"))),
        ("tabs", ATTACKS.replace(',', "\t")),
        ("words", words),
        ("truths", truths),
        ("spaces", ATTACKS.replace(',', " , ")),
    ] {
        assert_eq!(object(&table(&format!("as_{name}"), &text), ASK), plain, "{name}");
    }
}

#[test]
fn columns_that_say_nothing_are_left_out_aloud() {
    let text: Vec<String> = ATTACKS
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!(",{line},constant,word"),
            _ => format!("{i},{line},7,same"),
        })
        .collect();
    let folder = table("constant", &text.join("\n"));
    let run = folder.run(&format!("survive {ASK} --json"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    for wanted in [
        "note: constant left out: it is the same in every row",
        "note: word left out",
        "note: 1 column without a name left out",
    ] {
        assert!(run.stderr.contains(wanted), "{wanted}: {}", run.stderr);
    }
    let got: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(covariates(&got), ["Intercept", "layers", "defence=none", "Intercept"][..4]);
    let said = refused(&folder, &format!("{ASK} --covariates constant"));
    assert!(said.contains("constant is the same in every row"), "{said}");
}

#[test]
fn columns_with_too_many_texts_are_named() {
    let mut text = "t,e,name\n".to_owned();
    for i in 0..80 {
        text += &format!("{}.5,1,image{i}.png\n", i % 9);
    }
    let folder = table("texts", &text);
    let said = refused(&folder, "data.csv --duration t --event e");
    assert!(said.contains("name holds more than 64 different texts"), "{said}");
    assert!(said.contains("--drop name"), "{said}");
    assert!(object(&folder, "data.csv --duration t --event e --drop name")["aic"].is_number());
}

#[test]
fn single_shots_and_times_of_several_machines_are_refused() {
    let asked = |test: &str, one_shot: &str, machine: &str| {
        let row = |i: usize| {
            let (shot, on) = if i == 3 { (one_shot, machine) } else { ("0", "a") };
            format!("{},1,{shot},{on}\n", 1.0 + i as f64 * 0.3)
        };
        let rows: String = (0..20).map(row).collect();
        table(test, &format!("seconds,changed,one_shot,machine\n{rows}"))
    };
    let fit = "data.csv --duration seconds --event changed --model weibull --covariates none";
    object(&asked("durations", "0", "a"), fit);
    let shot = refused(&asked("shot", "1", "a"), fit);
    assert!(shot.contains("1 rows are single shots"), "{shot}");
    let two = asked("machines", "0", "b");
    assert!(refused(&two, fit).contains("different machines (a, b"));
    object(&two, &format!("{fit} --mixed-machines"));
}
