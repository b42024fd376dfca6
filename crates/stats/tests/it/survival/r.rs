//! Cox and parametric models beside R's survival package, on the data sets in `fixtures/r`; its README
//! says where they come from.

use faultlens_stats::Level;
use faultlens_stats::survival::{
    Clock, Coefficient, Cox, Lifetimes, Options, Ties, concordance, cox, family, fit, kaplan_meier,
    uno_concordance,
};

use crate::survival::data::relative;

const REFERENCE: &str = include_str!("../../fixtures/r/reference.txt");

/// A data set of numbers.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(set: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/r");
        let text = std::fs::read_to_string(format!("{folder}/{set}.csv")).unwrap();
        let mut lines = text.lines();
        let names = lines.next().unwrap().split(',').map(str::to_owned).collect();
        // Text is for the command's own tests.
        let rows = lines.map(|l| l.split(',').map(|v| v.parse().unwrap_or(f64::NAN)).collect());
        Self { names, rows: rows.collect() }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        if let Some((a, b)) = name.split_once(':') {
            let both = self.column(a).into_iter().zip(self.column(b));
            return both.map(|(a, b)| a * b).collect();
        }
        if let Some(inner) = name.strip_prefix("log(").and_then(|n| n.strip_suffix(')')) {
            return self.column(inner).into_iter().map(f64::ln).collect();
        }
        let at = self.names.iter().position(|n| n == name).unwrap();
        self.rows.iter().map(|row| row[at]).collect()
    }

    fn codes(&self, name: &str) -> Vec<usize> {
        self.column(name).into_iter().map(|v| v as usize).collect()
    }
}

/// What is asked of a data set: columns by their names, empty for none.
struct Case {
    set: &'static str,
    case: &'static str,
    times: &'static str,
    covariates: &'static str,
    options: &'static [(&'static str, &'static str)],
}

const fn case(
    set: &'static str,
    case: &'static str,
    times: &'static str,
    covariates: &'static str,
    options: &'static [(&'static str, &'static str)],
) -> Case {
    Case { set, case, times, covariates, options }
}

const CASES: &[Case] = &[
    case("lung", "plain", "time status", "age sex ph_ecog wt_loss", &[]),
    case("lung", "strata", "time status", "age ph_ecog wt_loss", &[("strata", "sex")]),
    case("lung", "interaction", "time status", "age sex ph_karno age:sex", &[]),
    case("lung", "cluster", "time status", "age sex ph_ecog", &[("cluster", "inst")]),
    case("pbc", "plain", "time status", "age edema bili chol albumin protime", &[]),
    case("pbc", "logarithms", "time status", "age edema log(bili) log(protime) log(albumin)", &[]),
    case("pbc", "strata", "time status", "age log(bili) albumin", &[("strata", "stage")]),
    case("ovarian", "plain", "futime fustat", "age rx", &[]),
    case("ovarian", "breslow", "futime fustat", "age rx", &[("ties", "breslow")]),
    case("heart", "entry", "stop event", "age year surgery transplant", &[("entry", "start")]),
    case(
        "heart",
        "cluster",
        "stop event",
        "age year surgery transplant",
        &[("entry", "start"), ("cluster", "id")],
    ),
    case("mgus2", "entry", "end death", "male hgb creat mspike", &[("entry", "age")]),
    case(
        "mgus2",
        "entry_strata",
        "end death",
        "hgb creat mspike",
        &[("entry", "age"), ("strata", "male")],
    ),
    case("gbsg", "weights", "rfstime status", "age size nodes hormon", &[("weights", "weight")]),
    case(
        "gbsg",
        "weights_robust",
        "rfstime status",
        "age size nodes hormon",
        &[("weights", "weight"), ("cluster", "")],
    ),
    case("rats", "strata", "time status", "rx", &[("strata", "male")]),
    case("rats", "cluster", "time status", "rx", &[("strata", "male"), ("cluster", "litter")]),
    case(
        "bladder2",
        "entry_strata",
        "stop event",
        "rx number size",
        &[("entry", "start"), ("strata", "enum")],
    ),
    case(
        "bladder2",
        "cluster",
        "stop event",
        "rx number size",
        &[("entry", "start"), ("strata", "enum"), ("cluster", "id")],
    ),
    case("diabetic", "cluster", "time status", "trt adult risk trt:adult", &[("cluster", "id")]),
    case("diabetic", "interaction", "time status", "trt adult risk trt:adult", &[]),
    case("colon", "strata", "time status", "age nodes obstruct", &[("strata", "differ")]),
];

impl Case {
    fn option(&self, name: &str) -> Option<&'static str> {
        self.options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn data(&self) -> Lifetimes {
        let table = Table::read(self.set);
        let (time, event) = self.times.split_once(' ').unwrap();
        let observed = table.column(event).into_iter().map(|e| e == 1.0).collect();
        let mut data = Lifetimes::new(table.column(time), observed).unwrap();
        if let Some(entry) = self.option("entry") {
            data = data.late_entry(table.column(entry)).unwrap();
        }
        if let Some(weights) = self.option("weights") {
            data = data.weights(table.column(weights)).unwrap();
        }
        if let Some(strata) = self.option("strata") {
            data = data.stratified(table.codes(strata)).unwrap();
        }
        for name in self.covariates.split(' ') {
            data = data.covariate(name, table.column(name)).unwrap();
        }
        data
    }

