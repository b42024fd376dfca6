//! Faultlens finds where a machine-vision system breaks, how often, and whether that is good enough.
//! It asks a model or service once undisturbed, disturbs what it sees or computes, asks again,
//! judges the difference and records it.
//!
//! # Five minutes
//! Apply a fault to an image:
//!
//! ```
//! use faultlens::faults::image::{Fault, Fog, ImageFault};
//! use faultlens::{Seed, world};
//!
//! let road = world::scene(Seed::new(6), 0).case.image;
//! let seed = 7; // the same seed gives the same pixels, on every machine
//! let foggy = Fog::severity(3)?.apply(&road, seed);
//! assert_eq!(foggy.width(), road.width());
//! # Ok::<(), faultlens::faults::image::FaultError>(())
//! ```
//!
//! Run a campaign: every target is shown every case with every fault in it. What happened is on
//! record in the run directory, from which every report is made.
//!
//! ```
//! use faultlens::data::DataSet;
//! use faultlens::faults::image::{Fault, Fog};
//! use faultlens::targets::{OnnxTarget, PartialDescription};
//! use faultlens::{Campaign, Seed, analysis, report, world};
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = Path::new("world:signs-shallow"); // or the path of an ONNX file
//! let signs = DataSet::new(
//!     world::SIGN_CLASSES.map(str::to_owned).into(),
//!     world::signs(Seed::new(1).child(world::TEST), 20),
//! );
//! # let folder = tempfile::tempdir()?;
//! # let run = folder.path().join("run");
//! // In a program of yours: let run = Path::new("runs/fog");
//! Campaign::builder("signs in fog")
//!     .target("signs", OnnxTarget::open(model, PartialDescription::default())?)
//!     .fault("light fog", Fog::severity(1)?)
//!     .fault("dense fog", Fog::severity(5)?)
//!     .cases(signs)
//!     .run(&run)?;
//!
//! let summary = analysis::summarise(&run, &[])?;
//! assert_eq!(summary.overall.rate.n, 40); // two trials of each of 20 signs
//! std::fs::write(run.join("report.html"), report::html(&summary, &run))?;
//! # Ok(())
//! # }
//! ```
//!
//! A campaign file does the same, and more: faults inside models, attacks, services, requirements.
//! [`spec::Campaign::load`] reads one, [`campaign::run_campaign`] runs it.
//!
//! # Targets, faults and oracles of your own
//! Each is a trait with one required method: [`Target::ask`], [`ImageFault::change`],
//! [`Oracle::judge`]. The campaign does the rest: seeds, threads, records, resumption.
//!
//! ```
//! use faultlens::data::DataSet;
//! use faultlens::{
//!     Campaign, Case, Comparison, Image, ImageFault, Oracle, Outcome, Response, Stream, Target,
//!     TargetError, analysis,
//! };
//!
//! /// A light meter: the mean of all pixels.
//! struct LightMeter;
//!
//! impl Target for LightMeter {
//!     fn ask(&self, image: &Image) -> Result<Response, TargetError> {
//!         let sum: f32 = image.rgb().iter().map(|&byte| f32::from(byte)).sum();
//!         Ok(Response::Values(vec![sum / image.rgb().len() as f32]))
//!     }
//! }
//!
//! /// One pixel, drawn at random, is stuck at white.
//! struct HotPixel;
//!
//! impl ImageFault for HotPixel {
//!     fn change(&self, image: &Image, stream: &mut Stream) -> Image {
//!         let mut image = image.clone();
//!         let at = 3 * stream.below(image.width() * image.height());
//!         image.rgb_mut()[at..at + 3].fill(255);
//!         image
//!     }
//! }
//!
//! /// The reading may move by this much.
//! struct Within(f32);
//!
//! impl Oracle for Within {
//!     fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
//!         let golden = comparison.golden.numbers().unwrap_or_default();
//!         let observed = comparison.observed.numbers().unwrap_or_default();
//!         let moved = golden.iter().zip(observed).any(|(a, b)| (a - b).abs() > self.0);
//!         if moved { Outcome::Changed } else { Outcome::Unchanged }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cases = vec![
//!     Case::new("dark", Image::from_rgb(4, 4, vec![0; 48])?), // one pixel of 16 moves it by 16
//!     Case::new("bright", Image::from_rgb(4, 4, vec![200; 48])?), // and here by 3.4
//! ];
//! # let folder = tempfile::tempdir()?;
//! # let run = folder.path().join("run");
//! Campaign::builder("hot pixels")
//!     .target("light meter", LightMeter)
//!     .trials(10) // of each case, since the fault draws random numbers
//!     .fault("hot pixel", HotPixel)
//!     .own_oracle("within 10", Within(10.0))
//!     .cases(DataSet::new(Vec::new(), cases))
//!     .run(&run)?;
//! let rate = analysis::summarise(&run, &[])?.overall.rate;
//! assert_eq!((rate.events, rate.n), (10, 20));
//! # Ok(())
//! # }
//! ```
//!
//! # Records
//! [`record::store::Store`] opens a run directory; [`Store::for_each`](record::store::Store::for_each)
//! hands over every [`record::Record`] with typed fields: outcome, site of a model fault, cost,
//! [`Measures`](record::Measures). [`record::store::export_csv`] and
//! [`record::store::export_parquet`] hand them to other tools.
//!
//! # Inside a model
//! The engine keeps every value between input and output, and computes again only what a change can
//! reach; the result has the same bits as a full run.
//!
//! ```
//! use faultlens::engine::{Change, Model, onnx::ModelBuilder};
//! use faultlens::{DType, Tensor};
//!
//! let mut builder = ModelBuilder::new("relu");
//! builder.input("x", DType::F32, &[1.into(), 2.into()]);
//! builder.node("Relu", &["x"], &["y"]);
//! builder.output("y", DType::F32, &[1.into(), 2.into()]);
//! let model = Model::from_proto(&builder.build())?;
//!
//! let x = Tensor::new(vec![1, 2], vec![1.0f32, -1.0])?;
//! let golden = model.golden(&[("x", x)])?;
//! let y = model.graph().find("y").ok_or("no value is called y")?;
//! let sign = Change::flip(&golden, y, 0, 31)?;
//! let replay = golden.replay(&[sign])?;
//! assert_eq!(replay.outputs()[0].as_f32(), Some(&[-1.0, 0.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Examples
//! Each runs on the embedded world, without files: `cargo run --release --example NAME`.
//!
//! | example | what it shows |
//! |---|---|
//! | `faults_in_images` | faults applied to an image, written as PNG files |
//! | `own_target` | a campaign on a classifier of the program's own, rates with intervals |
//! | `own_fault_and_oracle` | a fault and an oracle of the program's own, on a steering network |
//! | `faults_in_a_model` | bit flips in an ONNX model, and the verdict on a requirement |
//! | `records_and_report` | typed records of a run directory, and its report as HTML |
//!
//! # Features
//! The types of [`faultlens_core`] are always there. Everything else is a feature of the name of
//! its module, and brings along what it needs; the default is `campaign` and `report`.
//!
//! | feature | what it adds | crates in all |
//! |---|---|---:|
//! | `faults` | faults in images and scenes, defences | 15 |
//! | `attack` | attacks, which search for the change that breaks an answer | 17 |
//! | `model` | faults inside ONNX models, and `engine`, which runs them | 50 |
//! | `judge` | oracles, guards and metrics | 22 |
//! | `stats` | estimates with intervals, stop rules, survival models | 15 |
//! | `data` | data sets, read and written | 51 |
//! | `world` | the embedded signs, road scenes and models | 18 |
//! | `targets` | ONNX models and vision services as targets; `vision` | 108 |
//! | `campaign` | campaigns, their files (`spec`), records (`record`) and `analysis` | 146 |
//! | `protect` | protections against model faults, evaluated on a run's trials | 147 |
//! | `report` | reports: HTML, Markdown, JUnit, the terminal | 147 |
//! | `train` | small networks, built and trained reproducibly | 83 |
//! | `sweep` | campaigns over grids of models, defences and attacks | 148 |
//! | `retrain` | failure-aware retraining of detectors | 148 |
//! | `human-study` | the experiment with people and its web server | 173 |
//! | `serve` | a local model behind the wire formats of vision services | 134 |
//!
//! The last column counts what is compiled with that feature alone, this crate and procedural macros
//! included: `cargo tree -p faultlens --no-default-features --features faults -e normal --prefix none
//! --no-dedupe | sort -u | wc -l`.

