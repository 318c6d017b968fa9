//! A judge's rating of an answer, from 0 to 4 (RuozhiBench, figures 12 and 13).

use riddlemill_llm::parse::{Unreadable, object, rating, text_field};
use riddlemill_review::{Value, Values};
use riddlemill_text::judges::SCALE;

/// A rating that is missing, off the scale or no whole number is unreadable: never 0.
pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let rating = rating(reply, SCALE)?;
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
