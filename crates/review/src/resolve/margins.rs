//! Who wins at the margins: votes of something else, adjudicators who contradict each other, samples beside people.

use super::*;
use crate::ballot::{KEEP, Role};
use crate::ballots;
use crate::testing::{one_answer, test_item, test_vote};

fn resolve_votes(ballot: &Ballot, item: &Item, votes: &[Vote]) -> Resolution {
    resolve_item(ballot, item, &votes.iter().collect::<Vec<_>>())
}

fn reasons_of(resolution: &Resolution) -> &[UndecidedReason] {
    match resolution.pending() {
        Some(Pending::Adjudicate { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

fn confirmed_values(resolution: &Resolution) -> &Values {
    match &resolution.outcome {
        Outcome::Confirmed { values, .. } => values,
        other => panic!("{other:?}"),
    }
}

fn is_waiting(resolution: &Resolution, wanted: usize) -> bool {
    matches!(resolution.pending(), Some(Pending::Waiting { votes, .. }) if *votes == wanted)
}

#[test]
fn a_vote_counts_for_its_own_item_step_and_recipe() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let item = test_item(&step, "i", &[]);
    let own = test_vote(&step, &item, Round::Vote, "a", one_answer("screen", KEEP));
    let kept = resolve_votes(&step, &item, std::slice::from_ref(&own));
    assert_eq!(confirmed_values(&kept).text_of("screen"), Some(KEEP));
    let foreign = [
        Vote { item: "j".into(), ..own.clone() }.with_id(),
        Vote { step: "preference".into(), ..own.clone() }.with_id(),
        Vote { recipe: "flub".into(), ..own }.with_id(),
    ];
    for vote in foreign {
        let found = resolve_votes(&step, &item, std::slice::from_ref(&vote));
        assert!(is_waiting(&found, 1) && found.stale.is_empty(), "{vote:?}");
    }
}

#[test]
fn as_many_votes_are_missing_as_were_not_cast() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let item = test_item(&step, "i", &[]);
    let cast = |name: &str| test_vote(&step, &item, Round::Vote, name, one_answer("preference", "human"));
    assert!(is_waiting(&resolve_votes(&step, &item, &[]), 3));
    assert!(is_waiting(&resolve_votes(&step, &item, &[cast("a")]), 2));
    // A sample's vote is none that a person need not cast.
    let made_up = Vote { synthetic: true, ..cast("s") }.with_id();
    assert!(is_waiting(&resolve_votes(&step, &item, &[cast("a"), made_up]), 2));
}

#[test]
fn nobody_is_asked_about_what_is_published_until_somebody_votes() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let published = test_item(&step, "published:chumor:1", &[]);
    let untouched = resolve_votes(&step, &published, &[]);
    assert!(untouched.published && untouched.pending().is_none());
    assert!(matches!(untouched.outcome, Outcome::Pending(_)));
    let cast = test_vote(&step, &published, Round::Vote, "a", one_answer("preference", "human"));
    let voted = resolve_votes(&step, &published, &[cast]);
    assert!(!voted.published && is_waiting(&voted, 2));
    assert!(!resolve_votes(&step, &test_item(&step, "tieba:1", &[]), &[]).published);
}

#[test]
fn without_a_draft_nothing_goes_ahead() {
    let mut step = ballots::find_step("ruozhibench-gen", "irrationality").unwrap();
    step.draft_ahead = true;
    assert!(matches!(resolve_votes(&step, &test_item(&step, "i", &[]), &[]).outcome, Outcome::Pending(_)));
}

#[test]
fn whoever_answered_twice_is_asked_where_one_vote_is_enough_too() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let item = test_item(&step, "i", &[]);
    let keep = test_vote(&step, &item, Round::Vote, "a", one_answer("screen", KEEP));
    let reject = [("screen", Value::List(vec!["forum".into()]))].into_iter().collect();
    let reject = test_vote(&step, &item, Round::Vote, "a", reject);
    let found = resolve_votes(&step, &item, &[keep, reject]);
    assert!(
        matches!(reasons_of(&found), [UndecidedReason::Twice { round: Round::Vote, answers }] if answers.len() == 2)
    );

    // Where several vote it is said once, and only of the round in which it was.
    let step = ballots::find_step("chumor", "preference").unwrap();
    let item = crate::testing::test_item(&step, "i", &[]);
    let cast =
        |name: &str, code: &str| test_vote(&step, &item, Round::Vote, name, one_answer("preference", code));
    let votes = [cast("a", "human"), cast("a", "llm"), cast("b", "human"), cast("c", "human")];
    let answers = vec!["preference: human".to_owned(), "preference: llm".to_owned()];
    assert_eq!(
        reasons_of(&resolve_votes(&step, &item, &votes)),
        [UndecidedReason::Twice { round: Round::Vote, answers }]
    );
}

