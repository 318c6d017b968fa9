//! Values of expressions as texts and lists of texts; names in expressions.

use minijinja::value::{Value, ValueKind};

/// A value as a text: a list gives one line per element, null `None`.
pub fn text_of_value(value: &Value) -> Option<String> {
    if value.is_none() || value.is_undefined() {
        return None;
    }
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => Some(texts_of_value(value).join("\n")),
        _ => Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

/// A value as a list of texts, without nulls.
pub fn texts_of_value(value: &Value) -> Vec<String> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().into_iter().flatten().filter_map(|value| text_of_value(&value)).collect()
        }
        _ => text_of_value(value).into_iter().collect(),
    }
}

/// The lines of a text, without bullets and numbers.
pub fn split_list_lines(text: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(['-', '*', '•']).trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = number.len() < line.len() && number.starts_with(['.', ')']);
        if numbered { number[1..].trim_start() } else { line }.to_owned()
    };
    text.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

/// The name of a step or ballot in expressions.
pub fn group_name(name: &str) -> String {
    name.replace('-', "_")
}
