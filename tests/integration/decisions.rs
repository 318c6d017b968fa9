//! `decide`: a person's decision about a record or a pair overrides rules and votes, can be undone, and is
//! accounted for.

use std::fs;

use serde_json::{Value, json};

use crate::browser::{Browser, Server, hidden};
use crate::harness::{CallResult, WITHOUT_WORDNET, Workspace, assert_same, title};

const SETTINGS: &str = r#"
version = 1

[[source]]
name = "posts"
kind = "leymore-titles"
path = "raw/dumps/posts.json"

[anonymise]
policy = ["terms.txt"]

[[annotator]]
name = "annotator-1"
role = "annotator"
languages = ["zh"]

[[annotator]]
name = "meta-1"
role = "meta"
languages = ["zh"]

[[annotator]]
name = "senior-1"
role = "senior"
languages = ["zh"]
"#;

const POSTS: [(u64, &str); 8] = [
    (101, "嗯"),
    (102, "雨伞会不会怕水？"),
    (103, "镜子会不会看腻我？"),
    (104, "冰箱里的灯关门后还亮吗，我钻进去看过"),
    (105, "冰箱里的灯关了门还亮吗，我钻进去看过"),
    (106, "禁词会不会怕被人念出来？联系我13800138000"),
    (107, "影子会不会觉得累呀？"),
    (108, "冰箱里的灯关门后还亮吗，我钻进去看过了"),
];

fn dump(posts: &[(u64, &str)]) -> String {
    let rows: Vec<String> = posts.iter().map(|(n, text)| title(*n, text)).collect();
    format!("[{}]", rows.join(","))
}

fn workspace() -> Workspace {
    let ws = Workspace::with(SETTINGS);
    ws.write("raw/dumps/posts.json", dump(&POSTS));
    ws.write("terms.txt", "禁词\n");
    run(&ws);
    ws
}

fn run(ws: &Workspace) {
    ws.call(["run", "--offline", "--recipe", "flub", "--recipe", "chumor", "-q"]).expect(0);
}

fn decide(ws: &Workspace, args: &[&str]) -> CallResult {
    let by = ["--by", "meta-1", "--why", "I looked at it"];
    ws.call(["decide"].iter().chain(args).chain(&by))
}

/// The outcome of a record at a stage of a recipe.
fn passage(ws: &Workspace, recipe: &str, id: &str, stage: &str) -> Value {
    let actual = ws.explain(recipe, id);
    let way = actual["way"].as_array().unwrap().clone();
    way.into_iter().find(|passage| passage["stage"] == stage).unwrap_or_else(|| panic!("{id} not at {stage}"))
}

fn outcome(ws: &Workspace, id: &str, stage: &str) -> String {
    let passage = passage(ws, "flub", id, stage);
    format!("{}/{}", passage["outcome"].as_str().unwrap(), passage["reason"].as_str().unwrap_or("-"))
}

fn evidence(ws: &Workspace, id: &str, stage: &str) -> String {
    passage(ws, "flub", id, stage)["evidence"].as_str().unwrap_or_default().to_string()
}

fn states(ws: &Workspace) -> Vec<(String, String)> {
    let result = ws.call(["decide", "list", "--json"]).expect(0);
    let rows: Vec<Value> = serde_json::from_str(&result.out).unwrap();
    let of_flub = rows.iter().filter(|row| row["recipe"] == "flub");
    of_flub
        .map(|row| {
            let verdict = row["decision"]["verdict"].as_str().unwrap().to_string();
            (verdict, row["state"].as_str().unwrap().to_string())
        })
        .collect()
}

/// Everything derived is restored byte for byte, and every record is accounted for.
#[track_caller]
fn comes_back(ws: &Workspace) {
    ws.audit_clean();
    let before = ws.derived();
    ws.remove_derived();
    run(ws);
    assert_same(&before, &ws.derived(), "with decisions in place");
}