/// Two annotators who differ, and what adjudicators said.
fn adjudicate_votes(ballot: &Ballot, item: &Item, last: &[Vote]) -> Resolution {
    let codes = |code: &str| -> Values {
        let values = [("categories", Value::List(vec![code.into()])), ("sure", Value::from("yes"))];
        values.into_iter().collect()
    };
    let mut votes = vec![
        test_vote(ballot, item, Round::Vote, "a", codes("2")),
        test_vote(ballot, item, Round::Vote, "b", codes("3")),
    ];
    votes.extend_from_slice(last);
    resolve_votes(ballot, item, &votes)
}

#[test]
fn adjudicators_who_contradict_each_other_are_asked_again_until_one_is_settled() {
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let item = test_item(&step, "i", &[]);
    let decided = |name: &str, code: &str, at: &str| {
        let values = [("categories", Value::List(vec![code.into()]))].into_iter().collect();
        Vote { at: at.into(), ..test_vote(&step, &item, Round::Adjudication, name, values) }.with_id()
    };
    let said = |resolution: &Resolution| {
        confirmed_values(resolution).get("categories").unwrap().as_list().unwrap().to_vec()
    };
    let first = decided("m", "2", "2026-01-01T00:00:00Z");
    let second = decided("n", "3", "2026-01-02T00:00:00Z");
    let both = adjudicate_votes(&step, &item, &[first.clone(), second.clone()]);
    assert_eq!(said(&both), ["3"], "who knew of the other has the last word");

    let against = Vote { contradicts: vec![first.id], ..second.clone() };
    let torn = adjudicate_votes(&step, &item, &[first.clone(), against.clone()]);
    let [UndecidedReason::Twice { round: Round::Adjudication, answers }] = reasons_of(&torn) else {
        panic!("{torn:?}")
    };
    assert_eq!(answers.len(), 2, "each once: {answers:?}");

    let third = decided("o", "4", "2026-01-03T00:00:00Z");
    for settles in [vec![first.id], vec![against.id], vec![first.id, against.id]] {
        let third = Vote { settles, ..third.clone() };
        let settled = adjudicate_votes(&step, &item, &[first.clone(), against.clone(), third]);
        assert_eq!(said(&settled), ["4"]);
    }
    let unsettled = adjudicate_votes(&step, &item, &[first, against, third]);
    assert_eq!(reasons_of(&unsettled).len(), 1, "a third word that settles none leaves them torn");
}

#[test]
fn a_sample_does_not_settle_what_people_dispute() {
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let item = test_item(&step, "i", &[]);
    let values = [("categories", Value::List(vec!["3".into()]))].into_iter().collect();
    let last = test_vote(&step, &item, Round::Adjudication, "x", values);
    let made_up = Vote { synthetic: true, ..last.clone() }.with_id();
    let disputed = adjudicate_votes(&step, &item, &[made_up]);
    assert!(
        matches!(reasons_of(&disputed), [UndecidedReason::Differ { field: "categories", answers }] if answers.len() == 2)
    );
    assert!(matches!(
        adjudicate_votes(&step, &item, &[last]).outcome,
        Outcome::Confirmed { synthetic: false, .. }
    ));
}

#[test]
fn unanimity_is_of_all_and_not_of_most() {
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let item = test_item(&step, "i", &[]);
    let cast = |name: &str, code: &str| {
        let codes = Value::List(vec![code.into()]);
        let values = [("categories", codes), ("sure", Value::from("yes"))].into_iter().collect();
        test_vote(&step, &item, Round::Vote, name, values)
    };
    let most = resolve_votes(&step, &item, &[cast("a", "2"), cast("b", "2"), cast("c", "3")]);
    assert!(matches!(most.pending(), Some(Pending::Adjudicate { by: Role::Meta, .. })), "{most:?}");
}

#[test]
fn a_mean_is_of_numbers() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let field = step.fields[0].clone().set_combination(Combine::Mean);
    let numbers = [2.0, 4.0, 5.0, 5.0].map(Value::Number);
    let numbers: Vec<&Value> = numbers.iter().collect();
    assert_eq!(combine_answers(&field, &numbers).unwrap(), Some(Value::Number(4.0)));
    let text = Value::from("human");
    assert_eq!(combine_answers(&field, &[&text]).unwrap(), None);
    assert_eq!(combine_answers(&field, &[]).unwrap(), None);
}

