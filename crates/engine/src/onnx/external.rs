//! Weights that lie in files beside the model.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;

use super::error::{ExternalProblem, OnnxError};
use super::file::{MAX_FILE_BYTES, read_exactly};
use super::message::{EXTERNAL, GraphProto, ModelProto, TensorProto};
use super::tensor::{external_entry, raw_bytes};

/// Fills in the elements of every tensor of the model that has them in another file.
pub(super) fn load(model: &mut ModelProto, folder: &Path) -> Result<(), OnnxError> {
    let mut files = Files { folder, read: HashMap::new() };
    match &mut model.graph {
        Some(graph) => files.fill_graph(graph),
        None => Ok(()),
    }
}

/// The data files of one model; each is read once, however many tensors it holds.
struct Files<'a> {
    folder: &'a Path,
    read: HashMap<PathBuf, Bytes>,
}

impl Files<'_> {
    fn fill_graph(&mut self, graph: &mut GraphProto) -> Result<(), OnnxError> {
        for tensor in &mut graph.initializer {
            self.fill(tensor)?;
        }
        for attribute in graph.node.iter_mut().flat_map(|node| &mut node.attribute) {
            for tensor in attribute.t.as_deref_mut().into_iter().chain(&mut attribute.tensors) {
                self.fill(tensor)?;
            }
            for graph in attribute.g.as_deref_mut().into_iter().chain(&mut attribute.graphs) {
                self.fill_graph(graph)?;
            }
        }
        Ok(())
    }

    fn fill(&mut self, tensor: &mut TensorProto) -> Result<(), OnnxError> {
        if tensor.data_location != EXTERNAL {
            return Ok(());
        }
        let wanted = raw_bytes(tensor)
            .map_err(|problem| OnnxError::Tensor { problem, tensor: tensor.name.clone() })?;
        let raw_data = self.raw_data(tensor, wanted as u64).map_err(|problem| {
            let location = external_entry(tensor, "location").unwrap_or_default().to_owned();
            OnnxError::External { problem, tensor: tensor.name.clone(), location }
        })?;
        tensor.raw_data = raw_data;
        tensor.external_data.clear();
        tensor.data_location = 0;
        Ok(())
    }

    fn raw_data(&mut self, tensor: &TensorProto, wanted: u64) -> Result<Bytes, ExternalProblem> {
        let location = external_entry(tensor, "location").ok_or(ExternalProblem::NoLocation)?;
        let path = self.resolve(location)?;
        let metadata = fs::metadata(&path).map_err(ExternalProblem::Unreadable)?;
        if !metadata.is_file() {
            return Err(ExternalProblem::NotAFile);
        }
        let size = metadata.len();
        if size > MAX_FILE_BYTES {
            return Err(ExternalProblem::TooLarge { bytes: size, limit: MAX_FILE_BYTES });
        }
        let offset = number(tensor, "offset")?.unwrap_or(0);
        let found = number(tensor, "length")?.unwrap_or(size.saturating_sub(offset));
        let end = offset.saturating_add(found);
        if end > size {
            return Err(ExternalProblem::OutOfRange { offset, end, size });
        }
        if found != wanted {
            return Err(ExternalProblem::Length { dims: tensor.dims.clone(), wanted, found });
        }
        let bytes = self.bytes(path, size)?;
        // Both ends lie within a buffer, so they fit a usize.
        Ok(bytes.slice(offset as usize..end as usize))
    }

    /// The file's real path, which must lie in the model's folder.
    fn resolve(&self, location: &str) -> Result<PathBuf, ExternalProblem> {
        if !Path::new(location)
            .components()
            .all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
            || location.contains('\\')
        {
            return Err(ExternalProblem::OutsideFolder);
        }
        let here = if self.folder.as_os_str().is_empty() { Path::new(".") } else { self.folder };
        let folder = here.canonicalize().map_err(ExternalProblem::Unreadable)?;
        let path = folder.join(location).canonicalize().map_err(ExternalProblem::Unreadable)?;
        if !path.starts_with(&folder) {
            return Err(ExternalProblem::OutsideFolder);
        }
        Ok(path)
    }

    fn bytes(&mut self, path: PathBuf, size: u64) -> Result<Bytes, ExternalProblem> {
        if let Some(bytes) = self.read.get(&path) {
            return Ok(bytes.clone());
        }
        let bytes = read_exactly(&path, size).map_err(ExternalProblem::Unreadable)?;
        self.read.insert(path, bytes.clone());
        Ok(bytes)
    }
}

