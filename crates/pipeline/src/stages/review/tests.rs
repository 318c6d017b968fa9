use super::*;
use crate::stages::subject::items_of_record;
use crate::stages::subject::rows::{make_row, row_with_values};
use crate::stages::written::tests::usual_rules;
use serde_json::json;

fn settings(draft_ahead: &[&str]) -> sections::Review {
    let names = draft_ahead.iter().map(ToString::to_string).collect();
    sections::Review { draft_ahead: names, ..sections::Review::default() }
}

fn review_of(benchmark: &str, ballot: &str) -> ReviewStep {
    let ballot =
        riddlemill_benchmarks::find_benchmark(benchmark).and_then(|benchmark| benchmark.find_ballot(ballot));
    ReviewStep::new(ballot.unwrap())
}

fn question() -> Row {
    let values = json!({ "id": "q", "text": "鱼会不会口渴？", "translation_draft": "Do fish get thirsty?" });
    make_row("questions", values)
}

fn cunning_text(text: &str) -> Row {
    make_row("cunning texts", json!({ "id": "t", "text": text }))
}

fn item(ballot: &Ballot, record: &Row) -> Item {
    items_of_record(record, ballot, 1).remove(0)
}

fn vote(ballot: &Ballot, item: &Item, annotator: &str, synthetic: bool, values: &[(&str, &str)]) -> Vote {
    Vote {
        annotator: annotator.into(),
        values: values.iter().copied().collect(),
        at: "2026-01-01T00:00:00Z".into(),
        source: "test".into(),
        synthetic,
        ..Vote::on_item(ballot, item)
    }
    .with_id()
}

fn decide(review: ReviewStep, question: Row, settings: &sections::Review, votes: &[Vote]) -> Outcome<Row> {
    let step = review.ballot_by_settings(settings);
    let item = item(&step, &question);
    let votes: Vec<&Vote> = votes.iter().collect();
    let resolution = review::resolve_item(&step, &item, &votes);
    let parts = [Part { item: &item, resolution: &resolution, marked: &[], votes: current_votes(&votes) }];
    let optional = settings.optional.iter().any(|s| s == step.name);
    outcome_of_record(
        &step,
        question,
        &parts,
        if optional { MissingAnswer::GoesOn } else { MissingAnswer::Holds },
        &usual_rules(),
    )
}

#[test]
fn a_rewritten_translation_becomes_the_question() {
    let settings = settings(&[]);
    let step = review_of("ruozhibench-gen", "translation").ballot_by_settings(&settings);
    let item = item(&step, &question());
    let values = [("verdict", "rewrite"), ("question_en", "Are fish ever thirsty?")];
    let votes = [vote(&step, &item, "a", false, &values)];
    let decided = decide(review_of("ruozhibench-gen", "translation"), question(), &settings, &votes);
    let Outcome::Changed { row, rule, evidence, before, .. } = decided else { panic!("{decided:?}") };
    assert_eq!(row.text("question_en"), Some("Are fish ever thirsty?"));
    assert_eq!(row.text("translation_status"), Some("confirmed"));
    assert_eq!(row.list("translation_basis"), [format!("vote:{}", votes[0].id)]);
    assert_eq!((rule, before.as_str()), ("rewritten", "Do fish get thirsty?"));
    assert!(evidence.contains("by a"), "{evidence}");
}

#[test]
fn a_samples_vote_is_no_persons() {
    let settings = settings(&[]);
    let step = review_of("ruozhibench-gen", "translation").ballot_by_settings(&settings);
    let item = item(&step, &question());
    let values = [("verdict", "accept"), ("question_en", "Do fish get thirsty?")];
    let votes = [vote(&step, &item, "a", true, &values)];
    let decided = decide(review_of("ruozhibench-gen", "translation"), question(), &settings, &votes);
    let Outcome::Changed { row, rule, .. } = decided else { panic!("{decided:?}") };
    assert_eq!((rule, row.text("translation_status")), ("sample_confirmed", Some("synthetic")));
}

