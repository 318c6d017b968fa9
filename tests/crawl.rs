//! The crawler against a server on loopback: every rule of politeness and safety has a test that
//! fails without it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use riddlemill::crawl::settings::{Limits, Politeness, Scope};
use riddlemill::crawl::{Dirs, Event, Lookup, Seed, Source, Summary, plan_crawl, run_crawl, run_with};
use riddlemill::pages::{Class, Imported, Profile, Site, import_archives};
use riddlemill::warc::{Archive, ArchiveReader, Header, Truncated};
use support::forum::forum_page;
use support::{Asked, Reply, Server};

macro_rules! page {
    ($name:literal) => {
        include_str!(concat!("fixtures/pages/", $name))
    };
}

struct Bench {
    folder: tempfile::TempDir,
    server: Server,
}

impl Bench {
    async fn new(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Bench {
        let server = Server::start(handler, &["127.0.0.2"]).await;
        Bench { folder: tempfile::tempdir().unwrap(), server }
    }

    /// A source without delays whose only hosts are those of the seeds.
    fn source(&self, site: Site, seeds: &[&str]) -> Source {
        Source {
            name: "test".into(),
            site,
            seeds: seeds.iter().map(|path| Seed::Url(self.absolute(path))).collect(),
            politeness: Politeness {
                delay_secs: 0.0,
                retries: 2,
                backoff_secs: 0.05,
                retry_after_cap_secs: 1,
                ..Politeness::default()
            },
            limits: Limits { total_secs: 1.0, idle_secs: 0.7, ..Limits::default() },
            contact: "tests@example.invalid".into(),
            private_hosts: vec![format!("127.0.0.1:{}", self.server.port)],
            ..Source::default()
        }
    }

    fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { self.server.url(path) } else { path.to_string() }
    }

    fn dirs(&self) -> Dirs {
        Dirs { warc: self.folder.path().join("warc"), state: self.folder.path().join("state") }
    }

    async fn crawl(&self, source: &Source) -> Summary {
        run_crawl(source, &self.dirs(), |_| {}, std::future::pending()).await.unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        archive_files(&self.dirs().archive_folder("test"))
    }

    fn import(&self, site: &Site) -> Imported {
        import_archives(self.files(), site, riddlemill::warc::RecordLimits::default())
    }

    /// Headers of all records.
    fn records(&self) -> Vec<(Header, Vec<u8>)> {
        let mut found = Vec::new();
        for file in self.files() {
            let mut reader =
                ArchiveReader::new(std::io::BufReader::new(std::fs::File::open(file).unwrap())).unwrap();
            while let Some(record) = reader.next_record().unwrap() {
                found.push((record.header, reader.read_block(1 << 30).unwrap().bytes));
            }
        }
        found
    }
}

fn archive_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// robots.txt allows all; everything else is up to `pages`.
fn open(pages: impl Fn(&Asked) -> Reply + Send + Sync) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| if asked.path == "/robots.txt" { Reply::status(404) } else { pages(asked) }
}

/// Names that resolve to loopback addresses, by an answer for each call.
struct Names(Box<Answers>, AtomicUsize);

type Answers = dyn Fn(&str, usize) -> Vec<IpAddr> + Send + Sync;

impl Names {
    fn new(answer: impl Fn(&str, usize) -> Vec<IpAddr> + Send + Sync + 'static) -> Arc<Names> {
        Arc::new(Names(Box::new(answer), AtomicUsize::new(0)))
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send + 'a>>;

impl Lookup for Names {
    fn lookup_host<'a>(&'a self, host: &'a str) -> Answer<'a> {
        let call = self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok((self.0)(host, call)) })
    }
}

// ---- 1. where requests may go

#[tokio::test]
async fn redirects_leave_neither_the_allow_list_nor_the_public_internet() {
    let bench = Bench::new(open(|asked| match asked.path.as_str() {
        "/1" => Reply::redirect("http://elsewhere.example/"),
        "/2" => Reply::redirect("http://169.254.169.254/latest/meta-data/"),
        "/3" => Reply::redirect("file:///etc/passwd"),
        "/4" => Reply::redirect("http://127.0.0.1:1/"),
        "/5" => Reply::redirect("http://127.0.0.1@127.0.0.2/"),
        "/6" => Reply::redirect(&format!("http://2130706434:{}/", asked.local.port())),
        "/7" => Reply::redirect(&format!("http://[::ffff:127.0.0.1]:{}/", asked.local.port())),
        "/8" => Reply::redirect(&format!("http://0177.0.0.2:{}/", asked.local.port())),
        path => panic!("asked for {path}"),
    }))
    .await;
    let mut source = bench.source(Site::Plain, &["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"]);
    // Private addresses stay private even if a careless user lists them.
    let port = bench.server.port;
    source.scope.hosts =
        vec!["169.254.169.254".into(), format!("127.0.0.2:{port}"), format!("[::ffff:7f00:1]:{port}")];
    let summary = bench.crawl(&source).await;
    assert_eq!(summary.done, 8);
    assert_eq!(summary.refused.len(), 8 - 1, "{:?}", summary.refused); // /6 and /8 name one address
    assert!(bench.server.asked().iter().all(|asked| asked.local.ip().to_string() == "127.0.0.1"));
    assert_eq!(bench.server.paths().len(), 9);
}

