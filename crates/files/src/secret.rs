//! Secrets of a workspace: drawn once, kept in raw/ readable by their owner only, never overwritten.
//!
//! What was made with a secret says so by its [`secret_fingerprint`]. `secrets.jsonl`, a log next to the secrets, holds the
//! fingerprint of each one that was ever used, so that another secret in its place is noticed even if nothing that was
//! made with it is at hand.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::log::{Log, LogName};
use super::{Error, durable};
use crate::fence;

/// The log of the secrets that were used.
const USED: &str = "secrets.jsonl";
/// The logs of raw/ that are written here.
pub const LOGS: &[LogName] = &[LogName::File(USED)];
/// Begins the line below a secret that names the one it replaces on purpose.
const REPLACES: &str = "replaces ";

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct Used {
    /// The secret's file.
    secret: String,
    /// Its fingerprint.
    digest: String,
}

/// The content of a secret's file.
struct SecretFile {
    secret: [u8; 32],
    /// Fingerprints of the secrets that it replaces.
    replaces: Vec<String>,
}

/// What a secret is called in whatever was made with it: enough to see that it is another one, not enough to make
/// anything with it. `name` is its file's.
pub fn secret_fingerprint(name: &str, secret: &[u8; 32]) -> String {
    hex::encode(&blake3::derive_key(&format!("riddlemill {name} fingerprint"), secret)[..8])
}

/// The secret in a file, or `None` if none was drawn yet.
///
/// # Errors
/// [`Error`] if the file cannot be read or is not a secret, or if another one was used before; `lost` says what is lost
/// without it, as a hint.
pub fn find_secret(path: &Path, lost: &str) -> Result<Option<[u8; 32]>, Error> {
    let used = last_used(path)?;
    let Some(file) = read_secret(path, lost)? else {
        return match used {
            None => Ok(None),
            Some(digest) => Err(Error::Damaged {
                path: path.into(),
                what: format!("missing, and the one that was used before has the digest {digest}"),
                hint: way_back(&digest, lost),
            }),
        };
    };
    if let Some(digest) = used {
        check_belongs(path, &file, &digest, &format!("raw/{USED}"), lost)?;
    }
    Ok(Some(file.secret))
}

/// Whether something that states the fingerprint of its secret was made with the one in this file, or with one that it
/// replaces on purpose: then `false`.
///
/// # Errors
/// [`Error`] if it was made with another one, or the file cannot be read; `of` is what was made with it.
pub fn made_with(path: &Path, digest: &str, of: &str, lost: &str) -> Result<bool, Error> {
    let Some(file) = read_secret(path, lost)? else { return Ok(false) };
    check_belongs(path, &file, digest, of, lost)?;
    Ok(secret_fingerprint(file_name_of(path), &file.secret) == digest)
}

fn check_belongs(path: &Path, file: &SecretFile, digest: &str, of: &str, lost: &str) -> Result<(), Error> {
    let own = secret_fingerprint(file_name_of(path), &file.secret);
    if own == digest || file.replaces.iter().any(|replaced| replaced == digest) {
        return Ok(());
    }
    Err(Error::Damaged {
        path: path.into(),
        what: format!(
            "it is another {} (digest {own}) than the one that {of} belongs to (digest {digest})",
            file_name_of(path)
        ),
        hint: way_back(digest, lost),
    })
}

fn way_back(digest: &str, lost: &str) -> String {
    format!(
        "restore it from a backup: {lost}. If it is lost for good, put 64 hex digits of your own into it, and below \
         them the line `{REPLACES}{digest}`"
    )
}

fn file_name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or("secret")
}

fn read_secret(path: &Path, lost: &str) -> Result<Option<SecretFile>, Error> {
    let text = match fence::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io("read", path)(e)),
    };
    let damaged = |what: &str| Error::Damaged {
        path: path.into(),
        what: what.into(),
        hint: format!("restore it from a backup: {lost}"),
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let digits = lines.next().unwrap_or_default();
    let parsed: Option<[u8; 32]> = hex::decode(digits).ok().and_then(|bytes| bytes.try_into().ok());
    let secret = parsed.ok_or_else(|| damaged("not 64 hex digits"))?;
    let replaced = |line: &str| line.strip_prefix(REPLACES).map(|digest| digest.trim().to_owned());
    let replaces: Option<Vec<String>> = lines.map(replaced).collect();
    let replaces = replaces
        .ok_or_else(|| damaged("below its 64 hex digits is something else than `replaces DIGEST`"))?;
    Ok(Some(SecretFile { secret, replaces }))
}

