//! `examples/traps`: two languages in one folder, from the dumps to a release. What a model notices is dropped for the folder's
//! own reason, edits become records of their own, and a rewrite that the folder does not allow is refused.

use serde_json::{Value, json};

use crate::browser::{Browser, Server, hidden, item};
use crate::harness::{CallResult, Workspace};
use crate::own::{example, vote};

const NAME: &str = "traps";
const LIMIT: &str = "Change at least one character and at most twelve.";

fn decide(ws: &Workspace, args: &[&str]) -> CallResult {
    let by = ["--by", "senior-1", "--why", "looked at it"];
    ws.call(["decide"].iter().chain(args).chain(&by))
}

/// A sheet of the ballot with these answers to every item, imported.
fn import(ws: &Workspace, who: &str, answers: &Value) -> CallResult {
    ws.call(["review", "assign", "fair", "--recipe", NAME]).expect(0);
    let export = ["review", "export", "fair", "--recipe", NAME, "--annotator", who, "--format", "jsonl"];
    ws.call(export).expect(0);
    let sheet = format!("{NAME}.fair.{who}.jsonl");
    let fill = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["answers"].as_object_mut().unwrap().extend(answers.as_object().unwrap().clone());
        format!("{row}\n")
    };
    let filled: String = ws.read(&sheet).lines().map(fill).collect();
    ws.write(&sheet, filled);
    let result = ws.call(["review", "import", "fair", &sheet, "--recipe", NAME]);
    ws.remove(&sheet);
    result
}

/// Everybody accepts the edits in the language they read, and one trap tempts nobody.
fn all_vote(ws: &Workspace) {
    for who in ["annotator-zh", "annotator-en"] {
        vote(ws, NAME, "fair", who, |see| {
            let trap = see["trap"].as_str().unwrap();
            let chinese = trap.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
            assert_eq!(chinese, who == "annotator-zh", "{who} does not read {trap}");
            let tempting = if trap.contains("on Sundays") { 2 } else { 4 };
            json!({ "verdict": "accept", "tempting": tempting })
        });
    }
}

