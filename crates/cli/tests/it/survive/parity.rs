//! What the command prints beside R's survival and lifelines, on twelve data sets with strata, late
//! entry, weights, clusters, factors, interactions and splines.

use std::path::Path;

use serde_json::Value;

use super::{estimate, object, refused};
use crate::folder::Folder;

/// Data set, case, duration, event, formula, other options.
const COX: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("lung", "plain", "time", "status", "age + sex + ph_ecog + wt_loss", ""),
    ("lung", "strata", "time", "status", "age + ph_ecog + wt_loss + strata(sex)", ""),
    ("lung", "factor", "time", "status", "age + sex + factor(ph_ecog)", ""),
    ("lung", "interaction", "time", "status", "age * sex + ph_karno", ""),
    ("lung", "spline", "time", "status", "ns(age, 3) + sex", ""),
    ("lung", "cluster", "time", "status", "age + sex + ph_ecog + cluster(inst)", ""),
    ("veteran", "levels", "time", "status", "trt + celltype + karno + diagtime + age + prior", ""),
    (
        "veteran",
        "strata",
        "time",
        "status",
        "trt + karno + diagtime + age + prior + strata(celltype)",
        "",
    ),
    ("pbc", "plain", "time", "status", "age + edema + bili + chol + albumin + protime", ""),
    (
        "pbc",
        "logarithms",
        "time",
        "status",
        "age + edema + log(bili) + log(protime) + log(albumin)",
        "",
    ),
    ("pbc", "strata", "time", "status", "age + log(bili) + albumin + strata(stage)", ""),
    ("ovarian", "plain", "futime", "fustat", "age + rx", ""),
    ("ovarian", "breslow", "futime", "fustat", "age + rx", "--ties breslow"),
    ("heart", "entry", "stop", "event", "age + year + surgery + transplant", "--entry start"),
    (
        "heart",
        "cluster",
        "stop",
        "event",
        "age + year + surgery + transplant + cluster(id)",
        "--entry start",
    ),
    ("mgus2", "entry", "end", "death", "male + hgb + creat + mspike", "--entry age"),
    ("mgus2", "entry_strata", "end", "death", "hgb + creat + mspike + strata(male)", "--entry age"),
    ("gbsg", "plain", "rfstime", "status", "age + size + factor(grade) + nodes + hormon", ""),
    ("gbsg", "weights", "rfstime", "status", "age + size + nodes + hormon", "--weights weight"),
    (
        "gbsg",
        "weights_robust",
        "rfstime",
        "status",
        "age + size + nodes + hormon",
        "--weights weight --robust",
    ),
    ("gbsg", "spline", "rfstime", "status", "ns(size, 4) + nodes + hormon * factor(grade)", ""),
    ("kidney", "cluster", "time", "status", "age + sex + disease + cluster(id)", ""),
    ("kidney", "levels", "time", "status", "age + sex + disease", ""),
    ("rats", "strata", "time", "status", "rx + strata(male)", ""),
    ("rats", "cluster", "time", "status", "rx + strata(male) + cluster(litter)", ""),
    (
        "bladder2",
        "entry_strata",
        "stop",
        "event",
        "rx + number + size + strata(enum)",
        "--entry start",
    ),
    (
        "bladder2",
        "cluster",
        "stop",
        "event",
        "rx + number + size + strata(enum) + cluster(id)",
        "--entry start",
    ),
    ("diabetic", "cluster", "time", "status", "trt * adult + risk + cluster(id)", ""),
    ("diabetic", "interaction", "time", "status", "trt * adult + risk", ""),
    ("colon", "levels", "time", "status", "rx + age + nodes + factor(extent)", ""),
    ("colon", "strata", "time", "status", "age + nodes + obstruct + strata(differ)", ""),
];

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stats/tests/fixtures/r");
    std::fs::read_to_string(fixtures.join(name)).unwrap()
}

