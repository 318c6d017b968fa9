//! Settings as text: UTF-8 alone, with what mends others.

/// Why settings are no text, and what mends it.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotUtf8 {
    #[error(
        "it is in {0}, not in UTF-8\n  hint: save it as UTF-8, which editors offer under \"Save as\" or \"Encoding\""
    )]
    Wide(&'static str),
    #[error(
        "not UTF-8 at byte {0}\n  hint: save it as UTF-8, which editors offer under \"Save as\" or \"Encoding\""
    )]
    Byte(usize),
}

/// The settings as text.
pub(super) fn decode_utf8(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    // Its mark begins as that of UTF-16 does; without one, three of four bytes of Latin letters are zeros.
    let is_quarters = |place: usize| {
        let head = &bytes[..bytes.len().min(64)];
        head.len() >= 4 && head.chunks_exact(4).all(|unit| (0..4).all(|at| (unit[at] != 0) == (at == place)))
    };
    let is_marked = bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff");
    if is_marked || is_quarters(0) || is_quarters(3) {
        return Err(NotUtf8::Wide("UTF-32"));
    }
    // Without a mark its Latin letters and zeros would pass for UTF-8.
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0) {
        return Err(NotUtf8::Wide("UTF-16"));
    }
    String::from_utf8(bytes).map_err(|e| NotUtf8::Byte(e.utf8_error().valid_up_to()))
}
