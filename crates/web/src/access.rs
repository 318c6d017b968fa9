//! Access rights: tokens, granted by name and stored as hashes in raw/access.jsonl.
//!
//! A token is 256 random bits, so that its plain SHA-256 is as hard to invert as the token is to guess. The
//! file is only appended to: an invitation, a grant, or the end of one. Following an invitation gives a
//! session and no token: a used link opens nothing any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::store::{Error, Workspace};
use riddlemill_files::log::{Log, LogError, LogName};

/// The log that is written here.
pub(crate) const LOGS: &[LogName] = &[LogName::Private("access.jsonl")];

/// What a person may open. Each rank except the annotators' includes the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// The review pages, as far as the person's role in pipeline.toml allows, and nothing else.
    Annotator,
    /// The audit pages: every stage, record, pair and release, including votes.
    Reader,
    /// Everything, including the progress of annotators and the assignment of work.
    Curator,
}

impl Rank {
    /// Its name in raw/access.jsonl and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Rank::Annotator => "annotator",
            Rank::Reader => "reader",
            Rank::Curator => "curator",
        }
    }
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum AccessEvent {
    Grant {
        name: String,
        rank: Rank,
        sha256: String,
        at: String,
        /// The invitation that was followed, which becomes invalid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invite: Option<String>,
    },
    /// A link that makes a grant, once.
    Invite {
        name: String,
        rank: Rank,
        sha256: String,
        at: String,
        /// Seconds since 1970.
        until: u64,
    },
    Revoke {
        name: String,
        at: String,
    },
    /// Access without a token from this machine is allowed again.
    Open {
        at: String,
    },
}

/// A valid grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The person; for an annotator, the name in pipeline.toml.
    pub name: String,
    /// What it opens.
    pub rank: Rank,
    hash: [u8; 32],
}

/// An invitation that has not been followed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    /// The person invited.
    pub name: String,
    /// What it opens.
    pub rank: Rank,
    /// Expiry, in seconds since 1970.
    pub until: u64,
    hash: [u8; 32],
}

/// How long an invitation is valid, in seconds.
const INVITED_SECS: u64 = 60 * 60 * 24 * 7;

/// The grants of a workspace, reloaded when the file changes.
#[derive(Debug)]
pub struct Access {
    log: Log,
    /// A file that shows that grants existed.
    sessions: PathBuf,
    known: Mutex<AccessContents>,
    /// Held while an invitation is followed, so that it is followed only once.
    following: Mutex<()>,
}

/// The contents, with the file's time and length when it was read.
#[derive(Debug, Default)]
struct AccessContents {
    state: Option<(SystemTime, u64)>,
    holds: Holds,
}

/// The state at the end of the file.
#[derive(Clone, Debug, Default)]
struct Holds {
    grants: Vec<Grant>,
    invites: Vec<Invite>,
    closed: bool,
}

impl Grant {
    /// Identifies this grant without giving access.
    pub(super) fn grant_mark(&self) -> String {
        blake3::hash(&self.hash).to_hex()[..32].to_string()
    }
}

/// The file of a workspace's sessions, which end with their tokens.
pub(super) fn sessions_file(workspace: &Workspace) -> PathBuf {
    workspace.root().join(".index").join("sessions.jsonl")
}

impl Access {
    /// The grants of a workspace.
    pub fn in_workspace(workspace: &Workspace) -> Access {
        let sessions = sessions_file(workspace);
        Access {
            log: Log::in_file(workspace.raw_folder().join("access.jsonl")).owner_only(),
            sessions,
            known: Mutex::default(),
            following: Mutex::default(),
        }
    }

    /// The valid grants, in the order they were given.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read or a line is not an event: then nobody gets in.
    pub fn list_grants(&self) -> Result<Vec<Grant>, Error> {
        Ok(self.current_holds()?.grants)
    }

