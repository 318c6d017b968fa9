//! What a file is, from its first bytes.

use std::io::Read;
use std::path::Path;

use super::dialect::HEAD;
use super::packed::LAYERS;
use super::text_forms::{in_sed, is_chat, is_mailbox, is_mhtml, is_script, is_yaml, odd_delimiter};
use super::{Packing, encoding_of, open_unpacked, workbook, zipped};

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing at all.
    Empty,
    /// JSON: lines, a list, or one object.
    Json,
    /// Text that is none of the others; a table, perhaps.
    Text,
    /// A spreadsheet.
    Workbook,
    /// Columns in Parquet.
    Parquet,
    /// An array of numpy's.
    Numpy,
    /// A web archive.
    Warc,
    /// A zip with web archives in it.
    Wacz,
    /// A page with what belongs to it, as browsers save it in one file.
    Mhtml,
    /// A page.
    Html,
    /// XML.
    Xml,
    /// Something that cannot be read.
    Foreign(Foreign),
}

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it is, with an article.
    pub what: String,
    /// What makes it readable.
    pub remedy: String,
}

const UNPACK: &str = "and name the files in it as `path`";
const PANDAS: &str = "read it with pandas and write `df.to_json(\"posts.jsonl\", orient=\"records\", lines=True, force_ascii=False)`";
const SQL: &str = "load it into a database and export the table of posts as CSV or JSON";

/// Offset and first bytes, what begins so, and the remedy.
const MAGIC: &[(usize, &[u8], &str, &str)] = &[
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it (`7z x FILE`)"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it (`unrar x FILE`)"),
    (257, b"ustar", "a tar archive", "unpack it (`tar xf FILE`)"),
    (0, b"\x1f\x9d", "a file packed by compress", "unpack it (`uncompress FILE`)"),
    (0, b"LZIP", "a file packed by lzip", "unpack it (`lzip -d FILE`)"),
    (0, b"\x89LZO\0\r\n\x1a\n", "a file packed by lzop", "unpack it (`lzop -d FILE`)"),
    (0, b"\x5d\0\0", "a file packed by lzma", "unpack it (`xz --format=lzma -d FILE`)"),
    (0, b"\xff\x06\0\0sNaPpY", "a file packed by Snappy", "unpack it (`snzip -d FILE`)"),
    (0, b"!<arch>\n", "an ar archive", "unpack it (`ar x FILE`)"),
    (0, b"MSCF", "a cabinet archive", "unpack it (`cabextract FILE`)"),
    (2, b"-lh", "an LZH archive", "unpack it (`lha x FILE`)"),
    (
        0,
        b"SQLite format 3\0",
        "an SQLite database",
        "`sqlite3 -json FILE \"SELECT * FROM the_table\" > posts.json` writes a table of it as JSON",
    ),
    (
        4,
        b"Standard Jet DB",
        "an Access database",
        "`mdb-export FILE TABLE > posts.csv` writes a table of it as CSV",
    ),
    (
        4,
        b"Standard ACE DB",
        "an Access database",
        "`mdb-export FILE TABLE > posts.csv` writes a table of it as CSV",
    ),
    (
        0,
        b"PGDMP",
        "a dump of PostgreSQL",
        "load it with `pg_restore` and export the table of posts as CSV or JSON",
    ),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", PANDAS),
    (
        0,
        b"ARROW1",
        "an Arrow file",
        "`pandas.read_feather(FILE).to_parquet(\"posts.parquet\")` writes it as Parquet",
    ),
    (
        0,
        b"FEA1",
        "a Feather file",
        "`pandas.read_feather(FILE).to_parquet(\"posts.parquet\")` writes it as Parquet",
    ),
    (
        0,
        b"\xff\xff\xff\xff",
        "an Arrow stream",
        "`datasets.Dataset.from_file(FILE).to_parquet(\"posts.parquet\")` writes it as Parquet",
    ),
    (0, b"ORC", "an ORC file", "`pandas.read_orc(FILE).to_parquet(\"posts.parquet\")` writes it as Parquet"),
    (0, b"Obj\x01", "an Avro file", "`avro-tools tojson FILE > posts.jsonl` writes it as JSON lines"),
    (0, b"RDX", "an R workspace", "load it in R and write `jsonlite::stream_out(df, file(\"posts.jsonl\"))`"),
    (0, b"RDA", "an R workspace", "load it in R and write `jsonlite::stream_out(df, file(\"posts.jsonl\"))`"),
    (
        0,
        b"X\n\0\0\0",
        "an R object",
        "`jsonlite::stream_out(readRDS(FILE), file(\"posts.jsonl\"))` in R writes it as JSON lines",
    ),
    (0, b"$FL2", "an SPSS file", PANDAS),
    (0, b"<stata_dta>", "a Stata file", PANDAS),
    (0, b"%PDF", "a PDF", "extract its text first: there are no posts in it that could be told apart"),
    (0, b"{\\rtf", "an RTF document", "save it as a table: CSV or a workbook, a post a row"),
    (0, b"bplist00", "a web archive of Safari or a property list", "save the page as HTML"),
    (0, b"\x89PNG", "a picture", "its text has to be typed or recognised first"),
    (0, b"\xff\xd8\xff", "a picture", "its text has to be typed or recognised first"),
    (0, b"GIF8", "a picture", "its text has to be typed or recognised first"),
    (8, b"WEBP", "a picture", "its text has to be typed or recognised first"),
    (0, b"ITSF", "a CHM help file", "unpack it (`7z x FILE`)"),
    (0, b"-----BEGIN PGP", "an encrypted file", "decrypt it (`gpg -d FILE`)"),
    (0, b"age-encryption.org/", "an encrypted file", "decrypt it (`age -d FILE`)"),
    (
        0,
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS and not the file itself",
        "`git lfs pull` in the repository that it comes from downloads the file",
    ),
    (0, b" CDX ", "an index of a web archive", "name the archive itself, the .warc.gz files, as `path`"),
    (0, b"!meta {", "an index of a web archive", "name the archive itself, the .warc.gz files, as `path`"),
    (0, b"filedesc://", "an ARC file", "`arc2warc FILE` (warctools) writes it as WARC"),
];

