//! Archives written by the tests, whole and damaged.

use super::super::{Header, write_record};
use super::*;

#[test]
fn an_archive_of_a_few_kilobytes_gives_no_gigabytes() {
    let zeros = include_bytes!("../../../../tests/fixtures/zeros-64m.br");
    let block = [&b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n"[..], zeros].concat();
    let one = record_bytes("response", "http://a.example/", &[("WARC-Payload-Digest", "sha1:A")], &block);
    let first = Archive::new(write_archive(&one), RecordLimits::default()).pages().next().unwrap().unwrap();
    assert_eq!(first.truncated, Some(Truncated::Length));
    assert!(first.body.len() <= 64 << 10, "{}", first.body.len());

    // The records of 3,000 pages are packed again: their total size is bounded by the file's size.
    let page = [&b"HTTP/1.1 200 OK\r\n\r\n"[..], &vec![b'a'; 200_000]].concat();
    let plain: Vec<u8> = (0..3000)
        .flat_map(|i| unpack_member(&record_bytes("response", &format!("http://a.example/{i}"), &[], &page)))
        .collect();
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    assert!(packed.len() < 100_000, "{}", packed.len());
    let (mut bytes, mut bombs) = (0, 0);
    for page in Archive::new(write_archive(&packed), RecordLimits::default()).pages() {
        match page {
            Ok(page) => bytes += page.body.len() as u64,
            Err(error) => bombs += u64::from(matches!(error.trouble, ArchiveTrouble::Bomb { .. })),
        }
    }
    assert!(bytes <= super::super::FILE_FLOOR && bombs == 1, "{bytes} bytes, {bombs} refusals");
}

fn unpack_member(member: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(member), &mut plain).unwrap();
    plain
}

fn write_archive(bytes: &[u8]) -> Vec<PathBuf> {
    let folder = tempfile::tempdir().unwrap().keep();
    let path = folder.join("a.warc");
    std::fs::write(&path, bytes).unwrap();
    vec![path]
}

fn record_bytes(kind: &str, url: &str, fields: &[(&str, &str)], block: &[u8]) -> Vec<u8> {
    let mut header =
        Header::new(kind).with_field("WARC-Target-URI", url).with_field("WARC-Date", "2024-01-01T00:00:00Z");
    for (name, value) in fields {
        header = header.with_field(name, *value);
    }
    let mut bytes = Vec::new();
    write_record(&mut bytes, &header, block).unwrap();
    bytes
}

fn read_archives(files: &[Vec<u8>]) -> Vec<Result<ArchivedPage, ArchiveError>> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..files.len()).map(|i| folder.path().join(format!("{i}.warc.gz"))).collect();
    for (path, bytes) in paths.iter().zip(files) {
        std::fs::write(path, bytes).unwrap();
    }
    Archive::new(paths, RecordLimits::default()).pages().collect()
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nthe body";

#[test]
fn revisits_are_resolved_by_id_by_date_and_by_digest_before_and_after_their_original() {
    let original = record_bytes(
        "response",
        "http://a/1",
        &[("WARC-Record-ID", "<urn:x>"), ("WARC-Payload-Digest", "sha1:D")],
        OK,
    );
    let not_modified = b"HTTP/1.1 304 Not Modified\r\n\r\n";
    let by_id = record_bytes("revisit", "http://a/1", &[("WARC-Refers-To", "<urn:x>")], not_modified);
    let by_date = record_bytes(
        "revisit",
        "http://a/2",
        &[("WARC-Refers-To-Target-URI", "http://a/1"), ("WARC-Refers-To-Date", "2024-01-01T00:00:00Z")],
        b"HTTP/1.1 404 Not Found\r\n\r\n",
    );
    let by_digest = record_bytes("revisit", "http://a/3", &[("WARC-Payload-Digest", "SHA1:d")], b"");
    let lost = record_bytes("revisit", "http://a/4", &[("WARC-Payload-Digest", "sha1:other")], b"");
    let pages = read_archives(&[by_digest, [original, by_id, by_date].concat(), lost]);
    let seen: Vec<String> = pages
        .iter()
        .map(|page| match page {
            Ok(page) => format!("{} {} {}", page.url, page.status, String::from_utf8_lossy(&page.body)),
            Err(error) => format!("{}", error.trouble),
        })
        .collect();
    assert_eq!(
        seen,
        [
            "http://a/1 200 the body",
            "http://a/1 200 the body",
            "http://a/2 404 the body",
            "http://a/3 200 the body",
            "record at byte 0+0 (http://a/4): the record it revisits is not in the archive",
        ]
    );
}

#[test]
fn one_bad_body_stops_nothing_and_one_bad_record_only_its_file() {
    let odd = record_bytes("response", "http://a/1", &[], b"no HTTP");
    let good = record_bytes("response", "http://a/2", &[], OK);
    let torn = &good[..good.len() - 9];
    let pages = read_archives(&[[odd, good.clone(), torn.to_vec()].concat(), good.clone()]);
    let kinds: Vec<bool> = pages.iter().map(Result::is_ok).collect();
    assert_eq!(kinds, [false, true, false, true]);
}

#[test]
fn a_wacz_is_read_like_the_archives_in_it() {
    let page = |i: u8| {
        let digest = format!("sha1:{i}");
        record_bytes("response", &format!("http://a/{i}"), &[("WARC-Payload-Digest", digest.as_str())], OK)
    };
    let again = record_bytes("revisit", "http://a/3", &[("WARC-Payload-Digest", "sha1:1")], b"");
    let mut torn = [page(4), page(5)].concat();
    let middle = page(4).len() + 20;
    torn[middle] ^= 0xff;
    let plain = unpack_member(&page(6));
    let files: [(&str, &[u8]); 5] = [
        ("archive/b.warc.gz", &again),
        ("archive/a.warc.gz", &[page(1), page(2)].concat()),
        ("archive/c.warc.gz", &torn),
        ("archive/d.warc", &plain),
        ("datapackage.json", b"{}"),
    ];
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        zip.start_file(name, stored).unwrap();
        io::Write::write_all(&mut zip, bytes).unwrap();
    }
    let path = write_archive(&zip.finish().unwrap().into_inner());
    let pages: Vec<_> = Archive::new(path, RecordLimits::default()).pages().collect();
    let urls: Vec<&str> = pages.iter().map(|page| page.as_ref().map_or("damage", |page| &page.url)).collect();
    assert_eq!(urls, ["http://a/1", "http://a/2", "http://a/3", "http://a/4", "damage", "http://a/6"]);
    assert_eq!(pages[2].as_ref().unwrap().body, b"the body");
    let mut places: Vec<u64> = pages.iter().flatten().map(|page| page.at.member + page.at.skip).collect();
    places.dedup();
    assert_eq!(places.len(), 5, "each has a place of its own");
}

#[test]
fn truncation_is_read_and_resources_are_pages() {
    let cut = record_bytes("response", "http://a/1", &[("WARC-Truncated", "time")], OK);
    let resource = record_bytes("resource", "http://a/2", &[("Content-Type", "text/html")], b"bare");
    let ignored = record_bytes("metadata", "http://a/1", &[], b"x: y");
    let pages = read_archives(&[[cut, ignored, resource].concat()]);
    assert_eq!(pages[0].as_ref().unwrap().truncated, Some(Truncated::Time));
    let bare = pages[1].as_ref().unwrap();
    assert_eq!((bare.body.as_slice(), bare.content_type.as_deref()), (&b"bare"[..], Some("text/html")));
    assert_eq!(pages.len(), 2);
}
