//! How votes combine, ballot by ballot.

use proptest::prelude::*;

use super::*;
use crate::ballot::{KEEP, Role};
use crate::ballots;
use crate::testing::{one_answer, test_vote};

fn content(text: &str) -> Content {
    Content::from([("text".to_owned(), Value::from(text))])
}

fn item(ballot: &Ballot, draft: &[(&str, &str)]) -> Item {
    Item::new(ballot, "i", content("x"), draft.iter().copied().collect())
}

fn voted(ballot: &Ballot, item: &Item, field: &str, codes: &[&str]) -> Vec<Vote> {
    let cast = |(at, code): (usize, &&str)| {
        test_vote(ballot, item, Round::Vote, &format!("a{at}"), one_answer(field, code))
    };
    codes.iter().enumerate().map(cast).collect()
}

fn outcome(ballot: &Ballot, item: &Item, votes: &[Vote]) -> Resolution {
    resolve_item(ballot, item, &votes.iter().collect::<Vec<_>>())
}

fn confirmed(resolution: &Resolution) -> &Values {
    match &resolution.outcome {
        Outcome::Confirmed { values, .. } => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn chumor_takes_a_majority_or_says_undecided() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let item = item(&step, &[]);
    for (codes, winner) in [
        (["human", "llm", "human"], "human"),
        (["equal", "equal", "llm"], "equal"),
        (["human", "llm", "equal"], "undecided"),
    ] {
        let resolution = outcome(&step, &item, &voted(&step, &item, "preference", &codes));
        assert_eq!(confirmed(&resolution).text_of("preference"), Some(winner));
    }
    let two = outcome(&step, &item, &voted(&step, &item, "preference", &["human", "human"]));
    assert!(matches!(two.pending(), Some(Pending::Waiting { votes: 1, .. })));
}

#[test]
fn a_majority_is_more_than_half() {
    assert_eq!(majority_answer([("a", 2), ("b", 1)]), Some("a"));
    assert_eq!(majority_answer([("a", 2), ("b", 1), ("c", 1)]), None, "half is none");
    assert_eq!(majority_answer([("a", 0), ("b", 1)]), Some("b"));
    assert_eq!(majority_answer([("a", 0)]), None, "nobody voted");
}

#[test]
fn a_senior_has_the_say_over_three_juniors_and_modifications_are_counted() {
    let step = ballots::find_step("flub", "type").unwrap();
    let item = item(&step, &[]);
    let juniors = voted(&step, &item, "type", &["paradox", "paradox", "ambiguity"]);
    let waits = outcome(&step, &item, &juniors);
    assert!(matches!(waits.pending(), Some(Pending::Waiting { round: Round::Review, votes: 1, .. })));

    let seen = review_item(&step, &item, &juniors.iter().collect::<Vec<_>>());
    assert_eq!(seen.content["votes.type"].as_list().unwrap().len(), 3);
    let review = |code: &str, main: &str| {
        let values = [("type", code), ("main_type", main)].into_iter().collect();
        let mut votes = juniors.clone();
        votes.push(test_vote(&step, &seen, Round::Review, "s", values));
        outcome(&step, &item, &votes)
    };
    assert_eq!(review("paradox", "clear").modified, Some(false));
    let changed = review("ambiguity", "clear");
    assert_eq!((changed.modified, confirmed(&changed).text_of("type")), (Some(true), Some("ambiguity")));
    let discussed = review("ambiguity", "discuss");
    assert!(matches!(discussed.pending(), Some(Pending::Adjudicate { why, .. }) if why.len() == 1));

    // All juniors disagree: nothing to modify, the senior still decides.
    let differ = voted(&step, &item, "type", &["paradox", "word_game", "ambiguity"]);
    let seen = review_item(&step, &item, &differ.iter().collect::<Vec<_>>());
    let mut votes = differ;
    let values = [("type", "paradox"), ("main_type", "clear")].into_iter().collect();
    votes.push(test_vote(&step, &seen, Round::Review, "s", values));
    let resolution = outcome(&step, &item, &votes);
    assert_eq!((resolution.modified, confirmed(&resolution).text_of("type")), (Some(false), Some("paradox")));
}

#[test]
fn a_junior_who_changes_their_mind_makes_the_review_stale() {
    let step = ballots::find_step("flub", "type").unwrap();
    let item = item(&step, &[]);
    let mut votes = voted(&step, &item, "type", &["paradox", "paradox", "ambiguity"]);
    let seen = review_item(&step, &item, &votes.iter().collect::<Vec<_>>());
    let values = [("type", "paradox"), ("main_type", "clear")].into_iter().collect();
    votes.push(test_vote(&step, &seen, Round::Review, "s", values));
    let supersedes = Some(votes[0].id);
    let changed = test_vote(&step, &item, Round::Vote, "a0", one_answer("type", "ambiguity"));
    votes.push(Vote { supersedes, ..changed });
    let resolution = outcome(&step, &item, &votes);
    assert_eq!(resolution.stale.len(), 1);
    assert!(matches!(resolution.pending(), Some(Pending::Waiting { round: Round::Review, .. })));
}

#[test]
fn a_vote_on_an_older_text_is_stale_and_not_counted() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let old = item(&step, &[]);
    let new = Item::new(&step, "i", content("y"), Values::new());
    let votes = voted(&step, &old, "screen", &[KEEP]);
    assert!(matches!(outcome(&step, &old, &votes).outcome, Outcome::Confirmed { .. }));
    let resolution = outcome(&step, &new, &votes);
    assert_eq!(resolution.stale, [votes[0].id]);
    assert!(resolution.pending().is_some());
}

