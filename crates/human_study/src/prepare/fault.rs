//! Faults by name, with strengths from weak to strong.

use crate::error::StudyError;
use faultlens_core::did_you_mean;
use faultlens_faults::image;
use faultlens_spec::Varied;

/// The fault of that name; an error where it has no strengths that could be spread over visual
/// change.
pub fn fault(name: &str) -> Result<Varied, StudyError> {
    Varied::whole(name).ok_or_else(|| {
        if image::facts(name).is_some() {
            return StudyError::Request(format!(
                "{name} has no strengths from weak to strong; take another fault"
            ));
        }
        let drawn = image::all_facts().filter(|facts| facts.domain.is_some());
        let known = drawn.map(|facts| facts.name);
        let hint = did_you_mean(name, known.clone()).map_or_else(
            || format!("; there are {}", known.collect::<Vec<_>>().join(", ")),
            |near| format!("; did you mean {near:?}?"),
        );
        StudyError::Request(format!("no fault is called {name:?}{hint}"))
    })
}
