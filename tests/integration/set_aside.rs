//! Votes that a manager sets aside, and people whom known answers stop.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::browser::{Browser, Server, hidden};
use crate::harness::{Tree, Workspace, assert_same};
use crate::trials;

const SCREEN: [&str; 3] = ["screen", "--recipe", "chumor"];

/// Writes somebody's ballot of a step, with answers, and returns its path and the number of rows.
fn filled(ws: &Workspace, place: &[&str], who: &str, answer: impl Fn(&str) -> Value) -> (String, usize) {
    let args = ["--annotator", who, "--format", "jsonl", "--out", "ballots"];
    let path =
        ws.call(["review", "export"].iter().chain(place).chain(&args)).expect(0).out.trim().to_string();
    let (mut text, mut rows) = (String::new(), 0);
    for line in ws.read(&path).lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        if let Some(item) = row["item"].as_str() {
            row["answers"] = answer(item);
            rows += 1;
        }
        text.push_str(&format!("{row}\n"));
    }
    ws.write(&path, text);
    (path, rows)
}

/// A workspace in which everybody has work and annotator-1 has done theirs; their file and how many votes it has.
fn voted() -> (Workspace, String, usize) {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    ws.call(["review", "assign", "screen", "--recipe", "chumor"]).expect(0);
    let (file, votes) = filled(&ws, &SCREEN, "annotator-1", |_| json!({ "screen": "keep" }));
    assert!(votes > 3, "{votes}");
    (ws, file, votes)
}

fn import(ws: &Workspace, file: &str, code: i32) -> String {
    let result = ws.call(["review", "import", "screen", "--recipe", "chumor", file]).expect(code);
    result.out + &result.err
}

fn aside(ws: &Workspace, code: i32, more: &[&str]) -> String {
    let result = ws.call(["review", "set-aside"].iter().chain(more)).expect(code);
    result.out + &result.err
}

fn counted(ws: &Workspace) -> Value {
    let out = ws.call(["review", "status", "--recipe", "chumor", "--json"]).expect(0).out;
    let steps: Vec<Value> = serde_json::from_str(&out).unwrap();
    steps.into_iter().find(|step| step["step"] == "screen").unwrap()
}

const SIGNED: [&str; 4] = ["--by", "meta-1", "--reason", "clicked through"];
const LOG: &str = "raw/votes/aside/set-aside.jsonl";
const TASKS: &str = "raw/votes/assigned/chumor.screen.jsonl";

#[test]
fn votes_set_aside_are_as_if_never_cast_and_what_they_open_is_given_to_others() {
    let (ws, file, votes) = voted();
    let rows = |ws: &Workspace| -> Tree {
        ws.derived().into_iter().filter(|(name, _)| name.starts_with("staged/")).collect()
    };
    let before = rows(&ws);
    let first = counted(&ws);
    import(&ws, &file, 0);
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    assert_eq!(counted(&ws)["confirmed"], votes);

    let looked = aside(&ws, 0, &["annotator-1", "--dry-run"]);
    assert!(looked.contains(&format!("{votes} votes of annotator-1 set aside")), "{looked}");
    assert!(looked.contains("nothing was changed") && !ws.exists(LOG), "{looked}");
    let unsigned = aside(&ws, 2, &["annotator-1", "--by", "meta-1"]);
    assert!(unsigned.contains("--why TEXT the reason"), "{unsigned}");
    aside(&ws, 2, &["nobody-1", "--by", "meta-1", "--reason", "no such person"]);
    assert!(aside(&ws, 2, &["annotator-1", "--from", "soon", "--dry-run"]).contains("YYYY-MM-DD"));
    let past = aside(&ws, 0, &["annotator-1", "--until", "2020-01-01", "--dry-run"]);
    assert!(past.contains("has no such votes"), "{past}");

    let log = ws.read("raw/votes/000001.jsonl");
    let done = aside(
        &ws,
        0,
        &["annotator-1", "--step", "review:screen", "--recipe", "chumor"]
            .iter()
            .chain(&SIGNED)
            .copied()
            .collect::<Vec<_>>(),
    );
    assert!(done.contains(&format!("{votes} items open again")), "{done}");
    assert_eq!(ws.read("raw/votes/000001.jsonl"), log, "the votes stay where they are");
    let tasks = ws.read(TASKS);
    let given = tasks.lines().filter(|line| line.contains("\"instead_of\":\"annotator-1\"")).count();
    assert_eq!(given, votes, "{tasks}");
    let now = counted(&ws);
    assert_eq!((&now["set_aside"], &now["confirmed"]), (&json!(votes), &first["confirmed"]));
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    assert_same(&before, &rows(&ws), "after setting aside");

    // The sheet that they came from brings nothing back, and says so.
    let again = import(&ws, &file, 3);
    assert!(again.contains("these votes were set aside"), "{again}");
    assert_eq!(counted(&ws)["confirmed"], first["confirmed"]);

    let listed = aside(&ws, 0, &[]);
    assert!(listed.contains("clicked through") && listed.contains("1 decision"), "{listed}");
    let id = listed.split(' ').next().unwrap().to_owned();
    let undo = ["--undo", id.as_str(), "--by", "meta-1", "--reason", "it was somebody else"];
    let undone = aside(&ws, 0, &undo);
    assert!(undone.contains(&format!("{votes} tasks")), "{undone}");
    let now = counted(&ws);
    assert_eq!((&now["set_aside"], &now["confirmed"]), (&json!(0), &json!(votes)));
    assert!(aside(&ws, 2, &undo).contains("has undone it already"));
    ws.call(["fsck"]).expect(0);
}

