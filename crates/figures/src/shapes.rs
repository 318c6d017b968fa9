//! The shapes of charts.

use std::fmt::Write as _;

use super::canvas::{Canvas, LETTER, LINE, WIDE, format_short, shade_of_step, text_width, wrap_text};
use super::{Chart, ChartRow, Datum, Limit, Shape};

/// The height of what is drawn over two axes.
const TALL: f64 = 130.0;
/// The left end of the axis of rows, behind the numbers of the other one.
const LEFT: f64 = 34.0;
/// Points of lines that are nearer than this are not marked.
const MARKED: f64 = 8.0;
const DASHES: [&str; 6] = ["", "5 2", "1.5 1.5", "7 2 1.5 2", "3 3", "9 3"];

/// Draws a chart with values; the words are what an axis of logarithms is called and what the line through points is.
pub(super) fn draw_shape(canvas: &mut Canvas, chart: &Chart, logarithmic: &str, least_squares: &str) {
    draw_legend(canvas, chart);
    match chart.shape {
        Shape::Bars => draw_bars(canvas, chart),
        Shape::Stacked => draw_stacked_bars(canvas, chart),
        Shape::Columns => draw_columns(canvas, chart, false),
        Shape::Piles => draw_columns(canvas, chart, true),
        Shape::Lines => draw_lines(canvas, chart),
        Shape::Points { log } => draw_points(canvas, chart, log.then_some(logarithmic), least_squares),
    }
}

/// What the fills and lines mean; nothing of a single series, which the title names.
fn draw_legend(canvas: &mut Canvas, chart: &Chart) {
    if chart.series.len() < 2 || matches!(chart.shape, Shape::Points { .. }) {
        return;
    }
    let mut x = 4.0;
    canvas.y += LINE;
    for (at, name) in chart.series.iter().enumerate() {
        let wide = 14.0 + text_width(name, LETTER) + 8.0;
        if x > 4.0 && x + wide > WIDE {
            (x, canvas.y) = (4.0, canvas.y + LINE + 1.5);
        }
        let middle = canvas.y - 3.0;
        let square = [x, canvas.y - 7.0];
        match chart.shape {
            Shape::Lines => {
                canvas.draw_line(&format!("M{x:.1} {middle:.1}h11"), DASHES[at % DASHES.len()]);
                canvas.draw_marker([x + 5.5, middle], at);
            }
            Shape::Stacked => canvas.draw_bar(square, [9.0, 8.0], &shade_of_step(at, chart.series.len()).0),
            _ => {
                let fill = canvas.fill_of_series(at);
                canvas.draw_bar(square, [9.0, 8.0], &fill);
            }
        }
        canvas.draw_label([x + 14.0, canvas.y], "start", name);
        x += wide;
    }
    canvas.y += 5.0;
}

/// What the pointer shows at a value.
fn tooltip_text(chart: &Chart, row: &ChartRow, at: usize, datum: &Datum) -> String {
    let series = chart.series.get(at).map(|name| format!(", {name}")).unwrap_or_default();
    let ends = datum.ends.map(|[low, high]| format!(" [{}, {}]", format_exact(low), format_exact(high)));
    format!("{}{series}: {}{}", row.name, format_exact(datum.value), ends.unwrap_or_default())
}

/// A number with one digit more than beside its bar.
fn format_exact(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format_short(value),
        false => riddlemill_text::text::format_decimals(value, 2),
    }
}

/// What the rows are, above the first of them.
fn draw_axis_of_rows(canvas: &mut Canvas, chart: &Chart) {
    if !chart.axes[0].is_empty() {
        canvas.y += LINE;
        canvas.draw_label([4.0, canvas.y], "start", &chart.axes[0]);
        canvas.y += 3.0;
    }
}

/// The name of a row above its bars, where it has the width of the column.
fn draw_row_name(canvas: &mut Canvas, name: &str) {
    canvas.y += 2.0;
    // Behind the line of the axis, which begins above the first name.
    for line in wrap_text(name, WIDE - 13.0, LETTER) {
        canvas.y += LINE;
        canvas.draw_label([9.0, canvas.y], "start", &line);
    }
    canvas.y += 2.5;
}

