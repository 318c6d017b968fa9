//! The three closest categories by priority (figure 11).

use riddlemill_llm::parse::{Unreadable, categories};
use riddlemill_review::{Value, Values};

/// Numbers off the list or repeated are unreadable, and asked for again.
pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let numbers = categories(reply)?.map(|number| number.to_string());
    Ok([("categories", Value::List(numbers.to_vec()))].into_iter().collect())
}

pub(in crate::stages) fn check(categories: &[String]) -> Vec<String> {
    // "Others" says that none of the five fits, and they do.
    let others = categories.first().is_some_and(|first| first == "6") && categories.len() > 1;
    if others { vec!["6 (others) comes first, with further categories behind it".into()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_priority() {
        let read = |reply| read(reply).map(|values| values.get("categories").unwrap().to_string());
        assert_eq!(read("２ 6 3").unwrap(), "2; 6; 3");
        assert!(read("2 2 3").is_err() && read("2 7 3").is_err() && read("2").is_err());
        assert_eq!(check(&["6".into(), "1".into()]).len(), 1);
        assert!(check(&["2".into(), "6".into(), "3".into()]).is_empty());
    }
}
