//! What is done to images before a target sees them.

use super::error::Diagnostic;
use super::judge::{build, chosen};
use super::plugin;
use super::tree::Node;
use faultlens_core::{Defence, Settings};
use faultlens_faults::DEFENCES;
use std::fmt;
use std::sync::Arc;

/// A defence with all its settings, ready to work.
#[derive(Clone)]
pub struct DefenceSpec {
    /// Its name in the registry.
    pub name: &'static str,
    /// All its settings.
    pub settings: Settings,
    defence: Arc<dyn Defence>,
}

impl DefenceSpec {
    /// The defence, already built; clones share it.
    pub fn build(&self) -> Arc<dyn Defence> {
        Arc::clone(&self.defence)
    }

    /// Its name with all settings, without two meanings.
    pub fn spec(&self) -> String {
        plugin::spec(self.name, &self.settings)
    }

    /// A defence of a target.
    pub(super) fn read(entry: &Node) -> Result<Self, Diagnostic> {
        let (plugin, settings) = chosen(DEFENCES, "defence", entry)?;
        let defence = Arc::from(build(plugin, &settings, Some(entry))?);
        Ok(Self { name: plugin.name, settings, defence })
    }
}

impl fmt::Debug for DefenceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec())
    }
}

/// "median_filter (size=3)".
impl fmt::Display for DefenceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.settings.iter().next() {
            Some(_) => write!(f, " ({})", self.settings),
            None => Ok(()),
        }
    }
}
