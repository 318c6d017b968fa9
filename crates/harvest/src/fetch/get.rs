//! Decides whether a file must be downloaded, and checks what was received.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::redirect::Policy;

use super::download::{Meter, Patience, complete_download, partial_paths};
use super::error::FetchError;
use super::lock::{FilePins, Pin};
use riddlemill_files::{self as files, durable};

/// A file required by a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its address.
    pub url: String,
    /// Its path, relative to the workspace.
    pub file: String,
    /// Its required SHA-256, if the settings state one.
    pub sha256: Option<String>,
}

/// The result for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// It existed already, with its hash.
    There(Pin),
    /// It existed, and is pinned from now on.
    Adopted(Pin),
    /// It was downloaded.
    New(Pin),
    /// It replaced another version with this SHA-256.
    Updated(Pin, String),
}

/// The path of a file of the settings: inside the workspace, whoever wrote them.
fn path_in_workspace(root: &Path, file: &str) -> Result<PathBuf, FetchError> {
    Ok(files::path_inside(root, file.trim_start_matches("./"))?)
}

/// Downloads one file into the workspace and pins it. `update` asks the server even if the file exists, and
/// may replace it by another version.
///
/// # Errors
/// [`FetchError`]; an existing file is untouched then.
pub async fn fetch_file(
    root: &Path,
    wanted: &Wanted,
    pins: &mut FilePins,
    update: bool,
    patience: Patience,
    meter: &dyn Meter,
) -> Result<Fetched, FetchError> {
    let file = path_in_workspace(root, &wanted.file)?;
    let pinned = pins.find_pin(&wanted.file).filter(|pin| pin.url == wanted.url).cloned();
    // The settings take precedence over the lock file.
    let demand = match (&wanted.sha256, &pinned) {
        (Some(stated), _) => Some((stated.clone(), "the settings state")),
        (None, Some(pin)) if !update => Some((pin.sha256.clone(), "pipeline.lock has")),
        _ => None,
    };
    let there = match file.exists() {
        true => Some(durable::digest_plain(&file).map_err(files::Error::io("read", &file))?),
        false => None,
    };
    if let (Some((sha256, bytes)), false) = (&there, update) {
        if let Some((wanted_hash, by)) = demand.filter(|(hash, _)| hash != sha256) {
            return Err(FetchError::Edited {
                file: wanted.file.clone(),
                found: sha256.clone(),
                by,
                wanted: wanted_hash,
            });
        }
        let pin = pin_of_file(wanted, sha256, *bytes);
        if pinned.as_ref() == Some(&pin) {
            return Ok(Fetched::There(pin));
        }
        pins.set_pin(pin.clone());
        pins.write_pins(root)?;
        return Ok(Fetched::Adopted(pin));
    }
    if let Some(folder) = file.parent() {
        durable::create_folder(folder)?;
    }
    let (sha256, bytes) = download_whole(wanted, &file, demand, patience, meter).await?;
    let (part, note) = partial_paths(&file);
    let pin = pin_of_file(wanted, &sha256, bytes);
    let before = there.map(|(hash, _)| hash);
    if before.as_ref() == Some(&sha256) {
        remove_remains(&part);
    } else {
        move_into_place(&part, &file)?;
    }
    remove_remains(&note);
    pins.set_pin(pin.clone());
    pins.write_pins(root)?;
    Ok(match before {
        Some(old) if old == sha256 => Fetched::There(pin),
        Some(old) => Fetched::Updated(pin, old),
        None => Fetched::New(pin),
    })
}

/// Downloads until the part has the required hash. A part joined from several answers gets a second chance
/// from its first byte, in case the server changed the file in between.
async fn download_whole(
    wanted: &Wanted,
    file: &Path,
    demand: Option<(String, &'static str)>,
    patience: Patience,
    meter: &dyn Meter,
) -> Result<(String, u64), FetchError> {
    let unreachable = |why: String| FetchError::Address { url: wanted.url.clone(), why };
    let built = riddlemill_http::build(|client| {
        client
            .user_agent(concat!("riddlemill/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::limited(5))
            .connect_timeout(patience.silence.min(Duration::from_secs(15)))
    })
    .map_err(|e| unreachable(e.to_string()))?;
    built.reaches(&wanted.url).map_err(|none| unreachable(none.to_string()))?;
    let client = built.client;
    let (part, note) = partial_paths(file);
    let mut again = false;
    loop {
        let mixed = complete_download(&client, &wanted.url, file, patience, meter).await?;
        let (sha256, bytes) = durable::digest_plain(&part).map_err(files::Error::io("read", &part))?;
        let Some((hash, by)) = demand.as_ref().filter(|(hash, _)| *hash != sha256) else {
            return Ok((sha256, bytes));
        };
        remove_remains(&note);
        remove_remains(&part);
        if mixed && !std::mem::replace(&mut again, true) {
            meter.report_retry("its hash differs; starting again from the first byte", Duration::ZERO);
            continue;
        }
        let hint = match *by {
            "pipeline.lock has" => {
                "the file behind the url changed; `riddlemill fetch --update` takes the new one"
            }
            _ => "the file behind the url is another one; compare both hashes at its publisher",
        };
        return Err(FetchError::Other {
            url: wanted.url.clone(),
            found: sha256,
            by,
            wanted: hash.clone(),
            hint,
        });
    }
}

fn pin_of_file(wanted: &Wanted, sha256: &str, bytes: u64) -> Pin {
    Pin { url: wanted.url.clone(), sha256: sha256.into(), bytes, file: wanted.file.clone() }
}

fn move_into_place(part: &PathBuf, file: &Path) -> Result<(), files::Error> {
    std::fs::rename(part, file).map_err(files::Error::io("rename to", file))?;
    file.parent().map_or(Ok(()), durable::sync_folder)
}

/// The remains of a finished download are useless, and failing to remove them is harmless.
fn remove_remains(path: &Path) {
    let _ = std::fs::remove_file(path);
}
