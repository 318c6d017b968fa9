//! BrainTeaser from riddle pages to groups of three.

use std::fs;
use std::path::Path;

use riddlemill::puzzle::options::{NONE, ordered_options, place_of_right};
use riddlemill::puzzle::statistics::{self, count_figures};
use riddlemill::record::{Record, Row};
use serde_json::{Value, json};

use crate::harness::{WITHOUT_WORDNET, Workspace, reference, source};
use crate::puzzle_rows::{BRAIN, groups, is_word, rows};

fn run(ws: &Workspace, more: &[&str]) -> crate::harness::CallResult {
    ws.call(["run", "--recipe", BRAIN, "--offline"].iter().chain(more))
}

/// A workspace with the sample from the repository, which may be newer than the one built into `init`.
fn sample() -> Workspace {
    let ws = Workspace::sample();
    let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample");
    for file in [
        "puzzles/puzzles.jsonl",
        "puzzles/premises.jsonl",
        "puzzles/replies.jsonl",
        "puzzles/votes.jsonl",
        "wordnet/index.noun",
        "wordnet/data.noun",
    ] {
        ws.write(&format!("raw/sample/{file}"), fs::read(there.join(file)).unwrap());
    }
    ws
}

#[test]
fn the_sample_ends_in_complete_groups() {
    let ws = sample();
    run(&ws, &[]).expect(0);
    ws.audit_clean();
    let groups = groups(&ws);
    let of = |kind: &str| groups.values().filter(|rows| rows[0].text("kind") == Some(kind)).count();
    assert!(of("sentence") >= 12 && of("word") >= 12, "{} and {}", of("sentence"), of("word"));
    assert!(
        groups
            .values()
            .flatten()
            .all(|row| { row.text("standing") == Some("synthetic") && row.text("topic").is_some() })
    );
    let replaced = |kind: &str| {
        let of_kind = groups.values().map(|rows| &rows[0]).filter(|row| row.text("kind") == Some(kind));
        of_kind.filter(|row| row.text("original_answer").is_some()).count()
    };
    assert_eq!((replaced("sentence"), replaced("word")), (1, 1), "groups in which None of above. is right");
    let voted = rows(ws.root(), "review:validity");
    let text =
        |id: &str, column: &str| voted.iter().find(|puzzle| puzzle.id() == id).unwrap().text(column).unwrap();
    assert!(text("riddle:900128", "context_question").contains("waiter"), "the vote's words");
    assert!(text("riddle:900111", "semantic_question").starts_with("No seed"));

    let reasons = ws.reasons(BRAIN);
    for (reason, least) in [
        ("held/answer_missing", 2),
        ("changed/promotion", 3),
        ("changed/misspelt", 3),
        ("merged/near_duplicate", 1),
        ("dropped/rejected", 4),
        ("changed/beside_answer", 5),
        ("changed/premises_given", 2),
    ] {
        assert!(reasons.get(reason).is_some_and(|n| *n >= least), "{reason}: {reasons:?}");
    }
    assert_eq!(reasons.get("held/group_incomplete"), None, "{reasons:?}");

    let released = ws.candidates(BRAIN);
    assert_eq!(released.len(), groups.len() * 3);
    let ids: Vec<&str> = released.iter().map(|row| row["id"].as_str().unwrap()).collect();
    for id in ["SP-0", "SP-0_SR", "SP-0_CR", "SP-11_CR", "WP-0", "WP-11_SR"] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    let published = ws.read(&format!("output/{BRAIN}/candidate/compat/word_puzzle.json"));
    let published: Vec<Value> = serde_json::from_str(&published).unwrap();
    assert_eq!(published.len(), of("word") * 3);
    assert!(
        published.iter().all(|row| row["distrator1"].is_string() && row["distrator(unsure)"].is_string())
    );
    let report = ws.call(["report", "--recipe", BRAIN]).expect(0).out;
    assert!(
        report.contains("table 3") && report.contains("table 6") && report.contains("section 3.5"),
        "{report}"
    );
    // Section 3.5: the share rated valid, and one kappa over the three questions; on the card, too.
    let rated = report.lines().find(|line| line.contains("rated valid")).unwrap();
    assert!(rated.contains("% of originals") && rated.contains("% of context reconstructions"), "{rated}");
    assert!(rated.contains("Fleiss' kappa of the three questions together"), "{rated}");
    let card = ws.read(&format!("output/{BRAIN}/candidate/README.md"));
    assert!(card.contains("`review:validity`: Rated `yes` on average: `original`"), "{card}");
    assert!(card.contains("inferences of COMET") && card.contains("QuillBot"), "every replacement is named");

    let before = ws.derived();
    ws.remove_derived();
    run(&ws, &[]).expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "rebuilt from raw/");
}

