//! Changed files for tests: one value or key of a file, by a seed.

/// Values of every type, at and beyond the bounds of numbers.
const VALUES: [&str; 22] = [
    "-1",
    "0",
    "3",
    "5000000000",
    "nan",
    "inf",
    "-0.1",
    "0.5",
    "1.5",
    "true",
    "\"\"",
    "\"x\"",
    "\"mark\"",
    "\"{{ x\"",
    "\"[\"",
    "[]",
    "[1]",
    "[\"a\", 1]",
    "{}",
    "{ a = 1 }",
    "1979-05-27",
    "9223372036854775807",
];

/// A file with one change.
#[derive(Debug)]
pub struct Mutant {
    /// The line of the change, from 1.
    pub line: usize,
    /// The key on that line before the change.
    pub key: String,
    /// The line as it is now.
    pub changed: String,
    /// Whether it is no TOML by a character that only looks like one of its syntax.
    pub is_lookalike: bool,
    /// The whole file.
    pub text: String,
}

/// The file that a seed makes of a text, by a change in one of its lines `key = value`; `None` if it has none.
pub fn make_mutant(text: &str, seed: u64) -> Option<Mutant> {
    let mut state = seed;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // A value that goes on in the next line is changed with its table alone.
    let is_whole = |line: &str| line.parse::<toml_edit::DocumentMut>().is_ok();
    let written: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at].contains(" = ") && is_whole(&lines[at])).collect();
    let at = *written.get(below(written.len().max(1)))?;
    let (key, value) = lines[at].split_once(" = ")?;
    let (key, value) = (key.to_owned(), value.to_owned());
    let how = below(8);
    let changed = match how {
        0 => match key.strip_suffix('"') {
            Some(open) => format!("{open}x_zz\" = {value}"),
            None => format!("{key}x_zz = {value}"),
        },
        1 => format!("{key} ＝ {value}"),
        2 => format!("{key} = 99999999999999999999"),
        _ => format!("{key} = {}", VALUES[below(VALUES.len())]),
    };
    lines[at].clone_from(&changed);
    let name = key.trim().rsplit('.').next().unwrap_or_default().trim_matches('"').to_owned();
    Some(Mutant { line: at + 1, key: name, changed, is_lookalike: how == 1, text: lines.join("\n") + "\n" })
}
