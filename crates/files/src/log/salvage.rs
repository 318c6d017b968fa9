//! Salvages what is intact of a damaged log, and keeps the damaged files.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::chain::{Chain, split_chain};
use super::disk::{
    SegmentFile, folder_entries, format_number, free_folder, is_log, list_segments, move_aside,
};
use super::error::{of_log, of_segments};
use super::frames::{filled_lines, pieces_of_file};
use super::heads::{HEADS, Head, Home};
use super::names::{LogName, Logs};
use super::{Log, LogError, Segments};
use crate::durable;
use crate::fence;

/// A log that was damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Salvaged {
    /// The log, by its name in raw/.
    pub log: String,
    /// What was wrong with it.
    pub what: String,
    /// Lines that were salvaged.
    pub kept: usize,
    /// Lines that are incomplete, or do not follow from those before them; they are only in the damaged
    /// files.
    pub left_out: usize,
    /// Where the damaged files are now.
    #[serde(rename = "aside")]
    pub moved_to: PathBuf,
}

/// A log of raw/.
enum RawLog {
    File(Log),
    Folder(Segments),
}

/// An intact line without its chain; `None` for others.
pub(super) type Intact = Option<Vec<u8>>;

/// A damaged log: its name, what does not match, and whether its intact lines can be salvaged.
type Found = (String, String, bool);

/// Why a log that raw/heads.jsonl names is not salvaged.
const UNKNOWN: &str = "this riddlemill keeps no log of this name; a newer one may, so it stays as it is";

impl Logs<'_> {
    /// The damaged ones: name, and what does not match.
    ///
    /// # Errors
    /// [`LogError`] if one cannot be read at all.
    pub fn check_logs(&self) -> Result<Vec<(String, String)>, LogError> {
        Ok(self.examine_logs()?.into_iter().map(|(name, what, _)| (name, what)).collect())
    }

    fn examine_logs(&self) -> Result<Vec<Found>, LogError> {
        let home = Home(self.raw.to_owned());
        let heads = match home.read_heads() {
            Ok(heads) => heads.into_keys().collect(),
            Err(LogError::Damaged { what, .. }) => return Ok(vec![(HEADS.to_owned(), what, true)]),
            Err(newer @ LogError::Newer { .. }) => {
                return Ok(vec![(HEADS.to_owned(), newer.to_string(), false)]);
            }
            Err(other) => return Err(other),
        };
        let mut found = Vec::new();
        for (name, kind) in self.list_logs(heads)? {
            let read = match &kind {
                RawLog::File(log) => log.read_lines().map(drop),
                RawLog::Folder(segments) => segments.read_lines().map(drop),
            };
            let (path, what) = match read {
                Ok(()) => continue,
                // Nothing of a newer program is thrown away.
                Err(newer @ LogError::Newer { .. }) => {
                    found.push((name, newer.to_string(), false));
                    continue;
                }
                Err(LogError::Damaged { path, what, .. }) => (path, what),
                Err(LogError::Io { path, source, .. }) if fence::refusal_of_error(&source).is_some() => {
                    (path, source.to_string())
                }
                Err(other) => return Err(other),
            };
            let at = home.name_in_raw(&path);
            let what = if at == name { what } else { format!("{at}: {what}") };
            // Otherwise a head could have any file of raw/ moved aside.
            match self.is_registered(&name) {
                true => found.push((name, what, true)),
                false => found.push((name, format!("{what}; {UNKNOWN}"), false)),
            }
        }
        Ok(found)
    }

    /// Replaces every damaged one by its intact lines, and moves the damaged files to raw/damaged. Nothing is
    /// deleted.
    ///
    /// # Errors
    /// [`LogError`] if something cannot be read or written; finished steps remain, and it can be called again.
    pub fn salvage_logs(&self) -> Result<Vec<Salvaged>, LogError> {
        let (raw, home) = (self.raw, Home(self.raw.to_owned()));
        let damaged: Vec<_> = self.examine_logs()?.into_iter().filter(|(.., can)| *can).collect();
        let mut salvaged = Vec::new();
        let Some(moved_to) = (!damaged.is_empty()).then(|| free_folder(raw, Path::new(""))) else {
            return Ok(salvaged);
        };
        for (name, what, _) in damaged {
            if name == HEADS {
                move_aside(&raw.join(HEADS), &moved_to.join(HEADS))?;
                // Without heads, the logs' own chains have to do.
                for (_, kind) in self.list_logs(Vec::new())? {
                    adopt_log(&home, &kind)?;
                }
                salvaged.push(Salvaged { log: name, what, kept: 0, left_out: 0, moved_to });
                // The other logs can be checked only now that there are heads again.
                salvaged.extend(self.salvage_logs()?);
                return Ok(salvaged);
            }
            let heads = home.read_heads()?.into_keys().collect();
            let Some((_, kind)) = self.list_logs(heads)?.into_iter().find(|(other, _)| *other == name) else {
                continue;
            };
            let salvage = match &kind {
                RawLog::File(log) => of_file(&home, log, &moved_to.join(&name)),
                RawLog::Folder(segments) => {
                    of_folder(&home, segments, &moved_to.join(&name), |line| (self.reads)(&name, line))
                }
            };
            let (kept, left_out) = match salvage {
                // Its folder is a link out of the workspace: nothing is done there, and it stays a finding.
                Err(LogError::Io { source, .. }) if fence::refusal_of_error(&source).is_some() => continue,
                done => done?,
            };
            salvaged.push(Salvaged { log: name, what, kept, left_out, moved_to: moved_to.clone() });
        }
        Ok(salvaged)
    }

    /// The logs that exist or existed, by name: the registered ones, and those of the heads.
    fn list_logs(&self, heads: Vec<String>) -> Result<Vec<(String, RawLog)>, LogError> {
        let raw = self.raw;
        let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
        // A stopped salvage may have left only its intermediate files.
        let is_there = |name: &String| raw.join(name).exists() || of_log(&raw.join(name)).exists();
        for name in self.names {
            match *name {
                LogName::Segments(folder) => {
                    folders.extend(Some(folder.to_owned()).filter(|name| raw.join(name).exists()));
                }
                LogName::Foreign(..) => {}
                LogName::File(file) | LogName::Private(file) => {
                    files.extend(Some(file.to_owned()).filter(is_there));
                }
                LogName::Files(folder) => {
                    let names = list_names(&raw.join(folder))?.into_iter();
                    let stems = names.filter_map(|name| {
                        name.strip_suffix(".jsonl")
                            .or_else(|| name.strip_suffix(".salvage"))
                            .map(str::to_owned)
                    });
                    files.extend(stems.map(|stem| format!("{folder}/{stem}.jsonl")));
                }
                LogName::InEach(folder, file) => {
                    let below = list_names(&raw.join(folder))?.into_iter();
                    files.extend(below.map(|below| format!("{folder}/{below}/{file}")).filter(is_there));
                }
            }
        }
        for head in heads {
            match head.rsplit_once('/').filter(|_| !head.ends_with(".jsonl")) {
                Some((folder, _)) => drop(folders.insert(folder.to_owned())),
                None => drop(files.insert(head)),
            }
        }
        let files = files.into_iter().map(|name| {
            let log = Log::in_file(raw.join(&name));
            let log = if self.is_private(&name) { log.owner_only() } else { log };
            (name, RawLog::File(log))
        });
        let folders = folders.into_iter().map(|name| {
            let segments = Segments::in_folder(raw.join(&name));
            (name, RawLog::Folder(segments))
        });
        Ok(folders.chain(files).collect())
    }
}

