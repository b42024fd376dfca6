//! The report of a sweep, for `run` and `report`.

use std::path::Path;
use std::time::SystemTime;

use faultlens::record::store::timestamp;
use faultlens::report::{SweepPage, plain, sweep, sweep_markdown};
use faultlens::sweep::Rows;
use faultlens::sweep::analysis::{AnalysisError, Findings, Options, analyse};

use crate::command::write;
use crate::console::Console;

/// The page of a sweep, in its folder.
pub(crate) const PAGE: &str = "report.html";

/// The findings of a sweep, in its folder.
pub(crate) const FINDINGS: &str = "sweep.json";

/// The findings of a sweep, and the reports of them.
pub(crate) struct SweepReport {
    pub(crate) findings: Findings,
    title: String,
}

impl SweepReport {
    pub(crate) fn new(
        title: &str,
        rows: &Rows,
        mixed_machines: bool,
    ) -> Result<Self, AnalysisError> {
        let options = Options { mixed_machines, ..Options::default() };
        Ok(Self { findings: analyse(rows, &options)?, title: title.to_owned() })
    }

    fn report(&self) -> SweepPage<'_> {
        let provenance = vec![
            ("faultlens".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("written".to_owned(), timestamp(SystemTime::now())),
        ];
        SweepPage { title: self.title.clone(), findings: &self.findings, provenance }
    }

    /// The page, in one file.
    pub(crate) fn page(&self) -> String {
        sweep(&self.report())
    }

    /// The same for a pull request.
    pub(crate) fn markdown(&self) -> String {
        sweep_markdown(&self.report())
    }

    /// Writes the page and the findings into the sweep's folder.
    pub(crate) fn save(&self, dir: &Path) -> anyhow::Result<()> {
        write(&dir.join(FINDINGS), serde_json::to_string(&self.findings)?)?;
        write(&dir.join(PAGE), self.page())
    }

    /// The conclusions, for people.
    pub(crate) fn conclude(&self, console: &mut Console) -> anyhow::Result<()> {
        for conclusion in &self.findings.conclusions {
            console.line(format_args!("  • {}", plain(&conclusion.text)))?;
        }
        for caution in &self.findings.cautions {
            console.note(format_args!("note: {}", plain(caution)))?;
        }
        Ok(())
    }
}
