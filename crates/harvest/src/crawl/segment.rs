//! Makes answers durable: appends groups of records to a WARC file, and repairs the end of a file that a
//! crash tore.
//!
//! A group is request, response (or revisit) and metadata. It is written in one piece and synced; its
//! metadata record contains everything the crawler needs to continue, so the archive is its own log.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::done::{Done, FrontierError};
use super::fetch::ReceivedAnswer;
use crate::pages::time;
use crate::warc::{ArchiveReader, Header, Location, block_digest, record_id, write_record};
use riddlemill_files::fence;

/// Header fields whose values are secrets of a session.
const REDACTED: &[&str] = &["set-cookie", "set-cookie2", "cookie", "authorization", "proxy-authorization"];
/// A torn tail is shorter than any group; damage followed by more than this is not a tail.
const TAIL_BYTES: u64 = 256 << 20;

/// A group that is on disk.
#[derive(Clone, Debug)]
pub(super) struct SegmentEntry {
    pub file: String,
    /// Offset after the group.
    pub end: u64,
    pub done: Done,
}

/// The archive's open file.
pub(super) struct Segments {
    folder: PathBuf,
    file: File,
    name: String,
    length: u64,
    limit: u64,
    user_agent: String,
}

impl Segments {
    /// Opens the last file of a repaired folder, or the first.
    pub fn open(folder: &Path, limit: u64, user_agent: &str) -> io::Result<Self> {
        fence::create_folder(folder)?;
        let name = list_segments(folder)?.pop().unwrap_or_else(|| file_name(1));
        let file = fence::open_with(folder.join(&name), OpenOptions::new().create(true).append(true))?;
        let length = file.metadata()?.len();
        let mut segments =
            Segments { folder: folder.into(), file, name, length, limit, user_agent: user_agent.into() };
        if length == 0 {
            segments.begin_file()?;
        }
        Ok(segments)
    }

    /// Appends a group, which is durable when this returns.
    pub fn append_group(&mut self, group: &[u8]) -> io::Result<(String, u64)> {
        if self.length > self.limit {
            let number = self.name.split('.').next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
            self.name = file_name(number + 1);
            self.file =
                fence::open_with(self.folder.join(&self.name), OpenOptions::new().create(true).append(true))?;
            self.length = 0;
            self.begin_file()?;
        }
        self.write_durably(group)?;
        Ok((self.name.clone(), self.length))
    }

    fn begin_file(&mut self) -> io::Result<()> {
        let block = format!(
            "software: riddlemill/{}\r\nformat: WARC File Format 1.1\r\nrobots: RFC 9309\r\nhttp-header-user-agent: {}\r\n",
            env!("CARGO_PKG_VERSION"),
            self.user_agent
        );
        let date = warc_date(SystemTime::now());
        let header = Header::new("warcinfo")
            .with_field("WARC-Record-ID", record_id(&["warcinfo", &self.name, &date]))
            .with_field("WARC-Date", date)
            .with_field("WARC-Filename", self.name.as_str())
            .with_field("Content-Type", "application/warc-fields")
            .with_field("WARC-Block-Digest", block_digest(block.as_bytes()));
        let mut bytes = Vec::new();
        write_record(&mut bytes, &header, block.as_bytes())?;
        self.write_durably(&bytes)?;
        // The file's name has to be durable too.
        File::open(&self.folder)?.sync_all()
    }