    fn clusters(&self, rows: usize) -> Option<Vec<usize>> {
        match self.option("cluster")? {
            "" => Some((0..rows).collect()),
            name => Some(Table::read(self.set).codes(name)),
        }
    }

    fn cox(&self, data: &Lifetimes) -> Cox {
        let ties = if self.option("ties").is_some() { Ties::Breslow } else { Ties::Efron };
        let fit = cox(data, ties, 0.0).unwrap();
        match self.clusters(data.rows()) {
            Some(clusters) => fit.clustered(&clusters).unwrap(),
            None => fit,
        }
    }

    /// The numbers of a quantity, each behind its name where it has one.
    fn wanted(&self, quantity: &str) -> Vec<Vec<&'static str>> {
        let start = [self.set, self.case, quantity];
        let lines = REFERENCE.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.filter(|parts| parts[..3] == start).map(|parts| parts[3..].to_vec()).collect()
    }

    fn value(&self, quantity: &str) -> Option<f64> {
        self.wanted(quantity).first().map(|line| line[0].parse().unwrap())
    }
}

fn numbers(line: &[&str]) -> Vec<f64> {
    line.iter().map(|text| text.parse().unwrap_or(f64::INFINITY)).collect()
}

fn same(table: &[Coefficient], wanted: &[Vec<&str>], tolerance: f64, case: &str) {
    assert_eq!(table.len(), wanted.len(), "{case}");
    for (line, want) in table.iter().zip(wanted) {
        let [estimate, se] = numbers(&want[1..])[..] else { panic!("{case}") };
        assert!((line.estimate - estimate).abs() < 1e-6 * se, "{case} {want:?}: {line:?}");
        assert!(relative(line.se, se) < tolerance, "{case} {want:?}: {}", line.se);
    }
}

#[test]
fn cox_models_as_in_r() {
    for case in CASES {
        let name = format!("{} {}", case.set, case.case);
        let data = case.data();
        let fit = case.cox(&data);
        same(&fit.coefficients(Level::default()), &case.wanted("coefficient"), 5e-6, &name);
        let likelihood = case.value("log_likelihood").unwrap();
        assert!((fit.log_likelihood() - likelihood).abs() < 1e-7, "{name}");
        if !data.is_weighted() {
            // R counts each event once, whatever its weight.
            assert!((fit.bic() - case.value("bic").unwrap()).abs() < 1e-6, "{name}");
        }
        let scores = fit.scores(&data).unwrap();
        let got = concordance(&data, &scores).unwrap();
        assert!((got - case.value("concordance").unwrap()).abs() < 1e-9, "{name}: {got}");
        // In a stratum with a single event, as the first of pbc, R falls back to Harrell's weights.
        if let Some(want) = case.value("uno").filter(|_| name != "pbc strata") {
            let got = uno_concordance(&data, &scores, f64::INFINITY).unwrap();
            assert!((got - want).abs() < 1e-9, "{name}: {got} {want}");
        }
    }
}

