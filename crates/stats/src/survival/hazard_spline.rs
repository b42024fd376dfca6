use super::hazard_cells::Cells;
use super::matrix::Square;

/// Knots on the clock: shares of all events. The last one makes a straight line.
const CLOCK_KNOTS: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
/// Knots of the covariate, at as many equal steps of its rows.
const KNOTS: usize = 19;
/// No model gets larger, whatever the number of rows.
const LARGEST: usize = 16;

/// A product of a spline of the clock and a spline of the covariate, each of which may be 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Term {
    /// (knot − clock)₊.
    clock: Option<usize>,
    /// 0 is the covariate itself, others are (z − knot)₊.
    z: Option<usize>,
}

const CONSTANT: Term = Term { clock: None, z: None };
const LINE: Term = Term { clock: None, z: Some(0) };

/// By which factor the hazard depends on one covariate and on time: linear splines and their products,
/// chosen step by step. The method is HARE (Kooperberg, Stone and Truong 1995): terms with the largest
/// score statistic are added, those with the smallest Wald statistic taken out again, and of all
/// models on the way the one with the smallest BIC is kept. Unlike there, rows are counted into cells,
/// and time acts relative to the hazard of all rows together, which needs no spline of its own.
pub(crate) struct HazardSpline {
    terms: Vec<Term>,
    coefficients: Vec<f64>,
    shape: Shape,
}

/// The splines on offer.
#[derive(Clone)]
struct Shape {
    mean: f64,
    deviation: f64,
    knots: Vec<f64>,
}

impl Shape {
    fn new(cells: &Cells) -> Self {
        let total: f64 = cells.weight.iter().sum();
        let mean = cells.z.iter().zip(&cells.weight).map(|(z, w)| z * w / total).sum::<f64>();
        let squares = cells.z.iter().zip(&cells.weight).map(|(z, w)| w * (z - mean) * (z - mean));
        let spread = (squares.sum::<f64>() / total).sqrt();
        let deviation = if spread > 1e-9 * (1.0 + mean.abs()) { spread } else { 0.0 };
        let mut shape = Self { mean, deviation, knots: Vec::new() };
        let mut passed = 0.0;
        for (z, weight) in cells.z.iter().zip(&cells.weight) {
            let next = passed + weight;
            let steps = |share: f64| (share / total * (KNOTS + 1) as f64).floor();
            if *weight > 0.0 && passed > 0.0 && steps(next) > steps(passed) {
                shape.knots.push(shape.standardised(*z));
            }
            passed = next;
        }
        shape
    }

    fn standardised(&self, z: f64) -> f64 {
        if self.deviation > 0.0 { (z - self.mean) / self.deviation } else { 0.0 }
    }

    fn of_clock(knot: Option<usize>, clock: f64) -> f64 {
        knot.map_or(1.0, |knot| (CLOCK_KNOTS[knot] - clock).max(0.0))
    }

    /// The value at a standardised covariate.
    fn of_z(&self, knot: Option<usize>, z: f64) -> f64 {
        match knot {
            None => 1.0,
            Some(0) => z,
            Some(knot) => (z - self.knots[knot - 1]).max(0.0),
        }
    }

    fn column(&self, term: Term, cells: &Cells) -> Vec<f64> {
        let mut column = Vec::with_capacity(cells.events.len());
        let clock: Vec<f64> =
            cells.clock.iter().map(|&clock| Self::of_clock(term.clock, clock)).collect();
        for &z in &cells.z {
            let own = self.of_z(term.z, self.standardised(z));
            column.extend(clock.iter().map(|clock| clock * own));
        }
        column
    }

    /// Every term that may join: a product needs both of its parts.
    fn candidates(&self, terms: &[Term]) -> Vec<Term> {
        let mut all = Vec::new();
        for clock in 0..CLOCK_KNOTS.len() {
            all.push(Term { clock: Some(clock), z: None });
        }
        if terms.contains(&LINE) {
            for z in 1..=self.knots.len() {
                all.push(Term { clock: None, z: Some(z) });
            }
        }
        for first in terms.iter().filter(|term| term.z.is_none() && term.clock.is_some()) {
            for second in terms.iter().filter(|term| term.clock.is_none() && term.z.is_some()) {
                all.push(Term { clock: first.clock, z: second.z });
            }
        }
        all.retain(|term| !terms.contains(term));
        all
    }
}

