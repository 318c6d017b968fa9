//! Versions: how they are named, what they contain, and that they are immutable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::harness::{Tree, Workspace, assert_same};
use crate::reviewed::{GEN, Reviewed, item, release, vote};

/// The rows of a release: record and id.
fn ids(ws: &Workspace, version: &str) -> BTreeMap<String, String> {
    let text = ws.read(&format!("output/{GEN}/{version}/data/{GEN}/test.jsonl"));
    let id = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["source_id"].as_str().unwrap().to_string(), row["id"].as_str().unwrap().to_string())
    };
    text.lines().map(id).collect()
}

fn number(id: &str) -> u64 {
    id.strip_prefix("RB-").unwrap().parse().unwrap()
}

/// The values of one column in the rows of a release or candidate, by record.
fn column(ws: &Workspace, place: &str, recipe: &str, name: &str) -> BTreeMap<String, Value> {
    let text = ws.read(&format!("output/{recipe}/{place}/data/{recipe}/test.jsonl"));
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["source_id"].as_str().unwrap().to_string(), row[name].clone())).collect()
}

/// The sample's votes on items of some classes of six.
fn votes_of(all: &str, classes: &[u64]) -> String {
    let of = |line: &&str| {
        let vote: Value = serde_json::from_str(line).unwrap();
        let class = vote["item"].as_str().unwrap().bytes().map(u64::from).sum::<u64>() % 6;
        classes.contains(&class)
    };
    all.lines().filter(of).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_question_has_one_number_in_both_sets() {
    const MC: &str = "ruozhibench-mc";
    let ws = Workspace::sample();
    let all = ws.read("raw/sample/votes.jsonl");
    let run = |classes: &[u64]| {
        ws.write("raw/sample/votes.jsonl", votes_of(&all, classes));
        ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
        // The sample's responses to questions that this set lacks are not an error.
        ws.call(["run", "--recipe", MC, "--offline"]).expect(0);
    };
    let numbers = |recipe: &str, place: &str| column(&ws, place, recipe, "index");
    let agree = |place: &str, gen_place: &str| {
        let (own, theirs) = (numbers(MC, place), numbers(GEN, gen_place));
        assert!(own.len() > 5 && own.len() < theirs.len(), "{} of {}", own.len(), theirs.len());
        for (record, number) in &own {
            assert_eq!(Some(number), theirs.get(record), "{record}");
        }
        own
    };
    // The set of options is released first, and questions are added and removed before the other one is.
    run(&[0, 2, 4]);
    ws.call(["release", MC, "--date", "2026-01-02"]).expect(0);
    let first = agree("1.0.0-draft.1", "candidate");
    run(&[1, 2, 3, 4]);
    ws.call(["release", GEN, "--date", "2026-01-02"]).expect(0);
    ws.call(["verify", &format!("output/{GEN}/1.0.0-draft.1"), "--raw"]).expect(0);
    let second = agree("candidate", "1.0.0-draft.1");
    let stayed = first.iter().filter(|(record, _)| second.contains_key(*record));
    assert!(stayed.clone().count() > 2, "{first:?} {second:?}");
    assert!(stayed.into_iter().all(|(record, number)| second[record] == *number));
    let taken: BTreeSet<u64> = first.values().filter_map(Value::as_u64).collect();
    let new = second.iter().filter(|(record, _)| !first.contains_key(*record));
    assert!(new.into_iter().all(|(_, number)| !taken.contains(&number.as_u64().unwrap())));
}

#[test]
fn numbers_are_for_good_and_every_version_comes_back() {
    let ws = Workspace::sample();
    let all = ws.read("raw/sample/votes.jsonl");
    let mut seen: Vec<BTreeMap<String, String>> = Vec::new();
    for (i, classes) in [&[0, 2, 4][..], &[1, 2, 3, 4], &[0, 1, 2, 3, 4, 5]].iter().enumerate() {
        ws.write("raw/sample/votes.jsonl", votes_of(&all, classes));
        ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
        let result = release(&ws, &["--json"]).expect(0);
        let actual: Value = serde_json::from_str(&result.out).unwrap();
        let version = format!("1.0.0-draft.{}", i + 1);
        assert_eq!(actual["version"], version);
        seen.push(ids(&ws, &version));
    }
    let [first, second, third] = &seen[..] else { unreachable!() };
    let gone: BTreeSet<&String> = first.keys().filter(|record| !second.contains_key(*record)).collect();
    assert!(gone.len() > 3 && first.len() > gone.len() + 3 && third.len() > second.len(), "{gone:?}");
    let latest = first.values().map(|id| number(id)).max().unwrap();
    assert_eq!(latest, first.len() as u64, "from 1, without a gap");
    for (record, id) in second {
        match first.get(record) {
            Some(before) => assert_eq!(id, before),
            None => assert!(number(id) > latest, "{id} of {record} was another's"),
        }
    }
    for (record, id) in third {
        let before = first.get(record).or_else(|| second.get(record));
        assert!(before.is_none_or(|before| before == id), "{record} is {id}, was {before:?}");
    }
    assert_eq!(third.values().collect::<BTreeSet<_>>().len(), third.len());
    let log = ws.read(&format!("output/{GEN}/1.0.0-draft.2/CHANGELOG.md"));
    assert!(gone.iter().all(|record| log.contains(&format!("`{}`", first[*record]))), "{log}");

    // A released row, and one that is no longer in the candidate, are explained by their ids.
    for id in [third.values().next().unwrap(), &first[*gone.first().unwrap()].as_str()[..].to_string()] {
        let actual = ws.call(["explain", id, "--recipe", GEN, "--full"]).expect(0).out;
        for piece in ["import", "prompt", "reply", "vote", "review:pair"] {
            assert!(actual.contains(piece), "{id}: no {piece}: {actual}");
        }
    }

    let diff = |more: &[&str]| {
        let (one, two) = (format!("output/{GEN}/1.0.0-draft.1"), format!("output/{GEN}/1.0.0-draft.2"));
        ws.call(["diff", &one, &two].iter().chain(more))
    };
    // Ledgers describe the current run: the second one.
    ws.write("raw/sample/votes.jsonl", votes_of(&all, &[1, 2, 3, 4]));
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let found: Value = serde_json::from_str(&diff(&["--json"]).expect(1).out).unwrap();
    let found = &found["configs"][0];
    let side = |name: &str| found[name].as_array().unwrap().clone();
    assert_eq!(side("removed").len(), gone.len());
    for row in side("removed") {
        let cause = row["cause"].as_str().unwrap();
        assert!(cause.starts_with("review:screen held votes_missing"), "{cause}");
    }
    assert_eq!(side("added").len(), second.keys().filter(|r| !first.contains_key(*r)).count());
    for row in side("added") {
        assert!(row["cause"].as_str().unwrap().contains("review:screen: "), "{row}");
    }
    assert_eq!((side("changed").len(), &found["moved"]), (0, &json!(false)));
    let text = diff(&["--html", "diff.html"]).expect(1).out;
    let page = ws.read("diff.html");
    for row in side("added").iter().chain(&side("removed")) {
        let id = row["id"].as_str().unwrap();
        assert!(text.contains(id) && page.contains(id), "{id}");
    }

    let output = ws.derived();
    ws.remove("output");
    let result = ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    assert_eq!(result.err.matches("restored from raw/releases").count(), 3, "{}", result.err);
    assert_same(&output, &ws.derived(), "after rm -rf output");
}

#[test]
fn what_people_decide_is_named_as_the_cause() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    release(&ws, &[]).expect(0);
    let row = ws.candidates(GEN).remove(0);
    let zh = row["question_zh"].as_str().unwrap().to_string();
    let other = if row["categories"] == json!([6]) { "5" } else { "6" };
    for who in ["annotator-1", "annotator-2"] {
        let answer = |asked: &str| (asked == zh).then(|| json!({ "categories": [other], "sure": "yes" }));
        assert_eq!(vote(&ws, "category", who, answer), 1);
    }
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let (one, two) = (format!("output/{GEN}/1.0.0-draft.1"), format!("output/{GEN}/candidate"));
    let result = ws.call(["diff", &one, &two]).expect(1).out;
    assert!(result.contains("1 changed") && result.contains("category_names: rows by value"), "{result}");
    let found: Value = serde_json::from_str(&ws.call(["diff", &one, &two, "--json"]).expect(1).out).unwrap();
    let changed = found["configs"][0]["changed"].as_array().unwrap();
    assert_eq!((changed.len(), &changed[0]["id"]), (1, &row["id"]));
    let fields = changed[0]["fields"].as_array().unwrap();
    let columns: BTreeSet<&str> = fields.iter().map(|f| f["column"].as_str().unwrap()).collect();
    assert_eq!(columns, BTreeSet::from(["categories", "category_names", "category_status"]));
    for field in fields {
        let cause = field["cause"].as_str().unwrap();
        assert!(cause.starts_with("review:category changed") && cause.contains("vote:"), "{cause}");
    }
}

