//! The values of lines: what is damaged is set aside and described, what only a newer program knows stops the
//! reader, so that nothing is decided or added without it.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::frames::filled_lines;
use super::{LineError, LogError};

/// The values of a file's lines, in order. `damaged` gets a line for each that is set aside: the file, `noun`, its
/// number from 1, and why.
///
/// # Errors
/// [`LogError::Newer`] if only a newer program knows what a line says.
pub fn read_values<T: DeserializeOwned>(
    path: &Path,
    lines: &[u8],
    noun: &str,
    check: impl Fn(&T) -> Result<(), LineError>,
    damaged: &mut Vec<String>,
) -> Result<Vec<T>, LogError> {
    let mut values = Vec::new();
    for (at, line) in filled_lines(lines).enumerate() {
        let read = serde_json::from_slice(line).map_err(LineError::from);
        let read = read.and_then(|value: T| check(&value).map(|()| value));
        values.extend(take_value(path, (noun, at + 1), read, damaged)?);
    }
    Ok(values)
}

/// The value of one line, as in [`read_values`]; `None` if it is set aside.
///
/// # Errors
/// Those of [`read_values`].
pub fn take_value<T>(
    path: &Path,
    (noun, number): (&str, usize),
    read: Result<T, LineError>,
    damaged: &mut Vec<String>,
) -> Result<Option<T>, LogError> {
    match read {
        Ok(value) => return Ok(Some(value)),
        Err(LineError::Unreadable(e)) if e.is_data() => {
            return Err(LogError::unreadable_line(path, number, &e));
        }
        Err(why) => damaged.push(format!("{}: {noun} {number}: {why}", path.display())),
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::super::Log;
    use super::*;
    use crate::Digest;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Kind {
        kind: u8,
    }

    #[test]
    fn what_is_damaged_is_set_aside_and_what_is_newer_stops() {
        let path = Path::new("raw/votes/000001.jsonl");
        let id = Digest::of_parts("test", [&b"id"[..]]);
        let check = |value: &Kind| if value.kind < 3 { Ok(()) } else { Err(LineError::Edited(id)) };
        let read = |lines: &[u8]| {
            let mut damaged = Vec::new();
            read_values(path, lines, "vote", check, &mut damaged).map(|values| (values, damaged))
        };
        let (values, damaged) = read(b"{\"kind\":1}\nno JSON\n\n{\"kind\":3}\n{\"kind\":2}\n").unwrap();
        assert_eq!(values, [Kind { kind: 1 }, Kind { kind: 2 }]);
        assert!(damaged[0].starts_with("raw/votes/000001.jsonl: vote 2: "), "{damaged:?}");
        assert!(damaged[1].contains("vote 3: ") && damaged[1].contains("edited by hand"), "{damaged:?}");
        let newer = read(b"{\"kind\":1}\n{\"kind\":\"of another\"}\n").unwrap_err();
        assert!(matches!(&newer, LogError::Newer { what, .. } if what.starts_with("line 2: ")), "{newer}");
    }

    #[test]
    fn nothing_is_added_to_what_a_newer_program_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::in_file(dir.path().join("raw/tasks.jsonl"));
        log.add([&Kind { kind: 1 }]).unwrap();
        log.append_lines(b"{\"kind\":\"of another\"}\n").unwrap();
        let before = std::fs::read(log.path()).unwrap();
        assert!(matches!(log.add([&Kind { kind: 2 }]), Err(LogError::Newer { .. })));
        assert_eq!(std::fs::read(log.path()).unwrap(), before);
    }
}
