//! What is refused before an experiment starts.

use crate::{Origin, Plan, RetrainError};

/// The most scenes, and the most trials of an object: beyond, a slip of the hand is likelier.
const MOST_SCENES: usize = 100_000;
const MOST_PER_OBJECT: u32 = 1000;
/// The most seeds.
const MOST_SEEDS: usize = 1000;

/// Says what is wrong before anything is made; recipes check the rest.
pub(crate) fn check(plan: &Plan) -> Result<(), RetrainError> {
    let scenes = plan.scenes.unwrap_or(2);
    let checks = [
        ("the number of seeds", plan.seeds, 1, MOST_SEEDS, "from 1 to 1000 are possible"),
        ("the number of scenes", scenes, 2, MOST_SCENES, "from 2 to 100000 are possible"),
        (
            "the number of epochs between measurements",
            plan.every,
            1,
            plan.epochs,
            "it must be from 1 up to the number of epochs",
        ),
        (
            "the number of trials per object",
            plan.per_object as usize,
            1,
            MOST_PER_OBJECT as usize,
            "from 1 to 1000 are possible",
        ),
    ];
    for (what, given, least, most, why) in checks {
        if !(least..=most).contains(&given) {
            return Err(RetrainError::Plan { what, given: given.to_string(), why });
        }
    }
    match plan.origin {
        Origin::World { held_out, .. } if !(1..=MOST_SCENES).contains(&held_out) => {
            let what = "the number of held-out scenes";
            let why = "from 1 to 100000 are possible";
            Err(RetrainError::Plan { what, given: held_out.to_string(), why })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_said_first() {
        let plain = Plan::new(Origin::world());
        assert!(check(&plain).is_ok());
        assert_eq!(Plan { seed: u64::MAX, seeds: 2, ..plain.clone() }.all_seeds().last(), Some(0));
        let few = Origin::World { architecture: String::new(), first_epochs: 1, held_out: 0 };
        for (plan, wanted) in [
            (Plan { seeds: 0, ..plain.clone() }, "seeds cannot be 0"),
            (Plan { scenes: Some(1), ..plain.clone() }, "scenes cannot be 1: from 2"),
            (Plan { every: 6, ..plain.clone() }, "cannot be 6: it must be from 1 up to"),
            (Plan { epochs: 0, ..plain.clone() }, "cannot be 1"),
            (Plan { per_object: 0, ..plain.clone() }, "per object cannot be 0"),
            (Plan { origin: few, ..plain }, "held-out scenes cannot be 0"),
        ] {
            let error = check(&plan).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
