//! Why detections are wrong, and what each reason costs: the error types of TIDE (Bolya et al.,
//! 2020).

use super::coco::mean;
use super::curve::Curve;
use super::{Found, Known, Scene, surest_first};
use std::collections::BTreeMap;

/// Boxes that overlap by this much show the same thing.
const FOREGROUND: f64 = 0.5;

/// Boxes that overlap by no more have nothing to do with each other.
const BACKGROUND: f64 = 0.1;

/// TIDE looks at the surest detections of an image, of all classes together.
const MOST_DETECTIONS: usize = 100;

/// Why a detection is wrong, or an object not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TideKind {
    /// At the right place, of the wrong class.
    Class,
    /// Of the right class, at the wrong place.
    Localisation,
    /// Wrong in both.
    Both,
    /// On an object that a surer detection has found.
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

/// Says of every wrong detection and every lost object why, and what it costs.
///
/// Detections on crowds count neither way. Each gain is that of mending one kind alone: a wrong
/// class or place is put right, once for each object and for its surest detection; what cannot be
/// put right is taken away; missed objects are taken away too.
pub fn tide(scenes: &[Scene]) -> Tide {
    let mut ledger = Ledger::default();
    for scene in scenes {
        ledger.add(scene);
    }
    let ap50 = ledger.precision(Mend::Nothing);
    let gain = |mend| {
        let mended = ledger.precision(mend).zip(ap50);
        mended.map_or(0.0, |(mended, before)| (mended - before).max(0.0))
    };
    let wrong = ledger.points.iter().filter(|point| point.error.is_some()).count();
    Tide {
        ap50,
        errors: TideKind::ALL
            .map(|kind| TideError { count: ledger.count(kind), dap: gain(Mend::Kind(kind)) }),
        false_positives: TideError { count: wrong, dap: gain(Mend::Wrong) },
        false_negatives: TideError { count: ledger.lost.len(), dap: gain(Mend::Lost) },
    }
}

/// What is put right before precision is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mend {
    Nothing,
    Kind(TideKind),
    Wrong,
    Lost,
}

/// Every detection and lost object of all images.
#[derive(Default)]
struct Ledger {
    points: Vec<Point>,
    lost: Vec<Lost>,
    /// For each class, how many objects there are.
    objects: BTreeMap<usize, usize>,
}

struct Point {
    class: usize,
    score: f64,
    /// `None` for who is right.
    error: Option<TideKind>,
    /// The class in which it would be right, if its error were mended.
    mended: Option<usize>,
}

struct Lost {
    class: usize,
    /// Whether no wrong detection stands for it.
    missed: bool,
}

impl Ledger {
    fn add(&mut self, scene: &Scene) {
        let known: Vec<&Known> = scene.objects.iter().filter(|known| !known.crowd).collect();
        for known in &known {
            *self.objects.entry(known.class).or_default() += 1;
        }
        let mut found = scene.detections.clone();
        found.sort_by(Found::surest_first);
        found.truncate(MOST_DETECTIONS);
        let page = Page::new(&found, &known);
        // For each object that nobody found, who would find it first if errors were mended.
        let mut stands: Vec<Option<usize>> = vec![None; known.len()];
        for (at, one) in found.iter().enumerate() {
            if page.found[at].is_none() && on_crowd(one, &scene.objects) {
                continue;
            }
            let (error, object) = page.error(at, one);
            if let Some(object) = object.filter(|&object| page.by[object].is_none()) {
                stands[object].get_or_insert(self.points.len());
            }
            self.points.push(Point { class: one.class, score: one.score, error, mended: None });
        }
        for (object, known) in known.iter().enumerate().filter(|&(at, _)| page.by[at].is_none()) {
            let stands = stands[object];
            self.lost.push(Lost { class: known.class, missed: stands.is_none() });
            if let Some(point) = stands {
                self.points[point].mended = Some(known.class);
            }
        }
    }

    fn count(&self, kind: TideKind) -> usize {
        if kind == TideKind::Missed {
            return self.lost.iter().filter(|lost| lost.missed).count();
        }
        self.points.iter().filter(|point| point.error == Some(kind)).count()
    }