/// Questions written for these tests, in the published form.
fn questions() -> Vec<serde_json::Map<String, Value>> {
    let plain = "3(Erroneous Assumption), 5(Absurd Imagination)";
    vec![
        item(
            "雨伞为什么怕晒太阳？",
            "Why is an umbrella afraid of the sun?",
            "Umbrellas fear nothing.",
            None,
            plain,
        ),
        item(
            "闹钟睡过头了谁来叫它？",
            "Who wakes an alarm clock that overslept?",
            "Alarm clocks do not sleep.",
            Some("Who wakes a person that overslept?"),
            "1(Logical Error), 3(Erroneous Assumption)",
        ),
        item(
            "楼梯累了能坐电梯吗？",
            "May tired stairs take the lift?",
            "Stairs do not tire.",
            None,
            "6(Others)",
        ),
        item("影子会不会晒黑？", "Can a shadow get tanned?", "A shadow has no skin.", None, plain),
    ]
}

#[test]
fn the_version_follows_from_what_changed() {
    let mut people = Reviewed::new();
    let all = questions();
    people.add(&all[..2]);
    let version = |more: &[&str]| {
        let result = people_release(&people, more);
        result["version"].as_str().unwrap().to_string()
    };
    assert_eq!(version(&[]), "1.0.0", "people confirmed everything");
    people.release(&[]).expect(2);
    assert!(people.release(&[]).err.contains("nothing changed since"));
    assert!(people.release(&["--version", "1.0.0"]).expect(2).err.contains("versions are never overwritten"));
    assert_eq!(version(&["--version", "1.0.1"]), "1.0.1", "the same rows anew are a PATCH");
    let first = ids(&people.ws, "1.0.0");

    people.add(&all[2..3]);
    let result = people.release(&["--version", "1.0.2"]).expect(2);
    assert!(result.err.contains("too small") && result.err.contains("hint: 1.1.0"), "{}", result.err);
    let actual = people_release(&people, &[]);
    assert_eq!((&actual["version"], &actual["bump"]), (&json!("1.1.0"), &json!("minor")));
    assert!(first.iter().all(|(record, id)| ids(&people.ws, "1.1.0")[record] == *id));

    let other = json!({ "verdict": "rewrite", "irrationality": "An umbrella is a thing and fears nothing." });
    let zh = all[0]["question_zh"].as_str().unwrap();
    people.vote_again("irrationality", "annotator-1", zh, &other);
    people.run();
    // Categories and pair were decided on another analysis: they are asked for again.
    people
        .vote("category", |asked| (asked == zh).then(|| json!({ "categories": ["3", "5"], "sure": "yes" })));
    people.run();
    people.vote("pair", |asked| (asked == zh).then(|| json!({ "pairing": "none" })));
    people.run();
    let result = people.release(&["--version", "1.2.0"]).expect(2);
    assert!(result.err.contains("MAJOR") && result.err.contains("hint: 2.0.0"), "{}", result.err);
    assert_eq!(people_release(&people, &[])["version"], "2.0.0");

    let out = json!({ "screen": ["untranslatable"] });
    let zh = all[1]["question_zh"].as_str().unwrap();
    for who in ["annotator-1", "annotator-2", "annotator-3"] {
        people.vote_again("screen", who, zh, &out);
    }
    people.run();
    assert_eq!(people_release(&people, &[])["version"], "3.0.0", "a row is gone");
    people.add(&all[3..]);
    assert_eq!(people_release(&people, &[])["version"], "3.1.0");
    let last = ids(&people.ws, "3.1.0");
    let mut numbers: Vec<u64> = last.values().map(|id| number(id)).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 3, 4], "2 is retired");
    let versions = people.ws.derived();
    people.ws.remove("output");
    people.run();
    assert_same(&versions, &people.ws.derived(), "five versions given back");
    for version in ["1.0.0", "1.0.1", "1.1.0", "2.0.0", "3.0.0", "3.1.0"] {
        people.ws.call(["verify", &format!("output/{GEN}/{version}")]).expect(0);
    }
}