/// Fills in ballots of a step as a person does: the fields that `answer` returns for a ballot's row are set
/// in it.
fn vote(ws: &Workspace, step: &str, answer: impl Fn(&Value) -> Option<Value>) -> usize {
    let place = [step, "--recipe", BRAIN, "--annotator", "annotator-1", "--format", "jsonl"];
    let result = ws.call(["review", "export"].iter().chain(&place)).expect(0);
    let mut filled = Vec::new();
    for line in ws.read(result.out.trim()).lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let Some(answers) = answer(&row) else { continue };
        row["answers"] = answers;
        filled.push(row.to_string());
    }
    ws.write("votes.jsonl", filled.join("\n"));
    ws.call(["review", "import", step, "--recipe", BRAIN, "votes.jsonl"]).expect(0);
    filled.len()
}

/// From a riddle truncated by its site to a puzzle with its text, its answer, its premises and its
/// distractors, before the kind is decided; and its typing errors, word by word.
#[test]
fn people_write_what_a_site_left_out() {
    let ws = with_puzzles(&[
        json!({ "id": "1", "question": "A man pushes his car to a hotel and" }),
        json!({ "id": "2", "question": "Which mornign is teh longest of all in lettres?", "answer": "Wensday." }),
        json!({ "id": "3", "question": "Which cat is a list?", "answer": "A catalogue." }),
    ]);
    let settings = ws.read("pipeline.toml")
        + "\n[[annotator]]\nname = \"annotator-1\"\nrole = \"annotator\"\n"
        + "\n[recipe.brainteaser.draft]\nskip = [\"kind\", \"premises\", \"distractors\"]\n"
        + WITHOUT_WORDNET;
    ws.write("pipeline.toml", settings);
    run(&ws, &[]).expect(0);
    assert_eq!(ws.reasons(BRAIN)["held/answer_missing"], 1);
    let written = vote(&ws, "text", |row| {
        (row["item"] == "puzzle:1").then(|| {
            json!({
                "verdict": "rewrite",
                "question": "A man pushes his car to a hotel and loses his fortune. How?",
                "answer": "He plays a board game.",
                "premises": "The car is a car.\n- The hotel is a hotel.\n3. He has a fortune.\nHe is not ill.",
                "distractors": "He is a valet.\nThe hotel is on a hill.\nHe bet on a race.",
            })
        })
    });
    assert_eq!(written, 1);
    run(&ws, &[]).expect(0);
    ws.audit_clean();
    assert_eq!(ws.reasons(BRAIN).get("held/answer_missing"), None);
    let puzzles = rows(ws.root(), "review:text");
    assert_eq!((puzzles.len(), puzzles[0].text("answer")), (3, Some("He plays a board game.")));
    assert_eq!((puzzles[0].list("premises_draft").len(), puzzles[0].list("distractors_draft").len()), (4, 3));
    assert_eq!(puzzles[0].text("text_status"), Some("confirmed"));

    let some = vote(&ws, "spelling", |row| {
        let shown = row["see"]["corrections"].to_string();
        assert!(shown.contains("mornign -> morning") && shown.contains("teh -> the"), "{row}");
        Some(json!({ "verdict": "some", "accepted": ["1", "2"] }))
    });
    assert_eq!(some, 1, "one puzzle has errors");
    run(&ws, &[]).expect(0);
    let puzzles = rows(ws.root(), "dedup");
    let second = puzzles.iter().find(|puzzle| puzzle.id() == "puzzle:2").unwrap();
    let question = second.text("question").unwrap();
    assert!(question.starts_with("Which morning is the longest of all"), "{question}");
    vote(&ws, "kind", |row| {
        Some(json!({ "kind": if row["item"] == "puzzle:1" { "sentence" } else { "word" } }))
    });
    run(&ws, &[]).expect(0);
    // A person's text is the draft, and no model is asked.
    assert_eq!(
        vote(&ws, "premises", |row| {
            (row["item"] == "puzzle:1").then(|| {
        json!({ "verdict": "rewrite", "premises": row["draft"]["premises"], "stumper": "The car is a car." })
    })
        }),
        1
    );
    run(&ws, &[]).expect(0);
    let accept = |row: &Value| (row["item"] == "puzzle:1").then(|| json!({ "verdict": "accept" }));
    assert_eq!(vote(&ws, "distractors", accept), 1);
    run(&ws, &[]).expect(0);
    let puzzles = rows(ws.root(), "review:distractors");
    assert_eq!(
        puzzles[0].list("distractors"),
        ["He is a valet.", "The hotel is on a hill.", "He bet on a race."]
    );
}

