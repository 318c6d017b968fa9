//! Cells in quotation marks: where they end, and whether a table has them at all.

/// Where a quoted cell ends.
pub(super) enum Close {
    At(Vec<u8>, usize),
    Cut,
    Never,
    /// At a mark behind which the text goes on.
    Stray(usize),
}

/// Where a quoted cell ends.
pub(super) fn find_cell_end(bytes: &[u8], escape: Option<u8>, delimiter: u8, is_over: bool) -> Close {
    let mut text = Vec::new();
    let mut at = 1;
    loop {
        let found = match escape {
            Some(escape) => memchr::memchr2(b'"', escape, &bytes[at..]),
            None => memchr::memchr(b'"', &bytes[at..]),
        };
        let Some(length) = found else {
            return if is_over { Close::Never } else { Close::Cut };
        };
        text.extend_from_slice(&bytes[at..at + length]);
        at += length;
        let next = bytes.get(at + 1).copied();
        if bytes[at] != b'"' {
            let Some(next) = next else { return if is_over { Close::Never } else { Close::Cut } };
            if next != b'"' {
                text.push(bytes[at]);
            }
            text.push(next);
            at += 2;
            continue;
        }
        if next == Some(b'"') {
            text.push(b'"');
            at += 2;
            continue;
        }
        let blanks = bytes[at + 1..].iter().take_while(|byte| **byte == b' ').count();
        return match bytes.get(at + 1 + blanks) {
            None if !is_over => Close::Cut,
            None | Some(b'\n' | b'\r') => Close::At(text, at + 1 + blanks),
            Some(byte) if *byte == delimiter => Close::At(text, at + 1 + blanks),
            Some(_) => Close::Stray(at),
        };
    }
}

/// Whether a table between whose columns are tabs puts cells in quotation marks, and whether it surely does: many programs write such
/// tables without, and then a mark at the start of a cell is one of the text.
pub(super) fn quoting_of(head: &[u8], delimiter: u8, is_whole: bool) -> (bool, bool) {
    let (mut needed, mut plain, mut broken, mut at) = (0, 0, 0, 0);
    let names_are_quoted = head.first() == Some(&b'"');
    while at < head.len() {
        let mut passed = 0;
        if head[at] == b'"' {
            match find_cell_end(&head[at..], None, delimiter, is_whole) {
                Close::At(text, length) => {
                    let has = |bytes: &[u8]| bytes.iter().any(|byte| text.contains(byte));
                    match (has(b"\n\r"), has(&[delimiter])) {
                        // From one row's mark to another's.
                        (true, true) => broken += 1,
                        (false, false) if !has(b"\"") => (plain, passed) = (plain + 1, length),
                        _ => (needed, passed) = (needed + 1, length),
                    }
                }
                Close::Cut => break,
                Close::Never | Close::Stray(_) => broken += 1,
            }
        }
        at += passed;
        at += memchr::memchr3(delimiter, b'\n', b'\r', &head[at..])
            .map_or(head.len() - at, |length| length + 1);
    }
    match (broken, needed + plain) {
        (0, 0) => (true, false),
        (0, _) if needed > 0 || names_are_quoted => (true, true),
        (broken, _) if needed > broken => (true, true),
        _ => (false, false),
    }
}
