//! Lines of bytes, and values as JSON lines.

use serde::Serialize;

use super::LogError;

/// The lines that are not empty, without their line ends.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// Each line with its line end, which the last one may lack, and the offset of its first byte.
pub fn placed_lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    bytes.split_inclusive(|&byte| byte == b'\n').scan(0, |next, line| {
        let at = *next;
        *next += line.len() as u64;
        Some((at, line))
    })
}

/// Values as JSON lines, each with its line end.
///
/// # Errors
/// [`LogError::Unwritable`] if one is no JSON, such as a map whose keys are not texts.
pub fn to_lines<'v, T: Serialize + 'v>(values: impl IntoIterator<Item = &'v T>) -> Result<Vec<u8>, LogError> {
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, value).map_err(|source| LogError::Unwritable { source })?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Whether the end of a file without a newline is still a complete line: a closed object.
pub(super) fn is_whole(tail: &[u8]) -> bool {
    tail.ends_with(b"}") && serde_json::from_slice::<serde::de::IgnoredAny>(tail).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_object_is_whole_without_its_newline() {
        assert!(is_whole(b"{\"n\":1}"));
        for torn in [&b""[..], b"{\"n\":1", b"n\":1}", b"12", b"null"] {
            assert!(!is_whole(torn), "{}", String::from_utf8_lossy(torn));
        }
    }

    #[test]
    fn every_byte_is_in_one_line_at_its_place() {
        for text in ["", "\n", "a", "a\n", "\n\na\n", "a\n\nb"] {
            let placed: Vec<_> = placed_lines(text.as_bytes()).collect();
            let mut next = 0;
            for (at, line) in &placed {
                assert_eq!(*at, next, "{text:?}");
                next += line.len() as u64;
            }
            assert_eq!(next, text.len() as u64, "{text:?}");
            let filled: Vec<&[u8]> =
                text.as_bytes().split(|&b| b == b'\n').filter(|l| !l.is_empty()).collect();
            assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), filled, "{text:?}");
        }
        assert_eq!(to_lines(&[1, 2]).unwrap(), b"1\n2\n");
    }
}
