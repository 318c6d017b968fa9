//! Whole pages from archive files: responses, with revisits resolved.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::PathBuf;

use riddlemill_files::reading::zipped;

use super::http::{Head, decode_body, parse_head};
use super::read::{ArchiveReader, Location, ReadError, Record};
use super::resync::resync_reader;
use super::{RecordLimits, Totals, Truncated};
use riddlemill_files::fence;

/// One response as a browser would have received it.
#[derive(Clone, Debug)]
pub struct ArchivedPage {
    /// `WARC-Target-URI`.
    pub url: String,
    /// `WARC-Date`, as written.
    pub date: String,
    /// HTTP status; 200 for `resource` records. A 304 has its original's status.
    pub status: u16,
    /// `Content-Type` of the response.
    pub content_type: Option<String>,
    /// `Location`, if the response redirects.
    pub redirect: Option<String>,
    /// The body with transfer and content encodings undone.
    pub body: Vec<u8>,
    /// Why the body is incomplete. A truncated page is not parsed.
    pub truncated: Option<Truncated>,
    /// A content-encoding that does not exist, in spite of which the body was read.
    pub unknown_encoding: Option<String>,
    /// Index of the file in the archive.
    pub file: usize,
    /// The record's location in that file.
    pub at: Location,
    /// Whether the body was taken from an earlier record.
    pub revisit: bool,
}

/// A damaged record, or a revisit whose original is not in the archive.
#[derive(Debug, thiserror::Error)]
#[error("{}: {trouble}", path.display())]
pub struct ArchiveError {
    /// The file.
    pub path: PathBuf,
    /// The damage.
    #[source]
    pub trouble: ArchiveTrouble,
}

/// The kinds of damage.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveTrouble {
    /// The file cannot be opened.
    #[error("cannot open: {0}")]
    Open(std::io::Error),
    /// A record is damaged. Reading continues at the next whole one: the next gzip member that contains a
    /// record, in a plain file the next header.
    #[error("{error}; {}", match until {
        Some(byte) => format!("reading continues at byte {byte}"),
        None => "no intact record follows".to_owned(),
    })]
    Read {
        /// The damage, and where.
        error: ReadError,
        /// Where the gap ends.
        until: Option<u64>,
    },
    /// The bodies of the file exceed the limit; the rest is not read.
    #[error("record at byte {}+{}: the pages unpack to more than {of} bytes, which is implausible for an archive of this size", at.member, at.skip)]
    Bomb {
        /// Where the limit was exceeded.
        at: Location,
        /// The allowed bytes.
        of: u64,
    },
    /// A response's body is not available; reading continues.
    #[error("record at byte {}+{} ({url}): {what}", at.member, at.skip)]
    Body {
        /// The record's location.
        at: Location,
        /// Its address.
        url: String,
        /// The reason.
        what: String,
    },
}

/// A set of archive files, read in the order given.
#[derive(Clone, Debug)]
pub struct Archive {
    files: Vec<Part>,
    limits: RecordLimits,
}

/// An archive file, or one that stands in a zip as it is: a WACZ holds several.
#[derive(Clone, Debug)]
struct Part {
    path: PathBuf,
    /// Where it begins in its file, and ends.
    start: u64,
    end: u64,
}

