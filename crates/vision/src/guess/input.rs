//! Guesses how images go into a model, where that is safe, and says why.

use faultlens_core::{DType, Tensor};

use super::Guess;
use super::detector::detector;
use super::output::guess_output;
use crate::preprocessing::{self, Preprocessing};
use crate::{
    Channels, ElementType, ImageInput, InputDescription, Layout, OutputKind, Resize, VisionError,
    outlines, shape_text, ultralytics,
};
use faultlens_engine::{Dim, Graph, ValueId, onnx};

/// The size that is assumed where the model takes any.
const USUAL_SIDE: usize = 224;
/// Square inputs of these sides belong to ImageNet classifiers by convention.
const IMAGENET_SIDES: std::ops::RangeInclusive<usize> = 192..=300;
const IMAGENET_MEAN: [f64; 3] = [0.485, 0.456, 0.406];
const IMAGENET_STD: [f64; 3] = [0.229, 0.224, 0.225];

/// Proposes a description for the model's image input; `size` is `[height, width]` for models
/// that take any. An error says what stays open and gives a description to correct.
pub fn guess_input(
    graph: &Graph,
    size: Option<[usize; 2]>,
) -> Result<Guess<InputDescription>, VisionError> {
    let input = ImageInput::of(graph)?;
    if let Some(guess) = latent(graph, &input) {
        return Ok(guess);
    }
    let scales_itself = first_scaling(graph, &input.name);
    let preprocessing = preprocessing(graph);
    let own_size = ultralytics::size(graph);
    let own_mean = first_mean(graph, &input.name);
    let reasons = Vec::new();
    Guesser { input: &input, scales_itself, own_mean, preprocessing, own_size, reasons }.guess(size)
}

/// How images go into models with such outputs.
fn preprocessing(graph: &Graph) -> Option<&'static Preprocessing> {
    match ultralytics::task(graph) {
        Some("classify") => Some(&preprocessing::YOLO_CLASSIFIER),
        _ => outlines::preprocessing(graph).or_else(|| detector(graph)?.preprocessing),
    }
}

/// A generator's vector: a row of numbers, of which a picture is made.
fn latent(graph: &Graph, input: &ImageInput) -> Option<Guess<InputDescription>> {
    let dims = input.dims.as_deref()?;
    let [_, Dim::Fixed(length), rest @ ..] = dims else { return None };
    // DCGAN and its kin take (N, length) or (N, length, 1, 1).
    let is_row = *length > 1 && rest.iter().all(|dim| *dim == Dim::Fixed(1));
    if !is_row || input.dtype.is_some_and(|dtype| dtype != DType::F32) {
        return None;
    }
    guess_output(graph).ok().filter(|g| g.description.kind == OutputKind::Picture)?;
    let axes = [&[*length][..], &vec![1; rest.len()]].concat();
    let reason = format!(
        "latent: `{}` {} is a row of numbers of which a picture is made, so it is drawn from a \
         standard normal distribution, by the image's pixels",
        input.name,
        shape_text(dims)
    );
    let description = InputDescription::latent(axes);
    description.check().ok()?;
    Some(Guess { description, reasons: vec![reason] })
}

/// The first operator, when it scales raw pixels: then the file itself says that it takes them.
fn first_scaling(graph: &Graph, input: &str) -> Option<String> {
    let input = graph.find(input)?;
    // A model that divides by 255 itself wants raw pixels.
    let operator = graph.operator(*graph.consumers(input).first()?);
    let constant = operator.inputs.iter().flatten().find(|&&v| v != input)?;
    let factor = self::constant(graph, *constant)?;
    let [factor] = factor.as_f32()? else { return None };
    let scales = match operator.op_type.as_str() {
        "Div" => (100.0..=256.0).contains(factor),
        "Mul" => (1.0 / 256.0..=0.01).contains(factor),
        _ => false,
    };
    scales.then(|| format!("{} by {factor}", operator.op_type))
}

