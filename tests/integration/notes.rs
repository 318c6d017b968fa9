//! Notes of a thread's owner below the jokes of an annual thread.

use serde_json::{Value, json};

use crate::harness::{Workspace, reference, source};

/// Jokes that are not similar to each other.
fn joke(n: usize) -> String {
    let things = ["雨伞", "冰箱", "门铃", "月亮", "牙刷", "楼梯", "日历", "枕头"];
    let doings = ["怕不怕黑", "几点下班", "会不会打喷嚏", "想不想家", "敢不敢照镜子", "能不能报销"];
    let places = ["电梯里", "南极", "菜市场", "梦里", "考场上"];
    format!("{n}.{}的{}{}？", places[n % 5], things[n % 8], doings[n % 6])
}

/// A thread of 24 jokes in which the owner adds notes to some of them.
fn thread() -> String {
    let mut pid = 100;
    let mut lines = String::new();
    let mut post = |user: &str, text: &str| {
        lines += &json!({ "pid": pid, "tid": 77, "user_name": user, "user_id": user.len(), "text": text,
            "time": 1_700_000_000, "image_links": [], "is_comment": false, "floor": pid - 99 })
        .to_string();
        lines.push('\n');
        pid += 1;
    };
    post("楼主甲乙", "*：年度精选说明");
    for n in 1..=24 {
        post("楼主甲乙", &joke(n));
        match n {
            3 => post("楼主甲乙", "*：当年有一把雨伞被罚款的新闻，联系13800138000"),
            4 => {
                post("路人", "*：我也来注一条");
                post("楼主甲乙", "注：指四号台风");
                post("楼主甲乙", "PS：台风叫晴天");
            }
            5 => post("楼主甲乙", "大家注意秩序"),
            _ => {}
        }
    }
    lines
}

fn workspace() -> Workspace {
    let ws = Workspace::with(
        &(source("dump", "thread-dump", "raw/dumps/dump")
            + "[[annotator]]\nname = \"a1\"\nrole = \"annotator\"\n"),
    );
    ws.write("raw/dumps/dump", thread());
    ws.call(["run", "--recipe", "chumor", "--recipe", "flub", "--offline"]).expect(0);
    ws
}

#[test]
fn a_note_goes_with_its_joke() {
    let ws = workspace();
    let reasons = ws.reasons("chumor");
    assert_eq!((reasons["dropped/note"], reasons["dropped/not_owner"]), (3, 1), "{reasons:?}");
    assert_eq!(
        reasons["dropped/chatter"], 2,
        "the head of the thread has no joke above it, and talk is none: {reasons:?}"
    );
    ws.audit_clean();
    let note = ws.explain("chumor", "被罚款的新闻");
    assert_eq!(note["way"][0]["reason"], "note");
    assert_eq!(note["way"][0]["evidence"], "tieba:77:103");
    assert_eq!(ws.explain("chumor", "tieba:77:103")["note"], "当年有一把雨伞被罚款的新闻，联系13800138000");
    assert_eq!(ws.explain("chumor", "tieba:77:105")["note"], "指四号台风\n台风叫晴天");
    assert!(ws.explain("chumor", "tieba:77:101")["note"].is_null());
}

#[test]
fn annotators_and_models_see_the_note() {
    let ws = workspace();
    for (recipe, step) in [("chumor", "screen"), ("flub", "clean")] {
        let args = ["review", "export", step, "--recipe", recipe, "--annotator", "a1", "--format", "jsonl"];
        ws.call(args).expect(0);
        let ballots: Vec<Value> = ws
            .read(&format!("{recipe}.{step}.a1.jsonl"))
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of =
            |id: &str| ballots.iter().find(|ballot| ballot.to_string().contains(id)).unwrap().to_string();
        assert!(
            of("tieba:77:103").contains("当年有一把雨伞被罚款的新闻，联系[电话]"),
            "{}",
            of("tieba:77:103")
        );
        assert!(!of("tieba:77:101").contains("note"), "{}", of("tieba:77:101"));
    }
}

#[test]
fn a_list_of_annual_jokes_has_notes_too() {
    let row = |author: &str, content: &str, n: u64| {
        json!({ "author": author, "content": content, "l_num": n, "ctime": "2024-01-01 00:00" }).to_string()
    };
    let rows = [
        row("楼主甲乙", "*：年度精选说明", 1),
        row("楼主甲乙", &joke(1), 2),
        row("楼主甲乙", "*：楼主甲乙提醒：当年有一把雨伞被罚款", 3),
        row("楼主甲乙", "注：罚了两次", 4),
        row("路人", "*：我也来注一条", 5),
        row("楼主甲乙", &joke(2), 6),
    ];
    let ws = Workspace::with(&source("dump", "leymore-annual", "raw/dumps/dump"));
    ws.write("raw/dumps/dump", format!("[{}]", rows.join(",")));
    let run = || ws.call(["run", "--recipe", "chumor", "--to", "dedup", "--offline"]).expect(0);
    run();
    ws.audit_clean_with(&["--recipe", "chumor"]);
    let reasons = ws.reasons("chumor");
    assert_eq!((reasons["dropped/note"], reasons["dropped/chatter"]), (2, 2), "{reasons:?}");
    let posts = ws.posts("chumor");
    assert_eq!(posts.len(), 2);
    let noted = posts.iter().find(|post| !post["note"].is_null()).unwrap();
    assert_eq!(noted["note"], "[人名]提醒：当年有一把雨伞被罚款\n罚了两次");
    assert!(noted["text"].as_str().unwrap().contains("南极"), "{noted}");
    let actual = ws.explain("chumor", "罚了两次");
    assert_eq!((&actual["way"][0]["reason"], &actual["way"][0]["evidence"]), (&json!("note"), &noted["id"]));
    let before = ws.derived();
    ws.remove_derived();
    run();
    crate::harness::assert_same(&before, &ws.derived(), "with notes");
}

#[test]
fn real_annual_threads_keep_their_jokes() {
    let Some(reference) = reference() else { return };
    let at = |path: &str| reference.join("data/raw").join(path).display().to_string();
    let ws = Workspace::with(
        &(source("threads", "thread-dump", &at("threads/*.jsonl"))
            + &source("annual", "leymore-annual", &at("leymore/ruozhiba-post-annual.json"))),
    );
    ws.call(["run", "--recipe", "chumor", "--to", "clean", "--offline"]).expect(0);
    let reasons = ws.reasons("chumor");
    // None of the owner's posts in these three threads and this list has the mark of a note, and no joke is
    // mistaken for one: every row of the list is kept, or is a duplicate.
    assert_eq!(reasons.get("dropped/note"), None, "{reasons:?}");
    let shown = ws.call(["show", "import", "--recipe", "chumor", "--json", "--limit", "0"]).expect(0);
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    let of_list = |row: &&Value| row["id"].as_str().unwrap().starts_with("annual/");
    let list: Vec<&Value> = shown[0]["rows"].as_array().unwrap().iter().filter(of_list).collect();
    assert_eq!(list.len(), 1361);
    assert!(list.iter().all(|row| row["outcome"] == "kept" || row["outcome"] == "merged"));
}
