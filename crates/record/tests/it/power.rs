//! Power cuts at every call: the run directory as a disk may have it afterwards, with what was not
//! synced lost, kept, torn or out of order, is resumed to the records of an undisturbed run.

use crate::disk::{Call, TRIALS, campaign, folder, held, traced, traced_with_syncs};
use faultlens_core::{Seed, Stream};
use faultlens_record::store::{Store, StoreError, verify};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What a file system promises about what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// Names are as durable as if each were synced, in order; data are lost.
    OrderedNames,
    /// Names and data are lost.
    NothingKept,
    /// Everything is kept: a kill instead of a power cut.
    AllKept,
    /// Names survive up to some moment; data are lost, kept or torn one by one.
    OrderedNamesAnyData,
    /// Every change of a name and every write is lost, kept or torn by itself.
    Anything,
}

/// A file, apart from its names.
#[derive(Debug, Default, Clone)]
struct Content {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

/// A change of names in one folder.
#[derive(Debug, Clone)]
enum Naming {
    Set(String, usize),
    Move(String, String, usize),
    Remove(String),
    Folder(String),
}

/// A disk with what it has for sure and what is still on its way.
#[derive(Debug, Default)]
struct Disk {
    contents: Vec<Content>,
    names: BTreeMap<String, usize>,
    durable: Names,
    pending: Vec<Naming>,
}

#[derive(Debug, Default, Clone)]
struct Names {
    files: BTreeMap<String, usize>,
    /// In order, so that a folder stands before those in it.
    folders: BTreeSet<String>,
}

impl Names {
    fn apply(&mut self, naming: &Naming) {
        match naming {
            Naming::Set(name, content) => {
                self.files.insert(name.clone(), *content);
            }
            Naming::Move(from, to, content) => {
                self.files.remove(from);
                self.files.insert(to.clone(), *content);
            }
            Naming::Remove(name) => {
                self.files.remove(name);
            }
            Naming::Folder(name) => {
                self.folders.insert(name.clone());
            }
        }
    }
}

impl Naming {
    /// The folder whose sync makes it durable.
    fn folder(&self) -> &str {
        let (Self::Set(name, _) | Self::Move(_, name, _) | Self::Remove(name) | Self::Folder(name)) =
            self;
        name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Content {
    fn apply(bytes: &mut Vec<u8>, change: &Change) {
        match change {
            Change::Truncate(length) => bytes.resize(*length as usize, 0),
            Change::Write(offset, new) => {
                let start = *offset as usize;
                if bytes.len() < start + new.len() {
                    bytes.resize(start + new.len(), 0);
                }
                bytes[start..start + new.len()].copy_from_slice(new);
            }
        }
    }

    fn after(&self, promise: Promise, stream: &mut Stream) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for change in &self.pending {
            match promise {
                Promise::OrderedNames | Promise::NothingKept => {}
                Promise::AllKept => Self::apply(&mut bytes, change),
                Promise::OrderedNamesAnyData | Promise::Anything => {
                    if let Some(change) = survives(change, stream) {
                        Self::apply(&mut bytes, &change);
                    }
                }
            }
        }
        bytes
    }
}

/// What is left of a change that was not synced: nothing, all, or the first sectors.
fn survives(change: &Change, stream: &mut Stream) -> Option<Change> {
    match (stream.below(3), change) {
        (0, _) => None,
        (1, Change::Write(offset, bytes)) => {
            let sectors = stream.below(bytes.len() / 512 + 1);
            Some(Change::Write(*offset, bytes[..sectors * 512].to_vec()))
        }
        _ => Some(change.clone()),
    }
}

impl Disk {
    fn call(&mut self, call: &Call) {
        match call {
            Call::Create(name) => {
                self.contents.push(Content::default());
                let content = self.contents.len() - 1;
                self.names.insert(name.clone(), content);
                self.pending.push(Naming::Set(name.clone(), content));
            }
            Call::Write(name, offset, bytes) => {
                let change = Change::Write(*offset, bytes.clone());
                self.contents[self.names[name]].pending.push(change);
            }
            Call::Truncate(name, length) => {
                self.contents[self.names[name]].pending.push(Change::Truncate(*length));
            }
            Call::Sync(name) => self.sync(name),
            Call::Rename(from, to) => {
                let content = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), content);
                self.pending.push(Naming::Move(from.clone(), to.clone(), content));
            }
            Call::Link(from, to) => {
                let content = self.names[from];
                self.names.insert(to.clone(), content);
                self.pending.push(Naming::Set(to.clone(), content));
            }
            Call::Unlink(name) => {
                self.names.remove(name);
                self.pending.push(Naming::Remove(name.clone()));
            }
            Call::MakeDir(name) => self.pending.push(Naming::Folder(name.clone())),
        }
    }

