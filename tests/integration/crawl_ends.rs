//! How a crawl ends: what is forbidden, what blocks, what failed and is requested again, which limit was
//! reached.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::harness::{Site, Workspace, source};
use crate::support::{Asked, Reply};

/// A workspace that crawls pages of a site with a profile.
fn workspace(site: &Site, seeds: &[&str], more: &str) -> Workspace {
    let host = format!("127.0.0.1:{}", site.server.port);
    let seeds: Vec<String> =
        seeds.iter().map(|path| format!("{{ url = {:?} }}", site.server.url(path))).collect();
    let crawl = format!(
        "[[crawl]]\nname = \"site\"\nseeds = [{}]\ncontact = \"tests@example.invalid\"\nprivate_hosts = [{host:?}]\n{more}\n\
         [crawl.politeness]\ndelay_secs = 0.0\nbackoff_secs = 0.02\nretries = 3\n\
         [crawl.limits]\ntotal_secs = 1.0\nidle_secs = 0.6\n",
        seeds.join(", ")
    );
    Workspace::with(&(source("site", "warc", "raw/warc/site/*.warc.gz") + &crawl))
}

const LIST: &str = "site = { profile = { list = \"a.t\", item = \".post\", next = \"a.n\" } }";

fn open(pages: impl Fn(&Asked) -> Reply + Send + Sync) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| if asked.path == "/robots.txt" { Reply::status(404) } else { pages(asked) }
}

/// The output of `crawl --json`, with the expected exit code.
fn crawl(ws: &Workspace, code: i32) -> Value {
    serde_json::from_str(&ws.call(["crawl", "site", "--json"]).expect(code).out).unwrap()
}

