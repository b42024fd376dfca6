//! The keys of the campaign file: what the parser accepts and the JSON schema shows.

use super::preset::PRESETS;
use super::takes::{Key, Takes};
use super::{Method, Metric, Preserves, RateKind};
use faultlens_core::ParameterKind::{Number, Whole};
use faultlens_data::FORMATS;

pub(super) const CAMPAIGN: &[Key] = &[
    optional("name", "what reports call the campaign; by default the file's name", Takes::Text),
    optional("seed", "what all random numbers come from; 1 by default", whole(0, i64::MAX)),
    optional("threads", "how many threads work; by default one per core", whole(1, 1024)),
    optional(
        "output",
        "the run directory, from the current directory; by default runs/ and the file's name",
        Takes::Text,
    ),
    required("targets", "the models and services that are asked", Takes::Sections(TARGET)),
    required("cases", "the images that are shown", Takes::Section(CASES)),
    required(
        "faults",
        "what is disturbed: faults, whose lists are swept, and presets",
        Takes::Faults,
    ),
    optional(
        "objects",
        "what insert_object puts into scenes: a pool that faultlens objects made, or a data set \
         whose objects have outlines, from the campaign file's folder; or world:scenes with a \
         number",
        Takes::Text,
    ),
    optional("oracle", "who judges the answers; same_top by default", Takes::Oracle),
    optional("guards", "which trials the judgement counts for; by default all", Takes::Guards),
    optional("intervals", "how intervals of rates are made", Takes::Section(INTERVALS)),
    optional("stop", "when enough trials are done; replaces trials", Takes::Section(STOP)),
    optional("requirements", "limits on rates, each with a verdict", Takes::Sections(REQUIREMENT)),
    optional(
        "preserve",
        "what must stay under changes that people tolerate; see docs/requirements.md",
        Takes::Sections(PRESERVE),
    ),
    optional(
        "visual_change",
        "of which trials it is recorded how much people notice of what was done to the image: \
         every (the default), or needed, where a strength is drawn or a guard asks for it",
        Takes::Name("choice", || vec!["every", "needed"]),
    ),
    optional(
        "reference",
        "the target whose errors under faults in images others' are divided by (mCE)",
        Takes::Text,
    ),
    optional(
        "fairness",
        "groups of cases that answers should be as good for",
        Takes::Section(FAIRNESS),
    ),
    optional(
        "answers",
        "the folder in which raw answers of services are filed, from the current directory, so \
         that no call is paid twice; by default answers beside the run directory",
        Takes::Text,
    ),
    optional("pinned", "files with trials that must stay as good as golden", Takes::Texts),
    optional("examples", "how many examples are kept per fault point; 3 by default", whole(0, 50)),
];

const TARGET: &[Key] = &[
    optional(
        "model",
        "an ONNX file, from the campaign file's folder, or world:NAME; this or service",
        Takes::Text,
    ),
    optional("service", "a service behind HTTP; see docs/services.md", Takes::Foreign),
    optional("name", "what reports call it; by default the file's or service's name", Takes::Text),
    optional(
        "defences",
        "what is done to images before the target sees them, such as median_filter",
        Takes::Defences,
    ),
    optional("input", "how images become the model's input; see docs/input.md", Takes::Foreign),
    optional("output", "what the model's output means; see docs/input.md", Takes::Foreign),
    optional(
        "labels",
        "a file that names the classes, from the campaign file's folder, or coco or coco-91",
        Takes::Text,
    ),
    optional(
        "traits",
        "what tells it from the other targets, such as depth: 3, to group rates by",
        Takes::Scalars,
    ),
];

const CASES: &[Key] = &[
    required(
        "data",
        "a data set, from the campaign file's folder, or world:signs or world:scenes with a number \
         of pictures, such as world:signs:200",
        Takes::Text,
    ),
    optional("format", "the data set's format, where it is not recognised", FORMAT),
    optional("part", "only this part of a set that has several, such as test", Takes::Text),
    optional("label_column", "the column that holds the labels of a CSV file", Takes::Text),
    optional("sample", "only some cases, drawn from the seed", Takes::Section(SAMPLE)),
];

const FORMAT: Takes = Takes::Name("format", || FORMATS.iter().map(|format| format.name).collect());

const FAIRNESS: &[Key] = &[
    required("by", "strata of the data that say which group a case belongs to", Takes::Texts),
    optional(
        "privileged",
        "groups that others are set against; by default the largest of each stratum",
        Takes::Texts,
    ),
    optional(
        "positive",
        "the answer that counts, such as face: a best class, an object or a text; by default the \
         right answer",
        Takes::Text,
    ),
];

const SAMPLE: &[Key] = &[
    required("count", "how many cases; all where there are fewer", whole(1, 1 << 40)),
    optional(
        "how",
        "random: every case as likely as every other (the default); balanced: every class as often \
         as every other",
        Takes::Name("way to sample", || vec!["random", "balanced"]),
    ),
];

