//! Salvages what is intact of a damaged log, and keeps the damaged files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::chain::{Chain, split};
use super::heads::{HEADS, Head, Home, sync_folder};
use super::stopped::{of_log, of_segments};
use super::{Log, LogError, Segments};
use crate::fence;
use crate::{durable, unpack};

/// The logs of raw/ that are folders of segments.
const FOLDERS: [&str; 3] = ["votes", "decisions", "seen"];
/// Logs that are files, and folders of such files.
const FILES: [&str; 2] = ["access.jsonl", "withdrawn.jsonl"];
const FOLDERS_OF_FILES: [&str; 6] =
    ["votes/assigned", "votes/skipped", "votes/notes", "votes/guidelines", "votes/trials", "votes/aside"];

/// A log that was damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub moved_to: PathBuf,
}

/// A log of raw/.
enum Kind {
    File(Log),
    Folder(Segments, PathBuf),
}

/// The damaged logs of a raw/ folder: name, and what does not match.
///
/// # Errors
/// [`LogError`] if one cannot be read at all.
pub fn check(raw: &Path) -> Result<Vec<(String, String)>, LogError> {
    Ok(examine(raw)?.into_iter().map(|(name, what, _)| (name, what)).collect())
}

/// [`check`], each with whether its intact lines can be salvaged.
fn examine(raw: &Path) -> Result<Vec<(String, String, bool)>, LogError> {
    let home = Home(raw.to_owned());
    let mut found = Vec::new();
    let names = match home.read() {
        Ok(heads) => heads.into_keys().collect(),
        Err(LogError::Damaged { what, .. }) => {
            found.push((HEADS.to_owned(), what, true));
            return Ok(found);
        }
        Err(newer @ LogError::Newer { .. }) => {
            found.push((HEADS.to_owned(), newer.to_string(), false));
            return Ok(found);
        }
        Err(other) => return Err(other),
    };
    for (name, kind) in logs(raw, names)? {
        let read = match &kind {
            Kind::File(log) => log.read().map(drop),
            Kind::Folder(segments, _) => segments.lines().map(drop),
        };
        match read {
            Ok(()) => {}
            Err(LogError::Damaged { path, what }) => {
                let at = home.name(&path);
                found.push((name.clone(), if at == name { what } else { format!("{at}: {what}") }, true));
            }
            // Nothing of a newer program is thrown away.
            Err(newer @ LogError::Newer { .. }) => found.push((name.clone(), newer.to_string(), false)),
            Err(LogError::Io { path, source, .. }) if fence::refusal(&source).is_some() => {
                let at = home.name(&path);
                found.push((
                    name.clone(),
                    if at == name { source.to_string() } else { format!("{at}: {source}") },
                    true,
                ));
            }
            Err(other) => return Err(other),
        }
    }
    Ok(found)
}

/// Replaces every damaged log by its intact lines, and moves the damaged files to raw/damaged. Nothing is
/// deleted.
///
/// # Errors
/// [`LogError`] if something cannot be read or written; finished steps remain, and it can be called again.
pub fn salvage(raw: &Path) -> Result<Vec<Salvaged>, LogError> {
    let home = Home(raw.to_owned());
    let damaged: Vec<_> = examine(raw)?.into_iter().filter(|(.., can)| *can).collect();
    let mut salvaged = Vec::new();
    let Some(moved_to) = (!damaged.is_empty()).then(|| free_folder(raw)) else { return Ok(salvaged) };
    for (name, what, _) in damaged {
        if name == HEADS {
            move_damaged(&raw.join(HEADS), &moved_to.join(HEADS))?;
            // Without heads, the logs' own chains have to do.
            let mut names = BTreeSet::new();
            for (name, kind) in logs(raw, Vec::new())? {
                adopt(&home, &kind)?;
                names.insert(name);
            }
            salvaged.push(Salvaged { log: name, what, kept: 0, left_out: 0, moved_to: moved_to.clone() });
            // The other logs can be checked only now that there are heads again.
            salvaged.extend(salvage(raw)?);
            return Ok(salvaged);
        }
        let heads = home.read()?.into_keys().collect();
        let Some((_, kind)) = logs(raw, heads)?.into_iter().find(|(other, _)| *other == name) else {
            continue;
        };
        let salvage = match &kind {
            Kind::File(log) => of_file(&home, log.path(), &moved_to.join(&name)),
            Kind::Folder(_, folder) => of_folder(&home, folder, &moved_to.join(&name)),
        };
        let (kept, left_out) = match salvage {
            // Its folder is a link out of the workspace: nothing is done there, and it stays a finding.
            Err(LogError::Io { source, .. }) if fence::refusal(&source).is_some() => continue,
            done => done?,
        };
        salvaged.push(Salvaged { log: name, what, kept, left_out, moved_to: moved_to.clone() });
    }
    Ok(salvaged)
}

