//! From a riddle as its page has it to a puzzle: entities decoded, lines joined, promotion taken off.

use riddlemill_text::puzzle::promotion;
use riddlemill_text::record::{Outcome, Post, Puzzle, Reason};

/// Makes a puzzle of a riddle. One without an answer goes on to the ballot on its text, where somebody who knows it says it.
pub fn strip(post: Post) -> Outcome<Puzzle> {
    let (asked, answered) =
        (post.title.clone().unwrap_or_default(), post.content.clone().unwrap_or_default());
    let (asked, answered) = (tidy(&asked), tidy(&answered));
    let (question, mut gone) = promotion::strip(&asked, &post.links);
    let (answer, more) = promotion::strip(&answered, &post.links);
    gone.extend(more);
    if !question.contains(char::is_alphanumeric) {
        return Outcome::Dropped { reason: Reason::Empty, evidence: asked.clone() };
    }
    let answer = if answer.contains(char::is_alphanumeric) { answer } else { "" };
    let puzzle = Puzzle {
        id: post.id,
        question: question.to_owned(),
        answer: answer.to_owned(),
        source: post.source,
        file: post.file,
        position: post.position,
        licence: post.licence,
        ..Puzzle::default()
    };
    let after = shown(&puzzle.question, &puzzle.answer);
    if !gone.is_empty() {
        let evidence = gone.join(" / ");
        return Outcome::Changed {
            row: puzzle,
            rule: Reason::Promotion.code(),
            evidence,
            before: post.text,
            after,
        };
    }
    if after == post.text {
        return Outcome::Kept(puzzle);
    }
    let evidence = "entities, line breaks or spaces".to_owned();
    Outcome::Changed { row: puzzle, rule: Reason::Tidied.code(), evidence, before: post.text, after }
}

/// A published riddle as a puzzle, to the letter.
pub fn as_published(post: &Post) -> Puzzle {
    Puzzle {
        id: post.id.clone(),
        question: post.title.clone().unwrap_or_default(),
        answer: post.content.clone().unwrap_or_default(),
        source: post.source.clone(),
        file: post.file.clone(),
        position: post.position,
        licence: post.licence.clone(),
        ..Puzzle::default()
    }
}

/// Question and answer as a ledger shows them.
pub fn shown(question: &str, answer: &str) -> String {
    if answer.is_empty() { question.to_owned() } else { format!("{question}\n{answer}") }
}

/// One line without runs of spaces, entities decoded.
fn tidy(text: &str) -> String {
    let decoded =
        if text.contains('&') { riddlemill_harvest::pages::entities(text) } else { text.to_owned() };
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn riddle(question: &str, answer: Option<&str>) -> Outcome<Puzzle> {
        let parts = [Some(question), answer].into_iter().flatten().collect::<Vec<_>>();
        strip(Post {
            id: "riddle:1".into(),
            text: parts.join("\n"),
            title: Some(question.into()),
            content: answer.map(Into::into),
            ..Post::default()
        })
    }

    #[test]
    fn a_riddle_without_an_answer_goes_on_without_one() {
        for answer in [None, Some(""), Some(" … ")] {
            let outcome = riddle("What is it?", answer);
            let (Outcome::Kept(row) | Outcome::Changed { row, .. }) = outcome else { panic!("{outcome:?}") };
            assert_eq!((row.question.as_str(), row.answer.as_str()), ("What is it?", ""));
        }
        assert!(matches!(riddle(" ?! ", Some("A clock.")), Outcome::Dropped { reason: Reason::Empty, .. }));
    }

    #[test]
    fn entities_and_promotion_go_with_evidence() {
        let outcome = riddle(
            "A man &amp; his\n dog: 3 < 4 &quot;feet&quot;?",
            Some("The dog&#39;s feet. Next, try these riddles."),
        );
        let Outcome::Changed { row, rule, evidence, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (row.question.as_str(), row.answer.as_str()),
            ("A man & his dog: 3 < 4 \"feet\"?", "The dog's feet.")
        );
        assert_eq!((rule, evidence.as_str()), ("promotion", "Next, try these riddles."));
    }

    #[test]
    fn an_answer_may_be_longer_than_its_question() {
        let long = "Because it is a clock, which has two hands and a face, and stands in the hall all day.";
        let outcome = riddle("Why?", Some(long));
        let Outcome::Kept(puzzle) = outcome else { panic!("{outcome:?}") };
        assert_eq!((puzzle.question.as_str(), puzzle.answer.as_str()), ("Why?", long));
    }
}
