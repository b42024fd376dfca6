//! The whole experiment: what is not done yet, seed by seed.

use crate::campaign::SceneCampaign;
use crate::event::{Event, EventKind, Workers};
use crate::file::{file_key, key, replace_folder};
use crate::learn::{FIRST, Learning};
use crate::origin::{First, Ground, card, objects};
use crate::plan::check;
use crate::scenes::{Drawing, FAILING, UNCHECKED, joined};
use crate::steps::StepLog;
use crate::store::{is_experiment, load, save};
use crate::{Configuration, Course, OfSeed, Plan, Precision, RetrainError, Retraining, ScenesUsed};
use faultlens_campaign::fingerprint;
use faultlens_data::{DataSet, write_coco};
use faultlens_engine::onnx;
use faultlens_train::{Recipe, TRAINING_VERSION};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Raised when the same plan would come to something else than before.
const EXPERIMENT_VERSION: u32 = 1;

/// The folder of the originals, in that of a seed.
const ORIGINALS: &str = "originals";

/// The step in which scenes are looked for and drawn.
const SCENES: &str = "scenes";

/// Does what is not done yet of an experiment, in a folder of its own; ends with
/// [`RetrainError::Stopped`] where somebody interrupts. The same plan gives the same numbers on any
/// number of threads, however often it was stopped.
pub fn retrain(
    plan: &Plan,
    folder: &Path,
    workers: &Workers<'_>,
    follow: &mut dyn FnMut(&Event<'_>),
) -> Result<Retraining, RetrainError> {
    check(plan)?;
    is_free(folder)?;
    let ground = Ground::open(plan)?;
    fs::create_dir_all(folder).map_err(RetrainError::io(MAKE, folder))?;
    let mut all = Retraining::new(plan.clone(), ground.measured_on.clone());
    // What an equal plan has come to stays until there is more.
    let before = load(folder).ok().filter(|before| before.plan == *plan);
    let before = before.map(|before| before.seeds.len());
    if before.is_none() {
        save(&all, folder)?;
    }
    for (number, seed) in (1..).zip(plan.all_seeds()) {
        let emit = &mut |what: EventKind<'_>| {
            follow(&Event { seed, number, of: plan.seeds, what });
        };
        let dir = folder.join(format!("seed-{seed}"));
        fs::create_dir_all(&dir).map_err(RetrainError::io("make the seed's folder", &dir))?;
        let log = StepLog::open(&dir);
        all.seeds.push(Run { plan, ground: &ground, workers, seed, dir, log }.whole(emit)?);
        if before.is_none_or(|before| all.seeds.len() >= before) {
            save(&all, folder)?;
        }
    }
    Ok(all)
}

/// What is done with the folder, in words for errors.
const MAKE: &str = "make the experiment's folder";

/// Takes a folder that is new, empty, or an experiment's: sets in it are replaced. It is made only
/// when all that is asked can be had.
fn is_free(folder: &Path) -> Result<(), RetrainError> {
    if !folder.exists() {
        return Ok(());
    }
    let mut inside = fs::read_dir(folder).map_err(RetrainError::io(MAKE, folder))?;
    if inside.next().is_none() || is_experiment(folder) {
        Ok(())
    } else {
        Err(RetrainError::Occupied { path: folder.to_path_buf() })
    }
}

/// One seed.
struct Run<'a> {
    plan: &'a Plan,
    ground: &'a Ground,
    workers: &'a Workers<'a>,
    seed: u64,
    dir: PathBuf,
    log: StepLog,
}

