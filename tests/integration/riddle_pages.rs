//! Pages of riddle sites: their profiles read what the program's own readers of these sites read, row for row.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Workspace, source};

/// The rows that the readers gave for the pages in the repository: of each post the id, question, answer and texts of links.
const ROWS: &str = include_str!("../fixtures/pages/riddle-rows.txt");

/// Pages with one peculiarity each, and what the readers gave for them.
const PECULIAR: &[(&str, &str, &[&str])] = &[
    (
        "riddles-com",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.riddles.com/best><div itemscope itemtype=https://schema.org/Question><h2>Send one</h2><blockquote class=orange_dk_blockquote> </blockquote></div><div itemscope itemtype=http://schema.org/Question><blockquote class=orange_dk_blockquote>Why?</blockquote><blockquote class=dark_purple_blockquote></blockquote></div>",
        &[r#"["text:ee88547874fcd194","Why?",null,[]]"#, "dropped/taken_away"],
    ),
    (
        "riddles-com",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.riddles.com/about><p>Nothing",
        &["failed/page_unparsed"],
    ),
    (
        "riddles-com",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.example.com/about><p>Nothing",
        &["dropped/page_other"],
    ),
    (
        "riddles-com",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.riddles.com/riddle/55><h1>Own</h1><p><strong>Riddle:</strong> Which <a href=/x>way</a> is up?<p>Two lines.</p><p><b>ANSWER：</b> North.</p><hr><p>Advert</p><h3>Other</h3><p><b>Riddle</b>: Which way is down?</p><aside><b>Answer</b>: no</aside>",
        &[
            r#"["riddle:55","Which way is up?\nTwo lines.","North.",["way"]]"#,
            r#"["text:ac97464cab810e77","Which way is down?",null,[]]"#,
        ],
    ),
    (
        "riddles-com",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.riddles.com/teasers><dl><dt><b>Riddle:</b> One?</dt><dd><b>Answer:</b> Yes.</dd></dl><div><b>Riddle:</b> Two?<div><b>Answer:</b> No.</div>rest</div><b>Riddle:</b><b>Answer:</b> none<h2><a href=/riddle/3>T</a></h2><p>x</p><p><b>Riddle:</b> Three?</p><b>Answer</b>",
        &[
            r#"["text:1e8565f1b9f91c49","One?","Yes.",[]]"#,
            r#"["text:35ba35c99d4d3159","Two?","No.",[]]"#,
            r#"["riddle:3","Three?",null,[]]"#,
        ],
    ),
    (
        "riddles-com",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.riddles.com/riddle/9><div itemscope itemtype=https://schema.org/Question><blockquote class=orange_dk_blockquote>First?</blockquote></div><div itemscope itemtype=https://schema.org/Question><blockquote class=orange_dk_blockquote>Second?</blockquote></div><div itemscope itemtype=https://schema.org/Question><a href=/riddle/8>x</a><blockquote class=orange_dk_blockquote>Third?</blockquote></div>",
        &[
            r#"["riddle:9","First?",null,[]]"#,
            r#"["text:c7081911d5680dc3","Second?",null,[]]"#,
            r#"["riddle:8","Third?",null,[]]"#,
        ],
    ),
    (
        "rd",
        "<!DOCTYPE html><html><head><meta charset=utf-8></head><body><h2>Intro</h2><p>Hello</p><h2>One</h2><p>Say it<br>twice?</p><p>Answer：Yes</p><h3>Two?</h3><h3>Three</h3><p>Answers: none</p><p>Answer:</p><h2>End</h2><p>Bye</p>",
        &[
            r#"["text:15106adf80edaf6d","Say it\ntwice?","Yes",[]]"#,
            r#"["text:4648e25c766f0957","Two?",null,[]]"#,
            r#"["text:e6a843f7dfab7c87","Answers: none",null,[]]"#,
        ],
    ),
    (
        "rd",
        "<!DOCTYPE html><html><head><meta charset=utf-8></head><body><h1>Riddles</h1><p>A man goes in.<br>How does he get <a href=/y>out</a>?</p><p><b>Answer</b> : By the door.<br>Answer: twice</p><p>More.</p><p>No question here</p><p>Answer: So.</p><p>Answer: again</p><p>Not asked</p><p>What?</p><p>And this?</p><p>tail</p>",
        &[
            r#"["text:8773f44bc536ec78","A man goes in.\nHow does he get out?","By the door.\nAnswer: twice\nMore.",["out"]]"#,
            r#"["text:41f60ff0d5070dd2","No question here","So.\nNot asked",[]]"#,
            r#"["text:29297405de146a0b","What?",null,[]]"#,
            r#"["text:1a2b9cf391ec3fa2","And this?",null,[]]"#,
        ],
    ),
    (
        "rd",
        "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=canonical href=https://www.rd.com/list/riddles><p>What? No.</p>",
        &["failed/page_unparsed"],
    ),
    (
        "rd",
        "<!DOCTYPE html><html><head><meta charset=utf-8></head><body><script>x</script><p>",
        &["dropped/page_shell"],
    ),
];

/// What import makes of a page: a line for each post, the outcome and reason of what is none.
fn imported(ws: &Workspace, args: &[&str], page: &[u8]) -> Vec<String> {
    ws.write("page.html", page);
    let path = ws.path("page.html").display().to_string();
    let result = ws.call([&["apply", "import"][..], args, &[path.as_str()]].concat());
    assert!(matches!(result.code, 0 | 3), "{}", result.err);
    let mut lines = Vec::new();
    for record in result.out.lines() {
        let record: Value = serde_json::from_str(record).unwrap();
        let posts = record["rows"].as_array().unwrap();
        lines.extend(
            posts
                .iter()
                .map(|post| json!([post["id"], post["title"], post["content"], post["links"]]).to_string()),
        );
        if posts.is_empty() {
            let word = |key: &str| record["entry"][key].as_str().unwrap_or_default();
            lines.push(format!("{}/{}", word("outcome"), word("reason")));
        }
    }
    lines
}

#[test]
fn pages_in_the_repository_give_the_same_rows() {
    let ws = Workspace::with(
        &(source("named", "profile", "raw/dumps/a*")
            + "profile = \"riddles-com\"\n"
            + &source("article", "profile", "raw/dumps/b*")
            + "profile = \"rd\"\n"),
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for page in ROWS.split("== ").skip(1) {
        let (head, rows) = page.split_once('\n').unwrap();
        let (kind, path) = head.split_once(' ').unwrap();
        let expected: Vec<&str> = rows.lines().collect();
        let bytes = fs::read(root.join(path)).unwrap();
        assert_eq!(imported(&ws, &["--kind", kind], &bytes), expected, "{path}");
        // A source that names the profile is the same.
        let named = if kind == "rd" { "article" } else { "named" };
        assert_eq!(imported(&ws, &["--source", named], &bytes), expected, "{path} by its profile");
        count += expected.len();
    }
    assert_eq!(count, 36);
}

#[test]
fn peculiar_pages_give_the_same_rows() {
    let ws = Workspace::with("");
    for (kind, page, expected) in PECULIAR {
        assert_eq!(imported(&ws, &["--kind", kind], page.as_bytes()), *expected, "{page}");
    }
}

/// Settings with the former kinds stay as they are, and a workspace's own profile of that name counts.
#[test]
fn the_kinds_are_names_of_profiles() {
    let ws = Workspace::with(&source("riddles", "riddles-com", "raw/dumps/*.html"));
    let page =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pages/riddles-strong.html"));
    ws.write("raw/dumps/page.html", page.unwrap());
    ws.call(["run", "--recipe", "brainteaser", "--offline", "--to", "import"]).expect(0);
    ws.audit_clean();
    let ids = |ws: &Workspace| -> Vec<String> {
        let posts = imported(ws, &["--source", "riddles"], &ws.bytes("raw/dumps/page.html"));
        posts.iter().map(|post| post.split('"').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&ws), ["riddle:8001", "riddle:8002", "riddle:8003"]);
    ws.call(["profiles", "copy", "riddles-com"]).expect(0);
    let profile =
        ws.read("profiles/riddles-com.toml").replace("namespace = \"riddle\"", "namespace = \"mine\"");
    ws.write("profiles/riddles-com.toml", profile);
    assert_eq!(ids(&ws), ["mine:8001", "mine:8002", "mine:8003"]);
    assert!(ws.call(["status", "--recipe", "brainteaser"]).expect(0).out.contains("stale"));
}

/// The former sites of a crawl are those profiles, too.
#[test]
fn a_crawl_of_a_former_site_is_read_by_its_profile() {
    for (site, kind) in [("riddles", "riddles-com"), ("rd", "rd")] {
        let ws = Workspace::with(&format!(
            "[[source]]\nname = \"a\"\nkind = \"profile\"\ncrawl = \"c\"\n\n[[source]]\nname = \"b\"\nkind = {kind:?}\npath = \"raw/warc/c/*\"\n\n\
             [[crawl]]\nname = \"c\"\nsite = {site:?}\nseeds = [{{ url = \"https://a.example/\" }}]\ncontact = \"a@example.invalid\"\n"
        ));
        ws.call(["config"]).expect(0);
    }
}

/// Words in the text name the parts of a post on any site.
#[test]
fn labels_are_for_any_site() {
    let ws = Workspace::with("");
    ws.write(
        "profiles/mine.toml",
        "labels = { body = [\"谜面\", \"题\"], answer = \"谜底\" }\nown_id = { in = \"address\", match = \"/m/(\\\\d+)\" }\nnamespace = \"m\"\nstrip = \".ad\"\n",
    );
    ws.write(
        "page.html",
        "<meta charset=utf-8><h2>一</h2><p><b>谜面：</b>什么门永远关不上？<i class=ad>广告</i></p><p><b>谜底：</b><a href=/x>球门</a></p><hr><p><b>题</b>: 什么瓜不能吃？",
    );
    let page = ws.path("page.html").display().to_string();
    let args = ["crawl", "--try", &page, "--profile", "mine", "--url", "https://a.example/m/7"];
    let out = ws.call(args).expect(0).out;
    for line in [
        "called    m:7",
        "id        7  <- own_id",
        "title     一  <- labels",
        "body      什么门永远关不上？  <- labels",
        "answer    球门  <- labels",
        "links     球门  <- labels",
        "body      什么瓜不能吃？  <- labels",
    ] {
        assert!(out.contains(line), "{line} is not in\n{out}");
    }
    ws.write("page.html", "<p>nothing</p>");
    let out = ws.call(args).expect(3).out;
    assert!(out.contains("谜面, 题, 谜底"), "{out}");
    for (profile, part) in [
        ("labels = 5", "labels: expected a table"),
        ("labels = { body = 5 }", "labels.body: expected a text in quotes, or a list of texts"),
        ("labels = {}", "expected a word for `body`, for `answer` or for both"),
        ("labels = { body = \"x\", answr = \"y\" }", "did you mean \"answer\"?"),
        ("labels = { body = \"x\" }\nasks = \"y\"", "`asks` needs `labels`"),
        ("format = \"json\"\nlabels = { body = \"x\" }", "only pages in HTML have `labels`"),
    ] {
        ws.write("profiles/mine.toml", profile);
        let out = ws.call(["profiles", "check"]).expect(2).out;
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
}
