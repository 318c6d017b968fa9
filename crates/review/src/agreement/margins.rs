//! Which votes are measured, and small tables whose coefficients follow by hand.

use rustc_hash::FxHashMap;

use super::*;
use crate::ballot::{AnswerKind, Ballot, Combine, Drafts, Field, KEEP, Round};
use crate::ballots;
use crate::item::Item;
use crate::testing::{one_answer, test_item, test_vote};
use crate::value::{Value, Values};
use crate::votes::Vote;

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

fn by_item(votes: &[Vote]) -> FxHashMap<&str, Vec<&Vote>> {
    let mut by_item: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
    votes.iter().for_each(|vote| by_item.entry(&vote.item).or_default().push(vote));
    by_item
}

fn agreed_fields(ballot: &Ballot, items: &[Item], votes: &[Vote]) -> Vec<FieldAgreement> {
    step_agreement(ballot, items, &by_item(votes), Bootstrap::NONE).fields
}

fn agreed_field(ballot: &Ballot, items: &[Item], votes: &[Vote], name: &str) -> FieldAgreement {
    agreed_fields(ballot, items, votes).into_iter().find(|field| field.field == name).unwrap()
}

fn test_items(ballot: &Ballot, count: usize) -> Vec<Item> {
    (0..count).map(|at| test_item(ballot, &format!("i{at}"), &[])).collect()
}

#[test]
fn an_exact_share_is_clopper_and_pearsons() {
    let [low, high] = exact::share_interval(0.3, 10, 0.95);
    assert!((low - 0.06674).abs() < 1e-5 && (high - 0.65245).abs() < 1e-5, "{low} {high}");
    assert!(is_close(exact::unseen_share(2, 0.95), 1.0 - 0.025f64.sqrt()));
    assert_eq!(exact::share_interval(0.0, 5, 0.95)[0], 0.0);
    assert_eq!(exact::share_interval(1.0, 5, 0.95)[1], 1.0);
}

#[test]
fn two_raters_are_counted_cell_by_cell() {
    let mut table = Confusion::new(2);
    assert_eq!((table.count_units(), table.percent_agreement()), (0, None));
    for (first, second) in [(0, 0), (1, 1), (0, 1), (2, 0), (0, 2), (2, 2)] {
        table.push(first, second);
    }
    // What is outside of the scale is no unit.
    assert_eq!(table.count_units(), 3);
    assert!(is_close(table.percent_agreement().unwrap(), 2.0 / 3.0));
    // By chance 2/3 · 2/3 + 1/3 · 1/3 differ.
    assert!(is_close(table.cohen_kappa(Weights::None).unwrap(), 1.0 - (1.0 / 3.0) / (5.0 / 9.0)));
}

#[test]
fn alpha_of_ratios_by_hand() {
    let mut units = Units::of_values(vec![0.0, 1.0, 2.0]);
    units.push([0, 1]);
    units.push([1, 2]);
    assert!(is_close(krippendorff_alpha(&units, Level::Ratio).unwrap(), -1.0 / 29.0));
    // Values whose sum is zero have no ratio.
    let mut opposite = Units::of_values(vec![-1.0, 1.0]);
    opposite.push([0, 1]);
    assert_eq!(krippendorff_alpha(&opposite, Level::Ratio), None);
}

#[test]
fn chance_is_each_coefficients_own() {
    let mut units = Units::of_categories(2);
    (0..3).for_each(|_| units.push([0, 0, 1]));
    let chance = |which: Coefficient| which.chance_agreement(&units).unwrap();
    assert_eq!(chance(Coefficient::Percent), 0.0);
    assert!(is_close(chance(Coefficient::Fleiss), 5.0 / 9.0));
    assert!(is_close(chance(Coefficient::Alpha(Level::Nominal)), 5.0 / 9.0));
    assert!(is_close(chance(Coefficient::Ac1), 4.0 / 9.0));
    for (which, by_itself) in [
        (Coefficient::Percent, percent_agreement(&units)),
        (Coefficient::Fleiss, fleiss_kappa(&units)),
        (Coefficient::Alpha(Level::Nominal), krippendorff_alpha(&units, Level::Nominal)),
        (Coefficient::Ac1, gwet_ac1(&units)),
    ] {
        assert!(by_itself.is_some() && which.compute_value(&units) == by_itself, "{which:?}");
    }
}

