//! A chart as SVG that stands alone: own colours, fonts by name, nothing from outside.
//!
//! A unit is a point, and a drawing is as wide as a column of a paper (84 mm), with letters of 8 points and more. One hue in
//! steps of lightness, with patterns and outlines, can be told apart in black and white. A value of 0 has no bar, a chart
//! without values says so.

use std::fmt::Write as _;

use super::{Chart, Datum, Shape};
use crate::text::decimals;

/// Points of 84 mm.
const WIDE: f64 = 238.0;
/// Points of the letters.
const LETTER: f64 = 8.0;
/// Between two lines.
const LINE: f64 = 10.5;
/// The height of what is drawn over two axes.
const TALL: f64 = 130.0;
/// The left end of the axis of rows, behind the numbers of the other one.
const LEFT: f64 = 34.0;

const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'Noto Sans CJK SC', 'Source Han Sans SC', \
                     'Microsoft YaHei', 'PingFang SC', sans-serif";
const INK: &str = "#08306b";
/// What series are filled with, in turn.
const FILLS: [&str; 6] = [INK, "#c6dbef", "url(#stripes)", "#4292c6", "url(#dots)", "url(#cross)"];
const DASHES: [&str; 6] = ["", "5 2", "1.5 1.5", "7 2 1.5 2", "3 3", "9 3"];
const PATTERNS: &str = "<defs><pattern id=\"stripes\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#fff\"/>\
<path d=\"M-1 1L1 -1M0 4L4 0M3 5L5 3\" stroke=\"#08306b\" stroke-width=\".8\"/></pattern>\
<pattern id=\"dots\" width=\"3\" height=\"3\" patternUnits=\"userSpaceOnUse\"><rect width=\"3\" height=\"3\" fill=\"#fff\"/>\
<circle cx=\"1.5\" cy=\"1.5\" r=\".7\" fill=\"#08306b\"/></pattern>\
<pattern id=\"cross\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#deebf7\"/>\
<path d=\"M0 2H4M2 0V4\" stroke=\"#08306b\" stroke-width=\".6\"/></pattern></defs>";

/// A drawing that grows downwards.
struct Canvas {
    body: String,
    /// The lower end of what is drawn.
    y: f64,
}

/// The drawing.
pub fn svg(chart: &Chart) -> String {
    let mut canvas = Canvas { body: String::new(), y: 2.0 };
    for line in wrapped(&chart.title, WIDE - 8.0, 9.0) {
        canvas.y += 11.5;
        canvas.text(
            [4.0, canvas.y],
            "start",
            &format!("<tspan font-size=\"9\" font-weight=\"bold\">{}</tspan>", escaped(&line)),
        );
    }
    canvas.y += 4.0;
    if chart.is_empty() {
        canvas.y += LINE;
        canvas.label([4.0, canvas.y], "start", "no data");
    } else {
        canvas.legend(chart);
        match chart.shape {
            Shape::Bars => canvas.bars(chart),
            Shape::Stacked => canvas.stacked(chart),
            Shape::Columns => canvas.columns(chart),
            Shape::Lines => canvas.lines(chart),
            Shape::Points { log } => canvas.points(chart, log),
        }
    }
    let tall = canvas.y + 6.0;
    let title = escaped(&chart.title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"84mm\" height=\"{:.2}mm\" viewBox=\"0 0 {WIDE} {tall:.1}\" role=\"img\" aria-label=\"{title}\" \
         font-family=\"{FONTS}\" font-size=\"{LETTER}\" fill=\"#000\">\n<title>{title}</title>\n{PATTERNS}\n<rect width=\"{WIDE}\" height=\"{tall:.1}\" fill=\"#fff\"/>\n{}</svg>\n",
        tall * 84.0 / WIDE,
        canvas.body
    )
}

impl Canvas {
    /// Text that is escaped already.
    fn text(&mut self, [x, y]: [f64; 2], anchor: &str, text: &str) {
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    fn label(&mut self, place: [f64; 2], anchor: &str, text: &str) {
        self.text(place, anchor, &escaped(text));
    }

    fn rect(&mut self, [x, y]: [f64; 2], [wide, tall]: [f64; 2], fill: &str) {
        // 0 has no sliver.
        if wide > 0.0 && tall > 0.0 {
            let _ = writeln!(
                self.body,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.2}\" height=\"{tall:.2}\" fill=\"{fill}\" stroke=\"{INK}\" stroke-width=\".4\"/>"
            );
        }
    }

