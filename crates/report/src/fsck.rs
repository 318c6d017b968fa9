//! Whether all of raw/ is intact.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::Config;
use crate::decisions::DecisionLog;
use crate::llm::SalvagedReplies;
use crate::llm::store::Finding as Told;
use crate::pipeline::{RunError, Tasks, secrets_stand};
use crate::recipe::{self, RECIPES};
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{StageError, draft, import};
use crate::store::{Error, Workspace};
use crate::warc::{ArchiveReader, ReadError, block_digest, resync_reader};
use riddlemill_files::fence;
use riddlemill_files::log::{Log, LogError, LogName, Logs, Salvaged};
use riddlemill_release as release;
use riddlemill_review::carry::SeenLog;
use riddlemill_review::{VoteLog, grades, guidance, is_readable_line};

/// What was found in raw/, and what was salvaged before.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Checked {
    /// Logs that were damaged.
    pub salvaged: Vec<Salvaged>,
    /// Segments of replies that were damaged.
    pub replies: Vec<SalvagedReplies>,
    /// What is damaged or changed.
    pub findings: Vec<Finding>,
    /// What is no damage and should be known.
    pub notes: Vec<Finding>,
}

/// Something in raw/ that was damaged or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file or folder, relative to the workspace.
    pub place: String,
    pub what: String,
}

/// Longest block of records that is checked, in bytes.
const BLOCK: u64 = 64 << 20;

/// Checks all of raw/; if wanted, salvages what is intact of damaged logs before. `names` are those of every log of the
/// program; `grants` reads who may see the pages.
///
/// # Errors
/// [`RunError`] if a folder or a log cannot be read at all, or what was salvaged not written.
pub fn fsck(
    config: &Config,
    salvages: bool,
    names: &[LogName],
    grants: impl Fn(&Workspace) -> Result<(), Error>,
) -> Result<Checked, RunError> {
    let workspace = Workspace::new(&config.root);
    let raw = workspace.raw_folder();
    let every_log = Logs::new(&raw, names).with_reader(is_readable_line);
    // Salvage comes first, so that the checks below show the damage that is left.
    let salvaged = if salvages { every_log.salvage_logs().map_err(Error::from)? } else { Vec::new() };
    let salvaged_replies = if salvages { salvage_replies(config)? } else { Vec::new() };
    let mut found = Vec::new();
    report_strangers(&workspace, &mut found);
    check_logs(&workspace, &every_log, grants, &mut found)?;
    let mut notes = check_replies(config, &mut found);
    // All recipes: releases stay in raw/ when a source is removed from the settings.
    for recipe in RECIPES.iter() {
        let unsound = release::registry_problems(&workspace, recipe);
        found.extend(unsound.into_iter().map(|(place, what)| make_finding(&workspace, &place, what)));
    }
    check_dumps(config, &mut found);
    check_archives(&workspace, &raw.join("warc"), &mut found)?;
    notes.extend(check_secrets(&workspace, &mut found));
    Ok(Checked { salvaged, replies: salvaged_replies, findings: found, notes })
}

fn make_finding(workspace: &Workspace, place: &Path, what: impl Into<String>) -> Finding {
    let place = place.strip_prefix(workspace.root()).unwrap_or(place);
    Finding { place: place.display().to_string(), what: what.into() }
}

/// Links that lead out of the workspace, pipes, sockets and devices in raw/: nothing opens them. What is in the
/// folder of dumps may be a link, and is checked as a dump.
fn report_strangers(workspace: &Workspace, findings: &mut Vec<Finding>) {
    let raw = workspace.raw_folder();
    let mut waiting = vec![raw.clone()];
    while let Some(place) = waiting.pop() {
        let entries = match fence::list(&place) {
            Ok(entries) => entries,
            Err(e) => {
                findings.extend(
                    fence::refusal_of_error(&e)
                        .map(|refused| make_finding(workspace, &place, refused.to_string())),
                );
                continue;
            }
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| *path != raw.join("dumps")) {
            if let Err(e) = fence::guard_path(&path) {
                findings.extend(
                    fence::refusal_of_error(&e)
                        .map(|refused| make_finding(workspace, &path, refused.to_string())),
                );
            } else if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                waiting.push(path);
            }
        }
    }
}