    fn sync(&mut self, name: &str) {
        if let Some(content) = self.names.get(name) {
            let Content { durable, pending } = &mut self.contents[*content];
            for change in pending.drain(..) {
                Content::apply(durable, &change);
            }
            return;
        }
        let (synced, rest) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|naming| naming.folder() == name);
        self.pending = rest;
        let synced: Vec<Naming> = synced;
        synced.iter().for_each(|naming| self.durable.apply(naming));
    }

    /// The names after a power cut.
    fn names_after(&self, promise: Promise, stream: &mut Stream) -> Names {
        let mut names = self.durable.clone();
        let until = match promise {
            Promise::NothingKept => 0,
            Promise::OrderedNamesAnyData => stream.below(self.pending.len() + 1),
            _ => self.pending.len(),
        };
        for naming in &self.pending[..until] {
            if promise != Promise::Anything || stream.chance(0.5) {
                names.apply(naming);
            }
        }
        names
    }

    /// Puts a folder on the real disk as it may be after a power cut now.
    fn cut(&self, promise: Promise, into: &Path, stream: &mut Stream) {
        let names = self.names_after(promise, stream);
        for folder in &names.folders {
            // The folder that it lies in may be lost.
            if into.join(folder).parent().is_some_and(Path::is_dir) {
                fs::create_dir_all(into.join(folder)).unwrap();
            }
        }
        for (name, content) in &names.files {
            let path = into.join(name);
            if path.parent().is_some_and(Path::is_dir) {
                fs::write(path, self.contents[*content].after(promise, stream)).unwrap();
            }
        }
    }
}

/// What became of runs after power cuts.
#[derive(Debug, Default)]
struct Cuts {
    /// Resumed to the records of an undisturbed run.
    resumed: u32,
    /// Those of them that were no run yet, so that they began anew.
    anew: u32,
    wrong: Vec<String>,
}

/// Cuts the power after every call, `draws` times where chance decides.
fn cut_everywhere(promises: &[Promise], draws: u32, step: usize) -> Cuts {
    let undisturbed = folder();
    let wanted = undisturbed.path().join("run");
    campaign(&wanted).unwrap();
    let wanted = held(&wanted);
    let calls = traced();
    let mut cuts = Cuts::default();
    let mut disk = Disk::default();
    for (at, call) in calls.iter().enumerate() {
        disk.call(call);
        if at % step != 0 && at + 1 != calls.len() {
            continue;
        }
        for &promise in promises {
            let chance = matches!(promise, Promise::Anything | Promise::OrderedNamesAnyData);
            for draw in 0..if chance { draws } else { 1 } {
                let stream = &mut Seed::new(at as u64).at(draw.into()).stream();
                let dir = folder();
                disk.cut(promise, dir.path(), stream);
                let path = dir.path().join("run");
                cuts.anew += u32::from(!Store::exists(&path));
                match resumed(&path) {
                    Ok(text) if text == wanted => cuts.resumed += 1,
                    Ok(_) => cuts.wrong.push(format!("{at} {promise:?} {draw}: other records")),
                    Err(error) => {
                        let call = format!("{call:?}").chars().take(80).collect::<String>();
                        cuts.wrong.push(format!("{at} {promise:?} {draw} after {call}: {error}"));
                    }
                }
            }
        }
    }
    cuts
}

/// Looks at what a power cut left, as a user does, then resumes it.
fn resumed(path: &Path) -> Result<String, StoreError> {
    if Store::exists(path) {
        let verified = verify(path)?;
        if let Some(damage) = verified.damage.into_iter().next() {
            return Err(damage);
        }
    }
    campaign(path)?;
    Ok(held(path))
}

#[test]
fn a_run_is_resumed_after_a_power_cut_at_any_call() {
    let all = [
        Promise::OrderedNames,
        Promise::NothingKept,
        Promise::AllKept,
        Promise::OrderedNamesAnyData,
        Promise::Anything,
    ];
    let cuts = cut_everywhere(&all, 1, 3);
    assert!(cuts.wrong.is_empty(), "{:#?}", cuts.wrong);
    assert!(cuts.resumed > cuts.anew + 50, "{cuts:?}");
}

/// As `a_run_is_resumed_after_a_power_cut_at_any_call`, after every single call and with more
/// draws: prints the table.
#[test]
#[ignore = "takes minutes"]
#[expect(clippy::print_stdout, reason = "for whoever runs it")]
fn many_power_cuts() {
    for (promise, draws) in [
        (Promise::OrderedNames, 1),
        (Promise::NothingKept, 1),
        (Promise::AllKept, 1),
        (Promise::OrderedNamesAnyData, 10),
        (Promise::Anything, 10),
    ] {
        let cuts = cut_everywhere(&[promise], draws, 1);
        println!("{promise:?}: {} resumed, {} of them anew", cuts.resumed, cuts.anew);
        assert!(cuts.wrong.is_empty(), "{:#?}", cuts.wrong);
    }
}

#[test]
fn a_complete_run_is_on_the_disk_when_the_command_ends() {
    let mut disk = Disk::default();
    for call in traced() {
        disk.call(&call);
    }
    let dir = folder();
    disk.cut(Promise::NothingKept, dir.path(), &mut Seed::new(1).stream());
    assert!(Store::read(&dir.path().join("run")).unwrap().progress().unwrap().complete);
}

/// How many trials are left by the worst power cut before each call.
fn safe_trials(calls: &[Call]) -> Vec<u64> {
    let mut disk = Disk::default();
    let mut safe = Vec::new();
    for call in calls {
        disk.call(call);
        let dir = folder();
        disk.cut(Promise::NothingKept, dir.path(), &mut Seed::new(1).stream());
        let path = dir.path().join("run");
        if Store::exists(&path) {
            safe.push(Store::read(&path).unwrap().progress().unwrap().recorded);
        }
    }
    safe
}

#[test]
fn what_was_written_is_safe_when_its_time_has_come() {
    // The last sync of a short campaign is that of its end.
    assert!(safe_trials(&traced()).iter().all(|&trials| trials == 0 || trials == TRIALS));
    let safe = safe_trials(&traced_with_syncs());
    assert!([0, 20, 40, TRIALS].iter().all(|trials| safe.contains(trials)), "{safe:?}");
}
