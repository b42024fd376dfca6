//! What Rekognition's moderation labels stand under: a label counts if what it stands under does.

/// Labels of the third level of taxonomy 7 and later, under those of the first; an answer names
/// only the level above.
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

/// First-level names of taxonomies before 7, and what carries their meaning since.
const RENAMED: &[(&str, &[&str])] = &[
    ("explicit nudity", &["explicit"]),
    ("suggestive", &["non-explicit nudity of intimate parts and kissing", "swimwear or underwear"]),
    ("drugs", &["drugs & tobacco"]),
    ("tobacco", &["drugs & tobacco"]),
];

/// The names under which a label counts: its own, its parent's, and what that stands under;
/// in small letters.
pub(super) fn stands_under(name: &str, parent: &str) -> Vec<String> {
    let mut names = vec![name.to_lowercase(), parent.to_lowercase()];
    let above = |name: &String| {
        let found = FIRST_LEVEL.iter().find(|(_, below)| below.contains(&name.as_str()));
        found.map(|(above, _)| (*above).to_owned())
    };
    names.extend(names.iter().find_map(above));
    let old: Vec<String> = RENAMED
        .iter()
        .filter(|(_, new)| new.iter().any(|new| names.iter().any(|name| name == new)))
        .map(|(old, _)| (*old).to_owned())
        .collect();
    names.extend(old);
    names.retain(|name| !name.is_empty());
    names
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
            assert!(stands_under(name, parent).iter().any(|n| n == under), "{name} {parent}");
        }
        assert!(!stands_under("Kissing on the Lips", "").contains(&"violence".to_owned()));
    }
}
