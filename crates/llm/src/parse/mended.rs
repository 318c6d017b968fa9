//! JSON with slips that leave no doubt about what is meant: other quotation marks, full-width commas and
//! colons, line feeds and quotation marks inside a text, a missing comma between two lines, a missing last
//! brace. Quotation marks inside a text are told from its end by what follows: another key, or the end.

use serde_json::{Map, Number, Value};

use riddlemill_text::text::clean::debris::without_noise;

/// No prompt needs deeper nesting. The parser itself counts while it reads, so that the stack cannot overflow
/// whatever an earlier scan takes for a string or a comment.
pub(super) const MAX_DEPTH: usize = 32;
/// Marks that open a text, with those that close it.
const QUOTES: [(char, &[char]); 7] = [
    ('"', &['"', '”', '“', '＂']),
    ('“', &['”', '“', '"']),
    ('”', &['”', '"']),
    ('„', &['“', '”', '"']),
    ('＂', &['＂', '"']),
    ('‘', &['’']),
    ('「', &['」']),
];
/// Most bytes of a key.
const KEY: usize = 64;

/// The object that opens at byte `start`, and the byte after it; `None` if it is not one, or not without doubt.
pub(super) fn object_at(text: &str, start: usize) -> Option<(Map<String, Value>, usize)> {
    let mut cursor = Cursor { text, at: start, depth: 0 };
    let map = cursor.parse_object()?;
    Some((map, cursor.at))
}

/// A key with its value.
pub(super) struct Pair {
    pub key: String,
    pub value: Value,
}

impl Pair {
    /// Adds it; `None` if the object says something else under this key.
    pub(super) fn into(self, map: &mut Map<String, Value>) -> Option<()> {
        match map.get(&self.key) {
            Some(other) if *other != self.value => return None,
            _ => map.insert(self.key, self.value),
        };
        Some(())
    }
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Cursor<'_> {
    fn remaining_text(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += blank_bytes(self.remaining_text());
    }

    fn take_mark(&mut self, any: &[char]) -> bool {
        self.skip_blanks();
        let found = self.remaining_text().chars().next().filter(|c| any.contains(c));
        self.at += found.map_or(0, char::len_utf8);
        found.is_some()
    }

    fn parse_object(&mut self) -> Option<Map<String, Value>> {
        self.enter_bracket(&['{'])?;
        let mut map = Map::new();
        loop {
            if self.take_mark(&['}']) {
                break;
            }
            let (key, length) = key_at_start(self.remaining_text())?;
            self.at += length;
            let value = self.parse_value(true)?;
            Pair { key, value }.into(&mut map)?;
            if self.take_mark(&[',', '，']) {
                continue;
            }
            if self.take_mark(&['}']) {
                break;
            }
            // A comma may be missing between lines, and the last brace of all at the end.
            if self.depth == 1 && is_end(self.remaining_text()) && !map.is_empty() {
                self.at = self.text.len();
                break;
            }
            let line_ends = self.text[..self.at].ends_with(['\n', '\r']);
            key_of_line(line_ends, self.remaining_text())?;
        }
        self.depth -= 1;
        Some(map)
    }

    fn enter_bracket(&mut self, open: &[char]) -> Option<()> {
        self.depth += 1;
        (self.take_mark(open) && self.depth <= MAX_DEPTH).then_some(())
    }

    fn parse_value(&mut self, in_object: bool) -> Option<Value> {
        self.skip_blanks();
        match self.remaining_text().chars().next()? {
            '{' => self.parse_object().map(Value::Object),
            '[' => self.parse_array(),
            quote if closers_of(quote).is_some() => self.parse_string(in_object).map(Value::String),
            _ => self.parse_literal(),
        }
    }

    fn parse_array(&mut self) -> Option<Value> {
        self.enter_bracket(&['['])?;
        let mut list = Vec::new();
        while !self.take_mark(&[']']) {
            list.push(self.parse_value(false)?);
            if !self.take_mark(&[',', '，']) && !self.remaining_text().starts_with(']') {
                return None;
            }
        }
        self.depth -= 1;
        Some(Value::Array(list))
    }