fn draw_bars(canvas: &mut Canvas, chart: &Chart) {
    const BAR: f64 = 8.5;
    let all = || chart.rows.iter().flat_map(|row| row.values.iter().flatten());
    let low = all().map(lowest_end).fold(0.0, f64::min);
    let high =
        chart.most.unwrap_or_else(|| all().map(highest_end).fold(0.0, f64::max)).max(low + f64::EPSILON);
    let (left, right) = (6.0, WIDE - 38.0);
    let x = |value: f64| left + ((value - low) / (high - low)).clamp(0.0, 1.0) * (right - left);
    draw_axis_of_rows(canvas, chart);
    let top = canvas.y;
    for row in chart.rows.iter().filter(|row| row.values.iter().any(Option::is_some)) {
        draw_row_name(canvas, &row.name);
        for (at, datum) in row.values.iter().enumerate() {
            let Some(datum) = datum else { continue };
            let fill = canvas.fill_of_series(at);
            canvas.draw_with_tooltip(&tooltip_text(chart, row, at, datum), |canvas| {
                let (from, to) = (x(datum.value.min(0.0)), x(datum.value.max(0.0)));
                canvas.draw_bar([from, canvas.y], [to - from, BAR], &fill);
                let mut end = to;
                if let Some([low, high]) = datum.ends {
                    let middle = canvas.y + BAR / 2.0;
                    let (low, high) = (x(low), x(high));
                    // White around it, so that it can be seen on a dark bar.
                    canvas.draw_faint_line(&format!("M{low:.1} {middle:.1}H{high:.1}"), "#fff", "2.4");
                    let whisker = format!(
                        "M{low:.1} {0:.1}v4M{low:.1} {middle:.1}H{high:.1}M{high:.1} {0:.1}v4",
                        middle - 2.0
                    );
                    canvas.draw_line(&whisker, "");
                    end = end.max(high);
                }
                canvas.draw_label([end + 3.0, canvas.y + BAR - 1.2], "start", &format_short(datum.value));
            });
            canvas.y += BAR + 2.0;
        }
    }
    canvas.y += 2.0;
    let zero = x(0.0);
    canvas.draw_line(&format!("M{zero:.1} {top:.1}V{0:.1}M{left:.1} {0:.1}H{right:.1}", canvas.y), "");
    canvas.y += LINE;
    let mut ticks = vec![low, high];
    if low < 0.0 {
        ticks.push(0.0);
    }
    for tick in ticks {
        canvas.draw_label([x(tick).max(8.0), canvas.y], "middle", &format_short(tick));
    }
    canvas.draw_label([f64::midpoint(left, right), canvas.y + LINE], "middle", &chart.axes[1]);
    canvas.y += LINE;
}

fn draw_stacked_bars(canvas: &mut Canvas, chart: &Chart) {
    const BAR: f64 = 12.0;
    let wide = WIDE - 12.0;
    draw_axis_of_rows(canvas, chart);
    for row in chart.rows.iter().filter(|row| row.values.iter().any(Option::is_some)) {
        draw_row_name(canvas, &row.name);
        let mut x = 6.0;
        for (at, datum) in row.values.iter().enumerate() {
            let Some(datum) = datum else { continue };
            let long = (datum.value / 100.0).clamp(0.0, 1.0) * wide;
            let (fill, ink) = shade_of_step(at, chart.series.len());
            let shown = riddlemill_text::text::format_decimals(datum.value, 0);
            canvas.draw_with_tooltip(&tooltip_text(chart, row, at, datum), |canvas| {
                canvas.draw_bar([x, canvas.y], [long, BAR], &fill);
                // A narrower piece has no room for its number.
                if long > text_width(&shown, LETTER) + 3.0 {
                    let text = format!("<tspan fill=\"{ink}\">{shown}</tspan>");
                    canvas.draw_escaped([x + long / 2.0, canvas.y + 9.0], "middle", &text);
                }
            });
            x += long;
        }
        canvas.y += BAR + 1.0;
    }
    canvas.y += LINE + 1.0;
    canvas.draw_label([WIDE / 2.0, canvas.y], "middle", &chart.axes[1]);
}

/// The frame of a chart over two axes, with the numbers of the axis of values; returns the height of a value.
fn draw_frame(
    canvas: &mut Canvas,
    [low, high]: [f64; 2],
    axes: &[String; 2],
    counted: bool,
) -> impl Fn(f64) -> f64 + Copy + use<> {
    canvas.y += LINE;
    canvas.draw_label([4.0, canvas.y], "start", &axes[1]);
    canvas.y += 6.0;
    let top = canvas.y;
    let y = move |value: f64| top + TALL - (value - low) / (high - low) * TALL;
    for part in 0..=4 {
        let value = low + (high - low) * f64::from(part) / 4.0;
        // Records are counted: no axis has a half of one.
        if counted && value.fract() != 0.0 {
            continue;
        }
        let at = y(value);
        canvas.draw_faint_line(&format!("M{LEFT} {at:.1}H{:.1}", WIDE - 6.0), "#bbb", ".4");
        canvas.draw_label([LEFT - 3.0, at + 2.8], "end", &format_short(value));
    }
    canvas.draw_line(&format!("M{LEFT} {top:.1}V{0:.1}H{1:.1}", top + TALL, WIDE - 6.0), "");
    canvas.y = top + TALL + LINE;
    y
}