    /// Whether a token is needed: after the first grant, until somebody opens the pages again, even if no
    /// valid grant is left.
    ///
    /// # Errors
    /// Those of [`Access::list_grants`].
    pub fn needs_token(&self) -> Result<bool, Error> {
        Ok(self.current_holds()?.closed)
    }

    /// Allows access from this machine without a token again. All grants end.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written.
    pub fn open_without_token(&self, at: &str) -> Result<(), Error> {
        self.append_event(&AccessEvent::Open { at: at.into() })
    }

    fn current_holds(&self) -> Result<Holds, Error> {
        let state = match fs::metadata(self.log.path()) {
            // Some file systems have no times; as lines are only added, the length alone shows a change.
            Ok(meta) => Some((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(Error::io("read", self.log.path())(e)),
        };
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Sessions begin with a grant: if its file is missing, access is unknown, not open.
        if state.is_none() {
            self.log.read_lines()?;
        }
        if state.is_none() && self.sessions.metadata().is_ok_and(|sessions| sessions.len() > 0) {
            return Err(Error::Damaged {
                path: self.log.path().into(),
                what: "missing, and people have logged in with tokens".into(),
                hint: "restore it from a backup or grant again; `riddlemill access open` lets everybody on \
                     this machine in without one"
                    .into(),
            });
        }
        if known.state != state {
            *known = AccessContents { state, holds: read_holds(&self.log)? };
        }
        Ok(known.holds.clone())
    }

    /// The owner of a token. All grants are compared completely, so that the time taken reveals nothing.
    ///
    /// # Errors
    /// Those of [`Access::list_grants`].
    pub fn of_token(&self, token: &str) -> Result<Option<Grant>, Error> {
        let hash = hash(token);
        let mut found = None;
        for grant in self.list_grants()? {
            let same: Choice = grant.hash.ct_eq(&hash);
            if bool::from(same) {
                found = Some(grant);
            }
        }
        Ok(found)
    }

    /// Gives `name` a new token in place of any earlier one, and returns it; it is not stored.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written or there are no random numbers.
    pub fn make_grant(&self, name: &str, rank: Rank, at: &str) -> Result<String, Error> {
        let token = random_token(self.log.path())?;
        let sha256 = hex::encode(hash(&token));
        self.append_event(&AccessEvent::Grant {
            name: name.into(),
            rank,
            sha256,
            at: at.into(),
            invite: None,
        })?;
        Ok(token)
    }

    /// Valid invitations, in the order they were made.
    ///
    /// # Errors
    /// Those of [`Access::list_grants`].
    pub fn list_invites(&self) -> Result<Vec<Invite>, Error> {
        let mut invites = self.current_holds()?.invites;
        invites.retain(|invite| invite.until > since_1970());
        Ok(invites)
    }

    /// Invites `name`, replacing any invitation not followed yet, and returns the last part of the link; it
    /// is not stored. An existing token stays valid until the link is followed.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written or there are no random numbers.
    pub fn make_invite(&self, name: &str, rank: Rank, at: &str) -> Result<String, Error> {
        let token = random_token(self.log.path())?;
        let (sha256, until) = (hex::encode(hash(&token)), since_1970() + INVITED_SECS);
        self.append_event(&AccessEvent::Invite { name: name.into(), rank, sha256, at: at.into(), until })?;
        Ok(token)
    }

    /// A valid invitation by its token.
    ///
    /// # Errors
    /// Those of [`Access::list_grants`].
    pub fn find_invite(&self, token: &str) -> Result<Option<Invite>, Error> {
        let hash = hash(token);
        let mut found = None;
        for invite in self.list_invites()? {
            if bool::from(invite.hash.ct_eq(&hash)) {
                found = Some(invite);
            }
        }
        Ok(found)
    }

    /// Follows an invitation: makes a grant whose token nobody has, so that only the new session belongs to
    /// it. `None` if it was followed before, withdrawn or has expired.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written or there are no random numbers.
    pub fn follow_invite(&self, token: &str, at: &str) -> Result<Option<Grant>, Error> {
        let _alone = self.following.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(invite) = self.find_invite(token)? else { return Ok(None) };
        let sha256 = hex::encode(hash(&random_token(self.log.path())?));
        let (name, by) = (invite.name.clone(), Some(hex::encode(invite.hash)));
        self.append_event(&AccessEvent::Grant {
            name,
            rank: invite.rank,
            sha256,
            at: at.into(),
            invite: by,
        })?;
        Ok(self.list_grants()?.into_iter().find(|grant| grant.name == invite.name))
    }

    /// Ends the grant and the invitation of `name`; false if there was neither.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written.
    pub fn revoke_access(&self, name: &str, at: &str) -> Result<bool, Error> {
        let Holds { grants, invites, .. } = self.current_holds()?;
        let known = grants.iter().map(|grant| &grant.name).chain(invites.iter().map(|invite| &invite.name));
        if !known.into_iter().any(|known| known == name) {
            return Ok(false);
        }
        self.append_event(&AccessEvent::Revoke { name: name.into(), at: at.into() })?;
        Ok(true)
    }

    fn append_event(&self, event: &AccessEvent) -> Result<(), Error> {
        // After a damaged line an added one would have no effect, although its token had been given out.
        read_holds(&self.log)?;
        let mut line = serde_json::to_vec(event).map_err(|source| LogError::Unwritable { source })?;
        line.push(b'\n');
        Ok(self.log.append_lines(&line)?)
    }
}

fn read_holds(log: &Log) -> Result<Holds, Error> {
    let lines = log.read_lines()?;
    let lines = lines.split(|&byte| byte == b'\n').enumerate();
    let Holds { mut grants, mut invites, mut closed } = Holds::default();
    for (at, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let damaged = |what: String| Error::Damaged {
            path: log.path().into(),
            what: format!("line {}: {what}", at + 1),
            hint: "remove the line and grant the tokens again; until then access is closed".into(),
        };
        let event = serde_json::from_slice(line).map_err(|e| match e.is_data() {
            true => Error::from(LogError::unreadable_line(log.path(), at + 1, &e)),
            false => damaged(e.to_string()),
        });
        match event? {
            AccessEvent::Grant { name, rank, sha256, invite, .. } => {
                let hash = parse_hash(&sha256).ok_or_else(|| damaged("its hash is not valid".into()))?;
                if let Some(followed) = invite {
                    invites.retain(|invite| hex::encode(invite.hash) != followed);
                }
                grants.retain(|grant| grant.name != name);
                grants.push(Grant { name, rank, hash });
                closed = true;
            }
            // This closes nothing: until a link is followed, nobody has a token to come in with.
            AccessEvent::Invite { name, rank, sha256, until, .. } => {
                let hash = parse_hash(&sha256).ok_or_else(|| damaged("its hash is not valid".into()))?;
                invites.retain(|invite| invite.name != name);
                invites.push(Invite { name, rank, until, hash });
            }
            AccessEvent::Revoke { name, .. } => {
                grants.retain(|grant| grant.name != name);
                invites.retain(|invite| invite.name != name);
            }
            AccessEvent::Open { .. } => Holds { grants, invites, closed } = Holds::default(),
        }
    }
    Ok(Holds { grants, invites, closed })
}

fn since_1970() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn hash(token: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"riddlemill token v1\n");
    // A token that was copied and pasted often comes with white space around it.
    hasher.update(token.trim().as_bytes());
    hasher.finalize().into()
}

fn parse_hash(text: &str) -> Option<[u8; 32]> {
    hex::decode(text).ok()?.try_into().ok()
}

/// 256 random bits in hexadecimal.
///
/// # Errors
/// If the system provides none.
pub(super) fn random_token(path: &Path) -> Result<String, Error> {
    let mut bytes = [0; 32];
    let none = |e: getrandom::Error| std::io::Error::other(e.to_string());
    getrandom::fill(&mut bytes).map_err(|e| Error::io("draw a token for", path)(none(e)))?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
