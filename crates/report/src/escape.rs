//! Text from outside, made harmless for where it goes. Renderers call it for every text.

/// What stands for a character that would do something instead of being shown.
const SHOWN: char = '\u{fffd}';

/// Whether a character moves, hides or reorders text instead of being shown.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// The text in one line with only characters that are shown: nothing moves a terminal's cursor,
/// and no text runs backwards. For whoever prints names from outside without a report.
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\r' | '\t' => ' ',
            other if acts(other) => SHOWN,
            other => other,
        })
        .collect()
}

/// The text for an element or a quoted attribute of XML; what XML cannot hold is left out.
pub(crate) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            other if acts(other) => {}
            other => out.push(other),
        }
    }
    out
}

/// The text for a line or table cell of Markdown, where it must not start markup, mention anybody
/// or link to an issue.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in plain(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => {
                out.push('\\');
                out.push(character);
            }
            // A backslash stops no mention; a space without width does.
            '@' | '#' => {
                out.push(character);
                out.push('\u{200b}');
            }
            other => out.push(other),
        }
    }
    out
}

/// How many columns a character takes in a fixed-width font, nearly.
fn columns_of(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f000}'..='\u{3ffff}' => 2,
        _ => 1,
    }
}

/// How many columns a text takes in a fixed-width font, nearly.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text in at most so many columns. The middle goes, because names of operators and files
/// tell most at their end, and where they belong at their start.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.into();
    }
    let room = most.saturating_sub(1);
    let head = take(text.chars(), room / 3);
    let tail: Vec<char> = take(text.chars().rev(), room - room / 3).chars().collect();
    format!("{head}…{}", tail.into_iter().rev().collect::<String>())
}

/// As many characters as fit in so many columns.
fn take(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|&character| {
            used += columns_of(character);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_acts() {
        assert_eq!(plain("a\x1b[31mb\nc\u{202e}d\u{9b}"), "a\u{fffd}[31mb c\u{fffd}d\u{fffd}");
        assert_eq!(xml("<a b='\"&\x00\x1b'>\u{ffff}"), "&lt;a b=&#39;&quot;&amp;&#39;&gt;");
        assert_eq!(markdown("a|b`c`<i>\n@x #1 $y$"), {
            "a\\|b\\`c\\`&lt;i&gt; @\u{200b}x #\u{200b}1 \\$y\\$"
        });
        assert_eq!(plain("schön 日本 🚦"), "schön 日本 🚦");
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(shorten("/layer1/conv1/Conv", 18), "/layer1/conv1/Conv");
        assert_eq!(shorten("/layer1/conv1/Conv", 9), "/l…1/Conv");
        assert_eq!(shorten("日本日本日本", 8), "日…日本");
        for most in 1..20 {
            assert!(columns(&shorten("🚦 a traffic light 🚦🚦", most)) <= most);
        }
    }
}
