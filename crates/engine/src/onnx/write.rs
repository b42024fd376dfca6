//! Writing models to memory and to files.

use std::path::Path;

use super::error::OnnxError;
use super::field::Message;
use super::message::ModelProto;

/// Where protobuf ends: lengths beyond are refused by every other reader.
const MAX_WRITTEN: usize = i32::MAX as usize;

/// The model as the bytes of an ONNX file.
pub fn encode(model: &ModelProto) -> Vec<u8> {
    let mut out = Vec::with_capacity(model.body_size());
    model.write_body(&mut out);
    out
}

/// Writes a file that is either complete or not there.
pub fn write(model: &ModelProto, path: &Path) -> Result<(), OnnxError> {
    let bytes = model.body_size();
    if bytes > MAX_WRITTEN {
        return Err(OnnxError::TooLargeToWrite { bytes });
    }
    faultlens_files::write(path, &encode(model))
        .map_err(|source| OnnxError::Unwritable { source, path: path.into() })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::onnx::scratch::{Scratch, model};
    use crate::onnx::{TensorProto, decode, read};

    #[test]
    fn what_is_written_is_read_again() {
        let scratch = Scratch::new("write");
        let path = scratch.path().join("model.onnx");
        write(&model(), &path).unwrap();
        assert_eq!(read(&path).unwrap(), model());
        assert_eq!(
            std::fs::read_dir(scratch.path()).unwrap().count(),
            1,
            "the temporary file is gone"
        );
    }

    #[test]
    fn the_size_is_known_before_writing() {
        let encoded = encode(&model());
        assert_eq!(encoded.len(), model().body_size());
        assert_eq!(encoded, encode(&decode(encoded.clone().into()).unwrap()));
    }

    #[test]
    fn minus_zero_and_attributes_of_zero_are_written() {
        let odd = decode(encode(&model()).into()).unwrap().graph.unwrap().node.remove(0);
        assert!(odd.attribute[2].f.is_sign_negative());
        let mut zero = Vec::new();
        odd.attribute[0].write_body(&mut zero);
        assert!(zero.windows(2).any(|key_value| key_value == [0x18, 0x00]), "{zero:?}");
    }

    /// Field 1000 of every wire type, in front of and behind what is known.
    #[test]
    fn unknown_fields_survive() {
        let strange: &[u8] = &[
            0xc0, 0x3e, 0x96, 0x01, // varint 150
            0xc1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8, // fixed64
            0xc2, 0x3e, 2, 0xff, 0xfe, // bytes
            0xc5, 0x3e, 1, 2, 3, 4, // fixed32
        ];
        let mut node = strange.to_vec();
        node.extend([0x22, 4]);
        node.extend(b"Relu");
        let mut graph = strange.to_vec();
        graph.extend([0x0a, node.len() as u8]);
        graph.extend(&node);
        let mut bytes = strange.to_vec();
        bytes.extend([0x3a, graph.len() as u8]);
        bytes.extend(&graph);
        bytes.extend(strange);

        let first = decode(bytes.clone().into()).unwrap();
        let graph = first.graph.clone().unwrap();
        assert_eq!(graph.node[0].op_type, "Relu");
        assert!(!graph.unknown.is_empty() && !graph.node[0].unknown.is_empty());
        let written = encode(&first);
        assert_eq!(written.len(), bytes.len());
        assert_eq!(decode(written.into()).unwrap(), first);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named() {
        let error = write(&model(), Path::new("/no/such/folder/m.onnx")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write the model ("), "{error}");
        assert!(error.ends_with(": /no/such/folder/m.onnx"), "{error}");
    }

    proptest! {
        #[test]
        fn any_tensor_comes_back(
            dims in prop::collection::vec(any::<i64>(), 0..5),
            int32_data in prop::collection::vec(any::<i32>(), 0..5),
            double_data in prop::collection::vec(-1e300..1e300, 0..5),
            uint64_data in prop::collection::vec(any::<u64>(), 0..5),
            name in "\\PC{0,12}",
            raw in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let tensor = TensorProto {
                dims, int32_data, double_data, uint64_data, name, raw_data: Bytes::from(raw),
                ..Default::default()
            };
            let mut before = model();
            before.graph.get_or_insert_default().initializer.push(tensor);
            prop_assert_eq!(decode(encode(&before).into()).unwrap(), before);
        }
    }
}
