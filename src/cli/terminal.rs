//! Output for terminals: colours if supported, lines that fit, and no control characters from posts.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use textwrap::core::{Word, break_words};
use textwrap::wrap_algorithms::wrap_first_fit;
use unicode_width::UnicodeWidthChar;

/// Marks the indentation of the lines after the first in a line that has to be broken. A Unicode
/// noncharacter, so that it occurs in no text.
pub(super) const HANG: char = '\u{fdd0}';

/// Smallest assumed width of a terminal.
const NARROWEST: usize = 40;

/// The properties of a stream: whether it supports colours, and its width if lines have to be broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamStyle {
    pub colours: bool,
    pub width: Option<usize>,
}

impl StreamStyle {
    fn detect_style(stream: &(impl anstream::stream::RawStream + IsTerminal)) -> StreamStyle {
        StreamStyle {
            colours: AutoStream::choice(stream) != ColorChoice::Never,
            width: terminal_width(IsTerminal::is_terminal(stream)),
        }
    }
}

/// The columns of the terminal; from `COLUMNS` if a program that reads the output sets it. Lines written to a
/// file are not broken.
fn terminal_width(terminal: bool) -> Option<usize> {
    let by_variable = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let seen = || terminal.then(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))?;
    by_variable().or_else(seen).map(|width: usize| width.max(NARROWEST))
}

/// The properties of stdout.
pub(super) fn stdout_style() -> StreamStyle {
    StreamStyle::detect_style(&io::stdout())
}

/// The properties of stderr.
pub(super) fn stderr_style() -> StreamStyle {
    StreamStyle::detect_style(&io::stderr())
}

/// Writes a line to stderr. A closed pipe (`2>&1 | head`) is not an error.
pub(super) fn complain(line: fmt::Arguments<'_>) {
    super::spinner::stop_spinner();
    // The newline goes out in the same write, as stderr is unbuffered and others may write there, too.
    let mut text = fit_text(&super::commands::runnable_commands(&line.to_string()), stderr_style());
    text.push('\n');
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Like std's, which panics if stderr is closed. In scope in every verb: see `cli/mod.rs`.
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::cli::terminal::complain(format_args!($($arg)*)) };
}

/// Formats a text for a stream with these properties.
pub(super) fn fit_text(text: &str, ways: StreamStyle) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        fit_line(&mut out, line, ways);
    }
    out
}

fn fit_line(out: &mut String, line: &str, ways: StreamStyle) {
    let line = escape_controls(line, ways.colours);
    let (before, rest) = line.split_once(HANG).unwrap_or((&line, ""));
    let hang = match line.contains(HANG) {
        true => count_columns(before),
        // Two columns deeper, so that the rest does not look like a line of its own.
        false => before.chars().take_while(|c| *c == ' ').count() + 2,
    };
    let line = if rest.is_empty() { before.to_string() } else { format!("{before}{rest}") };
    let Some(width) = ways.width.filter(|width| count_columns(&line) > *width) else {
        return out.push_str(&line);
    };
    // A deep indentation would leave too little of a narrow terminal for the text.
    let indent = " ".repeat(if hang * 3 > width * 2 { 4 } else { hang });
    let rest_width = width.saturating_sub(indent.len());
    let mut words = Vec::new();
    for part in parts_of(&line) {
        match part {
            Part::Prose(text) => words.extend(break_words(words_of(text), rest_width)),
            // A broken command cannot be copied: it stands on a line of its own, however long.
            Part::Command(text) => words.push(Word::from(text)),
        }
    }
    for (at, line) in wrap_first_fit(&words, &[width as f64, rest_width as f64]).iter().enumerate() {
        if at > 0 {
            out.push('\n');
            out.push_str(&indent);
        }
        let Some((last, before)) = line.split_last() else { continue };
        before.iter().for_each(|word| out.extend([word.word, word.whitespace]));
        out.push_str(last.word);
    }
}

