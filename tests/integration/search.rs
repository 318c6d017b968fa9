//! Any record of any dump is found, by its text, its id and its place, wherever it ended.

use std::fs;

use serde_json::{Value, json};

use crate::browser::{Server, coded};
use crate::harness::{Workspace, reference, source, title};

/// A thread with an owner's jokes and other people's posts between them.
fn thread() -> String {
    let post = |pid: u64, floor: u64, user: &str, text: &str| {
        json!({ "pid": pid, "tid": 77, "user_name": user, "user_id": 4_000_000 + user.len(), "text": text,
            "time": 1_700_000_000, "image_links": [], "is_comment": false, "floor": floor, "ip": "云南" })
        .to_string()
            + "\n"
    };
    let mut lines = post(100, 1, "楼主甲", "年度精选");
    for n in 1..=24 {
        lines += &post(100 + n, 1 + n, "楼主甲", &format!("{n}.第{n}把雨伞会不会羡慕晴天？"));
    }
    lines += &post(200, 30, "路人乙丙", "做蛋糕之类的东西要用打蛋器，我路人乙丙说的");
    lines += "{\"pid\": 201, \"tid\": 77, \"user_name\": \"路人乙丙\", \"text\": \"坏掉的一行也有话说\", \"floor\": \n";
    lines
}

fn workspace() -> Workspace {
    let ws = Workspace::with(
        &(source("threads", "thread-dump", "raw/dumps/thread.jsonl")
            + &source("titles", "leymore-titles", "raw/dumps/titles.json")),
    );
    ws.write("raw/dumps/thread.jsonl", thread());
    let titles = ["冰块怕热还是怕化？", "冰块怕热还是怕化", "门铃半夜睡不睡觉？", "云飞"];
    let rows: Vec<String> = titles.iter().zip(1..).map(|(text, n)| title(n, text)).collect();
    ws.write("raw/dumps/titles.json", format!("[{}]", rows.join(",\n")));
    ws.call(["run", "--recipe", "flub", "--recipe", "chumor", "--offline"]).expect(3);
    ws
}

fn actual(ws: &Workspace, target: &str) -> Value {
    let result = ws.call(["explain", target, "--recipe", "flub", "--json"]).expect(0);
    serde_json::from_str(&result.out).unwrap()
}

#[test]
fn what_import_set_aside_is_found_with_its_text() {
    let ws = workspace();
    let chatter = "threads/thread.jsonl:26";
    for target in ["做蛋糕之类的东西要用打蛋", "tieba:77:200", chatter, "threads:26"] {
        let actual = actual(&ws, target);
        let record = &actual["explained"][0];
        assert_eq!(
            (&record["id"], &record["ends"]),
            (&json!(chatter), &json!("dropped")),
            "{target}: {actual}"
        );
        assert_eq!(record["text"], "做蛋糕之类的东西要用打蛋器，我[人名]说的", "{target}");
    }
    let broken = actual(&ws, "坏掉的一行")["explained"][0].clone();
    assert_eq!((&broken["ends"], &broken["text"]), (&json!("failed"), &json!("坏掉的一行也有话说")));
    // Nothing about its author, however it is searched for.
    for target in ["做蛋糕之类的东西要用打蛋", "坏掉的一行", "threads:26"] {
        let out = ws.call(["explain", target, "--full"]).expect(0).out;
        for personal in ["路人乙丙", "4000012", "云南"] {
            assert!(!out.contains(personal), "{target}: {out}");
        }
    }
    ws.call(["explain", "路人乙丙"]).expect(1);
    // The index contains places and no texts.
    for entry in fs::read_dir(ws.path(".index/dumps")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for text in ["蛋糕", "雨伞", "路人", "tieba:77"] {
            assert!(memchr::memmem::find(&bytes, text.as_bytes()).is_none(), "{text}");
        }
    }
}

#[test]
fn many_records_are_listed_with_where_they_ended() {
    let ws = workspace();
    let out = ws.call(["explain", "雨伞会不会羡慕"]).expect(0).out;
    assert!(out.contains("24 posts contain this") && out.contains("… and 4 more"), "{out}");
    assert!(out.contains("flub            waiting: ") && out.contains("chumor          waiting: "), "{out}");
    let all = actual(&ws, "雨伞会不会羡慕")["also"].clone();
    assert_eq!(all.as_array().unwrap().len(), 24);
    assert_eq!(all[0]["recipes"]["flub"]["ending"], "waiting");
    let short = actual(&ws, "云飞");
    assert_eq!(
        (&short["explained"][0]["id"], &short["explained"][0]["ends"]),
        (&json!("tieba:4"), &json!("dropped"))
    );
}

#[test]
fn a_merged_post_shows_both_texts() {
    let ws = workspace();
    let out = ws.call(["explain", "tieba:2", "--recipe", "flub"]).expect(0).out;
    assert!(out.contains("out (merged)"), "{out}");
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("冰块怕热还是怕化")).collect();
    assert!(lines.iter().any(|line| line.contains("tieba:1 ") && line.contains("{+？+}")), "{out}");
    assert!(lines.iter().any(|line| line.contains("tieba:2 ")), "{out}");
    let shown = ws.call(["show", "dedup", "--recipe", "flub", "--outcome", "merged"]).expect(0).out;
    assert!(shown.contains("tieba:1 ") && shown.contains("{+？+}"), "{shown}");
}

