//! The journal: an index of the archive, rebuilt from it if it is behind, torn or lost.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::done::{Done, FrontierError};
use super::segment::{self, SegmentEntry};
use super::settings::Source;
use riddlemill_files::fence;

/// The folders of a crawl.
#[derive(Clone, Debug)]
pub struct Dirs {
    /// `raw/warc`, with a folder for each source. Nothing there is rewritten or deleted.
    pub warc: PathBuf,
    /// Outside of `raw/`: an index that is rebuilt if it is lost.
    pub state: PathBuf,
}

impl Dirs {
    /// The folder of a source's archive.
    pub fn archive_folder(&self, source: &str) -> PathBuf {
        self.warc.join(source)
    }

    pub(super) fn journal_path(&self, source: &str) -> PathBuf {
        self.state.join(format!("{source}.jsonl"))
    }
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Done { file: String, end: u64, done: Box<Done> },
    PassEnd { pass_end: u32 },
}

/// Finished pages, from journal and archive.
pub(super) struct Replayed {
    /// From the journal.
    pub entries: Vec<SegmentEntry>,
    /// Groups that are only in the archive.
    pub adopted: Vec<SegmentEntry>,
    /// The last pass that was complete.
    pub pass_end: u32,
}

impl From<SegmentEntry> for Line {
    fn from(entry: SegmentEntry) -> Self {
        Line::Done { file: entry.file, end: entry.end, done: Box::new(entry.done) }
    }
}

/// Reads the journal and the part of the archive after it. With `repair`, damaged ends of both are cut off.
pub(super) fn replay_journal(source: &Source, dirs: &Dirs, repair: bool) -> Result<Replayed, FrontierError> {
    let path = dirs.journal_path(&source.name);
    let folder = dirs.archive_folder(&source.name);
    let lengths = file_lengths(&folder).map_err(|error| FrontierError::from_io(&folder, error))?;
    let journal = read_journal(&path, &lengths).map_err(|error| FrontierError::from_io(&path, error))?;
    if repair && let Some(whole) = journal.cut {
        let file = fence::open_with(&path, OpenOptions::new().write(true));
        file.and_then(|file| file.set_len(whole)).map_err(|error| FrontierError::from_io(&path, error))?;
    }
    let (mut entries, mut pass_end) = (Vec::new(), 0);
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    for line in journal.lines {
        match line {
            Line::Done { file, end, done } => {
                known.entry(file.clone()).and_modify(|known| *known = end.max(*known)).or_insert(end);
                entries.push(SegmentEntry { file, end, done: *done });
            }
            Line::PassEnd { pass_end: pass } => pass_end = pass_end.max(pass),
        }
    }
    let adopted = segment::scan_groups(&folder, &known, repair)?;
    Ok(Replayed { entries, adopted, pass_end })
}

fn file_lengths(folder: &Path) -> io::Result<HashMap<String, u64>> {
    let mut lengths = HashMap::new();
    for name in segment::list_segments(folder)? {
        let length = std::fs::metadata(folder.join(&name))?.len();
        lengths.insert(name, length);
    }
    Ok(lengths)
}

struct Journal {
    lines: Vec<Line>,
    /// Where it has to be cut, if it does.
    cut: Option<u64>,
}

/// The lines up to the first that is torn or whose records are not in the archive. The rest is rebuilt from
/// the archive.
fn read_journal(path: &Path, lengths: &HashMap<String, u64>) -> io::Result<Journal> {
    let mut journal = Journal { lines: Vec::new(), cut: None };
    let file = match fence::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journal),
        other => other?,
    };
    let mut reader = BufReader::new(file);
    let (mut whole, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(journal);
        }
        // The journal can be ahead of the archive if the archive is an older copy.
        let is_stored = |line: &Line| match line {
            Line::Done { file, end, .. } => lengths.get(file).is_some_and(|length| end <= length),
            Line::PassEnd { .. } => true,
        };
        match serde_json::from_slice::<Line>(&line) {
            Ok(parsed) if line.ends_with(b"\n") && is_stored(&parsed) => journal.lines.push(parsed),
            _ => {
                journal.cut = Some(whole);
                return Ok(journal);
            }
        }
        whole += read as u64;
    }
}

/// Appends a line, which is durable when this returns.
pub(super) fn append_line(journal: &mut File, line: &Line) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
    bytes.push(b'\n');
    journal.write_all(&bytes)?;
    journal.sync_data()
}
