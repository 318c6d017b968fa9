//! The proof that a file holds what was written, with its chain and its head.

use std::path::Path;

use super::LogError;
use super::chain::Walk;
use super::heads::Head;
use super::lines::is_whole;

/// A file's verified lines.
pub(super) struct Proved {
    /// The complete lines as they were passed in, each with its line end.
    pub(super) lines: Vec<u8>,
    pub(super) walk: Walk,
    /// Offset of the end of the last complete line among the given bytes.
    pub(super) end: u64,
    /// Whether that line lacks its newline.
    pub(super) unended: bool,
}

/// Verifies the bytes of a file after its first `skip`, which `walk` covers.
pub(super) fn prove(
    path: &Path,
    bytes: &[u8],
    skip: u64,
    walk: Walk,
    head: Option<&Head>,
) -> Result<Proved, LogError> {
    let mut proved = Proved { lines: Vec::with_capacity(bytes.len()), walk, end: 0, unended: false };
    // The head of a file without lines states zero bytes, where no line ends.
    let mut reached = head.is_none_or(|head| head.bytes <= skip);
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let line = match line.strip_suffix(b"\n") {
            Some(line) => line,
            // The write was cut right before the newline: nothing of the line is missing.
            None if is_whole(line) => {
                proved.unended = true;
                line
            }
            // A torn line was never reported as stored, so it may be ignored.
            None => break,
        };
        let bare = proved.walk.step(line).map_err(|what| {
            let after = if skip > 0 { format!(" after byte {skip}") } else { String::new() };
            LogError::damaged(path, format!("line {}{after}: {what}", at + 1))
        })?;
        if !bare.is_empty() {
            proved.lines.extend_from_slice(&bare);
            proved.lines.push(b'\n');
        }
        proved.end += line.len() as u64 + u64::from(!proved.unended);
        // A head includes the newline that is still missing.
        let end = skip + proved.end + u64::from(proved.unended);
        if let Some(head) = head.filter(|head| head.bytes == end) {
            if head.at != proved.walk.chain {
                let what = format!("its first {end} bytes are not those that were written");
                return Err(LogError::damaged(path, what));
            }
            reached = true;
        }
    }
    match head.filter(|_| !reached) {
        None => Ok(proved),
        Some(head) => {
            let what = format!("it was cut: {} of at least {} bytes are left", bytes.len(), head.bytes);
            Err(LogError::damaged(path, what))
        }
    }
}