fn list_names(folder: &Path) -> Result<Vec<String>, LogError> {
    Ok(folder_entries(folder)?.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

/// Gives heads to a log that has lost them. The lengths are unknown, and a chain that does not match is found
/// on reading.
fn adopt_log(home: &Home, kind: &RawLog) -> Result<(), LogError> {
    let folder = match kind {
        RawLog::File(log) => return home.append_synced(&[Head::of_empty_file(home.name_in_raw(log.path()))]),
        RawLog::Folder(segments) => &segments.dir,
    };
    let mut segments = list_segments(folder, true)?.segments;
    // Of the two files that a stopped seal leaves, the sealed one counts.
    segments.sort_by_key(|segment| segment.is_sealed);
    let head = |segment: SegmentFile| {
        let name = home.name_in_raw(&folder.join(format_number(segment.number)));
        Head { sealed: segment.hash.map(|hash| hash.to_string()), ..Head::of_empty_file(name) }
    };
    let heads: Vec<Head> = segments.into_iter().map(head).collect();
    if heads.is_empty() { Ok(()) } else { home.append_synced(&heads) }
}

fn of_file(home: &Home, log: &Log, moved_to: &Path) -> Result<(usize, usize), LogError> {
    let (path, name) = (log.path(), home.name_in_raw(log.path()));
    let files = [(path.to_owned(), moved_to.to_owned())];
    let intact = |path: &Path| -> Result<Vec<Intact>, LogError> {
        Ok(intact_lines(&home.name_in_raw(path), &what_is_there(path)?))
    };
    replace_log(home, &of_log(path), &files, vec![name], intact, |lines| log.append_lines(lines))
}

fn of_folder(
    home: &Home,
    segments: &Segments,
    moved_to: &Path,
    reads: impl Fn(&[u8]) -> bool,
) -> Result<(usize, usize), LogError> {
    let folder = &segments.dir;
    let (strangers, mut foreign) = (segments.find_foreign()?, 0);
    for path in &strangers {
        foreign += filled_lines(&what_is_there(path)?).count();
        move_aside(path, &moved_to.join(path.file_name().unwrap_or_default()))?;
    }
    // Without them it may be whole.
    if !strangers.is_empty()
        && let Ok(chunks) = segments.read_lines()
    {
        return Ok((chunks.iter().map(|(_, lines)| filled_lines(lines).count()).sum(), foreign));
    }
    // Any file name of a log counts, because a wrong name may be the damage.
    let there = list_names(folder)?.into_iter().filter(|name| is_log(name));
    let files: Vec<_> = there.map(|name| (folder.join(&name), moved_to.join(&name))).collect();
    let intact = |path: &Path| -> Result<Vec<Intact>, LogError> {
        let mut bytes = Vec::new();
        for piece in pieces_of_file(path, &what_is_there(path)?) {
            bytes.extend_from_slice(&piece.bytes);
            // What follows a gap does not continue the line before it.
            if !piece.is_whole {
                bytes.push(b'\n');
            }
        }
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        let name = home.name_in_raw(&folder.join(stem.split('.').next().unwrap_or_default()));
        // Whether a line matches its own id is checked by its readers.
        let is_kept = |line: &Vec<u8>| is_object(line) && reads(line);
        let lines = filled_lines(&bytes).zip(intact_lines(&name, &bytes));
        Ok(lines
            .map(|(line, proved)| proved.or_else(|| Some(split_chain(line).0.into_owned()).filter(is_kept)))
            .collect())
    };
    let gone = segments.read_heads()?.into_keys().collect();
    let append = |lines: &[u8]| segments.open_writer()?.append_blocks(&[lines]).map(drop);
    let (kept, left_out) = replace_log(home, &of_segments(folder), &files, gone, intact, append)?;
    Ok((kept, left_out + foreign))
}

/// A file's content. A link or a pipe in its place holds none of its lines; it is moved aside itself.
fn what_is_there(path: &Path) -> Result<Vec<u8>, LogError> {
    match fence::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) if fence::refusal_of_error(&e).is_some() && fence::guard_entry(path).is_ok() => Ok(Vec::new()),
        read => read.map_err(LogError::io(path, "read")),
    }
}

