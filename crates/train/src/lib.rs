//! Builds networks and trains them: architectures, losses, optimisers, model cards.
//!
//! 1. [`first_model`] makes an ordinary ONNX model with seeded first weights, for the classes of a
//!    data set; [`architecture::build`] does it for any number of outputs.
//! 2. A [`Recipe`] says how it learns: task, epochs, batch, learning rate, seed; with [`Noise`]
//!    or [`Adversarial`] examples on what is fed.
//! 3. [`train`] changes the weights on a data set and reports its progress; the same recipe gives
//!    the same bits on any number of threads. [`train_with`] also shows the model between epochs.
//!    [`described`] lets the model say how it is asked.
//! 4. [`score`] measures the model on cases that it has not seen, and a [`Card`] says it all;
//!    [`check_measurable`] finds out before the training whether that will work.

pub mod architecture;
mod augment;
mod card;
mod error;
mod first;
mod hook;
mod loss;
mod optimiser;
mod recipe;
mod score;
mod trainer;
mod truth;

pub use augment::{AUGMENTATIONS, Augment};
pub use card::{Card, Cost};
pub use error::TrainError;
pub use faultlens_vision::find_peaks;
pub use first::{described, first_model};
pub use hook::{Adversarial, Noise};
pub use loss::detections;
pub use optimiser::{Descent, OPTIMISERS, Optimiser, Settings, Step, USUAL_OPTIMISER, optimiser};
pub use recipe::{Recipe, Schedule, Task};
pub use score::{Judged, Score, check_measurable, found, score, segments};
pub use trainer::{Epoch, Progress, Rest, TRAINING_VERSION, Trained, train, train_with};