#[test]
fn what_nobody_voted_on_waits_or_goes_ahead() {
    let waits = decide(review_of("ruozhibench-gen", "translation"), question(), &settings(&[]), &[]);
    assert!(matches!(waits, Outcome::Held { reason: Reason::VotesMissing, .. }));
    let ahead =
        decide(review_of("ruozhibench-gen", "translation"), question(), &settings(&["translation"]), &[]);
    let Outcome::Changed { row, rule, .. } = ahead else { panic!("{ahead:?}") };
    assert_eq!((rule, row.text("translation_status")), ("provisional", Some("provisional")));
    assert_eq!(row.text("question_en"), row.text("translation_draft"));
    let optional = sections::Review { optional: vec!["pair".into()], ..settings(&[]) };
    assert_eq!(
        decide(review_of("ruozhibench-gen", "pair"), question(), &optional, &[]),
        Outcome::Kept(question())
    );
}

#[test]
fn votes_reject_and_drafts_do_not() {
    let drafted = row_with_values(&question(), json!({ "screen_draft": ["harmful"] }));
    let ahead = decide(review_of("ruozhibench-gen", "screen"), drafted.clone(), &settings(&["screen"]), &[]);
    assert!(matches!(ahead, Outcome::Held { .. }), "{ahead:?}");
    let settings = settings(&[]);
    let step = review_of("ruozhibench-gen", "screen").ballot_by_settings(&settings);
    let item = item(&step, &drafted);
    let mut votes: Vec<Vote> = ["a", "b", "c"].map(|name| vote(&step, &item, name, false, &[])).to_vec();
    for vote in &mut votes {
        vote.values.set("screen", vec!["harmful".to_owned()]);
        *vote = vote.clone().with_id();
    }
    let decided = decide(review_of("ruozhibench-gen", "screen"), drafted, &settings, &votes);
    let Outcome::Dropped { reason: Reason::Rejected, evidence } = decided else { panic!("{decided:?}") };
    assert!(evidence.starts_with("harmful; votes by a, b, c"), "{evidence}");
}

#[test]
fn a_vote_on_an_older_text_is_reported_and_not_counted() {
    let settings = settings(&[]);
    let step = review_of("ruozhibench-gen", "translation").ballot_by_settings(&settings);
    let item = item(&step, &question());
    let values = [("verdict", "accept"), ("question_en", "Do fish get thirsty?")];
    let votes = [vote(&step, &item, "a", false, &values)];
    let edited = row_with_values(&question(), json!({ "translation_draft": "Is a fish thirsty?" }));
    let decided = decide(review_of("ruozhibench-gen", "translation"), edited, &settings, &votes);
    let Outcome::Held { evidence, .. } = decided else { panic!("{decided:?}") };
    assert!(evidence.contains("outdated"), "{evidence}");
}

/// The votes of a step in one table.
fn on(votes: &[Vote]) -> FxHashMap<&str, Vec<&Vote>> {
    let mut items: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
    for vote in votes {
        items.entry(&vote.item).or_default().push(vote);
    }
    items
}

/// What a step makes of a record.
fn outcome_of(review: ReviewStep, record: Row, optional: bool, votes: &[Vote]) -> Outcome<Row> {
    let step = review.ballot_by_settings(&settings(&[]));
    let (items, votes) = (items_of_record(&record, &step, 1), on(votes));
    let mut resolved = resolve_all(&step, &items, &votes);
    let written = usual_rules();
    let marked: Vec<Vec<String>> = resolved.iter_mut().map(|found| mark_decided(&written, found)).collect();
    let of_items = items.iter().zip(&resolved).zip(&marked);
    let parts: Vec<Part<'_>> =
        of_items.map(|((item, found), marked)| Part::new(item, found, marked, &votes)).collect();
    outcome_of_record(
        &step,
        record,
        &parts,
        if optional { MissingAnswer::GoesOn } else { MissingAnswer::Holds },
        &written,
    )
}

#[test]
fn a_rewritten_text_keeps_what_was_posted() {
    let posted = cunning_text("鱼渴吗 转发");
    let step = review_of("flub", "clean").ballot_by_settings(&settings(&[]));
    let item = item(&step, &posted);
    let rewrite = [("verdict", "rewrite"), ("text", "鱼会口渴吗？"), ("is_question", "yes")];
    let votes = [vote(&step, &item, "a", false, &rewrite)];
    let Outcome::Changed { row, before, after, .. } =
        outcome_of(review_of("flub", "clean"), posted.clone(), false, &votes)
    else {
        panic!()
    };
    assert_eq!((row.text("text"), row.text("original")), (Some("鱼会口渴吗？"), Some("鱼渴吗 转发")));
    assert_eq!(
        (before.as_str(), after.as_str(), row.flag("is_question")),
        ("鱼渴吗 转发", "鱼会口渴吗？", Some(true))
    );
    let mut votes = [vote(&step, &item, "a", false, &[("verdict", "reject")])];
    votes[0].values.set("reasons", vec!["impolite".to_owned()]);
    votes[0] = votes[0].clone().with_id();
    let rejected = outcome_of(review_of("flub", "clean"), posted, false, &votes);
    assert!(matches!(rejected, Outcome::Dropped { reason: Reason::Rejected, .. }), "{rejected:?}");
}

