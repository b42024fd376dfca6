//! Everything that can be wrong with an ONNX file, in words that say what to do about it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Bytes that are not the protobuf message they should be, and where.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{what} at byte {offset}{}", place(.path))]
pub struct Malformed {
    /// What was found there.
    pub what: String,
    /// The offset into the file's bytes, for a look with a hex viewer.
    pub offset: usize,
    /// The message, as a path of field names from the model; empty for the model itself.
    pub path: String,
}

impl Malformed {
    /// The same problem, seen from the message that holds the field.
    pub(super) fn inside(mut self, field: &str, index: Option<usize>) -> Self {
        let mut path = field.trim_start_matches("r#").to_owned();
        if let Some(index) = index {
            path += &format!("[{index}]");
        }
        if !self.path.is_empty() {
            path += ".";
        }
        self.path.insert_str(0, &path);
        self
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" in `{path}`") }
}

/// Why the elements of a [`TensorProto`](super::TensorProto) cannot be had.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum TensorProblem {
    /// An axis has fewer than zero elements.
    #[error("negative axis in its shape {dims:?}; export the model again")]
    NegativeDim {
        /// The shape as the file has it.
        dims: Vec<i64>,
    },
    /// The shape asks for more than this machine can address.
    #[error("its shape {dims:?} has more elements than can be addressed; export the model again")]
    TooManyElements {
        /// The shape as the file has it.
        dims: Vec<i64>,
    },
    /// The data and the shape disagree.
    #[error(
        "its shape {dims:?} needs {wanted} {unit}, {found} are there; the file may be cut short"
    )]
    Length {
        /// The shape as the file has it.
        dims: Vec<i64>,
        /// What the shape and the element type ask for.
        wanted: usize,
        /// What the file holds.
        found: usize,
        /// Of what: bytes, or elements of a typed field.
        unit: &'static str,
    },
    /// An integer in a typed field is too large for the tensor's element type.
    #[error("its element {value} does not fit the element type {dtype}; export the model again")]
    Range {
        /// The value found.
        value: i128,
        /// The declared element type.
        dtype: &'static str,
    },
    /// An element type that ONNX has and Faultlens has not.
    #[error("unsupported element type {name}; convert the model to float32 first")]
    UnsupportedType {
        /// The type's name in `onnx.proto`, or its number.
        name: String,
    },
    /// The elements are in another file, which only reading from a path can find.
    #[error(
        "its data lies in the file `{location}`; read the model from its path, not from memory"
    )]
    NotLoaded {
        /// The file's name, relative to the model's folder.
        location: String,
    },
}

/// Why a tensor's external data cannot be used.
#[derive(Debug, Error)]
pub enum ExternalProblem {
    /// No `location` entry.
    #[error("no file is named for it; export the model again")]
    NoLocation,
    /// `offset` or `length` is not a number.
    #[error("its {key} `{value}` is not a number of bytes; export the model again")]
    BadNumber {
        /// Which entry.
        key: String,
        /// What it says.
        value: String,
    },
    /// The location could reach files that have nothing to do with the model.
    #[error("the location leaves the model's folder; put the data file beside the model")]
    OutsideFolder,
    /// Not found, or not readable.
    #[error("the data file cannot be read ({0}); put it beside the model under this name")]
    Unreadable(io::Error),
    /// A folder, a pipe or a device.
    #[error("the location is not a plain file; put the data file beside the model")]
    NotAFile,
    /// Larger than Faultlens takes into memory.
    #[error("a file of {bytes} bytes is more than the limit of {limit}; use a smaller model")]
    TooLarge {
        /// The file's length.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The tensor's range ends after the file does.
    #[error("bytes {offset}..{end} are wanted, the data file has {size}; copy the file again")]
    OutOfRange {
        /// Where the tensor starts.
        offset: u64,
        /// Where it would end.
        end: u64,
        /// The file's length.
        size: u64,
    },
    /// The stated length is not what the shape needs.
    #[error("shape {dims:?} needs {wanted} bytes, {found} are declared; export the model again")]
    Length {
        /// The shape as the file has it.
        dims: Vec<i64>,
        /// What the shape and the element type ask for.
        wanted: u64,
        /// The stated length, or the rest of the file when none is stated.
        found: u64,
    },
}

/// Why a model cannot be read or written.
#[derive(Debug, Error)]
pub enum OnnxError {
    /// The file system said no.
    #[error("cannot read the model ({0})")]
    Unreadable(io::Error),
    /// A folder, a pipe or a device.
    #[error("{0} is no ONNX file; name the .onnx file itself")]
    NotAFile(&'static str),
    /// Larger than Faultlens takes into memory.
    #[error("a file of {bytes} bytes is more than the limit of {limit}; use a smaller model")]
    TooLarge {
        /// The file's length.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The machine has not enough memory left.
    #[error("not enough memory for a file of {bytes} bytes; close programs or use a smaller model")]
    OutOfMemory {
        /// The file's length.
        bytes: u64,
    },
    /// A file of no bytes.
    #[error("the file is empty; fetch the model again")]
    Empty,
    /// Something else under an ONNX file's name.
    #[error("not an ONNX file but {what}; {advice}")]
    LooksLike {
        /// What the first bytes look like.
        what: &'static str,
        /// How to get at the model.
        advice: &'static str,
    },
    /// Not the protobuf message it should be.
    #[error("not a valid ONNX file: {0}; it may be cut short or damaged, fetch it again")]
    Malformed(#[from] Malformed),
    /// A protobuf message, but no model.
    #[error("the file holds no graph; is it an ONNX model? fetch or export it again")]
    NoGraph,
    /// A tensor whose elements cannot be had.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// What is wrong with it.
        problem: TensorProblem,
        /// The tensor's name in the file.
        tensor: String,
    },
    /// A tensor whose elements lie in another file.
    #[error("tensor `{tensor}` with external data: {problem}: {location}")]
    External {
        /// What is wrong.
        problem: ExternalProblem,
        /// The tensor's name in the file.
        tensor: String,
        /// The file named in the model.
        location: String,
    },
    /// Protobuf files end at 2 GiB: no other program could read the result.
    #[error("a model of {bytes} bytes does not fit one ONNX file (2 GiB); use a smaller model")]
    TooLargeToWrite {
        /// The encoded length.
        bytes: usize,
    },
    /// The file system refused; the old file, if any, is untouched.
    #[error("cannot write the model ({source}): {}", .path.display())]
    Unwritable {
        /// What the file system said.
        source: io::Error,
        /// The file asked for.
        path: PathBuf,
    },
    /// Any of the above, with the model's path.
    #[error("{problem}: {}", .path.display())]
    InFile {
        /// What is wrong.
        problem: Box<OnnxError>,
        /// The model's file.
        path: PathBuf,
    },
}