#[tokio::test]
async fn a_connection_goes_to_the_address_that_was_checked() {
    let bench = Bench::new(open(|_| Reply::html("<p>x"))).await;
    let port = bench.server.port;
    let mut source = bench.source(Site::Plain, &[]);
    source.seeds = (1..=5).map(|n| Seed::Url(format!("http://moving.test:{port}/{n}"))).collect();
    source.private_hosts = vec![format!("moving.test:{port}")];
    let names =
        Names::new(|_, call| vec![if call % 2 == 0 { [127, 0, 0, 1] } else { [127, 0, 0, 2] }.into()]);
    run_with(&source, &bench.dirs(), |_| {}, std::future::pending(), names.clone()).await.unwrap();
    let went: Vec<String> = bench.server.asked().iter().map(|asked| asked.local.ip().to_string()).collect();
    assert_eq!(went, ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"]);
    assert_eq!(names.1.load(Ordering::SeqCst), 6, "one look-up a request, and none behind the guard's back");
}

#[tokio::test]
async fn an_answer_that_turns_private_is_refused_at_the_next_request() {
    let bench = Bench::new(open(|_| Reply::html("<p>x"))).await;
    let port = bench.server.port;
    let mut source = bench.source(Site::Plain, &[]);
    source.seeds = vec![Seed::Url(format!("http://a.test:{port}/1")), Seed::Url("http://b.test/1".into())];
    source.private_hosts = vec![format!("a.test:{port}")];
    let names = Names::new(|_, _| vec![[127, 0, 0, 1].into()]);
    let summary = run_with(&source, &bench.dirs(), |_| {}, std::future::pending(), names).await.unwrap();
    assert_eq!(summary.done, 1, "only the override is asked: {summary:?}");
    assert!(summary.refused["http://b.test/1"].contains("not public"), "{summary:?}");
}

#[tokio::test]
async fn nothing_secret_is_sent_or_kept() {
    let bench = Bench::new(open(|asked| match asked.path.as_str() {
        "/a" => Reply::Plain(
            302,
            format!("Set-Cookie: session=s3cret\r\nLocation: http://other.test:{}/b\r\n", asked.local.port()),
            vec![],
        ),
        _ => Reply::Plain(200, "Set-Cookie: id=s3cret2; HttpOnly\r\n".into(), b"<p>body".to_vec()),
    }))
    .await;
    let port = bench.server.port;
    let mut source = bench.source(Site::Plain, &[]);
    source.seeds =
        vec![Seed::Url(format!("http://one.test:{port}/a")), Seed::Url(format!("http://one.test:{port}/c"))];
    source.scope.hosts = vec![format!("other.test:{port}")];
    source.private_hosts = vec![format!("one.test:{port}"), format!("other.test:{port}")];
    let names = Names::new(|_, _| vec![[127, 0, 0, 1].into()]);
    run_with(&source, &bench.dirs(), |_| {}, std::future::pending(), names).await.unwrap();
    assert_eq!(bench.server.count("/b"), 1);
    for asked in bench.server.asked() {
        for secret in ["cookie", "authorization", "referer"] {
            assert!(!asked.headers.contains_key(secret), "{secret} sent to {}", asked.host);
        }
        assert!(asked.headers["user-agent"].contains("(+tests@example.invalid)"));
    }
    for (header, block) in bench.records() {
        assert!(!String::from_utf8_lossy(&block).contains("s3cret"), "{header:?}");
    }
    assert!(bench.records().iter().any(|(_, b)| String::from_utf8_lossy(b).contains("set-cookie: redacted")));
}

// ---- 2. robots.txt

async fn with_robots(robots: impl Fn(&Asked) -> Option<Reply> + Send + Sync + 'static) -> (Bench, Summary) {
    let bench = Bench::new(move |asked: &Asked| robots(asked).unwrap_or_else(|| Reply::html("<p>x"))).await;
    let source = bench.source(Site::Plain, &["/open", "/closed/1"]);
    let summary = bench.crawl(&source).await;
    (bench, summary)
}

#[tokio::test]
async fn robots_is_obeyed_by_status() {
    let only_robots =
        |reply: Reply| move |asked: &Asked| (asked.path == "/robots.txt").then(|| reply.clone());
    for status in [404, 403, 401, 410] {
        let (_, summary) = with_robots(only_robots(Reply::status(status))).await;
        assert_eq!(summary.done, 2, "{status} allows all");
    }
    for status in [429, 500, 503] {
        let (bench, summary) = with_robots(only_robots(Reply::status(status))).await;
        assert_eq!(bench.server.paths(), ["/robots.txt"], "{status} forbids all");
        assert_eq!((summary.done, summary.pending, summary.deferred.len()), (0, 2, 1));
        assert!(!summary.is_complete());
    }
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nUser-agent: *\nDisall".to_vec();
    for reply in [Reply::Hang(Vec::new()), Reply::Raw(cut.clone()), Reply::Hang(cut), Reply::Drip] {
        let (bench, summary) = with_robots(only_robots(reply)).await;
        assert_eq!((summary.done, summary.pending), (0, 2));
        assert_eq!(bench.server.paths(), ["/robots.txt"]);
    }
}

#[tokio::test]
async fn robots_is_obeyed_by_content() {
    let text = "\u{feff}User-agent: *\r\nDisallow: /closed\r\n";
    let (bench, summary) = with_robots(move |a| (a.path == "/robots.txt").then(|| Reply::html(text))).await;
    assert_eq!(bench.server.paths(), ["/robots.txt", "/open"]);
    assert_eq!(summary.disallowed, BTreeSet::from([bench.server.url("/closed/1")]));

    // 600 KiB are read up to 500.
    let big = format!(
        "User-agent: *\nDisallow: /closed\n{}Disallow: /open\n",
        "# filler filler\n".repeat(600 * 64)
    );
    let (bench, _) = with_robots(move |a| (a.path == "/robots.txt").then(|| Reply::html(big.clone()))).await;
    assert_eq!(bench.server.paths(), ["/robots.txt", "/open"]);
}

/// Advances the clock by 13 hours whenever a request is finished, until the crawl is.
async fn hurried(server: &Server, crawl: impl Future<Output = Summary>) -> Summary {
    let done = AtomicBool::new(false);
    let crawl = async {
        let summary = crawl.await;
        done.store(true, Ordering::Relaxed);
        summary
    };
    let clock = async {
        let mut asked = 0;
        while !done.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let now = server.asked().len();
            if now > asked {
                asked = now;
                // The crawler processes the response, and waits for its next turn.
                tokio::time::sleep(Duration::from_millis(200)).await;
                tokio::time::pause();
                tokio::time::advance(Duration::from_secs(13 * 3600)).await;
                tokio::time::resume();
            }
        }
    };
    tokio::join!(crawl, clock).0
}

