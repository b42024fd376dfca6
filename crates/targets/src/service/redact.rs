//! What comes from outside is cleaned before anybody sees or files it.

use super::credential::Signed;

/// Characters of a server's text that are repeated to the user.
const MOST_TEXT: usize = 200;

/// Parts of credentials that are shorter are words that may be in any answer.
const LEAST_SECRET: usize = 12;

/// What stands where a secret stood.
const DOTS: &str = "…";

/// A server's words for an error: short, on one line.
pub(super) fn tame(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut words: String = text.chars().map(plain).take(MOST_TEXT + 1).collect();
    if words.chars().count() > MOST_TEXT {
        words = words.chars().take(MOST_TEXT - 1).collect();
        words.push('…');
    }
    words.trim().to_owned()
}

/// The secrets of one request: a server that sends them back must not get them filed or shown.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(signed: &Signed) -> Self {
        let texts = signed.headers.iter().map(|(_, secret)| secret).chain(&signed.query);
        let mut parts: Vec<String> = Vec::new();
        for text in texts {
            let text = text.reveal();
            parts.push(text.to_owned());
            let cuts = [' ', ',', ';', '=', '/', '&', '"'];
            parts.extend(text.split(cuts).map(str::to_owned));
        }
        parts.retain(|part| part.len() >= LEAST_SECRET);
        // Longest first, so that no part of a secret hides the rest of it.
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        parts.dedup();
        Self(parts)
    }

    /// The text with dots for secrets, tamed.
    pub(super) fn text(&self, text: &str) -> String {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), DOTS);
        tame(&self.0.iter().fold(text.to_owned(), hide))
    }

    /// Bytes with dots for secrets.
    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.0.iter().fold(bytes, |bytes, secret| hide(bytes, secret.as_bytes()))
    }
}

fn hide(bytes: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    let starts = |at: usize| bytes[at..].starts_with(secret);
    let Some(mut at) = (0..bytes.len()).find(|&at| starts(at)) else { return bytes };
    let mut hidden = bytes[..at].to_vec();
    while at < bytes.len() {
        if starts(at) {
            hidden.extend_from_slice(DOTS.as_bytes());
            at += secret.len();
        } else {
            hidden.push(bytes[at]);
            at += 1;
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::credential::Secret;

    #[test]
    fn words_of_a_server_are_short_and_plain() {
        assert_eq!(tame("a\nb\u{1b}[31m\t "), "a b [31m");
        let long = tame(&"ü".repeat(5000));
        assert_eq!(long.chars().count(), 200);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn secrets_and_their_parts_are_hidden_wherever_they_come_back() {
        let signature = "AWS4-HMAC Credential=AKIDEXAMPLEKEY/2026, Signature=5d672d79c15b13162d";
        let headers = vec![("authorization".to_owned(), Secret::new(signature))];
        let signed = Signed { headers, query: Some(Secret::new("key=longenoughkey&a=b")) };
        let secrets = Secrets::of(&signed);
        let text = format!("no {signature}, nor longenoughkey or 5d672d79c15b13162d; a=b stays");
        let hidden = secrets.text(&text);
        assert_eq!(hidden, "no …, nor … or …; a=b stays");
        assert_eq!(secrets.bytes(text.into_bytes()), hidden.as_bytes());
        let cut = [&b"\xff AKIDEXAMPLEKEY"[..], b"AKIDEXAMPLEKE"].concat();
        let wanted = [&b"\xff "[..], "…AKIDEXAMPLEKE".as_bytes()].concat();
        assert_eq!(secrets.bytes(cut), wanted);
    }
}