fn number(tensor: &TensorProto, key: &str) -> Result<Option<u64>, ExternalProblem> {
    let Some(value) = external_entry(tensor, key) else { return Ok(None) };
    match value.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(ExternalProblem::BadNumber { key: key.into(), value: value.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::scratch::Scratch;
    use crate::onnx::{ModelBuilder, StringStringEntryProto, read, tensor, write};
    use faultlens_core::Tensor;

    fn away(name: &str, dims: &[i64], entries: &[(&str, &str)]) -> TensorProto {
        TensorProto {
            name: name.to_owned(),
            dims: dims.to_vec(),
            data_type: 1,
            data_location: EXTERNAL,
            external_data: entries
                .iter()
                .map(|(key, value)| StringStringEntryProto {
                    key: (*key).to_owned(),
                    value: (*value).to_owned(),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }
    }

    /// Writes a model with one tensor and reads it again.
    fn load(scratch: &Scratch, tensor: TensorProto) -> Result<ModelProto, OnnxError> {
        let mut model = ModelBuilder::new("away").build();
        model.graph.get_or_insert_default().initializer.push(tensor);
        let path = scratch.path().join("away.onnx");
        write(&model, &path).unwrap();
        read(&path)
    }

    #[test]
    fn parts_of_one_file_are_found() {
        let scratch = Scratch::new("parts");
        let bytes: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        scratch.file("w.bin", &bytes);
        let mut branch = ModelBuilder::new("branch");
        let none = Tensor::vector(Vec::<f32>::new());
        branch.node("Constant", &[], &["c"]).attr_t("value", &none);
        let mut inner = branch.build_graph();
        inner.node[0].attribute[0].t =
            Some(Box::new(away("", &[2], &[("location", "./w.bin"), ("offset", "4")])));
        let mut outer = ModelBuilder::new("outer");
        outer.node("If", &["x"], &["y"]).attr_g("then_branch", inner);
        let mut model = outer.build();
        model.graph.get_or_insert_default().initializer =
            vec![away("w", &[1], &[("location", "w.bin"), ("offset", "0"), ("length", "4")])];
        let path = scratch.path().join("m.onnx");
        write(&model, &path).unwrap();

        let graph = read(&path).unwrap().graph.unwrap();
        assert_eq!(tensor(&graph.initializer[0]).unwrap().as_f32(), Some(&[1.0][..]));
        assert_eq!(graph.initializer[0].data_location, 0);
        let branch = graph.node[0].attribute[0].g.as_deref().unwrap();
        let constant = branch.node[0].attribute[0].t.as_deref().unwrap();
        assert_eq!(tensor(constant).unwrap().as_f32(), Some(&[2.0, 3.0][..]));
    }

    #[test]
    fn places_outside_the_folder_are_refused() {
        let scratch = Scratch::new("outside");
        scratch.file("secret.bin", &[0; 4]);
        let inner = Scratch::new("outside/inner");
        let absolute = scratch.path().join("secret.bin");
        let mut locations =
            vec!["../secret.bin", "a/../../secret.bin", "..\\secret.bin", "/etc/hostname"];
        locations.push(absolute.to_str().unwrap());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&absolute, inner.path().join("link.bin")).unwrap();
            locations.push("link.bin");
        }
        for location in locations {
            let error = load(&inner, away("w", &[1], &[("location", location)])).unwrap_err();
            let message = error.to_string();
            assert!(message.contains("the location leaves the model's folder"), "{message}");
        }
    }

    #[test]
    fn problems_name_the_tensor_the_file_and_the_way_out() {
        let scratch = Scratch::new("problems");
        scratch.file("w.bin", &[0; 8]);
        fs::create_dir_all(scratch.path().join("folder")).unwrap();
        let w = ("location", "w.bin");
        let cases = [
            (vec![2], vec![("location", "gone.bin")], "put it beside the model under this name"),
            (vec![2], vec![("location", "folder")], "not a plain file"),
            (vec![2], vec![], "no file is named"),
            (vec![2], vec![w, ("offset", "-4")], "its offset `-4` is not a number"),
            (vec![2], vec![w, ("offset", "4"), ("length", "8")], "bytes 4..12 are wanted"),
            (vec![2], vec![w, ("length", "4")], "shape [2] needs 8 bytes, 4 are declared"),
            (vec![1 << 40], vec![w], "needs 4398046511104 bytes, 8 are declared"),
            (vec![2], vec![w, ("offset", "18446744073709551615")], "are wanted"),
            (vec![-2], vec![w], "negative axis"),
        ];
        for (dims, entries, part) in cases {
            let message = load(&scratch, away("w", &dims, &entries)).unwrap_err().to_string();
            assert!(message.starts_with("tensor `w`") && message.contains(part), "{message}");
            assert!(message.ends_with("away.onnx"), "{message}");
        }
    }
}