/// Whether no other term needs this one.
fn removable(term: Term, terms: &[Term]) -> bool {
    let others = || terms.iter().filter(|other| **other != term);
    match term {
        CONSTANT => false,
        LINE => others().all(|other| other.z.is_none()),
        Term { clock: None, z } => others().all(|other| other.z != z),
        Term { clock, z: None } => others().all(|other| other.clock != clock),
        _ => true,
    }
}

/// A model on the way, with the columns of its terms.
#[derive(Clone)]
struct Stage {
    terms: Vec<Term>,
    columns: Vec<Vec<f64>>,
    coefficients: Vec<f64>,
    /// How many events the model expects in each cell.
    expected: Vec<f64>,
    information: Square,
    value: f64,
}

impl HazardSpline {
    /// Fits and chooses; `None` where not even a constant has a fit. The criterion counts as many
    /// rows as the cells weigh.
    pub(crate) fn fit(cells: &Cells) -> Option<Self> {
        let shape = Shape::new(cells);
        let rows: f64 = cells.weight.iter().sum();
        let events: f64 = cells.events.iter().sum();
        let largest = (6.0 * rows.powf(0.2)).min(events / 4.0).clamp(1.0, LARGEST as f64) as usize;
        let mut stage = Stage::new(vec![CONSTANT], vec![shape.column(CONSTANT, cells)]);
        stage.climb(cells)?;
        let criterion = |stage: &Stage| rows.ln() * stage.terms.len() as f64 - 2.0 * stage.value;
        let mut best = stage.clone();
        let mut values = vec![stage.value];
        let consider = |stage: &Stage, best: &mut Stage| {
            if criterion(stage) < criterion(best) {
                *best = stage.clone();
            }
        };
        if shape.deviation > 0.0 && largest > 1 {
            // The line comes first, whether it gains or not: a U-shape shows only in bends.
            let line = shape.column(LINE, cells);
            if let Some(next) = stage.with(LINE, line, cells) {
                stage = next;
                consider(&stage, &mut best);
                values.push(stage.value);
            }
        }
        while stage.terms.len() < largest && goes_on(&values) {
            let Some(next) = stage.grown(&shape, cells) else { break };
            stage = next;
            consider(&stage, &mut best);
            values.push(stage.value);
        }
        while let Some(next) = stage.shrunk(cells) {
            stage = next;
            consider(&stage, &mut best);
        }
        Some(Self { terms: best.terms, coefficients: best.coefficients, shape })
    }

    /// The cumulative hazard over the first spans of the cells at a covariate.
    pub(crate) fn cumulative_hazard(&self, cells: &Cells, until: usize, z: f64) -> f64 {
        let z = self.shape.standardised(z);
        let mut sum = 0.0;
        for (clock, hazard) in cells.clock.iter().zip(&cells.hazard).take(until) {
            let mut ln = 0.0;
            for (term, coefficient) in self.terms.iter().zip(&self.coefficients) {
                let own = Shape::of_clock(term.clock, *clock) * self.shape.of_z(term.z, z);
                ln += coefficient * own;
            }
            sum += hazard * ln.exp();
        }
        sum
    }
}

/// HARE's rule: additions end once three or more of them gained less than chance would.
fn goes_on(values: &[f64]) -> bool {
    let last = values.len() - 1;
    (0..last.saturating_sub(2)).all(|before| {
        let more = (last - before) as f64;
        values[last] - values[before] >= 0.5 * more - 0.5
    })
}

impl Stage {
    fn new(terms: Vec<Term>, columns: Vec<Vec<f64>>) -> Self {
        let n = terms.len();
        let coefficients = vec![0.0; n];
        let expected = Vec::new();
        Self { terms, columns, coefficients, expected, information: Square::zero(n), value: 0.0 }
    }