#[test]
fn a_pattern_that_a_resample_lacks_counts_nothing() {
    let mut units = Units::of_categories(2);
    units.push([0, 1]);
    units.push([0, 0]);
    units.push([0, 0, 1]);
    assert_eq!((units.count_pairable(), units.count_ratings()), (3, 7));
    units.push([1]);
    units.push([7]);
    assert_eq!(
        (units.count_pairable(), units.count_ratings()),
        (3, 8),
        "a unit rated once, and one without a rating"
    );
    assert_eq!(Coefficient::Fleiss.compute_weighted(&units, &[1, 1, 1, 0]), None, "not rated equally often");
    assert!(Coefficient::Fleiss.compute_weighted(&units, &[1, 1, 0, 5]).is_some());
}

#[test]
fn only_current_votes_of_the_first_round_on_todays_text_are_measured() {
    let step = ballots::find_step("flub", "type").unwrap();
    let all = test_items(&step, 2);
    let cast = |at: usize, name: &str, code: &str| {
        test_vote(&step, &all[at], Round::Vote, name, one_answer("type", code))
    };
    let votes = vec![cast(0, "a", "paradox"), cast(0, "b", "paradox"), cast(1, "a", "ambiguity")];
    let own = agreed_field(&step, &all, &votes, "type");
    assert_eq!((own.items, own.votes), (1, 3));
    let text = crate::testing::test_item(&step, "another text", &[]);
    for other in [
        Vote { content_hash: text.content_hash, ..cast(1, "b", "word_game") },
        Vote { round: Round::Review, ..cast(1, "b", "word_game") },
        Vote { synthetic: true, ..cast(1, "b", "word_game") },
        Vote { item: "unknown".into(), ..cast(1, "b", "word_game") },
    ] {
        let with = [&votes[..], &[other.with_id()]].concat();
        assert_eq!(agreed_field(&step, &all, &with, "type"), own, "{:?}", with[3]);
    }
    let second = [&votes[..], &[cast(1, "b", "word_game")]].concat();
    assert_eq!(agreed_field(&step, &all, &second, "type").items, 2);
}

