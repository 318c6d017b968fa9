//! What this machine's user allowed a workspace to do beyond its own folder.
//!
//! A workspace may come from somebody else: a clone, an archive, a copy. Its `pipeline.toml` can name hosts, environment
//! variables, commands and places of this machine, so none of it is used before a person agreed once. The answers are kept
//! outside of all workspaces, in the user's own state folder, and hold for one folder of one file system: a copy, a clone or
//! an unpacked archive is another folder, and is asked about again.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::Error;

/// Names the folder that holds the answers, instead of the user's state folder.
pub const STATE: &str = "RIDDLEMILL_STATE";
/// Names hosts, places and commands that are agreed to, between commas: for CI, where nobody can be asked.
pub const TRUST: &str = "RIDDLEMILL_TRUST";
/// The file of answers in the state folder.
const FILE: &str = "trust.jsonl";

/// What a workspace wants to do that needs somebody's yes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wish {
    /// Send requests to a host (`https://api.example.org`), with the values of these environment variables.
    Host {
        /// Scheme, host and port: with another of them it is another wish.
        origin: String,
        /// The names of the variables; none if nothing of the environment goes along.
        variables: BTreeSet<String>,
    },
    /// Run a command of the settings.
    Command {
        /// The command line.
        command: String,
    },
    /// Read files outside of the workspace.
    Read {
        /// A file, or a folder with all below it.
        place: PathBuf,
    },
    /// Keep one of the workspace's own folders elsewhere: it is a link.
    Folder {
        /// `raw`, `staged` or `output`.
        name: String,
        /// Where it leads.
        target: PathBuf,
    },
}

/// A path as a shell takes it.
pub fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// A word as a shell takes it, for commands that messages propose.
pub fn shell_word(word: &str) -> String {
    // Only what no shell reads as more than itself; letters of any language.
    let is_plain = |c: char| c.is_alphanumeric() || "_/.:@%+,=-…".contains(c) || cfg!(windows) && c == '\\';
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false if cfg!(windows) => format!("\"{word}\""),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

impl Wish {
    /// The word that agrees to it, for `riddlemill trust add`, `--trust` and the environment variable.
    pub fn trust_word(&self) -> String {
        match self {
            // Without the scheme where that is the usual one, as people name hosts.
            Wish::Host { origin, .. } => {
                origin.strip_prefix("https://").unwrap_or(origin).trim_end_matches('/').to_owned()
            }
            Wish::Command { command } => command.clone(),
            Wish::Read { place } => place.display().to_string(),
            Wish::Folder { target, .. } => target.display().to_string(),
        }
    }

    /// Whether a word that somebody gave means this.
    pub fn is_named(&self, word: &str) -> bool {
        match self {
            Wish::Host { origin, .. } => {
                let word = word.trim_end_matches('/');
                let bare = origin.split_once("://").map_or(origin.as_str(), |(_, rest)| rest);
                let host = match bare.rsplit_once(':') {
                    Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
                    _ => bare,
                };
                word.eq_ignore_ascii_case(origin)
                    || word.eq_ignore_ascii_case(bare)
                    || word.eq_ignore_ascii_case(host)
            }
            Wish::Command { command } => command == word,
            Wish::Read { place } | Wish::Folder { target: place, .. } => {
                Path::new(word).is_absolute() && place.starts_with(word)
            }
        }
    }

    /// Whether a yes to this is one to `other`, too.
    fn may_stand_for(&self, other: &Wish) -> bool {
        match (self, other) {
            (
                Wish::Host { origin, variables },
                Wish::Host { origin: other_origin, variables: other_variables },
            ) => origin == other_origin && variables.is_superset(other_variables),
            (Wish::Read { place }, Wish::Read { place: other_place }) => other_place.starts_with(place),
            _ => self == other,
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wish::Host { origin, variables } if variables.is_empty() => {
                write!(f, "send requests to {origin}")
            }
            Wish::Host { origin, variables } => {
                let names: Vec<&str> = variables.iter().map(String::as_str).collect();
                write!(f, "send the value of {} to {origin}", names.join(" and "))
            }
            Wish::Command { command } => write!(f, "run the command {command:?}"),
            Wish::Read { place } => write!(f, "read {}", place.display()),
            Wish::Folder { name, target } => write!(f, "keep {name} in {}", target.display()),
        }
    }
}

/// One answer, as a line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// The workspace's path, without links.
    workspace: String,
    /// Which folder that was.
    folder: String,
    /// What was asked; absent: everything about its places, because the workspace was made here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wish: Option<Wish>,
    /// Agreed, or withdrawn.
    yes: bool,
    /// Seconds since 1970.
    at: u64,
}

