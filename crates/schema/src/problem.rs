//! Errors in texts that people write, such as settings or a declaration: all of them at once, each with its
//! place.

use std::cell::RefCell;
use std::fmt;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `pipeline.toml:3:1`, `flub/ballots.toml:12:1`, `RIDDLEMILL_DEDUP__METRIC`, `--set`.
    pub place: String,
    /// What is wrong, and how to fix it.
    pub what: String,
}

/// All problems of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Problem { place, what }) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{place}: {what}")?;
        }
        Ok(())
    }
}

/// Collects the problems of one file in any order and returns them in the order of its lines.
#[derive(Debug)]
pub struct Found<'t> {
    file: &'t str,
    text: &'t str,
    /// Each with its byte offset.
    found: RefCell<Vec<(usize, Problem)>>,
}

impl<'t> Found<'t> {
    /// For a file with the content `text`.
    pub fn new(file: &'t str, text: &'t str) -> Found<'t> {
        Found { file, text, found: RefCell::default() }
    }

    /// How many there are so far.
    pub fn count_problems(&self) -> usize {
        self.found.borrow().len()
    }

    /// Records a problem at an offset of the text.
    pub fn add(&self, offset: usize, message: String) {
        self.found
            .borrow_mut()
            .push((offset, Problem { place: self.place_of_offset(offset), what: message }));
    }

    /// File, line and column of an offset.
    pub fn place_of_offset(&self, offset: usize) -> String {
        let (line, column) = line_and_column(self.text, offset);
        format!("{}:{line}:{column}", self.file)
    }

    /// All of them, sorted by place, so that a reader goes through the file once.
    pub fn in_order(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(offset, _)| *offset);
        found.into_iter().map(|(_, problem)| problem).collect()
    }
}

/// Line and column of an offset, both from 1, the column in characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

/// Characters that a Chinese input method or a word processor types in place of TOML's ASCII ones.
const LOOKALIKES: &[(char, char)] = &[
    ('＝', '='),
    ('［', '['),
    ('］', ']'),
    ('【', '['),
    ('】', ']'),
    ('｛', '{'),
    ('｝', '}'),
    ('＂', '"'),
    ('“', '"'),
    ('”', '"'),
    ('‘', '\''),
    ('’', '\''),
    ('，', ','),
    ('．', '.'),
    ('。', '.'),
    ('＃', '#'),
    ('\u{3000}', ' '),
];

/// A parser's message for a syntax error at an offset, with a hint if the line has a character that looks
/// like one of TOML's syntax. Text between straight quotation marks may contain any character.
pub fn syntax_error(text: &str, offset: usize, message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let (line, _) = line_and_column(text, offset);
    let line = text.lines().nth(line - 1).unwrap_or_default();
    let outside = line.split('"').step_by(2).flat_map(str::chars);
    let lookalike = outside.into_iter().find_map(|c| LOOKALIKES.iter().find(|(typed, _)| *typed == c));
    match lookalike {
        Some((typed, '\'')) => {
            format!("{message}\n  hint: the line contains {typed}; type a straight quotation mark")
        }
        Some(('\u{3000}', _)) => {
            format!("{message}\n  hint: the line contains a full-width space; type an ordinary one")
        }
        Some((typed, meant)) => format!("{message}\n  hint: the line contains {typed}; type {meant}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_look_like_syntax_are_named() {
        let text = "a = \"“quoted”，\"\nb ＝ 1\n";
        assert_eq!(
            syntax_error(text, text.find('b').unwrap(), "no value\nmore"),
            "no value\n  hint: the line contains ＝; type ="
        );
        assert_eq!(syntax_error(text, 0, "no value"), "no value", "a quoted text may say so");
        assert_eq!(
            syntax_error("name = “mine”", 7, "not quoted"),
            "not quoted\n  hint: the line contains “; type \""
        );
    }

    #[test]
    fn problems_are_reported_down_the_file_with_columns_in_characters() {
        let text = "甲 = 1\n乙乙 = 2\n";
        let found = Found::new("a.toml", text);
        found.add(text.find('2').unwrap(), "second".into());
        found.add(0, "first".into());
        assert_eq!(found.count_problems(), 2);
        let message = Problems(found.in_order()).to_string();
        assert_eq!(message, "a.toml:1:1: first\na.toml:2:6: second");
        assert_eq!(line_and_column(text, 1), (1, 1), "inside a character is at it");
    }
}
