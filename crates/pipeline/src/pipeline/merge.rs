//! Merges the work of people and the paid replies of a workspace that diverged from this one.
//!
//! Two annotators who were offline, a crawl on another machine: both began as copies of one workspace, or
//! with the same settings. Everything is identified by its content, so that it is merged once, in whatever
//! direction and however often. Nothing here is replaced: contradictions are stored next to it and wait for a
//! person.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use riddlemill_files::log::{Log, LogError, LogName, Logs};
use riddlemill_harvest::warc::{self, MergedFile};
use riddlemill_llm::{MergedReplies, Store, open_batches};
use riddlemill_review::carry::{Seen, SeenLog};
use riddlemill_review::decisions::{DecisionLine, DecisionLog};
use riddlemill_review::{Digest, Vote, VoteLog, find_contradictions};
use riddlemill_tables::{Error, Workspace};

use super::logs::registered_logs;
use super::rows::secrets_stand;
use crate::config::Config;
use crate::stages::draft::open_damaged_store;
use crate::stages::withdrawal::{Withdrawals, salt_digests};
use crate::stages::{StageError, salt};

/// What was new in the other workspace.
#[derive(Debug, Default)]
pub struct Merged {
    /// Votes, in the order they were cast there.
    pub votes: Vec<Vote>,
    /// Those of them that contradict the same person's vote, or another adjudicator's, here.
    pub contradicting: Vec<Digest>,
    /// Decisions, withdrawals of decisions, and decisions that contradict one here.
    pub decisions: Vec<DecisionLine>,
    /// Attempts and replies.
    pub replies: MergedReplies,
    /// Tasks and skipped items, by their file in raw/.
    pub tasks: Vec<(PathBuf, usize)>,
    /// Texts that voters saw.
    pub seen: usize,
    /// Withdrawals.
    pub withdrawn: usize,
    /// Archives.
    pub archives: Vec<MergedFile>,
    /// What has to be copied or decided separately, with hints.
    pub left: Vec<String>,
    /// What could not be merged, and why.
    pub refused: Vec<String>,
}

impl Merged {
    /// Whether nothing was new.
    pub fn is_empty(&self) -> bool {
        let Merged { votes, decisions, replies, tasks, seen, withdrawn, archives, .. } = self;
        votes.is_empty()
            && decisions.is_empty()
            && replies.is_empty()
            && tasks.is_empty()
            && (*seen, *withdrawn) == (0, 0)
            && archives.is_empty()
    }
}

