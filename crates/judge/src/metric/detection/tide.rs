//! Why detections are wrong, and what each reason costs: the error types of TIDE (Bolya et al.,
//! 2020).

use super::coco::mean;
use super::curve::Curve;
use super::{Scene, ScoredBox, TruthBox, by_descending_score};
use std::collections::BTreeMap;

/// Boxes that overlap by this much show the same object.
const FOREGROUND: f64 = 0.5;

/// Boxes that overlap by no more have nothing to do with each other.
const BACKGROUND: f64 = 0.1;

/// TIDE looks at the highest-scoring detections of an image, of all classes together.
const MAX_DETECTIONS: usize = 100;

/// Why a detection is wrong, or an object not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TideKind {
    /// At the right place, of the wrong class.
    Class,
    /// Of the right class, at the wrong place.
    Localisation,
    /// Wrong in both.
    Both,
    /// On an object that a detection with a higher score has found.
    Duplicate,
    /// On nothing.
    Background,
    /// An object that no detection, not even a wrong one, stands for.
    Missed,
}

impl TideKind {
    /// All of them, in TIDE's order.
    pub const ALL: [Self; 6] = [
        Self::Class,
        Self::Localisation,
        Self::Both,
        Self::Duplicate,
        Self::Background,
        Self::Missed,
    ];

    /// The short name under which TIDE reports it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Class => "Cls",
            Self::Localisation => "Loc",
            Self::Both => "Both",
            Self::Duplicate => "Dupe",
            Self::Background => "Bkg",
            Self::Missed => "Miss",
        }
    }
}

/// How often something is wrong, and how much average precision would rise without it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TideError {
    /// How many detections, or objects.
    pub count: usize,
    /// How much higher average precision at overlap 0.5 would be.
    pub dap: f64,
}

/// What detections are wrong for.
#[derive(Debug, Clone, PartialEq)]
pub struct Tide {
    /// Average precision at overlap 0.5 as TIDE counts it; `None` where there is nothing to find.
    pub ap50: Option<f64>,
    /// For each of [`TideKind::ALL`].
    pub errors: [TideError; 6],
    /// All wrong detections together: what perfect precision would bring.
    pub false_positives: TideError,
    /// All objects that were not found: what perfect recall would bring.
    pub false_negatives: TideError,
}

/// Classifies every wrong detection and every object that was not found, and computes what each kind
/// of error costs.
///
/// Detections on crowds count neither way. Each gain is that of fixing one kind alone, with TIDE's
/// oracles: a wrong class or place is corrected, once for each object and for its highest-scoring
/// detection; detections that cannot be corrected are removed; missed objects are removed too.
pub fn tide(scenes: &[Scene]) -> Tide {
    let mut table = ErrorTable::default();
    for scene in scenes {
        table.add(scene);
    }
    let ap50 = table.precision(Fix::Nothing);
    let wrong = table.detections.iter().filter(|found| found.error.is_some()).count();
    Tide {
        ap50,
        errors: TideKind::ALL.map(|kind| TideError {
            count: table.count(kind),
            dap: table.gain(Fix::Kind(kind), ap50),
        }),
        false_positives: TideError { count: wrong, dap: table.gain(Fix::FalsePositives, ap50) },
        false_negatives: TideError {
            count: table.lost.len(),
            dap: table.gain(Fix::FalseNegatives, ap50),
        },
    }
}

/// What is fixed before precision is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fix {
    Nothing,
    Kind(TideKind),
    FalsePositives,
    FalseNegatives,
}

/// Every detection, and every object that was not found, of all images.
#[derive(Default)]
struct ErrorTable {
    detections: Vec<JudgedDetection>,
    lost: Vec<LostObject>,
    /// For each class, how many objects there are.
    objects: BTreeMap<usize, usize>,
}

struct JudgedDetection {
    class: usize,
    score: f64,
    /// `None` for a true positive.
    error: Option<TideKind>,
    /// The class in which it would be right if its error were fixed.
    fixed: Option<usize>,
}

struct LostObject {
    class: usize,
    /// Whether no wrong detection would find it if errors were fixed.
    missed: bool,
}

