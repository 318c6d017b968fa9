use super::*;
use crate::review::Digest;
use crate::review::ballot::{Role, Round};

fn settings(draft_ahead: &[&str]) -> sections::Review {
    let names = draft_ahead.iter().map(ToString::to_string).collect();
    sections::Review { draft_ahead: names, optional: Vec::new(), sample: String::new() }
}

fn question() -> Question {
    Question {
        id: "q".into(),
        text: "鱼会不会口渴？".into(),
        translation_draft: Some("Do fish get thirsty?".into()),
        ..Question::default()
    }
}

fn vote(step: &Step, item: &Item, annotator: &str, synthetic: bool, values: &[(&str, &str)]) -> Vote {
    Vote {
        id: Digest::of("", []),
        recipe: step.recipe.into(),
        step: step.name.into(),
        item: item.id.clone(),
        content_hash: item.content_hash,
        annotator: annotator.into(),
        role: Role::Annotator,
        round: Round::Vote,
        values: values.iter().copied().collect(),
        at: "2026-01-01T00:00:00Z".into(),
        source: "test".into(),
        synthetic,
        seconds: None,
        base: None,
        supersedes: None,
    }
    .sealed()
}

fn decide(
    review: Review,
    question: Question,
    settings: &sections::Review,
    votes: &[Vote],
) -> Outcome<Question> {
    let step = review.ballot(settings);
    let item = review.item(&step, &question);
    let votes: Vec<&Vote> = votes.iter().collect();
    let resolution = review::resolve(&step, &item, &votes);
    outcome(review, question, &resolution, &votes, settings.optional.iter().any(|s| s == step.name))
}

#[test]
fn every_ballot_is_there() {
    for review in Review::ALL {
        assert_eq!(review.ballot(&settings(&[])).name, review.place().1);
    }
}

#[test]
fn a_rewritten_translation_becomes_the_question() {
    let settings = settings(&[]);
    let step = Review::Translation.ballot(&settings);
    let item = Review::Translation.item(&step, &question());
    let values = [("verdict", "rewrite"), ("question_en", "Are fish ever thirsty?")];
    let votes = [vote(&step, &item, "a", false, &values)];
    let decided = decide(Review::Translation, question(), &settings, &votes);
    let Outcome::Changed { row, rule, evidence, before, .. } = decided else { panic!("{decided:?}") };
    assert_eq!(row.question_en.as_deref(), Some("Are fish ever thirsty?"));
    assert_eq!(row.translation_status.as_deref(), Some("confirmed"));
    assert_eq!(row.translation_basis, [format!("vote:{}", votes[0].id)]);
    assert_eq!((rule, before.as_str()), ("rewritten", "Do fish get thirsty?"));
    assert!(evidence.contains("by a"), "{evidence}");
}

#[test]
fn a_samples_vote_is_no_persons() {
    let settings = settings(&[]);
    let step = Review::Translation.ballot(&settings);
    let item = Review::Translation.item(&step, &question());
    let values = [("verdict", "accept"), ("question_en", "Do fish get thirsty?")];
    let votes = [vote(&step, &item, "a", true, &values)];
    let decided = decide(Review::Translation, question(), &settings, &votes);
    let Outcome::Changed { row, rule, .. } = decided else { panic!("{decided:?}") };
    assert_eq!((rule, row.translation_status.as_deref()), ("sample_confirmed", Some("synthetic")));
}

#[test]
fn what_nobody_voted_on_waits_or_goes_ahead() {
    let waits = decide(Review::Translation, question(), &settings(&[]), &[]);
    assert!(matches!(waits, Outcome::Held { reason: Reason::VotesMissing, .. }));
    let ahead = decide(Review::Translation, question(), &settings(&["translation"]), &[]);
    let Outcome::Changed { row, rule, .. } = ahead else { panic!("{ahead:?}") };
    assert_eq!((rule, row.translation_status.as_deref()), ("provisional", Some("provisional")));
    assert_eq!(row.question_en, row.translation_draft);
    let optional = sections::Review { optional: vec!["pair".into()], ..settings(&[]) };
    assert_eq!(decide(Review::Pair, question(), &optional, &[]), Outcome::Kept(question()));
}

#[test]
fn votes_reject_and_drafts_do_not() {
    let drafted = Question { screen_draft: vec!["harmful".into()], ..question() };
    let ahead = decide(Review::Screen, drafted.clone(), &settings(&["screen"]), &[]);
    assert!(matches!(ahead, Outcome::Held { .. }), "{ahead:?}");
    let settings = settings(&[]);
    let step = Review::Screen.ballot(&settings);
    let item = Review::Screen.item(&step, &drafted);
    let mut votes: Vec<Vote> = ["a", "b", "c"].map(|name| vote(&step, &item, name, false, &[])).to_vec();
    for vote in &mut votes {
        vote.values.set("screen", vec!["harmful".to_owned()]);
        *vote = vote.clone().sealed();
    }
    let decided = decide(Review::Screen, drafted, &settings, &votes);
    let Outcome::Dropped { reason: Reason::Rejected, evidence } = decided else { panic!("{decided:?}") };
    assert!(evidence.starts_with("harmful; votes by a, b, c"), "{evidence}");
}

#[test]
fn a_vote_on_an_older_text_is_told_and_not_counted() {
    let settings = settings(&[]);
    let step = Review::Translation.ballot(&settings);
    let item = Review::Translation.item(&step, &question());
    let values = [("verdict", "accept"), ("question_en", "Do fish get thirsty?")];
    let votes = [vote(&step, &item, "a", false, &values)];
    let edited = Question { translation_draft: Some("Is a fish thirsty?".into()), ..question() };
    let decided = decide(Review::Translation, edited, &settings, &votes);
    let Outcome::Held { evidence, .. } = decided else { panic!("{decided:?}") };
    assert!(evidence.contains("older text"), "{evidence}");
}