#[test]
fn a_dropped_post_goes_on_a_kept_one_goes_out_and_another_waits() {
    let ws = workspace();
    assert_eq!(outcome(&ws, "tieba:101", "filter"), "dropped/too_short");
    decide(&ws, &["keep", "tieba:101"]).expect(0);
    decide(&ws, &["drop", "tieba:102"]).expect(0);
    decide(&ws, &["hold", "tieba:103", "--recipe", "flub"]).expect(0);
    let status = ws.call(["status", "--recipe", "flub"]).expect(0).out;
    assert!(status.contains("stale") && status.contains("3 new decisions"), "{status}");
    assert_eq!(states(&ws)[0], ("keep".into(), "waits_for_run".into()));
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:101", "filter"), "changed/decided_keep");
    let actual = evidence(&ws, "tieba:101", "filter");
    assert!(actual.contains("by meta-1") && actual.contains("I looked at it"), "{actual}");
    assert!(actual.contains("by rule dropped (too_short)"), "{actual}");
    assert_eq!(outcome(&ws, "tieba:102", "filter"), "dropped/decided_drop");
    assert_eq!(outcome(&ws, "tieba:103", "filter"), "held/decided_hold");
    assert_eq!(passage(&ws, "chumor", "tieba:103", "filter")["outcome"], "kept", "for flub alone");
    assert_eq!(passage(&ws, "chumor", "tieba:102", "filter")["outcome"], "dropped", "for all recipes");
    assert!(states(&ws).iter().all(|(_, state)| state == "applied"), "{:?}", states(&ws));
    comes_back(&ws);

    // The later of two applies; once it is undone, the earlier one applies again.
    let told = decide(&ws, &["keep", "tieba:102"]).expect(0).out;
    assert!(told.contains("it overrules ") && told.contains(" drop tieba:102 at filter"), "{told}");
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:102", "filter"), "kept/-");
    let list = ws.call(["decide", "list", "tieba:102"]).expect(0).out;
    assert!(list.contains("overruled by a later decision"), "{list}");
    let last = list.lines().rfind(|line| line.contains("keep tieba:102")).unwrap();
    let id: String = last.chars().take(12).collect();
    decide(&ws, &["undo", &id]).expect(0);
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:102", "filter"), "dropped/decided_drop");
    let list = ws.call(["decide", "list", "tieba:102"]).expect(0).out;
    assert!(list.contains("undone by meta-1"), "{list}");
    comes_back(&ws);
    // Nothing was overwritten: four decisions and an undo.
    assert_eq!(ws.read("raw/decisions/000001.jsonl").lines().count(), 5);
}

#[test]
fn a_listed_term_waits_for_a_person_who_lets_it_through_without_its_number() {
    let ws = workspace();
    assert_eq!(outcome(&ws, "tieba:106", "anonymise"), "held/listed_term");
    decide(&ws, &["keep", "禁词会不会怕"]).expect(0);
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:106", "anonymise"), "changed/decided_keep");
    let show = ws.call(["show", "dedup", "--recipe", "flub", "--json"]).expect(0).out;
    assert!(show.contains("禁词会不会怕") && !show.contains("13800138000"), "{show}");
    // Dropped after all, at the last stage.
    decide(&ws, &["drop", "tieba:106"]).expect(0);
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:106", "filter"), "dropped/decided_drop");
    comes_back(&ws);
}

#[test]
fn two_that_were_split_stay_two_and_two_that_were_joined_are_one() {
    let ws = workspace();
    let into = |id: &str| passage(&ws, "flub", id, "dedup")["into"].as_str().map(str::to_string);
    // The longest is kept.
    assert_eq!(into("tieba:104").as_deref(), Some("tieba:108"));
    assert_eq!(into("tieba:105").as_deref(), Some("tieba:108"));
    decide(&ws, &["two", "tieba:105", "tieba:108"]).expect(0);
    run(&ws);
    assert_ne!(into("tieba:105").as_deref(), Some("tieba:108"));
    assert_eq!(outcome(&ws, "tieba:105", "dedup"), "changed/decided_two");
    let actual = evidence(&ws, "tieba:105", "dedup");
    assert!(actual.contains("by meta-1") && actual.contains("by rule merged into tieba:108"), "{actual}");
    assert_eq!(into("tieba:104").as_deref(), Some("tieba:108"), "the third goes where it did");
    comes_back(&ws);
    // 105 is one with 108 after all and 104 is not one with 105: so 104 is not merged with 108, though they
    // are similar.
    decide(&ws, &["one", "tieba:105", "tieba:108"]).expect(0);
    decide(&ws, &["two", "tieba:104", "tieba:105"]).expect(0);
    run(&ws);
    let went = [into("tieba:104"), into("tieba:105")];
    assert!(went.iter().filter(|into| into.is_some()).count() == 1, "{went:?}");
    comes_back(&ws);

    decide(&ws, &["one", "tieba:102", "tieba:107"]).expect(0);
    run(&ws);
    assert_eq!(into("tieba:102").as_deref(), Some("tieba:107"), "into the longer one");
    assert_eq!(outcome(&ws, "tieba:102", "dedup"), "merged/decided_one");
    assert!(evidence(&ws, "tieba:102", "dedup").contains("by rule kept"));
    let pairs =
        ws.call(["decide", "export", "--pairs", "--recipe", "flub", "--out", "pairs.jsonl"]).expect(0);
    assert!(pairs.err.contains("pair"), "{}", pairs.err);
    let pairs = ws.read("pairs.jsonl");
    assert!(pairs.contains("joined (decision") && pairs.contains("split ("), "{pairs}");
    comes_back(&ws);
}