#[doc(inline)]
pub use faultlens_core::*;

#[cfg(feature = "campaign")]
#[doc(inline)]
pub use faultlens_campaign::{CampaignBuilder, OpenCampaign as Campaign};

#[cfg(feature = "campaign")]
pub use faultlens_analysis as analysis;
#[cfg(feature = "campaign")]
pub use faultlens_campaign as campaign;
#[cfg(feature = "data")]
pub use faultlens_data as data;
#[cfg(any(feature = "model", feature = "targets", feature = "train"))]
pub use faultlens_engine as engine;
#[cfg(feature = "faults")]
pub use faultlens_faults as faults;
#[cfg(feature = "human-study")]
pub use faultlens_human_study as human_study;
#[cfg(feature = "judge")]
pub use faultlens_judge as judge;
#[cfg(feature = "protect")]
pub use faultlens_protect as protect;
#[cfg(feature = "campaign")]
pub use faultlens_record as record;
#[cfg(feature = "report")]
pub use faultlens_report as report;
#[cfg(feature = "retrain")]
pub use faultlens_retrain as retrain;
#[cfg(feature = "serve")]
pub use faultlens_serve as serve;
#[cfg(feature = "campaign")]
pub use faultlens_spec as spec;
#[cfg(feature = "stats")]
pub use faultlens_stats as stats;
#[cfg(feature = "sweep")]
pub use faultlens_sweep as sweep;
#[cfg(feature = "targets")]
pub use faultlens_targets as targets;
#[cfg(feature = "train")]
pub use faultlens_train as train;
#[cfg(any(feature = "targets", feature = "train"))]
pub use faultlens_vision as vision;
#[cfg(feature = "world")]
pub use faultlens_world as world;
