//! A freshly initialised network for a data set, and the metadata that describes a trained one.

use crate::architecture::{Spec, build};
use crate::error::TrainError;
use crate::recipe::Recipe;
use crate::task::Task;
use faultlens_core::Seed;
use faultlens_data::DataSet;
use faultlens_engine::onnx::{ModelProto, StringStringEntryProto};
use faultlens_vision::{INPUT_KEY, LABELS_KEY, OUTPUT_KEY, OutputDescription, OutputKind};

/// The network of an order, with as many outputs as the data ask for and its first weights.
pub fn first_model(order: &str, recipe: &Recipe, data: &DataSet) -> Result<ModelProto, TrainError> {
    let [height, width] = recipe.input.size;
    let channels = recipe.input.channels.count();
    let spec = Spec::new([channels, height, width], outputs(order, recipe, data)?);
    Ok(build(order, &spec, Seed::new(recipe.seed).child("first weights"))?)
}

fn outputs(order: &str, recipe: &Recipe, data: &DataSet) -> Result<usize, TrainError> {
    let task = recipe.task;
    let unlearnable = |why| TrainError::Unlearnable { order: order.into(), task: task.name(), why };
    match task {
        Task::Reconstruct => Ok(recipe.input.channels.count()),
        Task::Regress => {
            let first = data.case(0)?;
            let count = first.values.len();
            let name = first.name;
            (count > 0).then_some(count).ok_or_else(|| {
                unlearnable(format!(
                    "the case {name} has no values to learn; name data with numbers, such as an \
                     npz file with floats"
                ))
            })
        }
        _ => {
            let count = data.classes.len();
            (count > 0).then_some(count).ok_or_else(|| {
                unlearnable(
                    "the data names no classes; name the column of a CSV file with \
                     --label-column, or other data"
                        .to_owned(),
                )
            })
        }
    }
}

/// The model with its input and classes in its metadata, so that it can be asked as it is.
pub fn described(
    model: &ModelProto,
    recipe: &Recipe,
    classes: &[String],
) -> Result<ModelProto, TrainError> {
    let mut proto = model.clone();
    let entry = |key: &str, value: serde_json::Result<String>| {
        let value = value.map_err(|error| TrainError::Metadata(error.to_string()))?;
        Ok::<_, TrainError>(StringStringEntryProto {
            key: key.to_owned(),
            value,
            ..Default::default()
        })
    };
    proto.metadata_props.push(entry(INPUT_KEY, serde_json::to_string(&recipe.input))?);
    if recipe.task.has_classes() {
        proto.metadata_props.push(entry(LABELS_KEY, serde_json::to_string(classes))?);
    }
    if let Some(output) = output_of(recipe.task) {
        proto.metadata_props.push(entry(OUTPUT_KEY, serde_json::to_string(&output))?);
    }
    Ok(proto)
}

/// What the output means, where that can be written down.
fn output_of(task: Task) -> Option<OutputDescription> {
    match task {
        Task::Classify => {
            Some(OutputDescription { softmax: true, ..OutputDescription::of(OutputKind::Logits) })
        }
        Task::Reconstruct => Some(OutputDescription::of(OutputKind::Picture)),
        Task::Segment | Task::Regress | Task::Detect => None,
    }
}