#[test]
fn an_explanation_of_an_older_text_is_asked_for_again() {
    let text = cunning_text("旧");
    let step = review_of("flub", "explanation").ballot_by_settings(&settings(&[]));
    let item = item(&step, &text);
    let votes = ["a", "b"].map(|name| vote(&step, &item, name, false, &[("explanation", "因为。")]));
    let waits = outcome_of(review_of("flub", "explanation"), text.clone(), false, &votes);
    let Outcome::Held { evidence, .. } = &waits else { panic!("{waits:?}") };
    assert!(evidence.contains("1 review vote still needed from senior"), "{evidence}");
    let rewritten = cunning_text("新");
    let Outcome::Held { evidence, .. } =
        outcome_of(review_of("flub", "explanation"), rewritten, false, &votes)
    else {
        panic!()
    };
    assert!(
        evidence.contains("2 first-round votes still needed") && evidence.contains("outdated"),
        "{evidence}"
    );
}

#[test]
fn candidates_are_three_from_each_and_three_are_picked() {
    let text = cunning_text("鱼");
    let step = review_of("flub", "wrong-candidates").ballot_by_settings(&settings(&[]));
    let shown = item(&step, &text);
    let votes = ["b", "a", "c"].map(|name| {
        let texts = [1, 2, 3].map(|n| format!("{name}{n}"));
        let values = [("wrong_1", &*texts[0]), ("wrong_2", &texts[1]), ("wrong_3", &texts[2])];
        vote(&step, &shown, name, false, &values)
    });
    let Outcome::Changed { row: text, .. } =
        outcome_of(review_of("flub", "wrong-candidates"), text, false, &votes)
    else {
        panic!()
    };
    assert_eq!(text.list("candidates"), ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"]);
    let step = review_of("flub", "wrong").ballot_by_settings(&settings(&[]));
    let shown = item(&step, &text);
    let mut votes = [vote(&step, &shown, "s", false, &[])];
    votes[0].values.set("wrong", vec!["1".to_owned(), "5".into(), "9".into()]);
    votes[0] = votes[0].clone().with_id();
    let Outcome::Changed { row, .. } = outcome_of(review_of("flub", "wrong"), text, false, &votes) else {
        panic!()
    };
    assert_eq!(row.list("wrong"), ["a1", "b2", "c3"]);
}

#[test]
fn a_joke_waits_until_all_its_opponents_are_voted_on() {
    let values = json!({
        "id": "j",
        "explanation": "人写的。",
        "opponents": ["m", "n"],
        "opponent_explanations": ["甲。", "乙。"],
    });
    let joke = make_row("jokes", values);
    let step = review_of("chumor", "preference").ballot_by_settings(&settings(&[]));
    let items = items_of_record(&joke, &step, 1);
    assert!(items.len() == 2 && items[0].id != items[1].id);
    let cast = |item: &Item, codes: [&str; 3]| {
        let names = ["a", "b", "c"].into_iter().zip(codes);
        names.map(|(name, code)| vote(&step, item, name, false, &[("preference", code)])).collect::<Vec<_>>()
    };
    let mut votes = cast(&items[0], ["human", "human", "equal"]);
    assert!(matches!(
        outcome_of(review_of("chumor", "preference"), joke.clone(), false, &votes),
        Outcome::Held { .. }
    ));
    votes.extend(cast(&items[1], ["human", "llm", "equal"]));
    let Outcome::Changed { row, after, .. } =
        outcome_of(review_of("chumor", "preference"), joke, false, &votes)
    else {
        panic!()
    };
    assert_eq!(row.list("votes"), ["human human equal", "human llm equal"]);
    assert_eq!(row.list("verdicts"), ["human", "undecided"]);
    assert_eq!(after, "m: human; n: undecided");
}