/// The lines of a quantity: names first, then numbers.
fn wanted(file: &str, set: &str, case: &str, quantity: &str) -> Vec<Vec<String>> {
    let start = format!("{set} {case} {quantity} ");
    let text = fixture(file);
    let lines = text.lines().filter_map(|line| line.strip_prefix(&start));
    lines.map(|rest| rest.split(' ').map(str::to_owned).collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// The coefficient of a covariate of the location, and its error.
fn coefficient(of: &Value, covariate: &str) -> (f64, f64) {
    let lines = of["coefficients"].as_array().unwrap();
    let found = lines.iter().find(|line| line["covariate"] == covariate);
    let line = found.unwrap_or_else(|| panic!("{covariate}: {lines:?}"));
    (line["estimate"].as_f64().unwrap(), line["se"].as_f64().unwrap())
}

fn same_coefficients(got: &Value, lines: &[Vec<String>], of_errors: f64, case: &str) {
    for line in lines.iter().filter(|line| !line[0].starts_with("ns(")) {
        let (estimate, se) = coefficient(got, &line[0]);
        let [want, want_se] = [number(&line[1]), number(&line[2])];
        assert!((estimate - want).abs() < 1e-4 * want_se, "{case} {line:?}: {estimate}");
        assert!((se / want_se - 1.0).abs() < of_errors, "{case} {line:?}: {se}");
    }
}

fn fit(folder: &Folder, set: &str, args: &str) -> Value {
    folder.text("data.csv", &fixture(&format!("{set}.csv")));
    object(folder, &format!("data.csv --resamples 0 {args}"))
}

#[test]
fn cox_models_as_r_and_lifelines() {
    let folder = Folder::new("survive_parity");
    let mut compared = 0;
    for &(set, case, duration, event, formula, options) in COX {
        let name = format!("{set} {case}");
        let formula = formula.replace(' ', "");
        let args = format!(
            "--model cox --duration {duration} --event {event} --formula {formula} {options}"
        );
        let got = fit(&folder, set, &args);
        same_coefficients(&got, &wanted("reference.txt", set, case, "coefficient"), 1e-5, &name);
        // lifelines' robust errors leave Efron's treatment of ties out.
        let of_errors = if case == "cluster" { 0.01 } else { 1e-4 };
        let theirs = wanted("lifelines.txt", set, case, "coefficient");
        same_coefficients(&got, &theirs, of_errors, &name);
        let likelihood = got["log_likelihood"].as_f64().unwrap();
        for file in ["reference.txt", "lifelines.txt"] {
            for line in wanted(file, set, case, "log_likelihood") {
                assert!((likelihood - number(&line[0])).abs() < 1e-5, "{name} {file}");
                compared += 1;
            }
        }
        for (key, quantity) in [("concordance", "concordance"), ("uno", "uno")] {
            // R falls back to Harrell's weights in a stratum with a single event.
            let fallback = name == "pbc strata" && key == "uno";
            for line in wanted("reference.txt", set, case, quantity).iter().filter(|_| !fallback) {
                let own = got[key].as_f64().unwrap();
                assert!((own - number(&line[0])).abs() < 1e-6, "{name} {key}: {own} {line:?}");
            }
        }
        for line in wanted("reference.txt", set, case, "zph") {
            let tests = &got["proportionality"];
            let test = match line[0].as_str() {
                "GLOBAL" => &tests["all"],
                covariate => &tests["covariates"][covariate],
            };
            let p = test["p"].as_f64().unwrap();
            let want = number(&line[2]);
            assert!((p - want).abs() < 1e-6 + 1e-4 * want, "{name} {line:?}: {p}");
        }
    }
    assert!(compared > 45, "{compared}");
}

#[test]
fn parametric_models_as_r_and_lifelines() {
    let folder = Folder::new("survive_parity_parametric");
    for (set, case, model, args) in [
        ("ovarian", "weibull", "weibull", "--duration futime --event fustat --covariates age,rx"),
        (
            "colon",
            "weibull",
            "weibull",
            "--duration time --event status --covariates age,nodes,obstruct",
        ),
        (
            "gbsg",
            "weibull_weights",
            "weibull",
            "--duration rfstime --event status --covariates age,size,nodes,hormon --weights weight",
        ),
        (
            "veteran",
            "lognormal",
            "lognormal",
            "--duration time --event status --covariates trt,celltype,karno",
        ),
        (
            "veteran",
            "loglogistic",
            "loglogistic",
            "--duration time --event status --covariates trt,celltype,karno",
        ),
        (
            "lung",
            "weibull_cluster",
            "weibull",
            "--duration time --event status --covariates age,sex,ph_ecog --cluster inst",
        ),
        (
            "kidney",
            "lognormal_cluster",
            "lognormal",
            "--duration time --event status --covariates age,sex --cluster id",
        ),
    ] {
        let name = format!("{set} {case}");
        let got = fit(&folder, set, &format!("{args} --model {model}"));
        same_coefficients(&got, &wanted("reference.txt", set, case, "coefficient"), 1e-5, &name);
        for line in wanted("lifelines.txt", set, case, "coefficient") {
            if ["lambda", "mu"].contains(&line[0].as_str()) {
                let (estimate, se) = coefficient(&got, &line[1]);
                assert!((estimate - number(&line[2])).abs() < 1e-3 * se, "{name} {line:?}");
            }
        }
        let likelihood = got["log_likelihood"].as_f64().unwrap();
        for line in wanted("reference.txt", set, case, "log_likelihood") {
            assert!((likelihood - number(&line[0])).abs() < 1e-5, "{name}");
        }
    }
}

#[test]
fn medians_and_intervals_as_r() {
    let folder = Folder::new("survive_parity_medians");
    for (set, case, args) in [
        ("lung", "km", "--duration time --event status --strata sex"),
        ("veteran", "km", "--duration time --event status --strata celltype"),
        ("pbc", "km", "--duration time --event status --strata stage"),
        (
            "gbsg",
            "km_weights",
            "--duration rfstime --event status --strata hormon --weights weight",
        ),
        ("colon", "km", "--duration time --event status --strata differ"),
    ] {
        let got = fit(&folder, set, &format!("{args} --model km"));
        for line in wanted("reference.txt", set, case, "median") {
            let groups = got["groups"].as_array().unwrap();
            let group = groups.iter().find(|group| group["level"] == line[0]).unwrap();
            let own =
                [&group["median"], &group["median_interval"][0], &group["median_interval"][1]];
            for (own, want) in own.into_iter().zip(&line[1..]) {
                assert_eq!(own.as_f64(), want.parse().ok(), "{set} {line:?}: {group}");
            }
        }
    }
}

/// The rows of a fit predicted from a file are what the fit said about them; levels, splines and strata
/// are coded as there.
#[test]
fn predictions_from_a_file() {
    let folder = Folder::new("survive_predict");
    let text = fixture("lung.csv");
    let some: String = text.lines().take(6).map(|line| format!("{line}\n")).collect();
    folder.text("new.csv", &some).text("data.csv", &text);
    let ask = "data.csv --duration time --event status --resamples 0";
    let weibull = format!("{ask} --model weibull --covariates age,sex --time 300");
    let got = object(&folder, &format!("{weibull} --predict new.csv"));
    let rows = got["predictions"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    let slope = |name: &str| estimate(&got, "lambda", name);
    for (row, line) in rows.iter().zip(some.lines().skip(1)) {
        let fields: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
        // The columns are inst, time, status, age, sex, …
        let location = slope("Intercept") + slope("age") * fields[3] + slope("sex") * fields[4];
        let shape = estimate(&got, "rho", "Intercept").exp();
        let want = (-(300.0 / location.exp()).powf(shape)).exp();
        let own = row["survival"]["value"].as_f64().unwrap();
        assert!((own - want).abs() < 1e-9, "{row} {want}");
        assert!(row["survival"]["low"].as_f64() < Some(own));
        assert!(row["survival"]["high"].as_f64() > Some(own));
    }
    let cox = format!(
        "{ask} --model cox --formula ns(age,3)+factor(ph_ecog)+strata(sex) --predict new.csv"
    );
    let got = object(&folder, &cox);
    let rows = got["predictions"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["median"]["value"].as_f64().is_some_and(|m| m > 50.0)));
    assert!(rows[0].get("mean").is_none());
    for (table, says) in [
        ("age,sex,ph_ecog\n60,3,1\n", "which no row of the fit has"),
        ("age,sex,ph_ecog\n60,1,9\n", "which no row of the fit has"),
        ("age,sex\n60,1\n", "no column ph_ecog"),
    ] {
        folder.text("new.csv", table);
        let error = refused(&folder, &cox);
        assert!(error.contains(says), "{table}: {error}");
    }
}