fn log_of_uses(path: &Path) -> Log {
    Log::in_file(path.with_file_name(USED))
}

/// The fingerprint of the secret of this name that was used last.
fn last_used(path: &Path) -> Result<Option<String>, Error> {
    let used: Vec<Used> = log_of_uses(path).read_entries()?;
    Ok(used.into_iter().rfind(|used| used.secret == file_name_of(path)).map(|used| used.digest))
}

/// Remembers that a secret is used.
fn remember_secret(path: &Path, secret: &[u8; 32]) -> Result<(), Error> {
    let used = Used {
        secret: file_name_of(path).to_owned(),
        digest: secret_fingerprint(file_name_of(path), secret),
    };
    Ok(log_of_uses(path).add([&used])?)
}

/// The secret in a file; drawn from the system's generator if there is none yet. Processes that draw at the
/// same time get the same one.
///
/// # Errors
/// Those of [`find_secret`]; and if there are no random numbers or the file cannot be written.
pub fn secret_or_draw(path: &Path, lost: &str) -> Result<[u8; 32], Error> {
    if let Some(secret) = find_secret(path, lost)? {
        if last_used(path)?.is_none_or(|digest| digest != secret_fingerprint(file_name_of(path), &secret)) {
            // A raw/ that may only be read keeps working with the secrets that it has.
            let _ = remember_secret(path, &secret);
        }
        return Ok(secret);
    }
    let mut drawn = [0; 32];
    getrandom::fill(&mut drawn)
        .map_err(|e| Error::io("draw a secret for", path)(std::io::Error::other(e.to_string())))?;
    if let Some(folder) = path.parent() {
        durable::create_folder(folder)?;
    }
    let folder = path.parent().unwrap_or(path);
    // A temporary file is readable by its owner only.
    let write = |e: std::io::Error| Error::io("write", path)(e);
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(write)?;
    temporary.write_all(format!("{}\n", hex::encode(drawn)).as_bytes()).map_err(write)?;
    // Before it gets its name: a secret that is used and then lost cannot be drawn again.
    temporary.as_file().sync_all().map_err(write)?;
    // If two first runs draw at once, the first secret is used by both.
    let drawn = match temporary.persist_noclobber(path) {
        Err(e) if e.error.kind() != std::io::ErrorKind::AlreadyExists => return Err(write(e.error)),
        _ => read_secret(path, lost)?.map_or(drawn, |file| file.secret),
    };
    remember_secret(path, &drawn)?;
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_secret_is_drawn_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw/blinding");
        assert_eq!(find_secret(&path, "all").unwrap(), None);
        let drawn: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let draw = || secret_or_draw(&path, "all").unwrap();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(
            drawn.iter().all(|one| *one == drawn[0]) && find_secret(&path, "all").unwrap() == Some(drawn[0])
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "abc").unwrap();
        assert!(secret_or_draw(&path, "what was lost").unwrap_err().to_string().contains("what was lost"));
    }

    #[test]
    fn another_secret_in_its_place_is_noticed_and_can_be_meant() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw/salt");
        let first = secret_or_draw(&path, "names").unwrap();
        let digest = secret_fingerprint("salt", &first);
        assert!(made_with(&path, &digest, "a file", "names").unwrap());
        let other = format!("{}\n", "11".repeat(32));
        fs::write(&path, &other).unwrap();
        for error in [find_secret(&path, "names").unwrap_err(), secret_or_draw(&path, "names").unwrap_err()] {
            let error = error.to_string();
            assert!(
                error.contains("another salt") && error.contains("backup") && error.contains(&digest),
                "{error}"
            );
        }
        assert!(made_with(&path, &digest, "a file", "names").is_err());
        fs::remove_file(&path).unwrap();
        assert!(find_secret(&path, "names").unwrap_err().to_string().contains("missing"));
        // What the hint says is the way on.
        fs::write(&path, format!("{other}replaces {digest}\n")).unwrap();
        assert_eq!(secret_or_draw(&path, "names").unwrap(), [0x11; 32]);
        assert!(!made_with(&path, &digest, "a file", "names").unwrap());
        fs::write(&path, &other).unwrap();
        assert_eq!(secret_or_draw(&path, "names").unwrap(), [0x11; 32], "it is the one that was used last");
        fs::write(&path, format!("{other}what\n")).unwrap();
        assert!(find_secret(&path, "names").is_err());
    }
}
