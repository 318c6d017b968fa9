//! A forum known only by a profile, crawled through the real command: killed at random, imported, crawled
//! again for new posts; its archive damaged.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use riddlemill::record::Post;
use riddlemill::store::StageReader;
use serde_json::Value;

use crate::harness::{Site, Workspace};
use crate::support::{Asked, Reply};

/// Number of times a crawl is killed.
fn kills() -> u64 {
    std::env::var("RIDDLEMILL_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8)
}

const THREADS: u64 = 60;
const PER_LIST: u64 = 20;

/// A Discuz forum in GBK: three list pages, sixty threads of two pages, of which each odd one has one; `posts` of them more
/// are on the second page of thread 7, and a third page begins with the fourth of them. A part is for members, a page
/// answers slowly at first, lists name a next page without end.
#[derive(Default)]
struct Forum {
    more: AtomicU64,
    /// A thread that was new after the first crawl.
    new: AtomicU64,
}

impl Forum {
    fn answer(&self, asked: &Asked) -> Reply {
        let more = self.more.load(Ordering::SeqCst);
        let numbers: Vec<u64> = asked.path.split(['-', '.']).filter_map(|part| part.parse().ok()).collect();
        let page = match (asked.path.split('-').next(), numbers.as_slice()) {
            _ if asked.path == "/robots.txt" => {
                return Reply::Plain(
                    200,
                    "Content-Type: text/plain\r\n".into(),
                    b"User-agent: *\nDisallow: /forbidden".to_vec(),
                );
            }
            (Some("/forum"), [2, page]) => self.list(*page, more),
            (Some("/thread"), [13, ..]) => return Reply::status(403),
            (Some("/thread"), [tid, page, _]) => Self::thread(*tid, *page, if *tid == 7 { more } else { 0 }),
            _ => return Reply::status(404),
        };
        let (bytes, ..) = encoding_rs::GBK.encode(&page);
        let etag = format!("\"{}\"", blake3::hash(&bytes).to_hex());
        if asked.headers.get("if-none-match") == Some(&etag) {
            return Reply::status(304);
        }
        Reply::Plain(200, format!("Content-Type: text/html\r\nETag: {etag}\r\n"), bytes.into_owned())
    }

    fn list(&self, page: u64, more: u64) -> String {
        let first = 1 + (page - 1) * PER_LIST;
        let mut tids: Vec<u64> = (first..first + PER_LIST).filter(|tid| *tid <= THREADS).collect();
        if page == 1 {
            // Threads with new posts, and new threads, move to the top.
            if more > 0 {
                tids.retain(|tid| *tid != 7);
                tids.insert(0, 7);
            }
            tids.splice(0..0, 1000..1000 + self.new.load(Ordering::SeqCst));
        }
        let row = |tid: &u64| {
            let replies = 2 + if *tid == 7 { more } else { 0 };
            format!(
                "<tbody id=normalthread_{tid}><tr><th><a href=thread-{tid}-1-1.html class=xst>第{tid}问</a></th><td class=num><a>{replies}</a></td></tr></tbody>"
            )
        };
        let rows: String = tids.iter().map(row).collect();
        format!(
            "<meta charset=gbk><title>问吧</title><table id=threadlisttableid>{rows}</table><a class=nxt href=forum-2-{}.html>下一页</a>",
            page + 1
        )
    }

    fn thread(tid: u64, page: u64, more: u64) -> String {
        let floors = 3 + more;
        let two = tid.is_multiple_of(2) || tid == 7;
        let pages = if !two { 1 } else { 2 + u64::from(floors > 5) };
        let (from, to) = match page {
            1 => (1, if two { 2 } else { 3 }),
            2 => (3, floors.min(5)),
            _ => (6, floors),
        };
        let post = |floor: u64| {
            let pid = tid * 100 + floor;
            format!(
                "<div><table id=pid{pid}><tr><td><div class=authi><a class=xw1>用户{tid}</a></div></td><td><a id=postnum{pid}><em>{floor}</em></a><em id=authorposton{pid}>发表于 2024-3-5 08:{:02}</em><table><tr><td class=t_f id=postmessage_{pid}>第{tid}问的第{floor}句：为什么</td></tr></table></td></tr></table></div>",
                floor % 60
            )
        };
        let posts: String = (from..=to).map(post).collect();
        let next = if page < pages {
            format!("<a class=nxt href=thread-{tid}-{}-1.html>下一页</a>", page + 1)
        } else {
            String::new()
        };
        format!(
            "<meta charset=gbk><title>第{tid}问</title><div id=postlist><h1><span id=thread_subject>第{tid}问</span></h1>{posts}</div>{next}"
        )
    }
}

fn forum() -> (Arc<Forum>, Site) {
    let forum = Arc::new(Forum::default());
    let answers = forum.clone();
    (forum, Site::start(move |asked: &Asked| answers.answer(asked)))
}

fn workspace(site: &Site) -> Workspace {
    let host = format!("127.0.0.1:{}", site.server.port);
    Workspace::with(&format!(
        "[[source]]\nname = \"forum\"\nkind = \"profile\"\ncrawl = \"forum\"\n\n\
         [[crawl]]\nname = \"forum\"\nsite = \"discuz\"\nseeds = [{{ url = {:?} }}]\ncontact = \"tests@example.invalid\"\nprivate_hosts = [{host:?}]\n\
         [crawl.politeness]\ndelay_secs = 0.0\nretries = 0\n",
        site.server.url("/forum-2-1.html")
    ))
}

fn posts(ws: &Workspace, code: i32) -> BTreeMap<String, Post> {
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(code);
    ws.audit_clean();
    let stage = StageReader::open(&ws.path("staged/flub/01_import")).unwrap().unwrap();
    let posts: Vec<Post> = stage.read_table("rows").unwrap();
    posts
        .into_iter()
        .map(|post| (post.id.clone(), Post { position: 0, file: String::new(), ..post }))
        .collect()
}

fn paths(site: &Site) -> Vec<String> {
    site.server.paths().into_iter().filter(|path| path != "/robots.txt").collect()
}

fn crawl(ws: &Workspace, args: &[&str]) -> Value {
    let args = ["crawl", "forum", "--json"].iter().chain(args);
    serde_json::from_str(&ws.call(args).expect(0).out).unwrap()
}

#[test]
fn a_forum_by_a_profile_killed_at_random_ends_as_the_same_posts() {
    let (_, site) = forum();
    let (whole, killed) = (workspace(&site), workspace(&site));
    let actual = crawl(&whole, &[]);
    assert_eq!(actual["forbidden"].as_array().unwrap().len(), 1, "{actual}");
    let all = paths(&site).len();
    let before = site.server.paths().len();
    let asked = || site.server.paths().len() - before;
    let mut random = fastrand::Rng::with_seed(39);
    for kill in 0..kills() {
        let mut child = killed.start(["crawl", "forum", "--quiet"]);
        let until = asked() + 1 + random.usize(..(2 * all / kills() as usize).max(3) - 2);
        let patience = Instant::now();
        while asked() < until && patience.elapsed() < Duration::from_secs(60) {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(random.u64(..4000)));
        // After many kills it may already be finished.
        let _ = child.kill();
        child.wait().unwrap();
        assert!(patience.elapsed() < Duration::from_secs(60), "kill {kill}");
    }
    crawl(&killed, &[]);
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for path in site.server.paths().into_iter().skip(before).filter(|path| path != "/robots.txt") {
        *times.entry(path).or_default() += 1;
    }
    let again: u64 = times.values().map(|n| n - 1).sum();
    assert!(
        times.len() == all && again <= kills(),
        "{} of {all} pages, {again} asked for again",
        times.len()
    );
    eprintln!("{} kills, {again} pages in flight asked for again", kills());
    let (want, got) = (posts(&whole, 0), posts(&killed, 0));
    assert_eq!(want.len() as u64, THREADS - 1, "the first post of each thread, but of the one for members");
    assert!(want == got, "the same rows, whenever it was killed");
    let host = format!("127.0.0.1:{}", site.server.port);
    let post = &want[&format!("{host}:701")];
    assert_eq!(post.text, "第7问\n第7问的第1句：为什么");
    assert_eq!(post.time.as_deref(), Some("2024-03-05T08:01+08:00"));
    assert!(post.author.as_deref().is_some_and(|author| !author.contains("用户")), "authors are hashed");
    let reasons = whole.reasons("flub");
    assert_eq!(reasons["dropped/page_forbidden"], 1, "{reasons:?}");
    assert_eq!(reasons["dropped/chatter"], 2 * (THREADS - 1), "{reasons:?}");
}

#[test]
fn a_second_crawl_asks_for_lists_and_for_what_is_new() {
    let (forum, site) = forum();
    let ws = workspace(&site);
    crawl(&ws, &[]);
    let status = ws.call(["status", "--recipe", "flub"]).expect(0).out;
    assert!(status.contains("less than a day ago") && status.contains("pass 1 is over"), "{status}");
    let asked = |args: &[&str]| {
        let before = paths(&site).len();
        let actual = crawl(&ws, args);
        (paths(&site).split_off(before), actual["pass"].as_u64().unwrap())
    };
    assert_eq!(asked(&[]), (vec![], 1), "a finished crawl asks for nothing");
    // Nothing is new, as the first list page shows.
    assert_eq!(asked(&["--refresh"]), (vec!["/forum-2-1.html".into()], 2));
    // Two more posts, on the former last page of a thread.
    forum.more.store(2, Ordering::SeqCst);
    let (pages, _) = asked(&["--refresh"]);
    assert_eq!(
        pages,
        ["/forum-2-1.html", "/thread-7-2-1.html", "/forum-2-2.html"],
        "the last page first, and no other"
    );
    // One more page, and a thread.
    forum.more.store(4, Ordering::SeqCst);
    forum.new.store(1, Ordering::SeqCst);
    let (pages, pass) = asked(&["--refresh=changed"]);
    let pages: std::collections::BTreeSet<String> = pages.into_iter().collect();
    let want = [
        "/forum-2-1.html",
        "/forum-2-2.html",
        "/thread-1000-1-1.html",
        "/thread-1000-2-1.html",
        "/thread-7-2-1.html",
        "/thread-7-3-1.html",
    ];
    assert_eq!(pages.iter().map(String::as_str).collect::<Vec<_>>(), want);
    assert_eq!(pass, 4);
    let floors: Vec<String> = posts(&ws, 0).into_keys().collect();
    assert!(floors.iter().any(|id| id.ends_with(":100001")), "{floors:?}");
    // All pages are requested, and unchanged ones are not sent again.
    let (pages, _) = asked(&["--refresh=all"]);
    assert!(pages.len() > 90, "{}", pages.len());
    assert!(ws.call(["crawl", "forum", "--refresh=new"]).expect(2).err.contains("changed"));
}

#[test]
fn a_page_is_tried_under_the_rules_of_its_crawl() {
    let (_, site) = forum();
    let ws = workspace(&site);
    let url = site.server.url("/thread-7-1-1.html");
    let result = ws.call(["crawl", "--try", &url]).expect(0).out;
    assert!(
        result.contains("[[crawl]] forum")
            && result.contains("第7问的第1句")
            && result.contains("GBK") | result.contains("gb18030"),
        "{result}"
    );
    assert_eq!(paths(&site), ["/thread-7-1-1.html"], "once");
    assert!(!ws.exists("raw/warc/forum"), "nothing is kept");
    let result = ws.call(["crawl", "forum", "--try", &site.server.url("/forbidden/1")]).expect(3).err;
    assert!(result.contains("robots.txt forbids"), "{result}");
    let result = ws.call(["crawl", "forum", "--try", "http://elsewhere.example/"]).expect(3).err;
    assert!(result.contains("elsewhere.example"), "{result}");
    assert_eq!(paths(&site).len(), 1);
}

#[test]
fn an_archive_of_other_tools_loses_a_damaged_record_and_no_other() {
    let (_, site) = forum();
    let ws = workspace(&site);
    crawl(&ws, &[]);
    let whole = posts(&ws, 0);
    // Uncompressed, as some tools write it.
    let packed = ws.bytes("raw/warc/forum/00001.warc.gz");
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut plain).unwrap();
    let other = Workspace::with(
        "[[source]]\nname = \"forum\"\nkind = \"profile\"\nprofile = \"discuz\"\npath = \"raw/dumps/forum.warc\"\n",
    );
    other.write("raw/dumps/forum.warc", &plain);
    assert_eq!(posts(&other, 0).len(), whole.len());
    // One response's length is damaged.
    let text = String::from_utf8_lossy(&plain[..]).into_owned();
    let target = memchr_of(&plain, b"WARC-Type: response\r\n", 40);
    let at = target + memchr_of(&plain[target..], b"Content-Length: ", 0) + 16;
    assert!(text.contains("Content-Length"));
    plain[at] = b'9';
    other.write("raw/dumps/forum.warc", &plain);
    let left = posts(&other, 3);
    assert!(whole.len() - left.len() <= 1, "{} of {}", left.len(), whole.len());
    let reasons = other.reasons("flub");
    assert_eq!(reasons["failed/truncated"], 1, "{reasons:?}");
    let shown = other.call(["show", "import", "--recipe", "flub", "--outcome", "failed"]).expect(0).out;
    assert!(shown.contains("reading continues at byte"), "{shown}");
}

