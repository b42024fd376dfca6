//! What can go wrong between an image and a model, in words that say what to do about it.

use faultlens_core::TensorError;
use thiserror::Error;

/// Why an image could not be fed, or an output not be read.
#[derive(Debug, Error, Clone, PartialEq)]
pub enum VisionError {
    /// A side of nothing, or one that no memory holds.
    #[error("size [{height}, {width}] is out of range: both sides must be 1 to {limit}")]
    Size {
        /// Rows asked for.
        height: usize,
        /// Columns asked for.
        width: usize,
        /// The largest side accepted.
        limit: usize,
    },
    /// Nothing says how large the model's input is.
    #[error("size is missing: give [height, width], or latent for a generator's vector")]
    NoSize,
    /// A vector that cannot be drawn.
    #[error("latent takes axes of 1 to {0} numbers in all, of type f32")]
    Latent(usize),
    /// A crop of nothing, or of more than the image.
    #[error("centre_crop share {0} is out of range: it must be more than 0 and at most 1")]
    Share(f64),
    /// The crop after the resize would reach outside the image.
    #[error(
        "short_side {pixels} is smaller than size [{height}, {width}]: make it at least {}",
        height.max(width)
    )]
    ShortSide {
        /// The short side asked for.
        pixels: usize,
        /// Rows of the model's input.
        height: usize,
        /// Columns of the model's input.
        width: usize,
    },
    /// One number per channel is needed, or one for all.
    #[error("{field} has {given} numbers: give {channels} (one per channel) or 1 (for all)")]
    PerChannel {
        /// The field of the description.
        field: &'static str,
        /// How many numbers it holds.
        given: usize,
        /// How many channels there are.
        channels: usize,
    },
    /// A number that would make every element infinite or not a number.
    #[error("{field} holds {value}: every number must be finite{}", if *.field == "std" { " and not 0" } else { "" })]
    Number {
        /// The field of the description.
        field: &'static str,
        /// The number in the way.
        value: f64,
    },
    /// `resize: none` takes images only as they are.
    #[error(
        "the image is {width}×{height} but the model takes {}×{}: choose a resize other than none",
        wanted[1], wanted[0]
    )]
    ImageSize {
        /// Columns of the image.
        width: usize,
        /// Rows of the image.
        height: usize,
        /// Rows and columns of the model's input.
        wanted: [usize; 2],
    },
    /// Very long images grow without bound when their short side is enlarged.
    #[error("an image of {width}×{height} pixels is too long to resize for this input: crop it")]
    TooLong {
        /// Columns of the image.
        width: usize,
        /// Rows of the image.
        height: usize,
    },
    /// A batch has at least one image.
    #[error("no image was given")]
    NoImage,
    /// The resize library refused.
    #[error("cannot resize the image: {0}")]
    Resize(String),
    /// A tensor that does not hold together.
    #[error(transparent)]
    Tensor(#[from] TensorError),

    /// Nothing to show an image to.
    #[error("the model has {count} inputs ({names}): exactly one, for the image, is needed")]
    InputCount {
        /// How many inputs the model has.
        count: usize,
        /// Their names.
        names: String,
    },
    /// A guess could be wrong, so none is made.
    #[error(
        "cannot tell how images go into input `{name}`, {shape}: {reason}; describe it in an \
         input file (`--input`), or under the target in a campaign, for example:\n{example}"
    )]
    NotSafe {
        /// The model's input.
        name: String,
        /// Its type and declared shape.
        shape: String,
        /// What stays open.
        reason: String,
        /// A description to paste and correct.
        example: String,
    },
    /// The description makes a tensor that the model does not take.
    #[error(
        "the input description makes {made}, but the model's input `{name}` takes {wanted}: \
         correct {fields}"
    )]
    Misfit {
        /// The model's input.
        name: String,
        /// What the description makes.
        made: String,
        /// What the model takes.
        wanted: String,
        /// The fields to look at.
        fields: String,
    },

    /// No output of this name.
    #[error("the model has no output `{name}`{}; it has {known}", hint(.meant))]
    UnknownOutput {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
        /// The likeliest slip.
        meant: Option<String>,
    },
    /// Boxes, masks and other answers that are no list of classes.
    #[error(
        "output `{name}` has shape {shape}, which is no list of scores per image; say what it \
         holds with `output: {{kind: …}}` (detections, segments, picture or text), or name \
         another output with `output: {{name: …}}`"
    )]
    NotScores {
        /// The output.
        name: String,
        /// Its shape.
        shape: String,
    },
    /// An output of another form than its description says.
    #[error("output `{name}` is {shape}, where {wanted}")]
    NotRead {
        /// The output.
        name: String,
        /// Its type and shape.
        shape: String,
        /// What is needed, in words.
        wanted: String,
    },
    /// A setting that says nothing about this kind of output.
    #[error("{field} is for {kinds}, not for {kind}: leave it out, or correct kind")]
    Field {
        /// The setting.
        field: &'static str,
        /// The output's kind.
        kind: &'static str,
        /// The kinds that it is for.
        kinds: String,
    },
    /// A setting out of its range.
    #[error("{field} holds {value}: it must be {wanted}")]
    OutputNumber {
        /// The setting.
        field: &'static str,
        /// What it is set to.
        value: f64,
        /// What it can be.
        wanted: &'static str,
    },
    /// Boxes cannot be read without a word on how.
    #[error("detections need a decoder; known: {known}")]
    NoDecoder {
        /// The names there are.
        known: String,
    },
    /// No decoder of this name.
    #[error("no decoder is called `{name}`{}; known: {known}", hint(.meant))]
    UnknownDecoder {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
        /// The likeliest slip.
        meant: Option<String>,
    },
    /// A setting that the decoder does not read.
    #[error("the decoder {decoder} reads no output by {field}; it takes {takes}")]
    DecoderField {
        /// The decoder.
        decoder: &'static str,
        /// The setting.
        field: &'static str,
        /// The settings that it takes.
        takes: String,
    },
    /// A choice that the decoder does not have.
    #[error("the decoder {decoder} measures boxes in one way only: leave units out")]
    DecoderUnits {
        /// The decoder.
        decoder: &'static str,
    },
    /// Outlines are asked of a model that has none, or other ones.
    #[error(
        "the model gives no outlines that are known ({known}), nor a class for every pixel; take a \
         model that segments, or describe its output as segments in an input file (`--input`)"
    )]
    NoInstances {
        /// The layouts there are.
        known: String,
    },
    /// Outputs of another form than the layout that was recognised.
    #[error("the outputs are not those of {layout}: {why}")]
    Instances {
        /// The layout.
        layout: &'static str,
        /// What is needed.
        why: String,
    },
    /// Probabilities and values are not turned into probabilities again.
    #[error("softmax turns logits into probabilities: leave it out, or set kind to logits")]
    Softmax,
    /// Labels that cannot be read.
    #[error("cannot read the labels: {0}")]
    Labels(String),
}

fn hint(meant: &Option<String>) -> String {
    meant.as_ref().map(|m| format!("; did you mean `{m}`?")).unwrap_or_default()
}