/// What is written into the file: as an initializer, or as an operator that makes nothing else.
fn constant(graph: &Graph, value: ValueId) -> Option<Tensor> {
    if let Some(tensor) = graph.initializer(value) {
        return Some(tensor.clone());
    }
    let operator = graph.producer(value).map(|id| graph.operator(id))?;
    if operator.op_type != "Constant" {
        return None;
    }
    let value = operator.attributes.iter().find(|attribute| attribute.name == "value")?;
    onnx::tensor(value.t.as_deref()?).ok()
}

/// What an operator takes away from the input, where it is a mean of pixels from 0 to 1: then the
/// file itself says that it takes such pixels, as torchvision's detectors do.
fn first_mean(graph: &Graph, input: &str) -> Option<String> {
    let input = graph.find(input)?;
    let mut operators = graph.consumers(input).iter().map(|id| graph.operator(*id));
    // Only the first operator tells: later subtractions may be anything.
    let less = operators.find(|operator| operator.op_type == "Sub")?;
    let mean = constant(graph, less.inputs.get(1).copied().flatten()?)?;
    let mean = mean.as_f32()?;
    let fits = matches!(mean.len(), 1 | 3) && mean.iter().all(|m| (0.1..0.9).contains(m));
    fits.then(|| mean.iter().map(f32::to_string).collect::<Vec<_>>().join(", "))
}

struct Guesser<'a> {
    input: &'a ImageInput,
    scales_itself: Option<String>,
    /// The mean that the model takes away itself.
    own_mean: Option<String>,
    /// How images go into its kind, where that is known.
    preprocessing: Option<&'static Preprocessing>,
    /// The size that its metadata says.
    own_size: Option<[usize; 2]>,
    reasons: Vec<String>,
}

