//! A judge's reply: an object with a rating, and an explanation where the judge gives one (RuozhiBench, figures 12 and 13).

use std::ops::RangeInclusive;
use std::sync::Arc;

use riddlemill_llm::parse::{Unreadable, rating};

use super::forms::{integer, object, text};

/// The rating of such a reply, on any scale. One that is missing, off the scale or no whole number is unreadable: never 0.
///
/// # Errors
/// Where it is so.
pub fn rated(reply: &str, scale: RangeInclusive<u32>) -> Result<String, Unreadable> {
    Ok(rating(reply, scale)?.to_string())
}

/// The schema of such a reply, for endpoints that enforce one.
pub fn rating_schema() -> Option<Arc<serde_json::Value>> {
    Some(Arc::new(object(vec![("rating", integer()), ("explanation", text())])))
}

#[cfg(test)]
mod tests {
    use super::super::Draft;
    use super::*;

    fn judge() -> Draft {
        Draft::find(riddlemill_benchmarks::find("ruozhibench-mc").unwrap(), "judge").unwrap()
    }

    #[test]
    fn what_is_no_rating_is_never_taken_for_nought() {
        let read = |reply: &str| judge().read("ruozhibench/judge", reply);
        let rated = read(r#"{"rating": 0, "explanation": "Falls for it."}"#).unwrap();
        assert_eq!(rated.get("rating").map(ToString::to_string).as_deref(), Some("0"));
        assert_eq!(rated.text("explanation"), Some("Falls for it."));
        assert_eq!(read(r#"{"rating": "2/4"}"#).unwrap().text("explanation"), None);
        for reply in
            ["", "I cannot rate this.", r#"{"rating": null}"#, r#"{"rating": 5}"#, r#"{"rating": 2.5}"#]
        {
            assert!(read(reply).is_err() && super::rated(reply, 0..=4).is_err(), "{reply}");
        }
    }

    #[test]
    fn a_declared_judge_is_sent_the_same_schema_as_an_evaluation() {
        let declared = super::super::schema::reply_schema(judge(), "ruozhibench/judge");
        assert_eq!(declared, rating_schema().map(|schema| (*schema).clone()));
    }
}