/// How dumps of databases begin, in capitals, behind the lines that mark a remark.
const SQL_WORDS: [&str; 17] = [
    "MYSQL DUMP",
    "MARIADB DUMP",
    "POSTGRESQL DATABASE DUMP",
    "PHPMYADMIN SQL DUMP",
    "ADMINER ",
    "DUMP OF TABLE",
    "/*M!",
    "/*!4",
    "CREATE TABLE",
    "CREATE DATABASE",
    "INSERT INTO",
    "PRAGMA FOREIGN_KEYS",
    "DROP TABLE",
    "SET NAMES",
    "SET SQL_MODE",
    "LOCK TABLES",
    "BEGIN TRANSACTION;",
];

/// What a file is. One that cannot be read is left to its reader, which reports why.
pub fn sniff_form(path: &Path) -> Form {
    let mut head = Vec::new();
    let Ok(reader) = open_unpacked(path) else { return Form::Text };
    let failed = reader.take(HEAD as u64).read_to_end(&mut head).is_err();
    match head.is_empty() {
        true if failed => Form::Text,
        true => Form::Empty,
        false => of_head(path, &head),
    }
}

fn foreign_form(what: impl Into<String>, remedy: impl Into<String>) -> Form {
    Form::Foreign(Foreign { what: what.into(), remedy: remedy.into() })
}