impl Guesser<'_> {
    fn guess(mut self, size: Option<[usize; 2]>) -> Result<Guess<InputDescription>, VisionError> {
        let (layout, channels, sides) = self.layout()?;
        let size = self.size(sides, size);
        let dtype = self.dtype(layout, size)?;
        let alone = self.input.dims.as_ref().is_some_and(|dims| dims.len() == 3);
        let plain = InputDescription::plain(size, channels, dtype);
        let mut description = InputDescription { layout, alone, ..plain };
        self.values(&mut description)?;
        description.check()?;
        self.input.fits(&description)?;
        Ok(Guess { description, reasons: self.reasons })
    }

    /// Where 1 or 3 channels stand decides; when they could stand in two places, nothing does.
    fn layout(&mut self) -> Result<(Layout, Channels, [Dim; 2]), VisionError> {
        let open = |reason: &str| {
            Err(self.not_safe(reason, Layout::Nchw, [USUAL_SIDE; 2], ElementType::F32))
        };
        let Some(dims) = &self.input.dims else { return open("its shape is not declared") };
        // With or without an axis of images in front.
        let ([_, first, middle, last] | [first, middle, last]) = &dims[..] else {
            return open("a batch of images has four axes, and one image three");
        };
        let (layout, channels, sides) = match (channels_along(first), channels_along(last)) {
            (Some(c), None) => (Layout::Nchw, c, [middle.clone(), last.clone()]),
            (None, Some(c)) => (Layout::Nhwc, c, [first.clone(), middle.clone()]),
            (Some(_), Some(_)) => return open("its channels could be the first or the last axis"),
            (None, None) => return open("no axis has the 1 or 3 channels of an image"),
        };
        let place = if layout == Layout::Nchw { "before" } else { "after" };
        let colours = match channels {
            Channels::Grey => "1, so grey",
            _ if self.preprocessing.is_some() => "3",
            _ => "3, so RGB (assumed)",
        };
        self.reasons.push(format!(
            "layout and channels: `{}` is {}; channels stand {place} the sides and are {colours}",
            self.input.name,
            shape_text(dims),
        ));
        Ok((layout, channels, sides))
    }

    fn size(&mut self, sides: [Dim; 2], given: Option<[usize; 2]>) -> [usize; 2] {
        let declared = sides.map(|side| match side {
            Dim::Fixed(n) => Some(n),
            Dim::Free(_) => None,
        });
        let (size, reason) = match (declared, given) {
            (_, Some(given)) => (given, "as given"),
            ([Some(height), Some(width)], None) => ([height, width], "as the model declares"),
            (_, None) if self.own_size.is_some() => (
                self.own_size.unwrap_or_default(),
                "the model leaves it open, and its metadata says what it was exported for",
            ),
            (_, None) => (
                declared
                    .map(|side| side.unwrap_or(self.preprocessing.map_or(USUAL_SIDE, |h| h.side))),
                "the model leaves it open, so the usual size is assumed",
            ),
        };
        self.reasons.push(format!("size: {}×{} (height×width), {reason}", size[0], size[1]));
        size
    }

    fn dtype(&mut self, layout: Layout, size: [usize; 2]) -> Result<ElementType, VisionError> {
        let Some(dtype) = self.input.dtype else {
            self.reasons.push("dtype: not declared, so f32 is assumed".to_owned());
            return Ok(ElementType::F32);
        };
        match ElementType::of(dtype) {
            // The scale stands in the graph for the weights, but not for the pixels.
            Some(ElementType::Int8) => Err(self.not_safe(
                "signed bytes need the scale and zero point of their quantisation",
                layout,
                size,
                ElementType::Int8,
            )),
            Some(found) => Ok(found),
            None => {
                let reason = format!("images cannot be fed as {}", dtype.name());
                Err(self.not_safe(&reason, layout, size, ElementType::F32))
            }
        }
    }

    /// What pixel values become; a description starts out with 0..1, or bytes as they are.
    fn values(&mut self, description: &mut InputDescription) -> Result<(), VisionError> {
        let [height, width] = description.size;
        // From the surest evidence to the weakest: a known family, the type, the graph's first
        // operators, conventions; and where nothing tells, nothing is guessed.
        if let Some(preprocessing) = self.preprocessing {
            self.reasons.push(preprocessing.apply(description, self.scales_itself.is_some()));
        } else if description.dtype == ElementType::Uint8 {
            self.reasons.push("values: the model takes bytes, so pixels stay 0..255".to_owned());
        } else if let Some(operator) = &self.scales_itself {
            description.scale = 1.0;
            self.reasons.push(format!(
                "values: the model scales pixels itself ({operator}), so they stay 0..255"
            ));
        } else if let Some(mean) = &self.own_mean {
            self.reasons.push(format!(
                "values: the model takes a mean ({mean}) away itself, so they are scaled to 0..1; \
                 stretched to the size, which is assumed"
            ));
        } else if description.channels == Channels::Grey {
            self.reasons.push("values: scaled to 0..1, assumed for one grey channel".to_owned());
        } else if height == width && IMAGENET_SIDES.contains(&height) {
            imagenet(description, &mut self.reasons);
        } else {
            return Err(self.not_safe(
                "a 3-channel input of this size may take 0..255, 0..1 or normalised values",
                description.layout,
                description.size,
                description.dtype,
            ));
        }
        Ok(())
    }

    /// The last line of an example, where the model takes one image.
    fn alone(&self) -> &'static str {
        match self.input.dims.as_deref() {
            Some([_, _, _]) => {
                "  alone: true                 # one image without an axis of images\n"
            }
            _ => "",
        }
    }

    fn not_safe(
        &self,
        reason: &str,
        layout: Layout,
        size: [usize; 2],
        dtype: ElementType,
    ) -> VisionError {
        VisionError::NotSafe {
            name: self.input.name.clone(),
            shape: self.input.text(),
            reason: reason.to_owned(),
            example: example(layout, size, dtype) + self.alone(),
        }
    }
}

/// The channels that an axis can hold.
fn channels_along(dim: &Dim) -> Option<Channels> {
    match dim {
        Dim::Fixed(1) => Some(Channels::Grey),
        Dim::Fixed(3) => Some(Channels::Rgb),
        _ => None,
    }
}