#[test]
fn a_persons_page_shows_their_votes_and_sets_them_aside() {
    let (ws, file, votes) = voted();
    import(&ws, &file, 0);
    let server = Server::start(&ws, &[]);
    let mut boss = Browser::default();
    let list = boss.get(&server, "/curate/people");
    assert!(list.status == 200 && list.body.contains("id=\"persons\""), "{}", list.body);
    let place = "/curate/people/annotator-1";
    assert!(list.body.contains(place), "{}", list.body);
    let page = boss.get(&server, place);
    assert!(page.status == 200 && page.body.contains(&format!("All votes: {votes}")), "{}", page.body);
    assert_eq!(boss.get(&server, "/curate/people/nobody-1").status, 404);
    let csrf = hidden(&page.body, "csrf");
    let mut post = |fields: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> =
            [("csrf", csrf.as_str()), ("as", "meta-1")].iter().chain(fields).copied().collect();
        boss.post(&server, place, &all)
    };
    assert_eq!(post(&[("action", "look")]).status, 400, "a reason is needed");
    let why = ("why", "clicked through");
    let preview = post(&[("action", "look"), why, ("place", "chumor/screen")]);
    assert!(preview.body.contains("id=\"preview\"") && !ws.exists(LOG), "{}", preview.body);
    assert_eq!(post(&[("action", "aside"), why, ("place", "chumor/screen")]).status, 303);
    assert_eq!(counted(&ws)["set_aside"], votes);
    let page = Browser::default().get(&server, place).body;
    assert!(page.contains("None of these votes counts.") && page.contains("clicked through"), "{page}");
    let undo = hidden(&page, "undo");
    assert_eq!(post(&[("action", "undo"), ("undo", &undo), why]).status, 303);
    assert_eq!(counted(&ws)["set_aside"], 0);
    assert_eq!(ws.read(LOG).lines().count(), 2, "both decisions stay on record");
    // Pressed twice, it is undone once.
    assert_eq!(post(&[("action", "undo"), ("undo", &undo), why]).status, 303);
    assert_eq!(ws.read(LOG).lines().count(), 2);
}

#[test]
fn the_page_of_trials_grades_votes_on_known_items_and_counts_attempts() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let gold: BTreeMap<String, String> = trials::known(&ws).into_iter().take(20).collect();
    let lines = gold.iter().map(|(item, kind)| json!({ "item": item, "answers": { "type": kind } }));
    ws.write("gold/flub.type.jsonl", lines.map(|line| format!("{line}\n")).collect::<String>());
    let place = ["type", "--recipe", "flub"];
    let right = |item: &str| match gold.get(item) {
        Some(kind) => json!({ "type": kind }),
        None => json!({}),
    };
    let (file, _) = filled(&ws, &place, "junior-1", right);
    ws.call(["review", "import"].iter().chain(&place).chain(&[file.as_str()])).expect(0);
    let server = Server::start(&ws, &["--set", "review.gold=gold"]);
    let mut boss = Browser::default();
    let address = "/curate/flub/type/trials";
    let page = boss.get(&server, address).body;
    assert!(
        page.contains("There are 20 known items") && page.contains("votes on known items: 20 of 20 right"),
        "{page}"
    );
    let csrf = hidden(&page, "csrf");
    assert_eq!(boss.post(&server, address, &[("csrf", &csrf)]).status, 303);
    // Nothing new is to be graded: pressed twice, it is one attempt.
    assert_eq!(boss.post(&server, address, &[("csrf", &csrf)]).status, 303);
    assert_eq!(ws.read("raw/votes/trials/flub.type.jsonl").lines().count(), 1);
    let page = boss.get(&server, address).body;
    assert!(page.contains("may be a senior") && page.contains("20 / 20"), "{page}");
    let progress = boss.get(&server, "/curate/flub/type").body;
    assert!(progress.contains("attempts at the trial: 1") && progress.contains(address), "{progress}");
    // Texts are graded by a person.
    let texts = boss.get(&server, "/curate/flub/explanation/trials").body;
    assert!(texts.contains("--sheet FILE.csv"), "{texts}");
    assert_eq!(boss.post(&server, "/curate/flub/explanation/trials", &[("csrf", &csrf)]).status, 400);
}

