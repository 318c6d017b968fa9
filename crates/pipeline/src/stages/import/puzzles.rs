//! Puzzles line by line.

use serde::Deserialize;

use super::native_id::as_meant;
use super::{Parsed, RawPost, loose};
use riddlemill_record::PostKind;

#[derive(Deserialize)]
struct PuzzleLine {
    #[serde(default, deserialize_with = "loose::id")]
    id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    question: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    answer: Option<String>,
}

/// A puzzle as JSON. An id with a namespace (`riddle:42`) is an identity that other sources share; a bare one is the
/// file's own.
pub(super) fn parse_puzzle(line: &str) -> Parsed {
    let line: PuzzleLine = match super::object(line) {
        Ok(line) => line,
        Err(bad) => return bad,
    };
    let Some(question) = line.question.filter(|text| !text.trim().is_empty()) else {
        return Parsed::Bad("`question` must be a string".into());
    };
    let (id, damaged_id) = match line.id.filter(|id| !id.trim().is_empty()) {
        Some(id) if as_meant(&id).is_err() => (None, Some(id)),
        id => (id, None),
    };
    Parsed::Post(Box::new(RawPost {
        damaged_id,
        id: id.map(|id| if id.contains(':') { id } else { format!("puzzle:{id}") }),
        kind: PostKind::Riddle,
        title: Some(question),
        content: line.answer.filter(|text| !text.trim().is_empty()),
        ..RawPost::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(parsed: Parsed) -> (Option<String>, Option<String>, Option<String>) {
        match parsed {
            Parsed::Post(draft) => (draft.id, draft.title, draft.content),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn puzzles_line_by_line() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            draft(parse_puzzle(r#"{"id": "riddle:7", "question": "Why?", "answer": "So."}"#)),
            (some("riddle:7"), some("Why?"), some("So."))
        );
        assert_eq!(
            draft(parse_puzzle(r#"{"id": 7, "question": "Why?", "answer": null}"#)),
            (some("puzzle:7"), some("Why?"), None)
        );
        assert_eq!(draft(parse_puzzle(r#"{"question": "Why?", "answer": " "}"#)), (None, some("Why?"), None));
        assert!(matches!(parse_puzzle(r#"{"question": " "}"#), Parsed::Bad(_)));
        assert!(matches!(parse_puzzle("Why?"), Parsed::Bad(_)));
    }
}
