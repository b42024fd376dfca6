//! `--events`: every event of a run as a line of JSON, for programs that follow it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use faultlens::campaign::run::{Ending, Event, OpenCause, OpenTrials, Sink, SinkError};
use faultlens::record::Record;
use faultlens::record::Site;
use faultlens::{Outcome, OutcomeKind};
use serde_json::{Value, json};

use crate::command::numbers::number;

/// Writes events as lines of JSON; all of a batch are there before the next is recorded.
pub(crate) struct EventLines {
    out: Box<dyn Write>,
}

impl EventLines {
    /// Writes to a file, or to standard output where the path is `-`.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { out: Box::new(BufWriter::new(io::stdout())) });
        }
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { out: Box::new(BufWriter::new(file)) })
    }

    fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Started { run, planned, recorded } => self.line(&json!({
                "event": "started",
                "run": run.display().to_string(),
                "planned": planned,
                "recorded": recorded,
            })),
            Event::Pinned(pin) => self.line(&json!({
                "event": "pinned",
                "name": pin.name,
                "what": pin.what,
                "outcome": pin.outcome,
                "reason": pin.reason,
            })),
            Event::Recorded(records) => records.iter().try_for_each(|r| self.line(&trial(r))),
            Event::Round { repeats, open, need_images } => self.line(&json!({
                "event": "round",
                "repeats": repeats,
                "open": open,
                "need_images": need_images,
            })),
            Event::Note(text) => self.line(&json!({"event": "note", "text": text})),
            Event::Warning(text) => self.line(&json!({"event": "warning", "text": text})),
            Event::LeftOpen(OpenTrials { cause, trials, error }) => {
                let target = match cause {
                    OpenCause::Images => None,
                    OpenCause::Target { name, .. } => Some(name),
                };
                self.line(&json!({
                    "event": "left_open", "trials": trials, "target": target, "error": error,
                }))
            }
            Event::Finished(ending) => {
                let ending = match ending {
                    Ending::Complete => "complete",
                    Ending::StoppedEarly => "stopped_early",
                    Ending::Incomplete => "incomplete",
                    Ending::Interrupted => "interrupted",
                };
                self.line(&json!({"event": "finished", "ending": ending}))
            }
        }
    }

    fn line(&mut self, line: &Value) -> io::Result<()> {
        writeln!(self.out, "{line}")
    }
}

impl Sink for EventLines {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        match self.write(event).and_then(|()| self.out.flush()) {
            // A reader that has seen enough is no reason to stop the run.
            Err(source) if source.kind() == io::ErrorKind::BrokenPipe => {
                self.out = Box::new(io::sink());
                Ok(())
            }
            written => written.map_err(|source| SinkError::Write { what: "events", source }),
        }
    }
}

fn trial(record: &Record) -> Value {
    let mut line = self::record(record);
    line["event"] = "trial".into();
    line
}

/// A record as JSON.
pub(crate) fn record(record: &Record) -> Value {
    let reason = match &record.outcome {
        Outcome::Skipped(reason) => Some(reason.code()),
        _ => None,
    };
    let kind: OutcomeKind = record.outcome.kind();
    json!({
        "number": record.number,
        "trial": record.trial.to_string(),
        "target": record.target,
        "case": record.case,
        "fault": record.fault,
        "repeat": record.repeat,
        "outcome": kind.name(),
        "reason": reason,
        "site": record.site.as_ref().map(site),
        "answer": record.answer.as_deref(),
        "score": record.score.map(|score| number(f64::from(score))),
        "queries": record.cost.queries,
        "digest": record.digest.map(|digest| format!("{digest:016x}")),
        "extra": record.fields(),
        "detections": record.measures.detections,
        "micros": record.cost.micros,
    })
}

/// A site of a fault inside a model, as an object.
pub(crate) fn site(site: &Site) -> Value {
    json!({
        "operator": site.place.operator,
        "kind": site.place.kind,
        "value": site.place.value,
        "position": site.place.position,
        "layer": site.place.layer,
        "layer_name": site.place.layer_name,
        "element": site.element,
        "bit": site.bit,
        "before": number(site.before),
        "after": number(site.after),
    })
}
