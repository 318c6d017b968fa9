//! Files that settings name: which of them lie outside of the workspace, and patterns that walk no whole disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::sections::SECTIONS;
use super::{Problem, ValueOrigin};
use riddlemill_files::{Trust, Wish, shell_word};

/// The settings whose values are files, folders or patterns of files.
const PLACES: [(&str, &str); 8] = [
    ("import", "common_words"),
    ("anonymise", "policy"),
    ("puzzles", "wordnet"),
    ("puzzles", "premises"),
    ("release", "curator"),
    ("review", "gold"),
    ("review", "sample"),
    ("respond", "sample"),
];
const FILES: &str = "a file, nor a pattern of any";
/// Those of them that are read as if nothing was named where the place is not there, with what it has to be.
const OPTIONAL: [(&str, &str, &str); 5] = [
    ("puzzles", "premises", FILES),
    ("release", "curator", "a folder"),
    ("review", "gold", "a folder"),
    ("review", "sample", "a file"),
    ("respond", "sample", "a file"),
];
/// Most entries of folders that a pattern looks at.
const MOST_ENTRIES: usize = 200_000;

/// A place outside of the workspace that the settings name.
pub(super) struct NamedPlace {
    /// Where they name it.
    at: String,
    /// How.
    written: String,
    pub wish: Wish,
}

/// Asks about every place outside of the workspace that pipeline.toml names and that nobody agreed to; those that are not
/// agreed to are problems.
pub(super) fn ask_about_places(
    trust: &Trust,
    named_places: Vec<NamedPlace>,
    ask: Option<fn(&str) -> Option<bool>>,
    problems: &mut Vec<Problem>,
) {
    let mut asked: Vec<Wish> = Vec::new();
    for NamedPlace { at, written, wish } in named_places {
        // The same place is asked about once, and the answer before may cover this one.
        if asked.contains(&wish) || trust.is_agreed(&wish) {
            continue;
        }
        let question = format!(
            "{at} names {written:?}: {wish}, outside of this workspace, which was not made on this machine; allow it?"
        );
        let agreed = ask.and_then(|ask| ask(&question));
        let kept = if agreed == Some(true) { trust.record_agreement(&wish) } else { Ok(()) };
        match (agreed, kept) {
            (Some(true), Ok(())) => {}
            (Some(true), Err(error)) => problems.push(Problem { place: at, what: error.to_string() }),
            _ => problems.push(Problem { place: at, what: refusal(&written, &wish) }),
        }
        asked.push(wish);
    }
}

/// Why a place is not read, and what agrees to it.
pub fn refusal(written: &str, wish: &Wish) -> String {
    let word = shell_word(&wish.trust_word());
    format!(
        "{written:?} would {wish}, outside of this workspace, which was not made on this machine; it was not read\n  \
         hint: if you want that, `riddlemill trust add {word}` says so once, --trust {word} for one call \
         (in CI {}={word})",
        riddlemill_files::trust::TRUST
    )
}

/// A place that the settings name, if it leads outside of the workspace; `at` is where they do.
pub(super) fn find_outside_place(
    root: &Path,
    trust: &Trust,
    at: String,
    written: &str,
) -> Option<NamedPlace> {
    let place = trust.leads_out(&fixed_prefix(root, written))?;
    Some(NamedPlace { at, written: written.to_owned(), wish: Wish::Read { place } })
}

/// The texts of a setting that are files, folders or patterns, where pipeline.toml writes them: flags and the environment
/// are this machine's user's own.
pub(super) fn written_paths<'v>(
    section: &str,
    key: &str,
    value: &'v Value,
    origin: &ValueOrigin,
) -> Vec<&'v str> {
    if !matches!(origin, ValueOrigin::File(_)) || !PLACES.contains(&(section, key)) {
        return Vec::new();
    }
    let default = default_of(section, key);
    let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    texts
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty() && Some(*text) != default.as_deref())
        .collect()
}