impl Part {
    /// The parts of a file. What is no zip is one.
    fn of_file(path: PathBuf) -> Vec<Part> {
        let mut head = [0; 4];
        let zip = fence::open_plain(&path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
            && &head == b"PK\x03\x04";
        let is_archive =
            |name: &str| [".warc", ".warc.gz", ".warc.zst"].iter().any(|end| name.ends_with(end));
        let entries = zip.then(|| zipped::list_entries(&path)).flatten().unwrap_or_default();
        let within: Vec<Part> = entries
            .iter()
            .filter(|entry| is_archive(&entry.name) && entry.is_stored())
            .map(|entry| Part { path: path.clone(), start: entry.start, end: entry.start + entry.length })
            .collect();
        if within.is_empty() { vec![Part { path, start: 0, end: u64::MAX }] } else { within }
    }

    /// Its bytes from a place in the file on.
    fn open_at(&self, at: u64) -> io::Result<BufReader<Take<File>>> {
        let mut file = fence::open_plain(&self.path)?;
        file.seek(SeekFrom::Start(at))?;
        Ok(BufReader::new(file.take(self.end.saturating_sub(at))))
    }

    fn byte_length(&self) -> u64 {
        let whole = || std::fs::metadata(&self.path).map_or(0, |meta| meta.len());
        if self.end == u64::MAX { whole() } else { self.end - self.start }
    }
}

impl Archive {
    /// Files from any tool: plain, gzip or zstd, WARC 1.0 or 1.1, or several of these in a WACZ, which count as files of
    /// their own.
    pub fn new(files: Vec<PathBuf>, limits: RecordLimits) -> Self {
        Archive { files: files.into_iter().flat_map(Part::of_file).collect(), limits }
    }

    /// Every `response` and `resource` over HTTP, and every `revisit` with the body it refers to. Revisits
    /// whose original comes later are yielded at the end.
    ///
    /// Each damaged record yields one error; other records are not affected.
    pub fn pages(&self) -> Pages {
        Pages {
            archive: self.clone(),
            file: 0,
            reader: None,
            left: 0,
            of: 0,
            totals: Totals::default(),
            kinds: BTreeMap::new(),
            originals: HashMap::new(),
            waiting: Vec::new(),
        }
    }
}

/// See [`Archive::pages`].
pub struct Pages {
    archive: Archive,
    file: usize,
    reader: Option<ArchiveReader<BufReader<Take<File>>>>,
    /// Remaining bytes for bodies, and the bytes allowed for the files so far.
    left: u64,
    of: u64,
    totals: Totals,
    kinds: BTreeMap<String, u64>,
    /// From hashed record id, payload digest, or address and date, to the record. Sixteen-byte keys keep the
    /// index of a million responses under 150 MB.
    originals: HashMap<[u8; 16], (usize, Location)>,
    waiting: Vec<(usize, Record, Vec<u8>)>,
}

impl Iterator for Pages {
    type Item = Result<ArchivedPage, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.file < self.archive.files.len() {
            let file = self.file;
            match self.next_page() {
                Ok(Some(page)) => return Some(Ok(page)),
                Ok(None) => {}
                Err(mut trouble) => {
                    self.totals.bomb |= matches!(trouble, ArchiveTrouble::Bomb { .. });
                    self.totals.damaged |= !matches!(trouble, ArchiveTrouble::Body { .. });
                    match &mut trouble {
                        ArchiveTrouble::Body { .. } => {}
                        ArchiveTrouble::Read { error, until } => *until = self.resume_after(error.at),
                        ArchiveTrouble::Open(_) | ArchiveTrouble::Bomb { .. } => self.next_file(),
                    }
                    return Some(Err(self.error_in_file(file, trouble)));
                }
            }
        }
        if let Some((file, record, block)) = self.waiting.pop() {
            return Some(match self.resolve_revisit(file, &record, &block) {
                Ok(Some(page)) => match self.count_body(&page) {
                    Ok(()) => Ok(page),
                    Err(trouble) => {
                        self.waiting.clear();
                        Err(self.error_in_file(file, trouble))
                    }
                },
                Ok(None) => Err(self
                    .error_in_file(file, lost_body(&record, "the record it revisits is not in the archive"))),
                Err(trouble) => Err(self.error_in_file(file, trouble)),
            });
        }
        None
    }
}

impl Pages {
    /// The totals so far.
    pub fn totals_so_far(&self) -> Totals {
        self.totals
    }

    /// How many records of each type were met so far.
    pub fn counts_by_kind(&self) -> &BTreeMap<String, u64> {
        &self.kinds
    }

