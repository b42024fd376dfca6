//! What is made to be shown.

use crate::made::{at, faults, protocol, set, study};
use faultlens_data::read_image;
use faultlens_human_study::{Protocol, StimulusKind, Study, StudyError, StudyRequest, prepare};
use faultlens_judge::visual::Reference;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn versions_are_spread_over_visual_change_and_say_what_they_are() {
    let dir = study(40);
    let study = Study::open(&at(&dir)).unwrap();
    let of = |kind| study.stimuli.iter().filter(move |one| one.kind == kind);
    assert_eq!((of(StimulusKind::Original).count(), of(StimulusKind::Changed).count()), (40, 80));
    assert_eq!(of(StimulusKind::Original).filter(|one| one.truth == "disc").count(), 20);
    let shown: BTreeSet<&str> = of(StimulusKind::Original).map(|one| one.image.as_str()).collect();
    assert!(of(StimulusKind::Easy).all(|one| !shown.contains(one.image.as_str())));
    for fault in ["contrast", "gaussian_noise"] {
        let versions: Vec<_> = of(StimulusKind::Changed).filter(|one| one.fault == fault).collect();
        let mut changes: Vec<f64> = versions.iter().map(|one| one.visual_change).collect();
        changes.sort_by(f64::total_cmp);
        let gaps = changes.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.fold(0.0, f64::max) < 0.15, "{fault}: {changes:?}");
        assert!(changes[39] - changes[0] > 0.6, "{fault}: {changes:?}");
        assert!(versions.iter().all(|one| !one.settings.is_empty()));
    }
}

#[test]
fn the_index_tells_the_visual_change_of_the_files() {
    let dir = study(6);
    let study = Study::open(&at(&dir)).unwrap();
    for original in study.stimuli.iter().filter(|one| one.kind == StimulusKind::Original) {
        let reference = Reference::new(&read_image(&original.path(&at(&dir))).unwrap()).unwrap();
        for version in study.stimuli.iter().filter(|one| one.image == original.image) {
            let image = read_image(&version.path(&at(&dir))).unwrap();
            let measured = reference.visual_change(&image).unwrap().delta_v;
            assert_eq!(measured.to_bits(), version.visual_change.to_bits());
            assert!(!version.file.contains("disc") && !version.file.contains("picture"));
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_pictures() {
    let (a, b) = (study(6), study(6));
    let stimuli = |dir| Study::open(&at(dir)).unwrap().stimuli;
    assert_eq!(stimuli(&a), stimuli(&b));
}

#[test]
fn what_cannot_be_made_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let set = set(60);
    let made = |images, protocol: Protocol, to: &str| {
        let (groups, faults) = (BTreeMap::new(), faults());
        prepare(&StudyRequest { set: &set, protocol, groups, faults, images }, &dir.path().join(to))
    };
    let error = made(60, protocol(), "few").unwrap_err().to_string();
    assert!(error.contains("20 pictures of \"disc\"") && error.contains("--images"), "{error}");
    assert!(!dir.path().join("few").exists());
    let same = Protocol { choices: ["disc", "disc"].map(str::to_owned), ..protocol() };
    assert!(made(4, same, "same").unwrap_err().to_string().contains("must differ"));
    std::fs::write(dir.path().join("file"), "").unwrap();
    assert!(made(4, protocol(), "file").is_err());
    assert!(matches!(made(4, protocol(), ""), Err(StudyError::NotEmpty(_))));
}
