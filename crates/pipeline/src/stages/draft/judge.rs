//! A judge's rating of an answer, from 0 to 4 (RuozhiBench, figures 12 and 13).

use std::ops::RangeInclusive;
use std::sync::Arc;

use riddlemill_llm::parse::{Unreadable, object, rating, text_field};
use riddlemill_review::{Value, Values};
use riddlemill_text::judges::SCALE;

use super::Draft;

/// A rating that is missing, off the scale or no whole number is unreadable: never 0.
pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    on_scale(reply, SCALE)
}

/// The rating of a reply that is such an object, on any scale.
///
/// # Errors
/// Where it is missing, off the scale or no whole number.
pub fn rated(reply: &str, scale: RangeInclusive<u32>) -> Result<String, Unreadable> {
    let values = on_scale(reply, scale)?;
    let rating = values.get("rating").and_then(Value::as_number);
    rating.map(|rating| rating.to_string()).ok_or_else(|| Unreadable::new("no rating"))
}

/// The schema of such a reply, for endpoints that enforce one.
pub fn rating_schema() -> Option<Arc<serde_json::Value>> {
    super::schema::reply_schema(Draft::Judge, "").map(Arc::new)
}

fn on_scale(reply: &str, scale: RangeInclusive<u32>) -> Result<Values, Unreadable> {
    let rating = rating(reply, scale)?;
    let map = object(reply, &["rating"])?;
    let mut values = Values::new();
    values.set("rating", Value::Number(f64::from(rating)));
    if map.contains_key("explanation") {
        values.set("explanation", text_field(&map, "explanation")?);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rating_is_never_taken_for_nought() {
        let rated = read(r#"{"rating": 0, "explanation": "Falls for it."}"#).unwrap();
        assert_eq!(rated.get("rating").and_then(Value::as_number), Some(0.0));
        assert_eq!(rated.text("explanation"), Some("Falls for it."));
        for reply in
            ["", "I cannot rate this.", r#"{"rating": null}"#, r#"{"rating": 5}"#, r#"{"rating": 2.5}"#]
        {
            assert!(read(reply).is_err(), "{reply}");
        }
    }
}
