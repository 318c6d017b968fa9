//! `crawl` through the real command: killed and resumed, blocked, interrupted, sent decompression bombs.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use riddlemill::record::Post;
use riddlemill::store::StageReader;
use riddlemill::warc::{Header, write_record};

use crate::harness::{Site, Workspace, source};
use crate::support::forum::forum_page;
use crate::support::{Asked, Reply};

/// A workspace that crawls the site's forum, and imports the result.
fn workspace(site: &Site, seeds: &str, more: &str) -> Workspace {
    let host = format!("127.0.0.1:{}", site.server.port);
    let crawl = format!(
        "[[crawl]]\nname = \"forum\"\nsite = \"tieba\"\nbase = \"http://{host}\"\nseeds = {seeds}\n\
         contact = \"tests@example.invalid\"\nprivate_hosts = [{host:?}]\n{more}\n\
         [crawl.politeness]\ndelay_secs = 0.0\nretries = 0\n"
    );
    Workspace::with(&(source("forum", "warc", "raw/warc/forum/*.warc.gz") + &crawl))
}

/// robots.txt allows all.
fn open(pages: impl Fn(&Asked) -> Reply + Send + Sync) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| if asked.path == "/robots.txt" { Reply::status(404) } else { pages(asked) }
}

/// The posts that import reads from the archive, without their places in it.
fn imported(ws: &Workspace) -> BTreeMap<String, Post> {
    ws.call(["run", "--recipe", "flub", "--to", "import", "--set", "import.annual_posts=1000"]).expect(0);
    ws.audit_clean();
    let stage = StageReader::open(&ws.path("staged/flub/01_import")).unwrap().unwrap();
    let posts: Vec<Post> = stage.read_table("rows").unwrap();
    let placeless = |post: Post| (post.id.clone(), Post { position: 0, file: String::new(), ..post });
    posts.into_iter().map(placeless).collect()
}

#[test]
fn fifty_kills_through_the_command() {
    const KILLS: usize = 50;
    let site = Site::start(open(forum_page));
    let server = &site.server;
    let seeds = "[{ forum = \"x\" }]";
    let (whole, killed) = (workspace(&site, seeds, ""), workspace(&site, seeds, ""));
    whole.call(["crawl", "forum"]).expect(0);
    let pages = server.paths().iter().filter(|path| *path != "/robots.txt").count();
    assert_eq!(pages, 300);
    let before = server.paths().len();
    let asked = || server.paths().len() - before;
    let mut random = fastrand::Rng::with_seed(7);
    let mut draw = |most: u64| random.u64(..most);
    for kill in 0..KILLS {
        let mut child = killed.start(["crawl", "forum", "--quiet"]);
        // After this many further pages, and then at some point between two of them.
        let until = asked() + 2 + draw(2 * (300 / KILLS as u64 - 3)) as usize;
        let patience = Instant::now();
        while asked() < until && patience.elapsed() < Duration::from_secs(60) {
            assert!(child.try_wait().unwrap().is_none(), "the crawl was over after {kill} kills of {KILLS}");
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(draw(4000)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    killed.call(["crawl", "forum"]).expect(0);
    // Only requests in flight at a kill may be repeated.
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for path in server.paths().into_iter().skip(before).filter(|path| path != "/robots.txt") {
        *times.entry(path).or_default() += 1;
    }
    assert_eq!(times.len(), 300);
    let again: usize = times.values().map(|n| n - 1).sum();
    assert!(again <= KILLS, "{again} pages were asked for again after {KILLS} kills");
    eprintln!("{KILLS} kills, {again} pages in flight asked for again");
    let (want, got) = (imported(&whole), imported(&killed));
    assert!(want.len() >= 100, "{} posts", want.len());
    assert!(want == got, "the same rows, whenever it was killed");
    // A finished pass requests nothing.
    let done = server.paths().len();
    killed.call(["crawl", "forum"]).expect(0);
    assert!(server.paths().len() <= done + 1, "robots.txt at most");
}

#[test]
fn a_plan_contacts_nobody_and_a_contact_is_demanded() {
    let site = Site::start(open(|_| Reply::html("<p>x")));
    let ws = workspace(&site, "[{ thread = 5 }]", "");
    let result = ws.call(["crawl", "forum", "--dry-run"]).expect(0);
    assert!(result.out.contains("/p/5") && result.out.contains("tests@example.invalid"), "{}", result.out);
    assert!(site.server.asked().is_empty());
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("contact = \"tests@example.invalid\"\n", ""));
    let result = ws.call(["crawl", "forum"]).expect(2);
    assert!(result.err.contains("contact"), "{}", result.err);
    let result = ws.call(["crawl", "forun"]).expect(2);
    assert!(result.err.contains("\"forun\"") && result.err.contains("forum"), "{}", result.err);
    assert!(site.server.asked().is_empty());
}

#[test]
fn a_url_file_lies_in_the_workspace_wherever_the_command_runs() {
    let site = Site::start(open(|_| Reply::html("<p>x")));
    let ws = workspace(&site, "[{ url_file = \"lists/urls.txt\" }]", "");
    let page = site.server.url("/p/7");
    ws.write("lists/urls.txt", format!("# mine\n{page}\n"));
    let elsewhere = tempfile::tempdir().unwrap();
    let result = Command::new(env!("CARGO_BIN_EXE_riddlemill"))
        .current_dir(elsewhere.path())
        .args(["crawl", "forum", "--dry-run", "-C"])
        .arg(ws.path(""))
        .output()
        .unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    assert!(String::from_utf8_lossy(&result.stdout).contains(&page));
    ws.write("lists/urls.txt", format!("{page}\nnot an address\n"));
    let actual = ws.call(["crawl", "forum", "--dry-run"]).expect(2).err;
    assert!(actual.contains("urls.txt:2"), "{actual}");
}

#[test]
fn a_block_is_reported_plainly_and_ends_the_crawl() {
    let site = Site::start(open(|asked| match asked.path.as_str() {
        "/p/7700000002" => Reply::html(include_str!("../fixtures/pages/thread-quoting.html")),
        "/p/7700000003" => Reply::html(include_str!("../fixtures/pages/block-challenge.html")),
        path => panic!("asked for {path} after the block"),
    }));
    let ws =
        workspace(&site, "[{ thread = 7700000002 }, { thread = 7700000003 }, { thread = 7700000004 }]", "");
    let result = ws.call(["crawl", "forum"]).expect(3);
    assert!(
        result.out.contains("blocked") && result.out.contains("the block is not circumvented"),
        "{}",
        result.out
    );
    assert!(result.err.contains("is disabled for this run"), "{}", result.err);
    assert_eq!(imported(&ws).len(), 1, "what was had is kept");
}

#[test]
fn ctrl_c_ends_a_crawl_and_the_next_goes_on() {
    let site = Site::start(open(|asked| Reply::Slow(40, Box::new(forum_page(asked)))));
    let ws = workspace(&site, "[{ forum = \"x\" }]", "");
    let mut child = ws.start(["crawl", "forum"]);
    let patience = Instant::now();
    while site.server.asked().len() < 8 && patience.elapsed() < Duration::from_secs(60) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    ws.call(["crawl", "forum", "--set", "run.threads=1"]).expect(0);
    let paths = site.server.paths();
    let once: std::collections::BTreeSet<&String> =
        paths.iter().filter(|path| *path != "/robots.txt").collect();
    assert_eq!(once.len(), 300);
    let all = paths.iter().filter(|path| *path != "/robots.txt").count();
    assert!(all <= 301, "{} twice; one was in flight", all - 300);
}

/// Half a gigabyte of zeros in half a megabyte.
fn bomb() -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0; 1 << 20];
    (0..512).for_each(|_| gzip.write_all(&zeros).unwrap());
    gzip.finish().unwrap()
}

