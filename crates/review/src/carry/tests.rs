use super::*;
use crate::resolve::{Outcome, resolve_item};
use crate::value::Value;
use crate::{ballots, testing};

fn saying(ballot: &Ballot, id: &str, text: &str, draft: &[(&str, &str)]) -> Item {
    let content = Content::from([("text".to_owned(), Value::from(text))]);
    Item::new(ballot, id, content, draft.iter().copied().collect())
}

fn by_item(votes: &[Vote]) -> FxHashMap<&str, Vec<&Vote>> {
    let mut items: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
    votes.iter().for_each(|vote| items.entry(&vote.item).or_default().push(vote));
    items
}

fn kept(ballot: &Ballot, items: &[Item], votes: &[Vote]) -> (tempfile::TempDir, SeenLog) {
    let dir = tempfile::tempdir().unwrap();
    let texts = rested_on(ballot, items, &by_item(votes));
    SeenLog::append_texts(dir.path(), texts.clone()).unwrap();
    assert_eq!(SeenLog::append_texts(dir.path(), texts).unwrap(), 0, "kept once");
    let log = SeenLog::read_folder(dir.path()).unwrap();
    (dir, log)
}

fn act() -> Carried {
    Carried { by: "meta-1".into(), why: "a bracket went".into() }
}

#[test]
fn votes_and_the_look_over_them_are_brought_over_and_taken_back() {
    let step = ballots::find_step("flub", "type").unwrap();
    let old = saying(&step, "i", "(云会恐高吗", &[]);
    let mut votes: Vec<Vote> = step
        .voters
        .iter()
        .cycle()
        .take(step.votes_needed)
        .zip(["a", "b", "c", "d"])
        .map(|(_, who)| {
            testing::test_vote(&step, &old, Round::Vote, who, testing::one_answer("type", "paradox"))
        })
        .collect();
    if step.review.is_some() {
        let all: Vec<&Vote> = votes.iter().collect();
        let shown = review_item(&step, &old, &all);
        votes.push(testing::test_vote(
            &step,
            &shown,
            Round::Review,
            "s",
            [("type", "paradox"), ("main_type", "clear")].into_iter().collect(),
        ));
    }
    let heads: Vec<&Vote> = votes.iter().collect();
    assert!(matches!(resolve_item(&step, &old, &heads).outcome, Outcome::Confirmed { .. }));
    let (_dir, log) = kept(&step, std::slice::from_ref(&old), &votes);

    let new = [saying(&step, "i", "云会恐高吗", &[])];
    assert!(!matches!(resolve_item(&step, &new[0], &heads).outcome, Outcome::Confirmed { .. }));
    let on = by_item(&votes);
    let found = find_carryable(&step, &new, &on, &log);
    assert_eq!((found.items.len(), found.unknown), (1, 0));
    assert_eq!(found.items[0].old["text"], Value::from("(云会恐高吗"));
    let carried =
        carry_votes(&step, &found.items[0], &on["i"], &act(), "2026-02-01T00:00:00Z", "test").unwrap();
    assert_eq!(carried.len(), votes.len());
    for vote in &carried {
        let before = votes.iter().find(|before| Some(before.id) == vote.base).unwrap();
        assert_eq!((&vote.annotator, &vote.values), (&before.annotator, &before.values));
        assert_eq!(vote.carried, Some(act()));
        assert_eq!(vote.compute_id(), vote.id);
        let other = Vote { carried: Some(Carried { by: "x".into(), ..act() }), ..vote.clone() };
        assert_ne!(other.compute_id(), vote.id, "who confirmed it is part of it");
    }
    let mut all = votes.clone();
    all.extend(carried);
    let heads: Vec<&Vote> = all.iter().collect();
    let resolved = resolve_item(&step, &new[0], &heads);
    assert!(matches!(resolved.outcome, Outcome::Confirmed { synthetic: false, .. }), "{resolved:?}");
    assert!(resolved.stale.is_empty());
    assert!(find_carryable(&step, &new, &by_item(&all), &log).items.is_empty(), "nothing is left to do");

    let back = take_back(&step, &new[0], &heads, &act(), "2026-03-01T00:00:00Z", "test");
    assert_eq!(back.len(), votes.len());
    let mut undone = all.clone();
    undone.extend(back);
    let heads: Vec<&Vote> = undone.iter().collect();
    assert!(!matches!(resolve_item(&step, &new[0], &heads).outcome, Outcome::Confirmed { .. }));
    assert_eq!(
        find_carryable(&step, &new, &by_item(&undone), &log).items.len(),
        1,
        "and it can be done again"
    );
    assert!(take_back(&step, &new[0], &heads, &act(), "2026-04-01T00:00:00Z", "test").is_empty());
}

#[test]
fn who_took_a_draft_that_reads_otherwise_is_asked_again() {
    let step = ballots::find_step("ruozhibench-gen", "translation").unwrap();
    let field = "question_en";
    let old = saying(&step, "i", "云会恐高吗", &[(field, "Are clouds afraid of heights?")]);
    let values: Values =
        [("verdict", "accept"), (field, "Are clouds afraid of heights?")].into_iter().collect();
    let votes = [testing::test_vote(&step, &old, Round::Vote, "a", values)];
    let (_dir, log) = kept(&step, std::slice::from_ref(&old), &votes);
    let on = by_item(&votes);
    for (draft, fits) in [("Do clouds fear heights?", false), ("Are clouds afraid of heights?", true)] {
        let new = [saying(&step, "i", "云会恐高吗？", &[(field, draft)])];
        let found = find_carryable(&step, &new, &on, &log);
        let carried = carry_votes(&step, &found.items[0], &on["i"], &act(), "2026-02-01T00:00:00Z", "test");
        assert_eq!(carried.is_ok(), fits, "{carried:?}");
    }
}

#[test]
fn votes_on_a_text_that_nobody_kept_are_counted_and_a_samples_are_no_persons() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let old = saying(&step, "i", "x", &[]);
    let vote = testing::test_vote(&step, &old, Round::Vote, "a", testing::one_answer("screen", "keep"));
    let sample = Vote { synthetic: true, ..vote.clone() }.with_id();
    let new = [saying(&step, "i", "y", &[])];
    let found = |votes: &[Vote]| {
        let found = find_carryable(&step, &new, &by_item(votes), &SeenLog::default());
        (found.items.len(), found.unknown)
    };
    assert_eq!(found(&[vote]), (0, 1));
    assert_eq!(found(&[sample]), (0, 0));
}

#[test]
fn a_text_that_was_edited_is_reported() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let item = saying(&step, "i", "云会恐高吗", &[]);
    let vote = testing::test_vote(&step, &item, Round::Vote, "a", testing::one_answer("screen", "keep"));
    let (dir, log) = kept(&step, std::slice::from_ref(&item), &[vote]);
    assert!(log.get(item.content_hash).is_some());
    let path = dir.path().join("000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap().replace("恐高", "怕黑");
    std::fs::write(&path, text).unwrap();
    assert!(SeenLog::read_folder(dir.path()).is_err());
}