/// An answer that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Given {
    /// The workspace's path.
    pub workspace: String,
    /// Whether it is this workspace, at its place of then.
    pub here: bool,
    /// What was agreed to; `None` where the workspace was made on this machine.
    pub wish: Option<Wish>,
    /// When, in seconds since 1970.
    pub at: u64,
}

/// The answers about one workspace. Without a workspace nothing is agreed to.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The workspace without links; empty if there is none.
    root: PathBuf,
    folder: String,
    /// The file of answers, if there is a place for it.
    file: Option<PathBuf>,
    /// Words of this call: the flag's and the environment's.
    words: Vec<String>,
}

impl Trust {
    /// The answers about the workspace in a folder; `words` are those given for this call alone.
    pub fn for_workspace(root: &Path, words: impl IntoIterator<Item = String>) -> Trust {
        let by_environment = std::env::var(TRUST).unwrap_or_default();
        let words = words.into_iter().chain(by_environment.split([',', '\n']).map(str::to_owned));
        let words = words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
        Trust::kept_in(root, state_folder(), words)
    }

    /// With answers in a folder of the caller's.
    fn kept_in(root: &Path, state: Option<PathBuf>, words: Vec<String>) -> Trust {
        let place = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let root = fs::canonicalize(place).unwrap_or_default();
        // A clone must not bring its own answers along.
        let outside = |state: &PathBuf| {
            root.as_os_str().is_empty() || !resolve_path(state).is_some_and(|state| state.starts_with(&root))
        };
        Trust {
            folder: identity_of(&root),
            file: state.filter(outside).map(|state| state.join(FILE)),
            root,
            words,
        }
    }

    /// Whether somebody agreed to this.
    pub fn is_agreed(&self, wish: &Wish) -> bool {
        if self.words.iter().any(|word| wish.is_named(word)) {
            return true;
        }
        let given = self.list_answers();
        let mut here = given.iter().filter(|given| given.here);
        here.any(|given| match (&given.wish, wish) {
            (Some(given), wish) => given.may_stand_for(wish),
            // Who made the workspace wrote its paths; hosts and commands are asked about all the same, as
            // settings also come with a pull.
            (None, Wish::Read { .. } | Wish::Folder { .. }) => true,
            (None, _) => false,
        })
    }

    /// Whether the workspace was made on this machine, in this folder.
    pub fn is_own(&self) -> bool {
        self.list_answers().iter().any(|given| given.here && given.wish.is_none())
    }

    /// Whether a file of the workspace's settings may be read: it lies inside, or somebody agreed. Links count as what
    /// they lead to.
    pub fn may_read(&self, path: &Path) -> Result<(), Wish> {
        match self.leads_out(path) {
            Some(place) => {
                let wish = Wish::Read { place };
                if self.is_agreed(&wish) { Ok(()) } else { Err(wish) }
            }
            None => Ok(()),
        }
    }

    /// Where a path, relative to the workspace or not, leads outside of it; `None` if it stays inside.
    pub fn leads_out(&self, path: &Path) -> Option<PathBuf> {
        let place = resolve_path(&self.root.join(path))?;
        (!place.starts_with(&self.root)).then_some(place)
    }

    /// Keeps a yes.
    ///
    /// # Errors
    /// [`Error`] if there is no place for it, or it cannot be written.
    pub fn record_agreement(&self, wish: &Wish) -> Result<(), Error> {
        self.append_answer(Some(wish.clone()), true)
    }