    fn path(&mut self, path: &str, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#000\" stroke-width=\".8\"{dash}/>"
        );
    }

    fn marker(&mut self, [x, y]: [f64; 2], number: usize) {
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

    /// What the fills and lines mean; nothing of a single series, which the title names.
    fn legend(&mut self, chart: &Chart) {
        if chart.series.len() < 2 || matches!(chart.shape, Shape::Points { .. }) {
            return;
        }
        let mut x = 4.0;
        self.y += LINE;
        for (at, name) in chart.series.iter().enumerate() {
            let wide = 14.0 + width(name, LETTER) + 8.0;
            if x > 4.0 && x + wide > WIDE {
                (x, self.y) = (4.0, self.y + LINE + 1.5);
            }
            let middle = self.y - 3.0;
            match chart.shape {
                Shape::Lines => {
                    self.path(&format!("M{x:.1} {middle:.1}h11"), DASHES[at % DASHES.len()]);
                    self.marker([x + 5.5, middle], at);
                }
                Shape::Stacked => self.rect([x, self.y - 7.0], [9.0, 8.0], &shade(at, chart.series.len()).0),
                _ => self.rect([x, self.y - 7.0], [9.0, 8.0], FILLS[at % FILLS.len()]),
            }
            self.label([x + 14.0, self.y], "start", name);
            x += wide;
        }
        self.y += 5.0;
    }

    /// The name of a row above its bars, where it has the width of the column.
    fn name(&mut self, name: &str) {
        self.y += 2.0;
        for line in wrapped(name, WIDE - 8.0, LETTER) {
            self.y += LINE;
            self.label([4.0, self.y], "start", &line);
        }
        self.y += 2.5;
    }

    fn bars(&mut self, chart: &Chart) {
        const BAR: f64 = 8.5;
        let all = || chart.rows.iter().flat_map(|row| row.values.iter().flatten());
        let low = all().map(lowest).fold(0.0, f64::min);
        let high =
            chart.most.unwrap_or_else(|| all().map(highest).fold(0.0, f64::max)).max(low + f64::EPSILON);
        let (left, right) = (6.0, WIDE - 38.0);
        let x = |value: f64| left + ((value - low) / (high - low)).clamp(0.0, 1.0) * (right - left);
        let top = self.y;
        for row in chart.rows.iter().filter(|row| row.values.iter().any(Option::is_some)) {
            self.name(&row.name);
            for (at, datum) in row.values.iter().enumerate() {
                let Some(datum) = datum else { continue };
                let (from, to) = (x(datum.value.min(0.0)), x(datum.value.max(0.0)));
                self.rect([from, self.y], [to - from, BAR], FILLS[at % FILLS.len()]);
                let mut end = to;
                if let Some([low, high]) = datum.ends {
                    let middle = self.y + BAR / 2.0;
                    let (low, high) = (x(low), x(high));
                    // White around it, so that it can be seen on a dark bar.
                    let _ = writeln!(
                        self.body,
                        "<path d=\"M{low:.1} {middle:.1}H{high:.1}\" stroke=\"#fff\" stroke-width=\"2.4\"/>"
                    );
                    self.path(
                        &format!(
                            "M{low:.1} {0:.1}v4M{low:.1} {middle:.1}H{high:.1}M{high:.1} {0:.1}v4",
                            middle - 2.0
                        ),
                        "",
                    );
                    end = end.max(high);
                }
                self.label([end + 3.0, self.y + BAR - 1.2], "start", &short(datum.value));
                self.y += BAR + 2.0;
            }
        }
        self.y += 2.0;
        let zero = x(0.0);
        self.path(&format!("M{zero:.1} {top:.1}V{0:.1}M{left:.1} {0:.1}H{right:.1}", self.y), "");
        self.y += LINE;
        let mut ticks = vec![low, high];
        if low < 0.0 {
            ticks.push(0.0);
        }
        for tick in ticks {
            self.label([x(tick).max(8.0), self.y], "middle", &short(tick));
        }
        self.label([f64::midpoint(left, right), self.y + LINE], "middle", &chart.axes[1]);
        self.y += LINE;
    }

    fn stacked(&mut self, chart: &Chart) {
        const BAR: f64 = 12.0;
        let wide = WIDE - 12.0;
        for row in chart.rows.iter().filter(|row| row.values.iter().any(Option::is_some)) {
            self.name(&row.name);
            let mut x = 6.0;
            for (at, datum) in row.values.iter().enumerate() {
                let Some(datum) = datum else { continue };
                let long = (datum.value / 100.0).clamp(0.0, 1.0) * wide;
                let (fill, ink) = shade(at, chart.series.len());
                self.rect([x, self.y], [long, BAR], &fill);
                let shown = decimals(datum.value, 0);
                // A narrower piece has no room for its number.
                if long > width(&shown, LETTER) + 3.0 {
                    let text = format!("<tspan fill=\"{ink}\">{shown}</tspan>");
                    self.text([x + long / 2.0, self.y + 9.0], "middle", &text);
                }
                x += long;
            }
            self.y += BAR + 1.0;
        }
        self.y += LINE + 1.0;
        self.label([WIDE / 2.0, self.y], "middle", &chart.axes[1]);
    }

    /// The frame of a chart over two axes, with the numbers of the axis of values; returns the height of a value.
    fn frame(&mut self, [low, high]: [f64; 2], axes: &[String; 2]) -> impl Fn(f64) -> f64 + use<> {
        self.y += LINE;
        self.label([4.0, self.y], "start", &axes[1]);
        self.y += 6.0;
        let top = self.y;
        let y = move |value: f64| top + TALL - (value - low) / (high - low) * TALL;
        for part in 0..=4 {
            let value = low + (high - low) * f64::from(part) / 4.0;
            let at = y(value);
            let _ = writeln!(
                self.body,
                "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#bbb\" stroke-width=\".4\"/>",
                WIDE - 6.0
            );
            self.label([LEFT - 3.0, at + 2.8], "end", &short(value));
        }
        self.path(&format!("M{LEFT} {top:.1}V{0:.1}H{1:.1}", top + TALL, WIDE - 6.0), "");
        self.y = top + TALL + LINE;
        y
    }

    fn columns(&mut self, chart: &Chart) {
        for limit in &chart.limits {
            self.y += LINE;
            let middle = self.y - 3.0;
            self.path(&format!("M4 {middle:.1}h12"), "3 2");
            self.label([20.0, self.y], "start", &limit.name);
        }
        let all = chart.rows.iter().flat_map(|row| row.values.iter().flatten());
        let high = chart.most.unwrap_or_else(|| all.map(highest).fold(0.0, f64::max)).max(1.0);
        let y = self.frame([0.0, high], &chart.axes);
        let step = (WIDE - 6.0 - LEFT) / chart.rows.len().max(1) as f64;
        let bar = (step - step.min(1.0)) / chart.series.len().max(1) as f64;
        let widest = chart.rows.iter().map(|row| width(&row.name, LETTER)).fold(1.0, f64::max);
        let every = ((widest + 4.0) / step).ceil().max(1.0) as usize;
        for (number, row) in chart.rows.iter().enumerate() {
            let x = LEFT + number as f64 * step;
            for (at, datum) in row.values.iter().enumerate() {
                let Some(datum) = datum else { continue };
                let top = y(datum.value.min(high));
                self.rect([x + at as f64 * bar, top], [bar, y(0.0) - top], FILLS[at % FILLS.len()]);
            }
            if number % every == 0 {
                self.label([x + step / 2.0, self.y], "middle", &row.name);
            }
        }
        for limit in &chart.limits {
            let x = LEFT + limit.at.clamp(0.0, chart.rows.len() as f64) * step;
            self.path(&format!("M{x:.1} {:.1}V{:.1}", y(high), y(0.0)), "3 2");
        }
        self.y += LINE;
        self.label([f64::midpoint(LEFT, WIDE), self.y], "middle", &chart.axes[0]);
    }

    fn lines(&mut self, chart: &Chart) {
        let all = chart.rows.iter().flat_map(|row| row.values.iter().flatten());
        let high = chart.most.unwrap_or_else(|| all.map(highest).fold(0.0, f64::max)).max(1.0);
        let y = self.frame([0.0, high], &chart.axes);
        // A single row would divide by 0.
        let step = (WIDE - 36.0 - LEFT) / (chart.rows.len().max(2) - 1) as f64;
        let x = |number: usize| LEFT + 15.0 + number as f64 * step;
        for (number, row) in chart.rows.iter().enumerate() {
            self.label([x(number), self.y], "middle", &row.name);
        }
        for at in 0..chart.series.len() {
            let places: Vec<[f64; 2]> = chart
                .rows
                .iter()
                .enumerate()
                .filter_map(|(number, row)| Some([x(number), y(row.values.get(at)?.as_ref()?.value)]))
                .collect();
            let mut path = String::new();
            for [x, y] in &places {
                let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
            }
            self.path(&path, DASHES[at % DASHES.len()]);
            places.into_iter().for_each(|place| self.marker(place, at));
        }
        self.y += LINE;
        self.label([f64::midpoint(LEFT, WIDE), self.y], "middle", &chart.axes[0]);
    }

    fn points(&mut self, chart: &Chart, log: bool) {
        // 0 has no logarithm.
        let on = |x: f64| if log { x.max(1e-9).log10() } else { x };
        let named: Vec<(&str, f64, f64)> = chart
            .rows
            .iter()
            .filter_map(|row| {
                let [Some(x), Some(y)] = row.values[..] else { return None };
                Some((row.name.as_str(), on(x.value), y.value))
            })
            .collect();
        let range = |of: &dyn Fn(&(&str, f64, f64)) -> f64| {
            let low = named.iter().map(of).fold(f64::MAX, f64::min);
            let high = named.iter().map(of).fold(f64::MIN, f64::max);
            // Equal values would make a range without width.
            let pad = ((high - low) * 0.08).max(0.05);
            [low - pad, high + pad]
        };
        let ([left, right], ends) = (range(&|point| point.1), range(&|point| point.2));
        let y = self.frame(ends, &chart.axes);
        let wide = WIDE - 6.0 - LEFT;
        let x = |value: f64| LEFT + (value - left) / (right - left) * wide;
        for part in 0..=3 {
            let at = left + (right - left) * f64::from(part) / 3.0;
            let anchor = if part == 3 { "end" } else { "middle" };
            self.label([x(at), self.y], anchor, &short(if log { 10f64.powf(at) } else { at }));
        }
        if let Some((slope, from)) = least_squares(&named) {
            // A steep line would leave the frame.
            let end = |at: f64| (x(at), y((from + slope * at).clamp(ends[0], ends[1])));
            let ((x1, y1), (x2, y2)) = (end(left), end(right));
            self.path(&format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"), "4 2");
        }
        for (name, at, up) in &named {
            let place = [x(*at), y(*up)];
            self.marker(place, 0);
            // Near the right edge a name only fits on the left of its point.
            let is_right = place[0] + width(name, LETTER) + 6.0 > WIDE;
            let (dx, anchor) = if is_right { (-4.0, "end") } else { (4.0, "start") };
            self.label([place[0] + dx, place[1] - 3.0], anchor, name);
        }
        self.y += LINE;
        let scale = if log { ", logarithmic" } else { "" };
        self.label([f64::midpoint(LEFT, WIDE), self.y], "middle", &format!("{}{scale}", chart.axes[0]));
        self.y += LINE;
        self.label([f64::midpoint(LEFT, WIDE), self.y], "middle", "dashed: least squares");
    }
}

fn lowest(datum: &Datum) -> f64 {
    datum.ends.map_or(datum.value, |[low, _]| low.min(datum.value))
}

fn highest(datum: &Datum) -> f64 {
    datum.ends.map_or(datum.value, |[_, high]| high.max(datum.value))
}

/// Slope and intercept; `None` without variation.
fn least_squares(points: &[(&str, f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let a = points.iter().map(|point| point.1).sum::<f64>() / n;
    let b = points.iter().map(|point| point.2).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|point| (point.1 - a).powi(2)).sum();
    let slope = points.iter().map(|point| (point.1 - a) * (point.2 - b)).sum::<f64>() / spread;
    (spread > 1e-12).then_some((slope, b - slope * a))
}

/// The fill of a step of an ordered scale, light to dark, and the colour of letters on it.
fn shade(at: usize, of: usize) -> (String, &'static str) {
    let dark = at as f64 / (of.max(2) - 1) as f64;
    let part = |from: f64, to: f64| (from + (to - from) * dark).round() as u8;
    let fill = format!("#{:02x}{:02x}{:02x}", part(222.0, 8.0), part(235.0, 48.0), part(247.0, 107.0));
    (fill, if dark > 0.5 { "#fff" } else { "#000" })
}

/// A number for an axis or a bar.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        small if small < 1.0 => 2,
        _ => 1,
    };
    decimals(value, digits)
}

/// The width of a text, in points: Chinese letters are as wide as high, others a little over half of it.
fn width(text: &str, letter: f64) -> f64 {
    text.chars().map(|c| if c >= '\u{2e80}' { letter } else { 0.56 * letter }).sum()
}

/// Lines of a text that fit a width. It is broken at spaces, and in long words and Chinese anywhere.
fn wrapped(text: &str, wide: f64, letter: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for c in text.chars() {
        line.push(c);
        if width(&line, letter) > wide {
            let space = line.rfind(' ').filter(|at| *at > 0);
            let at = space.map_or(line.len() - c.len_utf8(), |at| at + 1);
            let rest = line.split_off(at);
            lines.push(std::mem::replace(&mut line, rest).trim_end().to_owned());
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

fn escaped(text: &str) -> String {
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
