use super::data::{Lifetimes, weighted_quantiles};
use super::error::SurvivalError;

/// Groups of rows with similar predictions; more change no digit that is shown.
const GROUPS: usize = 100;
/// Spans of time with about as many events each.
const SPANS: usize = 20;

/// Where each row falls in a grid of predictions and times, which stays the same when rows are drawn
/// again.
pub(crate) struct Grid {
    /// The ends of the spans of time, from 0 on.
    edges: Vec<f64>,
    /// How many spans end by the time of the prediction.
    pub(crate) until: usize,
    /// The group of each row, by its covariate.
    group: Vec<usize>,
    groups: usize,
    /// Where each row's duration ends, and where it came under observation.
    end: Vec<Place>,
    entry: Vec<Option<Place>>,
}

/// A span of time and how far into it.
#[derive(Clone, Copy)]
struct Place {
    span: usize,
    past: f64,
}

/// Rows counted into the grid: what a model of the hazard needs to know of them. For every group and
/// span the events, and how many there would be if all groups had the hazard of all rows together,
/// so that a model only says by which factor a group differs.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// The mean covariate of each group.
    pub(crate) z: Vec<f64>,
    /// The weight of the rows of each group.
    pub(crate) weight: Vec<f64>,
    /// The share of events by the middle of each span.
    pub(crate) clock: Vec<f64>,
    /// The cumulative hazard of all rows together over each span.
    pub(crate) hazard: Vec<f64>,
    /// By group, then span.
    pub(crate) expected: Vec<f64>,
    /// By group, then span.
    pub(crate) events: Vec<f64>,
}

impl Grid {
    /// Lays the grid over rows with a covariate each, with an edge at `time`.
    ///
    /// # Errors
    /// [`SurvivalError::NoEvents`].
    pub(crate) fn new(data: &Lifetimes, z: &[f64], time: f64) -> Result<Self, SurvivalError> {
        let edges = edges(data, time)?;
        let until = edges.partition_point(|&edge| edge <= time) - 1;
        let (group, groups) = grouped(z);
        let place = |time: f64| {
            let span = edges.partition_point(|&edge| edge < time).clamp(1, edges.len() - 1) - 1;
            Place { span, past: time - edges[span] }
        };
        let end = data.durations().iter().map(|&t| place(t)).collect();
        let entry = data.entries().iter().map(|&t| (t > 0.0).then(|| place(t))).collect();
        Ok(Self { until, group, groups, end, entry, edges })
    }

    fn spans(&self) -> usize {
        self.edges.len() - 1
    }

    /// Counts rows into the grid, each as often as `copies` says times its weight.
    pub(crate) fn count(&self, data: &Lifetimes, z: &[f64], copies: &[f64]) -> Cells {
        let spans = self.spans();
        let mut cells = Cells {
            z: vec![0.0; self.groups],
            weight: vec![0.0; self.groups],
            clock: Vec::with_capacity(spans),
            hazard: Vec::with_capacity(spans),
            expected: vec![0.0; self.groups * spans],
            events: vec![0.0; self.groups * spans],
        };
        // Rows that were there for the whole of a span are counted where they left, and summed
        // from the end: one addition per row instead of one per row and span.
        let mut whole = vec![0.0; self.groups * spans];
        for (i, &group) in self.group.iter().enumerate() {
            let weight = copies[i] * data.row_weights()[i];
            cells.z[group] += weight * z[i];
            cells.weight[group] += weight;
            let own = group * spans;
            if data.observed()[i] {
                cells.events[own + self.end[i].span] += weight;
            }
            let ends = [(Some(self.end[i]), weight), (self.entry[i], -weight)];
            for (place, weight) in ends.into_iter().filter_map(|(p, w)| Some((p?, w))) {
                cells.expected[own + place.span] += weight * place.past;
                whole[own + place.span] += weight;
            }
        }
        for (z, weight) in cells.z.iter_mut().zip(&cells.weight) {
            *z /= if *weight > 0.0 { *weight } else { 1.0 };
        }
        self.add_whole_spans(&whole, &mut cells.expected);
        self.weigh_by_hazard(&mut cells);
        cells
    }

    fn add_whole_spans(&self, whole: &[f64], exposure: &mut [f64]) {
        let spans = self.spans();
        for (whole, exposure) in whole.chunks(spans).zip(exposure.chunks_mut(spans)) {
            let mut later = 0.0;
            for span in (0..spans).rev() {
                exposure[span] += later * (self.edges[span + 1] - self.edges[span]);
                later += whole[span];
            }
        }
    }

    /// Turns times under observation into expected events.
    fn weigh_by_hazard(&self, cells: &mut Cells) {
        let spans = self.spans();
        let all: f64 = cells.events.iter().sum();
        let mut before = 0.0;
        for span in 0..spans {
            let column = |of: &[f64]| of.iter().skip(span).step_by(spans).sum::<f64>();
            let events = column(&cells.events);
            let exposure = column(&cells.expected);
            let rate = if exposure > 0.0 { events / exposure } else { 0.0 };
            cells.expected.iter_mut().skip(span).step_by(spans).for_each(|e| *e *= rate);
            cells.hazard.push(rate * (self.edges[span + 1] - self.edges[span]));
            cells.clock.push((before + events / 2.0) / all);
            before += events;
        }
    }
}

/// Ends of spans of time with about as many events each; one is at `time`, the last behind all rows.
fn edges(data: &Lifetimes, time: f64) -> Result<Vec<f64>, SurvivalError> {
    let mut times = Vec::new();
    for (i, &end) in data.durations().iter().enumerate() {
        if data.observed()[i] {
            times.push((end, data.row_weights()[i]));
        }
    }
    let shares: [f64; SPANS - 1] = std::array::from_fn(|i| (i + 1) as f64 / SPANS as f64);
    let inner = weighted_quantiles(times, shares).ok_or(SurvivalError::NoEvents)?;
    let last = data.durations().iter().copied().fold(time, f64::max);
    let mut edges = vec![0.0, time, last];
    edges.extend(inner.into_iter().filter(|edge| *edge > 0.0));
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    Ok(edges)
}

/// The group of each row, and how many there are; rows with the same covariate share theirs.
fn grouped(z: &[f64]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..z.len()).collect();
    order.sort_by(|&a, &b| z[a].total_cmp(&z[b]));
    let mut group = vec![0; z.len()];
    let mut groups = 0;
    let mut filled = 0;
    for (place, &i) in order.iter().enumerate() {
        let new = place > 0 && z[i] > z[order[place - 1]];
        if new && place * GROUPS >= (groups + 1) * z.len() && filled > 0 {
            groups += 1;
            filled = 0;
        }
        group[i] = groups;
        filled += 1;
    }
    (group, groups + 1)
}
