//! Errors about files, worded for the person who has to fix them.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder of the workspace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system reported an error.
    #[error("cannot {action} {}: {source}{}", path.display(), hint_for(source))]
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

fn hint_for(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "\n  hint: make room and run the same command again; everything finished so far is kept"
        }
        io::ErrorKind::FileTooLarge => "\n  hint: a limit on file sizes is in force (ulimit -f)",
        io::ErrorKind::PermissionDenied => "\n  hint: check the owner and mode of this path",
        io::ErrorKind::ReadOnlyFilesystem => "\n  hint: the file system is mounted read-only",
        _ => "",
    }
}
