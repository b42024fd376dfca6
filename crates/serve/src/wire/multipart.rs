//! Files in forms, as browsers and `curl -F` send them.

/// The bytes of a form's field; of its first field where no name is asked for. Nothing where the
/// form has no such field, or is none.
pub(super) fn file<'a>(content_type: &str, body: &'a [u8], name: Option<&str>) -> Option<&'a [u8]> {
    let boundary = attribute(content_type, "boundary")?;
    let first = format!("--{boundary}");
    let next = format!("\r\n--{boundary}");
    let mut rest = &body[find(body, first.as_bytes())? + first.len()..];
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let end = find(part, next.as_bytes())?;
        let (head, bytes) = split(&part[..end])?;
        let field = head.lines().find_map(disposition).and_then(|line| attribute(line, "name"));
        if name.is_none() || field.as_deref() == name {
            return Some(bytes);
        }
        rest = &part[end + next.len()..];
    }
    None
}

/// Headers and content.
fn split(part: &[u8]) -> Option<(&str, &[u8])> {
    let end = find(part, b"\r\n\r\n")?;
    Some((str::from_utf8(&part[..end]).ok()?, &part[end + 4..]))
}

fn disposition(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-disposition").then_some(value)
}

/// The value of an attribute behind a semicolon, without quotes.
fn attribute(line: &str, name: &str) -> Option<String> {
    line.split(';').skip(1).find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        let value = value.trim_matches('"');
        (key.eq_ignore_ascii_case(name) && !value.is_empty()).then(|| value.to_owned())
    })
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|&byte| byte == first) {
        if bytes[from + at..].starts_with(what) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"xyz\"";

    fn form() -> Vec<u8> {
        let mut body = b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none".to_vec();
        body.extend(
            b"\r\n--xyz\r\ncontent-disposition: form-data; filename=\"f.png\"; name=image\r\n",
        );
        body.extend(b"Content-Type: image/png\r\n\r\n\x89PNG\r\n--xy\0\xff\r\n--xyz--\r\n");
        body
    }

    #[test]
    fn fields_are_found_by_name() {
        assert_eq!(file(TYPE, &form(), Some("a")), Some(&b"one"[..]));
        assert_eq!(file(TYPE, &form(), Some("image")), Some(&b"\x89PNG\r\n--xy\0\xff"[..]));
        assert_eq!(file(TYPE, &form(), None), Some(&b"one"[..]));
        assert_eq!(file(TYPE, &form(), Some("b")), None);
    }

    #[test]
    fn forms_that_end_early_are_none() {
        let form = form();
        for length in 0..form.len() - 6 {
            assert_eq!(file(TYPE, &form[..length], Some("image")), None, "{length}");
        }
        assert_eq!(file("multipart/form-data", &form, None), None);
        assert_eq!(file("multipart/form-data; boundary=", &form, None), None);
    }
}
