//! Errors about files, worded for the person who has to fix them.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// A file or folder of the workspace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system reported an error.
    #[error("cannot {action} {}: {source}{}", path.display(), hint_for(path, source))]
    Io {
        /// `read`, `write`, `rename` …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file exists, but its content does not match its name.
    #[error("{} is damaged: {what}\n  hint: {hint}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// How to restore it.
        hint: String,
    },
    /// The file is whole, and says what only a newer program knows.
    #[error("{} was written by a newer riddlemill: {what}\n  hint: {hint}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// What is not known.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// The file or folder is not of the kind that the command works on.
    #[error("{} is not {expected}\n  hint: {hint}", path.display())]
    WrongKind {
        /// The file or folder.
        path: PathBuf,
        /// What it should be, with an article.
        expected: &'static str,
        /// Where to find such a file or folder.
        hint: &'static str,
    },
    /// A stage was written with another layout of its tables.
    #[error("{} has layout {layout}, but this program reads layout {reads}\n  hint: it is derived from raw/; `riddlemill run` writes it again", path.display())]
    Layout {
        /// The manifest.
        path: PathBuf,
        /// The layout found.
        layout: u32,
        /// The layout of this program.
        reads: u32,
    },
    /// Another process works on the same recipe.
    #[error("another run holds {}{}\n  hint: wait for it to end, or stop it", path.display(), holder.as_deref().map(|h| format!(" (process {h})")).unwrap_or_default())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Its process id, if it could be read.
        holder: Option<String>,
    },
}

impl Error {
    /// An `Io` error at a path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }

    /// A derived file that a new run recreates.
    pub fn stale_file(path: &Path, what: impl std::fmt::Display) -> Error {
        Error::Damaged {
            path: path.to_path_buf(),
            what: what.to_string(),
            hint: "it is derived from raw/: `riddlemill run --force` on its stage writes it again".into(),
        }
    }
}

/// What mends an error that the operating system reported of a path, as a line of its own; empty where its reason says all.
pub fn hint_for(path: &Path, source: &io::Error) -> Cow<'static, str> {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "\n  hint: make room and run the same command again; everything finished so far is kept".into()
        }
        io::ErrorKind::FileTooLarge => "\n  hint: a limit on file sizes is in force (ulimit -f)".into(),
        io::ErrorKind::PermissionDenied => "\n  hint: check the owner and mode of this path".into(),
        io::ErrorKind::ReadOnlyFilesystem => "\n  hint: the file system is mounted read-only".into(),
        io::ErrorKind::IsADirectory if path.is_dir() => {
            format!("\n  hint: {} is a folder in the place of a file; move it elsewhere", path.display())
                .into()
        }
        io::ErrorKind::NotADirectory => find_file_in_the_way(path)
            .map(|what| format!("\n  hint: {what}; move it elsewhere").into())
            .unwrap_or_default(),
        _ => Cow::default(),
    }
}

/// The file that stands where a folder should be, at a path or above it, in words; `None` if there is none.
pub fn find_file_in_the_way(folder: &Path) -> Option<String> {
    let file = folder.ancestors().find(|place| place.exists()).filter(|place| !place.is_dir())?;
    Some(format!("{} is a file in the place of a folder", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_a_folder_and_a_folder_for_a_file_are_named_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let (file, folder) = (dir.path().join("file"), dir.path().join("folder"));
        std::fs::write(&file, "x").unwrap();
        std::fs::create_dir(&folder).unwrap();
        let below = file.join("below/log.jsonl");
        let told = [
            std::fs::read(&below).map_err(Error::io("read", &below)).unwrap_err(),
            crate::durable::create_folder(&file).unwrap_err(),
            crate::durable::swap_folder(&folder, &file).unwrap_err(),
        ];
        for error in told {
            let said = error.to_string();
            let hint =
                format!("hint: {} is a file in the place of a folder; move it elsewhere", file.display());
            assert!(said.ends_with(&hint), "{said}");
        }
        assert!(file.is_file(), "a file that is nobody's is not removed");
        let said = std::fs::read(&folder).map_err(Error::io("read", &folder)).unwrap_err().to_string();
        assert!(said.ends_with("folder is a folder in the place of a file; move it elsewhere"), "{said}");
    }
}
