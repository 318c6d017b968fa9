//! Joins untrusted names to a folder.

use std::path::{Component, Path, PathBuf};

use super::Error;

/// The longest name of a file in a folder, in bytes.
const LONGEST: usize = 1024;

/// `folder` with `name` below it, if the name cannot lead outside on any system: parts between slashes, none
/// of them empty, `.`, `..`, a drive or a device. Every name read from a file that may come from somebody
/// else (a registry, a manifest, checksums, a benchmark's folder) is joined here and nowhere else.
///
/// # Errors
/// [`Error::Damaged`] naming the folder and the name.
///
/// ```
/// # use riddlemill_files::inside;
/// # use std::path::Path;
/// assert!(inside(Path::new("set"), "data/flub/test.jsonl").is_ok());
/// assert!(inside(Path::new("set"), "../../etc/passwd").is_err());
/// ```
pub fn inside(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    match why_not(name) {
        None => Ok(folder.join(name)),
        Some(why) => Err(Error::Damaged {
            path: folder.into(),
            what: format!("it names the file {:?}, {why}", shortened(name)),
            hint: "nothing was read or written there; is the folder somebody else's?".into(),
        }),
    }
}

/// Why a name is not that of a file inside a folder.
fn why_not(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.len() > LONGEST {
        return Some("which is empty or too long");
    }
    // Separators and drives of other systems: a set is passed from one to the other.
    if name.contains(['\\', ':']) || name.contains(char::is_control) {
        return Some("which is a path on another system");
    }
    let parts = name.split('/').all(|part| !matches!(part, "" | "." | "..") && !device(part));
    // Checked again with the rules of this system, which may know more kinds of roots.
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    (!parts || !plain).then_some("which leads out of it")
}

/// Names that Windows opens as a device in any folder.
fn device(part: &str) -> bool {
    // Windows opens the device whatever the extension, spaces at the end or case.
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |name: &str| {
        stem.strip_prefix(name).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit())
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
}

fn shortened(name: &str) -> String {
    // Somebody else chose the name, and it would otherwise fill the screen.
    name.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "//host/x",
            "a//b",
            "a/./b",
            "a/",
            "C:x",
            "C:\\x",
            "a\\..\\b",
            "nul",
            "data/COM1.txt",
            "a\0b",
            "a\nb",
        ] {
            assert!(inside(Path::new("set"), name).is_err(), "{name:?}");
        }
        for name in ["manifest.json", "data/flub/test.jsonl", "..a", "a..b/c", "com/x", "数据.json"] {
            assert_eq!(inside(Path::new("set"), name).unwrap(), Path::new("set").join(name));
        }
    }

    proptest! {
        #[test]
        fn what_is_joined_stays_below(name in "(\\.|\\.\\.|/|\\\\|a|C:|~|\\PC|\0){0,12}") {
            if let Ok(path) = inside(Path::new("/set"), &name) {
                let below = path.strip_prefix("/set").unwrap();
                prop_assert!(below.components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(below.components().count() > 0);
            }
        }
    }
}