impl Run<'_> {
    fn whole(mut self, emit: &mut dyn FnMut(EventKind<'_>)) -> Result<OfSeed, RetrainError> {
        let originals = self.originals()?;
        let print = fingerprint(&originals)?;
        let first = self.first(&originals, &print, emit)?;
        let model = self.key_of_first();
        let used = self.scenes(originals.len(), &json!([model, print]), emit)?;
        let mut courses = Vec::new();
        for configuration in Configuration::ALL {
            let added = match configuration {
                Configuration::Originals => originals.clone(),
                Configuration::Failing => self.open(FAILING)?,
                Configuration::Unchecked => self.open(UNCHECKED)?,
            };
            let data = joined(&originals, &added);
            courses.push(self.course(configuration, &data, &model, emit)?);
        }
        let seed = self.seed;
        let scenes = originals.len();
        Ok(OfSeed { seed, scenes, first, used, courses })
    }

    fn open(&self, set: &str) -> Result<DataSet, RetrainError> {
        Ok(DataSet::open(self.dir.join(set))?)
    }

    fn learning(&self) -> Learning<'_> {
        Learning { ground: self.ground, workers: self.workers, folder: &self.dir }
    }

    fn first_file(&self) -> PathBuf {
        self.dir.join(format!("{FIRST}.onnx"))
    }

    /// Tells whether another first model is the same.
    fn key_of_first(&self) -> Value {
        json!(file_key(&self.first_file()))
    }

    fn go_on(&self) -> Result<(), RetrainError> {
        if self.workers.interrupted.load(Ordering::Relaxed) {
            Err(RetrainError::Stopped)
        } else {
            Ok(())
        }
    }

    /// The originals as a COCO set, written unless they are there.
    fn originals(&mut self) -> Result<DataSet, RetrainError> {
        let wanted = self.ground.originals(self.plan, self.seed)?;
        let key = key(&json!([EXPERIMENT_VERSION, fingerprint(&wanted)?]));
        if self.log.find::<usize>(ORIGINALS, &key) == Some(wanted.len())
            && let Ok(kept) = self.open(ORIGINALS)
        {
            return Ok(kept);
        }
        replace_folder(&self.dir.join(ORIGINALS), |part| {
            let cases = (0..wanted.len()).map(|at| wanted.case(at));
            let cases: Vec<_> = cases.collect::<Result<_, _>>()?;
            Ok(write_coco(part, &wanted.classes, cases)?)
        })?;
        self.log.note(ORIGINALS, key, &wanted.len())?;
        self.open(ORIGINALS)
    }

    /// The first model: trained unless it is there, or the user's own.
    fn first(
        &mut self,
        originals: &DataSet,
        print: &str,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<Precision, RetrainError> {
        self.go_on()?;
        let first = self.ground.first(self.seed);
        let held_out = &self.ground.held_out_key;
        let decides = match &first {
            First::Trained(recipe) => json!([self.ground.architecture, recipe, print]),
            First::There(path) => json!(file_key(path)),
        };
        let key = key(&json!([EXPERIMENT_VERSION, TRAINING_VERSION, decides, held_out]));
        let found: Option<(Precision, Value)> = self.log.find(FIRST, &key);
        // A file that somebody has changed since is another model.
        if let Some((precision, _)) = found.filter(|(_, file)| *file == self.key_of_first()) {
            emit(EventKind::Kept("the first model"));
            return Ok(precision);
        }
        let precision = match first {
            First::Trained(recipe) => self.learning().first(&recipe, originals, emit)?,
            First::There(path) => self.brought(path)?,
        };
        self.log.note(FIRST, key, &(precision, self.key_of_first()))?;
        emit(EventKind::First(&precision));
        Ok(precision)
    }

    /// Measures a model that is there already, and keeps a copy.
    fn brought(&self, path: &Path) -> Result<Precision, RetrainError> {
        let model = onnx::read(path)?;
        let measured = self.learning().precision(&self.ground.recipe, &model);
        let precision = measured.map_err(RetrainError::train(path.display()))?;
        self.learning().keep(FIRST, &model, &card(path)?)?;
        Ok(precision)
    }

    /// Looks for failing scenes, and draws both sets, unless that was done.
    fn scenes(
        &mut self,
        wanted: usize,
        first: &Value,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<ScenesUsed, RetrainError> {
        self.go_on()?;
        let Plan { per_object, label_inserted, .. } = *self.plan;
        let (objects, pool) = objects(self.plan, ORIGINALS);
        let version = env!("CARGO_PKG_VERSION");
        let decides =
            json!([EXPERIMENT_VERSION, version, first, self.seed, per_object, objects, pool]);
        let run_key = key(&decides);
        let set_key = key(&json!([run_key, label_inserted]));
        if let Some(used) = self.log.find(SCENES, &set_key)
            && self.open(FAILING).is_ok()
            && self.open(UNCHECKED).is_ok()
        {
            emit(EventKind::Kept("the changed scenes"));
            return Ok(used);
        }
        let folder = self.dir.as_path();
        let seed = self.seed;
        let model = format!("{FIRST}.onnx");
        let model = model.as_str();
        let objects = objects.as_str();
        let originals = ORIGINALS;
        let campaign =
            SceneCampaign { folder, seed, model, originals, objects, per_object, key: &run_key };
        let run = campaign.run(self.workers.threads, self.workers.interrupted, emit)?;
        let used = Drawing { folder, seed, wanted, label_inserted }.draw(&run)?;
        self.log.note(SCENES, set_key, &used)?;
        emit(EventKind::Drawn { used: &used, wanted });
        Ok(used)
    }

    /// How a configuration goes on, unless that is known.
    fn course(
        &mut self,
        configuration: Configuration,
        data: &DataSet,
        first: &Value,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<Course, RetrainError> {
        self.go_on()?;
        let recipe = Recipe { seed: self.seed, ..self.ground.recipe.clone() };
        let versions = [EXPERIMENT_VERSION, TRAINING_VERSION];
        let held_out = &self.ground.held_out_key;
        let every = self.plan.every;
        let key = key(&json!([versions, recipe, first, fingerprint(data)?, held_out, every]));
        let name = configuration.name();
        let file = self.dir.join(format!("{name}.onnx"));
        // The set of the originals has a step of that name.
        let step = format!("course {name}");
        let found: Option<(Course, Value)> = self.log.find(&step, &key);
        if let Some((course, _)) = found.filter(|(_, there)| *there == json!(file_key(&file))) {
            emit(EventKind::Kept(configuration.about()));
            return Ok(course);
        }
        let model = onnx::read(&self.first_file())?;
        let course = self.learning().course(configuration, &recipe, &model, data, every, emit)?;
        self.log.note(&step, key, &(&course, file_key(&file)))?;
        emit(EventKind::Went(&course));
        Ok(course)
    }
}