#[test]
fn a_remark_of_the_reviewer_modifies_nothing() {
    let step = ballots::find_step("flub", "type").unwrap();
    let item = test_item(&step, "i", &[]);
    let mut votes: Vec<Vote> = ["a", "b", "c"]
        .map(|name| test_vote(&step, &item, Round::Vote, name, one_answer("type", "paradox")))
        .into_iter()
        .collect();
    let seen = review_item(&step, &item, &votes.iter().collect::<Vec<_>>());
    let also = ("also", Value::List(vec!["ambiguity".into()]));
    let values = [("type", Value::from("paradox")), ("main_type", Value::from("clear")), also];
    votes.push(test_vote(&step, &seen, Round::Review, "s", values.into_iter().collect()));
    assert_eq!(resolve_votes(&step, &item, &votes).modified, Some(false));

    // Who decides sees both rounds, and decides on the item itself.
    let dispute = dispute_item(&step, &item, &votes.iter().collect::<Vec<_>>());
    assert_eq!(dispute.content_hash, item.content_hash);
    for shown in ["votes.type", "review.type"] {
        let answers = dispute.content.get(shown).and_then(Value::as_list).unwrap();
        assert_eq!(answers.len(), if shown == "votes.type" { 3 } else { 1 }, "{shown}");
    }
}

#[test]
fn a_reviewer_sees_the_sample_only_where_people_are_too_few() {
    let step = ballots::find_step("flub", "type").unwrap();
    let item = test_item(&step, "i", &[]);
    let cast = |name: &str| test_vote(&step, &item, Round::Vote, name, one_answer("type", "paradox"));
    let made_up = Vote { synthetic: true, ..cast("s") }.with_id();
    let shown = |votes: &[Vote]| {
        let seen = review_item(&step, &item, &votes.iter().collect::<Vec<_>>());
        seen.content.get("votes.type").and_then(Value::as_list).map_or(0, <[String]>::len)
    };
    assert_eq!(shown(&[cast("a"), cast("b"), cast("c"), made_up.clone()]), 3, "enough people");
    assert_eq!(shown(&[cast("a"), cast("b"), made_up.clone()]), 3, "two and the sample");
    let other = crate::testing::test_item(&step, "other", &[]);
    for uncounted in [
        Vote { item: "j".into(), ..cast("c") },
        Vote { step: "clean".into(), ..cast("c") },
        Vote { recipe: "chumor".into(), ..cast("c") },
        Vote { round: Round::Review, ..cast("c") },
        Vote { content_hash: other.content_hash, ..cast("c") },
    ] {
        let votes = [cast("a"), cast("b"), uncounted.with_id(), made_up.clone()];
        assert_eq!(shown(&votes), 3, "{:?}", votes[2]);
    }
}

#[test]
fn what_is_missing_is_said_in_words() {
    let waiting =
        |round, votes| Pending::Waiting { round, on: vec![Role::Junior, Role::Senior], votes }.to_string();
    assert_eq!(waiting(Round::Vote, 1), "1 first-round vote still needed from junior or senior");
    assert_eq!(waiting(Round::Vote, 2), "2 first-round votes still needed from junior or senior");
    assert_eq!(waiting(Round::Review, 1), "1 review vote still needed from junior or senior");
    for (round, who) in
        [(Round::Vote, "one voter"), (Round::Review, "one reviewer"), (Round::Adjudication, "adjudicators")]
    {
        let twice = UndecidedReason::Twice { round, answers: vec!["x: 1".into(), "x: 2".into()] };
        assert_eq!(
            twice.to_string(),
            format!("{who} gave two different answers independently (x: 1 / x: 2)")
        );
    }
    // The reason is no part of the answer.
    let step = ballots::find_step("chumor", "preference").unwrap();
    let item = test_item(&step, "i", &[]);
    let values = [("preference", Value::from("human")), (REASON, Value::from("because"))];
    let one = test_vote(&step, &item, Round::Adjudication, "m", values.into_iter().collect());
    let twice = UndecidedReason::answered_twice(Round::Adjudication, &one, &[]);
    assert_eq!(
        twice,
        UndecidedReason::Twice { round: Round::Adjudication, answers: vec!["preference: human".into()] }
    );
}