/// Whether the values are counts: all whole, on an axis that ends with the largest.
fn is_counted(chart: &Chart) -> bool {
    let mut values = chart.rows.iter().flat_map(|row| row.values.iter().flatten());
    chart.most.is_none() && values.all(|datum| datum.value.fract() == 0.0)
}

/// How many names of rows apart they fit below an axis with this step.
fn label_stride(chart: &Chart, step: f64) -> usize {
    let widest = chart.rows.iter().map(|row| text_width(&row.name, LETTER)).fold(1.0, f64::max);
    ((widest + 4.0) / step).ceil().max(1.0) as usize
}

/// The names of the limits, which are dashed.
fn draw_limits(canvas: &mut Canvas, limits: &[Limit]) {
    for limit in limits {
        canvas.y += LINE;
        let middle = canvas.y - 3.0;
        canvas.draw_line(&format!("M4 {middle:.1}h12"), "3 2");
        canvas.draw_label([20.0, canvas.y], "start", &limit.name);
    }
}

/// Beside each other, or piled up in the order of the series.
fn draw_columns(canvas: &mut Canvas, chart: &Chart, piled: bool) {
    draw_limits(canvas, &chart.limits);
    let tallest = |row: &ChartRow| {
        let values = row.values.iter().flatten();
        if piled {
            values.map(|datum| datum.value).sum::<f64>()
        } else {
            values.map(highest_end).fold(0.0, f64::max)
        }
    };
    let high = chart.most.unwrap_or_else(|| chart.rows.iter().map(tallest).fold(0.0, f64::max)).max(1.0);
    let y = draw_frame(canvas, [0.0, high], &chart.axes, is_counted(chart));
    let step = (WIDE - 6.0 - LEFT) / chart.rows.len().max(1) as f64;
    let room = step - (0.15 * step).min(1.0);
    let bar = if piled { room } else { room / chart.series.len().max(1) as f64 };
    let every = label_stride(chart, step);
    for (number, row) in chart.rows.iter().enumerate() {
        let x = LEFT + number as f64 * step;
        let mut below = 0.0;
        for (at, datum) in row.values.iter().enumerate() {
            let Some(datum) = datum else { continue };
            let (from, to) = (y(below), y((below + datum.value).min(high)));
            let left = if piled { x } else { x + at as f64 * bar };
            let fill = canvas.fill_of_series(at);
            canvas.draw_with_tooltip(&tooltip_text(chart, row, at, datum), |canvas| {
                canvas.draw_bar([left, to], [bar, from - to], &fill);
            });
            if piled {
                below += datum.value;
            }
        }
        if number % every == 0 {
            canvas.draw_label([x + step / 2.0, canvas.y], "middle", &row.name);
        }
    }
    for limit in &chart.limits {
        let x = LEFT + limit.at.clamp(0.0, chart.rows.len() as f64) * step;
        canvas.draw_line(&format!("M{x:.1} {:.1}V{:.1}", y(high), y(0.0)), "3 2");
    }
    canvas.y += LINE;
    canvas.draw_label([f64::midpoint(LEFT, WIDE), canvas.y], "middle", &chart.axes[0]);
}

fn draw_lines(canvas: &mut Canvas, chart: &Chart) {
    draw_limits(canvas, &chart.limits);
    let all = chart.rows.iter().flat_map(|row| row.values.iter().flatten());
    let high = chart.most.unwrap_or_else(|| all.map(highest_end).fold(0.0, f64::max)).max(1.0);
    let y = draw_frame(canvas, [0.0, high], &chart.axes, is_counted(chart));
    // A single row would divide by 0.
    let step = (WIDE - 36.0 - LEFT) / (chart.rows.len().max(2) - 1) as f64;
    let x = |number: f64| LEFT + 15.0 + number * step;
    let every = label_stride(chart, step);
    for (number, row) in chart.rows.iter().enumerate().step_by(every) {
        canvas.draw_label([x(number as f64), canvas.y], "middle", &row.name);
    }
    for limit in &chart.limits {
        let x = x(limit.at.clamp(0.0, chart.rows.len() as f64));
        canvas.draw_line(&format!("M{x:.1} {:.1}V{:.1}", y(high), y(0.0)), "3 2");
    }
    for at in 0..chart.series.len() {
        let places: Vec<(&ChartRow, &Datum, [f64; 2])> = chart
            .rows
            .iter()
            .enumerate()
            .filter_map(|(number, row)| {
                let datum = row.values.get(at)?.as_ref()?;
                Some((row, datum, [x(number as f64), y(datum.value)]))
            })
            .collect();
        let mut path = String::new();
        for (.., [x, y]) in &places {
            let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
        }
        canvas.draw_line(&path, DASHES[at % DASHES.len()]);
        for (row, datum, place) in places.into_iter().filter(|_| step >= MARKED) {
            canvas.draw_with_tooltip(&tooltip_text(chart, row, at, datum), |canvas| {
                canvas.draw_marker(place, at)
            });
        }
    }
    canvas.y += LINE;
    canvas.draw_label([f64::midpoint(LEFT, WIDE), canvas.y], "middle", &chart.axes[0]);
}

