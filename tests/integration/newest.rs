//! A release is based on the newest votes, replies, settings and dumps, or is refused; and a candidate
//! contains what reached the end of its recipe.

use serde_json::{Value, json};

use crate::browser::Server;
use crate::harness::{Workspace, title};
use crate::reviewed::{GEN, Reviewed, item, release};

/// Questions written for these tests, in the published form.
fn questions() -> Vec<serde_json::Map<String, Value>> {
    let plain = "3(Erroneous Assumption), 5(Absurd Imagination)";
    let one = |zh, en, why| item(zh, en, why, None, plain);
    vec![
        one("风筝断了线会不会想家？", "Does a kite miss home once its string breaks?", "Kites miss nothing."),
        one("枕头晚上枕着什么睡？", "What does a pillow rest on at night?", "A pillow does not sleep."),
        one("地铁钻出地面会不会害羞？", "Is the metro shy above ground?", "Trains are not shy."),
    ]
}

fn reject(people: &Reviewed, zh: &str) {
    for who in ["annotator-1", "annotator-2", "annotator-3"] {
        people.vote_again("screen", who, zh, &json!({ "screen": ["untranslatable"] }));
    }
}

fn zh(item: &serde_json::Map<String, Value>) -> &str {
    item["question_zh"].as_str().unwrap()
}

/// Makes the workspace look up to date in some way, and checks why the release is refused.
fn refused(ws: &Workspace, more: &[&str], stage: &str, change: &str) {
    let candidate = format!("output/{GEN}/candidate");
    let result = release(ws, more).expect(2);
    for word in [stage, change, "hint: `riddlemill run --recipe ruozhibench-gen`", "--draft"] {
        assert!(result.err.contains(word), "no {word:?}: {}", result.err);
    }
    let export = ["export", &candidate, "csv", "rows.csv"];
    let result = ws.call(export.iter().chain(more)).expect(2);
    assert!(
        result.err.contains(stage) && result.err.contains(change) && !ws.exists("rows.csv"),
        "{}",
        result.err
    );
    let audited = ws.call(["audit", "--recipe", GEN].iter().chain(more)).expect(1).out;
    assert!(
        audited.contains("candidate: it does not match raw/ and the settings") && audited.contains(change),
        "{audited}"
    );
    let verified = ws.call(["verify", &candidate, "--raw"].iter().chain(more)).expect(1).out;
    assert!(verified.contains(change), "{verified}");
}

#[test]
fn votes_settings_and_dumps_that_are_newer_refuse_a_release() {
    let mut people = Reviewed::new();
    let all = questions();
    people.add(&all[..2]);
    let ws = &people.ws;
    ws.call(["audit", "--recipe", GEN]).expect(0);
    refused(ws, &["--set", "filter.max_chars=30"], "filter", "max_chars 100000 -> 30");

    reject(&people, zh(&all[0]));
    refused(ws, &[], "review:screen", "3 new votes");
    // A draft is allowed, and is marked as one wherever it is shown.
    let result = release(ws, &["--draft"]).expect(0);
    assert!(result.out.contains("1.0.0-draft.1") && result.out.contains("3 new votes"), "{}", result.out);
    let card = ws.read(&format!("output/{GEN}/1.0.0-draft.1/README.md"));
    assert!(card.contains("built before this change") && card.contains("3 new votes"), "{card}");
    let candidate = format!("output/{GEN}/candidate");
    let result = ws.call(["export", &candidate, "csv", "draft.csv", "--draft"]).expect(0);
    assert!(result.err.contains("a draft") && result.err.contains("3 new votes"), "{}", result.err);
    // A copy elsewhere and a stage are not affected.
    ws.call(["export", &format!("output/{GEN}/1.0.0-draft.1"), "csv", "copy.csv"]).expect(0);
    ws.call(["export", &format!("staged/{GEN}/05_dedup"), "csv", "stage.csv"]).expect(0);

    // A run that stops before the end.
    ws.call(["run", "--recipe", GEN, "--offline", "--to", "review:screen"]).expect(0);
    let result = release(ws, &[]).expect(2);
    assert!(result.err.contains("input review:screen changed"), "{}", result.err);
    people.run();
    let actual: Value = serde_json::from_str(&release(ws, &["--json"]).expect(0).out).unwrap();
    assert_eq!((&actual["version"], &actual["rows"][GEN]), (&json!("1.0.0"), &json!(1)));
    ws.call(["verify", &format!("output/{GEN}/1.0.0"), "--raw"]).expect(0);

    ws.write("raw/dumps/9.json", title(900_001, zh(&all[2])) + "\n");
    refused(ws, &[], "import", "posts/9.json");
}

#[test]
fn a_draft_may_be_asked_for() {
    let mut people = Reviewed::new();
    people.add(&questions()[..1]);
    let result = people.release(&["--draft"]).expect(0);
    assert!(
        result.out.contains("1.0.0-draft.1") && result.out.contains("asked for as a draft"),
        "{}",
        result.out
    );
    let result = people.release(&["--draft", "--version", "1.0.0"]).expect(2);
    assert!(result.err.contains("cannot be stable"), "{}", result.err);
    assert!(people.release(&[]).expect(0).out.contains(&format!("{GEN} 1.0.0: ")));
}

#[test]
fn a_set_that_goes_on_from_another_follows_from_that_ones_votes() {
    const MC: &str = "ruozhibench-mc";
    let ws = Workspace::sample();
    let all = ws.read("raw/sample/votes.jsonl");
    ws.call(["run", "--recipe", GEN, "--recipe", MC, "--offline"]).expect(0);
    let fewer: String = all.lines().skip(1).map(|line| format!("{line}\n")).collect();
    ws.write("raw/sample/votes.jsonl", fewer);
    let result = ws.call(["release", MC, "--date", "2026-01-02"]).expect(2);
    assert!(result.err.contains("ruozhibench-gen review:screen: votes changed"), "{}", result.err);
    ws.write("raw/sample/votes.jsonl", all);
    ws.call(["release", MC, "--date", "2026-01-02"]).expect(0);
}