#[test]
fn a_text_reads_as_a_person_says_until_the_post_changes() {
    let ws = workspace();
    decide(&ws, &["text", "tieba:103", "镜子会不会看腻了我？"]).expect(0);
    decide(&ws, &["title", "tieba:107", "影子会不会觉得累？"]).expect(0);
    run(&ws);
    let clean = passage(&ws, "flub", "tieba:103", "clean");
    assert_eq!(clean["reason"], "decided_text");
    assert_eq!(
        (clean["before"].as_str(), clean["after"].as_str()),
        (Some("镜子会不会看腻我？"), Some("镜子会不会看腻了我？"))
    );
    let clean = passage(&ws, "flub", "tieba:107", "clean");
    assert_eq!(
        (clean["reason"].as_str(), clean["after"].as_str()),
        (Some("decided_text"), Some("影子会不会觉得累？"))
    );
    comes_back(&ws);
    // The dump is imported again and the post's text has changed: the decision is not about that text.
    let changed: Vec<(u64, &str)> =
        POSTS.iter().map(|(n, text)| (*n, if *n == 103 { "镜子会不会讨厌我？" } else { *text })).collect();
    ws.write("raw/dumps/posts.json", dump(&changed));
    run(&ws);
    let found = states(&ws);
    assert_eq!(found[0], ("text".into(), "outdated".into()));
    assert_eq!(found[1], ("title".into(), "applied".into()));
    assert_eq!(ws.explain("flub", "tieba:103")["way"][1]["reason"], Value::Null);
    comes_back(&ws);
}

#[test]
fn a_person_decides_over_missing_votes() {
    let ws = workspace();
    let review = "review:clean";
    assert_eq!(outcome(&ws, "tieba:102", review), "held/votes_missing");
    decide(&ws, &["keep", "tieba:102", "--recipe", "flub"]).expect(0);
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:102", review), "changed/decided_keep");
    let actual = evidence(&ws, "tieba:102", review);
    assert!(actual.contains("by meta-1") && actual.contains("by votes held (votes_missing)"), "{actual}");
    comes_back(&ws);
}

#[test]
fn an_answer_makes_a_puzzle_of_a_riddle_without_one() {
    let settings = SETTINGS.replace("leymore-titles", "puzzles").replace("posts.json", "puzzles.jsonl");
    let ws = Workspace::with(&format!("{settings}\n{WITHOUT_WORDNET}"));
    ws.write("terms.txt", "");
    let rows = [
        json!({ "id": "r1", "question": "What has hands but cannot clap?", "answer": "A clock." }),
        json!({ "id": "r2", "question": "What gets wetter the more it dries?" }),
    ];
    ws.write("raw/dumps/puzzles.jsonl", rows.map(|row| row.to_string()).join("\n"));
    let run = || ws.call(["run", "--offline", "--recipe", "brainteaser", "-q"]).expect(0);
    run();
    ws.call(["decide", "export", "--recipe", "brainteaser", "--out", "open.jsonl"]).expect(0);
    let open: Value = serde_json::from_str(ws.read("open.jsonl").lines().next().unwrap()).unwrap();
    let id = open["record"].as_str().unwrap().to_string();
    assert!(open["see.state"].as_str().unwrap().contains("answer_missing"), "{open}");
    // Without its answer it cannot be let through.
    let refused = decide(&ws, &["keep", &id]).expect(2);
    assert!(refused.err.contains("review:text cannot be overruled with keep"), "{}", refused.err);
    decide(&ws, &["answer", &id, "A towel."]).expect(0);
    run();
    let strip = passage(&ws, "brainteaser", &id, "strip");
    assert_eq!(
        (strip["outcome"].as_str(), strip["reason"].as_str()),
        (Some("changed"), Some("decided_text"))
    );
    assert!(strip["after"].as_str().unwrap().ends_with("A towel."), "{strip}");
    ws.audit_clean();
}

