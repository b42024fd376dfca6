//! The taxonomy of Rekognition's moderation labels: a label counts if one of its ancestors does.

/// First-level labels of taxonomy 7 and later with their second-level ones. A response names only
/// the direct parent of a label, so that the first level of a third-level label is looked up here.
const FIRST_LEVEL: &[(&str, &[&str])] = &[
    ("explicit", &["explicit nudity", "explicit sexual activity", "sex toys"]),
    (
        "non-explicit nudity of intimate parts and kissing",
        &["non-explicit nudity", "obstructed intimate parts", "kissing on the lips"],
    ),
    ("swimwear or underwear", &["female swimwear or underwear", "male swimwear or underwear"]),
    ("violence", &["weapons", "graphic violence"]),
    ("visually disturbing", &["death and emaciation", "crashes"]),
    ("drugs & tobacco", &["products", "drugs & tobacco paraphernalia & use"]),
    ("alcohol", &["alcohol use", "alcoholic beverages"]),
    ("rude gestures", &["middle finger"]),
    ("hate symbols", &["nazi party", "white supremacy", "extremist"]),
];

/// First-level names of taxonomies before 7, and the labels that carry their meaning since.
const RENAMED: &[(&str, &[&str])] = &[
    ("explicit nudity", &["explicit"]),
    ("suggestive", &["non-explicit nudity of intimate parts and kissing", "swimwear or underwear"]),
    ("drugs", &["drugs & tobacco"]),
    ("tobacco", &["drugs & tobacco"]),
];

/// The names under which a label counts: its own, its parent's and its first level's, and their
/// names in older taxonomies; in lower case.
pub(super) fn label_and_ancestors(name: &str, parent: &str) -> Vec<String> {
    let mut names = vec![name.to_lowercase(), parent.to_lowercase()];
    if let Some(first_level) = names.iter().find_map(|name| first_level_of(name)) {
        names.push(first_level.to_owned());
    }
    let mut old_names = Vec::new();
    for (old, new) in RENAMED {
        if names.iter().any(|name| new.contains(&name.as_str())) {
            old_names.push((*old).to_owned());
        }
    }
    names.extend(old_names);
    names.retain(|name| !name.is_empty());
    names
}

fn first_level_of(second_level: &str) -> Option<&'static str> {
    let (first, _) = FIRST_LEVEL.iter().find(|(_, below)| below.contains(&second_level))?;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_every_level_and_taxonomy_count() {
        for (name, parent, under) in [
            ("Violence", "", "violence"),
            ("Weapons", "Violence", "violence"),
            ("Weapon Violence", "Graphic Violence", "violence"),
            ("Air Crash", "Crashes", "visually disturbing"),
            ("Corpses", "Visually Disturbing", "visually disturbing"),
            ("Exposed Female Nipple", "Explicit Nudity", "explicit nudity"),
            ("Explicit", "", "explicit nudity"),
            ("Bare Back", "Non-Explicit Nudity", "suggestive"),
            ("Pills", "Products", "drugs"),
        ] {
            assert!(
                label_and_ancestors(name, parent).iter().any(|n| n == under),
                "{name} {parent}"
            );
        }
        assert!(!label_and_ancestors("Kissing on the Lips", "").contains(&"violence".to_owned()));
    }
}