/// Moves the files of a log aside, and makes the log of their intact lines anew. Returns how many these are, and
/// how many lines are left out.
fn replace_log(
    home: &Home,
    salvage: &Path,
    files: &[(PathBuf, PathBuf)],
    gone: Vec<String>,
    intact: impl Fn(&Path) -> Result<Vec<Intact>, LogError>,
    append: impl FnOnce(&[u8]) -> Result<(), LogError>,
) -> Result<(usize, usize), LogError> {
    let mut left_out = 0;
    // Written next to the log before anything is moved, so that a stopped salvage can be continued.
    if !salvage.exists() {
        let mut kept = Vec::new();
        for (path, _) in files {
            for line in intact(path)? {
                left_out += usize::from(line.is_none());
                kept.extend(line.into_iter().flat_map(|line| line.into_iter().chain([b'\n'])));
            }
        }
        if let Some(folder) = salvage.parent() {
            fence::create_folder(folder).map_err(LogError::io(folder, "create"))?;
        }
        durable::replace_file(salvage, &kept)
            .map_err(|e| LogError::io(salvage, "write")(io::Error::other(e.to_string())))?;
    }
    files.iter().try_for_each(|(from, to)| move_aside(from, to).map(drop))?;
    // Without this, the files with only the intact lines would count as cut.
    let gone: Vec<Head> =
        gone.into_iter().map(|file| Head { gone: true, ..Head::of_empty_file(file) }).collect();
    if !gone.is_empty() {
        home.append_synced(&gone)?;
    }
    let kept = fence::read(salvage).map_err(LogError::io(salvage, "read"))?;
    if !kept.is_empty() {
        append(&kept)?;
    }
    // Last: while it exists, readers refuse the log, and a salvage that was stopped is repeated.
    fence::remove_file(salvage).map_err(LogError::io(salvage, "remove"))?;
    Ok((filled_lines(&kept).count(), left_out))
}

/// The lines of a file that follow from the line before, or from which the next line follows; `None` for
/// others. Before the first line with a chain, every JSON object counts.
pub(super) fn intact_lines(name: &str, bytes: &[u8]) -> Vec<Intact> {
    let mut sound: Vec<Intact> = Vec::new();
    let mut doubted: Option<Vec<u8>> = None;
    let (mut computed, mut stated_before, mut chained) = (Chain::start_chain(name), None, false);
    for line in filled_lines(bytes) {
        let (bare, stated) = split_chain(line);
        let bare = bare.into_owned();
        let is_object = is_object(&bare);
        let follows_computed = stated == Some(computed.after_line(&bare));
        // Lines after a damaged one are still linked to the chain that it states.
        let follows_stated =
            stated_before.is_some_and(|before: Chain| stated == Some(before.after_line(&bare)));
        let is_sound = is_object && (follows_computed || follows_stated || (stated.is_none() && !chained));
        chained |= stated.is_some();
        // Continues with the chain that this line proves: one damaged line must not condemn all later ones.
        computed = match follows_stated {
            true => stated_before.map_or(computed, |before| before.after_line(&bare)),
            false => computed.after_line(&bare),
        };
        stated_before = stated;
        // Only the chain member of the line before was damaged: the line after it proves its content.
        if let (true, Some(before), Some(last)) = (follows_computed, doubted.take(), sound.last_mut()) {
            *last = Some(before);
        }
        doubted = (!is_sound && is_object).then(|| bare.clone());
        sound.push(is_sound.then_some(bare));
    }
    sound
}

fn is_object(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
}
