//! What a drawing is made of: texts, bars, lines and points. A unit is a point of a paper.

use std::fmt::Write as _;

use riddlemill_text::text::{format_decimals, group_digits};

/// Points of 84 mm.
pub(super) const WIDE: f64 = 238.0;
/// Points of the letters.
pub(super) const LETTER: f64 = 8.0;
/// Between two lines.
pub(super) const LINE: f64 = 10.5;
const INK: &str = "#08306b";
/// What series are filled with, in turn; names are those of patterns.
const FILLS: [&str; 6] = [INK, "#c6dbef", "stripes", "#4292c6", "dots", "cross"];
const PATTERNS: &str = "<defs><pattern id=\"stripes\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#fff\"/>\
<path d=\"M-1 1L1 -1M0 4L4 0M3 5L5 3\" stroke=\"#08306b\" stroke-width=\".8\"/></pattern>\
<pattern id=\"dots\" width=\"3\" height=\"3\" patternUnits=\"userSpaceOnUse\"><rect width=\"3\" height=\"3\" fill=\"#fff\"/>\
<circle cx=\"1.5\" cy=\"1.5\" r=\".7\" fill=\"#08306b\"/></pattern>\
<pattern id=\"cross\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#deebf7\"/>\
<path d=\"M0 2H4M2 0V4\" stroke=\"#08306b\" stroke-width=\".6\"/></pattern></defs>";

/// A drawing that grows downwards.
pub(super) struct Canvas {
    pub body: String,
    /// The lower end of what is drawn.
    pub y: f64,
    /// What the names of patterns begin with: several drawings of a page must not share them.
    prefix: String,
    /// Whether it tells what is under the pointer.
    tells: bool,
}

impl Canvas {
    /// An empty drawing; of a page if there is a prefix.
    pub fn new(prefix: Option<String>) -> Canvas {
        let tells = prefix.is_some();
        Canvas { body: String::new(), y: 2.0, prefix: prefix.unwrap_or_default(), tells }
    }

    /// The patterns that bars may be filled with.
    pub fn define_patterns(&self) -> String {
        PATTERNS.replace("id=\"", &format!("id=\"{}", self.prefix))
    }

    /// The fill of a series.
    pub fn fill_of_series(&self, at: usize) -> String {
        match FILLS[at % FILLS.len()] {
            colour if colour.starts_with('#') => colour.to_owned(),
            pattern => format!("url(#{}{pattern})", self.prefix),
        }
    }

    /// Draws something, and on a page what the pointer shows there.
    pub fn draw_with_tooltip(&mut self, words: &str, draw: impl FnOnce(&mut Canvas)) {
        if !self.tells {
            return draw(self);
        }
        let _ = writeln!(self.body, "<g><title>{}</title>", escape_markup(words));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// Text that is escaped already.
    pub fn draw_escaped(&mut self, [x, y]: [f64; 2], anchor: &str, text: &str) {
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    /// Text as it is.
    pub fn draw_label(&mut self, place: [f64; 2], anchor: &str, text: &str) {
        self.draw_escaped(place, anchor, &escape_markup(text));
    }

    /// A bar; 0 has no sliver, and a narrow one no outline, which would be most of it.
    pub fn draw_bar(&mut self, [x, y]: [f64; 2], [wide, tall]: [f64; 2], fill: &str) {
        if wide <= 0.0 || tall <= 0.0 {
            return;
        }
        let outline = match wide < 2.0 {
            true => String::new(),
            false => format!(" stroke=\"{INK}\" stroke-width=\".4\""),
        };
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.2}\" height=\"{tall:.2}\" fill=\"{fill}\"{outline}/>"
        );
    }

    /// A black line.
    pub fn draw_line(&mut self, path: &str, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#000\" stroke-width=\".8\"{dash}/>"
        );
    }

    /// A line that is hardly seen, or that sets another one off.
    pub fn draw_faint_line(&mut self, path: &str, colour: &str, width: &str) {
        let _ = writeln!(self.body, "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>");
    }

    /// The point of a series.
    pub fn draw_marker(&mut self, [x, y]: [f64; 2], number: usize) {
        let fill = if number.is_multiple_of(2) { INK } else { "#fff" };
        let _ = match (number / 2) % 2 {
            0 => writeln!(
                self.body,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" fill=\"{fill}\" stroke=\"{INK}\"/>"
            ),
            _ => writeln!(
                self.body,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"4.4\" height=\"4.4\" fill=\"{fill}\" stroke=\"{INK}\"/>",
                x - 2.2,
                y - 2.2
            ),
        };
    }
}

/// The fill of a step of an ordered scale, light to dark, and the colour of letters on it.
pub(super) fn shade_of_step(step: usize, steps: usize) -> (String, &'static str) {
    let dark = step as f64 / (steps.max(2) - 1) as f64;
    let part = |from: f64, to: f64| (from + (to - from) * dark).round() as u8;
    let fill = format!("#{:02x}{:02x}{:02x}", part(222.0, 8.0), part(235.0, 48.0), part(247.0, 107.0));
    (fill, if dark > 0.5 { "#fff" } else { "#000" })
}

/// A number for an axis or a bar.
pub(super) fn format_short(value: f64) -> String {
    // Long counts are read by their thousands.
    if value.fract() == 0.0 && (1_000.0..1e15).contains(&value) {
        return group_digits(value as i64);
    }
    let digits = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        small if small < 1.0 => 2,
        _ => 1,
    };
    format_decimals(value, digits)
}

/// The width of a text, in points: Chinese letters are as wide as high, others a little over half of it.
pub(super) fn text_width(text: &str, letter: f64) -> f64 {
    text.chars().map(|c| if c >= '\u{2e80}' { letter } else { 0.56 * letter }).sum()
}

/// Lines of a text that fit a width. It is broken at spaces, and in long words and Chinese anywhere.
pub(super) fn wrap_text(text: &str, wide: f64, letter: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for c in text.chars() {
        line.push(c);
        if text_width(&line, letter) > wide {
            let space = line.rfind(' ').filter(|at| *at > 0);
            let at = space.map_or(line.len() - c.len_utf8(), |at| at + 1);
            let rest = line.split_off(at);
            lines.push(std::mem::replace(&mut line, rest).trim_end().to_owned());
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// A text in which nothing is markup.
pub(super) fn escape_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no control characters.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