/// What is wrong with a file or folder that somebody named in a setting and that is not there, or is of another kind, although
/// everything works without it.
pub(super) fn find_absent(
    root: &Path,
    trust: &Trust,
    (section, key): (&str, &str),
    value: &Value,
) -> Option<String> {
    let (.., kind) = OPTIONAL.iter().find(|(of, name, _)| (*of, *name) == (section, key))?;
    let text = value
        .as_str()
        .filter(|text| !text.is_empty() && Some(*text) != default_of(section, key).as_deref())?;
    let place = root.join(text);
    let is_there = match *kind {
        "a folder" => place.is_dir(),
        FILES => list_matching_files(root, trust, text).is_ok_and(|found| !found.is_empty()),
        _ => place.is_file(),
    };
    (!is_there).then(|| {
        format!("{text:?} is not {kind}, so nothing is read\n  hint: correct the path, or remove the setting")
    })
}

/// The default of a setting, if it is a text.
fn default_of(section: &str, key: &str) -> Option<String> {
    let section = SECTIONS.iter().find(|known| known.name == section)?;
    Some(section.find_key(key)?.default_value()?.as_str()?.to_owned())
}

/// The part of a path before its first pattern.
fn fixed_prefix(root: &Path, path: &str) -> PathBuf {
    if root.join(path).is_file() {
        return path.into();
    }
    Path::new(path)
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']))
        .collect()
}

/// Why the files of a pattern cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// Patterns are texts, and the workspace's path is none.
    #[error(
        "the path of the workspace, {}, is not Unicode, so patterns cannot be used\n  hint: rename the folder, or name each file in full",
        .0.display()
    )]
    Workspace(PathBuf),
    /// The path has pattern characters at places where they have no meaning.
    #[error("{path:?} is not a valid pattern: {source}")]
    Pattern {
        /// As the settings name it.
        path: String,
        /// What is wrong with it.
        source: glob::PatternError,
    },
    /// It would look at too many files.
    #[error(
        "{path:?} looks at more than {most} files and folders below {}\n  hint: name the folder that holds the files, as in raw/dumps/*.json",
        below.display(), most = riddlemill_text::text::group_digits(MOST_ENTRIES as i64)
    )]
    TooWide {
        /// As the settings name it.
        path: String,
        /// The folder that it begins in.
        below: PathBuf,
    },
    /// A file that matches leads outside of the workspace, and nobody agreed to that.
    #[error("{}", refusal(path, wish))]
    Outside {
        /// The file.
        path: String,
        /// What was not agreed to.
        wish: Wish,
    },
}

/// The files that a path of the settings names. Only the path in the settings is a pattern: the workspace may be in a
/// folder called `[a]*`, and a file that is called exactly so is meant. A pattern that would look at hundreds of thousands
/// of files is refused, and so is a file that leads outside of the workspace without somebody's yes.
///
/// # Errors
/// [`PatternError`], before anything is read.
pub fn list_matching_files(
    root: &Path,
    trust: &Trust,
    path: &str,
) -> Result<Vec<glob::GlobResult>, PatternError> {
    let literal = root.join(path);
    let found = if literal.is_file() {
        vec![Ok(literal)]
    } else {
        let pattern = match (Path::new(path).is_absolute(), root.to_str()) {
            (true, _) => path.to_owned(),
            (false, Some(root)) => match root {
                "" => path.to_owned(),
                root => format!("{}/{path}", glob::Pattern::escape(root).trim_end_matches('/')),
            },
            (false, None) => return Err(PatternError::Workspace(root.to_owned())),
        };
        refuse_wide(root, path)?;
        match glob::glob(&pattern) {
            Ok(found) => found.filter(|file| !is_hidden(root, path, file)).collect(),
            Err(source) => return Err(PatternError::Pattern { path: path.to_owned(), source }),
        }
    };
    for file in found.iter().flatten() {
        // What the process opens is relative to its own folder.
        let Ok(whole) = std::path::absolute(file) else { continue };
        if let Err(wish) = trust.may_read(&whole) {
            return Err(PatternError::Outside { path: file.display().to_string(), wish });
        }
    }
    Ok(found)
}

