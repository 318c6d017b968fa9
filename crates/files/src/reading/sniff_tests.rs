//! Files of every form.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn of(bytes: &[u8]) -> Form {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().write_all(bytes).unwrap();
    sniff_form(file.path())
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(*name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn files_that_can_be_read_are_told_apart() {
    for (bytes, form) in [
        (&b""[..], Form::Empty),
        (b" \n\xef\xbb\xbf ", Form::Empty),
        (b"\xef\xbb\xbf\n {\"a\": 1}", Form::Json),
        (b"\xff\xfe[\0{\0", Form::Json),
        (b"id;title\n", Form::Text),
        (b"id;title\n1;a::b\n2;c::d\n", Form::Text),
        (b"kim: why?\nlee: so\n", Form::Text),
        (b"f(x) = [1]? I say {2}\n", Form::Text),
        (b"PAR1", Form::Parquet),
        (b"WARC/1.0\r\n", Form::Warc),
        (b"<!DOCTYPE html><p>", Form::Html),
        (b"<table><tr><th>id</th></tr></table>", Form::Html),
        (b"1, 2/3, a: b\nCOPY that\n", Form::Text),
        (b"<!-- saved from url=(0014)http://a.example/ -->\n<html>", Form::Html),
        (b"<?xml version=\"1.0\"?><posts/>", Form::Xml),
        (b"From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n", Form::Mhtml),
    ] {
        assert_eq!(of(bytes), form, "{:?}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(of(&zip(&[("archive/a.warc.gz", b"x"), ("datapackage.json", b"{}")])), Form::Wacz);
    assert_eq!(of(&zip(&[("posts.json", b"[1]"), ("__MACOSX/posts.json", b"x")])), Form::Json);
    assert_eq!(of(&zip(&[("xl/workbook.xml", b"x"), ("b", b"")])), Form::Workbook);
}

#[test]
fn what_cannot_be_read_is_named_with_what_to_do() {
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&tar).unwrap();
    for (bytes, what, remedy) in [
        (b"SQLite format 3\0".to_vec(), "an SQLite database", "sqlite3"),
        (b"COPY public.posts (id, text) FROM stdin;\n1\tDo fish drown?\n\\.\n".to_vec(), "in SQL", "export"),
        (b"[1/2/23, 10:00] Ann: Do fish drown?\n[1/2/23, 10:01] Kim: no\n".to_vec(), "WhatsApp", "posts.tsv"),
        (b"02.01.23, 10:00 - Ann: Do fish drown?\nand clouds?\n".to_vec(), "WhatsApp", "posts.tsv"),
        (b"7z\xbc\xaf\x27\x1c".to_vec(), "a 7-Zip archive", "7z x FILE"),
        (packed.finish().unwrap(), "a tar archive", "tar xf FILE"),
        (b"\x80\x04\x95\0".to_vec(), "a Python pickle", "to_json"),
        (b"-- MySQL dump 10.13\n".to_vec(), "SQL", "export the table"),
        (b"version https://git-lfs.github.com/spec/v1\n".to_vec(), "Git LFS", "git lfs pull"),
        (zip(&[("a.csv", b"x"), ("b.csv", b"x")]), "a zip of 2 files (a.csv, b.csv)", "unzip it"),
        (zip(&[("word/document.xml", b"x"), ("c", b"")]), "a document", "save it as a table"),
        (b"PK\x03\x04".to_vec(), "a damaged zip", "download it again"),
        (b"window.YTD.tweets.part0 = [ {\"tweet\": 1} ]".to_vec(), "a script with JSON", "sed"),
        (b"cb({\"posts\": []});".to_vec(), "a script with JSON", "sed"),
        (b"- title: a\n  id: 1\n- title: b\n  id: 2\n".to_vec(), "YAML", "yaml.safe_load"),
        (b"---\ntitle: a\n".to_vec(), "YAML", "yaml.safe_load"),
        (b"id::title\n1::a, b\n2::c\n".to_vec(), "parted by `::`", "s/::/\\t/g"),
    ] {
        let Form::Foreign(found) = of(&bytes) else { panic!("{what}: {:?}", of(&bytes)) };
        assert!(found.what.contains(what) && found.remedy.contains(remedy), "{found:?}");
    }
}

#[test]
fn what_is_packed_in_what_is_packed_is_named() {
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    let named = |bytes: &[u8]| match of(bytes) {
        Form::Foreign(foreign) => foreign.what,
        form => format!("{form:?}"),
    };
    assert_eq!(named(&gzip(&zip(&[("a.json", b"[1]")]))), "a zip that is packed again, with gzip");
    assert_eq!(named(&gzip(&gzip(b"[1]"))), "Json");
    let many = (0..6).fold(b"[1]".to_vec(), |bytes, _| gzip(&bytes));
    assert!(named(&many).contains("packed more than 4 times"), "{}", named(&many));
    assert_eq!(named(&gzip(&[&[0; 257][..], b"ustar", &[0; 300]].concat())), "a tar archive");
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert!(named(&noise).contains("no text"), "{}", named(&noise));
    let file = tempfile::Builder::new().suffix(".br").tempfile().unwrap();
    file.as_file().write_all(&noise).unwrap();
    assert!(matches!(sniff_form(file.path()), Form::Foreign(found) if found.what.contains("brotli")));
    assert_eq!(named(b"\x1e{\"a\": 1}\n\x1e{\"a\": 2}\n"), "Json");
}