#[tokio::test]
async fn robots_is_read_again_after_a_day() {
    let bench = Bench::new(open(|_| Reply::html("<p>x"))).await;
    let mut source = bench.source(Site::Plain, &["/1", "/2", "/3"]);
    source.politeness.delay_secs = 13.0 * 3600.0;
    let summary = hurried(&bench.server, bench.crawl(&source)).await;
    assert_eq!(summary.done, 3);
    assert_eq!(bench.server.paths(), ["/robots.txt", "/1", "/2", "/robots.txt", "/3"]);
}

#[tokio::test]
async fn robots_follows_five_redirects_and_no_more() {
    let chain = |last: u32| {
        move |asked: &Asked| {
            let step = asked.path.strip_prefix("/r/").map(|n| n.parse::<u32>().unwrap());
            match (asked.path.as_str(), step) {
                ("/robots.txt", _) => Some(Reply::redirect("/r/1")),
                (_, Some(n)) if n < last => Some(Reply::redirect(&format!("/r/{}", n + 1))),
                (_, Some(_)) => Some(Reply::html("User-agent: *\nDisallow: /closed")),
                _ => None,
            }
        }
    };
    let (_, five) = with_robots(chain(5)).await;
    assert_eq!((five.done, five.disallowed.len()), (1, 1));
    let (bench, six) = with_robots(chain(6)).await;
    assert_eq!((six.done, six.deferred.len()), (0, 1));
    assert!(!bench.server.paths().contains(&"/r/6".to_string()));
}

// ---- 3. when a host is asked

#[tokio::test]
async fn one_request_is_in_flight_and_the_delay_runs_from_its_end() {
    let bench = Bench::new(open(|_| Reply::Slow(60, Box::new(Reply::html("<p>x"))))).await;
    let mut source = bench.source(Site::Plain, &["/1", "/2", "/3", "/4"]);
    source.politeness.delay_secs = 0.15;
    bench.crawl(&source).await;
    assert_eq!(bench.server.most_at_once(), 1);
    for pair in bench.server.asked().windows(2) {
        let gap = pair[1].began - pair[0].ended;
        assert!(gap >= Duration::from_millis(140), "{gap:?}");
    }
}

#[tokio::test]
async fn crawl_delay_is_kept_where_it_is_longer() {
    let bench = Bench::new(|asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => Reply::html("User-agent: *\nCrawl-delay: 0.3"),
        _ => Reply::html("<p>x"),
    })
    .await;
    bench.crawl(&bench.source(Site::Plain, &["/1", "/2", "/3"])).await;
    let asked = bench.server.asked();
    for pair in asked[1..].windows(2) {
        assert!(pair[1].began - pair[0].ended >= Duration::from_millis(290));
    }
}