#[test]
fn a_dump_that_changed_is_reported() {
    let ws = workspace();
    ws.call(["explain", "门铃半夜"]).expect(0);
    let changed = ws.read("raw/dumps/titles.json").replace("门铃半夜", "门铃中午");
    ws.write("raw/dumps/titles.json", changed);
    let result = ws.call(["explain", "门铃中午"]).expect(0);
    assert!(result.err.contains("titles/titles.json has changed since flub imported it"), "{}", result.err);
    // The ledgers' information about the place is shown next to the current text.
    assert!(result.out.contains("tieba:3"), "{}", result.out);
    ws.remove("raw/dumps/titles.json");
    ws.call(["explain", "门铃中午"]).expect(1);
}

#[test]
fn a_dump_that_nobody_imported_is_searched_too() {
    let ws = Workspace::with_dump("leymore-titles", title(9, "门铃半夜睡不睡觉？"));
    let result = ws.call(["explain", "门铃半夜"]).expect(0);
    assert!(
        result.out.contains("tieba:9") && result.out.contains("no recipe has imported it"),
        "{}",
        result.out
    );
    // Of one recipe it says nothing about the others.
    let result = ws.call(["explain", "门铃半夜", "--recipe", "brainteaser"]).expect(0);
    assert!(result.out.contains("in the dump, not in brainteaser"), "{}", result.out);
}

#[test]
fn the_pages_find_it_and_link_to_it() {
    let ws = workspace();
    let server = Server::start(&ws, &[]);
    let found = server.get(&format!("/find?q={}", coded("做蛋糕之类的东西")));
    assert_eq!(found.status, 200);
    assert!(found.body.contains("打蛋器") && !found.body.contains("路人乙丙"), "{}", found.body);
    let link = "/flub/record/threads%2Fthread.jsonl:26";
    let chatter = found.body.contains(link).then(|| server.get(link));
    let page = chatter.unwrap_or_else(|| panic!("{}", found.body));
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("打蛋器") && page.body.contains("not_owner") && !page.body.contains("路人乙丙")
    );
    assert!(server.get("/find?q=tieba:77:200").head.contains("location: /flub/record/threads"), "by its id");
    assert!(server.get("/find?q=threads:26").status == 303);
    let many = server.get(&format!("/find?q={}", coded("雨伞会不会羡慕"))).body;
    assert!(many.contains("24 records") && many.contains("waiting"), "{many}");
    // A link to the same post elsewhere leads to it.
    for address in ["/flub/record/tieba:2", link] {
        let body = server.get(address).body;
        for other in ["chumor", "ruozhibench-gen", "ruozhibench-mc"] {
            let linked = body.split('"').find(|part| part.starts_with(&format!("/{other}/record/")));
            linked.inspect(|path| assert_eq!(server.get(path).status, 200, "{address} {path}"));
        }
        assert!(body.contains("/chumor/record/") && !body.contains("/ruozhibench-gen/record/"), "{address}");
    }
}

#[test]
fn every_real_record_has_its_text() {
    let Some(reference) = reference() else { return };
    let at = |path: &str| reference.join("data/raw").join(path).display().to_string();
    let ws = Workspace::with(
        &(source("recommended", "leymore-titles", &at("leymore/ruozhiba-title-good.json"))
            + &source("annual", "leymore-annual", &at("leymore/ruozhiba-post-annual.json"))
            + &source("threads", "thread-dump", &at("threads/*.jsonl"))),
    );
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let files = [("threads", "threads"), ("leymore", "recommended"), ("leymore", "annual")];
    let trust =
        vec![at("leymore/ruozhiba-title-good.json"), at("leymore/ruozhiba-post-annual.json"), at("threads")];
    let config = riddlemill::config::Config::load(
        ws.root(),
        &riddlemill::recipe::recipe_names(),
        &riddlemill::recipe::changed_defaults(),
        &riddlemill::config::Overrides { trust, ..riddlemill::config::Overrides::default() },
    )
    .unwrap();
    let mut seen = 0;
    for (_, source) in files {
        for n in (1..=2597).step_by(331) {
            for record in riddlemill::search::by_name(&config, &format!("{source}:{n}")).unwrap().records {
                seen += 1;
                if record.text.chars().filter(|c| c.is_alphanumeric()).count() < 8 {
                    continue;
                }
                let found = riddlemill::search::by_text(&config, &record.text, 50).unwrap();
                assert!(found.records.contains(&record), "{}", record.locator);
                let ended = riddlemill::audit::find_whereabouts(
                    &riddlemill::store::Workspace::new(ws.root()),
                    riddlemill::recipe::find_recipe("flub").unwrap(),
                    std::slice::from_ref(&record),
                );
                assert!(ended.unwrap()[0].is_some(), "{}", record.locator);
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