/// Why nothing, or not everything, was merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is no raw/ in it.
    #[error("{} is not a workspace, because it has no raw/\n  hint: give the folder of the other pipeline.toml", .0.display())]
    NoWorkspace(PathBuf),
    /// It is this workspace.
    #[error("{} is this workspace itself", .0.display())]
    Itself(PathBuf),
    /// A log of one of them is damaged: nothing was merged.
    #[error("raw/{log} of {}: {what}\n  hint: run `riddlemill fsck` there", root.display())]
    Damaged {
        /// The workspace.
        root: PathBuf,
        log: String,
        /// The damage.
        what: String,
    },
    /// A log could not be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file of this workspace could not be read or written.
    #[error(transparent)]
    File(#[from] Error),
    /// The replies could not be read or written.
    #[error(transparent)]
    Replies(#[from] StageError),
    /// An archive could not be read or written.
    #[error("{0}")]
    Archive(#[from] io::Error),
}

/// Merges what the workspace in the folder `other` has and this one does not. With `only_look` nothing is
/// written. It can be stopped and called again. The other workspace is only read.
///
/// # Errors
/// [`MergeError`] if a log of either is damaged (then nothing is merged), or something cannot be read or
/// written.
pub fn merge_workspace(config: &Config, other: &Path, only_look: bool) -> Result<Merged, MergeError> {
    let here = Workspace::new(&config.root);
    let there = Workspace::new(other);
    if !there.raw_folder().is_dir() {
        return Err(MergeError::NoWorkspace(other.to_owned()));
    }
    // Two paths may lead to one folder, by a link or a relative path.
    if fs::canonicalize(here.raw_folder()).ok() == fs::canonicalize(there.raw_folder()).ok() {
        return Err(MergeError::Itself(other.to_owned()));
    }
    for workspace in [&here, &there] {
        let damaged = Logs::new(&workspace.raw_folder(), &registered_logs()).check_logs()?;
        if let Some((log, what)) = damaged.into_iter().next() {
            return Err(MergeError::Damaged { root: workspace.root().to_owned(), log, what });
        }
    }
    // What belongs to another salt than the one that is here would be mixed with what belongs to this one.
    secrets_stand(&here)?;
    // Everything is read before anything is written, so that errors stop it here.
    let looked = merge_raw_folder(config, &here, &there, true)?;
    if only_look { Ok(looked) } else { merge_raw_folder(config, &here, &there, false) }
}

fn merge_raw_folder(
    config: &Config,
    here: &Workspace,
    there: &Workspace,
    only_look: bool,
) -> Result<Merged, MergeError> {
    let mut merged = Merged::default();
    merge_withdrawals(here, there, only_look, &mut merged)?;
    let folder = |workspace: &Workspace, name: &str| workspace.raw_folder().join(name);
    // The texts come before the votes on them, so that a merge stopped here leaves no vote without its text.
    let theirs = SeenLog::read_folder(&folder(there, "seen"))?;
    let known = SeenLog::read_folder(&folder(here, "seen"))?;
    let texts: Vec<Seen> =
        theirs.iter_texts().filter(|seen| known.get(seen.content_hash).is_none()).cloned().collect();
    merged.seen = texts.len();
    if !only_look {
        SeenLog::append_texts(&folder(here, "seen"), texts)?;
    }
    for name in registered_logs() {
        // Files beside the votes, whose lines are merged by their text.
        let LogName::Files(place) = name else { continue };
        for file in list_folder(&folder(there, place))? {
            let name = Path::new(place).join(&file);
            let [mine, theirs] =
                [here, there].map(|workspace| Log::in_file(workspace.raw_folder().join(&name)));
            let new = mine.merge_log(&theirs, only_look)?.len();
            merged.tasks.extend((new > 0).then_some((name, new)));
        }
    }
    merge_votes(here, there, only_look, &mut merged)?;
    merged.decisions = DecisionLog::merge(&here.decisions_folder(), &there.decisions_folder(), only_look)?;
    let replies = Store::merge_stores(&folder(here, "replies"), &folder(there, "replies"), only_look);
    merged.replies = replies.map_err(StageError::from)?;
    if !only_look && !merged.replies.is_empty() {
        // Seals and indexes what was written.
        drop(open_damaged_store(config)?);
    }
    merged.archives = warc::merge_archives(&folder(here, "warc"), &folder(there, "warc"), only_look)?;
    list_unmerged(here, there, &mut merged)?;
    Ok(merged)
}

/// Merges votes, and finds contradictions.
fn merge_votes(
    here: &Workspace,
    there: &Workspace,
    only_look: bool,
    merged: &mut Merged,
) -> Result<(), MergeError> {
    let theirs = VoteLog::as_cast(there.raw_folder().join("votes"))?;
    merged.refused.extend(theirs.damaged().iter().cloned());
    let mut mine = VoteLog::open(here.raw_folder().join("votes"))?;
    merged.votes = mine.merge(&theirs, only_look)?;
    // When it only looks, the new votes are not part of `mine`.
    let together: Vec<&Vote> = match only_look {
        true => mine.votes().iter().chain(&merged.votes).collect(),
        false => mine.votes().iter().collect(),
    };
    let twice = find_contradictions(&together);
    let in_dispute = |vote: &&Vote| {
        !vote.contradicts.is_empty()
            || twice.iter().any(|(head, others)| head.id == vote.id || others.iter().any(|v| v.id == vote.id))
    };
    merged.contradicting = merged.votes.iter().filter(in_dispute).map(|vote| vote.id).collect();
    Ok(())
}

/// Tombstones are hashes under the salt of their workspace.
fn merge_withdrawals(
    here: &Workspace,
    there: &Workspace,
    only_look: bool,
    merged: &mut Merged,
) -> Result<(), MergeError> {
    let [mine, theirs] =
        [here, there].map(|workspace| Log::in_file(workspace.raw_folder().join("withdrawn.jsonl")));
    let wanted = theirs.read_lines()?.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
    if wanted == 0 {
        return Ok(());
    }
    // Also if the salt there is no longer the one that its own withdrawals belong to.
    if let Err(e) = Withdrawals::load(there) {
        merged
            .refused
            .push(format!("withdrawn.jsonl: {wanted} withdrawals of {}: {e}", there.root().display()));
        return Ok(());
    }
    let digest = |workspace: &Workspace| {
        Ok::<_, Error>(salt::read_salt(workspace)?.map(|salt| salt::fingerprint_salt(&salt)))
    };
    let own = digest(here)?;
    let (stated, without) = salt_digests(there)?;
    // Lines of before digests are under the salt that is there today.
    let unstated = if without > 0 { Some(digest(there)?) } else { None };
    if stated.into_iter().map(Some).chain(unstated).any(|digest| digest != own) {
        merged.refused.push(format!(
            "withdrawn.jsonl: {wanted} withdrawals of {} are hashes under another salt, and name no post here\n  \
             hint: `riddlemill withdraw` them here, too",
            there.root().display()
        ));
        return Ok(());
    }
    merged.withdrawn = mine.merge_log(&theirs, only_look)?.len();
    Ok(())
}

/// What has to be copied, or decided about, separately.
fn list_unmerged(here: &Workspace, there: &Workspace, merged: &mut Merged) -> Result<(), MergeError> {
    for folder in ["dumps", "drafts", "responses", "ratings"] {
        for name in list_folder(&there.raw_folder().join(folder))? {
            if !here.raw_folder().join(folder).join(&name).exists() {
                merged.left.push(format!("raw/{folder}/{} is not here: copy it", name.display()));
            }
        }
    }
    match open_batches(&there.raw_folder().join("replies"))?.len() {
        0 => {}
        n => merged.left.push(format!(
            "{n} of its batches are on their way to a model: `riddlemill run` there fetches them; then merge once more"
        )),
    }
    for recipe in list_folder(&there.raw_folder().join("releases"))? {
        for version in list_folder(&there.raw_folder().join("releases").join(&recipe))? {
            let place = Path::new("releases").join(&recipe).join(&version);
            if there.raw_folder().join(&place).is_dir() && !here.raw_folder().join(&place).exists() {
                merged.left.push(format!(
                    "{} {} was released there: versions are given by one workspace alone",
                    recipe.display(),
                    version.display()
                ));
            }
        }
    }
    Ok(())
}

/// The entries of a folder, sorted; empty if it is missing.
fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("list", folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        // Names of locks and of unfinished writes begin with a dot.
        if !name.to_string_lossy().starts_with('.') {
            names.push(PathBuf::from(name));
        }
    }
    names.sort();
    Ok(names)
}