const INTERVALS: &[Key] = &[
    optional(
        "method",
        "wilson (the default), or clopper_pearson, which never covers less than it says",
        Takes::Name("method", || Method::ALL.map(Method::name).to_vec()),
    ),
    optional(
        "confidence",
        "how often an interval covers the truth; 0.95 by default",
        Takes::Share { most: 1.0, reached: false },
    ),
];

const STOP: &[Key] = &[
    required(
        "half_width",
        "stop a target and fault point once its rate is known to plus or minus this",
        Takes::Share { most: 0.5, reached: false },
    ),
    optional("at_most", "the most trials per case; 1000 by default", TRIALS),
];

const REQUIREMENT: &[Key] = &[
    optional(
        "rate",
        "which outcome is limited; failed is changed, crashed and timed_out together; this or fit",
        Takes::Name("rate", || RateKind::all().map(RateKind::name).collect()),
    ),
    optional(
        "fit",
        "limits failures in time instead: raw times share times the rate of failed trials",
        Takes::Section(FIT),
    ),
    required(
        "at_most",
        "the limit: above 0 and up to 1 for a rate, failures per 1,000,000,000 hours for fit",
        Takes::Share { most: MOST_FIT, reached: true },
    ),
    optional(
        "where",
        "only trials with these attributes, such as fault, target, label, case, layer, operator, \
         kind, bit, severity, a stratum or a trait",
        Takes::Scalars,
    ),
    optional("name", "what reports call it", Takes::Text),
];

const PRESERVE: &[Key] = &[
    required(
        "what",
        "correctness: answers stay as good as on the originals; prediction: they stay the same",
        Takes::Name("kind of preservation", || Preserves::ALL.map(Preserves::name).to_vec()),
    ),
    required(
        "tolerance",
        "how much visual change people tolerate of each fault: imagenet-car, cifar10-car, or a \
         file of faultlens tolerance --json, from the campaign file's folder",
        Takes::Text,
    ),
    optional(
        "faults",
        "only these faults; by default all of the campaign that the tolerance speaks of",
        Takes::Texts,
    ),
    optional(
        "classes",
        "answers count as one of these classes or as none of them, such as [automobile, truck]; \
         by default every class counts for itself",
        Takes::Texts,
    ),
    optional(
        "metric",
        "how answers are scored: accuracy of classes, ap of objects, iou of areas; by default as \
         suits the target",
        Takes::Name("metric", || Metric::ALL.map(Metric::name).to_vec()),
    ),
    optional(
        "alpha",
        "how often the verdict may be met where the truth is not; 0.05 by default",
        Takes::Share { most: 0.5, reached: false },
    ),
    optional(
        "margin",
        "how far answers may stay behind, as a share; 0 by default",
        Takes::Plain(Number { min: 0.0, max: 1.0 }),
    ),
    optional("batches", "how many batches are drawn; 200 by default", whole(2, 100_000)),
    optional("batch_size", "how many images each has; 50 by default", whole(1, 100_000)),
    optional("name", "what reports call it", Takes::Text),
];

/// No hardware has more failures in time, and no number beyond it is meant.
const MOST_FIT: f64 = 1e12;

const FIT: &[Key] = &[
    required(
        "raw",
        "how many faults the hardware has in 1,000,000,000 hours, of the kind that is injected",
        Takes::Share { most: MOST_FIT, reached: true },
    ),
    optional(
        "share",
        "the share of them that the trials concerned stand for; 1 by default",
        Takes::Share { most: 1.0, reached: true },
    ),
];

/// What the keys of a fault entry are that are no parameters of the fault.
pub(super) const FAULT: &[Key] =
    &[required("fault", "the fault's name; faultlens list shows them", Takes::Text), TRIALS_KEY];

/// The keys of an entry that stands for several faults.
pub(super) const PRESET: &[Key] = &[
    required(
        "preset",
        "a collection of faults",
        Takes::Name("preset", || PRESETS.iter().map(|preset| preset.name).collect()),
    ),
    TRIALS_KEY,
];

const TRIALS_KEY: Key = optional(
    "trials",
    "how many trials per case and fault point; 1 by default, and always 1 for a fault that draws \
     nothing; not together with stop",
    TRIALS,
);

const TRIALS: Takes = whole(1, 1_000_000);

const fn whole(min: i64, max: i64) -> Takes {
    Takes::Plain(Whole { min, max })
}

const fn required(name: &'static str, about: &'static str, takes: Takes) -> Key {
    Key { name, about, required: true, takes }
}

const fn optional(name: &'static str, about: &'static str, takes: Takes) -> Key {
    Key { name, about, required: false, takes }
}
