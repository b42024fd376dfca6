//! Experiments of mlaas-fi, turned into campaigns.
//!
//! Every experiment of an `exp.config.json` becomes the text of a campaign, which the ordinary
//! parser reads. docs/services.md says what every key becomes.

use super::example::quoted;
use faultlens_core::did_you_mean;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Why an mlaas-fi file cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum MlaasFiError {
    /// It is not the JSON that mlaas-fi reads.
    #[error("{what}: {source}")]
    Json {
        /// Which file.
        what: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A name that mlaas-fi does not know; it would have skipped it in silence.
    #[error("experiment {experiment}: mlaas-fi has no {what} {name:?}; {hint}")]
    Unknown {
        /// The experiment.
        experiment: String,
        /// What is named.
        what: &'static str,
        /// The name.
        name: String,
        /// What to say instead.
        hint: String,
    },
}

/// An experiment as a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Its name in the file.
    pub name: String,
    /// The campaign.
    pub text: String,
    /// What the user should know.
    pub notes: Vec<String>,
}

#[derive(Deserialize)]
struct Experiments {
    experiments: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
struct Written {
    provider: String,
    service: String,
    dataset: String,
    output_dir: Option<String>,
    #[serde(default)]
    data_faults: Vec<Fault>,
    #[serde(default)]
    mitigations: Vec<String>,
}

#[derive(Deserialize)]
struct Fault {
    name: String,
    parameter: Option<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct Providers {
    providers: BTreeMap<String, BTreeMap<String, String>>,
}

/// Providers by their names in mlaas-fi and here.
const PROVIDERS: [(&str, &str); 3] =
    [("AWS", "rekognition"), ("GOOGLE_CLOUD", "google"), ("MSFT_AZURE", "azure")];

/// Services by their names in mlaas-fi, with the task and the oracle here.
const SERVICES: [(&str, &str, &str); 6] = [
    ("CELEBRITY_RECOGNITION", "celebrities", "same_top"),
    ("FACE_DETECTION", "faces", "same_detections"),
    ("LABEL_DETECTION", "labels", "same_top"),
    ("NUDITY_DETECTION", "moderation", "same_top"),
    ("TEXT_DETECTION", "text", "same_text"),
    ("VIOLENCE_DETECTION", "moderation", "same_top"),
];

/// Labels that mlaas-fi counts, by provider and service.
const CONSIDERED: [(&str, &str, &str); 5] = [
    ("AWS", "NUDITY_DETECTION", "[Explicit Nudity, Suggestive]"),
    ("AWS", "VIOLENCE_DETECTION", "[Violence, Visually Disturbing]"),
    ("GOOGLE_CLOUD", "NUDITY_DETECTION", "[adult, racy]"),
    ("GOOGLE_CLOUD", "VIOLENCE_DETECTION", "[violence]"),
    ("MSFT_AZURE", "NUDITY_DETECTION", "[adult, racy]"),
];

/// Faults by their names in mlaas-fi and here, with the parameter, and what else is set.
const FAULTS: [(&str, &str, &str, &str); 15] = [
    ("brightness", "brightness", "severity", ""),
    ("chromatic_aberration", "chromatic_aberration", "factor", ""),
    ("condensation", "condensation", "", "blend: 0.4"),
    ("contrast", "contrast", "severity", ""),
    ("defective_pixels", "dead_pixels", "count", ""),
    ("fog", "fog", "severity", ""),
    ("frost", "frost", "", "added: 0.4, kept: 0.6"),
    ("gaussian_blur", "gaussian_blur", "severity", ""),
    ("gaussian_noise", "gaussian_noise", "severity", ""),
    ("grayscale", "grey", "", ""),
    ("motion_blur", "motion_blur", "severity", ""),
    ("pixelation", "pixelate", "severity", ""),
    ("rain_snow", "snow", "severity", ""),
    ("sp_noise", "impulse_noise", "severity", ""),
    ("zoom_blur", "zoom_blur", "severity", ""),
];

/// Mitigations by their names in mlaas-fi and here.
const MITIGATIONS: [(&str, &str); 5] = [
    ("bit_depth_reduction", "bit_depth_reduction"),
    ("gaussian_filter", "gaussian_filter"),
    ("jpeg_compression", "jpeg_compression"),
    ("median_filter", "median_filter"),
    ("wavelet_denoising", "wavelet_denoising"),
];

/// The campaigns of an `exp.config.json`; what a `providers.config.json` says of regions and
/// endpoints goes in, its keys do not.
pub fn mlaas_fi(
    experiments: &str,
    providers: Option<&str>,
) -> Result<Vec<Experiment>, MlaasFiError> {
    let json = |what| move |source| MlaasFiError::Json { what, source };
    let read: Experiments =
        serde_json::from_str(experiments).map_err(json("the file of experiments"))?;
    let providers: Option<Providers> = providers
        .map(|text| serde_json::from_str(text).map_err(json("the file of providers")))
        .transpose()?;
    let providers = providers.map(|read| read.providers).unwrap_or_default();
    read.experiments
        .iter()
        .map(|(name, written): (&String, &Written)| experiment(name, written, &providers))
        .collect()
}

fn experiment(
    name: &str,
    written: &Written,
    providers: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<Experiment, MlaasFiError> {
    let of =
        found(name, "provider", &written.provider, PROVIDERS.map(|(theirs, ours)| (theirs, ours)))?;
    let services = SERVICES.map(|(theirs, task, oracle)| (theirs, (task, oracle)));
    let (task, oracle) = found(name, "service", &written.service, services)?;
    let settings = providers.get(&written.provider);
    let service = service(written, of, task, settings);
    let mut text = format!("# From an experiment of mlaas-fi.\nname: {}\n", quoted(name));
    if let Some(dir) = &written.output_dir {
        let _ = writeln!(text, "output: {}", quoted(&format!("{dir}/{name}")));
    }
    let _ = write!(text, "targets:\n  - name: {of}\n{service}");
    for mitigation in &written.mitigations {
        let ours = found(name, "mitigation", mitigation, MITIGATIONS)?;
        let _ = write!(text, "  - name: {of} behind {ours}\n{service}    defences: [{ours}]\n");
    }
    let _ = write!(
        text,
        "cases:\n  data: {}\n  format: images\noracle: {oracle}\nfaults:\n  - {{fault: reencode}}  # the control\n",
        quoted(&format!("datasets/{}", written.dataset))
    );
    for fault in &written.data_faults {
        text.push_str(&fault_text(name, fault)?);
    }
    Ok(Experiment { name: name.to_owned(), text, notes: notes(written, settings) })
}

fn service(
    written: &Written,
    of: &str,
    task: &str,
    settings: Option<&BTreeMap<String, String>>,
) -> String {
    let mut text = format!(
        "    service:
      provider: {of}\n      task: {task}\n"
    );
    if let Some((_, _, labels)) = CONSIDERED.iter().find(|known: &&(&str, &str, &str)| {
        (known.0, known.1) == (&written.provider[..], &written.service[..])
    }) {
        let _ = writeln!(text, "      labels: {labels}");
    }
    let endpoint = if task == "faces" { "endpoint_face" } else { "endpoint_vision" };
    for (theirs, ours) in [("region_name", "region"), (endpoint, "endpoint")] {
        if let Some(value) = settings.and_then(|settings| settings.get(theirs)) {
            let _ = writeln!(text, "      {ours}: {}", quoted(value));
        }
    }
    text
}

fn fault_text(experiment: &str, fault: &Fault) -> Result<String, MlaasFiError> {
    let faults = FAULTS.map(|(theirs, ours, parameter, set)| (theirs, (ours, parameter, set)));
    let (ours, parameter, set) = found(experiment, "fault", &fault.name, faults)?;
    let mut parts = vec![format!("fault: {ours}")];
    match &fault.parameter {
        Some(Parameter { values }) if !parameter.is_empty() => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            parts.push(format!("{parameter}: [{}]", values.join(", ")));
        }
        // Its own functions take 1 where nothing is said.
        None if !parameter.is_empty() => parts.push(format!("{parameter}: 1")),
        _ => {}
    }
    parts.extend((!set.is_empty()).then(|| set.to_owned()));
    Ok(format!("  - {{{}}}\n", parts.join(", ")))
}

fn notes(written: &Written, settings: Option<&BTreeMap<String, String>>) -> Vec<String> {
    let mut notes = vec![format!(
        "mlaas-fi unpacks datasets/{}.tar.gz itself; unpack it before the run",
        written.dataset
    )];
    if settings.is_some_and(|settings| settings.keys().any(|key| key.contains("key"))) {
        notes.push(format!(
            "the keys of {} stay where they are; put them into the environment or the provider's \
             own file, see docs/services.md",
            written.provider
        ));
    }
    if !written.mitigations.is_empty() {
        notes.push(
            "mlaas-fi draws one of the mitigations for each image; here each is a target of its \
             own, beside the plain one"
                .to_owned(),
        );
    }
    notes
}

/// What a name of mlaas-fi is here.
fn found<T: Copy, const N: usize>(
    experiment: &str,
    what: &'static str,
    name: &str,
    known: [(&'static str, T); N],
) -> Result<T, MlaasFiError> {
    known.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours).ok_or_else(|| {
        let names = known.iter().map(|(theirs, _)| *theirs);
        MlaasFiError::Unknown {
            experiment: experiment.to_owned(),
            what,
            name: name.to_owned(),
            hint: match did_you_mean(name, names.clone()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
            },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Campaign, Source};
    use std::path::Path;

    const FILE: &str = r#"{"experiments": {"exp_1": {
        "provider": "AWS", "service": "VIOLENCE_DETECTION", "dataset": "violence",
        "output_dir": "results", "mitigations": ["median_filter"],
        "data_faults": [
            {"name": "gaussian_blur", "parameter": {"name": "severity", "values": [1, 2, 3, 4, 5]}},
            {"name": "sp_noise", "parameter": {"name": "severity", "values": [2]}},
            {"name": "chromatic_aberration", "parameter": {"name": "factor", "values": [1, 2]}},
            {"name": "condensation"}, {"name": "frost"}, {"name": "grayscale"},
            {"name": "defective_pixels", "parameter": {"name": "count", "values": [50]}}
        ]}}}"#;
    const KEYS: &str = r#"{"providers": {"AWS": {"access_key_id": "AKIDEXAMPLE",
        "secret_access_key": "wJalrXUtnFEMI", "region_name": "us-east-2"}}}"#;

    #[test]
    fn an_experiment_becomes_a_campaign_that_reads() {
        let all = mlaas_fi(FILE, Some(KEYS)).unwrap();
        let [one] = &all[..] else { panic!("{all:?}") };
        let campaign = Campaign::parse(&one.text, Path::new("exp_1.yaml"));
        let campaign = campaign.unwrap_or_else(|error| panic!("{error}\n{}", one.text));
        assert_eq!(campaign.faults.len(), 1 + 5 + 1 + 2 + 1 + 1 + 1 + 1);
        assert_eq!(campaign.output, Path::new("results/exp_1"));
        let [plain, defended] = &campaign.targets[..] else { panic!("{:?}", campaign.targets) };
        assert_eq!(defended.defences[0].name, "median_filter");
        let Source::Service(spec) = &plain.source else { panic!("a service") };
        assert_eq!(spec.region.as_deref(), Some("us-east-2"));
        let wanted = ["Violence", "Visually Disturbing"].map(str::to_owned).to_vec();
        assert_eq!(spec.labels, faultlens_targets::service::ServiceLabels::Only(wanted));
    }

    #[test]
    fn no_key_goes_along() {
        let one = &mlaas_fi(FILE, Some(KEYS)).unwrap()[0];
        let all = format!("{} {:?}", one.text, one.notes);
        assert!(!all.contains("AKIDEXAMPLE") && !all.contains("wJalr"), "{all}");
        assert!(one.notes.iter().any(|note| note.contains("docs/services.md")));
    }

    #[test]
    fn what_mlaas_fi_would_skip_is_an_error() {
        let wrong = FILE.replace("sp_noise", "sp_nois");
        let error = mlaas_fi(&wrong, None).unwrap_err().to_string();
        assert!(error.contains("did you mean \"sp_noise\"?"), "{error}");
        assert!(mlaas_fi("{}", None).is_err() && mlaas_fi("nonsense", None).is_err());
    }
}