fn people_release(people: &Reviewed, more: &[&str]) -> Value {
    let more: Vec<&str> = more.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&people.release(&more).expect(0).out).unwrap()
}

#[test]
fn what_people_have_not_confirmed_is_a_draft() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let result = release(&ws, &["--version", "1.0.0"]).expect(2);
    for why in ["cannot be stable", "synthetic", "1.0.0-draft.1"] {
        assert!(result.err.contains(why), "{why}: {}", result.err);
    }
    assert!(!ws.exists(&format!("output/{GEN}/1.0.0")));
    ws.write("raw/sample/votes.jsonl", "");
    let ahead = "review.draft_ahead=[\"screen\", \"translation\", \"irrationality\", \"category\", \"pair\"]";
    ws.call(["run", "--recipe", GEN, "--offline", "--set", ahead]).expect(0);
    let result = release(&ws, &["--set", ahead, "--version", "1.0.0"]).expect(2);
    assert!(result.err.contains("are provisional"), "{}", result.err);
    let result = release(&ws, &["--set", ahead]).expect(0);
    assert!(result.out.contains("1.0.0-draft.1") && result.out.contains("a draft:"), "{}", result.out);
    release(&ws, &["--set", ahead, "--date", "yesterday"]).expect(2);
}

#[test]
fn two_builds_are_one_and_any_flipped_byte_is_found() {
    let canary = r#"{"event":"canary","guid":"01234567-89ab-4cde-8f01-23456789abcd"}"#;
    let built = || {
        let ws = Workspace::sample();
        ws.write(&format!("raw/releases/{GEN}/registry.jsonl"), format!("{canary}\n"));
        ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
        release(&ws, &[]).expect(0);
        ws
    };
    let ws = built();
    let output: Tree = ws.derived();
    assert_same(&output, &built().derived(), "two workspaces");

    let place = format!("output/{GEN}/1.0.0-draft.1");
    ws.call(["verify", &place, "--raw"]).expect(0);
    ws.call(["verify", &format!("output/{GEN}/candidate"), "--raw"]).expect(0);
    let mut files = 0;
    for (path, whole) in output.iter().filter(|(path, _)| path.starts_with(&place) && !path.ends_with('/')) {
        files += 1;
        let name = path.strip_prefix(&format!("{place}/")).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(ws.path(path), flipped).unwrap();
            let result = ws.call(["verify", &place]).expect(1);
            assert!(result.out.contains(name), "{name} byte {at}: {}", result.out);
        }
        fs::write(ws.path(path), whole).unwrap();
    }
    assert!(files > 20, "{files}");
    ws.call(["verify", &place]).expect(0);

    // A dump that was replaced can no longer be followed.
    let dump = "raw/sample/dumps/titles.json";
    ws.write(dump, ws.read(dump) + "\n");
    let result = ws.call(["verify", &place, "--raw"]).expect(1).out;
    assert!(result.contains("sample-titles/titles.json"), "{result}");
    ws.call(["verify", &place]).expect(0);
}