#[test]
fn rejections_count_together_and_their_reasons_are_put_together() {
    let step = ballots::find_step("ruozhibench-gen", "screen").unwrap();
    let item = item(&step, &[]);
    let reject = |name: &str, reasons: &[&str]| {
        let reasons = Value::List(reasons.iter().map(|reason| (*reason).to_owned()).collect());
        test_vote(&step, &item, Round::Vote, name, [("screen", reasons)].into_iter().collect())
    };
    let keep = test_vote(&step, &item, Round::Vote, "c", one_answer("screen", KEEP));
    let votes = [reject("a", &["harmful"]), reject("b", &["culture_bound"]), keep];
    let resolution = outcome(&step, &item, &votes);
    assert_eq!(
        confirmed(&resolution).get("screen").unwrap().as_list().unwrap(),
        ["culture_bound", "harmful"]
    );
}

#[test]
fn annotators_who_differ_or_are_unsure_are_decided_by_the_meta_annotator() {
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let item = item(&step, &[]);
    let cast = |name: &str, codes: &[&str], sure: &str| {
        let codes = Value::List(codes.iter().map(|code| (*code).to_owned()).collect());
        let values = [("categories", codes), ("sure", Value::from(sure))].into_iter().collect();
        test_vote(&step, &item, Round::Vote, name, values)
    };
    let agree = outcome(&step, &item, &[cast("a", &["2", "3"], "yes"), cast("b", &["2", "3"], "yes")]);
    assert_eq!(confirmed(&agree).get("categories").unwrap().as_list().unwrap(), ["2", "3"]);
    let differ = [cast("a", &["2"], "yes"), cast("b", &["2", "3"], "yes")];
    let unsure = [cast("a", &["2"], "yes"), cast("b", &["2"], "no")];
    for votes in [&differ, &unsure] {
        let resolution = outcome(&step, &item, votes);
        assert!(
            matches!(resolution.pending(), Some(Pending::Adjudicate { by: Role::Meta, .. })),
            "{resolution:?}"
        );
    }
    let mut votes = differ.to_vec();
    let last = [("categories", Value::List(vec!["3".into()])), (REASON, Value::from("because"))];
    votes.push(test_vote(&step, &item, Round::Adjudication, "m", last.into_iter().collect()));
    let decided = outcome(&step, &item, &votes);
    assert_eq!(confirmed(&decided), &[("categories", Value::List(vec!["3".into()]))].into_iter().collect());
}