/// A part of a line that is wrapped.
enum Part<'l> {
    Prose(&'l str),
    /// A command with the spaces behind it.
    Command(&'l str),
}

/// The commands of a line and what is between them: between backticks, or after the head of the line, as in
/// `next: riddlemill run; then riddlemill audit  (why)`.
fn parts_of(line: &str) -> Vec<Part<'_>> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = line[at..].find("riddlemill ") {
        let start = at + found;
        let (before, after) = (&line[from..start], &line[start..]);
        let bare = before.trim_end();
        let end = match before.ends_with('`') {
            true => after.find('`').map(|end| end + 1),
            false if bare.ends_with(':') || bare.ends_with("\u{1b}[0m") || bare == "then" => {
                Some(after.find([';', '`']).into_iter().chain(after.find("  (")).min().unwrap_or(after.len()))
            }
            false => None,
        };
        let Some(end) = end else {
            at = start + "riddlemill ".len();
            continue;
        };
        let start = start - usize::from(before.ends_with('`'));
        // Its punctuation stays with it, and so do the spaces behind.
        let end = start + usize::from(before.ends_with('`')) + end;
        let end =
            end + line[end..].find(|c: char| !",.;:)，。；：）".contains(c)).unwrap_or(line.len() - end);
        let end = end + line[end..].find(|c: char| c != ' ').unwrap_or(line.len() - end);
        parts.push(Part::Prose(&line[from..start]));
        parts.push(Part::Command(&line[start..end]));
        (from, at) = (end, end);
    }
    parts.push(Part::Prose(&line[from..]));
    parts
}

/// Columns of a text: two for a Chinese character, none for a colour code.
pub(super) fn count_columns(text: &str) -> usize {
    textwrap::core::display_width(text)
}

/// Where a line may be broken: after spaces, and next to Chinese characters unless their punctuation forbids
/// it.
fn words_of(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    Box::new(std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            let end = at + c.len_utf8();
            if chars.peek().is_none_or(|(_, next)| may_break(c, *next)) {
                let word = &line[start..end];
                start = end;
                return Some(Word::from(word));
            }
        }
        None
    }))
}

fn may_break(before: char, after: char) -> bool {
    const NEVER_FIRST: &str = "，。、；：？！）》」』】〕”’…—·～%,.;:?!)]}›»";
    const NEVER_LAST: &str = "（《「『【〔“‘([{‹«";
    // A space stays at the end of its line, and a combining mark on its character.
    if after == ' ' || after.width() == Some(0) {
        return false;
    }
    let wide = |c: char| c.width() == Some(2);
    before == ' '
        || (wide(before) || wide(after)) && !NEVER_FIRST.contains(after) && !NEVER_LAST.contains(before)
}

/// A line without control characters: they are shown as symbols, except for the program's own colours.
fn escape_controls(line: &str, colours: bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = colour_code(rest) {
            if colours {
                out.push_str(&rest[..length]);
            }
            rest = &rest[length..];
            continue;
        }
        out.push(if c == '\t' { c } else { printable_symbol(c) });
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The length of `ESC [ … m` at the beginning of a text.
fn colour_code(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let length = codes.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    (codes.as_bytes().get(length) == Some(&b'm')).then_some(length + 3)
}

/// A printable form of a character: control characters have symbols.
fn printable_symbol(c: char) -> char {
    match c {
        '\n' => '⏎',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        // Characters that change the direction of a line can change its meaning.
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}

/// Untrusted text on one line, without control characters.
pub(super) fn visible_line(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { ' ' } else { printable_symbol(c) }).collect()
}

/// A colour by its meaning, the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// It exists, or continues.
    Good,
    /// It differs from before.
    Other,
    /// It waits for somebody.
    Waits,
    /// It is dropped, or failed.
    Bad,
    /// A heading.
    Head,
}