#[test]
fn traps_in_two_languages_go_from_dumps_to_a_release() {
    let ws = example(NAME);
    let checked = ws.call(["benchmark", "check", NAME]).expect(0);
    assert!(checked.out.contains("no problem in traps"), "{}", checked.out);
    ws.run();
    let reasons = ws.reasons(NAME);
    assert_eq!(reasons["dropped/too_easy"], 2, "{reasons:?}");
    assert_eq!(reasons["held/long_trap"], 1, "{reasons:?}");

    // A rule of the folder is told in its words, with what it saw.
    let out = ws.call(["explain", "en:2", "--recipe", NAME]).expect(0).out;
    assert!(out.contains("left out (dropped)") && out.contains("dropped (too_easy)"), "{out}");
    assert!(out.contains("Several of the models that were asked notice the trap."), "{out}");
    assert!(out.contains("noticing = [\"plain\",\"careful\"]"), "{out}");
    // One model alone may notice it, and one reply of three is no majority.
    assert!(ws.explain(NAME, "zh:3")["way"].to_string().contains("became zh:3/1"));
    let told = ws.call(["show", "grade", "--recipe", NAME, "--json"]).expect(0).out;
    let told: Value = serde_json::from_str(&told).unwrap();
    let graded = |id: &str, model: &str| -> (String, usize) {
        let rows = told[0]["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id}: {told}"));
        let groups: Value = serde_json::from_str(row["row"]["groups"].as_str().unwrap()).unwrap();
        let each = groups["grade"]["each"].as_array().unwrap_or_else(|| panic!("no grades: {row}"));
        let of = each.iter().find(|graded| graded["called"] == model).unwrap();
        (of["noticed"].as_str().unwrap().to_owned(), of["drafts"].as_array().unwrap().len())
    };
    assert_eq!(graded("en:1", "careful"), ("no".to_owned(), 3));
    assert_eq!(graded("zh:3", "careful"), ("yes".to_owned(), 3));
    let report = ws.call(["report", "--recipe", NAME]).expect(0).out;
    assert!(report.contains("Several of the models that were asked notice the trap."), "{report}");

    // An element's record names the one that it is of, and the other way round.
    let out = ws.call(["explain", "en:1", "--recipe", NAME]).expect(0).out;
    assert!(out.contains("became en:1/1, en:1/2"), "{out}");
    let out = ws.call(["explain", "en:1/2", "--recipe", NAME]).expect(0).out;
    assert!(out.contains("made of") && out.contains("-> en:1/2"), "{out}");
    assert_eq!(ws.explain(NAME, "en:1/2")["of"], "en:1");

    // Each model was asked in the language of the question.
    let asked = |record: &str| ws.call(["explain", record, "--recipe", NAME, "--full"]).expect(0).out;
    assert!(asked("zh:1").contains("traps/tries_zh") && !asked("zh:1").contains("traps/tries "));
    assert!(asked("en:1").contains("traps/tries ") && !asked("en:1").contains("traps/tries_zh"));

    all_vote(&ws);
    ws.run();
    ws.audit_clean();
    // A question and its edits are in one split.
    let split = |name: &str| -> Vec<Value> {
        let text = ws.read(&format!("output/traps/candidate/data/traps/{name}.jsonl"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (test, shots) = (split("test"), split("fewshot"));
    let of_trap = |rows: &[Value]| rows.iter().map(|row| row["trap_id"].clone()).collect::<Vec<_>>();
    assert!(!shots.is_empty() && of_trap(&shots).iter().all(|id| !of_trap(&test).contains(id)), "{shots:?}");
    let rows = [test, shots].concat();
    let of =
        |key: &str| -> Vec<String> { rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect() };
    let mut ids = of("id");
    ids.sort();
    assert_eq!(ids, ["en:1/1", "en:1/2", "zh:1/1", "zh:3/1", "zh:3/2"]);
    assert!(rows.iter().all(|row| {
        let language = row["id"].as_str().unwrap().split(':').next().unwrap();
        row["language"] == language
    }));

    // What the set does not take is a step of its own: neither kept to the end, nor waited for.
    let out = ws.call(["explain", "en:3/1", "--recipe", NAME]).expect(0).out;
    assert!(out.contains("left out (dropped)") && !out.contains("kept to the end"), "{out}");
    assert!(
        out.contains("not_tempting") && out.contains("People find that nobody would fall for it."),
        "{out}"
    );
    assert!(out.contains("fair.tempting = 2"), "{out}");
    let report = ws.call(["report", "--recipe", NAME]).expect(0).out;
    assert!(
        report.contains("[data] when") && report.contains("People find that nobody would fall"),
        "{report}"
    );
    let card = ws.read("output/traps/candidate/README.md");
    assert!(card.contains("`too_easy`: Several of the models that were asked notice the trap."), "{card}");
    assert!(card.contains("| [data] when | 6 | 5 |"), "{card}");
    let (waits, by_rule) =
        card.split_once("Left out by a condition of the benchmark:").expect("a list of its own");
    assert!(by_rule.contains("not_tempting: People find that nobody would fall for it."), "{card}");
    let later = waits.split("a later version may include them").nth(1).expect("a list of those that wait");
    assert!(!later.contains("not_tempting"), "{later}");

    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    ws.call(["verify", "output/traps/1.0.0", "--raw"]).expect(0);
    let before = ws.derived();
    ws.remove("staged");
    ws.remove("output/traps/candidate");
    ws.run();
    crate::harness::assert_same(&before, &ws.derived(), "made anew");
    let evaluated = ws.call(["evaluate", NAME, "--model", "first-option", "--split", "test"]).expect(0).out;
    assert!(evaluated.contains("first-option") && evaluated.contains("pass@3"), "{evaluated}");
    // Solved examples come from their own split.
    let evaluate = ["evaluate", NAME, "--model", "first-option", "--split", "test", "--shots", "1"];
    ws.call(evaluate.iter().chain(&["--out", "shown"])).expect(0);
    let answers = ws.read("shown/answers.jsonl");
    assert!(answers.lines().count() == 9 && answers.lines().all(|line| line.contains("1-shot")), "{answers}");
}

/// A row of an element has no record any more once the record that it was an element of is left out.
#[test]
fn a_diff_tells_what_left_out_the_record_of_an_element() {
    let ws = example(NAME);
    ws.run();
    all_vote(&ws);
    ws.run();
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    let diff = || {
        let (before, now) = ("output/traps/1.0.0", "output/traps/candidate");
        let told = ws.call(["diff", before, now, "--json"]).expect(1).out;
        let found: Value = serde_json::from_str(&told).unwrap();
        let configs = found["configs"].as_array().unwrap();
        let removed: Vec<&Value> =
            configs.iter().flat_map(|config| config["removed"].as_array().unwrap()).collect();
        let cause =
            |row: &Value| (row["id"].as_str().unwrap().to_owned(), row["cause"].as_str().unwrap().to_owned());
        removed.into_iter().map(cause).collect::<Vec<_>>()
    };
    // By a rule of the folder.
    let toml = "benchmarks/traps/benchmark.toml";
    let written = ws.read(toml);
    ws.write(toml, written.replace("length > 1\"", "length > 1 or 'round' in text\""));
    ws.run();
    let removed = diff();
    assert_eq!(removed.len(), 2, "{removed:?}");
    for (id, cause) in &removed {
        assert!(id.starts_with("en:1/") && cause.starts_with("hard dropped too_easy"), "{id}: {cause}");
    }
    // By a person.
    ws.write(toml, written);
    decide(&ws, &["hold", "zh:1", "--recipe", NAME, "--stage", "long"]).expect(0);
    ws.run();
    let removed = diff();
    assert_eq!(removed.len(), 1, "{removed:?}");
    assert!(removed[0].0 == "zh:1/1" && removed[0].1.starts_with("long held decided_hold"), "{removed:?}");
}

#[test]
fn a_rewrite_that_breaks_a_requirement_is_stored_nowhere() {
    let ws = example(NAME);
    ws.run();
    let far = json!({ "verdict": "rewrite", "edited": "这是另一个毫不相干而且很长的问题，对不对呢？", "tempting": 3 });
    let refused = import(&ws, "annotator-zh", &far);
    let told = format!("{}{}", refused.out, refused.err);
    assert!(told.contains(LIMIT), "{told}");
    ws.run();
    assert!(ws.reasons(NAME).keys().all(|reason| reason != "changed/rewritten"), "{:?}", ws.reasons(NAME));
    // One that does not change anything is none, and one within the limits is.
    let near = json!({ "verdict": "accept", "tempting": 3 });
    let taken = import(&ws, "annotator-zh", &near);
    assert_eq!(taken.code, 0, "{}{}", taken.out, taken.err);

    // Votes from before there was a requirement are not taken silently either.
    let toml = "benchmarks/traps/ballots.toml";
    let strict = ws.read(toml).replace("<= 12\"", "<= 1\"").replace("at most twelve", "no more");
    ws.write(toml, strict);
    let told = ws.run();
    let reasons = ws.reasons(NAME);
    assert_eq!(reasons["held/requirement_broken"], 3, "{reasons:?}");
    let told = format!("{}{}", told.out, told.err);
    assert!(told.contains("3 wait for a person: Change at least one character and no more."), "{told}");
}

#[test]
fn the_page_refuses_with_the_sentence_of_the_folder() {
    let ws = example(NAME);
    ws.run();
    let server = Server::start(&ws, &[]);
    let place = "/review/traps/fair/vote";
    let mut one = Browser::default();
    let page = one.get(&server, &format!("{place}?as=annotator-en")).body;
    let (id, hash, base) = item(&page);
    // The id of an element's record has a stroke, which a page escapes.
    let id = id.replace("&#x2f;", "/");
    let csrf = hidden(&page, "csrf");
    let long = "Quite another question, which has nothing to do with it, is it not?";
    let fields = [
        ("csrf", csrf.as_str()),
        ("as", "annotator-en"),
        ("item", &id),
        ("hash", &hash),
        ("base", &base),
        ("f.verdict", "rewrite"),
        ("f.edited", long),
        ("f.tempting", "3"),
    ];
    let refused = one.post(&server, place, &fields).body;
    assert!(refused.contains(LIMIT), "{refused}");
    assert!(!ws.exists("raw/votes/000001.jsonl") || !ws.read("raw/votes/000001.jsonl").contains(long));
}

#[test]
fn a_person_overrules_a_selecting_step_and_a_draft_that_breaks_a_requirement_fails_with_its_sentence() {
    let ws = example(NAME);
    ws.run();
    decide(&ws, &["keep", "en:2", "--recipe", NAME]).expect(0);
    decide(&ws, &["keep", "zh:4", "--recipe", NAME]).expect(0);
    decide(&ws, &["drop", "en:1", "--recipe", NAME, "--stage", "hard"]).expect(0);
    ws.call(["run", "--offline"]);
    let at = |record: &str, stage: &str| {
        let explained = ws.explain(NAME, record);
        let mut way = explained["way"].as_array().unwrap().iter();
        let found = way.rfind(|passage| passage["stage"] == stage).cloned().unwrap_or_default();
        (
            format!("{}/{}", found["outcome"].as_str().unwrap_or(""), found["reason"].as_str().unwrap_or("")),
            found,
        )
    };
    assert_eq!(at("en:2", "hard").0, "changed/decided_keep");
    assert!(at("en:2", "hard").1["evidence"].as_str().unwrap().contains("by rule dropped (too_easy)"));
    assert_eq!(at("en:1", "hard").0, "dropped/decided_drop");
    assert_eq!(at("zh:4", "long").0, "changed/decided_keep");
    let (state, failed) = at("zh:4", "changes");
    assert_eq!(state, "failed/reply_unparseable");
    let evidence = failed["evidence"].as_str().unwrap();
    assert!(evidence.contains("The first edit changes more than twelve characters."), "{evidence}");
    ws.audit_clean();
}