#[tokio::test]
async fn two_hosts_are_asked_side_by_side() {
    let bench = Bench::new(open(|_| Reply::Slow(50, Box::new(Reply::html("<p>x"))))).await;
    let port = bench.server.port;
    let mut source = bench.source(Site::Plain, &[]);
    source.politeness.delay_secs = 0.3;
    let hosts = ["a.test", "b.test"];
    source.seeds = hosts
        .iter()
        .flat_map(|h| (1..=3).map(move |n| Seed::Url(format!("http://{h}:{port}/{n}"))))
        .collect();
    source.private_hosts = hosts.iter().map(|h| format!("{h}:{port}")).collect();
    let names = Names::new(|_, _| vec![[127, 0, 0, 1].into()]);
    let summary = run_with(&source, &bench.dirs(), |_| {}, std::future::pending(), names).await.unwrap();
    assert_eq!(summary.done, 6);
    assert_eq!(bench.server.most_at_once(), 2);
}

#[tokio::test]
async fn retry_after_is_kept_in_both_forms_and_capped() {
    let seen: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let bench = Bench::new(open(move |asked| {
        let mut seen = seen.lock().unwrap();
        let times = seen.entry(asked.path.clone()).or_default();
        *times += 1;
        if *times > 1 {
            return Reply::html("<p>x");
        }
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
        match asked.path.as_str() {
            "/secs" => Reply::Plain(429, "Retry-After: 1\r\n".into(), vec![]),
            _ => Reply::Plain(503, format!("Retry-After: {date}\r\n"), vec![]),
        }
    }))
    .await;
    let events = Mutex::new(Vec::new());
    let source = bench.source(Site::Plain, &["/secs", "/date"]);
    let heard = |event: Event| events.lock().unwrap().push(event);
    let summary = run_crawl(&source, &bench.dirs(), heard, std::future::pending()).await.unwrap();
    assert_eq!(summary.done, 2);
    let asked = bench.server.asked();
    for path in ["/secs", "/date"] {
        let both: Vec<&Asked> = asked.iter().filter(|a| a.path == path).collect();
        let gap = both[1].began - both[0].ended;
        assert!(gap >= Duration::from_millis(990) && gap < Duration::from_secs(5), "{path} {gap:?}");
    }
    assert!(events.into_inner().unwrap().iter().any(|event| matches!(event, Event::Waiting { .. })));
}

#[tokio::test]
async fn retries_are_bounded_and_only_for_429_503_and_timeouts() {
    let bench = Bench::new(open(|asked| match asked.path.as_str() {
        "/429" => Reply::status(429),
        "/503" => Reply::status(503),
        "/slow" => Reply::Hang(Vec::new()),
        "/500" => Reply::status(500),
        "/502" => Reply::status(502),
        "/gone" => Reply::status(404),
        _ => Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal".to_vec()),
    }))
    .await;
    let source = bench.source(Site::Plain, &["/429", "/503", "/slow", "/500", "/502", "/gone", "/broken"]);
    let summary = bench.crawl(&source).await;
    let counts =
        ["/429", "/503", "/slow", "/500", "/502", "/gone", "/broken"].map(|path| bench.server.count(path));
    assert_eq!(counts, [3, 3, 3, 1, 1, 1, 1]);
    assert_eq!((summary.done, summary.failed.len(), summary.pending), (1, 6, 6));
    assert!(!summary.is_complete());
}

// ---- 4. blocked

#[tokio::test]
async fn a_block_halts_the_host_keeps_what_came_and_is_not_got_round() {
    for block in [
        Reply::redirect("https://wappass.test/static/captcha/tuxing.html?ak=1"),
        Reply::Plain(403, String::new(), page!("block-challenge.html").into()),
        Reply::html(page!("block-challenge.html")),
    ] {
        let block = block.clone();
        let bench = Bench::new(open(move |asked| match asked.path.as_str() {
            "/p/7700000002" => Reply::html(page!("thread-quoting.html")),
            "/p/7700000003" => block.clone(),
            path => panic!("asked for {path} after the block"),
        }))
        .await;
        let mut source = bench.source(Site::Tieba, &["/p/7700000002", "/p/7700000003", "/p/7700000004"]);
        source.scope.hosts = vec!["wappass.test".into()];
        let summary = bench.crawl(&source).await;
        assert_eq!(summary.blocked.len(), 1);
        assert!(!summary.is_complete());
        assert_eq!((summary.done, summary.pending), (1, 2));
        let rows = bench.import(&Site::Tieba);
        assert_eq!(rows.posts.len(), 1, "the thread about it is kept, the block is no row");
        assert_eq!(bench.server.count("/p/7700000003"), 1);
    }
}

// ---- 5. one page has one address