/// A text in a colour, which [`fit_text`] removes if colours are not supported.
pub(super) fn tint_text(tone: Tone, text: &str) -> String {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    let style = match tone {
        Tone::Good => colour(AnsiColor::Green),
        Tone::Other => colour(AnsiColor::Cyan),
        Tone::Waits => colour(AnsiColor::Yellow),
        Tone::Bad => colour(AnsiColor::Red),
        Tone::Head => Style::new().bold(),
    };
    format!("{style}{text}{style:#}")
}

/// The colour of a state in a ledger, or of a stage's freshness.
pub(super) fn tone_of_state(state: &str) -> Tone {
    match state {
        "in" | "kept" | "fresh" => Tone::Good,
        "changed" | "merged" | "joined" | "expanded" | "depends" => Tone::Other,
        "held" | "waiting" | "stale" | "missing" => Tone::Waits,
        _ => Tone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: StreamStyle = StreamStyle { colours: false, width: None };

    #[test]
    fn a_post_moves_no_cursor() {
        let post = "标题\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m第二行\r\n\u{202e}";
        assert_eq!(visible_line(post), "标题␛]0;x␇␛[2J\u{fffd}31m第二行␍⏎\u{fffd}");
        assert_eq!(fit_text("a\u{1b}[2Jb\u{8}\n", PLAIN), "a␛[2Jb␈\n");
    }

    #[test]
    fn colours_are_taken_out_where_none_is_shown() {
        let text = format!("{} x", tint_text(Tone::Good, "kept"));
        assert_eq!(fit_text(&text, PLAIN), "kept x");
        assert_eq!(fit_text(&text, StreamStyle { colours: true, width: None }), text);
        // A post's own colour codes have no effect.
        assert_eq!(
            fit_text(&visible_line("\u{1b}[31m红"), StreamStyle { colours: true, width: None }),
            "␛[31m红"
        );
    }

    #[test]
    fn chinese_breaks_by_width_and_words_stay_whole() {
        let ways = StreamStyle { colours: false, width: Some(40) };
        let text = format!("  text    {HANG}云会恐高吗，鱼会口渴吗？为什么生鱼片是死鱼片，而不是活鱼片呢");
        assert_eq!(
            fit_text(&text, ways),
            "  text    云会恐高吗，鱼会口渴吗？为什么\n          生鱼片是死鱼片，而不是活鱼片呢"
        );
        let text = "  a line of words that is longer than the terminal is wide, and goes on";
        assert_eq!(
            fit_text(text, ways),
            "  a line of words that is longer than\n    the terminal is wide, and goes on"
        );
        assert_eq!(fit_text(&format!("a{HANG}b"), PLAIN), "ab");
    }

    #[test]
    fn a_command_is_never_broken() {
        let ways = StreamStyle { colours: true, width: Some(40) };
        let head = tint_text(Tone::Head, "next:");
        let line = format!(
            "{head} {HANG}riddlemill -C mill review assign screen --recipe chumor; then riddlemill -C mill audit  (12 items wait for votes of people)"
        );
        let fitted = fit_text(&line, ways);
        for whole in ["riddlemill -C mill review assign screen --recipe chumor;", "riddlemill -C mill audit"]
        {
            assert!(fitted.lines().any(|line| line.contains(whole)), "{fitted}");
        }
        assert!(fitted.lines().count() > 2, "{fitted}");
        let hint = "  hint: `riddlemill decide undo 0123456789 --by NAME --why TEXT`, which takes it back";
        let fitted = fit_text(hint, ways);
        assert!(fitted.contains("`riddlemill decide undo 0123456789 --by NAME --why TEXT`,\n"), "{fitted}");
        assert!(!fitted.contains(" \n"), "{fitted}");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_line_fits(text in "[a-z 云会，。「」]{0,120}", width in 40usize..90) {
            let fitted = fit_text(&text, StreamStyle { colours: false, width: Some(width) });
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(bare(&fitted), bare(&text));
            for line in fitted.lines() {
                prop_assert!(count_columns(line) <= width, "{line:?}");
            }
        }
    }
}