#[test]
fn whoever_may_not_and_whatever_makes_no_sense_is_refused() {
    let ws = workspace();
    let result = |args: &[&str]| ws.call(["decide"].iter().chain(args));
    let refused = |args: &[&str], word: &str| {
        let result = result(args).expect(2);
        assert!(result.err.contains(word), "{args:?}: {}", result.err);
    };
    refused(&["keep", "tieba:101", "--by", "annotator-1", "--why", "x"], "senior or meta");
    refused(&["keep", "tieba:101", "--by", "nobody", "--why", "x"], "no [[annotator]]");
    refused(&["keep", "tieba:101", "--by", "meta-1", "--why", " "], "needs a reason");
    refused(&["keep", "tieba:104", "--by", "meta-1", "--why", "x"], "decide different tieba:104 tieba:108");
    refused(&["text", "tieba:103", " ", "--by", "meta-1", "--why", "x"], "must not be empty");
    refused(&["two", "tieba:103", "tieba:103", "--by", "meta-1", "--why", "x"], "two different records");
    refused(&["two", "tieba:101", "tieba:103", "--by", "meta-1", "--why", "x"], "does not reach dedup");
    refused(&["drop", "tieba:103", "--stage", "dedup", "--by", "meta-1", "--why", "x"], "it can overrule");
    let unknown = result(&["keep", "tieba:999", "--by", "meta-1", "--why", "x"]).expect(1);
    assert!(unknown.err.contains("no stage has"), "{}", unknown.err);
    assert!(!ws.exists("raw/decisions"), "nothing was stored");
    // The same decision twice counts once.
    result(&["drop", "tieba:103", "--by", "senior-1", "--why", "x"]).expect(0);
    let again = result(&["drop", "tieba:103", "--by", "meta-1", "--why", "y"]).expect(0);
    assert!(again.out.contains("has already been decided"), "{}", again.out);
}

