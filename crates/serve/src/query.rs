//! Query strings.

/// A parameter's value, decoded; the first of several.
pub(crate) fn parameter(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut values = pairs.filter(|(key, _)| decoded(key) == name).map(|(_, value)| decoded(value));
    values.next()
}

/// The comma-separated list of a parameter, in lower case: providers ignore case there.
pub(crate) fn list(query: &str, name: &str) -> Vec<String> {
    let text = parameter(query, name).unwrap_or_default().to_ascii_lowercase();
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// The text with percent signs and plus signs decoded.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).filter(|_| first == b'%');
        let escaped = escaped.and_then(|two| str::from_utf8(two).ok());
        let byte = escaped.and_then(|two| u8::from_str_radix(two, 16).ok());
        rest = if byte.is_some() { &behind[2..] } else { behind };
        bytes.push(byte.unwrap_or(if first == b'+' { b' ' } else { first }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = "features=Tags%2CObjects,read&key=a%20b+c&empty=&%zz=1&threshold";
        assert_eq!(list(query, "features"), ["tags", "objects", "read"]);
        assert_eq!(parameter(query, "key").as_deref(), Some("a b c"));
        assert_eq!(parameter(query, "threshold").as_deref(), Some(""));
        assert_eq!(parameter(query, "%zz").as_deref(), Some("1"));
        assert_eq!(parameter(query, "none"), None);
        assert!(list(query, "empty").is_empty());
    }
}