/// The index of the n-th occurrence of these bytes.
fn memchr_of(bytes: &[u8], needle: &[u8], n: usize) -> usize {
    bytes.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle).nth(n).unwrap().0
}

/// docs/crawl.md is executed as written, with this site in place of its forum.
#[test]
fn the_chapter_is_what_happens() {
    let chapter = include_str!("../../docs/crawl.md");
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        chapter.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
    };
    let (_, site) = forum();
    let ws = Workspace::folder();
    let commands: Vec<String> = blocks("console").concat().lines().map(str::to_owned).collect();
    let command = |line: &str| line.split('#').next().unwrap().trim().to_owned();
    let (init, rest) = commands.split_first().unwrap();
    assert!(init.starts_with("riddlemill init puzzles"), "{init}");
    ws.call(["init", "puzzles", "--empty"]).expect(0);
    let host = format!("127.0.0.1:{}", site.server.port);
    let tables = blocks("toml")[0].replace("https://forum.example", &format!("http://{host}"));
    let polite = format!("private_hosts = [{host:?}]\npoliteness = {{ delay_secs = 0.0 }}\n\n[[source]]");
    let own = ws.read("puzzles/pipeline.toml") + "\n" + &tables.replace("[[source]]", &polite);
    ws.write("puzzles/pipeline.toml", own);
    let saved = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sites/discuz/thread.html");
    ws.write("puzzles/saved.html", std::fs::read(saved).unwrap());
    let mut result = BTreeMap::new();
    for line in rest {
        let command = command(line).replacen("riddlemill", "\"$0\"", 1);
        result.insert(line.clone(), ws.shell(&format!("cd puzzles && {command}")).expect(0).out);
    }
    let of = |what: &str| {
        result.iter().find(|(line, _)| line.contains(what)).map(|(_, result)| result.clone()).unwrap()
    };
    // The output of `--try` is in the chapter, except for what is elided there.
    let actual = of("--try saved.html");
    for line in blocks("text")[0].lines().take_while(|line| !line.contains('…')) {
        assert!(actual.contains(line.trim()), "{line:?} is not in\n{actual}");
    }
    assert!(of("riddlemill status").contains("crawl puzzles:"), "{}", of("riddlemill status"));
    let posts = std::fs::read_dir(ws.path("puzzles/staged/ruozhibench-gen/01_import/rows")).unwrap().count();
    assert!(posts > 0);
    // Every key of a profile and of [[crawl]] has its row.
    for key in riddlemill::pages::profile::KEYS {
        let row = format!("| `{}` | {} |", key.name, key.doc.replace('|', "\\|"));
        assert!(chapter.contains(&row), "{row} is not in the chapter");
    }
    for (name, _) in riddlemill::config::find_section("crawl").unwrap().dotted_keys() {
        assert!(chapter.contains(&format!("| `{name}` |")), "{name} is not in the chapter");
    }
}