#[test]
fn drafts_go_ahead_only_where_the_recipe_says_so() {
    let mut step = ballots::find_step("ruozhibench-gen", "irrationality").unwrap();
    let item = item(&step, &[("irrationality", "d")]);
    assert!(matches!(outcome(&step, &item, &[]).outcome, Outcome::Pending(_)));
    step.draft_ahead = true;
    let ahead = outcome(&step, &item, &[]);
    assert!(matches!(ahead.outcome, Outcome::Provisional { .. }));
    assert_eq!(ahead.values().unwrap().text_of("irrationality"), Some("d"));

    let rewritten = [("verdict", "rewrite"), ("irrationality", "e")].into_iter().collect();
    let edited = outcome(&step, &item, &[test_vote(&step, &item, Round::Vote, "a", rewritten)]);
    assert_eq!(edited.edited, Some(true));

    // Voters who did not see the draft rewrote nothing.
    let blind = Ballot { drafts: Drafts::Hidden, ..step };
    let written = [("verdict", "rewrite"), ("irrationality", "e")].into_iter().collect();
    let decided = outcome(&blind, &item, &[test_vote(&blind, &item, Round::Vote, "a", written)]);
    assert!(matches!(decided.outcome, Outcome::Confirmed { .. }), "{decided:?}");
    assert_eq!(decided.edited, None);
}

#[test]
fn a_samples_votes_confirm_for_the_sample_only() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let item = item(&step, &[]);
    let made_up = |codes: &[&str]| -> Vec<Vote> {
        let cast = |vote: Vote| {
            Vote { synthetic: true, annotator: format!("x{}", vote.annotator), ..vote }.with_id()
        };
        voted(&step, &item, "preference", codes).into_iter().map(cast).collect()
    };
    let mut votes = made_up(&["llm", "llm", "llm"]);
    assert!(matches!(outcome(&step, &item, &votes).outcome, Outcome::Confirmed { synthetic: true, .. }));
    votes.extend(voted(&step, &item, "preference", &["human", "human", "equal"]));
    let resolution = outcome(&step, &item, &votes);
    assert!(matches!(resolution.outcome, Outcome::Confirmed { synthetic: false, .. }));
    assert_eq!(confirmed(&resolution).text_of("preference"), Some("human"));
}

#[test]
fn wrong_answers_are_collected_in_the_order_of_annotators() {
    let step = ballots::find_step("flub", "wrong-candidates").unwrap();
    let item = item(&step, &[]);
    let cast = |name: &str| {
        let texts =
            ["wrong_1", "wrong_2", "wrong_3"].map(|field| (field, Value::Text(format!("{name} {field}"))));
        test_vote(&step, &item, Round::Vote, name, texts.into_iter().collect())
    };
    let resolution = outcome(&step, &item, &[cast("c"), cast("a"), cast("b")]);
    assert_eq!(
        confirmed(&resolution).get("wrong_2").unwrap().as_list().unwrap(),
        ["a wrong_2", "b wrong_2", "c wrong_2"]
    );
}

proptest! {
    #[test]
    fn the_order_of_votes_is_irrelevant(
        codes in prop::collection::vec((0usize..5, 0usize..3, any::<bool>()), 0..12),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let step = ballots::find_step("flub", "type").unwrap();
        let item = item(&step, &[]);
        let mut votes: Vec<Vote> = Vec::new();
        for (who, kind, synthetic) in codes {
            let kind = ["paradox", "ambiguity", "word_game"][kind];
            let name = format!("a{who}");
            let earlier = votes.iter().rev().find(|vote| vote.annotator == name).map(|vote| vote.id);
            let vote = test_vote(&step, &item, Round::Vote, &name, one_answer("type", kind));
            votes.push(Vote { synthetic, base: earlier, supersedes: earlier, ..vote }.with_id());
        }
        let seen = review_item(&step, &item, &votes.iter().collect::<Vec<_>>());
        let values = [("type", "paradox"), ("main_type", "clear")].into_iter().collect();
        votes.push(test_vote(&step, &seen, Round::Review, "s", values));
        let before = outcome(&step, &item, &votes);
        let at = shuffled.index(votes.len());
        votes.rotate_left(at);
        prop_assert_eq!(&before, &outcome(&step, &item, &votes));
        votes.reverse();
        prop_assert_eq!(&before, &outcome(&step, &item, &votes));
    }
}