#[test]
fn tests_of_proportional_hazards_as_in_r() {
    let mut seen = 0;
    for case in CASES {
        let wanted = case.wanted("zph");
        if wanted.is_empty() {
            continue;
        }
        let name = format!("{} {}", case.set, case.case);
        let fit = case.cox(&case.data());
        let mut tests = fit.proportionality(Clock::default());
        tests.push(("GLOBAL".to_owned(), fit.global_proportionality(Clock::default())));
        assert_eq!(tests.len(), wanted.len(), "{name}");
        for ((_, test), want) in tests.iter().zip(wanted) {
            let number = numbers(&want[1..])[0];
            assert!((test.statistic - number).abs() < 1e-6 * (1.0 + number), "{name} {want:?}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Survival by 300 days and the median of single rows, each with its interval, also within strata.
#[test]
fn predictions_of_cox_models_as_in_r() {
    let mut seen = 0;
    for case in CASES.iter().filter(|case| case.set == "lung") {
        let data = case.data();
        let fit = case.cox(&data);
        for line in case.wanted("predicted") {
            let [row, survival, low, high, median, median_low, median_high] = numbers(&line)[..]
            else {
                panic!("{line:?}")
            };
            let within = fit.within(data.strata()[row as usize]).unwrap();
            let x = data.row(row as usize);
            let got = within.survival(&x, 300.0, Level::default()).unwrap();
            for (own, want) in [(got.value.unwrap(), survival), (got.low, low), (got.high, high)] {
                assert!((own - want).abs() < 1e-7, "{} {line:?}: {own} {want}", case.case);
            }
            let got = within.median_interval(&x, Level::default()).unwrap();
            assert_eq!([got.value.unwrap(), got.low, got.high], [median, median_low, median_high]);
            let chances = fit.event_chances(&data, 300.0).unwrap();
            assert!((1.0 - chances[row as usize] - survival).abs() < 1e-7, "{line:?}");
            seen += 1;
        }
        // Of several strata none can be taken for granted.
        let several = fit.strata().len() > 1;
        assert_eq!(fit.median(&data.row(0)).is_err(), several, "{}", case.case);
        assert!(fit.within(99).is_err());
    }
    assert_eq!(seen, 17);
}

/// R's scale is 1/ρ of the Weibull and σ of the log-normal, both as logarithms here.
#[test]
fn parametric_models_as_in_r() {
    for (asked, model, sign) in [
        (case("ovarian", "weibull", "futime fustat", "age rx", &[]), "weibull", -1.0),
        (case("colon", "weibull", "time status", "age nodes obstruct", &[]), "weibull", -1.0),
        (
            case(
                "gbsg",
                "weibull_weights",
                "rfstime status",
                "age size nodes hormon",
                &[("weights", "weight")],
            ),
            "weibull",
            -1.0,
        ),
        (
            case(
                "lung",
                "weibull_cluster",
                "time status",
                "age sex ph_ecog",
                &[("cluster", "inst")],
            ),
            "weibull",
            -1.0,
        ),
        (
            case("kidney", "lognormal_cluster", "time status", "age sex", &[("cluster", "id")]),
            "lognormal",
            1.0,
        ),
    ] {
        let name = format!("{} {}", asked.set, asked.case);
        let data = asked.data();
        let mut got = fit(family(model).unwrap(), &data, &Options::default()).unwrap();
        if let Some(clusters) = asked.clusters(data.rows()) {
            got = got.robust(&data, &clusters).unwrap();
        }
        let table = got.coefficients(Level::default());
        let (shape, location) = table.split_last().unwrap();
        // R takes the information of the step before its last.
        same(location, &asked.wanted("coefficient"), 1e-5, &name);
        let [estimate, se] = numbers(&asked.wanted("shape")[0])[..] else { panic!("{name}") };
        assert!((shape.estimate - sign * estimate).abs() < 1e-6 * se, "{name}: {shape:?}");
        assert!(relative(shape.se, se) < 1e-5, "{name}: {shape:?} {se}");
        let likelihood = asked.value("log_likelihood").unwrap();
        assert!((got.log_likelihood() - likelihood).abs() < 1e-6, "{name}");
    }
}

/// R takes the middle where the curve lies at one half exactly; none of these does.
#[test]
fn medians_and_their_intervals_as_in_r() {
    for (asked, strata) in [
        (case("lung", "km", "time status", "sex", &[]), "sex"),
        (case("pbc", "km", "time status", "age", &[]), "stage"),
        (case("ovarian", "km", "futime fustat", "age", &[]), ""),
        (case("gbsg", "km_weights", "rfstime status", "age", &[("weights", "weight")]), "hormon"),
        (case("colon", "km", "time status", "age", &[]), "differ"),
    ] {
        let data = asked.data();
        let levels = match strata {
            "" => vec![0; data.rows()],
            name => Table::read(asked.set).codes(name),
        };
        for line in asked.wanted("median") {
            let level = line[0].parse().unwrap_or(0);
            let rows: Vec<usize> = (0..data.rows()).filter(|&i| levels[i] == level).collect();
            let curve = kaplan_meier(&data.select(&rows).unwrap(), Level::default());
            let got = curve.median_interval();
            let found = [got.value.unwrap_or(f64::INFINITY), got.low, got.high];
            assert_eq!(found[..], numbers(&line[1..])[..], "{} {line:?}", asked.set);
        }
    }
}

/// A row of weight 2 is two rows, for the criteria too.
#[test]
fn criteria_and_counts_of_weights_are_those_of_copies() {
    let asked = case(
        "gbsg",
        "weights",
        "rfstime status",
        "age size nodes hormon",
        &[("weights", "weight")],
    );
    let weighted = asked.data();
    let mut copies = Vec::new();
    for (i, &weight) in weighted.row_weights().iter().enumerate() {
        copies.extend(std::iter::repeat_n(i, weight as usize));
    }
    let rows = weighted.rows();
    let plain = weighted.clone().weights(vec![1.0; rows]).unwrap().select(&copies).unwrap();
    assert!(copies.len() > rows && plain.rows() == copies.len());
    assert_eq!(weighted.total_weight(), plain.rows() as f64);
    assert_eq!(weighted.event_weight(), plain.events() as f64);
    assert_eq!(weighted.median_event_time(), plain.median_event_time());
    for model in ["exponential", "weibull"] {
        let bic = |data: &Lifetimes| {
            fit(family(model).unwrap(), data, &Options::default()).unwrap().bic()
        };
        assert!((bic(&weighted) - bic(&plain)).abs() < 1e-6, "{model}");
    }
    let bic = |data: &Lifetimes| cox(data, Ties::Breslow, 0.0).unwrap().bic();
    assert!((bic(&weighted) - bic(&plain)).abs() < 1e-6);
}