#[test]
fn decisions_come_in_by_table_and_every_wrong_row_is_named() {
    let ws = workspace();
    for name in ["open.csv", "open.xlsx", "open.jsonl"] {
        let args = ["decide", "export", "--recipe", "flub", "--outcome", "dropped", "--out", name];
        ws.call(args).expect(0);
        assert!(!fs::read(ws.path(name)).unwrap().is_empty());
        // Unchanged, the table decides nothing.
        let result = ws.call(["decide", "import", name, "--by", "meta-1"]).expect(0);
        assert!(result.out.contains("0 decisions added"), "{}", result.out);
    }
    let mut rows: Vec<Value> =
        ws.read("open.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = rows.iter_mut().find(|row| row["record"] == "tieba:101").unwrap();
    assert!(row["see.state"].as_str().unwrap().contains("too_short") && row["see.text"] == "嗯", "{row}");
    row["verdict"] = json!("keep");
    row["why"] = json!("short and good");
    rows.push(json!({ "record": "tieba:102", "verdict": "perhaps", "why": "x" }));
    rows.push(json!({ "record": "tieba:103", "verdict": "drop" }));
    rows.push(json!({ "record": "tieba:107", "verdict": "drop", "why": "x", "seen": "0".repeat(32) }));
    let table: Vec<String> = rows.iter().map(Value::to_string).collect();
    ws.write("filled.jsonl", table.join("\n"));
    let result = ws.call(["decide", "import", "filled.jsonl", "--by", "meta-1"]).expect(3);
    assert!(result.out.contains("1 decision added"), "{}", result.out);
    for word in ["unknown verdict \"perhaps\"", "needs a reason", "has changed since it was shown"] {
        assert!(result.err.contains(word), "{word}: {}", result.err);
    }
    // The same table again adds nothing.
    let result = ws.call(["decide", "import", "filled.jsonl", "--by", "meta-1"]).expect(3);
    assert!(result.out.contains("0 decisions added, 1 known"), "{}", result.out);
    run(&ws);
    assert_eq!(outcome(&ws, "tieba:101", "filter"), "changed/decided_keep");
    comes_back(&ws);
}

#[test]
fn books_of_other_machines_do_not_pass_over_decisions() {
    let ws = workspace();
    decide(&ws, &["keep", "tieba:101", "--recipe", "flub"]).expect(0);
    let result = ws.call(["assemble", "filter", "--recipe", "flub", "terms.txt"]);
    assert_eq!(result.code, 2, "{}", result.err);
    assert!(result.err.contains("raw/decisions has 1 decision about it"), "{}", result.err);
    let result = ws.shell("echo '{\"id\":1,\"text\":\"嗯\"}' | $0 apply filter --recipe flub").expect(0);
    assert!(result.err.contains("raw/decisions has 1 decision about filter"), "{}", result.err);
}

#[test]
fn a_curator_decides_on_the_pages() {
    let ws = workspace();
    let server = Server::start(&ws, &[]);
    let mut browser = Browser::default();
    let page = browser.get(&server, "/flub/record/tieba:101").body;
    assert!(page.contains("let it through") && page.contains("meta-1") && !page.contains(">annotator-1<"));
    let (csrf, seen) = (hidden(&page, "csrf"), hidden(&page, "seen.keep"));
    let fields = |why| {
        [
            ("csrf", csrf.as_str()),
            ("record", "tieba:101"),
            ("verdict", "keep"),
            ("seen.keep", seen.as_str()),
            ("as", "meta-1"),
            ("scope", "all"),
            ("why", why),
        ]
    };
    assert_eq!(browser.post(&server, "/flub/decide", &fields("")).status, 422, "a reason is asked for");
    assert_eq!(browser.post(&server, "/flub/decide", &fields("short and good")).status, 303);
    let page = browser.get(&server, "/flub/record/tieba:101").body;
    assert!(page.contains("short and good") && page.contains("the next run applies it"));
    run(&ws);
    let page = browser.get(&server, "/flub/record/tieba:101").body;
    assert!(page.contains("decided_keep") && page.contains("by rule dropped"));
    // Undone.
    let undo = hidden(&page, "undo");
    let mut form = fields("a slip").to_vec();
    form.push(("undo", &undo));
    assert_eq!(browser.post(&server, "/flub/decide", &form).status, 303);
    assert!(browser.get(&server, "/flub/record/tieba:101").body.contains("undone"));

    // A pair, from the page of pairs.
    let page = browser.get(&server, "/flub/duplicates?show=pairs&verdict=same").body;
    let (a, b, seen) = (hidden(&page, "record"), hidden(&page, "other"), hidden(&page, "seen"));
    let pair = [
        ("csrf", csrf.as_str()),
        ("record", &a),
        ("other", &b),
        ("verdict", "two"),
        ("seen", &seen),
        ("as", "meta-1"),
        ("scope", "one"),
        ("why", "two jokes"),
    ];
    assert_eq!(browser.post(&server, "/flub/decide", &pair).status, 303);
    // A stage's page, and somebody who saw another text.
    let page = browser.get(&server, "/flub/stage/filter?outcome=kept").body;
    let (record, seen) = (hidden(&page, "record"), hidden(&page, "seen"));
    let drop = |seen| {
        [
            ("csrf", csrf.as_str()),
            ("record", record.as_str()),
            ("stage", "filter"),
            ("verdict", "drop"),
            ("seen", seen),
            ("as", "meta-1"),
            ("why", "x"),
        ]
    };
    let other = "0".repeat(32);
    assert_eq!(browser.post(&server, "/flub/decide", &drop(&other)).status, 409);
    assert_eq!(browser.post(&server, "/flub/decide", &drop(&seen)).status, 303);
    run(&ws);
    assert!(states(&ws).iter().filter(|(_, state)| state == "applied").count() >= 2, "{:?}", states(&ws));
    comes_back(&ws);

    // A user with read permission sees the decisions and cannot decide.
    let token = |name: &str, rank: &str| {
        let result = ws.call(["access", "grant", name, "--rank", rank]).expect(0);
        result.out.split_whitespace().find(|word| word.len() == 64).unwrap().to_string()
    };
    let mut reader = Browser::login(&server, &token("reader", "reader"));
    let page = reader.get(&server, &format!("/flub/record/{record}")).body;
    assert!(page.contains("drop it") && !page.contains("name=\"verdict\""));
    let csrf = hidden(&page, "csrf");
    let mut form = drop(&seen).to_vec();
    form[0] = ("csrf", csrf.as_str());
    assert_eq!(reader.post(&server, "/flub/decide", &form).status, 403);
}

#[test]
fn what_import_set_aside_is_refused_with_what_to_do_instead() {
    let ws = workspace();
    ws.write("raw/dumps/posts.json", dump(&[&POSTS[..], &[(102, "雨伞会不会怕水呢？")]].concat()));
    run(&ws);
    // By its text as well as by its place; a second copy was merged into the first.
    let result = decide(&ws, &["keep", "雨伞会不会怕水呢？"]).expect(2);
    assert!(
        result.err.contains("same_id. ") && result.err.contains("merged into tieba:102"),
        "{}",
        result.err
    );
    ws.write(
        "raw/dumps/posts.json",
        dump(&POSTS).replace("\"title\":\"影子会不会觉得累呀？\"", "\"title\":null"),
    );
    ws.call(["run", "--offline", "--recipe", "flub"]);
    for target in ["posts:7", "posts/posts.json:7"] {
        let result = decide(&ws, &["keep", target, "--recipe", "flub"]).expect(2);
        for word in [
            "set it aside at import: unreadable. ",
            "The line or page could not be read",
            "hint: put a repaired copy",
        ] {
            assert!(result.err.contains(word), "no {word:?}: {}", result.err);
        }
    }
}

#[test]
fn the_last_word_sets_what_a_ballot_writes() {
    let mut people = crate::reviewed::Reviewed::new();
    let plain = "3(Erroneous Assumption), 5(Absurd Imagination)";
    let one = crate::reviewed::item(
        "枕头晚上枕着什么睡？",
        "What does a pillow rest on?",
        "Pillows do not sleep.",
        None,
        plain,
    );
    people.add(std::slice::from_ref(&one));
    let ws = &people.ws;
    let recipe = ["--recipe", crate::reviewed::GEN];
    // The steps after it were voted on with the other question, and wait.
    let english = || {
        let result = ws.call(["show", "review:translation", "--json"].iter().chain(&recipe)).expect(0);
        let shown: Value = serde_json::from_str(&result.out).unwrap();
        shown[0]["rows"][0]["row"]["question_en"].as_str().unwrap().to_owned()
    };
    assert_eq!(english(), "What does a pillow rest on?");
    let settings = ws.read("pipeline.toml")
        + "\n[[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\nlanguages = [\"zh\", \"en\"]\n";
    ws.write("pipeline.toml", settings);
    let id = ws.posts(crate::reviewed::GEN)[0]["id"].as_str().unwrap().to_owned();
    let say = |more: &[&str]| {
        let own = ["review", "adjudicate", "translation", "--item", &id, "--by", "meta-1"];
        let answers =
            ["--answer", "verdict=rewrite", "--answer", "question_en=On what does a pillow lay its head?"];
        ws.call(own.iter().chain(&recipe).chain(&answers).chain(more))
    };
    let why = ["--answer", "reason=the head was lost"];
    assert!(say(&why).expect(2).err.contains("--overrule"));
    say(&["--overrule"]).expect(2);
    say(&[&why[..], &["--overrule"]].concat()).expect(0);
    ws.call(["run", "--offline"].iter().chain(&recipe)).expect(0);
    assert_eq!(english(), "On what does a pillow lay its head?");
    let actual = ws.call(["explain", &id].iter().chain(&recipe)).expect(0).out;
    assert!(actual.contains("meta-1 (adjudication)") && actual.contains("the head was lost"), "{actual}");
    ws.audit_clean_with(&recipe);
}
