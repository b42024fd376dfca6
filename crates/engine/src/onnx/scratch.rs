//! A folder for one test, gone with its owner; and a model that uses most of the format.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use faultlens_core::{DType, Tensor};

use super::{ModelBuilder, ModelProto};

pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("faultlens-{}-{test}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays behind is no reason to fail a test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Every kind of attribute, a subgraph, optional inputs, free and zero axes.
pub(super) fn model() -> ModelProto {
    let mut branch = ModelBuilder::new("branch");
    let three = Tensor::new(vec![], vec![3.0f32]).unwrap();
    branch.node("Constant", &[], &["c"]).attr_t("value", &three);
    branch.output("c", DType::F32, &[]);

    let mut m = ModelBuilder::new("small").opset(13);
    m.input("x", DType::F32, &["N".into(), 3.into(), 0.into()]);
    m.input("flag", DType::Bool, &[]);
    let w = m.initializer("w", Tensor::new(vec![2, 2], vec![1.0f32, -0.0, 2.5, -3.0]).unwrap());
    m.node("Odd", &["x", "", &w], &["y", ""])
        .name("odd")
        .domain("test.faults")
        .attr_i("zero", 0)
        .attr_i("minus", -1)
        .attr_f("f", -0.0)
        .attr_s("text", "")
        .attr_ints("ints", &[1, -1, i64::MIN])
        .attr_floats("floats", &[0.0, 1.5]);
    m.node("If", &["flag"], &["z"])
        .attr_g("then_branch", branch.build_graph())
        .attr_g("else_branch", branch.build_graph());
    m.value_info("y", DType::F16, &["N".into()]);
    m.output("z", DType::F32, &[]);
    m.build()
}
