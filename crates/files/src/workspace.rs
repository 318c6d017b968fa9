//! The paths of a workspace: joined to a folder from untrusted names, and locked, so that a recipe has one run at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use super::{Error, durable, fence};

/// The folder that holds pipeline.toml, raw/, staged/ and output/.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace of a folder.
    pub fn new(root: impl Into<PathBuf>) -> Workspace {
        Workspace { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of what cannot be recomputed.
    pub fn raw_folder(&self) -> PathBuf {
        self.root.join("raw")
    }

    /// The folder of people's decisions about records and pairs.
    pub fn decisions_folder(&self) -> PathBuf {
        self.raw_folder().join("decisions")
    }

    /// A recipe's stages.
    pub fn recipe_folder(&self, recipe: &str) -> PathBuf {
        self.root.join("staged").join(recipe)
    }

    /// A stage's folder: `staged/<recipe>/<NN_stage>`.
    pub fn stage_folder(&self, recipe: &str, number: usize, stage: &str) -> PathBuf {
        self.recipe_folder(recipe).join(format!("{number:02}_{}", stage.replace(':', "_")))
    }

    /// Where a run builds a recipe's candidate release.
    pub fn candidate_folder(&self, recipe: &str) -> PathBuf {
        self.root.join("output").join(recipe).join("candidate")
    }
}

/// Held while a run writes a recipe's stages. The system releases it when the process ends for whatever
/// reason, so a killed run leaves nothing to clean up.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder without waiting.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process holds it.
    pub fn take_lock(folder: &Path) -> Result<Lock, Error> {
        durable::create_folder(folder)?;
        let path = folder.join(".lock");
        let mut options = OpenOptions::new();
        // The file has the process id of the holder, which the others still read.
        options.read(true).write(true).create(true).truncate(false);
        let mut file = fence::open_with(&path, &options).map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = file.read_to_string(&mut holder);
                // Between taking the lock and writing the id the file is empty, so the holder may be unknown.
                let holder = read.ok().map(|_| holder.trim().to_string()).filter(|h| !h.is_empty());
                return Err(Error::Locked { path, holder });
            }
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path)(e)),
        }
        // The process id is only information for others; failing to write it is not an error.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}

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
/// # use riddlemill_files::path_inside;
/// # use std::path::Path;
/// assert!(path_inside(Path::new("set"), "data/flub/test.jsonl").is_ok());
/// assert!(path_inside(Path::new("set"), "../../etc/passwd").is_err());
/// ```
pub fn path_inside(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    match why_not(name) {
        None => Ok(folder.join(name)),
        Some(why) => Err(Error::Damaged {
            path: folder.into(),
            what: format!("it names the file {:?}, {why}", shorten_name(name)),
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
    let parts = name.split('/').all(|part| !matches!(part, "" | "." | "..") && !is_device(part));
    // Checked again with the rules of this system, which may know more kinds of roots.
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    (!parts || !plain).then_some("which leads out of it")
}

/// Names that Windows opens as a device in any folder.
fn is_device(part: &str) -> bool {
    // Windows opens the device whatever the extension, spaces at the end or case.
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |name: &str| {
        stem.strip_prefix(name).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit())
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
}

fn shorten_name(name: &str) -> String {
    // Somebody else chose the name, and it would otherwise fill the screen.
    name.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            assert!(path_inside(Path::new("set"), name).is_err(), "{name:?}");
        }
        for name in ["manifest.json", "data/flub/test.jsonl", "..a", "a..b/c", "com/x", "数据.json"] {
            assert_eq!(path_inside(Path::new("set"), name).unwrap(), Path::new("set").join(name));
        }
    }

    proptest! {
        #[test]
        fn what_is_joined_stays_below(name in "(\\.|\\.\\.|/|\\\\|a|C:|~|\\PC|\0){0,12}") {
            if let Ok(path) = path_inside(Path::new("/set"), &name) {
                let below = path.strip_prefix("/set").unwrap();
                prop_assert!(below.components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(below.components().count() > 0);
            }
        }
    }
}