#[tokio::test]
async fn decorated_addresses_are_fetched_once() {
    let bench = Bench::new(open(|_| Reply::html(page!("thread-quoting.html")))).await;
    let seeds = [
        "/p/7700000002?fr=good#x",
        "/p/7700000002?pn=1&see_lz=0",
        "/p/7700000002",
        "/f?kw=%C8%F5&fr=a",
        "/f?kw=%E5%BC%B1&ie=utf-8",
    ];
    bench.crawl(&bench.source(Site::Tieba, &seeds)).await;
    assert_eq!(bench.server.paths(), ["/robots.txt", "/p/7700000002", "/f?kw=%E5%BC%B1&ie=utf-8"]);
}

// ---- 6. paging

#[tokio::test]
async fn lists_threads_and_nested_replies_are_walked_to_their_ends() {
    let bench = Bench::new(open(|asked| {
        let list = "/f?kw=%E8%84%91%E7%AD%8B%E6%89%93%E7%BB%93&ie=utf-8";
        match asked.path.as_str() {
            path if path == list => {
                Reply::html(page!("list-2020.html").replace("tieba.baidu.com", &asked.host))
            }
            path if path.starts_with(list) => Reply::html(page!("list-2020-p2.html")),
            "/p/6000000002" => Reply::html(page!("thread-p1.html").replace("7700000001", "6000000002")),
            "/p/6000000002?pn=2" => Reply::html(page!("thread-p2.html")),
            "/p/6000000002?pn=3" => Reply::html(page!("thread-p3.html").replace("7700000001", "6000000002")),
            "/p/totalComment?tid=6000000002&fid=55001" => {
                Reply::html(page!("total-comment.json").replace("7700000001", "6000000002"))
            }
            "/p/comment?tid=6000000002&pid=1490003" => Reply::html(page!("comment-1.html")),
            "/p/comment?tid=6000000002&pid=1490003&pn=2" => Reply::html(page!("comment-2.html")),
            _ => Reply::Plain(404, String::new(), page!("gone-deleted.html").into()),
        }
    }))
    .await;
    let mut source = bench.source(Site::Tieba, &[]);
    source.base = Some(bench.server.url("/"));
    source.seeds = vec![Seed::Forum("脑筋打结".into())];
    let summary = bench.crawl(&source).await;
    assert!(summary.is_complete(), "{summary:?}");
    assert_eq!(summary.classes[&Class::Deleted], 3);
    let paths = bench.server.paths();
    let once: BTreeSet<&String> = paths.iter().collect();
    assert_eq!(once.len(), paths.len(), "nothing is asked twice: {paths:?}");
    assert!(paths.contains(&"/p/comment?tid=6000000002&pid=1490003&pn=2".to_string()), "{paths:?}");
    assert!(!paths.iter().any(|path| path.contains("pn=4") || path.contains("pid=1490006")));

    let rows = bench.import(&Site::Tieba);
    assert_eq!(rows.holes, [(6000000002, 2)]);
    let floors: Vec<u32> = rows.posts.iter().filter_map(|post| post.floor).collect();
    assert_eq!(floors, [1, 3, 4, 6, 7, 99], "gaps stay, a post on two pages is one");
    let replies = rows.posts.iter().filter(|post| post.parent_pid == Some(1490003)).count();
    assert_eq!((replies, rows.comments.len()), (12, 0));
}

// ---- 7. limits

#[tokio::test]
async fn hostile_answers_stay_within_the_limits_and_are_marked() {
    let zeros = vec![0u8; 40 << 20];
    let mut gzip = Vec::new();
    flate2::read::GzEncoder::new(&zeros[..], flate2::Compression::fast()).read_to_end(&mut gzip).unwrap();
    let bench = Bench::new(open(move |asked| match asked.path.as_str() {
        "/gzip" => Reply::Plain(200, "Content-Encoding: gzip\r\n".into(), gzip.clone()),
        "/br" => Reply::Plain(
            200,
            "Content-Encoding: br\r\n".into(),
            include_bytes!("fixtures/zeros-64m.br").to_vec(),
        ),
        "/long" => Reply::Raw([b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 3 << 20]].concat()),
        "/false" => Reply::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nsome".to_vec()),
        "/drip" => Reply::Drip,
        _ => Reply::html("<div>".repeat(100_000)),
    }))
    .await;
    let profile = Profile::from_json(&serde_json::json!({ "item": ".riddle" })).unwrap();
    let site = Site::Profile(profile);
    let mut source = bench.source(site.clone(), &["/gzip", "/br", "/long", "/false", "/drip", "/deep"]);
    source.limits.wire_bytes = 1 << 20;
    source.limits.decoded_bytes = 1 << 20;
    source.politeness.retries = 0;
    let start = Instant::now();
    let summary = bench.crawl(&source).await;
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(summary.classes, BTreeMap::from([(Class::Unparsed, 4)]));
    assert_eq!(
        (summary.failed.len(), summary.pending),
        (2, 2),
        "what time cut is asked for again: {summary:?}"
    );
    let limits = riddlemill::warc::RecordLimits { stored_bytes: 4 << 20, decoded_bytes: 1 << 20 };
    let cut: BTreeMap<String, Option<Truncated>> = Archive::new(bench.files(), limits)
        .pages()
        .map(|page| page.unwrap())
        .map(|page| (page.url.rsplit_once('/').unwrap().1.to_string(), page.truncated))
        .collect();
    assert_eq!(cut["gzip"], Some(Truncated::Length));
    assert_eq!(cut["br"], Some(Truncated::Length));
    assert_eq!(cut["long"], Some(Truncated::Length));
    assert_eq!(cut["false"], Some(Truncated::Time));
    assert_eq!(cut["drip"], Some(Truncated::Time));
    assert_eq!(cut["deep"], None);
    assert!(bench.import(&site).entries.is_empty());
}