/// The logs that exist or existed, by name.
fn logs(raw: &Path, heads: Vec<String>) -> Result<Vec<(String, Kind)>, LogError> {
    let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
    folders.extend(FOLDERS.iter().filter(|name| raw.join(name).exists()).map(|name| (*name).to_owned()));
    // A stopped salvage may have left only its intermediate files.
    let is_there = |name: &str| raw.join(name).exists() || of_log(&raw.join(name)).exists();
    files.extend(FILES.iter().filter(|name| is_there(name)).map(|name| (*name).to_owned()));
    for folder in FOLDERS_OF_FILES {
        let stems = names(&raw.join(folder))?.into_iter().filter_map(|name| {
            name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".salvage")).map(str::to_owned)
        });
        files.extend(stems.map(|stem| format!("{folder}/{stem}.jsonl")));
    }
    let registries =
        names(&raw.join("releases"))?.into_iter().map(|r| format!("releases/{r}/registry.jsonl"));
    files.extend(registries.filter(|name| is_there(name)));
    for head in heads {
        match head.rsplit_once('/').filter(|_| !head.ends_with(".jsonl")) {
            Some((folder, _)) => drop(folders.insert(folder.to_owned())),
            None => drop(files.insert(head)),
        }
    }
    let files = files.into_iter().map(|name| {
        let log = Log::at(raw.join(&name));
        let log = if name == "access.jsonl" { log.private() } else { log };
        (name, Kind::File(log))
    });
    let folder = |name: String| {
        let path = raw.join(&name);
        (name, Kind::Folder(Segments::at(&path), path))
    };
    Ok(folders.into_iter().map(folder).chain(files).collect())
}

fn names(folder: &Path) -> Result<Vec<String>, LogError> {
    let entries = match fence::list(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(LogError::io(folder, "list")(e)),
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names =
        entries.map(name).collect::<io::Result<Vec<_>>>().map_err(LogError::io(folder, "list"))?;
    // File systems list their entries in any order.
    names.sort();
    Ok(names)
}

/// A folder of raw/damaged that does not exist yet.
fn free_folder(raw: &Path) -> PathBuf {
    let damaged = raw.join("damaged");
    // An earlier salvage keeps its folder, because nothing damaged is ever overwritten.
    let free = (1u32..).map(|n| damaged.join(format!("{n:03}"))).find(|folder| !folder.exists());
    free.unwrap_or(damaged)
}

/// Gives heads to a log that has lost them.
fn adopt(home: &Home, kind: &Kind) -> Result<(), LogError> {
    let files: Vec<String> = match kind {
        Kind::File(log) => vec![home.name(log.path())],
        Kind::Folder(_, folder) => {
            let open = names(folder)?.into_iter().filter(|name| is_segment(name) && name.ends_with(".jsonl"));
            let stem = |name: &str| name.trim_end_matches(".jsonl").to_owned();
            open.map(|name| home.name(&folder.join(stem(&name)))).collect()
        }
    };
    for name in files {
        // The length is unknown, and a chain that does not match is found on reading.
        home.append_synced(&[Head::new(name.clone(), 0, Chain::start(&name))])?;
    }
    if let Kind::Folder(_, folder) = kind {
        for name in names(folder)?.iter().filter(|name| is_segment(name) && name.ends_with(".zst")) {
            let mut parts = name.split('.');
            let (Some(number), Some(hash)) = (parts.next(), parts.next()) else { continue };
            let name = home.name(&folder.join(number));
            let head = Head::new(name.clone(), 0, Chain::start(&name));
            home.append_synced(&[Head { sealed: Some(hash.to_owned()), ..head }])?;
        }
    }
    Ok(())
}

fn is_segment(name: &str) -> bool {
    name.split_once('.').is_some_and(|(number, rest)| {
        number.parse::<u32>().is_ok() && (rest == "jsonl" || rest.ends_with(".jsonl.zst"))
    })
}

fn move_damaged(from: &Path, to: &Path) -> Result<(), LogError> {
    if let Some(folder) = to.parent() {
        fence::create_folder(folder).map_err(LogError::io(folder, "create"))?;
    }
    match fence::rename(from, to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        renamed => renamed.map_err(LogError::io(from, "move aside"))?,
    }
    [from, to].into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// The intact lines of a log are written next to it before anything is moved, so that a stopped salvage can
/// be continued.
fn prepare(salvage: &Path, lines: &[Vec<u8>]) -> Result<(), LogError> {
    let lines: Vec<u8> = lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect();
    if let Some(folder) = salvage.parent() {
        fence::create_folder(folder).map_err(LogError::io(folder, "create"))?;
    }
    durable::replace(salvage, &lines)
        .map_err(|e| LogError::io(salvage, "write")(io::Error::other(e.to_string())))
}

fn of_file(home: &Home, path: &Path, moved_to: &Path) -> Result<(usize, usize), LogError> {
    let salvage = of_log(path);
    let mut left_out = 0;
    if !salvage.exists() {
        let bytes = match fence::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            // A link or a pipe in its place holds none of its lines; it is moved aside itself.
            Err(e) if fence::refusal(&e).is_some() && fence::guard_entry(path).is_ok() => Vec::new(),
            Err(e) => return Err(LogError::io(path, "read")(e)),
        };
        let lines = sound(&home.name(path), &bytes);
        left_out = lines.iter().filter(|line| line.is_none()).count();
        prepare(&salvage, &lines.into_iter().flatten().collect::<Vec<_>>())?;
    }
    move_damaged(path, moved_to)?;
    let name = home.name(path);
    // Without this, the file with only the intact lines would count as cut.
    home.append_synced(&[Head { gone: true, ..Head::new(name.clone(), 0, Chain::start(&name)) }])?;
    let lines = fence::read(&salvage).map_err(LogError::io(&salvage, "read"))?;
    let log = Log::at(path);
    let log = if name == "access.jsonl" { log.private() } else { log };
    if !lines.is_empty() {
        log.append(&lines)?;
    }
    // Last: while it exists, readers refuse the log, and a salvage that was stopped is repeated.
    fence::remove_file(&salvage).map_err(LogError::io(&salvage, "remove"))?;
    Ok((count(&lines), left_out))
}

fn count(lines: &[u8]) -> usize {
    lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count()
}

/// The lines of a file that follow from the line before, or from which the next line follows; `None` for
/// others. Before the first line with a chain, every JSON object counts.
fn sound(name: &str, bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let parsed: Vec<_> = bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (bare, stated) = split(line);
            (bare.into_owned(), stated)
        })
        .collect();
    let mut lines: Vec<Option<Vec<u8>>> = Vec::new();
    let mut doubted: Option<Vec<u8>> = None;
    let (mut computed, mut stated_before, mut chained) = (Chain::start(name), None, false);
    for (bare, stated) in parsed {
        let is_object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bare).is_ok();
        let follows_computed = stated == Some(computed.after(&bare));
        // Lines after a damaged one are still linked to the chain that it states.
        let follows_stated = stated_before.is_some_and(|before: Chain| stated == Some(before.after(&bare)));
        let is_sound = is_object && (follows_computed || follows_stated || (stated.is_none() && !chained));
        chained |= stated.is_some();
        // Continues with the chain that this line proves: one damaged line must not condemn all later ones.
        computed = match follows_stated {
            true => stated_before.map_or(computed, |before| before.after(&bare)),
            false => computed.after(&bare),
        };
        stated_before = stated;
        // Only the chain member of the line before was damaged: the line after it proves its content.
        if let (true, Some(before), Some(last)) = (follows_computed, doubted.take(), lines.last_mut()) {
            *last = Some(before);
        }
        doubted = (!is_sound && is_object).then(|| bare.clone());
        lines.push(is_sound.then_some(bare));
    }
    lines
}

