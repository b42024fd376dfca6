//! One more thing in the scene.

use super::paste::{fitted, pasted};
use super::place::{Placing, TRIES};
use super::relocate::MAX_STEPS;
use super::{Scene, SceneFault, Touched, View, centroid};
use crate::doc::{about, described, when};
use faultlens_core::{
    Bounds, Cutout, Detection, Parameter, ParameterKind, Plugin, Reason, Setting, SettingError,
    Settings, Stream, Unset,
};
use std::borrow::Cow;

described! {
    /// # What it does
    /// Puts one more object into the scene, beside one that the target finds; what the target
    /// finds of the others must stay. The object is the most similar one of the pool with the
    /// same label, in the mean size of its kind, and touches nothing that the target finds. Where
    /// the answer to the rest of the scene changes, the object moves on towards a destination as
    /// long as the answer stays changed.
    /// # When it happens
    /// Another car drives into the scene, another person walks by.
    struct Insert {
        placing: Placing,
        towards: Towards,
        per_object: Option<u64>,
    }
}

pub(super) const INSERT_OBJECT: Plugin<dyn SceneFault> = Plugin {
    name: "insert_object",
    about: about(Insert::DOC),
    when: when(Insert::DOC),
    parameters: &[PLACING, TOWARDS, TOWARDS_X, TOWARDS_Y, PER_OBJECT],
    build: |settings| Ok(Box::new(Insert::build(settings)?)),
};

const PLACING: Parameter = Parameter {
    name: "placing",
    about: "guided: close to an object that the target finds; random: anywhere",
    kind: ParameterKind::Choice(&["guided", "random"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("guided"))),
};

const TOWARDS: Parameter = Parameter {
    name: "towards",
    about: "where the object moves once it disturbs an answer: the centroid of what is found, the \
            centre of the image, a point, or nowhere",
    kind: ParameterKind::Choice(&["centroid", "centre", "point", "nowhere"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("centroid"))),
};

const TOWARDS_X: Parameter = point("towards_x", "the point's x, as a fraction of the width");

const TOWARDS_Y: Parameter = point("towards_y", "the point's y, as a fraction of the height");

const PER_OBJECT: Parameter = Parameter {
    name: "per_object",
    about: "at most so many trials for every object that the target finds in a case; by default as \
            many as there are trials",
    kind: ParameterKind::Whole { min: 1, max: 100_000 },
    unset: Unset::Absent,
};

const fn point(name: &'static str, about: &'static str) -> Parameter {
    let kind = ParameterKind::Number { min: 0.0, max: 1.0 };
    Parameter { name, about, kind, unset: Unset::Absent }
}

/// Where an object moves.
enum Towards {
    Centroid,
    /// Shares of the width and height.
    Point([f64; 2]),
    Nowhere,
}

impl Insert {
    fn build(settings: &Settings) -> Result<Self, SettingError> {
        let at = [TOWARDS_X.name, TOWARDS_Y.name].map(|name| settings.number_if_set(name));
        let towards = match (settings.word(TOWARDS.name)?, at) {
            ("point", [Some(x), Some(y)]) => Towards::Point([x, y]),
            ("point", _) => {
                let what = "towards: point needs towards_x and towards_y, shares from 0 to 1";
                return Err(SettingError(what.to_owned()));
            }
            (_, [Some(_), _] | [_, Some(_)]) => {
                let what = "towards_x and towards_y are for towards: point";
                return Err(SettingError(what.to_owned()));
            }
            ("centre", _) => Towards::Point([0.5, 0.5]),
            ("nowhere", _) => Towards::Nowhere,
            _ => Towards::Centroid,
        };
        let placing = match settings.word(PLACING.name)? {
            "random" => Placing::Random,
            _ => Placing::Guided,
        };
        let per_object = settings.number_if_set(PER_OBJECT.name).map(|number| number as u64);
        Ok(Self { placing, towards, per_object })
    }

