//! Ratings in a reply.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::Unreadable;
use super::json::object;
use super::text::narrow;

/// The rating of a judge's JSON reply (RuozhiBench, figures 12 and 13): a whole number within `scale` under
/// the key `rating`, bare, in a list of one as in the figure's example, or as text (`"2"`, `"２"`, `"2/4"`).
///
/// # Errors
/// If there is no rating, several, or one off the scale. It is never rounded, clamped or taken for 0.
pub fn rating(reply: &str, scale: RangeInclusive<u32>) -> Result<u32, Unreadable> {
    on_scale(&object(reply, &["rating"])?, "rating", scale)
}

/// Such a number under a key of an object.
///
/// # Errors
/// As of [`rating`].
pub fn on_scale(map: &Map<String, Value>, key: &str, scale: RangeInclusive<u32>) -> Result<u32, Unreadable> {
    let wrong = || {
        let (least, most) = (scale.start(), scale.end());
        Unreadable::new(format!("\"{key}\" must be one whole number from {least} to {most}"))
    };
    let value = match map.get(key) {
        Some(Value::Array(list)) if list.len() == 1 => &list[0],
        Some(other) => other,
        None => return Err(wrong()),
    };
    let number = match value {
        Value::Number(number) => whole(number.as_f64()),
        Value::String(text) => {
            let text = narrow(text);
            let number = match text.split_once('/') {
                // A fraction of another scale, such as `3/5` on a scale up to 4, is not accepted.
                Some((number, out_of)) if out_of.trim() == scale.end().to_string() => number,
                _ => &text,
            };
            whole(number.trim().parse().ok())
        }
        _ => None,
    };
    number.filter(|number| scale.contains(number)).ok_or_else(wrong)
}

/// The rating in double brackets, `[[5]]` (FLUB, figure 6): the last one, because judges quote the format
/// before they use it. Full-width digits and brackets are accepted.
///
/// # Errors
/// If there is none, or it is off the scale.
pub fn bracketed(reply: &str, scale: RangeInclusive<u32>) -> Result<u32, Unreadable> {
    let narrowed = narrow(reply).replace('【', "[").replace('】', "]");
    // A quoted format, `[[rating]]`, has no number in it and is passed over.
    let last = narrowed.rmatch_indices("[[").find_map(|(at, _)| {
        let inner = narrowed[at + 2..].split_once("]]")?.0.trim();
        whole(inner.parse().ok())
    });
    let (least, most) = (scale.start(), scale.end());
    let what = format!("the rating must be given as [[number]], a whole number from {least} to {most}");
    last.filter(|number| scale.contains(number)).ok_or_else(|| Unreadable::new(what))
}

fn whole(number: Option<f64>) -> Option<u32> {
    let number = number?;
    let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    fits.then_some(number as u32)
}