    /// Climbs to the maximum of the Poisson likelihood of the cells, which is that of piecewise
    /// constant hazards, by Newton's method with halved steps.
    fn climb(&mut self, cells: &Cells) -> Option<()> {
        self.evaluate(cells)?;
        for _ in 0..30 {
            let gradient = self.gradient(cells);
            let step = self.information.cholesky()?.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
            if gain < 1e-7 {
                return Some(());
            }
            let from = self.clone();
            let mut share = 1.0;
            loop {
                for (to, (start, step)) in
                    self.coefficients.iter_mut().zip(from.coefficients.iter().zip(&step))
                {
                    *to = start + share * step;
                }
                if self.evaluate(cells).is_some() && self.value > from.value {
                    break;
                }
                share /= 2.0;
                if share < 1e-4 {
                    return None;
                }
            }
        }
        None
    }

    /// Value, expected events and information at the coefficients; `None` where they are not finite.
    fn evaluate(&mut self, cells: &Cells) -> Option<()> {
        let mut ln = vec![0.0; cells.events.len()];
        for (column, coefficient) in self.columns.iter().zip(&self.coefficients) {
            for (sum, value) in ln.iter_mut().zip(column) {
                *sum += coefficient * value;
            }
        }
        self.value = 0.0;
        self.expected.clear();
        for ((ln, events), expected) in ln.iter().zip(&cells.events).zip(&cells.expected) {
            let own = if *expected > 0.0 { expected * ln.exp() } else { 0.0 };
            self.value += events * ln - own;
            self.expected.push(own);
        }
        self.information = Square::zero(self.terms.len());
        for i in 0..self.columns.len() {
            let weighed = self.weighed(&self.columns[i]);
            for j in 0..=i {
                self.information.add(i, j, super::matrix::dot(&weighed, &self.columns[j]));
            }
        }
        self.information.mirror();
        self.value.is_finite().then_some(())
    }

    fn weighed(&self, column: &[f64]) -> Vec<f64> {
        column.iter().zip(&self.expected).map(|(value, expected)| value * expected).collect()
    }

    fn gradient(&self, cells: &Cells) -> Vec<f64> {
        self.columns.iter().map(|column| self.slope(column, cells)).collect()
    }

    /// The derivative of the likelihood along a column.
    fn slope(&self, column: &[f64], cells: &Cells) -> f64 {
        let left = cells.events.iter().zip(&self.expected).map(|(events, own)| events - own);
        column.iter().zip(left).map(|(value, left)| value * left).sum()
    }

    /// With one more term, climbed.
    fn with(&self, term: Term, column: Vec<f64>, cells: &Cells) -> Option<Self> {
        let mut next = self.clone();
        next.terms.push(term);
        next.columns.push(column);
        next.coefficients.push(0.0);
        next.climb(cells)?;
        Some(next)
    }

    /// With the term whose score statistic (Rao's) is largest.
    fn grown(&self, shape: &Shape, cells: &Cells) -> Option<Self> {
        let factor = self.information.cholesky()?;
        let mut best: Option<(f64, Term, Vec<f64>)> = None;
        for term in shape.candidates(&self.terms) {
            let column = shape.column(term, cells);
            let weighed = self.weighed(&column);
            let own = super::matrix::dot(&weighed, &column);
            let shared: Vec<f64> =
                self.columns.iter().map(|other| super::matrix::dot(&weighed, other)).collect();
            let left = own - super::matrix::dot(&shared, &factor.solve(&shared));
            // What the other terms explain of it leaves nothing to estimate.
            if left <= 1e-6 * own {
                continue;
            }
            let slope = self.slope(&column, cells);
            let statistic = slope * slope / left;
            if best.as_ref().is_none_or(|(highest, ..)| statistic > *highest) {
                best = Some((statistic, term, column));
            }
        }
        let (_, term, column) = best?;
        self.with(term, column, cells)
    }

    /// Without the term whose Wald statistic is smallest.
    fn shrunk(&self, cells: &Cells) -> Option<Self> {
        let covariance = self.information.cholesky()?.inverse();
        let statistic = |i: usize| self.coefficients[i].powi(2) / covariance.get(i, i);
        let least = (0..self.terms.len())
            .filter(|&i| removable(self.terms[i], &self.terms))
            .min_by(|&a, &b| statistic(a).total_cmp(&statistic(b)))?;
        let mut next = self.clone();
        next.terms.remove(least);
        next.columns.remove(least);
        next.coefficients.remove(least);
        next.climb(cells)?;
        Some(next)
    }
}