#[test]
fn a_licence_is_an_identifier_and_a_release_has_one() {
    let ws = Workspace::sample();
    let result = ws.call(["config", "--set", "release.licence=CC BY 4.0"]).expect(2);
    assert!(result.err.contains("did you mean \"CC-BY-4.0\"?"), "{}", result.err);
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", settings.replacen("\"CC0-1.0\"", "\"CC0\"", 1));
    let result = ws.call(["config"]).expect(2);
    assert!(result.err.contains("pipeline.toml:") && result.err.contains("\"CC0-1.0\""), "{}", result.err);
    // Nobody is an author whom the curator does not name, and without one there is no CITATION.cff.
    ws.write("curator/authors.md", "The contributors of riddlemill\n");
    // Different sources have no common licence, and the candidate states none.
    ws.write("pipeline.toml", settings.replacen("\"CC0-1.0\"", "\"CC-BY-4.0\"", 1));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let folder = "output/flub/candidate";
    assert!(!ws.read(&format!("{folder}/CITATION.cff")).contains("license"));
    for file in ["croissant.json", "datapackage.json"] {
        let json: Value = serde_json::from_str(&ws.read(&format!("{folder}/{file}"))).unwrap();
        assert!(json.get("license").is_none() && json.get("licenses").is_none(), "{file}");
    }
    let result = ws.call(["release", "flub", "--date", "2026-01-02"]).expect(2);
    assert!(result.err.contains("no licence is set for flub as a whole: sample-"), "{}", result.err);
    assert!(result.err.contains("CC-BY-4.0") && result.err.contains("[release]"), "{}", result.err);
    ws.write("pipeline.toml", format!("{settings}\n[release]\nlicence = \"GPL-3.0-only\"\n"));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    ws.call(["release", "flub", "--date", "2026-01-02"]).expect(0);
    let folder = "output/flub/1.0.0-draft.1";
    assert!(ws.read(&format!("{folder}/README.md")).contains("\nlicense: gpl-3.0\n"));
    assert!(ws.read(&format!("{folder}/CITATION.cff")).contains("\nlicense: GPL-3.0-only\n"));
    ws.call(["verify", folder]).expect(0);
    // Whoever lacks a licence and a run learns of both at once; both done, the next try is the last.
    ws.write("pipeline.toml", settings.replacen("\"CC0-1.0\"", "\"CC-BY-4.0\"", 1));
    let result = ws.call(["release", "flub", "--date", "2026-01-03"]).expect(2);
    assert!(
        result.err.contains("no licence is set") && result.err.contains("does not match"),
        "{}",
        result.err
    );
    ws.write(
        "pipeline.toml",
        format!("{settings}\n[release]\nlicence = \"GPL-3.0-only\"\n[dedup]\nthreshold = 0.9\n"),
    );
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    ws.call(["release", "flub", "--version", "1.0.0-draft.2", "--date", "2026-01-03"]).expect(0);
}
