//! The middle of the neighbours.

use crate::doc::{about, described, when};
use crate::image::paint::edge::Edge;
use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

described! {
    /// # What it does
    /// Replaces every value by the median of the square around it, in its own channel. Edge
    /// pixels are repeated.
    /// # When to use it
    /// Dead pixels, salt and pepper: values far from those of all neighbours.
    struct MedianFilter {
        radius: usize,
    }
}

pub(super) const MEDIAN_FILTER: Plugin<dyn Defence> = Plugin {
    name: "median_filter",
    about: about(MedianFilter::DOC),
    when: when(MedianFilter::DOC),
    parameters: &[RADIUS],
    build: |settings| Ok(Box::new(MedianFilter { radius: settings.number(RADIUS.name)? as usize })),
};

const RADIUS: Parameter = Parameter {
    name: "radius",
    about: "how far the square reaches to each side, in pixels; 1 is 3×3",
    kind: ParameterKind::Whole { min: 1, max: 20 },
    unset: Unset::Is(Setting::Number(1.0)),
};

impl Defence for MedianFilter {
    fn clean(&self, image: &Image) -> Image {
        let mut clean = image.clone();
        let rows = clean.rgb_mut().chunks_exact_mut(3 * image.width());
        for (y, row) in rows.enumerate() {
            for channel in 0..3 {
                self.row(image, y, channel, row);
            }
        }
        clean
    }
}

impl MedianFilter {
    /// One row of one channel, with a histogram that slides along it (Huang, 1979).
    fn row(&self, image: &Image, y: usize, channel: usize, out: &mut [u8]) {
        let width = image.width();
        let reach = self.radius as isize;
        let rows: Vec<&[u8]> = (-reach..=reach)
            .map(|dy| Edge::Repeat.index(y as isize + dy, image.height()))
            .map(|y| &image.rgb()[3 * width * y..][..3 * width])
            .collect();
        let mut seen = Histogram::default();
        let column = |x: isize| 3 * Edge::Repeat.index(x, width) + channel;
        for x in -reach..=reach {
            rows.iter().for_each(|row| seen.add(row[column(x)]));
        }
        let middle = (rows.len() * rows.len()) as u32 / 2;
        for x in 0..width {
            out[3 * x + channel] = seen.at(middle);
            let gone = column(x as isize - reach);
            let new = column(x as isize + reach + 1);
            for row in &rows {
                seen.remove(row[gone]);
                seen.add(row[new]);
            }
        }
    }
}

/// How often each value is in the square.
struct Histogram {
    counts: [u32; 256],
    /// Where the last search ended, and how many values are below it: neighbours are alike.
    place: usize,
    below: u32,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; 256], place: 0, below: 0 }
    }
}

impl Histogram {
    fn add(&mut self, value: u8) {
        self.counts[usize::from(value)] += 1;
        self.below += u32::from(usize::from(value) < self.place);
    }

    fn remove(&mut self, value: u8) {
        self.counts[usize::from(value)] -= 1;
        self.below -= u32::from(usize::from(value) < self.place);
    }

    /// The value that has exactly so many before it in order.
    fn at(&mut self, rank: u32) -> u8 {
        while self.below > rank {
            self.place -= 1;
            self.below -= self.counts[self.place];
        }
        while self.below + self.counts[self.place] <= rank {
            self.below += self.counts[self.place];
            self.place += 1;
        }
        self.place as u8
    }
}
