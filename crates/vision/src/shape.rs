//! The model's side of the bargain: the input that takes the image.

use faultlens_core::DType;

use super::{InputDescription, Layout, VisionError};
use faultlens_engine::{Dim, Graph};

/// A shape as people read it: `(N, 3, 224, 224)`, with `?` where a free axis has no name.
pub fn shape_text(dims: &[Dim]) -> String {
    format!(
        "({})",
        dims.iter()
            .map(|dim| match dim {
                Dim::Fixed(n) => n.to_string(),
                Dim::Free(name) if name.is_empty() => "?".to_owned(),
                Dim::Free(name) => name.clone(),
            })
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// The model's input that takes the image, as the file declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageInput {
    /// The name to feed.
    pub name: String,
    /// The declared shape, if there is one.
    pub dims: Option<Vec<Dim>>,
    /// The declared element type, if there is one.
    pub dtype: Option<DType>,
}

impl ImageInput {
    /// The model's only input.
    pub fn of(graph: &Graph) -> Result<Self, VisionError> {
        let &[input] = graph.inputs() else {
            let names: Vec<&str> = graph.inputs().iter().map(|&v| graph.value_name(v)).collect();
            return Err(VisionError::InputCount { count: names.len(), names: names.join(", ") });
        };
        Ok(Self {
            name: graph.value_name(input).to_owned(),
            dims: graph.declared_shape(input).map(<[Dim]>::to_vec),
            dtype: graph.declared_dtype(input),
        })
    }

    /// Type and shape as the file declares them.
    pub fn text(&self) -> String {
        let dtype = self.dtype.map_or("of undeclared type", DType::name);
        match &self.dims {
            Some(dims) => format!("{dtype} {}", shape_text(dims)),
            None => format!("{dtype} of undeclared shape"),
        }
    }

    /// How many images must be fed together, when the model fixes that.
    pub fn batch(&self, description: &InputDescription) -> Option<usize> {
        match self.dims.as_deref() {
            _ if description.alone => Some(1),
            Some([Dim::Fixed(n), ..]) => Some(*n),
            _ => None,
        }
    }

    /// Says which fields of a description do not fit this input, before the model does in its
    /// own words.
    pub fn fits(&self, description: &InputDescription) -> Result<(), VisionError> {
        let mut fields = Vec::new();
        if self.dtype.is_some_and(|dtype| dtype != description.dtype.dtype()) {
            fields.push("dtype");
        }
        if let Some(dims) = &self.dims {
            fields.extend(differing_fields(dims, description));
        }
        if fields.is_empty() {
            return Ok(());
        }
        let made = description.shape(self.batch(description).unwrap_or(1));
        let numbers: Vec<String> = made.iter().map(usize::to_string).collect();
        Err(VisionError::Misfit {
            name: self.name.clone(),
            made: format!("{} ({})", description.dtype.dtype().name(), numbers.join(", ")),
            wanted: self.text(),
            fields: fields.join(", "),
        })
    }
}

/// The fields whose axes differ.
fn differing_fields(dims: &[Dim], description: &InputDescription) -> Vec<&'static str> {
    let made = description.shape(1);
    let is_latent = description.latent.is_some();
    if dims.len() != made.len() {
        return vec![if is_latent {
            "latent"
        } else if dims.len() == 3 {
            "alone (the model takes one image without an axis of images)"
        } else if dims.len() == 4 && description.alone {
            "alone (the model takes a batch)"
        } else {
            "layout (the model's input is no batch of images)"
        }];
    }
    // A free axis fits any length.
    let differs = |axis: usize| matches!(dims[axis], Dim::Fixed(n) if n != made[axis]);
    if is_latent {
        return if (1..dims.len()).any(differs) { vec!["latent"] } else { Vec::new() };
    }
    let (channel, sides) = match description.layout {
        Layout::Nchw => (0, [1, 2]),
        Layout::Nhwc => (2, [0, 1]),
    };
    // The axis of images stands in front, where there is one.
    let front = dims.len() - 3;
    let mut fields = Vec::new();
    if differs(front + channel) {
        fields.push("channels or layout");
    }
    if sides.into_iter().any(|side| differs(front + side)) {
        fields.push("size");
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::super::{Channels, ElementType};
    use super::*;

    fn input(dims: [usize; 4], dtype: DType) -> ImageInput {
        let dims = dims.map(|n| if n == 0 { Dim::Free("N".into()) } else { Dim::Fixed(n) });
        ImageInput { name: "x".into(), dims: Some(dims.to_vec()), dtype: Some(dtype) }
    }

    #[test]
    fn a_misfit_names_the_fields() {
        let d = InputDescription::plain([32, 48], Channels::Rgb, ElementType::F32);
        assert_eq!(input([0, 3, 32, 48], DType::F32).fits(&d), Ok(()));
        assert_eq!(input([0, 3, 0, 0], DType::F32).fits(&d), Ok(()));
        for (model, wanted) in [
            (input([0, 1, 32, 48], DType::F32), "correct channels or layout"),
            (input([0, 32, 48, 3], DType::F32), "correct channels or layout, size"),
            (input([1, 3, 64, 48], DType::F32), "correct size"),
            (input([1, 3, 32, 48], DType::U8), "correct dtype"),
        ] {
            let error = model.fits(&d).unwrap_err().to_string();
            assert!(error.ends_with(wanted), "{error}");
        }
    }

    #[test]
    fn a_vector_fits_its_axes() {
        let vector = |axes: &[usize]| InputDescription::latent(axes.to_vec());
        let model = input([0, 64, 1, 1], DType::F32);
        assert_eq!(model.fits(&vector(&[64, 1, 1])), Ok(()));
        for axes in [&[64][..], &[32, 1, 1]] {
            let error = model.fits(&vector(axes)).unwrap_err().to_string();
            assert!(error.ends_with("correct latent"), "{error}");
        }
    }

    #[test]
    fn shapes_read_like_the_file() {
        let x = input([0, 3, 32, 48], DType::F32);
        let d = InputDescription::plain([32, 48], Channels::Rgb, ElementType::F32);
        assert_eq!((x.text().as_str(), x.batch(&d)), ("f32 (N, 3, 32, 48)", None));
        assert_eq!(x.batch(&InputDescription { alone: true, ..d.clone() }), Some(1));
        assert_eq!(input([4, 3, 32, 48], DType::F32).batch(&d), Some(4));
        assert_eq!(shape_text(&[Dim::Free(String::new()), Dim::Fixed(2)]), "(?, 2)");
    }
}
