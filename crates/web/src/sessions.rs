//! Login sessions, so that no cookie contains a token.
//!
//! `.index/sessions.jsonl` contains a hash of each session, its owner and its grant. It survives restarts. A
//! session ends by logging out, after thirty days, and with its grant: when its owner gets another token, or
//! none. Without the file everybody has to log in again, and nothing else is lost.
//!
//! Nor does a form need one: its own token shows that one of our pages made it. That is derived from the secret in the person's own cookie, so that it remains valid after a restart of the
//! server and no other site can know it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::access::{Grant, random_token, sessions_file};
use crate::store::{Error, Workspace, durable};

/// How long a session lasts, in seconds.
pub(super) const LASTS_SECS: u64 = 60 * 60 * 24 * 30;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum SessionEvent {
    Open {
        session: String,
        name: String,
        grant: String,
        until: u64,
    },
    Close {
        session: String,
    },
    /// All sessions of a person.
    End {
        name: String,
    },
}

#[derive(Clone, Debug)]
struct Session {
    name: String,
    grant: String,
    until: u64,
}

/// The contents, with the file's time and length when it was read.
#[derive(Debug, Default)]
struct SessionContents {
    state: Option<(SystemTime, u64)>,
    sessions: FxHashMap<String, Session>,
}

/// The sessions of a workspace's pages.
#[derive(Debug)]
pub struct Sessions {
    path: PathBuf,
    known: Mutex<SessionContents>,
}

impl Sessions {
    /// The sessions of a workspace.
    pub fn in_workspace(workspace: &Workspace) -> Sessions {
        Sessions { path: sessions_file(workspace), known: Mutex::default() }
    }

    /// Begins a session for a grant; the returned secret is only for the cookie.
    pub(super) fn open_session(&self, grant: &Grant) -> Result<String, Error> {
        let secret = random_token(&self.path)?;
        let until = unix_seconds() + LASTS_SECS;
        let (name, grant) = (grant.name.clone(), grant.grant_mark());
        self.append_event(&SessionEvent::Open { session: hash(&secret), name, grant, until })?;
        Ok(secret)
    }

    /// The grant of a session, if it is still valid.
    pub(super) fn grant_of_session(&self, secret: &str, grants: &[Grant]) -> Result<Option<Grant>, Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match fs::metadata(&self.path) {
            // Some file systems have no times; as lines are only added, the length alone shows a change.
            Ok(meta) => Some((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(Error::io("read", &self.path)(e)),
        };
        if known.state != state {
            *known = SessionContents { state, sessions: read_sessions(&self.path)? };
        }
        // Sessions are found by a hash of a random number, so that the time taken reveals nothing.
        let session = known.sessions.get(&hash(secret)).filter(|session| session.until > unix_seconds());
        let holds =
            |grant: &&Grant| session.is_some_and(|s| s.name == grant.name && s.grant == grant.grant_mark());
        Ok(grants.iter().find(holds).cloned())
    }

    /// Ends a session.
    pub(super) fn close_session(&self, secret: &str) -> Result<(), Error> {
        self.append_event(&SessionEvent::Close { session: hash(secret) })
    }

    /// Ends all sessions of a person, whose token can open new ones.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written.
    pub fn end_sessions(&self, name: &str) -> Result<(), Error> {
        self.append_event(&SessionEvent::End { name: name.into() })
    }

    fn append_event(&self, event: &SessionEvent) -> Result<(), Error> {
        if let Some(folder) = self.path.parent() {
            durable::create_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path).map_err(Error::io("open", &self.path))?;
        // Starts with a newline, in case a killed process left a partial line; blank lines are ignored.
        let mut line = b"\n".to_vec();
        serde_json::to_writer(&mut line, event).map_err(|e| Error::io("write", &self.path)(e.into()))?;
        line.push(b'\n');
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(Error::io("write", &self.path))
    }
}

fn read_sessions(path: &Path) -> Result<FxHashMap<String, Session>, Error> {
    let text = match fs::read(path) {
        // A partial line may end inside a character, and the lines around it are still valid.
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(Error::io("read", path)(e)),
    };
    let mut sessions: FxHashMap<String, Session> = FxHashMap::default();
    // An unreadable line is not a session; its owner logs in again.
    for event in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match event {
            SessionEvent::Open { session, name, grant, until } => {
                sessions.insert(session, Session { name, grant, until });
            }
            SessionEvent::Close { session } => _ = sessions.remove(&session),
            SessionEvent::End { name } => sessions.retain(|_, session| session.name != name),
        }
    }
    Ok(sessions)
}

fn hash(secret: &str) -> String {
    blake3::derive_key("riddlemill web session v1", secret.as_bytes())
        .map(|byte| format!("{byte:02x}"))
        .concat()
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The token of a session.
pub(super) fn csrf_token(secret: &str) -> String {
    let key = blake3::derive_key("riddlemill web form v1", secret.as_bytes());
    blake3::Hash::from_bytes(key).to_hex()[..32].to_string()
}

/// Whether a form's token is right.
pub(super) fn is_csrf_token(secret: &str, given: &str) -> bool {
    bool::from(csrf_token(secret).as_bytes().ct_eq(given.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::access::{Access, Rank};
    use super::*;

    #[test]
    fn a_session_ends_with_its_grant_or_by_itself_and_outlives_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let (access, sessions) = (Access::in_workspace(&workspace), Sessions::in_workspace(&workspace));
        let token = access.make_grant("a", Rank::Reader, "2026-01-01T00:00:00Z").unwrap();
        let grants = access.list_grants().unwrap();
        let [one, two] = [0; 2].map(|_| sessions.open_session(&grants[0]).unwrap());
        let of = |secret: &str| {
            Sessions::in_workspace(&workspace)
                .grant_of_session(secret, &access.list_grants().unwrap())
                .unwrap()
        };
        assert_eq!(of(&one).unwrap().name, "a");
        assert_eq!(of(&token), None, "a token is no session");
        let stored = fs::read_to_string(dir.path().join(".index/sessions.jsonl")).unwrap();
        assert!(!stored.contains(&one) && !stored.contains(&token));
        sessions.close_session(&one).unwrap();
        assert!(of(&one).is_none() && of(&two).is_some());
        sessions.end_sessions("a").unwrap();
        assert!(of(&two).is_none());
        let three = sessions.open_session(&grants[0]).unwrap();
        assert!(of(&three).is_some());
        access.make_grant("a", Rank::Reader, "2026-01-02T00:00:00Z").unwrap();
        assert!(of(&three).is_none(), "another token is another grant");
        fs::write(dir.path().join(".index/sessions.jsonl"), "torn {").unwrap();
        let four = sessions.open_session(&access.list_grants().unwrap()[0]).unwrap();
        assert!(of(&four).is_some());
        fs::remove_file(dir.path().join(".index/sessions.jsonl")).unwrap();
        assert!(of(&four).is_none());
    }

    #[test]
    fn a_mark_fits_its_own_session_alone() {
        assert!(is_csrf_token("a", &csrf_token("a")));
        assert!(!is_csrf_token("a", &csrf_token("b")));
        assert!(!is_csrf_token("a", ""));
        assert!(!csrf_token("secret").contains("secret"));
    }
}