impl ErrorTable {
    fn add(&mut self, scene: &Scene) {
        let known: Vec<&TruthBox> = scene.objects.iter().filter(|known| !known.crowd).collect();
        for known in &known {
            *self.objects.entry(known.class).or_default() += 1;
        }
        let mut found = scene.detections.clone();
        found.sort_by(ScoredBox::by_descending_score);
        found.truncate(MAX_DETECTIONS);
        let matches = ImageMatches::new(&found, &known);
        // For each object that was not found, the first detection that would find it if its error
        // were fixed.
        let mut candidates: Vec<Option<usize>> = vec![None; known.len()];
        for (at, one) in found.iter().enumerate() {
            if matches.found[at].is_none() && on_crowd(one, &scene.objects) {
                continue;
            }
            let (error, object) = matches.error(at, one);
            if let Some(object) = object.filter(|&object| matches.by[object].is_none()) {
                candidates[object].get_or_insert(self.detections.len());
            }
            self.detections.push(JudgedDetection {
                class: one.class,
                score: one.score,
                error,
                fixed: None,
            });
        }
        for (object, known) in known.iter().enumerate().filter(|&(at, _)| matches.by[at].is_none())
        {
            let candidate = candidates[object];
            self.lost.push(LostObject { class: known.class, missed: candidate.is_none() });
            if let Some(detection) = candidate {
                self.detections[detection].fixed = Some(known.class);
            }
        }
    }

    fn count(&self, kind: TideKind) -> usize {
        if kind == TideKind::Missed {
            return self.lost.iter().filter(|lost| lost.missed).count();
        }
        self.detections.iter().filter(|found| found.error == Some(kind)).count()
    }

    /// How much average precision rises with a fix.
    fn gain(&self, fix: Fix, before: Option<f64>) -> f64 {
        match (self.precision(fix), before) {
            (Some(fixed), Some(before)) => (fixed - before).max(0.0),
            _ => 0.0,
        }
    }

    /// Mean average precision over classes with objects, after a fix. A class without objects left
    /// is left out, unless there are detections of it.
    fn precision(&self, fix: Fix) -> Option<f64> {
        let mut points: BTreeMap<usize, Vec<(f64, bool)>> = BTreeMap::new();
        for found in &self.detections {
            let fixed = match found.error {
                None => Some((found.class, true)),
                Some(_) if fix == Fix::FalsePositives => None,
                Some(kind) if fix == Fix::Kind(kind) => found.fixed.map(|class| (class, true)),
                Some(_) => Some((found.class, false)),
            };
            if let Some((class, right)) = fixed {
                points.entry(class).or_default().push((found.score, right));
            }
        }
        mean(self.objects.iter().filter_map(|(class, &objects)| {
            let mut points = points.remove(class).unwrap_or_default();
            let left = objects - self.taken_away(*class, fix);
            if left == 0 {
                return (!points.is_empty()).then_some(0.0);
            }
            points.sort_by(|a, b| by_descending_score(a.0, b.0));
            Some(Curve::new(points.iter().map(|&(_, right)| right), left).at_101_hundredths())
        }))
    }

    /// How many objects of a class are no longer to be found.
    fn taken_away(&self, class: usize, fix: Fix) -> usize {
        let all = fix == Fix::FalseNegatives;
        if !all && fix != Fix::Kind(TideKind::Missed) {
            return 0;
        }
        self.lost.iter().filter(|lost| lost.class == class && (all || lost.missed)).count()
    }
}

fn on_crowd(found: &ScoredBox, objects: &[TruthBox]) -> bool {
    objects.iter().any(|known| {
        known.crowd && known.class == found.class && found.rect.part_in(&known.rect) > FOREGROUND
    })
}

/// One image: who overlaps whom, and who found whom.
struct ImageMatches<'a> {
    known: &'a [&'a TruthBox],
    /// For each detection, its overlap with each object.
    overlaps: Vec<Vec<f64>>,
    /// For each detection, the object that it found.
    found: Vec<Option<usize>>,
    /// For each object, who found it.
    by: Vec<Option<usize>>,
}

