//! What speaks against a question: bound to a culture, harmful, or its trap is lost in English.

use riddlemill_llm::parse::{Unreadable, flag, object, text_field};
use riddlemill_review::ballot::KEEP;
use riddlemill_review::{Value, Values};

/// Where the draft's sentences are among the values; no field of the ballot is called so.
pub(in crate::stages) const REASONS: &str = "screen_reasons";

/// The prompt's keys, the ballot's codes, and which answer speaks against the question.
const QUESTIONS: [(&str, &str, &str, bool); 3] = [
    ("culture_bound", "culture_bound_reason", "culture_bound", true),
    ("harmful", "harmful_reason", "harmful", true),
    ("trap_survives", "trap_survives_reason", "untranslatable", false),
];

/// The keys of each question and of its reason.
pub(super) fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    QUESTIONS.iter().map(|(key, reason, ..)| (*key, *reason))
}

pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let keys: Vec<&str> = keys().flat_map(|(key, reason)| [key, reason]).collect();
    let map = object(reply, &keys)?;
    let (mut against, mut reasons) = (Vec::new(), Vec::new());
    for (key, reason, code, when) in QUESTIONS {
        if flag(&map, key)? == when {
            against.push(code.to_owned());
        }
        reasons.push(format!("{key}: {}", text_field(&map, reason)?));
    }
    let verdict = if against.is_empty() { Value::from(KEEP) } else { Value::List(against) };
    Ok([("screen", verdict), (REASONS, Value::List(reasons))].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(culture: bool, harmful: bool, survives: bool) -> String {
        serde_json::json!({
            "culture_bound": culture, "culture_bound_reason": "a", "harmful": harmful, "harmful_reason": "b",
            "trap_survives": survives, "trap_survives_reason": "c",
        })
        .to_string()
    }

    #[test]
    fn three_answers_make_a_verdict() {
        assert_eq!(read(&reply(false, false, true)).unwrap().text("screen"), Some("keep"));
        let against = read(&format!("Sure:\n```json\n{}\n```", reply(true, false, false))).unwrap();
        assert_eq!(
            against.get("screen"),
            Some(&Value::List(vec!["culture_bound".into(), "untranslatable".into()]))
        );
        let reasons = against.get(REASONS).and_then(Value::as_list).unwrap();
        assert_eq!(reasons, ["culture_bound: a", "harmful: b", "trap_survives: c"]);
        assert!(read("keep").is_err());
    }
}
