//! A part of a sweep as an ordinary campaign, so that records, resuming, replays and reports work
//! on it as on any other.

use crate::SweepError;
use crate::config::{Means, Origin};
use crate::file::{beside, replace};
use crate::models::Member;
use crate::part::Part;
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::fingerprint;
use faultlens_core::Case;
use faultlens_data::{DataSet, write_class_folders};
use faultlens_spec::file::settings_json;
use faultlens_spec::{Campaign, DefenceSpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Digits of the samples' hash in the name of their folder.
const DIGITS: usize = 12;

impl Part<'_> {
    /// The run directory.
    pub fn run(&self) -> PathBuf {
        self.sweep.output.join(&self.name)
    }

    pub(crate) fn campaign_file(&self) -> PathBuf {
        self.sweep.output.join(format!("{}.yaml", self.name))
    }

    /// Writes the samples and the campaign, and reads it back as any other is read. The file
    /// stands beside the run directory and can be run by itself.
    pub fn campaign(&self, members: &[Member]) -> Result<Campaign, SweepError> {
        let folder = &self.sweep.output;
        let made = fs::create_dir_all(folder.join("data"));
        made.map_err(SweepError::io("make the sweep's folder", folder))?;
        let data = self.write_samples()?;
        let classes = folder.join(self.classes_file());
        let names = json!(self.samples.classes).to_string();
        replace(&classes, names.as_bytes(), "write the classes")?;
        let path = self.campaign_file();
        let text = self.text(members, &data)?;
        replace(&path, text.as_bytes(), "write the campaign")?;
        let campaign = Campaign::load(&path)?;
        self.check_classes(Campaign::load(&path)?)?;
        Ok(campaign)
    }

    /// The folder of the samples, from the sweep's folder. What stands there already is kept where
    /// it is the same.
    fn write_samples(&self) -> Result<String, SweepError> {
        let (classes, cases) = self.shown()?;
        let set = DataSet::new(classes.clone(), cases.clone());
        let hash = fingerprint(&set)?;
        let name = format!("data/{}-{}", self.name, &hash[..DIGITS]);
        let dir = self.sweep.output.join(&name);
        if self.is_written(&dir, &set)? {
            return Ok(name);
        }
        let part = beside(&dir);
        for old in [&part, &dir].into_iter().filter(|old| old.exists()) {
            fs::remove_dir_all(old).map_err(SweepError::io("replace the samples", old))?;
        }
        write_class_folders(&part, &classes, cases)?;
        faultlens_files::rename(&part, &dir).map_err(SweepError::io("write the samples", &dir))?;
        Ok(name)
    }

    /// The samples without the classes that none of them has: a folder without a file is none.
    fn shown(&self) -> Result<(Vec<String>, Vec<Case>), SweepError> {
        let cases = (0..self.samples.len()).map(|index| self.samples.case(index));
        let mut cases: Vec<Case> = cases.collect::<Result<_, _>>()?;
        let mut places: BTreeMap<usize, usize> =
            cases.iter().filter_map(|case| Some((case.label?, 0))).collect();
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        for case in &mut cases {
            case.label = case.label.and_then(|label| places.get(&label).copied());
        }
        Ok((
            places
                .keys()
                .filter_map(|&label: &usize| self.samples.classes.get(label).cloned())
                .collect(),
            cases,
        ))
    }

    /// Whether a folder holds the samples, all of them and nothing else.
    fn is_written(&self, dir: &Path, samples: &DataSet) -> Result<bool, SweepError> {
        let Ok(found) = DataSet::open(dir) else { return Ok(false) };
        let content = |set: &DataSet| {
            let cases = (0..set.len()).map(|index| {
                let case = set.case(index)?;
                let class = case.label.and_then(|label| set.classes.get(label).cloned());
                Ok((class, case.image.rgb().to_vec()))
            });
            let mut cases: Vec<_> = cases.collect::<Result<_, SweepError>>()?;
            cases.sort_unstable();
            Ok::<_, SweepError>(cases)
        };
        let wanted = content(samples)?;
        Ok(content(&found).is_ok_and(|found| found == wanted))
    }

    /// The names of all classes in their order, for models that do not name them.
    fn classes_file(&self) -> String {
        format!("data/{}.json", self.name)
    }

    fn text(&self, members: &[Member], data: &str) -> Result<String, SweepError> {
        let sweep = self.sweep;
        let mut lines = vec![
            "# Written by a sweep: change its file, not this one.".to_owned(),
            format!("name: {}", json!(format!("{}, {}", sweep.name, self.name))),
            format!("seed: {}", sweep.seed),
            format!("output: {}", json!(utf8(&self.run())?)),
            // A sweep has more fault points than anyone looks at pictures of.
            "examples: 0".to_owned(),
            format!("cases: {}", json!({"data": data})),
            "targets:".to_owned(),
        ];
        if let Some(threads) = sweep.threads {
            lines.insert(3, format!("threads: {threads}"));
        }
        for member in members {
            lines.push(format!("  - {}", self.target(member)?));
        }
        lines.push("faults:".to_owned());
        for attack in &sweep.attacks {
            let mut entry = json!({"fault": attack.name, "trials": attack.trials});
            for (name, value) in attack.settings_json() {
                entry[name] = value;
            }
            lines.push(format!("  - {entry}"));
        }
        Ok(lines.join("\n") + "\n")
    }

    fn target(&self, member: &Member) -> Result<Value, SweepError> {
        let model = &self.sweep.models[member.model];
        let defence = &self.sweep.defences[member.defence];
        let mut target = json!({
            "name": format!("{}, {}", model.name, defence.label),
            "model": utf8(&inside(&self.sweep.output, &member.file))?,
            "traits": {
                "architecture": model.architecture,
                "layers": member.layers,
                "epochs": model.epochs,
                "learning_rate": model.learning_rate,
                "defence": defence.name,
                "defence_strength": defence.strength,
            },
        });
        if let Origin::Elsewhere { asked, .. } = &model.origin {
            asked.iter().for_each(|(key, value)| target[*key] = value.clone());
        }
        if !member.named {
            target["labels"] = json!(self.classes_file());
        }
        if let Means::Around(spec) = &defence.means {
            target["defences"] = json!([written(spec)]);
        }
        Ok(target)
    }

    /// Refuses models that cannot answer with a class of the data: trained elsewhere, they may
    /// know others.
    fn check_classes(&self, campaign: Campaign) -> Result<(), SweepError> {
        let names: Vec<String> =
            campaign.targets.iter().map(|target| target.name.clone()).collect();
        let setup = OpenCampaign::open(campaign).map_err(|source| SweepError::OpenCampaign {
            campaign: self.name.clone(),
            source: Box::new(source),
        })?;
        for (name, subject) in names.into_iter().zip(&setup.targets) {
            let unknown = subject.truths.iter().position(Option::is_none);
            if let Some(class) = unknown {
                let class = setup.cases.set.classes[class].clone();
                return Err(SweepError::Classes { model: name, class, data: self.data.clone() });
            }
        }
        Ok(())
    }
}

/// A defence as a target has it in a campaign file.
fn written(spec: &DefenceSpec) -> Value {
    let mut value = json!({"name": spec.name});
    for (name, setting) in settings_json(&spec.settings) {
        value[name] = setting;
    }
    value
}

/// A path as text, which a campaign file is.
fn utf8(path: &Path) -> Result<&str, SweepError> {
    path.to_str().ok_or_else(|| SweepError::Path { path: path.to_path_buf() })
}

/// A path from a folder where it lies inside, so that a sweep can be moved.
fn inside(folder: &Path, file: &Path) -> PathBuf {
    match file.strip_prefix(folder) {
        Ok(below) => below.to_path_buf(),
        Err(_) => std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_path_that_is_no_text_is_refused() {
        let path = Path::new(OsStr::from_bytes(b"runs/\xff"));
        let error = utf8(path).unwrap_err().to_string();
        assert!(error.starts_with("the path is not UTF-8, and campaign files are; rename it"));
        assert_eq!(utf8(Path::new("runs/é")).unwrap(), "runs/é");
    }
}