    /// The object for one of the things found, in the size of its kind.
    fn chosen(&self, view: &View<'_>, stream: &mut Stream) -> Result<(Detection, Cutout), Reason> {
        let mut order: Vec<usize> = (0..view.found.len()).collect();
        if order.is_empty() {
            return Err(Reason::GoldenEmpty);
        }
        stream.shuffle(&mut order);
        // Labels without an object are left out as if nothing of them had been found.
        for at in order {
            let beside = view.found[at];
            let likes = view.boxes(beside.class);
            let label = view.names.name(beside.class);
            if let Some(object) = view.supply.object(&label, &likes) {
                let size = mean_size(&likes);
                // What does not fit is not made: a broken box may be as large as it likes.
                if size[0] > view.image.width() || size[1] > view.image.height() {
                    return Err(Reason::NoRoom);
                }
                let object = fitted(object, size).ok_or(Reason::NoRoom)?;
                return Ok((beside, object));
            }
        }
        Err(Reason::NoObject)
    }
}

impl SceneFault for Insert {
    fn change(&self, view: &View<'_>, stream: &mut Stream) -> Result<Scene, Reason> {
        let trials = self.per_object.map(|each| each * view.found.len() as u64);
        if trials.is_some_and(|trials| trials > 0 && u64::from(view.repeat) >= trials) {
            return Err(Reason::TooFewObjects);
        }
        let (beside, object) = self.chosen(view, stream)?;
        let size = [object.image.width() as f32, object.image.height() as f32];
        for _ in 0..TRIES {
            let at = self.placing.draw(view, &beside.bounds, size, stream);
            let bounds = around(at, size);
            if view.is_free(&bounds) {
                let touched = Touched {
                    class: beside.class,
                    label: view.names.name(beside.class),
                    bounds,
                    object: Some(object.id.clone()),
                    beside: (self.placing == Placing::Guided).then_some(beside.bounds),
                };
                return Ok(Scene {
                    image: pasted(view.image, &object, &bounds),
                    touched,
                    stays: view.found.to_vec(),
                    inserted: Some(object),
                });
            }
        }
        Err(Reason::NoRoom)
    }

    fn needs_objects(&self) -> bool {
        true
    }

    fn max_queries(&self) -> u64 {
        match self.towards {
            Towards::Nowhere => 1,
            _ => 1 + u64::from(MAX_STEPS),
        }
    }

    fn destination(&self, view: &View<'_>) -> Option<[f32; 2]> {
        match self.towards {
            Towards::Centroid => centroid(view.found),
            Towards::Point([x, y]) => {
                let width = view.image.width() as f64;
                let height = view.image.height() as f64;
                Some([(x * width) as f32, (y * height) as f32])
            }
            Towards::Nowhere => None,
        }
    }
}

impl Scene {
    /// The same object elsewhere, centred there; `None` where it would meet something or leave the
    /// image, and for scenes that nothing was put into.
    pub fn at(&self, view: &View<'_>, centre: [f32; 2]) -> Option<Self> {
        let object = self.inserted.as_ref()?;
        let size = [object.image.width() as f32, object.image.height() as f32];
        let bounds = around(centre, size);
        view.is_free(&bounds).then(|| Self {
            image: pasted(view.image, object, &bounds),
            touched: Touched { bounds, ..self.touched.clone() },
            ..self.clone()
        })
    }
}

/// The box of this size around a centre, on whole pixels.
fn around([x, y]: [f32; 2], [width, height]: [f32; 2]) -> Bounds {
    let [left, top] = [(x - width / 2.0).round(), (y - height / 2.0).round()];
    Bounds { left, top, right: left + width, bottom: top + height }
}

/// The mean width and height of some boxes, in whole pixels.
fn mean_size(boxes: &[Bounds]) -> [usize; 2] {
    let mut sums = [0.0f64; 2];
    for b in boxes {
        sums[0] += f64::from((b.right - b.left).max(0.0));
        sums[1] += f64::from((b.bottom - b.top).max(0.0));
    }
    sums.map(|sum| (sum / boxes.len().max(1) as f64).round().max(1.0) as usize)
}