#[tokio::test]
async fn redirects_end_after_five_and_loops_at_once() {
    let bench = Bench::new(open(|asked| match asked.path.strip_prefix("/r") {
        Some(n) => Reply::redirect(&format!("/r{}", n.parse::<u32>().unwrap() + 1)),
        None if asked.path == "/a" => Reply::redirect("/b"),
        None => Reply::redirect("/a"),
    }))
    .await;
    bench.crawl(&bench.source(Site::Plain, &["/r0", "/a"])).await;
    assert_eq!((bench.server.count("/r5"), bench.server.count("/r6")), (1, 0));
    assert_eq!((bench.server.count("/a"), bench.server.count("/b")), (1, 1));
}

// ---- 9. what is kept

#[tokio::test]
async fn bodies_are_kept_byte_for_byte_and_a_304_becomes_a_revisit() {
    let mut packed = Vec::new();
    flate2::read::GzEncoder::new(page!("thread-quoting.html").as_bytes(), flate2::Compression::best())
        .read_to_end(&mut packed)
        .unwrap();
    let wire = packed.clone();
    let bench = Bench::new(open(move |asked| match asked.headers.get("if-none-match").map(String::as_str) {
        Some("\"v1\"") => Reply::Plain(304, "ETag: \"v1\"\r\n".into(), Vec::new()),
        _ => {
            let mut raw = b"HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec();
            for part in packed.chunks(100) {
                raw.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
                raw.extend_from_slice(part);
                raw.extend_from_slice(b"\r\n");
            }
            raw.extend_from_slice(b"0\r\n\r\n");
            Reply::Raw(raw)
        }
    }))
    .await;
    let mut source = bench.source(Site::Tieba, &["/p/7700000002"]);
    let first = bench.crawl(&source).await;
    assert!(first.is_complete());
    bench.crawl(&source).await;
    assert_eq!(bench.server.count("/p/7700000002"), 1, "a finished pass asks for nothing");
    source.refresh = riddlemill::crawl::settings::Refresh::All;
    let second = bench.crawl(&source).await;
    assert_eq!((second.pass, second.classes[&Class::Ok]), (2, 1));

    let records = bench.records();
    let kinds: Vec<String> = records.iter().map(|(header, _)| header.kind()).collect();
    let group = ["request", "response", "metadata"];
    assert_eq!(kinds[..7], [&["warcinfo"][..], &group, &group].concat());
    assert!(kinds.contains(&"revisit".to_string()));
    for (header, block) in &records {
        assert_eq!(header.version, "WARC/1.1");
        assert_eq!(header.get("WARC-Block-Digest"), Some(riddlemill::warc::block_digest(block).as_str()));
    }
    let (header, block) = records
        .iter()
        .find(|(h, _)| h.kind() == "response" && h.target_uri().unwrap().contains("/p/"))
        .unwrap();
    assert!(block.ends_with(&wire), "the body as sent, without its chunks");
    assert_eq!(header.get("WARC-Payload-Digest"), Some(riddlemill::warc::block_digest(&wire).as_str()));

    let pages: Vec<_> = Archive::new(bench.files(), Default::default()).pages().map(Result::unwrap).collect();
    let threads: Vec<_> = pages.iter().filter(|page| page.url.contains("/p/")).collect();
    assert_eq!((threads.len(), threads[1].revisit, threads[1].status), (2, true, 200));
    assert!(threads.iter().all(|page| page.body == page!("thread-quoting.html").as_bytes()));
    assert_eq!(bench.import(&Site::Tieba).posts.len(), 1);
}

#[tokio::test]
async fn warcio_accepts_the_archive() {
    let Ok(warcio) = std::env::var("RIDDLEMILL_WARCIO") else {
        eprintln!("skipped: RIDDLEMILL_WARCIO names no warcio program");
        return;
    };
    let bench = Bench::new(open(|asked| match asked.path.as_str() {
        "/old" => Reply::Plain(
            200,
            "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n".into(),
            include_bytes!("fixtures/pages/thread-old.html").to_vec(),
        ),
        "/drip" => Reply::Drip,
        _ => Reply::html(page!("thread-p1.html")),
    }))
    .await;
    let mut source = bench.source(Site::Plain, &["/1", "/old", "/drip"]);
    source.politeness.retries = 0;
    bench.crawl(&source).await;
    let status = std::process::Command::new(warcio).arg("check").args(bench.files()).status().unwrap();
    assert!(status.success());
}