/// Whether a pattern that names nothing hidden would match a hidden file or folder: as in a shell, `*` means none. The crate's
/// own option for this panics where a name is no Unicode.
fn is_hidden(root: &Path, path: &str, file: &glob::GlobResult) -> bool {
    let Ok(file) = file else { return false };
    let dotted = |part: &std::ffi::OsStr| part.as_encoded_bytes().starts_with(b".");
    if Path::new(path).iter().any(|part| dotted(part) && part != "." && part != "..") {
        return false;
    }
    let begin = root.join(fixed_prefix(root, path));
    match file.strip_prefix(begin) {
        Ok(below) => below.iter().any(dotted),
        Err(_) => file.file_name().is_some_and(dotted),
    }
}

/// Refuses a pattern that looks at too many files: `**` may begin at the root of a disk.
fn refuse_wide(root: &Path, path: &str) -> Result<(), PatternError> {
    let begin = fixed_prefix(root, path);
    let rest = Path::new(path).components().count() - begin.components().count();
    let deep = if path.contains("**") { usize::MAX } else { rest };
    // One folder is listed, however long it is.
    if deep < 2 {
        return Ok(());
    }
    let below = root.join(begin);
    let (mut seen, mut open) = (0, vec![(below.clone(), deep)]);
    while let Some((folder, deep)) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return Err(PatternError::TooWide { path: path.to_owned(), below });
            }
            let kind = entry.file_type();
            let is_folder = |link: bool| {
                if link { entry.path().is_dir() } else { kind.as_ref().is_ok_and(|k| k.is_dir()) }
            };
            if deep > 1 && is_folder(kind.as_ref().is_ok_and(fs::FileType::is_symlink)) {
                open.push((entry.path(), deep - 1));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_a_setting() {
        for (section, key) in PLACES {
            let known = SECTIONS.iter().find(|known| known.name == section);
            assert!(known.is_some_and(|known| known.keys.iter().any(|k| k.name == key)), "{section}.{key}");
        }
    }

    #[test]
    fn a_place_that_nobody_would_miss_is_told_where_it_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("known")).unwrap();
        fs::write(dir.path().join("votes.jsonl"), "").unwrap();
        let absent = |section: &str, key: &str, text: &str| {
            find_absent(dir.path(), &Trust::for_workspace(dir.path(), []), (section, key), &Value::from(text))
        };
        for (section, key, text) in [
            ("review", "gold", "votes.jsonl"),
            ("review", "gold", "knwon"),
            ("review", "sample", "votes.json"),
            ("review", "sample", "known"),
            ("puzzles", "premises", "known/*.jsonl"),
        ] {
            let told = absent(section, key, text).unwrap();
            assert!(told.starts_with(&format!("{text:?} is not a ")), "{told}");
        }
        assert!(absent("review", "gold", "known").is_none() && absent("review", "gold", "").is_none());
        assert!(absent("puzzles", "premises", "*.jsonl").is_none());
        assert!(absent("review", "sample", "*.jsonl").is_some(), "it is no pattern");
        assert!(
            absent("review", "sample", "raw/sample/votes.jsonl").is_none(),
            "the default is none where it is not"
        );
    }

    #[test]
    fn the_fixed_part_ends_before_the_first_pattern() {
        let fixed = |path| fixed_prefix(Path::new("/nowhere"), path);
        assert_eq!(fixed("/data/d*/x.json"), Path::new("/data"));
        assert_eq!(fixed("/**/*.json"), Path::new("/"));
        assert_eq!(fixed("raw/dumps/x.json"), Path::new("raw/dumps/x.json"));
        assert_eq!(fixed("*.json"), Path::new(""));
    }

    #[test]
    fn a_pattern_looks_at_a_bounded_number_of_files() {
        let dir = tempfile::tempdir().unwrap();
        // A link back makes a walk endless.
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        #[cfg(unix)]
        for name in ["x", "y"] {
            std::os::unix::fs::symlink("..", dir.path().join("a/b").join(name)).unwrap();
        }
        let trust = Trust::for_workspace(dir.path(), []);
        let wide = list_matching_files(dir.path(), &trust, "**/*.json");
        assert!(matches!(wide, Err(PatternError::TooWide { .. })), "{wide:?}");
        fs::write(dir.path().join("a/x.json"), "").unwrap();
        assert_eq!(list_matching_files(dir.path(), &trust, "*/*.json").unwrap().len(), 1);
        assert_eq!(list_matching_files(dir.path(), &trust, "a/x.json").unwrap().len(), 1);
    }
}
