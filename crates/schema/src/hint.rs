//! Suggestions for misspelt words.

/// The closest of `words` to a misspelt one, if any is close enough.
pub fn near_miss<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = known
        .iter()
        .map(|word| (strsim::damerau_levenshtein(written, word), *word))
        .filter(|(distance, word)| *distance <= 1 + word.chars().count() / 4)
        .min_by_key(|(distance, _)| *distance);
    // `url` also matches the only word that has it as a part: `base_url`.
    let whole = || {
        let has_it = |word: &&&str| word.split(['_', '-', '.']).any(|part| part == written);
        let mut with = known.iter().filter(has_it);
        with.next().filter(|_| with.next().is_none()).copied()
    };
    near.map(|(_, word)| word).or_else(whole)
}

/// A message without its hint, and the hint: `what` of `what\n  hint: hint`, the form of every message that has one.
pub fn split_hint(message: &str) -> (&str, Option<&str>) {
    match message.split_once("\n  hint: ") {
        Some((what, hint)) => (what, Some(hint)),
        None => (message, None),
    }
}

/// A text as TOML writes it, in one line: for settings that are proposed. What nobody would see in it is written by its number.
pub fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // What Rust escapes where it shows a text, in TOML's own notation.
            c if c.is_control() || c != '\'' && c.escape_debug().len() > 1 => match c as u32 {
                code @ ..=0xffff => out.push_str(&format!("\\u{code:04X}")),
                code => out.push_str(&format!("\\U{code:08X}")),
            },
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A key as TOML writes it.
pub fn toml_key(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { toml_string(key) }
}

/// `unknown stage "filtr"`, followed by the closest word or, without one, by the list of all words.
pub fn unknown<'a>(what: &str, written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match near_miss(written, known.iter().copied()) {
        Some(near) => format!("unknown {what} {written:?}\n  hint: did you mean {near:?}?"),
        None if known.is_empty() => format!("unknown {what} {written:?}\n  hint: none is defined"),
        None => format!("unknown {what} {written:?}\n  hint: there are {}", known.join(", ")),
    }
}

/// `unknown key "metrik"`, followed by the closest key, else by where it would be one, else by all that are valid.
pub fn unknown_key<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    elsewhere: Option<String>,
) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    let near = near_miss(name, known.iter().copied());
    known.sort_unstable();
    known.dedup();
    let hint = match (near, elsewhere) {
        (Some(near), _) => format!("\n  hint: did you mean {near:?}?"),
        (None, Some(elsewhere)) => format!("\n  hint: {elsewhere}"),
        (None, None) if known.is_empty() => String::new(),
        (None, None) => format!("\n  hint: valid here: {}", known.join(", ")),
    };
    format!("unknown key {name:?}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_as_toml_reads_them() {
        for text in [
            "标题",
            "\u{200b}标题",
            "a\"b\\c'd",
            "\u{feff}id",
            "a\u{7f}\u{1}\n\t",
            "\u{e0001}x",
            "e\u{301}",
            "é 👩\u{200d}🚀",
        ] {
            let (value, key) = (toml_string(text), toml_key(text));
            let read: toml_edit::DocumentMut =
                format!("{key} = {value}").parse().unwrap_or_else(|e| panic!("{value}: {e}"));
            assert_eq!(read[text].as_str(), Some(text), "{value}");
        }
        assert_eq!(toml_string("\u{200b}标题"), "\"\\u200B标题\"");
    }

    #[test]
    fn near_misses_are_near() {
        let keys = ["threshold", "metric", "margin"];
        assert_eq!(near_miss("treshold", keys.into_iter()), Some("threshold"));
        assert_eq!(near_miss("metrik", keys.into_iter()), Some("metric"));
        assert_eq!(near_miss("colour", keys.into_iter()), None);
        assert_eq!(near_miss("url", ["base_url", "model"]), Some("base_url"));
        assert_eq!(near_miss("usd", ["usd_per_million_in", "usd_per_million_out"]), None);
        assert_eq!(
            unknown("key", "metrik", keys),
            "unknown key \"metrik\"\n  hint: did you mean \"metric\"?"
        );
        assert_eq!(
            unknown("key", "colour", keys),
            "unknown key \"colour\"\n  hint: there are threshold, metric, margin"
        );
        assert_eq!(unknown("source", "a", []), "unknown source \"a\"\n  hint: none is defined");
    }
}
