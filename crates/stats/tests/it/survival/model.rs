//! All models through one door.

use faultlens_stats::Level;
use faultlens_stats::survival::{
    Horizon, Lifetimes, Model, Options, Smoothing, SurvivalError, Ties, kaplan_meier,
};

use crate::survival::data::{SETS, load, value};

fn named(name: &str) -> Model {
    Model::named(name, Ties::Breslow).unwrap()
}

#[test]
fn names_lead_to_models() {
    for model in Model::all(Ties::Efron) {
        assert_eq!(named(model.name()).name(), model.name());
    }
    let message = Model::named("coxx", Ties::Efron).err().unwrap().to_string();
    assert!(message.ends_with("gengamma, cox"), "{message}");
}

/// At the maximum, what models with a free level expect of all rows is what was seen.
#[test]
fn residuals_add_up_to_the_events() {
    for set in SETS {
        let data = load(set);
        for name in ["exponential", "weibull", "cox"] {
            let fit = named(name).fit(&data, &Options::default()).unwrap();
            let sum: f64 = fit.residuals(&data).unwrap().durations().iter().sum();
            let events = data.events() as f64;
            assert!((sum - events).abs() < 1e-6 * events, "{set} {name}: {sum} {events}");
        }
    }
}

#[test]
fn rows_that_no_event_saw_leave_no_residual() {
    // The second row came and went between the first and the last event.
    let data = Lifetimes::new(vec![1.0, 3.0, 4.0, 5.0], vec![true, false, true, true]).unwrap();
    let data = data.late_entry(vec![0.0, 2.0, 0.0, 0.0]).unwrap();
    let data = data.covariate("x", vec![1.0, 0.0, 2.0, 1.0]).unwrap();
    let fit = named("cox").fit(&data, &Options::default()).unwrap();
    assert_eq!(fit.residuals(&data).unwrap().rows(), 3);
}

#[test]
fn mean_curves_lie_close_to_the_data() {
    let data = load("synth2k");
    let curve = kaplan_meier(&data, Level::default());
    let times = [2.0, 5.0, 10.0, 20.0, 30.0];
    for name in ["weibull", "gengamma", "cox"] {
        let fit = named(name).fit(&data, &Options::default()).unwrap();
        for (time, mean) in times.into_iter().zip(fit.mean_survival(&data, &times).unwrap()) {
            let seen = curve.at(time).value.unwrap();
            assert!((mean - seen).abs() < 0.025, "{name} {time}: {mean} {seen}");
        }
    }
}

#[test]
fn an_assessment_is_concordance_and_calibration() {
    let data = load("synth2k");
    let fit = named("weibull").fit(&data, &Options::default()).unwrap();
    let time = value("synth2k", "weibull", "t0");
    let got = fit.assess(&data, Horizon { time, smoothing: Smoothing::Spline });
    let concordance = value("synth2k", "weibull", "concordance");
    assert!((got.concordance.unwrap() - concordance).abs() < 5e-4);
    let ici = value("synth2k", "weibull", "ici");
    assert!((got.calibration.unwrap().ici - ici).abs() < 1e-3);
    // One row has no pair, and nothing to smooth.
    let one =
        fit.assess(&data.select(&[0]).unwrap(), Horizon { time, smoothing: Smoothing::Spline });
    assert_eq!(one.concordance.err(), Some(SurvivalError::NoPairs));
    assert_eq!(one.calibration.err(), Some(SurvivalError::NoSmoothing));
}

#[test]
fn parameters_that_a_model_does_not_have_are_refused() {
    let data = load("rossi");
    let options = Options::default().with_ancillary("rho", &["age"]);
    for name in ["exponential", "cox"] {
        let why = named(name).fit(&data, &options).err().unwrap().to_string();
        assert!(why.starts_with(&format!("{name} has no parameter rho")), "{why}");
    }
    assert_eq!(data.select(&[]), Err(SurvivalError::Empty));
}
