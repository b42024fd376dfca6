//! Reading models from files and from memory.

use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

use super::error::OnnxError;
use super::external;
use super::field::Message;
use super::file::{MAX_FILE_BYTES, read_exactly};
use super::message::ModelProto;
use super::sniff::looks_like;
use super::wire::Reader;

/// Reads a model and the external data that lies beside it; afterwards the model stands alone.
pub fn read(path: &Path) -> Result<ModelProto, OnnxError> {
    load(path)
        .map_err(|problem| OnnxError::InFile { problem: Box::new(problem), path: path.into() })
}

fn load(path: &Path) -> Result<ModelProto, OnnxError> {
    let mut model = decode(read_file(path)?)?;
    external::load(&mut model, path.parent().unwrap_or(Path::new("")))?;
    Ok(model)
}

/// Reads a model from memory. Weights stay parts of `bytes`; external data is not looked for.
pub fn decode(bytes: Bytes) -> Result<ModelProto, OnnxError> {
    if bytes.is_empty() {
        return Err(OnnxError::Empty);
    }
    parse(bytes.clone()).map_err(|problem| looks_like(&bytes).unwrap_or(problem))
}

fn parse(bytes: Bytes) -> Result<ModelProto, OnnxError> {
    let mut model = ModelProto::default();
    model.merge(&mut Reader::new(bytes))?;
    if model.graph.is_none() {
        return Err(OnnxError::NoGraph);
    }
    Ok(model)
}

fn read_file(path: &Path) -> Result<Bytes, OnnxError> {
    let metadata = fs::metadata(path).map_err(OnnxError::Unreadable)?;
    if metadata.is_dir() {
        return Err(OnnxError::NotAFile("a folder"));
    }
    if !metadata.is_file() {
        return Err(OnnxError::NotAFile("a pipe or a device"));
    }
    let bytes = metadata.len();
    if bytes > MAX_FILE_BYTES {
        return Err(OnnxError::TooLarge { bytes, limit: MAX_FILE_BYTES });
    }
    read_exactly(path, bytes).map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => OnnxError::OutOfMemory { bytes },
        _ => OnnxError::Unreadable(error),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::onnx::encode;
    use crate::onnx::scratch::{Scratch, model};
    use crate::onnx::wire::{MAX_DEPTH, Wire, write_key, write_varint};

    fn message(bytes: impl Into<Bytes>) -> String {
        decode(bytes.into()).unwrap_err().to_string()
    }

    fn wrap(number: u32, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_key(number, Wire::Length, &mut out);
        write_varint(body.len() as u64, &mut out);
        out.extend(body);
        out
    }

    #[test]
    fn files_that_are_no_model_are_recognised() {
        let cases: [(&'static [u8], &str); 8] = [
            (b"", "the file is empty; fetch"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a git-LFS pointer; run `git lfs"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not an ONNX file but a PNG image; name the"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
            (b"\n<!DOCTYPE html><html>", "an HTML or XML page"),
            (b"PK\x03\x04\x14\0", "a PyTorch or Keras model?); export the model to ONNX"),
            (b"Not found", "a text file"),
            (b"\x08\x07", "holds no graph"),
        ];
        for (bytes, part) in cases {
            let message = message(bytes);
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn problems_of_files_end_with_the_path() {
        let scratch = Scratch::new("read");
        let empty = scratch.file("empty.onnx", b"");
        let missing = scratch.path().join("missing.onnx");
        let cases = [
            (scratch.path(), "a folder is no ONNX file; name the .onnx file itself: "),
            (&empty, "the file is empty; fetch the model again: "),
            (&missing, "cannot read the model ("),
        ];
        for (path, start) in cases {
            let message = read(path).unwrap_err().to_string();
            assert!(message.starts_with(start), "{message}");
            assert!(message.ends_with(&path.display().to_string()), "{message}");
        }
    }

    #[test]
    fn a_problem_names_the_message_and_the_byte() {
        // The second node's third attribute has a name that is no text.
        let attribute = wrap(1, b"ok\xff");
        let good = wrap(5, &wrap(1, b"good"));
        let node = [good.clone(), good, wrap(5, &attribute)].concat();
        let graph = [wrap(1, &[]), wrap(1, &node)].concat();
        assert_eq!(
            message(wrap(7, &graph)),
            "not a valid ONNX file: text that is not UTF-8 at byte 28 in \
             `graph.node[1].attribute[2].name`; it may be cut short or damaged, fetch it again"
        );
    }

    #[test]
    fn a_known_field_of_another_kind_is_refused() {
        let message = message(wrap(1, b"x"));
        assert!(
            message.contains("Length value where Varint is expected at byte 1 in `ir_version`")
        );
    }

    #[test]
    fn subgraphs_nest_only_so_deep() {
        let nested = |levels: usize| {
            let body = (1..levels).fold(Vec::new(), |body, _| wrap(1, &wrap(5, &wrap(6, &body))));
            decode(wrap(7, &body).into())
        };
        assert!(nested(33).is_ok());
        let message = nested(MAX_DEPTH).unwrap_err().to_string();
        assert!(message.contains("more than 102 nested messages"), "{message}");
    }

    #[test]
    fn memory_stays_in_proportion_to_the_file() {
        let nodes = |count| decode(wrap(7, &wrap(1, &[]).repeat(count)).into());
        assert!(nodes(100_000).is_ok());
        let message = nodes(1_000_000).unwrap_err().to_string();
        assert!(message.contains("more small messages than 2000004 bytes can mean"), "{message}");
    }

    #[test]
    fn packed_and_unpacked_numbers_are_the_same() {
        let dims = |dims: &[u8]| {
            let graph = wrap(5, dims);
            let graph = decode(wrap(7, &graph).into()).unwrap().graph.unwrap();
            graph.initializer[0].dims.clone()
        };
        assert_eq!(dims(&wrap(1, &[2, 3, 0x96, 0x01])), [2, 3, 150]);
        assert_eq!(dims(&[0x08, 2, 0x08, 3, 0x08, 0x96, 0x01]), [2, 3, 150]);
    }

    #[test]
    fn a_file_cut_anywhere_does_no_harm() {
        let bytes = Bytes::from(encode(&model()));
        for end in 0..bytes.len() {
            if let Ok(shorter) = decode(bytes.slice(..end)) {
                assert!(shorter.graph.is_some());
            }
        }
    }

    proptest! {
        #[test]
        fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode(bytes.into());
        }

        #[test]
        fn random_changes_do_no_harm(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
        ) {
            let mut bytes = encode(&model());
            for (index, value) in changes {
                let at = index.index(bytes.len());
                bytes[at] = value;
            }
            if let Ok(model) = decode(bytes.into()) {
                let again = decode(encode(&model).into()).unwrap();
                // Compared as text: a change can make a NaN, which equals nothing.
                prop_assert_eq!(format!("{again:?}"), format!("{model:?}"));
            }
        }
    }
}