impl<'a> ImageMatches<'a> {
    fn new(found: &[ScoredBox], known: &'a [&'a TruthBox]) -> Self {
        let overlaps: Vec<Vec<f64>> = found
            .iter()
            .map(|one| known.iter().map(|known| one.rect.iou(&known.rect)).collect())
            .collect();
        let mut matches =
            Self { known, overlaps, found: vec![None; found.len()], by: vec![None; known.len()] };
        for (at, one) in found.iter().enumerate() {
            let best = matches
                .best_overlap(at, |object| {
                    matches.by[object].is_none() && known[object].class == one.class
                })
                .filter(|&(_, overlap)| overlap >= FOREGROUND);
            if let Some((object, _)) = best {
                matches.found[at] = Some(object);
                matches.by[object] = Some(at);
            }
        }
        matches
    }

    /// The object that a detection overlaps most; of equal ones the first.
    fn best_overlap(
        &self,
        at: usize,
        is_available: impl Fn(usize) -> bool,
    ) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (object, &overlap) in self.overlaps[at].iter().enumerate() {
            if is_available(object) && best.is_none_or(|(_, largest)| overlap > largest) {
                best = Some((object, overlap));
            }
        }
        best
    }

    /// Why a detection is wrong, and for which object it stands.
    fn error(&self, at: usize, one: &ScoredBox) -> (Option<TideKind>, Option<usize>) {
        if self.found[at].is_some() {
            return (None, None);
        }
        let same = |object: usize| self.known[object].class == one.class;
        let reaches = |best: Option<(usize, f64)>, min_iou| {
            best.filter(|&(_, overlap)| overlap >= min_iou).map(|(object, _)| object)
        };
        let near = self.best_overlap(at, same).filter(|&(_, overlap)| overlap <= FOREGROUND);
        if let Some(object) = reaches(near, BACKGROUND) {
            return (Some(TideKind::Localisation), Some(object));
        }
        if let Some(object) = reaches(self.best_overlap(at, |object| !same(object)), FOREGROUND) {
            return (Some(TideKind::Class), Some(object));
        }
        let had = self.best_overlap(at, |object| same(object) && self.by[object].is_some());
        if reaches(had, FOREGROUND).is_some() {
            return (Some(TideKind::Duplicate), None);
        }
        let any = self.best_overlap(at, |_| true).is_some_and(|(_, overlap)| overlap > BACKGROUND);
        (Some(if any { TideKind::Both } else { TideKind::Background }), None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rect;
    use super::TideKind::{Background, Both, Class, Duplicate, Localisation, Missed};
    use super::*;

    fn rect(left: f64) -> Rect {
        Rect { left, top: 0.0, width: 10.0, height: 10.0 }
    }

    fn known(class: usize, left: f64, crowd: bool) -> TruthBox {
        TruthBox { class, rect: rect(left), area: 100.0, crowd, difficult: false }
    }

    fn found(class: usize, left: f64) -> ScoredBox {
        ScoredBox { class, rect: rect(left), score: 0.5 }
    }

    #[test]
    fn every_error_has_one_reason() {
        let one = || vec![known(0, 0.0, false)];
        let cases = [
            ("right", one(), vec![found(0, 1.0)], vec![]),
            ("another name", one(), vec![found(1, 1.0)], vec![Class]),
            ("another place", one(), vec![found(0, 6.0)], vec![Localisation]),
            ("both", one(), vec![found(1, 6.0)], vec![Both, Missed]),
            ("twice", one(), vec![found(0, 0.0), found(0, 1.0)], vec![Duplicate]),
            ("on nothing", one(), vec![found(0, 50.0)], vec![Background, Missed]),
            ("nothing there", vec![], vec![found(0, 50.0)], vec![Background]),
            ("a crowd", vec![known(0, 0.0, true)], vec![found(0, 1.0), found(0, 2.0)], vec![]),
            ("another crowd", vec![known(1, 0.0, true)], vec![found(0, 1.0)], vec![Background]),
        ];
        for (what, objects, detections, wanted) in cases {
            let tide = tide(&[Scene { objects, detections }]);
            let got = TideKind::ALL.into_iter().zip(tide.errors);
            let got = got.flat_map(|(kind, error)| vec![kind; error.count]);
            assert_eq!(got.collect::<Vec<_>>(), wanted, "{what}");
        }
    }

    #[test]
    fn mending_the_only_error_brings_everything() {
        for (found, kind) in [(found(1, 0.0), Class), (found(0, 5.0), Localisation)] {
            let tide =
                tide(&[Scene { objects: vec![known(0, 0.0, false)], detections: vec![found] }]);
            let gains = TideKind::ALL.into_iter().zip(tide.errors);
            let gains: Vec<_> = gains.filter(|(_, error)| error.dap > 0.999).collect();
            assert_eq!(gains.iter().map(|&(kind, _)| kind).collect::<Vec<_>>(), [kind]);
            assert_eq!((tide.ap50, tide.false_negatives.count), (Some(0.0), 1));
        }
        assert_eq!(tide(&[]).ap50, None);
    }
}