fn of_head(path: &Path, head: &[u8]) -> Form {
    let begins = |magic: &[u8]| head.starts_with(magic);
    if begins(b"PK\x03\x04") || begins(b"PK\x05\x06") {
        // What stands in a zip is found by its end, which a stream does not have.
        return match Packing::of_file(path) {
            Packing::Plain => of_zip(path),
            packing => foreign_form(
                format!("a zip that is packed again, with {}", packing.name()),
                format!(
                    "unpack it twice (`{} FILE > posts.zip`, then `unzip posts.zip`) {UNPACK}",
                    packing.unpacks_by()
                ),
            ),
        };
    }
    if !matches!(Packing::of_head(head), Packing::Plain | Packing::Zip) {
        return foreign_form(
            format!("packed more than {LAYERS} times, one around the other"),
            format!("unpack it (`7z x FILE`, again and again) {UNPACK}"),
        );
    }
    if begins(b"PAR1") {
        return Form::Parquet;
    }
    if begins(b"\x93NUMPY") {
        return Form::Numpy;
    }
    if begins(b"WARC/") {
        return Form::Warc;
    }
    if is_wide(head) {
        return foreign_form(
            "a text in UTF-32",
            "`iconv -f UTF-32 -t UTF-8 FILE > posts.utf8` writes it as UTF-8",
        );
    }
    if begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return match workbook::is_xls(path) {
            true => Form::Workbook,
            false => foreign_form(
                "an old document of an office program",
                "save it as a table: CSV or XLSX, a post a row",
            ),
        };
    }
    // Protocol, and the first opcodes of a frame, a dictionary or a list: a text in GBK may begin with 0x80.
    if matches!(head, [0x80, 2..=5, b'}' | b']' | b'(' | b'c' | 0x8c | 0x95, ..]) {
        return foreign_form(
            "a Python pickle",
            format!("it can run any program while it is read, so it is not; {PANDAS} where you trust it"),
        );
    }
    let zeros = |at: usize| head.get(at).is_some_and(|byte| *byte == 0);
    for (at, magic, what, remedy) in MAGIC {
        let found = head.get(*at..).is_some_and(|rest| rest.starts_with(magic));
        // A few letters may begin a text, too, in which there is no control character.
        let letters = magic.len() <= 6 && magic.iter().all(u8::is_ascii_alphanumeric);
        let text = letters && head.iter().take(4096).all(|byte| *byte >= 9);
        let weak =
            text || *magic == b"\xff\xff\xff\xff" && !zeros(7) || *magic == b"\x5d\0\0" && head.len() < 14;
        if found && !weak {
            let remedy = if remedy.starts_with("unpack it") {
                format!("{remedy} {UNPACK}")
            } else {
                (*remedy).to_owned()
            };
            return foreign_form(*what, remedy);
        }
    }
    let (encoding, mark) = encoding_of(head);
    let (text, _) = encoding.decode_without_bom_handling(&head[mark..]);
    if is_binary(&text) {
        let is_brotli = path.extension().is_some_and(|ending| ending == "br");
        return match is_brotli {
            true => foreign_form("a file packed by brotli", format!("unpack it (`brotli -d FILE`) {UNPACK}")),
            false => foreign_form(
                "no text, and of no form that is known here",
                "what wrote it can export it as CSV, JSON or a workbook; `file FILE` may tell what it is",
            ),
        };
    }
    of_text(&text)
}

/// Whether decoded bytes are no text, which hardly has a control character or a place that is none of its encoding.
fn is_binary(text: &str) -> bool {
    let head = || text.chars().take(4096);
    let control =
        |c: &char| c.is_control() && !c.is_whitespace() && !matches!(c, '\u{1}' | '\u{1e}' | '\u{1f}');
    let (controls, wrong) = (head().filter(control).count(), head().filter(|c| *c == '\u{fffd}').count());
    controls * 20 > head().count() && (controls + wrong) * 5 > head().count()
}

/// UTF-32, with its mark or without: three bytes of four are zero.
fn is_wide(head: &[u8]) -> bool {
    match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => true,
        [a, 0, 0, 0, b, 0, 0, 0, ..] | [0, 0, 0, a, 0, 0, 0, b, ..] => *a != 0 && *b != 0,
        _ => false,
    }
}