/// Votes, decisions, tasks, skips, registries, access and withdrawals: their chains, and that each line is
/// valid.
fn check_logs(
    workspace: &Workspace,
    every_log: &Logs,
    grants: impl Fn(&Workspace) -> Result<(), Error>,
    findings: &mut Vec<Finding>,
) -> Result<(), RunError> {
    let raw = workspace.raw_folder();
    let damaged = every_log.check_logs().map_err(Error::from)?;
    // heads.jsonl vouches for every log, so its own damage makes all of them doubtful.
    let unsound: Vec<String> = damaged.iter().map(|(log, _)| log.clone()).collect();
    let is_sound = |name: &str| unsound.iter().all(|log| log != name && log != "heads.jsonl");
    let [of_votes, of_decisions, of_texts] = ["votes", "decisions", "seen"].map(is_sound);
    let damaged_names: Vec<String> = damaged.iter().map(|(_, what)| what.clone()).collect();
    findings.extend(damaged.into_iter().map(|(log, what)| make_finding(workspace, &raw.join(log), what)));
    for stray in every_log.find_strays().map_err(Error::from)? {
        let place = raw.join(stray.parent().and_then(Path::file_name).unwrap_or_default());
        // The damaged log itself reports it already.
        let is_named = damaged_names.iter().any(|what| {
            stray.file_name().and_then(|name| name.to_str()).is_some_and(|name| what.contains(name))
        });
        if !is_named {
            let name = stray.file_name().unwrap_or_default().to_string_lossy().into_owned();
            findings.push(make_finding(
                workspace,
                &place,
                format!("{name}: riddlemill did not write it; move it elsewhere"),
            ));
        }
    }
    // What a log's own reader does not understand, such as a rank of a newer program.
    let mut read: Vec<(String, Result<(), Error>)> = vec![
        ("access.jsonl".into(), grants(workspace)),
        ("withdrawn.jsonl".into(), Withdrawals::load(workspace).map(drop)),
    ];
    for (recipe, review) in RECIPES.iter().flat_map(|r| r.review_steps().map(move |review| (r, review))) {
        let step = review.benchmark_and_ballot().1;
        let name = |folder: &str| format!("votes/{folder}/{}.{step}.jsonl", recipe.name);
        read.push((name("assigned"), Tasks::open(workspace, recipe.name, step).map(drop)));
        // Their readers skip what is no JSON.
        let (trials, notes, guides) = (name("trials"), name("notes"), name("guidelines"));
        read.push((trials.clone(), check_log_lines::<grades::TrialLine>(&raw.join(trials))));
        read.push((notes.clone(), check_log_lines::<guidance::Note>(&raw.join(notes))));
        read.push((guides.clone(), check_log_lines::<guidance::BallotGuideline>(&raw.join(guides))));
    }
    let unread = read.into_iter().filter(|(name, _)| is_sound(name));
    let unread: Vec<(String, Error)> = unread.filter_map(|(name, read)| Some((name, read.err()?))).collect();
    findings
        .extend(unread.into_iter().map(|(name, e)| make_finding(workspace, &raw.join(name), e.to_string())));
    let mut add = |lines: Result<Vec<String>, LogError>| match lines {
        Ok(lines) => findings.extend(lines.into_iter().filter_map(|line| {
            let (place, what) = line.split_once(": ")?;
            Some(make_finding(workspace, Path::new(place), what))
        })),
        Err(e) => findings.push(make_finding(workspace, &raw, e.to_string())),
    };
    // Opening a damaged log would report the same damage a second time.
    if of_votes {
        add(VoteLog::open(raw.join("votes")).map(|log| log.damaged().to_vec()));
    }
    if of_decisions {
        add(DecisionLog::read_folder(&workspace.decisions_folder()).map(|log| log.damaged().to_vec()));
    }
    if of_texts {
        add(SeenLog::read_folder(&raw.join("seen")).map(|log| log.damaged().to_vec()));
    }
    Ok(())
}

/// Whether each line of a log is one that this program knows.
fn check_log_lines<T: DeserializeOwned>(path: &Path) -> Result<(), Error> {
    Ok(Log::in_file(path).read_entries::<T>().map(drop)?)
}

/// Salvages damaged segments of replies into new ones.
fn salvage_replies(config: &Config) -> Result<Vec<SalvagedReplies>, StageError> {
    if !Workspace::new(&config.root).raw_folder().join("replies").is_dir() {
        return Ok(Vec::new());
    }
    Ok(draft::open_damaged_store(config)?.salvage_segments()?)
}

/// Damage of the replies; and, as notes, what their lines state and cannot be.
fn check_replies(config: &Config, found: &mut Vec<Finding>) -> Vec<Finding> {
    let workspace = Workspace::new(&config.root);
    let folder = workspace.raw_folder().join("replies");
    // Does not create a store.
    if !folder.is_dir() || fence::list(&folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Vec::new();
    }
    let named = |f: Told| {
        let at = f.at.map(|at| format!(" at byte {at}")).unwrap_or_default();
        make_finding(&workspace, &folder, format!("segment {:06}{at}: {}", f.segment, f.what))
    };
    let verified = draft::open_damaged_store(config).map_err(|e| e.to_string());
    match verified.and_then(|store| store.verify_segments().map_err(|e| e.to_string())) {
        Ok(verified) => {
            found.extend(verified.findings.into_iter().map(named));
            verified.notes.into_iter().map(named).collect()
        }
        Err(what) => {
            found.push(make_finding(&workspace, &folder, what));
            Vec::new()
        }
    }
}