// ---- seeds, scope, plan

#[tokio::test]
async fn sitemaps_url_files_and_profiles_are_seeds() {
    let bench = Bench::new(open(|asked| match asked.path.as_str() {
        "/index.xml" => Reply::html(format!(
            "<sitemapindex><sitemap><loc>http://{}/s.xml</loc></sitemap></sitemapindex>",
            asked.host
        )),
        "/s.xml" => Reply::html(format!(
            "<urlset><url><loc>http://{0}/1</loc></url><url><loc>http://away.test/9</loc></url></urlset>",
            asked.host
        )),
        "/topics" => Reply::html("<a class=t href=/t/1>x</a><a class=next href=/topics2>n</a>"),
        "/topics2" => Reply::html("<a class=t href=/t/2>x</a><a class=next href=/topics>n</a>"),
        _ => Reply::html("<div class=post>text</div>"),
    }))
    .await;
    let result = serde_json::json!({ "list": "a.t", "item": ".post", "next": "a.next" });
    let profile = Profile::from_json(&result).unwrap();
    let list = bench.folder.path().join("urls.txt");
    std::fs::write(&list, format!("{}\n", bench.server.url("/2"))).unwrap();
    let mut source = bench.source(Site::Profile(profile), &["/topics"]);
    source.seeds.push(Seed::Sitemap(bench.server.url("/index.xml")));
    source.seeds.push(Seed::UrlFile(list));
    let summary = bench.crawl(&source).await;
    let mut paths = bench.server.paths();
    paths.sort();
    assert_eq!(
        paths,
        ["/1", "/2", "/index.xml", "/robots.txt", "/s.xml", "/t/1", "/t/2", "/topics", "/topics2"]
    );
    assert_eq!(summary.refused.len(), 1);
    assert_eq!(bench.import(&source.site).entries.len(), 4);
}

#[tokio::test]
async fn a_plan_contacts_nobody_and_a_limit_ends_a_run() {
    let bench = Bench::new(open(|_| Reply::html("<p>x"))).await;
    let mut source = bench.source(Site::Plain, &["/1", "/2", "/3"]);
    let before = plan_crawl(&source, &bench.dirs()).unwrap();
    assert_eq!((before.done, before.pending, before.pass), (0, 3, 1));
    assert!(bench.server.asked().is_empty() && bench.files().is_empty());
    source.scope = Scope { max_pages: 2, ..Scope::default() };
    let summary = bench.crawl(&source).await;
    assert_eq!((summary.done, summary.pending), (2, 1));
    assert_eq!(plan_crawl(&source, &bench.dirs()).unwrap().next, [bench.server.url("/3")]);
    source.contact = String::new();
    assert!(plan_crawl(&source, &bench.dirs()).is_err());
}

#[tokio::test]
async fn a_cancelled_run_goes_on_later_and_two_cannot_run_at_once() {
    let bench = Bench::new(open(|_| Reply::html("<p>x"))).await;
    let mut source = bench.source(Site::Plain, &["/1", "/2", "/3"]);
    source.politeness.delay_secs = 0.4;
    let dirs = bench.dirs();
    // The first page is done, the second waits for its turn: nothing is in flight.
    let one_done = tokio::sync::Notify::new();
    let heard = |event: Event| {
        if matches!(event, Event::Done { .. }) {
            one_done.notify_one();
        }
    };
    let first = run_crawl(&source, &dirs, heard, one_done.notified());
    let second = async {
        tokio::task::yield_now().await;
        run_crawl(&source, &dirs, |_| {}, std::future::pending()).await
    };
    let (first, second) = tokio::join!(first, second);
    let first = first.unwrap();
    assert!(first.cancelled && first.pending > 0);
    assert!(second.unwrap_err().to_string().contains("another crawl"));
    assert_eq!(bench.crawl(&source).await.done, 3);
    assert!(["/1", "/2", "/3"].iter().all(|path| bench.server.count(path) == 1));
}

// ---- 8. kill -9

/// The crawl of the next test, in a process that can be killed.
#[tokio::test]
async fn crawl_in_a_child_process() {
    let Ok(folder) = std::env::var("CRAWL_TEST_FOLDER") else { return };
    let port: u16 = std::env::var("CRAWL_TEST_PORT").unwrap().parse().unwrap();
    let folder = PathBuf::from(folder);
    let dirs = Dirs { warc: folder.join("warc"), state: folder.join("state") };
    let summary = run_crawl(&forum(port), &dirs, |_| {}, std::future::pending()).await.unwrap();
    assert!(summary.is_complete(), "{summary:?}");
}

fn forum(port: u16) -> Source {
    Source {
        name: "test".into(),
        site: Site::Tieba,
        base: Some(format!("http://127.0.0.1:{port}")),
        seeds: vec![Seed::Forum("x".into())],
        politeness: Politeness { delay_secs: 0.0, ..Politeness::default() },
        contact: "tests@example.invalid".into(),
        private_hosts: vec![format!("127.0.0.1:{port}")],
        ..Source::default()
    }
}