fn of_text(text: &str) -> Form {
    // Sequences of JSON texts begin each with a mark (RFC 7464).
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{1e}'));
    let Some(first) = text.chars().next() else { return Form::Empty };
    // Its messages may begin as a list of JSON does.
    if is_chat(text) {
        return foreign_form(
            "a chat exported by WhatsApp",
            "`sed -nE 's/^[^0-9]{0,4}([0-9][^]-]*[^] -])(\\]| -) ([^:]+): (.*)$/\\1\\t\\3\\t\\4/p' FILE | sed '1i time\\tauthor\\ttext' > posts.tsv` writes a message a row, of one over several lines the first",
        );
    }
    if matches!(first, '{' | '[') {
        return Form::Json;
    }
    let start: String = text.chars().take(64).collect();
    let upper = start.to_ascii_uppercase();
    let remark = upper.trim_start_matches(|c: char| c == '-' || c.is_whitespace());
    let is_copy = || {
        let first: String = text.lines().next().unwrap_or_default().chars().take(2000).collect();
        remark.starts_with("COPY ") && first.to_ascii_uppercase().contains(" FROM STDIN")
    };
    if SQL_WORDS.iter().any(|words| remark.starts_with(words)) || is_copy() {
        return foreign_form("a dump of a database in SQL", SQL);
    }
    if upper.starts_with("<?PHP") {
        return foreign_form("a table written as PHP", "export it as JSON or CSV instead");
    }
    if first == '<'
        && ["<pma_xml_export", "<mysqldump", "<resultset", "<RECORDS>"].iter().any(|tag| text.contains(tag))
    {
        return foreign_form(
            "a table of a database as XML",
            "export the table of posts as JSON or CSV instead",
        );
    }
    if is_script(text) {
        return foreign_form(
            "a script with JSON in it (as archives of Twitter have, or replies to a callback)",
            "`sed -e '1s/^[^[{]*//' -e '$s/[);]*$//' FILE > posts.json` leaves the JSON",
        );
    }
    if is_yaml(text) {
        return foreign_form(
            "YAML",
            "`python3 -c \"import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)\" < FILE > posts.json` writes it as JSON",
        );
    }
    if let Some(parts) = odd_delimiter(text) {
        return foreign_form(
            format!("a table whose columns are parted by `{}`", parts.escape_default()),
            format!("`sed 's/{}/\\t/g' FILE > posts.tsv` parts them by tabs", in_sed(parts)),
        );
    }
    if is_mhtml(text) {
        return Form::Mhtml;
    }
    if is_mailbox(text) {
        return foreign_form(
            "a mailbox (mbox)",
            "write its messages as JSON lines, a message a line; Python's `mailbox` reads it",
        );
    }
    match first {
        '<' if ["<!DOCTYPE HTML", "<HTML", "<HEAD", "<BODY", "<META", "<SCRIPT", "<TABLE"]
            .iter()
            .any(|tag| upper.starts_with(tag)) =>
        {
            Form::Html
        }
        // The doctype may come behind a comment or a declaration.
        '<' if upper.starts_with("<!--") || upper.starts_with("<?XML") => {
            let head: String = text.chars().take(4096).collect::<String>().to_ascii_uppercase();
            if head.contains("<!DOCTYPE HTML") || head.contains("<HTML") { Form::Html } else { Form::Xml }
        }
        _ => Form::Text,
    }
}

fn of_zip(path: &Path) -> Form {
    let Some(entries) = zipped::list_entries(path) else {
        return foreign_form(
            "a damaged zip, or one that was not saved to its end",
            "download it again, or unpack it and name the files in it as `path`",
        );
    };
    let any = |is: &dyn Fn(&str) -> bool| entries.iter().any(|entry| is(&entry.name));
    if any(&|name| name.starts_with("xl/workbook.")) {
        return Form::Workbook;
    }
    if let Some(kind) = entries.iter().find(|entry| entry.name == "mimetype").and_then(|entry| {
        let mut kind = String::new();
        entry.open_entry(path).ok()?.take(200).read_to_string(&mut kind).ok()?;
        Some(kind)
    }) {
        return match kind.trim() {
            kind if kind.starts_with("application/vnd.oasis.opendocument.spreadsheet") => Form::Workbook,
            "application/epub+zip" => {
                foreign_form("an e-book (EPUB)", "unzip it and name its pages as `path`, with a `profile`")
            }
            kind => foreign_form(
                format!("a document ({kind})"),
                "save it as a table: CSV, XLSX or ODS, a post a row",
            ),
        };
    }
    if any(&|name| name.starts_with("word/") || name.starts_with("ppt/")) {
        return foreign_form(
            "a document of an office program",
            "save it as a table: CSV or XLSX, a post a row",
        );
    }
    let is_archive = |name: &str| [".warc", ".warc.gz", ".warc.zst"].iter().any(|end| name.ends_with(end));
    if any(&is_archive) {
        let readable = entries.iter().filter(|entry| is_archive(&entry.name)).all(zipped::Entry::is_stored);
        return match readable {
            true => Form::Wacz,
            false => foreign_form(
                "a zip whose web archives are packed a second time (WACZ stores them as they are)",
                "unzip it and name its archive/*.warc.gz as `path`",
            ),
        };
    }
    if any(&|name| name.ends_with(".npy")) {
        return foreign_form("several arrays of numpy's (npz)", PANDAS);
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let some = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => foreign_form("an empty zip", "pack it again, or name the files themselves as `path`"),
        1 => foreign_form(
            format!("a zip with a password, or packed in an unusual way ({some})"),
            format!("unzip it {UNPACK}"),
        ),
        n => {
            let more = if n > 3 { ", …" } else { "" };
            foreign_form(format!("a zip of {n} files ({some}{more})"), format!("unzip it {UNPACK}"))
        }
    }
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