#[test]
fn whoever_misses_known_answers_gets_no_more_work_until_somebody_says_so() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let gold: BTreeMap<String, String> = trials::known(&ws).into_iter().take(14).collect();
    let lines = gold.iter().map(|(item, kind)| json!({ "item": item, "answers": { "type": kind } }));
    ws.write("gold/flub.type.jsonl", lines.map(|line| format!("{line}\n")).collect::<String>());
    let place = ["type", "--recipe", "flub"];
    let set = ["--set", "review.gold=gold", "--set", "review.gold_bound=0.6"];
    let assign = |more: &[&str], code: i32| {
        let result = ws.call(["review", "assign"].iter().chain(&place).chain(more).chain(&set)).expect(code);
        result.out + &result.err
    };
    // Without a folder of known answers a share of them is a mistake.
    let nothing =
        ws.call(["review", "assign"].iter().chain(&place).chain(&["--gold-share", "0.5"])).expect(2);
    assert!(nothing.err.contains("there are no known answers for type"), "{}", nothing.err);
    assign(&["--gold-share", "0.5"], 0);
    let tasks = ws.read("raw/votes/assigned/flub.type.jsonl");
    let mixed = |who: &str| {
        let theirs = |line: &&str| {
            line.contains(&format!("\"annotator\":\"{who}\"")) && line.contains("\"gold\":true")
        };
        tasks.lines().filter(theirs).count()
    };
    assert!(["junior-1", "junior-2", "junior-3"].iter().all(|who| mixed(who) >= 10), "{tasks}");

    let wrong = |item: &str| match gold.get(item).map(String::as_str) {
        Some("paradox") => json!({ "type": "reasoning_error" }),
        _ => json!({ "type": "paradox" }),
    };
    let (file, _) = filled(&ws, &place, "junior-1", wrong);
    ws.call(["review", "import"].iter().chain(&place).chain(&[file.as_str()])).expect(0);
    let stopped = assign(&[], 2);
    assert!(stopped.contains("junior-1: 0 of") && stopped.contains("--admit"), "{stopped}");
    assert!(assign(&["--to", "junior-1"], 2).contains("below review.gold_bound"));
    let export = ["review", "export", "type", "--recipe", "flub", "--annotator", "junior-1"];
    let sheet = ws.call(export.iter().chain(&set)).expect(2);
    assert!(sheet.err.contains("below review.gold_bound"), "{}", sheet.err);
    // Without the bound nobody is stopped.
    ws.call(["review", "assign"].iter().chain(&place)).expect(0);

    let server = Server::start(&ws, &set);
    let answer = server.get("/review/flub/type/vote?as=junior-1");
    assert!(answer.status == 403 && answer.body.contains("You get no more items here"), "{}", answer.body);
    assert_eq!(server.get("/review/flub/type/vote?as=junior-2").status, 200);
    let page = server.get("/curate/people/junior-1").body;
    assert!(page.contains("id=\"stopped\"") && page.contains("known answer: wrong"), "{page}");
    // What they answered before then no longer counts; votes cast within the same second as the word would.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let admitted = aside(&ws, 0, &["junior-1", "--admit", "--by", "meta-1", "--reason", "talked it over"]);
    assert!(admitted.contains("gets work again"), "{admitted}");
    assign(&[], 0);
    assert_eq!(server.get("/review/flub/type/vote?as=junior-1").status, 200);
}
