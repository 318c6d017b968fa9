//! Mistakes of folders that used to be accepted and then changed a set without a word.

use serde_json::json;

use crate::harness::{Workspace, title};
use crate::own::vote;

/// A workspace with a benchmark of these files, and two posts.
fn folder(benchmark: &str, ballots: &str) -> Workspace {
    let ws = Workspace::with_dump(
        "leymore-titles",
        format!(
            "[{},{},{}]",
            title(1, "云会恐高吗？"),
            title(2, "雨伞会不会淋湿？"),
            title(3, "鱼会口渴吗？")
        ),
    );
    ws.write("benchmarks/own/benchmark.toml", benchmark);
    if !ballots.is_empty() {
        ws.write("benchmarks/own/ballots.toml", ballots);
    }
    ws
}

fn checked(benchmark: &str, ballots: &str) -> String {
    let result = folder(benchmark, ballots).call(["benchmark", "check", "own"]);
    format!("{}{}", result.out, result.err)
}

const DATA: &str = "
[data]
about = \"Questions.\"
[data.columns]
id = [\"id\", \"Its id.\"]
q = [\"text\", \"The question.\"]
source_id = true
";

#[test]
fn a_release_of_records_needs_a_step_that_makes_them() {
    let told = checked(&format!("about = \"Own.\"\nsteps = [\"import\", \"filter\"]\n{DATA}"), "");
    assert!(told.contains("there are no records to release these columns of"), "{told}");
    let select = "[step.short]\ndrop_if = \"characters(text) > 40\"\nreason = [\"long\", \"It is long.\"]\n";
    let told = checked(
        &format!("about = \"Own.\"\nsteps = [\"import\", \"filter\", \"short\"]\n{select}{DATA}"),
        "",
    );
    assert!(told.contains("no problem in own"), "{told}");
}

#[test]
fn fields_use_those_before_them() {
    let fields = "[fields]\na = \"b\"\nb = \"text\"\n";
    let select = "[step.short]\ndrop_if = \"a\"\nreason = [\"long\", \"It is long.\"]\n";
    let told =
        checked(&format!("about = \"Own.\"\nsteps = [\"import\", \"short\"]\n{fields}{select}{DATA}"), "");
    assert!(told.contains("unknown name \"b\""), "{told}");
}

#[test]
fn every_answer_that_drops_drops() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"review:ok\"]\n";
    let ballots = "
[ballot.ok]
title = \"Is it sound?\"
guideline = \"Say whether it is fair and clear.\"
shows = [\"text\"]
votes = 1
[ballot.ok.fields]
fair = { label = \"Fair?\", yes = \"It is fair.\", no = \"It is not.\", drops = \"no\" }
clear = { label = \"Clear?\", yes = \"It is clear.\", no = \"It is not.\", drops = \"no\" }
funny = { label = \"How funny?\", score = [1, 5], drops = \"1\" }
";
    let ws = folder(&format!("{steps}{DATA}"), ballots);
    let people = ws.read("pipeline.toml") + "\n[[annotator]]\nname = \"p1\"\nrole = \"annotator\"\n";
    ws.write("pipeline.toml", people);
    ws.call(["run", "--recipe", "own"]);
    vote(&ws, "own", "ok", "p1", |see| match see["text"].as_str().unwrap().contains('云') {
        true => json!({ "fair": "yes", "clear": "no", "funny": "5" }),
        false if see["text"].as_str().unwrap().contains('鱼') => {
            json!({ "fair": "yes", "clear": "yes", "funny": "1" })
        }
        false => json!({ "fair": "no", "clear": "yes", "funny": "5" }),
    });
    ws.call(["run", "--recipe", "own"]);
    let shown =
        ws.call(["show", "review:ok", "--recipe", "own", "--outcome", "dropped", "--json"]).expect(0).out;
    for post in ["tieba:1", "tieba:2", "tieba:3"] {
        assert!(shown.contains(post), "{post}: {shown}");
    }
}

#[test]
fn personal_data_that_people_write_is_marked_before_it_is_a_row() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"review:hint\"]\n";
    let ballots = "[ballot.hint]\ntitle = \"A hint\"\nguideline = \"Write a hint.\"\nshows = [\"text\"]\nvotes = 1\n[ballot.hint.fields]\nhint = \"A hint\"\n";
    let data = format!("{steps}{DATA}hint = [\"hint.hint\", \"A hint.\"]\n");
    let ws = folder(&data, ballots);
    let people = ws.read("pipeline.toml") + "\n[[annotator]]\nname = \"p1\"\nrole = \"annotator\"\n";
    ws.write("pipeline.toml", people);
    ws.call(["run", "--recipe", "own"]);
    vote(&ws, "own", "hint", "p1", |_| json!({ "hint": "Ask tom@example.com, or call +1 415 555 2671." }));
    ws.call(["run", "--recipe", "own"]).expect(0);
    let row = ws.read("output/own/candidate/data/own/test.jsonl");
    assert!(row.contains("Ask [e-mail], or call [phone].") && !row.contains("tom@"), "{row}");
    let explained = ws.call(["explain", "tieba:1", "--recipe", "own"]).expect(0).out;
    assert!(explained.contains("marked in what was written: hint: "), "{explained}");
    assert!(ws.read("raw/votes/000001.jsonl").contains("tom@example.com"), "votes stay as they were cast");
}

#[test]
fn an_answer_that_no_ballot_offers_is_told() {
    let of = |drops: &str, when: &str| {
        let steps = "about = \"Own.\"\nsteps = [\"import\", \"review:ok\", \"short\"]\n";
        let select =
            format!("[step.short]\ndrop_if = \"{when}\"\nreason = [\"unfair\", \"It is not fair.\"]\n");
        let ballots = format!(
            "[ballot.ok]\ntitle = \"Is it sound?\"\nguideline = \"Say whether it is fair.\"\nshows = [\"text\"]\nvotes = 1\n[ballot.ok.fields]\nfair = {{ label = \"Fair?\", yes = \"It is fair.\", no = \"It is not.\", drops = \"{drops}\" }}\n"
        );
        checked(&format!("{steps}{select}{DATA}"), &ballots)
    };
    let sound = of("no", "'no' == ok.fair or ok.fair == 'yes' and text == 'fair'");
    assert!(sound.contains("no problem in own"), "{sound}");
    let rule = "[ballot.ok.drop]\nwhen = \"fear == 'no'\"\nbecause = \"'unfair'\"\n";
    let ballots = format!(
        "[ballot.ok]\ntitle = \"Is it sound?\"\nguideline = \"Say whether it is fair.\"\nshows = [\"text\"]\nvotes = 1\n{rule}[ballot.ok.fields]\nfair = {{ label = \"Fair?\", yes = \"It is fair.\", no = \"It is not.\" }}\n"
    );
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"review:ok\"]\n";
    let told = checked(&format!("{steps}{DATA}"), &ballots);
    assert!(told.contains("unknown field \"fear\"") && told.contains("fair"), "{told}");
    for (drops, when) in [
        ("nö", "ok.fair == 'no'"),
        ("no", "ok.fair == 'false'"),
        ("no", "text and ok.fair != 'nope'"),
        ("no", "'nope' in [1] or 'nope' == ok.fair"),
        ("no", "'nope' in (ok.fair or [])"),
    ] {
        let told = of(drops, when);
        assert!(told.contains("unknown answer of"), "{drops} {when}: {told}");
    }
}

#[test]
fn what_reaches_the_end_and_is_no_row_is_told() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"short\"]\n";
    let select = "[step.short]\ndrop_if = \"characters(text) > 40\"\nreason = [\"long\", \"It is long.\"]\n";
    let of = |data: &str| {
        let ws = folder(&format!("{steps}{select}{data}"), "");
        let run = ws.call(["run", "--recipe", "own"]);
        [run.out + &run.err, ws.call(["status", "--recipe", "own"]).out]
    };
    let in_data = |key: &str| DATA.replacen("[data]\n", &format!("[data]\n{key}\n"), 1);
    for (data, says) in [
        (format!("{DATA}hint = [\"text if '云' in text else none\", \"A hint.\"]\n"), "it has no `hint`"),
        (in_data("when = \"'云' in text\""), "2 dropped at [data] when"),
        (in_data("requires = [[\"'云' in q\", \"It is of no cloud.\"]]"), "It is of no cloud."),
    ] {
        for told in of(&data) {
            assert!(told.contains("at the end and no row: 2 ") && told.contains(says), "{says}: {told}");
        }
    }
    for told in of(DATA) {
        assert!(!told.contains("no row"), "{told}");
    }
}

#[test]
fn splits_that_stay_short_are_refused_before_rows_are_fixed_in_them() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"short\"]\n[step.short]\ndrop_if = \"characters(text) > 40\"\nreason = [\"long\", \"It is long.\"]\n";
    let splits = "[data.splits]\ncounts = { dev = 200, test = \"rest\" }\n";
    let ws = folder(&format!("{steps}{DATA}{splits}"), "");
    ws.write("pipeline.toml", ws.read("pipeline.toml") + "\n[release]\nlicence = \"CC0-1.0\"\n");
    let told = ws.call(["run", "--recipe", "own"]);
    let told = told.out + &told.err;
    assert!(told.contains("the split \"dev\" has 3 of its 200 rows"), "{told}");
    assert!(told.contains("the split \"test\" has no row"), "{told}");
    let told = ws.call(["release", "own"]);
    assert!(told.code != 0 && told.err.contains("released rows never move"), "{}", told.err);
    ws.call(["release", "own", "--partial"]).expect(0);
    let told = ws.call(["status", "--recipe", "own"]).out;
    assert!(!told.contains("of its 200 rows"), "the sizes hold for the first draw: {told}");
}

#[test]
fn names_of_decisions_are_no_fields() {
    let ballots = "
[ballot.ok]
title = \"Is it sound?\"
guideline = \"Say whether it stands.\"
shows = [\"text\"]
votes = 1
[ballot.ok.fields]
standing = { label = \"Standing?\", yes = \"It stands.\", no = \"It does not.\" }
";
    let told = checked(&format!("about = \"Own.\"\nsteps = [\"import\", \"review:ok\"]\n{DATA}"), ballots);
    assert!(told.contains("the name \"standing\" is taken"), "{told}");
}

#[test]
fn texts_are_no_numbers() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"short\"]\n";
    for (condition, text) in [
        ("table.n > 100", Some("table.n")),
        ("text | length > 2 and 3 <= table.likes", Some("table.likes")),
        ("(post.title == 7)", Some("post.title")),
        ("table.n | float > 100", None),
        ("text | length > 40", None),
        ("'table.n > 3' in text", None),
        ("post.score > 3 and table.n != '5'", None),
        ("3 < (table.n | int)", None),
    ] {
        let select =
            format!("[step.short]\ndrop_if = \"{condition}\"\nreason = [\"long\", \"It is long.\"]\n");
        let told = checked(&format!("{steps}{select}{DATA}"), "");
        let expected = text.map_or("no problem in own".to_owned(), |text| format!("{text} is a text"));
        assert!(told.contains(&expected), "{condition}: {told}");
    }
}

#[test]
fn a_published_file_has_each_of_its_keys_once() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"short\"]\n[step.short]\ndrop_if = \"false\"\nreason = [\"none\", \"Never.\"]\n";
    let first = "[compat.\"a.json\"]\nkeys = [\"id\"]\n";
    for (files, expected) in [
        ("[compat.\"a.json\"]\nkeys = [{ x = \"id\" }, { x = \"q\" }]\n".to_owned(), "\"x\" is given twice"),
        ("[compat.\"a.json\"]\nkeys = [\"q\", { q = \"id\" }]\n".to_owned(), "\"q\" is given twice"),
        (format!("{first}[compat.\"b.json\"]\nlike = \"a.json\"\nkeys = [\"q\"]\n"), "one of the two"),
        ("[compat.\"a.json\"]\nwhen = \"q\"\n".to_owned(), "every row would be empty"),
        (format!("{first}[compat.\"b.json\"]\nlike = \"a.json\"\n"), "no problem in own"),
    ] {
        let told = checked(&format!("{steps}{DATA}{files}"), "");
        assert!(told.contains(expected), "{files}: {told}");
    }
}

#[test]
fn a_standing_rests_on_ballots() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"review:ok\"]\n";
    let ballots = "
[ballot.ok]
title = \"Is it sound?\"
guideline = \"Say whether it is fair.\"
shows = [\"text\"]
votes = 1
[ballot.ok.fields]
fair = { label = \"Fair?\", yes = \"It is fair.\", no = \"It is not.\" }
";
    let told = checked(&format!("{steps}{DATA}standing = true\n"), ballots);
    assert!(told.contains("rests_on = [\"ok\"]"), "{told}");
    let mended = DATA.replace("[data]\n", "[data]\nrests_on = [\"ok\"]\n");
    let told = checked(&format!("{steps}{mended}standing = true\n"), ballots);
    assert!(told.contains("no problem in own"), "{told}");
    let told = checked(&format!("{steps}{mended}[data.splits]\nshares = {{ test = 1 }}\n"), ballots);
    assert!(told.contains("no problem in own"), "{told}");
}
