//! What expressions give, as texts and lists of them; names as they are written there.

use minijinja::value::{Value, ValueKind};

/// A value as a text: a list has a line for each, null is none.
pub fn text(value: &Value) -> Option<String> {
    if value.is_none() || value.is_undefined() {
        return None;
    }
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => Some(texts(value).join("\n")),
        _ => Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

/// A value as a list of texts without what is null.
pub fn texts(value: &Value) -> Vec<String> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().into_iter().flatten().filter_map(|value| text(&value)).collect()
        }
        _ => text(value).into_iter().collect(),
    }
}

/// The lines of a text, without bullets and numbers.
pub fn listed(text: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(['-', '*', '•']).trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = number.len() < line.len() && number.starts_with(['.', ')']);
        if numbered { number[1..].trim_start() } else { line }.to_owned()
    };
    text.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

/// A step's or ballot's name as expressions write it.
pub fn group(name: &str) -> String {
    name.replace('-', "_")
}