    fn write_durably(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes).and_then(|()| self.file.sync_data()) {
            // After a full disk the torn record has to be removed before anything follows it.
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

fn file_name(number: u32) -> String {
    format!("{number:05}.warc.gz")
}

/// The archive's files in order.
pub(super) fn list_segments(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    match fence::list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(error),
        Ok(entries) => {
            for entry in entries {
                let name = entry?.file_name().to_string_lossy().into_owned();
                if name.ends_with(".warc.gz") {
                    names.push(name);
                }
            }
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The records of one answer. `earlier` is the page that a 304 refers to.
pub(super) fn encode_group(
    answer: &ReceivedAnswer,
    done: &Done,
    earlier: Option<&Done>,
) -> io::Result<Vec<u8>> {
    let url = answer.url.as_str();
    let base = |kind: &str| {
        Header::new(kind).with_field("WARC-Target-URI", url).with_field("WARC-Date", done.date.as_str())
    };
    let mut bytes = Vec::new();

    let mut block = head_block(&answer.version_line(), &answer.head.fields);
    block.extend_from_slice(&answer.wire);
    let revisit = earlier.filter(|_| answer.head.status == 304);
    let mut header = base(if revisit.is_some() { "revisit" } else { "response" })
        .with_field("WARC-Record-ID", done.record.as_str())
        .with_field("WARC-IP-Address", answer.ip.to_string())
        .with_field("Content-Type", "application/http; msgtype=response")
        .with_field("WARC-Block-Digest", block_digest(&block));
    header = match revisit {
        Some(original) => header
            .with_field("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
            .with_field("WARC-Refers-To", original.record.as_str())
            .with_field("WARC-Refers-To-Target-URI", original.url.as_str())
            .with_field("WARC-Refers-To-Date", original.date.as_str()),
        None => header.with_field("WARC-Payload-Digest", done.digest.as_str()),
    };
    if let Some(truncated) = answer.truncated {
        header = header.with_field("WARC-Truncated", truncated.token());
    }

    let query = answer.url.query().map(|q| format!("?{q}")).unwrap_or_default();
    let request = head_block(&format!("GET {}{query} HTTP/1.1", answer.url.path()), &answer.sent);
    let request_header = base("request")
        .with_field("WARC-Record-ID", record_id(&["request", url, &done.date]))
        .with_field("WARC-Concurrent-To", done.record.as_str())
        .with_field("Content-Type", "application/http; msgtype=request")
        .with_field("WARC-Block-Digest", block_digest(&request));

    let note = serde_json::to_vec(done).map_err(io::Error::other)?;
    let note_header = base("metadata")
        .with_field("WARC-Record-ID", record_id(&["metadata", url, &done.date]))
        .with_field("WARC-Concurrent-To", done.record.as_str())
        .with_field("Content-Type", "application/json")
        .with_field("WARC-Block-Digest", block_digest(&note));

    // The metadata last: a group whose end was torn lacks it, and its page is fetched again.
    write_record(&mut bytes, &request_header, &request)?;
    write_record(&mut bytes, &header, &block)?;
    write_record(&mut bytes, &note_header, &note)?;
    Ok(bytes)
}

impl ReceivedAnswer {
    fn version_line(&self) -> String {
        format!("{} {} {}", self.version, self.head.status, self.reason).trim_end().to_string()
    }
}

fn head_block(first: &str, fields: &[(String, String)]) -> Vec<u8> {
    let mut text = format!("{first}\r\n");
    for (name, value) in fields {
        let lower = name.to_ascii_lowercase();
        let (name, value) = match lower.as_str() {
            // The body is stored without chunking, which readers must not look for.
            "transfer-encoding" => ("X-Archive-Orig-Transfer-Encoding", value.as_str()),
            redacted if REDACTED.contains(&redacted) => (name.as_str(), "redacted"),
            _ => (name.as_str(), value.as_str()),
        };
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// `WARC-Date` with microseconds, as version 1.1 allows.
pub(super) fn warc_date(at: SystemTime) -> String {
    time::utc_micros(at)
}

/// Groups in the archive beyond the lengths in `known` for each file. With `repair`, a torn tail is cut off.
///
/// # Errors
/// Damage followed by whole records is not a torn tail: nothing is changed then.
pub(super) fn scan_groups(
    folder: &Path,
    known: &BTreeMap<String, u64>,
    repair: bool,
) -> Result<Vec<SegmentEntry>, FrontierError> {
    let mut entries = Vec::new();
    let names = list_segments(folder).map_err(|e| FrontierError::from_io(folder, e))?;
    for name in names {
        let path = folder.join(&name);
        let from = known.get(&name).copied().unwrap_or(0);
        let wrap = |error| FrontierError::from_io(&path, error);
        let length = std::fs::metadata(&path).map_err(wrap)?.len();
        let (found, whole, damage) = scan_file(&path, from).map_err(wrap)?;
        entries.extend(found.into_iter().map(|(end, done)| SegmentEntry { file: name.clone(), end, done }));
        if whole == length {
            continue;
        }
        if let Some(at) = damage
            && holds_record_after(&path, at, length).map_err(wrap)?
        {
            return Err(FrontierError::Damaged { path, at });
        }
        if repair {
            let file = fence::open_with(&path, OpenOptions::new().write(true)).map_err(wrap)?;
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(wrap)?;
        }
    }
    Ok(entries)
}

type Scanned = (Vec<(u64, Done)>, u64, Option<u64>);

/// The groups after `from`, the end of the last complete one, and the start of damage.
fn scan_file(path: &Path, from: u64) -> io::Result<Scanned> {
    let mut file = fence::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = match ArchiveReader::start_at(BufReader::new(file), Location { member: from, skip: 0 }) {
        Ok(reader) => reader,
        Err(_) => return Ok((Vec::new(), from, Some(from))),
    };
    let (mut found, mut whole) = (Vec::new(), from);
    loop {
        let record = match reader.next_record() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok((found, whole, None)),
            Err(error) => return Ok((found, whole, Some(error.at.member.max(whole)))),
        };
        let kind = record.header.kind();
        let note = (kind == "metadata").then(|| reader.read_block(16 << 20)).transpose();
        let (note, end) = match note.and_then(|note| Ok((note, reader.finish_record()?))) {
            Ok((note, Some(end))) => (note, end),
            Ok((_, None)) => return Ok((found, whole, Some(record.at.member))),
            Err(_) => return Ok((found, whole, Some(record.at.member))),
        };
        match note.map(|block| serde_json::from_slice::<Done>(&block.bytes)) {
            Some(Ok(done)) => {
                found.push((end, done));
                whole = end;
            }
            Some(Err(_)) => whole = end,
            None if kind == "warcinfo" => whole = end,
            None => {}
        }
    }
}

/// Whether a complete record begins after `at`.
fn holds_record_after(path: &Path, at: u64, length: u64) -> io::Result<bool> {
    if length - at > TAIL_BYTES {
        return Ok(true);
    }
    let mut file = fence::open(path)?;
    // After the first byte, because the damaged record itself begins at `at`.
    file.seek(SeekFrom::Start(at + 1))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let whole = |start: usize| {
        let reader = ArchiveReader::new(&tail[start..]).ok();
        reader.is_some_and(|mut r| matches!(r.next_record(), Ok(Some(_))) && r.finish_record().is_ok())
    };
    Ok(memchr::memmem::find_iter(&tail, &[0x1f, 0x8b, 0x08]).any(whole))
}
