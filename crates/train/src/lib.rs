//! Builds networks and trains them: architectures, losses, optimisers, model cards.
//!
//! 1. [`first_model`] makes an ordinary ONNX model with seeded initial weights, for the classes of a
//!    data set; [`architecture::build`] does it for any number of outputs.
//! 2. A [`Recipe`] has the hyperparameters: task, epochs, batch, learning rate, seed; also [`Noise`]
//!    or [`Adversarial`] examples on the input.
//! 3. [`train()`] changes the weights on a data set and reports its progress; the same recipe gives
//!    the same bits on any number of threads. [`train_with`] also shows the model between epochs.
//!    [`described`] stores in the model how it is asked.
//! 4. [`score()`] measures the model on cases that it has not seen, and a [`Card`] documents it;
//!    [`check_measurable`] checks before the training whether that will work.
//!
//! ```
//! use faultlens_core::{Case, Image};
//! use faultlens_data::DataSet;
//! use faultlens_engine::Model;
//! use faultlens_vision::Channels;
//! use faultlens_train::{Recipe, Task, first_model, score, train};
//! use std::ops::ControlFlow;
//!
//! // Dark and bright images, as two classes.
//! let mut cases = Vec::new();
//! for at in 0..16 {
//!     let image = Image::from_rgb(8, 8, vec![if at % 2 == 0 { 40 } else { 220 }; 8 * 8 * 3])?;
//!     let mut case = Case::new(format!("{at}"), image);
//!     case.label = Some(at % 2);
//!     cases.push(case);
//! }
//! let data = DataSet::new(vec!["dark".into(), "bright".into()], cases);
//!
//! let mut recipe = Recipe::new(Task::Classify, Recipe::default_input([8, 8], Channels::Rgb));
//! recipe.epochs = 4;
//! let model = first_model("mlp:8", &recipe, &data)?;
//! let trained = train(&recipe, &model, &data, 1, &mut |_| ControlFlow::Continue(()))?;
//! let accuracy = score(&recipe, &Model::from_proto(&trained.model)?, &data)?;
//! println!("{accuracy:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod architecture;
mod augment;
mod card;
mod cost;
mod error;
mod first;
mod hook;
mod loss;
mod optimiser;
mod recipe;
mod score;
mod task;
mod trainer;
mod truth;

pub use augment::{AUGMENTATIONS, Augment};
pub use card::Card;
pub use cost::Cost;
pub use error::TrainError;
pub use faultlens_vision::find_peaks;
pub use first::{described, first_model};
pub use hook::{Adversarial, Noise};
pub use loss::detections;
pub use optimiser::{DEFAULT_OPTIMISER, Descent, OPTIMISERS, Optimiser, Settings, Step, optimiser};
pub use recipe::{Recipe, Schedule};
pub use score::{Judged, Score, check_measurable, found, score, segments};
pub use task::Task;
pub use trainer::{Epoch, Progress, Rest, TRAINING_VERSION, Trained, train, train_with};