    /// Keeps that this workspace was made here: its paths may lead anywhere.
    ///
    /// # Errors
    /// As of [`Trust::record_agreement`].
    pub fn made_here(&self) -> Result<(), Error> {
        self.append_answer(None, true)
    }

    /// Takes back every answer about this workspace that a word means, or all of them; how many those were.
    ///
    /// # Errors
    /// As of [`Trust::record_agreement`].
    pub fn withdraw_answers(&self, word: Option<&str>) -> Result<usize, Error> {
        let meant = |given: &Given| match (word, &given.wish) {
            (None, _) => true,
            (Some(word), Some(wish)) => wish.is_named(word) || wish.trust_word() == word,
            (Some(word), None) => word == "." || Path::new(word) == Path::new(&given.workspace),
        };
        let given: Vec<Given> =
            self.list_answers().into_iter().filter(|given| given.here && meant(given)).collect();
        for one in &given {
            self.append_answer(one.wish.clone(), false)?;
        }
        Ok(given.len())
    }

    /// Every answer on this machine that holds, in the order in which they were given.
    pub fn list_answers(&self) -> Vec<Given> {
        let text = self.file.as_deref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let mut lines: Vec<Line> = Vec::new();
        // A line that cannot be read agrees to nothing.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            lines.retain(|before| {
                (&before.workspace, &before.folder, &before.wish)
                    != (&line.workspace, &line.folder, &line.wish)
            });
            if line.yes {
                lines.push(line);
            }
        }
        let here = |line: &Line| {
            !self.folder.is_empty()
                && line.folder == self.folder
                && line.workspace == self.root.to_string_lossy()
        };
        let given =
            |line: Line| Given { here: here(&line), workspace: line.workspace, wish: line.wish, at: line.at };
        lines.into_iter().map(given).collect()
    }

    /// The file of answers.
    pub fn answers_file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn append_answer(&self, wish: Option<Wish>, yes: bool) -> Result<(), Error> {
        let Some(file) = self.file.as_deref().filter(|_| !self.folder.is_empty()) else {
            return Err(Error::Damaged {
                path: self.root.clone(),
                what: "there is no folder outside of the workspace to keep the answer in".into(),
                hint: format!("set HOME or {STATE} to a folder of yours"),
            });
        };
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let workspace = self.root.to_string_lossy().into_owned();
        let line = Line { workspace, folder: self.folder.clone(), wish, yes, at };
        let mut text = serde_json::to_string(&line).map_err(|error| Error::Damaged {
            path: file.into(),
            what: error.to_string(),
            hint: "report it".into(),
        })?;
        text.push('\n');
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut open = options.open(file).map_err(Error::io("open", file))?;
        // One write, so that lines of two processes do not mix.
        open.write_all(text.as_bytes()).and_then(|()| open.sync_data()).map_err(Error::io("write", file))
    }
}

/// The user's state folder for this program.
fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(STATE)
        .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("riddlemill")))
        .or_else(|| Some(absolute("HOME")?.join(".local/state/riddlemill")))
        .or_else(|| Some(absolute("LOCALAPPDATA")?.join("riddlemill")))
}

/// Which folder this is: a copy at the same path is another one.
fn identity_of(root: &Path) -> String {
    let Ok(meta) = fs::metadata(root) else { return String::new() };
    // Not on every file system.
    let born = meta.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let born = born.map_or(0, |since| since.as_nanos());
    #[cfg(unix)]
    let node = std::os::unix::fs::MetadataExt::ino(&meta);
    #[cfg(not(unix))]
    let node = 0;
    format!("{node}-{born}")
}

/// A path without links and `..`, also if its end does not exist; `None` if it cannot be known.
fn resolve_path(path: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let known = |length: &usize| fs::canonicalize(parts[..*length].iter().collect::<PathBuf>()).is_ok();
    let length = (1..=parts.len()).rev().find(known)?;
    let mut place = fs::canonicalize(parts[..length].iter().collect::<PathBuf>()).ok()?;
    for part in &parts[length..] {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            Component::Normal(name) => place.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests;