fn imagenet(description: &mut InputDescription, reasons: &mut Vec<String>) {
    // torchvision resizes to 256 and crops 224: the crop is 0.875 of the short side.
    let short = (description.size[0] as f64 / Resize::SHARE).round() as usize;
    description.resize = Resize::ShortSide(short);
    description.mean = IMAGENET_MEAN.to_vec();
    description.std = IMAGENET_STD.to_vec();
    reasons.push(format!(
        "values: scaled to 0..1, then ImageNet's mean and deviation; short side {short}, then \
         centre crop: assumed, as for most 3-channel classifiers of this size"
    ));
}

/// One line of an example: a field, and what may stand there.
fn line(field: String, comment: &str) -> String {
    format!("  {field:<28}# {comment}\n")
}

/// A description to paste into a file, with the choices named.
fn example(layout: Layout, [height, width]: [usize; 2], dtype: ElementType) -> String {
    let layout = if layout == Layout::Nchw { "nchw" } else { "nhwc" };
    let (scale, meant) = match dtype {
        ElementType::Uint8 | ElementType::Int8 => (1.0, "pixels as they are"),
        ElementType::F32 | ElementType::F16 => (1.0 / 255.0, "to 0..1; 1 leaves 0..255"),
    };
    let short = (height.max(width) as f64 / Resize::SHARE).round();
    [
        "input:\n".to_owned(),
        line(format!("size: [{height}, {width}]"), "height, width"),
        line(
            "resize: stretch".to_owned(),
            &format!("or centre_crop, {{short_side: {short}}}, letterbox, none"),
        ),
        line("channels: rgb".to_owned(), "or bgr, grey"),
        line(format!("layout: {layout}"), "nchw or nhwc"),
        line(format!("scale: {scale}"), meant),
        line("mean: [0, 0, 0]".to_owned(), "subtracted after scaling"),
        line("std: [1, 1, 1]".to_owned(), "divides the difference"),
        line(format!("dtype: {}", dtype.dtype().name()), "f32, f16, uint8 or int8"),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(dims: &[&str], dtype: DType) -> ImageInput {
        let dims = Some(
            dims.iter()
                .map(|d| d.parse().map_or_else(|_| Dim::Free((*d).into()), Dim::Fixed))
                .collect(),
        );
        ImageInput { name: "x".into(), dims, dtype: Some(dtype) }
    }

    fn guesser(input: &ImageInput) -> Guesser<'_> {
        let reasons = Vec::new();
        let scales_itself = None;
        let own_mean = None;
        Guesser { input, scales_itself, own_mean, preprocessing: None, own_size: None, reasons }
    }

    fn guess(
        input: &ImageInput,
        size: Option<[usize; 2]>,
    ) -> Result<Guess<InputDescription>, VisionError> {
        guesser(input).guess(size)
    }

    #[test]
    fn the_usual_classifiers_are_guessed_with_reasons() {
        let nchw = input(&["N", "3", "224", "224"], DType::F32);
        let Guess { description: d, reasons } = guess(&nchw, None).unwrap();
        assert_eq!(
            (d.layout, d.size, d.resize),
            (Layout::Nchw, [224, 224], Resize::ShortSide(256))
        );
        assert_eq!(d.mean, IMAGENET_MEAN);
        assert_eq!(reasons.len(), 3);
        assert!(reasons[2].contains("assumed"), "{reasons:?}");

        let nhwc = guess(&input(&["1", "?", "?", "3"], DType::U8), Some([64, 96])).unwrap();
        let d = nhwc.description;
        assert_eq!(
            (d.layout, d.size, d.scale, d.dtype),
            (Layout::Nhwc, [64, 96], 1.0, ElementType::Uint8)
        );

        let grey = guess(&input(&["1", "1", "28", "28"], DType::F32), None).unwrap().description;
        assert_eq!((grey.channels, grey.shape(1)), (Channels::Grey, vec![1, 1, 28, 28]));

        let open = guess(&input(&["N", "3", "H", "W"], DType::F16), None).unwrap();
        assert_eq!((open.description.size, open.description.dtype), ([224, 224], ElementType::F16));
        assert!(open.reasons[1].contains("leaves it open"), "{:?}", open.reasons);
    }

    #[test]
    fn a_model_that_scales_itself_gets_raw_pixels() {
        let x = input(&["1", "3", "32", "32"], DType::F32);
        let scales_itself = Some("Div by 255".to_owned());
        let guesser = Guesser { scales_itself, ..guesser(&x) };
        assert_eq!(guesser.guess(None).unwrap().description.scale, 1.0);
    }

    #[test]
    fn an_image_alone_and_a_mean_that_the_model_takes_away_itself() {
        use faultlens_engine::onnx::ModelBuilder;
        let graph = |mean: [f32; 3]| {
            let mut model = ModelBuilder::new("detector");
            model.input("image", DType::F32, &[3.into(), 320.into(), 416.into()]);
            let mean = Tensor::new(vec![3, 1, 1], mean.to_vec()).unwrap();
            let mean = model.initializer("mean", mean);
            model.node("Sub", &["image", &mean], &["y"]);
            model.output("y", DType::F32, &[3.into(), 320.into(), 416.into()]);
            Graph::new(&model.build()).unwrap()
        };
        let d = guess_input(&graph([0.485, 0.456, 0.406]), None).unwrap().description;
        assert_eq!((d.alone, d.size, d.scale), (true, [320, 416], 1.0 / 255.0));
        assert_eq!((d.shape(1), d.mean), (vec![3, 320, 416], vec![0.0; 3]));
        // Of pixels up to 255, or no mean at all.
        let error = guess_input(&graph([123.7, 116.3, 103.5]), None).unwrap_err();
        let VisionError::NotSafe { example, .. } = error else { panic!("{error}") };
        assert!(example.contains("alone: true"), "{example}");
    }

    #[test]
    fn what_is_not_safe_is_not_guessed() {
        for (dims, dtype, wanted) in [
            (vec!["1", "3", "416", "416"], DType::F32, "may take 0..255"),
            (vec!["1", "3", "240", "320"], DType::F32, "may take 0..255"),
            (vec!["1", "4", "224", "224"], DType::F32, "no axis has"),
            (vec!["1", "3", "1", "3"], DType::F32, "first or the last"),
            (vec!["1", "10"], DType::F32, "four axes"),
            (vec!["1", "3", "224", "224"], DType::I8, "zero point"),
            (vec!["1", "3", "224", "224"], DType::I64, "cannot be fed as int64"),
        ] {
            let error = guess(&input(&dims, dtype), None).unwrap_err();
            let VisionError::NotSafe { reason, example, .. } = error else { panic!("{error}") };
            assert!(reason.contains(wanted), "{reason}");
            assert!(example.starts_with("input:\n  size: ["), "{example}");
        }
        let fixed = input(&["1", "3", "224", "224"], DType::F32);
        assert!(matches!(guess(&fixed, Some([192, 192])), Err(VisionError::Misfit { .. })));
    }

    #[test]
    fn a_generators_vector_is_recognised_by_what_is_made_of_it() {
        use faultlens_engine::onnx::ModelBuilder;
        let graph = |op: &str, dims: &[usize]| {
            let mut model = ModelBuilder::new("generator");
            let dims: Vec<_> = dims.iter().map(|&n| n.into()).collect();
            model.input("z", DType::F32, &dims);
            model.node(op, &["z"], &["image"]);
            model.output("image", DType::F32, &[1.into(), 3.into(), 8.into(), 8.into()]);
            Graph::new(&model.build()).unwrap()
        };
        for (dims, axes) in [(&[1, 64][..], vec![64]), (&[1, 64, 1, 1], vec![64, 1, 1])] {
            let guess = guess_input(&graph("Tanh", dims), None).unwrap();
            assert_eq!(guess.description, InputDescription::latent(axes));
            assert!(guess.reasons[0].contains("standard normal"), "{guess:?}");
        }
        // No picture comes of it, or it is no row.
        assert!(guess_input(&graph("Relu", &[1, 64]), None).is_err());
        let grey = guess_input(&graph("Tanh", &[1, 1, 8, 8]), None).unwrap();
        assert_eq!(grey.description.latent, None);
    }
}
