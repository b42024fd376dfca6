use super::matrix::{Square, dot};

/// A log-likelihood and its derivatives at one point; the derivatives are empty where only the
/// value was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Slope {
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
    pub(crate) hessian: Square,
}

/// Where the climb ended.
#[derive(Debug, Clone)]
pub(crate) struct Peak {
    pub(crate) at: Vec<f64>,
    pub(crate) value: f64,
    /// The negative second derivatives: the observed information.
    pub(crate) information: Square,
}

/// Why the search found no maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The value rises without end along this coefficient.
    Endless(usize),
    /// Anything else: no finite value, no step that gains, too many steps.
    Stuck,
}

impl Lost {
    /// Blames the coefficient that went furthest, if it is further out than data could put it. The
    /// first one is the location, which follows the others.
    fn at(at: &[f64]) -> Self {
        let far = (0..at.len()).filter(|&i| at[i].abs() > FAR);
        let others =
            far.clone().filter(|&i| i > 0).max_by(|&a, &b| at[a].abs().total_cmp(&at[b].abs()));
        others.or(far.max()).map_or(Self::Stuck, Self::Endless)
    }
}

/// A standard deviation of e⁻¹⁰ in ln t, or a factor of e¹⁰ per standard deviation.
const FAR: f64 = 10.0;
/// No coefficient lies further out, in standardised units; one that does will not come back.
const FARTHEST: f64 = 50.0;
const STEPS: usize = 200;
/// No coefficient moves further in one step; all are in standardised units.
const LONGEST_STEP: f64 = 3.0;
/// A step that promises less is the last. It is some 1e-5 standard errors long: where it leads, the
/// next one would gain its square, and the information is the same to more digits than are shown.
const GAIN: f64 = 1e-10;

/// Climbs to the maximum by Newton's method. Where the function is not concave, a ridge bends the
/// step towards the gradient; every step is shortened until it gains, so the value never falls.
///
/// # Errors
/// [`Lost`] when no maximum was reached.
pub(crate) fn maximise(
    start: Vec<f64>,
    evaluate: impl Fn(&[f64], bool) -> Slope,
) -> Result<Peak, Lost> {
    let mut at = start;
    let mut here = evaluate(&at, true);
    for _ in 0..STEPS {
        if !here.value.is_finite() || here.gradient.iter().any(|g| !g.is_finite()) {
            return Err(Lost::Stuck);
        }
        if at.iter().any(|v| v.abs() > FARTHEST) {
            return Err(Lost::at(&at));
        }
        // Newton's step solves information · step = gradient.
        let information = here.hessian.negated();
        let (step, bent) = uphill(&information, &here.gradient).ok_or_else(|| Lost::at(&at))?;
        // Half the Newton decrement: what a quadratic model says the step gains.
        let gain = dot(&step, &here.gradient) / 2.0;
        if gain < GAIN && !bent {
            let at = at.iter().zip(&step).map(|(a, s)| a + s).collect();
            return Ok(Peak { at, value: here.value + gain, information });
        }
        match walk(&at, &step, here.value, gain, &evaluate) {
            Some((next, slope)) => (at, here) = (next, slope),
            // Below the rounding of the value itself no step can be seen to gain.
            None if gain < 1e-9 * (1.0 + here.value.abs()) => {
                return Ok(Peak { at, value: here.value, information });
            }
            None => return Err(Lost::at(&at)),
        }
    }
    Err(Lost::at(&at))
}

/// The Newton step, and whether a ridge was needed to make it lead uphill.
fn uphill(information: &Square, gradient: &[f64]) -> Option<(Vec<f64>, bool)> {
    if let Some(factor) = information.cholesky() {
        return Some((factor.solve(gradient), false));
    }
    // Levenberg and Marquardt: a ridge on the diagonal, raised until the matrix is positive definite.
    let largest = information.at.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut ridge = 1e-6;
    while ridge < 1e9 {
        let mut bent = information.clone();
        for i in 0..bent.n {
            let own = bent.get(i, i).abs().max(1e-6 * largest);
            bent.add(i, i, ridge * own);
        }
        if let Some(factor) = bent.cholesky() {
            return Some((factor.solve(gradient), true));
        }
        ridge *= 10.0;
    }
    None
}

/// The first of ever shorter steps that gains, with the slope there; `None` if none does.
fn walk(
    at: &[f64],
    step: &[f64],
    value: f64,
    gain: f64,
    evaluate: &impl Fn(&[f64], bool) -> Slope,
) -> Option<(Vec<f64>, Slope)> {
    let longest = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
    let mut share = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
    // At the top a full step moves the value by less than its rounding error.
    let rounding = 1e-13 * (1.0 + value.abs());
    for attempt in 0..50 {
        let next: Vec<f64> = at.iter().zip(step).map(|(a, s)| a + share * s).collect();
        // The first attempt mostly holds, so its derivatives are taken at once.
        let slope = evaluate(&next, attempt == 0);
        // Armijo's condition for sufficient gain.
        if slope.value >= value + 1e-4 * share * gain - rounding {
            let slope = if attempt == 0 { slope } else { evaluate(&next, true) };
            return Some((next, slope));
        }
        share /= 2.0;
    }
    None
}