    fn error_in_file(&self, file: usize, trouble: ArchiveTrouble) -> ArchiveError {
        ArchiveError { path: self.archive.files[file].path.clone(), trouble }
    }

    fn next_file(&mut self) {
        self.file += 1;
        self.reader = None;
        if self.file == self.archive.files.len() {
            // Popped from the back: this keeps the order of the files.
            self.waiting.reverse();
        }
    }

    /// Continues after a damaged record, or with the next file if no intact record follows. Returns where
    /// that is.
    fn resume_after(&mut self, damaged: Location) -> Option<u64> {
        let part = &self.archive.files[self.file];
        match resync_reader(&part.path, damaged, part.end) {
            Ok(Some(reader)) => {
                let at = reader.location();
                self.reader = Some(reader);
                Some(at.member)
            }
            // An unreadable rest is like none: the damage itself is reported.
            Ok(None) | Err(_) => {
                self.next_file();
                None
            }
        }
    }

    fn next_page(&mut self) -> Result<Option<ArchivedPage>, ArchiveTrouble> {
        if self.reader.is_none() {
            let part = &self.archive.files[self.file];
            let file = part.open_at(part.start).map_err(ArchiveTrouble::Open)?;
            let start = Location { member: part.start, skip: 0 };
            self.reader = Some(ArchiveReader::start_at(file, start).map_err(ArchiveTrouble::Open)?);
            let given = RecordLimits::of_file(part.byte_length());
            (self.of, self.left) = (self.of.saturating_add(given), self.left.saturating_add(given));
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let Some(record) = reader.next_record().map_err(damage_from)? else {
            self.next_file();
            return Ok(None);
        };
        let kind = record.header.kind();
        *self.kinds.entry(kind.clone()).or_default() += 1;
        let http = record.header.target_uri().is_some_and(|url| url.starts_with("http"));
        if !http || !matches!(kind.as_str(), "response" | "resource" | "revisit") {
            // Also checks what follows the record by its length: a wrong length swallows the next record.
            reader.finish_record().map_err(damage_from)?;
            return Ok(None);
        }
        let block = reader.read_block(self.archive.limits.stored_bytes).map_err(damage_from)?;
        // The checksum is at the end of the record's gzip member.
        reader.finish_record().map_err(damage_from)?;
        let file = self.file;
        if kind == "revisit" {
            self.totals.revisits += 1;
            let found = self.resolve_revisit(file, &record, &block.bytes)?;
            match &found {
                Some(page) => self.count_body(page)?,
                None => {
                    // Kept until the end of the archive.
                    self.spend_bytes(record.at, block.bytes.len() as u64)?;
                    self.waiting.push((file, record, block.bytes));
                }
            }
            return Ok(found);
        }
        self.remember_original(file, &record);
        let page = read_page(file, &record, &block.bytes, block.cut, self.archive.limits)?;
        self.count_body(&page)?;
        Ok(Some(page))
    }

    /// Counts a body against its file's limit.
    fn count_body(&mut self, page: &ArchivedPage) -> Result<(), ArchiveTrouble> {
        self.spend_bytes(page.at, page.body.len() as u64)
    }

    fn spend_bytes(&mut self, at: Location, bytes: u64) -> Result<(), ArchiveTrouble> {
        self.totals.bytes += bytes;
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(ArchiveTrouble::Bomb { at, of: self.of })?;
        Ok(())
    }

    fn remember_original(&mut self, file: usize, record: &Record) {
        let header = &record.header;
        let place = (file, record.at);
        if let Some(id) = header.get("WARC-Record-ID") {
            self.originals.insert(hash_key("id", id), place);
        }
        if let (Some(url), Some(date)) = (header.target_uri(), header.get("WARC-Date")) {
            self.originals.insert(hash_key("at", &format!("{url} {date}")), place);
        }
        if let Some(digest) = header.get("WARC-Payload-Digest") {
            // The first one is kept: all others with this digest have the same payload.
            self.originals.entry(hash_key("digest", &digest.to_ascii_lowercase())).or_insert(place);
        }
    }

    fn resolve_revisit(
        &self,
        file: usize,
        revisit: &Record,
        block: &[u8],
    ) -> Result<Option<ArchivedPage>, ArchiveTrouble> {
        let header = &revisit.header;
        let by_id = header.get("WARC-Refers-To").map(|id| hash_key("id", id));
        let by_date = header
            .get("WARC-Refers-To-Target-URI")
            .zip(header.get("WARC-Refers-To-Date"))
            .map(|(url, date)| hash_key("at", &format!("{} {date}", url.trim_matches(['<', '>']))));
        let by_digest =
            header.get("WARC-Payload-Digest").map(|digest| hash_key("digest", &digest.to_ascii_lowercase()));
        let place =
            [by_id, by_date, by_digest].into_iter().flatten().find_map(|key| self.originals.get(&key));
        let Some(&(from, at)) = place else { return Ok(None) };

        let fail = |what: String| lost_body(revisit, &what);
        let original = self.archive.files[from].open_at(at.member).map_err(|e| fail(e.to_string()))?;
        let mut reader = ArchiveReader::start_at(original, at).map_err(|e| fail(e.to_string()))?;
        let record =
            reader.next_record().map_err(|e| fail(e.to_string()))?.ok_or_else(|| fail("moved".into()))?;
        let body = reader.read_block(self.archive.limits.stored_bytes).map_err(|e| fail(e.to_string()))?;
        let mut found = read_page(from, &record, &body.bytes, body.cut, self.archive.limits)?;
        // The revisit's own status is the server's answer at that time, except that a 304 only says "as
        // before".
        if let Some((head, _)) = parse_head(block).filter(|(head, _)| head.status != 304) {
            found.status = head.status;
        }
        found.url = header.target_uri().unwrap_or(&found.url).to_string();
        found.date = header.get("WARC-Date").unwrap_or_default().to_string();
        Ok(Some(ArchivedPage { file, at: revisit.at, revisit: true, ..found }))
    }
}

fn damage_from(error: ReadError) -> ArchiveTrouble {
    ArchiveTrouble::Read { error, until: None }
}

fn lost_body(record: &Record, what: &str) -> ArchiveTrouble {
    let url = record.header.target_uri().unwrap_or_default().to_string();
    ArchiveTrouble::Body { at: record.at, url, what: what.into() }
}

fn hash_key(kind: &str, value: &str) -> [u8; 16] {
    let mut key = [0; 16];
    let hash = blake3::hash(format!("{kind} {value}").as_bytes());
    key.copy_from_slice(&hash.as_bytes()[..16]);
    key
}

fn read_page(
    file: usize,
    record: &Record,
    block: &[u8],
    cut: bool,
    limits: RecordLimits,
) -> Result<ArchivedPage, ArchiveTrouble> {
    let header = &record.header;
    let (head, start) = match parse_head(block) {
        Some(parsed) => parsed,
        None if header.kind() == "resource" => {
            let kind = header.get("Content-Type").unwrap_or("application/octet-stream");
            (Head { status: 200, fields: vec![("Content-Type".into(), kind.into())] }, 0)
        }
        None => return Err(lost_body(record, "the block is not an HTTP response")),
    };
    let body = &block[start..];
    let decoded = decode_body(&head, body, limits.of_body(body.len() as u64));
    let marked = header.get("WARC-Truncated").map(Truncated::from_token);
    Ok(ArchivedPage {
        url: header.target_uri().unwrap_or_default().into(),
        date: header.get("WARC-Date").unwrap_or_default().into(),
        status: head.status,
        content_type: head.get("content-type").map(str::to_string),
        redirect: head.get("location").map(str::to_string),
        body: decoded.bytes,
        truncated: marked.or(cut.then_some(Truncated::Length)).or(decoded.truncated),
        unknown_encoding: decoded.unknown,
        file,
        at: record.at,
        revisit: false,
    })
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