/// Compares dumps with the hashes in the settings and in pipeline.lock.
fn check_dumps(config: &Config, findings: &mut Vec<Finding>) {
    let mut reported: Vec<String> = Vec::new();
    for recipe in recipe::used_recipes(config) {
        if let Err(problems) = import::find_source_files(config, recipe.name, recipe.is_of_riddles()) {
            reported
                .extend(problems.0.into_iter().map(|problem| format!("{}: {}", problem.place, problem.what)));
        }
    }
    // Recipes share dumps, so one problem turns up once for each of them.
    reported.sort();
    reported.dedup();
    findings.extend(reported.into_iter().filter_map(|line| {
        let (place, what) = line.split_once(": ")?;
        Some(Finding { place: place.into(), what: what.into() })
    }));
}

/// Compares archives with the digests in their records.
fn check_archives(workspace: &Workspace, folder: &Path, findings: &mut Vec<Finding>) -> Result<(), Error> {
    let mut waiting = vec![folder.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(place) = waiting.pop() {
        let Ok(entries) = fence::list(&place) else { continue };
        for entry in entries {
            let entry = entry.map_err(Error::io("list", &place))?;
            // A link to a folder is checked at its own place, and could lead in a circle.
            match entry.file_type().map_err(Error::io("list", &place))?.is_dir() {
                true => waiting.push(entry.path()),
                false => files.extend(Some(entry.path()).filter(|path| !path.is_dir())),
            }
        }
    }
    // The order of a folder's entries depends on the file system.
    files.sort();
    for path in files.iter().filter(|path| path.to_string_lossy().contains(".warc")) {
        findings.extend(check_archive(path).into_iter().map(|what| make_finding(workspace, path, what)));
    }
    Ok(())
}

/// All damage in an archive: after a damaged record, reading continues at the next whole one.
fn check_archive(path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let opened = fence::open(path).and_then(|file| ArchiveReader::new(BufReader::new(file.take(u64::MAX))));
    let mut reader = match opened {
        Ok(reader) => Some(reader),
        Err(e) => return vec![e.to_string()],
    };
    while let Some(here) = &mut reader {
        match check_record(here) {
            Ok(None) => break,
            Ok(Some(wrong)) => found.extend(wrong),
            Err(e) => {
                found.push(e.to_string());
                reader = match resync_reader(path, e.at, u64::MAX) {
                    Ok(next) => next,
                    Err(e) => {
                        found.push(e.to_string());
                        None
                    }
                };
            }
        }
    }
    found
}

/// Checks the next record's block; `None` at the end.
fn check_record(reader: &mut ArchiveReader<impl BufRead>) -> Result<Option<Option<String>>, ReadError> {
    let Some(record) = reader.next_record()? else { return Ok(None) };
    let stated = record.header.get("WARC-Block-Digest").filter(|digest| digest.starts_with("sha256:"));
    // The whole block is read into memory to hash it.
    let stated = stated.map(str::to_owned).filter(|_| record.length <= BLOCK);
    let mut wrong = None;
    if let Some(stated) = stated {
        let block = reader.read_block(BLOCK)?;
        if block_digest(&block.bytes) != stated {
            let at = record.at;
            wrong = Some(format!(
                "record at byte {}+{}: its block differs from what was stored",
                at.member, at.skip
            ));
        }
    }
    // The checksum is at the end of the record's gzip member.
    reader.finish_record()?;
    Ok(Some(wrong))
}

/// Whether the secrets are those that were used; and, as notes, which of them others may read.
fn check_secrets(workspace: &Workspace, findings: &mut Vec<Finding>) -> Vec<Finding> {
    let mut notes = Vec::new();
    if let Err(e) = secrets_stand(workspace) {
        let place = match &e {
            Error::Damaged { path, .. } => path.clone(),
            _ => workspace.raw_folder(),
        };
        // Damage to the withdrawals themselves is reported with the other logs.
        if !findings.iter().any(|known| workspace.root().join(&known.place) == place) {
            findings.push(make_finding(workspace, &place, e.to_string()));
        }
    }
    if let Ok(unknown @ 1..) = Withdrawals::load(workspace).map(|withdrawals| withdrawals.count_unknown()) {
        let what = format!(
            "{} made under a salt that raw/salt replaces, and no longer {}: `riddlemill withdraw` the posts again",
            if unknown == 1 { "1 withdrawal was".into() } else { format!("{unknown} withdrawals were") },
            if unknown == 1 { "counts" } else { "count" },
        );
        notes.push(make_finding(workspace, &workspace.raw_folder().join("withdrawn.jsonl"), what));
    }
    #[cfg(unix)]
    for name in ["salt", "blinding", "access.jsonl"] {
        use std::os::unix::fs::PermissionsExt;
        let path = workspace.raw_folder().join(name);
        // A secret that does not exist has no mode to complain about.
        let mode = fs::metadata(&path).map_or(0, |meta| meta.permissions().mode() & 0o777);
        if mode & 0o077 != 0 {
            let what = format!("other users can read it (mode {mode:03o}): `chmod 600` prevents that");
            notes.push(make_finding(workspace, &path, what));
        }
    }
    notes
}
