//! Pairs in many languages.

use super::{Comparison, compare};
use crate::text::language::{detect, tag_language};

/// Compares two texts by the rules of the language of each.
pub(super) fn compare_as_detected(a: &str, b: &str) -> Comparison {
    let tagged = |text| tag_language(text, detect(text).language).into_owned();
    compare(&tagged(a), &tagged(b))
}
