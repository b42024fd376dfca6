//! Doc comments as data: what a fault's documentation says is written once, and registries, lists
//! and pages quote it.

/// Declares a type whose doc comment is also its constant `DOC`, in one line.
///
/// The comment has two sections: `# What it does`, whose first sentence is the entry's `about`, and
/// `# When it happens` (`# When to use it` for attacks and defences).
macro_rules! described {
    ($(#[doc = $doc:literal])+ $visibility:vis $keyword:ident $name:ident $($rest:tt)*) => {
        $(#[doc = $doc])+
        $visibility $keyword $name $($rest)*

        impl $name {
            /// The doc comment of the type.
            const DOC: &'static str = concat!($($doc),+);
        }
    };
}
pub(crate) use described;

/// The section that says what a fault does.
pub(crate) const fn what(doc: &'static str) -> &'static str {
    match section(doc, "# What it does ") {
        Some(text) => text,
        None => panic!("a description has the section `# What it does`"),
    }
}

/// The first sentence of [`what`], without its full stop.
pub(crate) const fn about(doc: &'static str) -> &'static str {
    let what = what(doc);
    let bytes = what.as_bytes();
    let mut at = 0;
    while at + 2 < bytes.len() {
        // A year follows the full stop of "et al. 2020".
        if bytes[at] == b'.' && bytes[at + 1] == b' ' && !bytes[at + 2].is_ascii_digit() {
            return what.split_at(at).0;
        }
        at += 1;
    }
    without_full_stop(what)
}

/// The section that says when a fault happens or when to use something, without its last full stop.
pub(crate) const fn when(doc: &'static str) -> &'static str {
    match (section(doc, "# When it happens "), section(doc, "# When to use it ")) {
        (Some(text), None) | (None, Some(text)) => without_full_stop(text),
        _ => panic!("a description has the section `# When it happens` or `# When to use it`"),
    }
}

/// The text from behind a heading to the next heading.
const fn section(doc: &'static str, heading: &str) -> Option<&'static str> {
    let Some(start) = find(doc, heading) else { return None };
    let text = doc.split_at(start + heading.len()).1;
    match find(text, " # ") {
        Some(end) => Some(text.split_at(end).0),
        None => Some(text),
    }
}

const fn without_full_stop(text: &'static str) -> &'static str {
    match text.as_bytes() {
        [.., b'.'] => text.split_at(text.len() - 1).0,
        _ => text,
    }
}

/// The first place of a pattern in a text: `str::find` for constants.
const fn find(text: &str, pattern: &str) -> Option<usize> {
    let text = text.as_bytes();
    let pattern = pattern.as_bytes();
    let mut start = 0;
    while start + pattern.len() <= text.len() {
        let mut matched = 0;
        while matched < pattern.len() && text[start + matched] == pattern[matched] {
            matched += 1;
        }
        if matched == pattern.len() {
            return Some(start);
        }
        start += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    described! {
        /// # What it does
        /// Turns lamps off. The rest
        /// stays on.
        /// # When to use it
        /// At night.
        /// # Example
        /// None.
        struct Dark;
    }

    #[test]
    fn sections_are_those_of_the_comment() {
        assert_eq!(what(Dark::DOC), "Turns lamps off. The rest stays on.");
        assert_eq!(about(Dark::DOC), "Turns lamps off");
        assert_eq!(when(Dark::DOC), "At night");
        assert_eq!(about(" # What it does One sentence."), "One sentence");
        let cited = " # What it does Turns (Doe et al. 2020). Stops.";
        assert_eq!(about(cited), "Turns (Doe et al. 2020)");
    }
}
