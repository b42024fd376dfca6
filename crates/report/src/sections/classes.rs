//! The classes whose predictions change the most and the least often.

use super::Input;
use crate::document::{Block, Picture, Pictures, Stamp};
use faultlens_analysis::Class;
use faultlens_analysis::format;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let classes = input.summary.classes.as_ref()?;
    let note = format!(
        "Of {} classes, by the share of trials that changed the prediction. In brackets: {}.",
        format::count(classes.of),
        input.interval
    );
    let mut blocks = vec![Block::note(note)];
    for (title, ends) in [("Least robust", &classes.worst), ("Most robust", &classes.best)] {
        let stamps = ends.iter().map(stamp).collect();
        blocks.push(Block::titled(title, vec![Block::Pictures(Pictures::Stamps(stamps))]));
    }
    Some(Block::all(blocks))
}

fn stamp(class: &Class) -> Stamp {
    Stamp {
        pictures: vec![Picture {
            source: class.image.clone().ok_or("no image of this class was kept"),
            alt: "The clean image".into(),
            caption: None,
        }],
        name: class.label.clone(),
        notes: vec![
            format::rate(&class.rate),
            format!("{} of {}", format::count(class.rate.events), format::count(class.rate.n)),
        ],
    }
}
