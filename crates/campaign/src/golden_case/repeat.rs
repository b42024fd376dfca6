//! Services may lose an answer, or answer the same image in another way.

use super::GoldenCase;
use crate::observation::Observation;
use faultlens_core::{Outcome, Reason, Response, TargetError};

/// How often a service is asked for an answer that gets lost and that other trials depend on.
const ATTEMPTS: usize = 3;

impl GoldenCase<'_> {
    /// Why changes of the scene cannot be judged: a service answers the undisturbed image otherwise
    /// when it is asked again. Models repeat their answers, so only services are asked.
    pub(super) fn is_unstable(&self) -> Result<Option<Reason>, TargetError> {
        if self.target.service().is_none() || !self.context.needs_stable_golden {
            return Ok(None);
        }
        match ask_repeatedly(|| self.target.second(&self.case.image)) {
            Err(error) if error.leaves_open() => Err(error),
            Err(_) => Ok(Some(Reason::NoResponse)),
            Ok(answer) => {
                let again = Observation::answered(Ok(Some(answer)));
                let changed = self.judge(&again) == Outcome::Changed;
                Ok(changed.then_some(Reason::GoldenUnstable))
            }
        }
    }
}

/// Asks for an answer that more than one trial depends on: one that gets lost is asked for again.
pub(super) fn ask_repeatedly(
    mut ask: impl FnMut() -> Result<Response, TargetError>,
) -> Result<Response, TargetError> {
    let mut answer = ask();
    for _ in 1..ATTEMPTS {
        match &answer {
            Err(TargetError::Lost(_) | TargetError::TimedOut(_) | TargetError::Unavailable(_)) => {
                answer = ask()
            }
            _ => break,
        }
    }
    answer
}