#[test]
fn where_people_find_none_sensible_a_model_writes_others() {
    let ws = sample();
    run(&ws, &[]).expect(0);
    let puzzles = rows(ws.root(), "review:validity");
    let again: Vec<&Row> =
        puzzles.iter().filter(|puzzle| !puzzle.list("distractors_rejected").is_empty()).collect();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].list("distractors"), ["A cabbage.", "A turnip.", "A celery."]);
    let basis = again[0].list("distractors_basis");
    assert!(basis[0].starts_with("sample:"), "{basis:?}");
    // The new situations have their own distractors, screened like the first ones.
    for puzzle in &puzzles {
        let premises = puzzle.list("context_premises");
        assert_eq!(puzzle.list("context_distractors").len(), 3, "{}", puzzle.id());
        assert_eq!(premises.len(), if is_word(puzzle) { 0 } else { 4 }, "{}", puzzle.id());
        assert_eq!(puzzle.text("context_distractors_status"), Some("synthetic"));
        let source = puzzle.list("context_distractors_from");
        assert!(is_word(puzzle) || source.iter().all(|from| premises.contains(from)));
    }
    let served =
        puzzles.iter().filter(|puzzle| puzzle.list("context_distractors_basis")[0].starts_with("wordnet:"));
    assert!(served.count() >= 1);
}