    /// Mean average precision over classes with objects, after something was mended. A class of
    /// which no object is left to find says nothing, unless something is found in it.
    fn precision(&self, mend: Mend) -> Option<f64> {
        let mut points: BTreeMap<usize, Vec<(f64, bool)>> = BTreeMap::new();
        for point in &self.points {
            let now = match point.error {
                None => Some((point.class, true)),
                Some(_) if mend == Mend::Wrong => None,
                Some(kind) if mend == Mend::Kind(kind) => point.mended.map(|class| (class, true)),
                Some(_) => Some((point.class, false)),
            };
            if let Some((class, right)) = now {
                points.entry(class).or_default().push((point.score, right));
            }
        }
        mean(self.objects.iter().filter_map(|(class, &objects)| {
            let mut points = points.remove(class).unwrap_or_default();
            let left = objects - self.taken_away(*class, mend);
            if left == 0 {
                return (!points.is_empty()).then_some(0.0);
            }
            points.sort_by(|a, b| surest_first(a.0, b.0));
            Some(Curve::new(points.iter().map(|&(_, right)| right), left).at_101_hundredths())
        }))
    }

    /// How many objects of a class are no longer to be found.
    fn taken_away(&self, class: usize, mend: Mend) -> usize {
        let all = mend == Mend::Lost;
        if !all && mend != Mend::Kind(TideKind::Missed) {
            return 0;
        }
        self.lost.iter().filter(|lost| lost.class == class && (all || lost.missed)).count()
    }
}

fn on_crowd(found: &Found, objects: &[Known]) -> bool {
    objects.iter().any(|known| {
        known.crowd && known.class == found.class && found.rect.part_in(&known.rect) > FOREGROUND
    })
}

/// One image: who overlaps whom, and who found whom.
struct Page<'a> {
    known: &'a [&'a Known],
    /// For each detection, its overlap with each object.
    overlaps: Vec<Vec<f64>>,
    /// For each detection, the object that it found.
    found: Vec<Option<usize>>,
    /// For each object, who found it.
    by: Vec<Option<usize>>,
}

impl<'a> Page<'a> {
    fn new(found: &[Found], known: &'a [&'a Known]) -> Self {
        let overlaps: Vec<Vec<f64>> = found
            .iter()
            .map(|one| known.iter().map(|known| one.rect.iou(&known.rect)).collect())
            .collect();
        let mut page =
            Self { known, overlaps, found: vec![None; found.len()], by: vec![None; known.len()] };
        for (at, one) in found.iter().enumerate() {
            let free =
                |object: usize| page.by[object].is_none() && known[object].class == one.class;
            let best = page.most(at, free).filter(|&(_, overlap)| overlap >= FOREGROUND);
            if let Some((object, _)) = best {
                page.found[at] = Some(object);
                page.by[object] = Some(at);
            }
        }
        page
    }

    /// The object that a detection overlaps most; of equal ones the first.
    fn most(&self, at: usize, open: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (object, &overlap) in self.overlaps[at].iter().enumerate() {
            if open(object) && best.is_none_or(|(_, most)| overlap > most) {
                best = Some((object, overlap));
            }
        }
        best
    }

    /// Why a detection is wrong, and for which object it stands.
    fn error(&self, at: usize, one: &Found) -> (Option<TideKind>, Option<usize>) {
        if self.found[at].is_some() {
            return (None, None);
        }
        let same = |object: usize| self.known[object].class == one.class;
        let reaches = |best: Option<(usize, f64)>, least| {
            best.filter(|&(_, overlap)| overlap >= least).map(|(object, _)| object)
        };
        let near = self.most(at, same).filter(|&(_, overlap)| overlap <= FOREGROUND);
        if let Some(object) = reaches(near, BACKGROUND) {
            return (Some(TideKind::Localisation), Some(object));
        }
        if let Some(object) = reaches(self.most(at, |object| !same(object)), FOREGROUND) {
            return (Some(TideKind::Class), Some(object));
        }
        let had = self.most(at, |object| same(object) && self.by[object].is_some());
        if reaches(had, FOREGROUND).is_some() {
            return (Some(TideKind::Duplicate), None);
        }
        let any = self.most(at, |_| true).is_some_and(|(_, overlap)| overlap > BACKGROUND);
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

    fn known(class: usize, left: f64, crowd: bool) -> Known {
        Known { class, rect: rect(left), area: 100.0, crowd, difficult: false }
    }

    fn found(class: usize, left: f64) -> Found {
        Found { class, rect: rect(left), score: 0.5 }
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
