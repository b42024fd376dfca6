//! Which choice is right for which picture: classes of a data set become two choices.

use crate::error::StudyError;
use faultlens_core::did_you_mean;
use std::collections::BTreeMap;

/// By class of the data set, the choice that is right for it; `None` where it is neither.
///
/// A choice is a group of classes, or the class of its name; one of the two may be neither, and
/// then it is all the other classes ("not car").
pub(super) fn right(
    choices: &[String; 2],
    groups: &BTreeMap<String, Vec<String>>,
    classes: &[String],
) -> Result<Vec<Option<usize>>, StudyError> {
    let asked = |what: String| Err(StudyError::Request(what));
    if let Some(name) = groups.keys().find(|name| !choices.contains(name)) {
        let [left, right] = choices;
        return asked(format!("the group {name:?} is none of the choices {left:?} and {right:?}"));
    }
    let mut right = vec![None; classes.len()];
    let mut rest = None;
    for (number, choice) in choices.iter().enumerate() {
        let Some(names) = groups
            .get(choice)
            .cloned()
            .or_else(|| classes.contains(choice).then(|| vec![choice.clone()]))
        else {
            if rest.replace(number).is_some() {
                return asked(neither(choices, classes));
            }
            continue;
        };
        for name in &names {
            let Some(class) = classes.iter().position(|class| class == name) else {
                return asked(unknown(name, classes));
            };
            if right[class].replace(number).is_some_and(|other| other != number) {
                return asked(format!("{name:?} belongs to both choices; leave it out of one"));
            }
        }
    }
    if let Some(rest) = rest {
        right.iter_mut().for_each(|class| *class = class.or(Some(rest)));
    }
    Ok(right)
}

fn neither(choices: &[String; 2], classes: &[String]) -> String {
    let [left, right] = choices;
    format!(
        "neither {left:?} nor {right:?} is a class of the data set; say what one of them is made \
         of: --group {left}=CLASS,… with classes of {}",
        some(classes)
    )
}

fn unknown(name: &str, classes: &[String]) -> String {
    let near = did_you_mean(name, classes.iter().map(String::as_str));
    let hint = near.map(|near| format!("; did you mean {near:?}?"));
    format!(
        "the data set has no class {name:?}{}",
        hint.unwrap_or_else(|| format!("; it has {}", some(classes)))
    )
}

/// The first classes, to remind of what there are.
fn some(classes: &[String]) -> String {
    let more = if classes.len() > 12 { ", …" } else { "" };
    let first: Vec<&str> = classes.iter().take(12).map(String::as_str).collect();
    format!("{}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(choices: [&str; 2], groups: &[(&str, &[&str])]) -> Result<Vec<Option<usize>>, String> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let groups = groups.iter().map(|(name, of)| ((*name).to_owned(), owned(of))).collect();
        let classes = owned(&["automobile", "truck", "bird", "cat"]);
        right(&choices.map(str::to_owned), &groups, &classes).map_err(|error| error.to_string())
    }

    #[test]
    fn classes_become_choices() {
        let a = Some(0);
        let b = Some(1);
        let cars: (&str, &[&str]) = ("car", &["automobile", "truck"]);
        assert_eq!(asked(["car", "not car"], &[cars]), Ok(vec![a, a, b, b]));
        assert_eq!(asked(["cat", "bird"], &[]), Ok(vec![None, None, b, a]));
        assert_eq!(asked(["bird", "other"], &[]), Ok(vec![b, b, a, b]));
        assert_eq!(asked(["other", "bird"], &[]), Ok(vec![a, a, b, a]));
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        let wrong = |choices, groups: &[(&str, &[&str])]| asked(choices, groups).unwrap_err();
        let near = wrong(["car", "not car"], &[("car", &["autmobile"])]);
        assert!(near.contains("did you mean \"automobile\"?"), "{near}");
        let far = wrong(["car", "not car"], &[("car", &["zeppelin"])]);
        assert!(far.contains("it has automobile, truck"), "{far}");
        assert!(wrong(["car", "not car"], &[]).contains("--group car="));
        assert!(wrong(["car", "x"], &[("bus", &["truck"])]).contains("none of the choices"));
        let both = wrong(["car", "cat"], &[("car", &["cat", "truck"])]);
        assert!(both.contains("belongs to both"), "{both}");
    }
}