#[test]
fn each_annotator_is_compared_with_the_others() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let all = test_items(&step, 3);
    let mut votes = Vec::new();
    for (at, codes) in [["human", "human", "llm"], ["human", "llm", "llm"]].iter().enumerate() {
        for (name, code) in ["a", "b", "c"].into_iter().zip(codes) {
            votes.push(test_vote(&step, &all[at], Round::Vote, name, one_answer("preference", code)));
        }
    }
    // Two of three votes: in every figure but Fleiss' kappa.
    for name in ["a", "b"] {
        votes.push(test_vote(&step, &all[2], Round::Vote, name, one_answer("preference", "equal")));
    }
    let reviewed = test_vote(&step, &all[2], Round::Vote, "d", one_answer("preference", "equal"));
    votes.push(Vote { round: Round::Review, ..reviewed }.with_id());
    let found = agreed_field(&step, &all, &votes, "preference");
    assert_eq!((found.items, found.votes, found.level), (3, 8, Level::Nominal));
    let shares: Vec<(&str, u64, f64)> =
        found.annotators.iter().map(|a| (a.name.as_str(), a.votes, a.percent.unwrap())).collect();
    let [(a, 3, of_a), (b, 3, of_b), (c, 2, of_c)] = shares[..] else { panic!("{shares:?}") };
    assert_eq!((a, b, c), ("a", "b", "c"));
    assert!(is_close(of_a, (0.5 + 0.0 + 1.0) / 3.0) && is_close(of_b, (0.5 + 0.5 + 1.0) / 3.0), "{shares:?}");
    assert!(is_close(of_c, (0.0 + 0.5) / 2.0), "{shares:?}");
    let pairs: Vec<([&str; 2], u64, f64)> = found
        .pairs
        .iter()
        .map(|pair| ([pair.names[0].as_str(), pair.names[1].as_str()], pair.items, pair.percent.unwrap()))
        .collect();
    assert_eq!(
        pairs.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>(),
        [(["a", "b"], 3), (["a", "c"], 2), (["b", "c"], 2)]
    );
    assert!(is_close(pairs[0].2, 2.0 / 3.0) && pairs[1].2 == 0.0 && pairs[2].2 == 0.5, "{pairs:?}");
    assert!(found.pairs.iter().all(|pair| pair.linear.is_none() && pair.quadratic.is_none()));
    // Six ratings, three of each; of six pairs two agree: (1/3 - 1/2) / (1/2).
    assert!(is_close(found.fleiss.unwrap().value, -1.0 / 3.0), "{:?}", found.fleiss);
    // Alone with an item nobody is compared.
    let alone = agreed_field(&step, &all, &votes[..1], "preference");
    assert_eq!((alone.annotators[0].votes, alone.annotators[0].percent), (1, None));
}

#[test]
fn changed_drafts_are_counted_where_they_were_seen() {
    let shown = Ballot { drafts: Drafts::Shown, ..ballots::find_step("flub", "type").unwrap() };
    let edits = |ballot: &Ballot| {
        let drafted = test_item(ballot, "i0", &[("type", "paradox")]);
        let without = test_item(ballot, "i1", &[]);
        let cast = |item: &Item, name: &str, code: &str| {
            test_vote(ballot, item, Round::Vote, name, one_answer("type", code))
        };
        let votes = [
            cast(&drafted, "a", "paradox"),
            cast(&drafted, "b", "ambiguity"),
            cast(&drafted, "c", "paradox"),
            cast(&without, "a", "paradox"),
        ];
        agreed_field(ballot, &[drafted, without], &votes, "type").drafts
    };
    let seen = edits(&shown);
    assert_eq!(seen, Edits { seen: 3, changed: 1 });
    assert!(is_close(seen.rate().unwrap(), 1.0 / 3.0));
    let blind = edits(&Ballot { drafts: Drafts::Hidden, ..shown });
    assert_eq!((blind, blind.rate()), (Edits::default(), None));
}

#[test]
fn rejections_agree_whatever_their_reasons() {
    let step = ballots::find_step("ruozhibench-gen", "screen").unwrap();
    let all = test_items(&step, 2);
    let reject =
        |reason: &str| -> Values { [("screen", Value::List(vec![reason.to_owned()]))].into_iter().collect() };
    let votes = [
        test_vote(&step, &all[0], Round::Vote, "a", reject("harmful")),
        test_vote(&step, &all[0], Round::Vote, "b", reject("no_trap")),
        test_vote(&step, &all[1], Round::Vote, "a", one_answer("screen", KEEP)),
        test_vote(&step, &all[1], Round::Vote, "b", reject("no_trap")),
    ];
    let found = agreed_field(&step, &all, &votes, "screen");
    assert_eq!((found.votes, found.percent.unwrap().value), (4, 0.5));
}