fn paths(site: &Site) -> Vec<String> {
    site.server.paths().into_iter().filter(|path| path != "/robots.txt").collect()
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_page_that_is_forbidden_is_set_aside_and_the_crawl_goes_on() {
    let site = Site::start(open(|asked| match asked.path.as_str() {
        "/forbidden" => Reply::status(403),
        _ => Reply::html("<p>x"),
    }));
    let ws = workspace(&site, &["/ok11", "/forbidden", "/ok12"], "");
    let actual = crawl(&ws, 0);
    assert_eq!(
        (actual["done"].as_u64(), actual["classes"]["forbidden"].as_u64()),
        (Some(3), Some(1)),
        "{actual}"
    );
    assert_eq!(words(&actual["forbidden"]), [site.server.url("/forbidden")]);
    crawl(&ws, 0);
    assert_eq!(paths(&site), ["/ok11", "/forbidden", "/ok12"], "nothing is asked for again");
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
    let reasons = ws.reasons("flub");
    assert_eq!(reasons["dropped/page_forbidden"], 1, "{reasons:?}");
    assert!(!reasons.contains_key("dropped/page_deleted"), "a missing robots.txt is nothing taken down");
    ws.audit_clean();
}

#[test]
fn a_challenge_or_refusals_in_a_row_block_and_the_crawl_goes_on_later_where_it_stopped() {
    let shut = Arc::new(AtomicBool::new(true));
    for challenge in [true, false] {
        shut.store(true, Ordering::SeqCst);
        let closed = shut.clone();
        let site = Site::start(open(move |asked| match asked.path.as_str() {
            "/members" => Reply::status(403),
            "/1" => Reply::html("<p>x"),
            _ if !closed.load(Ordering::SeqCst) => Reply::html("<p>x"),
            _ if challenge => {
                Reply::Plain(403, String::new(), b"<form action=/captcha><input name=c></form>".to_vec())
            }
            _ => Reply::status(403),
        }));
        let ws = workspace(&site, &["/members", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"], "");
        let result = ws.call(["crawl", "site"]).expect(3);
        assert!(result.out.contains("continues where it stopped"), "{}", result.out);
        let asked = if challenge { 3 } else { 7 };
        assert_eq!(paths(&site).len(), asked, "{:?}", paths(&site));
        shut.store(false, Ordering::SeqCst);
        let actual = crawl(&ws, 0);
        assert_eq!((actual["done"].as_u64(), actual["pending"].as_u64()), (Some(9), Some(0)), "{actual}");
        assert_eq!(site.server.count("/members"), 1, "that one was forbidden before anything was wrong");
        assert_eq!(site.server.count("/1"), 1);
    }
}

#[test]
fn a_part_for_members_only_does_not_end_every_run() {
    let site = Site::start(open(|asked| match asked.path.starts_with("/m") {
        true => Reply::status(403),
        false => Reply::html("<p>x"),
    }));
    let ws = workspace(&site, &["/m1", "/m2", "/m3", "/m4", "/m5", "/ok"], "");
    assert_eq!(crawl(&ws, 3)["pending"].as_u64(), Some(6));
    // `/ok` is first now, and then the refused ones, for the last time.
    crawl(&ws, 3);
    let actual = crawl(&ws, 0);
    assert_eq!((actual["done"].as_u64(), actual["pending"].as_u64()), (Some(6), Some(0)), "{actual}");
    assert_eq!((site.server.count("/ok"), site.server.count("/m3")), (1, 2));
}

#[test]
fn what_failed_is_counted_and_asked_for_again() {
    let slow = Arc::new(AtomicBool::new(true));
    let cut = slow.clone();
    let site = Site::start(open(move |asked| match asked.path.as_str() {
        "/slow" if cut.load(Ordering::SeqCst) => {
            Reply::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"e\"\r\n\r\nsome".to_vec())
        }
        _ => Reply::html("<p>whole"),
    }));
    let ws = workspace(&site, &["/1", "/slow", "/2"], "refresh = true");
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("retries = 3", "retries = 0"));
    let actual = crawl(&ws, 3);
    assert_eq!((actual["done"].as_u64(), actual["complete"].as_bool()), (Some(2), Some(false)), "{actual}");
    assert!(actual["failed"][site.server.url("/slow")].as_str().unwrap().contains("slowly"), "{actual}");
    slow.store(false, Ordering::SeqCst);
    let actual = crawl(&ws, 0);
    assert_eq!((actual["pass"].as_u64(), actual["complete"].as_bool()), (Some(2), Some(true)), "{actual}");
    let slow: Vec<Asked> = site.server.asked().into_iter().filter(|asked| asked.path == "/slow").collect();
    assert!(
        slow.len() == 2 && !slow[1].headers.contains_key("if-none-match"),
        "a part is not what a 304 stands for"
    );
    ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
    assert_eq!(ws.reasons("flub")["failed/truncated"], 1, "the part is kept as what it is");
}

#[test]
fn a_host_that_cannot_be_found_is_no_success() {
    let site = Site::start(open(|_| Reply::html("<p>x")));
    let ws = workspace(&site, &["/1"], "");
    let seeds = format!("seeds = [{{ url = {:?} }}]", "http://no-such-host.invalid/1");
    let own = ws.read("pipeline.toml");
    let line = own.lines().find(|line| line.starts_with("seeds")).unwrap();
    ws.write("pipeline.toml", own.replace(line, &seeds));
    let actual = crawl(&ws, 3);
    assert_eq!(
        (actual["complete"].as_bool(), actual["pending"].as_u64()),
        (Some(false), Some(1)),
        "{actual}"
    );
    assert!(actual["deferred"]["no-such-host.invalid"].as_str().unwrap().contains("resolved"), "{actual}");
}

/// Endless lists `/a/N` and `/b/N`, each page with its own threads.
fn lists(asked: &Asked) -> Reply {
    let Some((_, name, page)) =
        asked.path.split('/').map(Some).collect::<Vec<_>>().try_into().ok().and_then(
            |[root, name, page]: [Option<&str>; 3]| Some((root?, name?, page?.parse::<u32>().ok()?)),
        )
    else {
        return Reply::html("<div class=post>text</div>");
    };
    let shown = if name == "same" { 1 } else { page };
    Reply::html(format!(
        "<a class=t href=/t{name}{shown}>x</a><a class=t href=/pinned>x</a><a class=n href=/{name}/{}>n</a>",
        page + 1
    ))
}

#[test]
fn a_limit_is_each_lists_own_and_is_named_and_a_list_that_repeats_itself_ends() {
    let site = Site::start(open(lists));
    let more = format!("{LIST}\nscope = {{ max_list_pages = 3, exclude = [\"/tb2\", \"*/pinned$\"] }}");
    let ws = workspace(&site, &["/a/1", "/b/1", "/same/1"], &more);
    let actual = crawl(&ws, 0);
    let of = |start: &str| paths(&site).iter().filter(|path| path.starts_with(start)).count();
    assert_eq!((of("/a/"), of("/b/"), of("/same/")), (3, 3, 2), "{:?}", paths(&site));
    assert_eq!((of("/ta"), of("/tb"), of("/pinned")), (3, 2, 0), "{:?}", paths(&site));
    let ended = words(&actual["ended_by"]);
    assert_eq!(ended.len(), 2, "{ended:?}");
    assert!(ended.iter().all(|limit| limit.starts_with("scope.max_list_pages = 3 (http")), "{ended:?}");

    let site = Site::start(open(lists));
    let more = format!("{LIST}\nscope = {{ max_pages = 4, include = [\"/a/*\"] }}");
    let actual = crawl(&workspace(&site, &["/a/1"], &more), 0);
    assert_eq!(words(&actual["ended_by"]), ["scope.max_pages = 4"]);
    assert_eq!(paths(&site), ["/a/1", "/a/2", "/a/3", "/a/4"]);

    let site = Site::start(open(lists));
    let ws = workspace(&site, &["/a/1"], "scope = { exclude = [\"thread\"] }");
    let actual = ws.call(["crawl", "site"]).expect(2).err;
    assert!(actual.contains("`thread`") && actual.contains("begins with"), "{actual}");
}

#[test]
fn a_host_that_answers_429_slows_down_as_a_whole() {
    let site = Site::start(open(|_| Reply::status(429)));
    let ws = workspace(&site, &["/1", "/2", "/3", "/4", "/5"], "");
    let actual = crawl(&ws, 3);
    assert_eq!(paths(&site), ["/1", "/1", "/1", "/1", "/2"], "no four requests for each of five pages");
    assert_eq!(
        (actual["blocked"].as_object().unwrap().len(), actual["pending"].as_u64()),
        (1, Some(5)),
        "{actual}"
    );

    // Every third request is one too many: all pages are fetched, at a lower rate.
    let (asked, ends) = (AtomicUsize::new(0), Arc::new(Mutex::new(())));
    let site = Site::start(open(move |_| {
        let _one = ends.lock().unwrap();
        match asked.fetch_add(1, Ordering::SeqCst) {
            1 => Reply::status(429),
            _ => Reply::html("<p>x"),
        }
    }));
    let ws = workspace(&site, &["/1", "/2", "/3", "/4", "/5"], "");
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("backoff_secs = 0.02", "backoff_secs = 0.2"));
    crawl(&ws, 0);
    assert_eq!(paths(&site).len(), 6);
    let pages: Vec<Asked> =
        site.server.asked().into_iter().filter(|asked| asked.path != "/robots.txt").collect();
    for pair in pages[2..].windows(2) {
        let gap = pair[1].began - pair[0].ended;
        assert!(gap.as_millis() >= 190, "{gap:?} after a 429");
    }
}