#[test]
fn files_stand_in_for_comet_and_wikipedia() {
    let ws = sample();
    let lines = [
        json!({ "word": "swallow", "category": "birds of the sky", "members": ["an eagle", "crow", "the robin"] }),
        json!({ "head": "no puzzle of ours", "relation": "Causes", "tails": ["x"] }),
        json!({ "question": "broken", "premises": ["one"] }),
    ];
    ws.write("raw/premises/mine.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let result = run(&ws, &["--to", "near", "--set", "puzzles.premises=raw/premises/*.jsonl"]).expect(0);
    assert!(
        result.err.contains("raw/premises/mine.jsonl:3: left out: 1 premises, not 4 to 8"),
        "{}",
        result.err
    );
    let puzzles = rows(ws.root(), "word-neighbours");
    let swallow = puzzles.iter().find(|puzzle| puzzle.id() == "riddle:900223").unwrap();
    let mut words = swallow.list("distractors_draft").to_vec();
    words.sort();
    assert_eq!(words, ["A crow.", "A robin.", "An eagle."]);
    assert_eq!(swallow.list("distractors_basis"), ["file:raw/premises/mine.jsonl:1"]);
    // One more line, and the step is remade.
    ws.write("raw/premises/more.jsonl", "{\"word\": \"x\", \"members\": []}\n");
    let result = ws.call(["status", "--set", "puzzles.premises=raw/premises/*.jsonl"]).expect(0).out;
    assert!(result.contains("premises raw/premises/more.jsonl"), "{result}");
}

#[test]
fn a_wordnet_that_is_not_there_stops_the_step() {
    let ws = sample();
    let result = run(&ws, &["--to", "near", "--set", "puzzles.wordnet=nowhere"]).expect(2).err;
    assert!(result.contains("puzzles.wordnet: ") && result.contains("nowhere is not a folder"), "{result}");
    assert!(result.contains("hint: Debian's wordnet-base"), "{result}");
    // The status can still be shown.
    ws.call(["status", "--set", "puzzles.wordnet=nowhere"]).expect(0);
}

#[test]
fn without_wordnet_a_model_writes_the_distractors() {
    let ws = sample();
    run(
        &ws,
        &[
            "--to",
            "review:distractors",
            "--set",
            "puzzles.wordnet=",
            "--set",
            "review.draft_ahead=[\"distractors\"]",
        ],
    )
    .expect(0);
    assert_eq!(ws.reasons(BRAIN).get("changed/beside_answer"), None);
    let puzzles = rows(ws.root(), "review:distractors");
    assert!(puzzles.iter().filter(|puzzle| is_word(puzzle)).count() >= 12);
    assert!(puzzles.iter().all(|puzzle| puzzle.list("distractors").len() == 3));
}

#[test]
fn what_lacks_votes_or_replies_waits() {
    let ws = sample();
    let votes = ws.read("raw/sample/puzzles/votes.jsonl");
    let fewer: String =
        votes.lines().filter(|line| !line.contains("\"context\"")).map(|line| format!("{line}\n")).collect();
    ws.write("raw/sample/puzzles/votes.jsonl", fewer);
    run(&ws, &[]).expect(0);
    ws.audit_clean();
    assert!(ws.reasons(BRAIN)["held/votes_missing"] >= 20);
    assert_eq!(groups(&ws).len(), 0);
    run(&ws, &["--set", "review.draft_ahead=[\"context\"]"]).expect(0);
    let provisional = groups(&ws);
    assert!(provisional.len() >= 24, "{}", provisional.len());
    let standing =
        |rows: &[Row]| rows.iter().map(|row| row.text("standing").unwrap().to_owned()).collect::<Vec<_>>();
    assert!(provisional.values().all(|rows| standing(rows) == ["synthetic", "synthetic", "provisional"]));
}

/// A workspace with these puzzles, one per line.
fn with_puzzles(lines: &[Value]) -> Workspace {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Workspace::with_dump("puzzles", text)
}

#[test]
fn a_man_and_a_woman_are_one_puzzle_where_the_answer_is() {
    let line =
        |id: u64, question: &str, answer: &str| json!({ "id": id, "question": question, "answer": answer });
    let ws = with_puzzles(&[
        line(1, "A man pushes his car to a hotel and loses his fortune. How?", "He plays a board game."),
        line(2, "A woman pushes her car to a hotel and loses her fortune. How?", "She plays a board game."),
        line(
            3,
            "A man shaves all day long and still has a beard at night. Who is it?",
            "A barber shaves others.",
        ),
        line(
            4,
            "A woman shaves all day long and still has a beard at night. Who is it?",
            "A lady of the circus.",
        ),
        line(5, "What part of London is also in France?", "The letter N."),
        line(6, "What part of Lisbon is also in France?", "The letters N and S."),
    ]);
    run(&ws, &["--to", "dedup"]).expect(0);
    let kept = rows(ws.root(), "dedup");
    let kept: Vec<&str> = kept.iter().map(Row::id).collect();
    assert_eq!(kept, ["puzzle:2", "puzzle:3", "puzzle:4", "puzzle:5", "puzzle:6"]);
    assert_eq!(ws.reasons(BRAIN)["merged/near_duplicate"], 1);
}

#[test]
fn pages_become_puzzles_saved_or_archived() {
    let unit = |n: usize| {
        format!(
            "<div itemscope itemtype=\"https://schema.org/Question\"><a href=\"/riddle/{n}\">t</a><blockquote class=\"orange_dk_blockquote\">\
             What has {n} teeth, {n} eyes &amp; no mouth?</blockquote><blockquote class=\"dark_purple_blockquote\">Comb number {n}.</blockquote></div>"
        )
    };
    let page: String = (1..=500).map(unit).collect();
    let page = format!("<html><body>{page}</body></html>");
    let http =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}", page.len());
    let archive = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:7d7ae0ba-0000-4000-8000-000000000001>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n\
         WARC-Target-URI: https://www.riddles.com/brain-teasers\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    );
    let mut found = Vec::new();
    for bytes in [page, archive] {
        let ws = Workspace::with_dump("riddles-com", bytes);
        run(&ws, &["--to", "strip"]).expect(0);
        let puzzles = rows(ws.root(), "strip");
        assert_eq!(puzzles.len(), 500);
        assert_eq!(
            (puzzles[6].id(), puzzles[6].text("question")),
            ("riddle:7", Some("What has 7 teeth, 7 eyes & no mouth?"))
        );
        let result = |puzzle: &Row| {
            (
                puzzle.id().to_owned(),
                ["question", "answer"].map(|column| puzzle.text(column).map(str::to_owned)),
            )
        };
        found.push(puzzles.iter().map(result).collect::<Vec<_>>());
    }
    assert_eq!(found[0], found[1], "a saved page and its archive say the same");
}

#[test]
fn every_quirk_of_the_fixture_pages_has_its_outcome() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pages");
    let ws = Workspace::with(
        &(source("list", "riddles-com", "raw/dumps/riddles-*.html")
            + &source("article", "rd", "raw/dumps/rd-*.html")),
    );
    for file in fs::read_dir(fixtures).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        if name.starts_with("riddles-") || name.starts_with("rd-") {
            ws.write(&format!("raw/dumps/{name}"), fs::read(file.path()).unwrap());
        }
    }
    run(&ws, &["--to", "review:text"]).expect(0);
    ws.audit_clean();
    let puzzles = rows(ws.root(), "review:text");
    let text = |puzzle: &Row, column: &str| puzzle.text(column).unwrap_or_default().to_owned();
    let texts: Vec<(String, String)> =
        puzzles.iter().map(|puzzle| (text(puzzle, "question"), text(puzzle, "answer"))).collect();
    for (question, answer) in [
        (
            "A man falls off a twenty-foot ladder onto stone & walks away. How?",
            "He stood on the lowest rung.",
        ),
        ("What room has no walls, no doors and no roof?", "A mushroom"),
        ("What can you hold only after you have given it?", "Your word."),
        (
            "A gardener waters one plant all year, and it never grows. What is wrong with it?",
            "Nothing. It is painted on the wall.",
        ),
        ("Why did the clock resign?", "It was wound up. And it had no time off."),
    ] {
        assert!(texts.contains(&(question.to_owned(), answer.to_owned())), "{question}: {texts:#?}");
    }
    let reasons = ws.reasons(BRAIN);
    assert!(reasons["held/answer_missing"] >= 4 && reasons["merged/same_id"] >= 1, "{reasons:?}");
}

#[test]
fn a_split_is_by_group() {
    let ws = sample();
    run(&ws, &["--set", "puzzles.train_share=0.8"]).expect(0);
    let groups = groups(&ws);
    assert!(groups.values().all(|rows| {
        rows[0].text("split").is_some() && rows.iter().all(|row| row.text("split") == rows[0].text("split"))
    }));
    let train = groups.values().filter(|rows| rows[0].text("split") == Some("train")).count();
    assert!((groups.len() / 2..groups.len()).contains(&train), "{train} of {}", groups.len());
}

/// The published rows of a file in the reference; their only known fault is an answer longer than its choice.
fn published(name: &str) -> Option<Vec<Value>> {
    let path = reference()?.join("data/reference").join(name);
    Some(fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn texts(row: &Value) -> (String, [String; 3], [u64; 4], Vec<String>) {
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    let order: Vec<u64> =
        row["choice_order"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let shown = row["choice_list"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned());
    (
        text("answer"),
        ["distrator1", "distrator2", "distrator(unsure)"].map(text),
        order.try_into().unwrap(),
        shown.collect(),
    )
}

#[test]
fn published_rows_are_what_their_parts_give() {
    let mut other = Vec::new();
    for name in ["brainteaser-sentence-dev.jsonl", "brainteaser-word-dev.jsonl"] {
        let Some(rows) = published(name) else {
            return eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
        };
        for row in &rows {
            let (answer, distractors, order, shown) = texts(row);
            let consistent = ordered_options(&answer, &distractors, &order).to_vec() == shown
                && place_of_right(&order) == row["label"].as_u64().unwrap();
            if !consistent {
                other.push(row["id"].as_str().unwrap().to_owned());
            }
            let replaced = answer.starts_with(NONE);
            assert_eq!(replaced, place_of_right(&order) == 3, "{}", row["id"]);
        }
    }
    assert_eq!(other, ["WP-84_SR"]);
}

/// Table 3, on the available half of the published set: the paper's figures are those of the whole.
#[test]
fn statistics_are_those_of_table_3() {
    for (name, want) in [
        ("brainteaser-sentence-dev.jsonl", [34.88, 0.4832, 9.11, 2.36]),
        ("brainteaser-word-dev.jsonl", [10.65, 0.0223, 3.0, 0.52]),
    ] {
        let Some(rows) = published(name) else {
            return eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
        };
        let shown: Vec<(String, String, Vec<String>)> = rows
            .iter()
            .map(|row| {
                let (answer, _, _, shown) = texts(row);
                (row["question"].as_str().unwrap().to_owned(), answer, shown)
            })
            .collect();
        let rows = shown.iter().map(|(question, answer, choices)| statistics::QuestionRow {
            question,
            answer,
            choices,
        });
        let figures = count_figures(rows).unwrap();
        let got = [
            figures.question_tokens,
            figures.long_questions,
            figures.answer_tokens,
            figures.choice_tokens_std,
        ];
        for (got, (want, slack)) in got.into_iter().zip(want.into_iter().zip([1.5, 0.03, 0.5, 0.3])) {
            assert!((got - want).abs() < slack, "{name}: {figures:?}");
        }
    }
}