/// Addresses whose groups are complete on disk, as the reader alone sees it.
fn durable(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in archive_files(&folder.join("warc/test")) {
        let mut reader =
            ArchiveReader::new(std::io::BufReader::new(std::fs::File::open(file).unwrap())).unwrap();
        while let Ok(Some(record)) = reader.next_record() {
            if record.header.kind() == "metadata"
                && reader.read_block(1 << 20).is_ok()
                && reader.finish_record().is_ok()
            {
                found.insert(record.header.target_uri().unwrap().to_string());
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_kills_lose_nothing_and_fetch_nothing_twice() {
    const KILLS: usize = 30;
    let server = Server::start(open(forum_page), &[]).await;
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let child = |folder: &Path| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crawl_in_a_child_process", "--nocapture"])
            .env("CRAWL_TEST_FOLDER", folder)
            .env("CRAWL_TEST_PORT", server.port.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let started = Instant::now();
    assert!(tokio::task::block_in_place(|| child(whole.path()).wait()).unwrap().success());
    let whole_ms = started.elapsed().as_millis() as u64;
    let pages = server.paths().iter().filter(|path| *path != "/robots.txt").count();
    assert_eq!(pages, 300);

    // Moments of a fixed sequence, spread so that thirty of them fall into the length of one crawl.
    let mut random = fastrand::Rng::with_seed(7);
    let mut draw = |most: u64| random.u64(..most);
    let before = server.paths().len();
    let (mut kills, mut torn) = (0, 0);
    // What was durable at each kill, and how often it had been requested by then.
    let mut frozen: BTreeMap<String, usize> = BTreeMap::new();
    let since = |url: &str| {
        let path = &url[url.find(&server.port.to_string()).unwrap() + server.port.to_string().len()..];
        server.paths()[before..].iter().filter(|asked| *asked == path).count()
    };
    while kills < KILLS {
        let known = server.paths().len();
        let mut running = child(killed.path());
        // Before the process has begun to work, a kill tests nothing.
        let deadline = Instant::now() + Duration::from_secs(30);
        while server.paths().len() <= known && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(1)).await;
            if running.try_wait().unwrap().is_some() {
                break;
            }
        }
        tokio::time::sleep(Duration::from_micros(draw(1 + whole_ms * 1000 / 40))).await;
        let over = running.try_wait().unwrap().is_some();
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(!over, "the crawl was over after {kills} kills of {KILLS}");
        kills += 1;
        // A tear that a kill rarely causes: half of what was written last is lost.
        if kills % 3 == 0 {
            torn += tear(killed.path(), draw(60));
        }
        let now = durable(killed.path());
        frozen.retain(|url, _| now.contains(url));
        for url in now {
            frozen.entry(url).or_insert_with_key(|url| since(url));
        }
        if kills % 7 == 0 {
            std::fs::remove_file(killed.path().join("state/test.jsonl")).unwrap();
        }
    }
    assert!(tokio::task::block_in_place(|| child(killed.path()).wait()).unwrap().success());
    for (url, times) in frozen.iter().filter(|(url, _)| !url.ends_with("/robots.txt")) {
        assert_eq!(since(url), *times, "{url} was finished and fetched again");
    }
    eprintln!("{kills} kills, {torn} torn tails, {} finished pages watched", frozen.len());

    let rows = |folder: &Path| {
        import_archives(archive_files(&folder.join("warc/test")), &Site::Tieba, Default::default())
    };
    let (want, got) = (rows(whole.path()), rows(killed.path()));
    assert_eq!(want.posts.len(), 100 + 400 + 98);
    assert_eq!(got.posts, want.posts);
    assert!(got.errors.is_empty() && want.errors.is_empty());
}

/// Cuts a few bytes off the archive, as a crash of the machine would, but never of a finished group: half a
/// record is appended first.
fn tear(folder: &Path, bytes: u64) -> usize {
    let Some(file) = archive_files(&folder.join("warc/test")).pop() else { return 0 };
    let whole = std::fs::read(&file).unwrap();
    let half = &whole[..whole.len().min(40 + bytes as usize)];
    std::fs::write(&file, [&whole, half].concat()).unwrap();
    1
}

#[tokio::test]
async fn damage_in_the_middle_is_no_torn_tail() {
    let bench = Bench::new(open(|_| Reply::html("<p>x"))).await;
    let source = bench.source(Site::Plain, &["/1", "/2"]);
    bench.crawl(&source).await;
    let file = bench.files().remove(0);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20].fill(0xff);
    std::fs::write(&file, &bytes).unwrap();
    std::fs::remove_dir_all(bench.dirs().state).unwrap();
    let error = run_crawl(&source, &bench.dirs(), |_| {}, std::future::pending()).await.unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes, "nothing is cut that may be worth something");
}
