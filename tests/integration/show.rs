//! `show` with each of its flags, the report page, and `explain` by words that only a later stage wrote.

use serde_json::Value;

use crate::harness::{Workspace, title};

fn workspace() -> Workspace {
    let texts = [
        "冰块怕热还是怕化？",
        "冰块怕热还是怕化",
        "云飞",
        "雨伞自己会不会淋湿？",
        "门铃半夜睡不睡觉？",
        "是谁丨偷丨走丨了我的丨早饭，它为什么不叫？",
    ];
    let lines = texts.iter().zip(1..).map(|(text, i)| title(i, text) + "\n");
    let ws = Workspace::with_dump("leymore-titles", lines.collect::<String>());
    ws.call(["run", "--recipe", "flub"]).expect(0);
    ws
}

/// `show --json` of one recipe's stage: the ids, and the total without a limit.
fn show(ws: &Workspace, args: &[&str]) -> (Vec<String>, u64) {
    let args = ["show", "--recipe", "flub", "--json"].iter().chain(args);
    let answers: Value = serde_json::from_str(&ws.call(args).expect(0).out).unwrap();
    let rows = answers[0]["rows"].as_array().unwrap();
    let ids = rows.iter().map(|row| row["id"].as_str().unwrap().to_string()).collect();
    (ids, answers[0]["all"].as_u64().unwrap())
}

fn ids(ids: &[u64]) -> Vec<String> {
    ids.iter().map(|id| format!("tieba:{id}")).collect()
}

#[test]
fn records_by_state_and_reason() {
    let ws = workspace();
    assert_eq!(show(&ws, &["filter"]), (ids(&[1, 2, 3, 4, 5, 6]), 6));
    assert_eq!(show(&ws, &["filter", "--outcome", "dropped"]), (ids(&[3]), 1));
    assert_eq!(show(&ws, &["filter", "--reason", "too_short"]), (ids(&[3]), 1));
    assert_eq!(show(&ws, &["filter", "--outcome", "kept", "--reason", "too_short"]), (vec![], 0));
    assert_eq!(show(&ws, &["dedup", "--outcome", "merged"]).1, 1);
    assert_eq!(show(&ws, &["filter", "--limit", "2"]), (ids(&[1, 2]), 6));
    assert_eq!(show(&ws, &["filter", "--limit", "0"]).0.len(), 6);
    let text = ws.call(["show", "filter", "--recipe", "flub", "--outcome", "dropped"]).expect(0).out;
    let want = "tieba:3  dropped (too_short)\n    text     云飞\n    because  2 of at least 4 characters\nflub filter: 1 of 1\n";
    assert_eq!(text, want);
}

#[test]
fn records_by_their_words() {
    let ws = workspace();
    assert_eq!(show(&ws, &["filter", "--grep", "冰块|雨伞"]), (ids(&[1, 2, 4]), 3));
    // The evidence is searched, too.
    assert_eq!(show(&ws, &["filter", "--grep", "^2 of at least"]), (ids(&[3]), 1));
    assert_eq!(show(&ws, &["clean", "--like", "雨伞會不會淋濕"]).0[0], "tieba:4");
    let before_and_after = ws.call(["show", "clean", "--recipe", "flub", "--grep", "早饭"]).expect(0).out;
    assert!(before_and_after.contains("before   是谁丨偷丨走丨"), "{before_and_after}");
    assert!(before_and_after.contains("after    是谁偷走了我的早饭"), "{before_and_after}");
}

#[test]
fn a_sample_is_drawn_by_its_seed() {
    let ws = workspace();
    let draw = |seed: &str| show(&ws, &["filter", "--sample", "2", "--seed", seed]);
    assert_eq!((draw("1").0.len(), draw("1").1), (2, 6));
    assert_eq!(draw("1"), draw("1"));
    assert!((2..30).any(|seed| draw(&seed.to_string()).0 != draw("1").0));
}

#[test]
fn pairs_that_were_nearly_one() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub"]).expect(0);
    let args = ["show", "dedup", "--borderline", "--recipe", "flub"];
    let text = ws.call(args).expect(0).out;
    assert!(text.contains("levenshtein 0.") && text.contains("[-") && text.contains("{+"), "{text}");
    let answers: Value =
        serde_json::from_str(&ws.call([&args[..], &["--json"]].concat()).expect(0).out).unwrap();
    let pair = &answers[0]["rows"][0];
    for key in ["a", "b", "score", "levenshtein", "predicate", "text_a", "text_b", "diff"] {
        assert!(!pair[key].is_null(), "{key} of {pair}");
    }
}

#[test]
fn what_cannot_be_shown_is_reported() {
    let ws = workspace();
    for (args, words) in [
        (
            &["show", "filter", "--outcome", "lost"][..],
            "unknown outcome \"lost\"\n  hint: there are kept, changed",
        ),
        (&["show", "filter", "--reason", "dull"], "unknown reason \"dull\""),
        (&["show", "filter", "--grep", "("], "--grep: "),
        (&["show", "fliter"], "unknown stage \"fliter\"\n  hint: did you mean \"filter\"?"),
        (&["show", "xyzzy"], "unknown stage \"xyzzy\"\n  hint: there are anonymise, "),
    ] {
        let result = ws.call(args).expect(2);
        assert!(result.err.contains(words), "{}", result.err);
    }
    ws.remove("staged/flub/05_dedup");
    let result = ws.call(["show", "dedup", "--recipe", "flub"]).expect(1);
    assert!(
        result.err.contains("hint: `riddlemill run --recipe flub --to dedup` makes it"),
        "{}",
        result.err
    );
}

#[test]
fn the_report_is_one_page_that_needs_nothing() {
    let ws = Workspace::sample();
    ws.run();
    ws.call(["report", "--html", "page.html"]).expect(0);
    // A pattern of a drawing is in the same page.
    let page = ws.read("page.html").replace("url(#", "");
    for asks in ["<script", "<link", "@import", "url(", " src=", "https://"] {
        assert!(!page.contains(asks), "{asks}");
    }
    // Every recipe, every reason with its definition and an example, the charts.
    for recipe in crate::harness::RECIPES {
        assert!(page.contains(recipe), "{recipe}");
        for reason in ws.reasons(recipe).keys() {
            let code = reason.split_once('/').unwrap().1;
            assert!(page.contains(code), "{code}");
        }
    }
    assert!(page.matches("<svg").count() >= 4 * 3 * 2, "the funnel and three charts of each recipe, twice");
    assert!(page.contains("tieba:"), "examples");
    ws.call(["report", "--html", "again.html", "--quiet"]).expect(0);
    assert!(ws.read("again.html") == ws.read("page.html"), "the same figures are the same bytes");
    ws.call(["report", "--html", "one.html", "--recipe", "chumor", "--examples", "1"]).expect(0);
    assert!(ws.read("one.html").len() < page.len());
}

#[test]
fn a_post_is_found_by_what_it_says_after_cleaning() {
    let ws = workspace();
    assert!(ws.read("raw/dumps/dump").contains("是谁丨偷丨走丨了"));
    assert_eq!(ws.explain("flub", "是谁偷走了我的早饭")["id"], "tieba:6");
    // An equal text has precedence over one that contains the words, whichever stage wrote it.
    assert_eq!(ws.explain("flub", "是谁偷走了我的早饭，它为什么不叫")["id"], "tieba:6");
}