fn of_folder(home: &Home, folder: &Path, moved_to: &Path) -> Result<(usize, usize), LogError> {
    let salvage = of_segments(folder);
    // Any file name of a log counts, because a wrong name may be the damage.
    let is_log = |name: &String| name.ends_with(".jsonl") || name.ends_with(".jsonl.zst");
    let there = || Ok::<_, LogError>(names(folder)?.into_iter().filter(is_log));
    let mut left_out = 0;
    if !salvage.exists() {
        let mut lines = Vec::new();
        for name in there()? {
            let path = folder.join(&name);
            let bytes = match name.ends_with(".zst") {
                true => unpacked(&path)?,
                false => match fence::read(&path) {
                    Err(e) if fence::refusal(&e).is_some() => Vec::new(),
                    read => read.map_err(LogError::io(&path, "read"))?,
                },
            };
            for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                // Whether a line matches its own id is checked by its readers.
                let bare = split(line).0;
                match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bare) {
                    Ok(_) => lines.push(bare.into_owned()),
                    Err(_) => left_out += 1,
                }
            }
        }
        prepare(&salvage, &lines)?;
    }
    for name in there()? {
        move_damaged(&folder.join(&name), &moved_to.join(&name))?;
    }
    let name = home.name(folder);
    let of_folder = |file: &str| file.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('/'));
    let known = home.read()?.into_keys().filter(|file| of_folder(file) && !file.ends_with(".jsonl"));
    let removed: Vec<Head> =
        known.map(|file| Head { gone: true, ..Head::new(file.clone(), 0, Chain::start(&file)) }).collect();
    if !removed.is_empty() {
        home.append_synced(&removed)?;
    }
    let lines = fence::read(&salvage).map_err(LogError::io(&salvage, "read"))?;
    if !lines.is_empty() {
        Segments::at(folder).writer()?.append(&[&lines])?;
    }
    fence::remove_file(&salvage).map_err(LogError::io(&salvage, "remove"))?;
    Ok((count(&lines), left_out))
}

/// What a sealed segment contains before its damage.
fn unpacked(path: &Path) -> Result<Vec<u8>, LogError> {
    let mut lines = Vec::new();
    if let Ok(mut packed) = unpack(path) {
        let mut piece = vec![0; 1 << 16];
        while let Ok(read @ 1..) = packed.read(&mut piece) {
            lines.extend_from_slice(&piece[..read]);
        }
    }
    Ok(lines)
}
