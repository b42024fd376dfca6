//! Tensors as users see them: a shape and its elements in row-major order.

use half::{bf16, f16};
use thiserror::Error;

/// What can be wrong with a tensor's parts.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum TensorError {
    /// The shape and the number of elements disagree.
    #[error("a tensor of shape {shape:?} cannot hold {elements} elements")]
    ElementCount {
        /// The shape asked for.
        shape: Vec<usize>,
        /// How many elements came with it.
        elements: usize,
    },
}

macro_rules! tensor_types {
    ($($variant:ident, $type:ty, $name:literal;)+) => {
        /// The type of a tensor's elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl DType {
            /// The name that reports and error messages use.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Bytes that one element takes in memory and in a file.
            pub fn size(self) -> usize {
                match self { $(Self::$variant => std::mem::size_of::<$type>(),)+ }
            }
        }

        /// A tensor's elements, in row-major order of its shape.
        #[derive(Debug, Clone, PartialEq)]
        pub enum TensorData {
            $(#[doc = concat!("Elements of type `", $name, "`.")] $variant(Vec<$type>),)+
        }

        impl TensorData {
            /// The type of the elements.
            pub fn dtype(&self) -> DType {
                match self { $(Self::$variant(_) => DType::$variant,)+ }
            }

            /// How many elements there are.
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(v) => v.len(),)+ }
            }

            /// Whether there is no element at all.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        $(impl From<Vec<$type>> for TensorData {
            fn from(elements: Vec<$type>) -> Self {
                Self::$variant(elements)
            }
        })+
    };
}

tensor_types! {
    F32, f32, "f32";
    F16, f16, "f16";
    BF16, bf16, "bf16";
    F64, f64, "f64";
    I8, i8, "int8";
    U8, u8, "uint8";
    I16, i16, "int16";
    U16, u16, "uint16";
    I32, i32, "int32";
    U32, u32, "uint32";
    I64, i64, "int64";
    U64, u64, "uint64";
    Bool, bool, "bool";
}

/// A shape and its elements in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    data: TensorData,
}

impl Tensor {
    /// A tensor of the given shape; the number of elements must fit it.
    pub fn new(shape: Vec<usize>, data: impl Into<TensorData>) -> Result<Self, TensorError> {
        let data = data.into();
        let wanted = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if wanted != Some(data.len()) {
            return Err(TensorError::ElementCount { shape, elements: data.len() });
        }
        Ok(Self { shape, data })
    }

    /// A one-dimensional tensor.
    pub fn vector(data: impl Into<TensorData>) -> Self {
        let data = data.into();
        Self { shape: vec![data.len()], data }
    }

    /// The length of every axis, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no element at all.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements in row-major order.
    pub fn data(&self) -> &TensorData {
        &self.data
    }

    /// The elements in row-major order, to change in place.
    pub fn data_mut(&mut self) -> &mut TensorData {
        &mut self.data
    }

    /// The shape and the elements, taken apart.
    pub fn into_parts(self) -> (Vec<usize>, TensorData) {
        (self.shape, self.data)
    }

    /// The elements when they are `f32`, the type of nearly every activation and weight.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.data {
            TensorData::F32(v) => Some(v),
            _ => None,
        }
    }

    /// The elements when they are `int64`, the type of shapes and indices.
    pub fn as_i64(&self) -> Option<&[i64]> {
        match &self.data {
            TensorData::I64(v) => Some(v),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_elements_must_agree() {
        assert!(Tensor::new(vec![2, 3], vec![0.0f32; 6]).is_ok());
        let wrong = Tensor::new(vec![2, 3], vec![0.0f32; 5]);
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "a tensor of shape [2, 3] cannot hold 5 elements"
        );
        assert!(Tensor::new(vec![usize::MAX, 2], vec![0u8; 2]).is_err());
    }
}