fn draw_points(canvas: &mut Canvas, chart: &Chart, logarithmic: Option<&str>, least_squares: &str) {
    let log = logarithmic.is_some();
    // 0 has no logarithm.
    let on = |x: f64| if log { x.max(1e-9).log10() } else { x };
    let named: Vec<(&ChartRow, f64, f64)> = chart
        .rows
        .iter()
        .filter_map(|row| {
            let [Some(x), Some(y)] = row.values[..] else { return None };
            Some((row, on(x.value), y.value))
        })
        .collect();
    let range = |of: &dyn Fn(&(&ChartRow, f64, f64)) -> f64| {
        let low = named.iter().map(of).fold(f64::MAX, f64::min);
        let high = named.iter().map(of).fold(f64::MIN, f64::max);
        // Equal values would make a range without width.
        let pad = ((high - low) * 0.08).max(0.05);
        [low - pad, high + pad]
    };
    let ([left, right], ends) = (range(&|point| point.1), range(&|point| point.2));
    let y = draw_frame(canvas, ends, &chart.axes, false);
    let wide = WIDE - 6.0 - LEFT;
    let x = |value: f64| LEFT + (value - left) / (right - left) * wide;
    let shown = |at: f64| if log { 10f64.powf(at) } else { at };
    for part in 0..=3 {
        let at = left + (right - left) * f64::from(part) / 3.0;
        let anchor = if part == 3 { "end" } else { "middle" };
        canvas.draw_label([x(at), canvas.y], anchor, &format_short(shown(at)));
    }
    if let Some((slope, from)) = line_through(&named) {
        // A steep line would leave the frame.
        let end = |at: f64| (x(at), y((from + slope * at).clamp(ends[0], ends[1])));
        let ((x1, y1), (x2, y2)) = (end(left), end(right));
        canvas.draw_line(&format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"), "4 2");
    }
    for (row, at, up) in &named {
        let (place, name) = ([x(*at), y(*up)], row.name.as_str());
        let about = format!(
            "{name} {}: {}, {}: {}",
            chart.axes[0],
            format_exact(shown(*at)),
            chart.axes[1],
            format_exact(*up)
        );
        canvas.draw_with_tooltip(about.trim(), |canvas| canvas.draw_marker(place, 0));
        // Near the right edge a name only fits on the left of its point.
        let is_right = place[0] + text_width(name, LETTER) + 6.0 > WIDE;
        let (dx, anchor) = if is_right { (-4.0, "end") } else { (4.0, "start") };
        canvas.draw_label([place[0] + dx, place[1] - 3.0], anchor, name);
    }
    canvas.y += LINE;
    let axis = format!("{}{}", chart.axes[0], logarithmic.unwrap_or_default());
    canvas.draw_label([f64::midpoint(LEFT, WIDE), canvas.y], "middle", &axis);
    canvas.y += LINE;
    canvas.draw_label([f64::midpoint(LEFT, WIDE), canvas.y], "middle", least_squares);
}

fn lowest_end(datum: &Datum) -> f64 {
    datum.ends.map_or(datum.value, |[low, _]| low.min(datum.value))
}

fn highest_end(datum: &Datum) -> f64 {
    datum.ends.map_or(datum.value, |[_, high]| high.max(datum.value))
}

/// Slope and intercept of least squares; `None` without variation.
fn line_through(points: &[(&ChartRow, f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let a = points.iter().map(|point| point.1).sum::<f64>() / n;
    let b = points.iter().map(|point| point.2).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|point| (point.1 - a).powi(2)).sum();
    let slope = points.iter().map(|point| (point.1 - a) * (point.2 - b)).sum::<f64>() / spread;
    (spread > 1e-12).then_some((slope, b - slope * a))
}
