//! `fetch` through the real command, against a server that cuts connections, sends wrong lengths and changes
//! its file; and how import treats what was fetched.

use sha2::{Digest, Sha256};

use crate::harness::{Site, Workspace, source, title};
use crate::support::{Asked, Reply};

/// A workspace whose only source is the server's file.
fn workspace(site: &Site, more: &str) -> Workspace {
    let url = site.server.url("/titles.jsonl");
    Workspace::with(&format!("{}url = {url:?}\n{more}", source("titles", "leymore-titles", FILE)))
}

const FILE: &str = "raw/dumps/titles.jsonl";
const ETAG: &str = "ETag: \"one\"\r\n";

/// A dump of a few hundred kilobytes: more than one read from a socket.
fn dump(word: &str) -> Vec<u8> {
    let line = |i| title(i, &format!("第{i}{word}为什么半夜不睡觉？")) + "\n";
    (1..4000).map(line).collect::<String>().into_bytes()
}

fn sha(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The byte at which a request wants to resume.
fn from(asked: &Asked) -> Option<usize> {
    asked.headers.get("range")?.strip_prefix("bytes=")?.split('-').next()?.parse().ok()
}

fn whole(body: &[u8], etag: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{etag}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn rest(body: &[u8], from: usize, etag: &str) -> Vec<u8> {
    let (last, all) = (body.len() - 1, body.len());
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {from}-{last}/{all}\r\n{etag}\r\n",
        all - from
    );
    [head.as_bytes(), &body[from..]].concat()
}

fn honest(body: &[u8], asked: &Asked) -> Vec<u8> {
    from(asked).map_or_else(|| whole(body, ETAG), |from| rest(body, from, ETAG))
}

fn names(ws: &Workspace) -> Vec<String> {
    let names = std::fs::read_dir(ws.path("raw/dumps")).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_connection_that_is_cut_goes_on_and_the_file_is_pinned() {
    let site = Site::start(|asked| {
        let mut answer = honest(&dump("盏灯"), asked);
        answer.truncate(300_000);
        Reply::Raw(answer)
    });
    let ws = workspace(&site, "");
    let result = ws.call(["fetch"]).expect(0);
    assert!(
        result.err.contains("; again in 1 s") && result.err.contains("titles: fetched "),
        "{}",
        result.err
    );
    assert_eq!(ws.bytes(FILE), dump("盏灯"));
    assert_eq!(names(&ws), ["titles.jsonl"]);
    let asked = site.server.asked();
    assert!(asked.len() >= 2 && asked[1..].iter().all(|asked| asked.headers["if-range"] == "\"one\""));
    let lock = ws.read("pipeline.lock");
    assert!(lock.contains(&format!("sha256 = \"{}\"", sha(&dump("盏灯")))), "{lock}");

    let result = ws.call(["fetch", "--json"]).expect(0);
    let done: serde_json::Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!((&done[0]["state"], &done[0]["file"]), (&"unchanged".into(), &FILE.into()));
    assert_eq!(site.server.asked().len(), asked.len(), "what lies there is not asked for");
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(0);
}

#[test]
fn a_length_that_is_a_lie_is_found_out() {
    // It promises more than it sends, once.
    let site = Site::start({
        let lied = std::sync::atomic::AtomicBool::new(false);
        move |asked| {
            let body = dump("把伞");
            if lied.swap(true, std::sync::atomic::Ordering::SeqCst) {
                return Reply::Raw(honest(&body, asked));
            }
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{ETAG}\r\n", body.len() + 900);
            Reply::Raw([head.as_bytes(), &body].concat())
        }
    });
    let ws = workspace(&site, "");
    ws.call(["fetch"]).expect(0);
    assert_eq!(ws.bytes(FILE), dump("把伞"));

    // It promises less than the file that the settings require.
    let site = Site::start(|_| {
        Reply::Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n", &dump("把伞")[..]].concat())
    });
    let ws = workspace(&site, &format!("sha256 = \"{}\"\n", sha(&dump("把伞"))));
    let result = ws.call(["fetch"]).expect(4);
    assert!(result.err.contains("the settings state") && result.err.contains("hint"), "{}", result.err);
    assert_eq!(names(&ws), Vec::<String>::new(), "nothing is left that could be taken for the dump");
}

#[test]
fn a_file_that_changes_midway_is_never_two_versions() {
    let site = Site::start(|asked| {
        let old = !asked.headers.contains_key("if-range") && from(asked).is_none();
        match old {
            true => {
                let mut answer = whole(&dump("口锅"), ETAG);
                answer.truncate(200_000);
                Reply::Raw(answer)
            }
            // If-Range names a version that no longer exists: the new one is sent completely.
            false => Reply::Raw(whole(&dump("只碗"), "ETag: \"two\"\r\n")),
        }
    });
    let ws = workspace(&site, "");
    ws.call(["fetch"]).expect(0);
    assert!(ws.bytes(FILE) == dump("只碗"));
}

#[test]
fn import_takes_the_pinned_bytes_and_no_others() {
    let site = Site::start(|asked| Reply::Raw(honest(&dump("条船"), asked)));
    let ws = workspace(&site, "");
    ws.call(["fetch", "--quiet"]).expect(0);
    ws.write(FILE, dump("座桥"));
    let result = ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(2);
    for word in ["pipeline.lock has", "titles.jsonl has the SHA-256", "hint: move it away"] {
        assert!(result.err.contains(word), "{word:?} is not in {}", result.err);
    }
    // Fetching never overwrites an edited file.
    assert!(ws.call(["fetch"]).expect(4).err.contains("pipeline.lock has"));
    assert!(ws.bytes(FILE) == dump("座桥"));
    ws.remove(FILE);
    ws.call(["fetch"]).expect(0);
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(0);
    // The settings take precedence over the pin.
    ws.write(FILE, dump("座桥"));
    let stated = ws.read("pipeline.toml") + &format!("sha256 = \"{}\"\n", sha(&dump("座桥")));
    ws.write("pipeline.toml", stated);
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(0);
    ws.write("pipeline.lock", "[[file]]\nurl = 7\n");
    assert!(ws.call(["run"]).expect(2).err.contains("pipeline.lock"));
}

#[test]
fn a_download_that_has_not_ended_is_no_dump() {
    let ws = Workspace::with(&source("all", "leymore-titles", "raw/dumps/*"));
    ws.write("raw/dumps/a.jsonl", title(1, "冰块怕热还是怕化？"));
    ws.write("raw/dumps/b.jsonl.part", title(2, "雨伞自己会不会淋湿？"));
    ws.write("raw/dumps/b.jsonl.part.json", "{\"url\": \"http://a\", \"validator\": null, \"total\": 9}");
    ws.call(["run", "--recipe", "flub"]).expect(0);
    assert_eq!(ws.posts("flub").len(), 1);
    ws.audit_clean();
}

#[test]
fn what_is_no_source_with_a_url_is_reported() {
    let ws = Workspace::with(&source("here", "leymore-titles", "raw/here"));
    assert!(ws.call(["fetch"]).expect(2).err.contains("no source has a url"));
    assert!(ws.call(["fetch", "here"]).expect(2).err.contains("has no url"));
    let result = ws.call(["fetch", "there"]).expect(2).err;
    assert!(result.contains("unknown source \"there\"") && result.contains("here"), "{result}");
}