#[test]
fn bombs_lies_and_drips_stay_within_the_memory_that_is_allowed() {
    let bomb = bomb();
    let site = Site::start(open(move |asked| match asked.path.as_str() {
        "/p/1" => Reply::Plain(200, "Content-Encoding: gzip\r\n".into(), bomb.clone()),
        "/p/2" => Reply::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nsome".to_vec()),
        "/p/3" => Reply::Drip,
        "/p/4" => Reply::html("<div>".repeat(100_000)),
        _ => Reply::html(include_str!("../fixtures/pages/thread-quoting.html").replace("7700000002", "5")),
    }));
    let seeds = "[{ thread = 1 }, { thread = 2 }, { thread = 3 }, { thread = 4 }, { thread = 5 }]";
    let limits =
        "[crawl.limits]\nwire_bytes = 4194304\ndecoded_bytes = 8388608\ntotal_secs = 2.0\nidle_secs = 1.0\n";
    let ws = workspace(&site, seeds, limits);
    let mut child = ws.start(["crawl", "forum", "--quiet"]);
    let mut peak = 0;
    let code = loop {
        peak = high_water_kib(child.id()).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    eprintln!("crawl of bombs: {} MiB at most", peak >> 10);
    assert!(peak > 0 && peak < 160 << 10, "{} MiB", peak >> 10);
    assert_eq!(code, Some(3), "two pages were cut by time");
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
    let reasons = ws.reasons("flub");
    assert_eq!(reasons["failed/truncated"], 3, "{reasons:?}");
    assert_eq!(reasons["failed/page_unparsed"], 1, "{reasons:?}");
    ws.audit_clean();
}

/// Peak memory of a process, if the system reports it.
fn high_water_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_damaged_record_of_an_archive_costs_itself_alone() {
    let ws = Workspace::with(&source("forum", "warc", "raw/warc/forum/*.warc.gz"));
    let mut bytes = Vec::new();
    let mut starts = Vec::new();
    for page in 0..5 {
        starts.push(bytes.len());
        let url = format!("http://forum.example/{page}");
        let header = Header::new("response").with_field("WARC-Target-URI", url);
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page {page}</p>");
        write_record(&mut bytes, &header, body.as_bytes()).unwrap();
    }
    // In the middle of the deflated data of the middle one.
    bytes[(starts[2] + starts[3]) / 2] ^= 0xff;
    std::fs::create_dir_all(ws.path("raw/warc/forum")).unwrap();
    std::fs::write(ws.path("raw/warc/forum/a.warc.gz"), &bytes).unwrap();
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
    ws.audit_clean();
    let shown = ws.call(["show", "import", "--recipe", "flub", "--limit", "20"]).expect(0);
    for page in [0, 1, 3, 4] {
        assert!(shown.out.contains(&format!("http://forum.example/{page}")), "{}", shown.out);
    }
    assert!(
        !shown.out.contains("http://forum.example/2") || shown.out.contains("truncated"),
        "{}",
        shown.out
    );
    let gap = format!("a.warc.gz:{}", starts[2]);
    assert!(shown.out.contains(&gap), "{gap}: {}", shown.out);
}
