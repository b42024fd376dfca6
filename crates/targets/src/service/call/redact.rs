//! Text from outside is cleaned before anybody sees or stores it.

use super::super::credential::Signed;

/// Characters of a server's message that are repeated to the user.
const MAX_TEXT: usize = 200;

/// Shorter parts of credentials are words that may be in any response.
const MIN_SECRET: usize = 12;

/// Stands where a secret stood.
const DOTS: &str = "…";

/// A server's message on one line, without control characters, cut to a bearable length.
pub(super) fn sanitize(text: &str) -> String {
    let mut line = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == MAX_TEXT {
            line.pop();
            line.push('…');
            break;
        }
        line.push(if letter.is_control() { ' ' } else { letter });
    }
    line.trim().to_owned()
}

/// The secrets of one request: a server that echoes them must not get them stored or shown.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The headers and the query that a credential added, and their parts.
    pub(super) fn of(signed: &Signed) -> Self {
        let texts = signed.headers.iter().map(|(_, secret)| secret).chain(&signed.query);
        let mut parts: Vec<String> = Vec::new();
        for text in texts {
            let text = text.reveal();
            parts.push(text.to_owned());
            let separators = [' ', ',', ';', '=', '/', '&', '"'];
            parts.extend(text.split(separators).map(str::to_owned));
        }
        parts.retain(|part| part.len() >= MIN_SECRET);
        // Longest first, so that replacing a part does not leave the rest of the whole behind.
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        parts.dedup();
        Self(parts)
    }

    /// The text with dots for secrets, sanitized.
    pub(super) fn redact_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(secret.as_str(), DOTS);
        }
        sanitize(&text)
    }

    /// Bytes with dots for secrets.
    pub(super) fn redact_bytes(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for secret in &self.0 {
            bytes = replace(bytes, secret.as_bytes());
        }
        bytes
    }
}

fn replace(bytes: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    // Responses nearly never echo a secret, so look before copying.
    let Some(first) = bytes.windows(secret.len()).position(|window| window == secret) else {
        return bytes;
    };
    let mut redacted = bytes[..first].to_vec();
    let mut at = first;
    while at < bytes.len() {
        if bytes[at..].starts_with(secret) {
            redacted.extend_from_slice(DOTS.as_bytes());
            at += secret.len();
        } else {
            redacted.push(bytes[at]);
            at += 1;
        }
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::super::super::credential::Secret;
    use super::*;

    #[test]
    fn messages_of_a_server_are_short_and_plain() {
        assert_eq!(sanitize("a\nb\u{1b}[31m\t "), "a b [31m");
        assert_eq!(sanitize(&"ü".repeat(200)), "ü".repeat(200));
        let long = sanitize(&"ü".repeat(5000));
        assert_eq!(long.chars().count(), 200);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn secrets_and_their_parts_are_redacted_wherever_they_come_back() {
        let signature = "AWS4-HMAC Credential=AKIDEXAMPLEKEY/2026, Signature=5d672d79c15b13162d";
        let headers = vec![("authorization".to_owned(), Secret::new(signature))];
        let signed = Signed { headers, query: Some(Secret::new("key=longenoughkey&a=b")) };
        let secrets = Secrets::of(&signed);
        let text = format!("no {signature}, nor longenoughkey or 5d672d79c15b13162d; a=b stays");
        let redacted = secrets.redact_text(&text);
        assert_eq!(redacted, "no …, nor … or …; a=b stays");
        assert_eq!(secrets.redact_bytes(text.into_bytes()), redacted.as_bytes());
        let cut = [&b"\xff AKIDEXAMPLEKEY"[..], b"AKIDEXAMPLEKE"].concat();
        let wanted = [&b"\xff "[..], "…AKIDEXAMPLEKE".as_bytes()].concat();
        assert_eq!(secrets.redact_bytes(cut), wanted);
    }
}
