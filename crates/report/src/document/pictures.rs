//! Pictures: of trials, in a run directory or in memory.

use crate::image::Room;

/// A picture of the run directory.
pub(crate) struct Picture {
    /// The path below the run directory, or why there is no picture.
    pub(crate) source: Result<String, &'static str>,
    /// What it shows, for those who do not see it.
    pub(crate) alt: String,
    pub(crate) caption: Option<&'static str>,
}

/// Pictures of trials.
pub(crate) enum Pictures {
    /// Trials one by one, with both predictions.
    Cards(Vec<Card>),
    /// Small pictures with a name.
    Stamps(Vec<Stamp>),
    /// A row for each case, a column for each fault.
    Gallery(Gallery),
    /// Pictures that lie in memory, beside each other.
    Strip(Vec<InlinePicture>),
}

/// A picture that lies in no run directory.
pub(crate) struct InlinePicture {
    /// The picture, as a JPEG file.
    pub(crate) jpeg: Vec<u8>,
    /// What it shows, for those who do not see it.
    pub(crate) alt: String,
    pub(crate) caption: String,
}

impl Pictures {
    /// Every picture of the run directory with the room that it is shown in.
    pub(crate) fn each(&self) -> Vec<(&Picture, Room)> {
        match self {
            Self::Cards(cards) => {
                cards.iter().flat_map(|card| &card.pictures).map(|one| (one, Room::Card)).collect()
            }
            Self::Stamps(stamps) => {
                let pictures = stamps.iter().flat_map(|stamp| &stamp.pictures);
                pictures.map(|one| (one, Room::Stamp)).collect()
            }
            Self::Gallery(gallery) => {
                let cells = gallery.rows.iter().flat_map(|row| &row.cells);
                cells.flat_map(|cell| &cell.pictures).map(|one| (one, Room::Gallery)).collect()
            }
            Self::Strip(_) => Vec::new(),
        }
    }
}

/// A trial to look at.
pub(crate) struct Card {
    pub(crate) title: String,
    /// The outcome in words, and its class in the style sheet.
    pub(crate) outcome: (String, &'static str),
    pub(crate) pictures: Vec<Picture>,
    /// Whether large pictures have the card's width, so that frames around small objects are seen.
    pub(crate) wide: bool,
    /// Names with their values, each of one or more lines.
    pub(crate) facts: Vec<(&'static str, Vec<String>)>,
    /// Titles with the lines of a prediction.
    pub(crate) predictions: Vec<(&'static str, Vec<Line>)>,
    /// What shows the trial again.
    pub(crate) command: String,
}

/// A line of a prediction.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) score: String,
    /// The score as a finished drawing.
    pub(crate) bar: Option<String>,
}

/// A small picture with a name, or two that are compared.
pub(crate) struct Stamp {
    pub(crate) pictures: Vec<Picture>,
    pub(crate) name: String,
    pub(crate) notes: Vec<String>,
}

/// Pictures by case and fault.
pub(crate) struct Gallery {
    pub(crate) caption: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<GalleryRow>,
}

/// One case.
pub(crate) struct GalleryRow {
    pub(crate) name: String,
    pub(crate) cells: Vec<GalleryCell>,
}

/// Pictures of a trial with its outcome.
pub(crate) struct GalleryCell {
    pub(crate) pictures: Vec<Picture>,
    pub(crate) outcome: Option<TrialOutcome>,
}

/// The outcome of a trial.
pub(crate) struct TrialOutcome {
    /// Its class in the style sheet.
    pub(crate) class: &'static str,
    pub(crate) name: String,
    /// Changed objects, or why the trial was skipped.
    pub(crate) why: Option<String>,
    pub(crate) number: String,
}