#[test]
fn sets_agree_as_a_whole_and_option_by_option() {
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let all = test_items(&step, 1);
    let marked = |codes: &[&str]| -> Values {
        let codes = codes.iter().map(|code| (*code).to_owned()).collect();
        [("categories", Value::List(codes))].into_iter().collect()
    };
    let votes = [
        test_vote(&step, &all[0], Round::Vote, "a", marked(&["2", "3"])),
        test_vote(&step, &all[0], Round::Vote, "b", marked(&["2"])),
    ];
    let found = agreed_fields(&step, &all, &votes);
    let percent = |name: &str| {
        let field = found.iter().find(|field| field.field == name).unwrap();
        (field.votes, field.percent.unwrap().value)
    };
    assert_eq!(percent("categories"), (2, 0.0));
    assert_eq!((percent("categories:2"), percent("categories:3")), ((2, 1.0), (2, 0.0)));
    // Whether somebody is sure is collected, not agreed on.
    assert!(found.iter().all(|field| field.field != "sure"));
}

#[test]
fn scores_have_an_order() {
    let mut step = ballots::find_step("chumor", "preference").unwrap();
    let score = AnswerKind::Score { min: 1, max: 5 };
    step.fields = vec![Field::new("score", step.fields[0].label, score).set_combination(Combine::Mean)];
    let all = test_items(&step, 3);
    let mut votes = Vec::new();
    for (at, scores) in [[1.0, 2.0], [5.0, 5.0], [3.0, 3.0]].iter().enumerate() {
        for (name, score) in ["a", "b"].into_iter().zip(scores) {
            let values = [("score", Value::Number(*score))].into_iter().collect();
            votes.push(test_vote(&step, &all[at], Round::Vote, name, values));
        }
    }
    let found = agreed_field(&step, &all, &votes, "score");
    assert_eq!((found.level, found.items, found.votes), (Level::Interval, 3, 6));
    let pair = &found.pairs[0];
    assert!(pair.linear.unwrap() > pair.kappa.unwrap(), "a step apart is nearly the same: {pair:?}");
    assert!(pair.quadratic.unwrap() > pair.linear.unwrap(), "{pair:?}");
    // What every voter may add is not agreed on.
    step.fields[0] = step.fields[0].clone().set_combination(Combine::Collect);
    assert!(agreed_fields(&step, &all, &votes).is_empty());
}

#[test]
fn pooled_questions_take_current_votes_of_one_kind() {
    let step = ballots::find_step("brainteaser", "validity").unwrap();
    let all = test_items(&step, 3);
    let answers = |code: &'static str| -> Values {
        [("original", code), ("semantic", code), ("context", code)].into_iter().collect()
    };
    let cast = |at: usize, name: &str| test_vote(&step, &all[at], Round::Vote, name, answers("yes"));
    let votes = vec![
        cast(0, "a"),
        cast(0, "b"),
        cast(0, "c"),
        cast(1, "a"),
        cast(1, "b"),
        cast(1, "c"),
        cast(2, "a"),
    ];
    let found = |votes: &[Vote]| pool_questions(&step, &all, &by_item(votes), Bootstrap::NONE).unwrap();
    let own = found(&votes);
    assert_eq!((own.items, own.sample), (2, false), "one vote on the third");
    assert!(own.shares.iter().all(|(_, share)| *share == 1.0));
    let text = test_item(&step, "another text", &[]);
    let no = |name: &str| test_vote(&step, &all[2], Round::Vote, name, answers("no"));
    for other in [
        Vote { content_hash: text.content_hash, ..no("b") },
        Vote { round: Round::Review, ..no("b") },
        Vote { synthetic: true, ..no("b") },
    ] {
        let with = [&votes[..], &[other.with_id()]].concat();
        assert_eq!(found(&with), own, "{:?}", with[7]);
    }
    let second = found(&[&votes[..], &[no("b")]].concat());
    assert_eq!(second.items, 3);
    // `b` found two of three items valid, `a` and `c` all of theirs.
    assert!(second.shares.iter().all(|(_, share)| is_close(*share, (1.0 + 2.0 / 3.0 + 1.0) / 3.0)));
    // A step that asks one such question is not pooled, whoever voted.
    let mut one_question = step.clone();
    one_question.fields.truncate(1);
    assert_eq!(pool_questions(&one_question, &all, &by_item(&votes), Bootstrap::NONE), None);
}
