//! A key that a command prints, for tokens that expire: it is run when a key is needed, again after a while,
//! and once more when a server refuses the key. What it prints is sent in a header and removed from all
//! responses, like any key; what it says on stderr is not kept, because it may quote the key.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::secret::ApiKey;

/// A printed key is used this long; tokens that expire last longer.
const FRESH: Duration = Duration::from_secs(300);
/// A command that prints nothing for this long is ended.
const LONGEST: Duration = Duration::from_secs(60);
/// How long what a command has printed is waited for after its end: a process that it left behind may hold
/// its output open.
const AFTER_END: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(20);
/// More than any token has.
const MOST_BYTES: u64 = 64 << 10;
/// Printed keys that are removed from responses: an answer may come after a newer key.
const REMEMBERED: usize = 8;

/// Why a command gave no key; nothing of what it printed is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoKey {
    #[error("its key_command cannot be started: {program:?}: {why}")]
    NotStarted { program: String, why: String },
    #[error("its key_command {program:?} failed ({how}); run it by hand to see why")]
    Failed { program: String, how: String },
    #[error("its key_command {program:?} did not end within {} s", LONGEST.as_secs())]
    Late { program: String },
    #[error("its key_command {program:?} printed {what}, not a key on one line")]
    NotAKey { program: String, what: &'static str },
}

/// A command, and the keys that it printed.
#[derive(Debug)]
pub(super) struct KeyCommand {
    words: Vec<String>,
    /// Held while the command runs, so that requests share a key.
    current: tokio::sync::Mutex<Option<Printed>>,
    printed: Mutex<Vec<ApiKey>>,
}

/// A printed key, with its number.
#[derive(Clone, Debug)]
pub(super) struct Printed {
    pub key: ApiKey,
    number: u64,
    at: Instant,
}

impl KeyCommand {
    /// `None` if there are no words.
    pub(super) fn new(words: &[String]) -> Option<KeyCommand> {
        (!words.is_empty()).then(|| KeyCommand {
            words: words.to_vec(),
            current: tokio::sync::Mutex::new(None),
            printed: Mutex::default(),
        })
    }

    /// The key to send now; `refused` is one that a server refused.
    pub(super) async fn current_key(&self, refused: Option<&Printed>) -> Result<Printed, NoKey> {
        let mut current = self.current.lock().await;
        let is_good = |printed: &&Printed| {
            printed.at.elapsed() < FRESH && refused.is_none_or(|refused| refused.number != printed.number)
        };
        if let Some(printed) = current.as_ref().filter(is_good) {
            return Ok(printed.clone());
        }
        let words = self.words.clone();
        let program = words[0].clone();
        let run = tokio::task::spawn_blocking(move || print_key(&words)).await;
        let key = run.map_err(|_| NoKey::Failed { program, how: "interrupted".into() })??;
        {
            let mut all = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(key.clone());
            let more = all.len().saturating_sub(REMEMBERED);
            all.drain(..more);
        }
        let number = current.as_ref().map_or(0, |printed| printed.number + 1);
        let printed = Printed { key, number, at: Instant::now() };
        *current = Some(printed.clone());
        Ok(printed)
    }

    /// The keys that it printed, to be removed from responses.
    pub(super) fn printed_keys(&self) -> Vec<ApiKey> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn print_key(words: &[String]) -> Result<ApiKey, NoKey> {
    let program = words[0].clone();
    let mut command = Command::new(&program);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command
        .spawn()
        .map_err(|error| NoKey::NotStarted { program: program.clone(), why: error.to_string() })?;
    let (tell, told) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is no whole key.
            let read = stdout.take(MOST_BYTES).read_to_end(&mut bytes);
            let _ = tell.send(read.map(|_| bytes));
        });
    }
    let status = wait_for(&mut child).ok_or_else(|| NoKey::Late { program: program.clone() })?;
    if !status.success() {
        return Err(NoKey::Failed { program, how: status.to_string() });
    }
    let not = |what| NoKey::NotAKey { program: program.clone(), what };
    let bytes =
        told.recv_timeout(AFTER_END).ok().and_then(Result::ok).ok_or_else(|| not("something unreadable"))?;
    let text = String::from_utf8(bytes).map_err(|_| not("bytes that are no text"))?;
    let key = ApiKey::new(&text).ok_or_else(|| not("nothing"))?;
    match text.trim() {
        text if text.chars().any(char::is_control) => Err(not("more than one line")),
        // It could not be removed from what servers answer.
        _ if key.is_short() => Err(not("fewer than eight characters")),
        _ => Ok(key),
    }
}

/// How the child ended; `None` if it was ended because it took too long.
fn wait_for(child: &mut Child) -> Option<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(POLL),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn run(line: &str) -> Result<ApiKey, NoKey> {
        print_key(&["sh".to_owned(), "-c".to_owned(), line.to_owned()])
    }

    #[cfg(unix)]
    #[test]
    fn a_key_is_one_line() {
        assert!(run("echo a-token-of-some-length").is_ok());
        // A process that it leaves behind does not hold the request up.
        let began = Instant::now();
        assert!(run("sleep 30 & echo a-token-of-some-length").is_err());
        assert!(began.elapsed() < Duration::from_secs(10));
        for (line, what) in [
            ("true", "nothing"),
            ("echo short", "fewer than eight"),
            ("echo two-lines-of-it; echo two-lines-of-it", "more than one line"),
            ("printf '\\377\\376aaaaaaaa'", "no text"),
        ] {
            let error = run(line).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("key_command"), "{line}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_says_nothing_of_what_was_printed() {
        let error = run("echo a-token-of-some-length; echo a-token-of-some-length >&2; exit 3").unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(said.contains("exit status: 3") && !said.contains("a-token"), "{said}");
        let none = print_key(&["/no/such/program".to_owned()]).unwrap_err();
        assert!(matches!(none, NoKey::NotStarted { .. }));
        assert!(!format!("{:?}", run("echo a-token-of-some-length")).contains("a-token"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn requests_share_a_key_until_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let line = format!("echo x >> {0}; echo token-number-$(wc -l < {0} | tr -d ' ')", count.display());
        let command = KeyCommand::new(&["sh".to_owned(), "-c".to_owned(), line]).unwrap();
        let (a, b) = tokio::join!(command.current_key(None), command.current_key(None));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!((a.number, b.number), (0, 0));
        let c = command.current_key(Some(&a)).await.unwrap();
        let d = command.current_key(Some(&b)).await.unwrap();
        assert_eq!((c.number, d.number), (1, 1), "refused once, whoever says so");
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 2);
        let struck =
            command.printed_keys().iter().fold("token-number-1, token-number-2".to_owned(), |text, key| {
                key.strike_key(&text).into_owned()
            });
        assert_eq!(struck, "[key], [key]");
    }
}