    /// A text. In an object it ends before the next key or the object's end; in a list at its first closing
    /// mark, because nothing would tell a mark inside it from one at its end.
    fn parse_string(&mut self, in_object: bool) -> Option<String> {
        let open = self.remaining_text().chars().next()?;
        let closers = closers_of(open)?;
        self.at += open.len_utf8();
        let mut text = String::new();
        loop {
            let c = self.remaining_text().chars().next()?;
            self.at += c.len_utf8();
            if c == '\\' {
                text.push(self.parse_escape()?);
            } else if closers.contains(&c) {
                match (self.is_text_end(in_object), in_object) {
                    (true, _) => break,
                    (false, true) => text.push(c),
                    (false, false) => return None,
                }
            } else {
                text.push(c);
            }
        }
        Some(without_noise(&text).into_owned())
    }

    fn parse_escape(&mut self) -> Option<char> {
        let c = self.remaining_text().chars().next()?;
        self.at += c.len_utf8();
        Some(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let first = self.parse_code_unit()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                let before = self.at;
                let second = self.remaining_text().starts_with("\\u").then(|| {
                    self.at += 2;
                    self.parse_code_unit()
                });
                match second.flatten().filter(|second| (0xdc00..0xe000).contains(second)) {
                    Some(second) => {
                        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
                    }
                    None => {
                        self.at = before;
                        char::REPLACEMENT_CHARACTER
                    }
                }
            }
            other => other,
        })
    }

    fn parse_code_unit(&mut self) -> Option<u32> {
        let digits = self.remaining_text().get(..4)?;
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(unit)
    }

    /// Whether a text may end here, behind a closing mark.
    fn is_text_end(&self, in_object: bool) -> bool {
        let rest = self.remaining_text();
        let space = blank_bytes(rest);
        let next = &rest[space..];
        if !in_object {
            return next.starts_with([',', '，', ']']);
        }
        match next.strip_prefix([',', '，']) {
            // A comma before the brace is a slip of its own.
            Some(after) => {
                let after = &after[blank_bytes(after)..];
                key_at_start(after).is_some() || after.starts_with('}')
            }
            None => {
                let line_ends = rest[..space].contains(['\n', '\r']);
                next.starts_with('}')
                    || self.depth == 1 && is_end(next)
                    || key_of_line(line_ends, next).is_some()
            }
        }
    }

    fn parse_literal(&mut self) -> Option<Value> {
        let rest = self.remaining_text();
        let end = rest.find(|c: char| c.is_whitespace() || ",，}]`".contains(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NaN" => Value::Null,
            _ => Value::Number(word.parse::<Number>().ok()?),
        };
        self.at += end;
        Some(value)
    }
}

fn closers_of(open: char) -> Option<&'static [char]> {
    QUOTES.iter().find(|(known, _)| *known == open).map(|(_, closers)| *closers)
}

/// Bytes of white space at the start, marks of the byte order included.
fn blank_bytes(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len()
}

/// Whether nothing follows, except for the end of a fence.
fn is_end(text: &str) -> bool {
    text.trim().trim_matches('`').is_empty()
}

/// The key at the start of a text with its colon, and how many bytes both take.
fn key_at_start(text: &str) -> Option<(String, usize)> {
    let start = blank_bytes(text);
    let open = text[start..].chars().next()?;
    let closers = closers_of(open)?;
    let name = &text[start + open.len_utf8()..];
    // Not further: every mark of a long text is looked at like this.
    let end = name[..name.floor_char_boundary(KEY + 1)].find(closers).filter(|end| *end > 0)?;
    let (name, rest) = name.split_at(end);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_- .".contains(c));
    let close = rest.chars().next()?;
    let rest = &rest[close.len_utf8()..];
    let rest = rest[blank_bytes(rest)..].strip_prefix([':', '：']).filter(|_| is_name)?;
    Some((name.trim().to_owned(), text.len() - rest.len()))
}

/// A key at the start of a line.
fn key_of_line(line_ends: bool, text: &str) -> Option<()> {
    (line_ends && key_at_start(text).is_some()).then_some(())
}