#[test]
fn a_candidate_holds_what_reached_the_end() {
    let ws = Workspace::with_dump("leymore-titles", title(1, "冰块怕热还是怕化？") + "\n");
    let result = ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    assert!(result.err.contains("flub: 0 items at the end -> "), "{}", result.err);
    assert!(result.err.contains("flub review:clean: 1 waits for votes: "), "{}", result.err);
    assert!(ws.candidates("flub").is_empty());
    let text = ws.read("output/flub/candidate/MANIFEST.json");
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert!(manifest.get("date").is_none(), "{text}");
    assert_eq!(manifest["left_out"][0]["items"]["first"], json!(["tieba:1"]), "{text}");
    for (path, bytes) in ws.derived().iter().filter(|(path, _)| path.starts_with("output/")) {
        assert!(!String::from_utf8_lossy(bytes).contains("1970-01-01"), "{path}");
    }
    ws.call(["verify", "output/flub/candidate", "--raw"]).expect(0);
    ws.audit_clean();
    let result = ws.call(["release", "flub", "--draft"]).expect(2);
    assert!(result.err.contains("0 items of flub reached its end; 1 held at "), "{}", result.err);
    // The posts are read where they wait.
    let rows = ws.call(["show", "dedup", "--recipe", "flub"]).expect(0).out;
    assert!(rows.contains("冰块怕热还是怕化？"), "{rows}");
}

#[test]
fn a_candidate_is_as_new_as_its_newest_vote() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let manifest: Value =
        serde_json::from_str(&ws.read(&format!("output/{GEN}/candidate/MANIFEST.json"))).unwrap();
    let newest = ws.read("raw/sample/votes.jsonl");
    let days = newest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let newest = days.map(|vote| vote["at"].as_str().unwrap()[..10].to_string()).max().unwrap();
    assert!(manifest["date"].as_str().unwrap() >= &newest[..], "{} {newest}", manifest["date"]);
}

#[test]
fn what_drops_out_is_counted_and_named() {
    let ws = Workspace::sample();
    let all = ws.read("raw/sample/votes.jsonl");
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let item = ws.candidates(GEN)[0]["source_id"].as_str().unwrap().to_string();
    release(&ws, &[]).expect(0);
    let without = |line: &&str| !line.contains(&format!("\"item\":\"{item}\""));
    let fewer: String = all.lines().filter(without).map(|line| format!("{line}\n")).collect();
    ws.write("raw/sample/votes.jsonl", fewer);
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let result = release(&ws, &[]).expect(0).out;
    let line = result.lines().find(|line| line.contains("held at review:screen (votes_missing)"));
    assert!(line.is_some_and(|line| line.contains("left out: ")), "{result}");
    let place = format!("output/{GEN}/1.0.0-draft.2");
    let card = ws.read(&format!("{place}/README.md"));
    assert!(
        card.contains("Left out because they wait or failed") && card.contains(&format!("`{item}`")),
        "{card}"
    );
    let diff =
        ws.call(["diff", &format!("output/{GEN}/1.0.0-draft.1"), &place, "--html", "d.html"]).expect(1).out;
    assert!(diff.contains("left out now: ") && diff.contains("review:screen (votes_missing)"), "{diff}");
    assert!(ws.read("d.html").contains(&item));
    ws.call(["verify", &place, "--raw"]).expect(0);
}

#[test]
fn released_rows_are_followed() {
    let mut people = Reviewed::new();
    let all = questions();
    people.add(&all);
    people.release(&[]).expect(0);
    let status = || people.ws.call(["status", "--recipe", GEN]).expect(0).out;
    assert!(status().contains("released 1.0.0 (2026-01-02): all rows as they were released"), "{}", status());
    reject(&people, zh(&all[0]));
    for who in ["annotator-1", "annotator-2"] {
        people.vote_again("category", who, zh(&all[1]), &json!({ "categories": ["6"], "sure": "yes" }));
    }
    let reworded =
        json!({ "verdict": "rewrite", "irrationality": "A metro is a machine and knows no shame." });
    people.vote_again("irrationality", "annotator-1", zh(&all[2]), &reworded);
    people.run();
    let actual = status();
    let line = |fate: &str| {
        let found = actual.lines().find(|line| line.trim_start().starts_with(fate));
        found.unwrap_or_else(|| panic!("no {fate}: {actual}")).to_string()
    };
    assert!(
        line("rejected").contains("review:screen dropped rejected") && line("rejected").contains("vote:")
    );
    assert!(line("edited").contains("categories") && line("edited").contains("review:category changed"));
    // Decisions about the old text are asked for again.
    line("held");
    assert!(actual.contains("of 3 rows since"), "{actual}");
    let json: Value =
        serde_json::from_str(&people.ws.call(["status", "--recipe", GEN, "--json"]).expect(0).out).unwrap();
    let released: Vec<&Value> =
        json.as_array().unwrap().iter().filter_map(|one| one.get("released")).collect();
    assert_eq!((released.len(), &released[0]["rows"]), (1, &json!(3)));
    assert_eq!(released[0]["otherwise"][0]["fate"], "rejected");
    let server = Server::start(&people.ws, &[]);
    let page = server.get(&format!("/{GEN}/release/1.0.0")).body;
    assert!(
        page.contains("Since it was released") && page.contains("review:screen dropped rejected"),
        "{page}"
    );
    assert!(server.get("/releases").body.contains("/ 3</a>"));
}
