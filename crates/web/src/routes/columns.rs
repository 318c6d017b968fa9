//! The columns of a release's table: how their values are spread, and which of them an address asks for.

use serde::Serialize;
use serde_json::Value;

use rustc_hash::FxHashMap;

use crate::release::layout::Layout;
use crate::release::read_rows::JsonRow;
use crate::text::format_decimals;

/// Most values that a column of labels offers.
const VALUES: usize = 40;
/// Most bars of numbers or lengths; and most values that make a column without a layout one of labels.
const BARS: usize = 12;
/// From so many numbers on, the greatest of them, one in so many, have no bars of their own.
const MANY: usize = 50;
/// Stands for null among the values that can be asked for.
pub(super) const NULL: &str = "∅";

/// A column of the table.
#[derive(Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    about: &'static str,
    pub(super) shown: bool,
    /// `labels`, `numbers` or `lengths`: what its bars are; empty without bars.
    kind: &'static str,
    bars: Vec<ColumnBar>,
    /// The first and the last range.
    ends: [String; 2],
    /// Values of labels besides those of the bars.
    more: usize,
    /// What is asked for; empty for all.
    pub(super) wanted: String,
    /// What is asked for, as its bar is called.
    called: String,
    /// The address of the view without this filter.
    pub(super) without: String,
    #[serde(skip)]
    spread: Spread,
}

/// A value or a range of a column.
#[derive(Serialize)]
struct ColumnBar {
    /// What an address says for it.
    value: String,
    label: String,
    /// Rows that have it, among those that all other filters and the search let through.
    rows: usize,
    /// Thousandths of the highest bar.
    share: usize,
    /// Whether it is asked for.
    on: bool,
    /// The address of the view with it; without it, if it is asked for.
    address: String,
}

/// How a column's values become bars.
#[derive(Debug, Default, PartialEq)]
enum Spread {
    /// Ids, and values that do not spread.
    #[default]
    None,
    /// The values, most frequent first, each with its bar.
    Labels(FxHashMap<String, usize>),
    /// Numbers that read alike share a bar: what the bars read.
    Numbers(Vec<String>),
    /// The lower end of each range of numbers.
    Ranges(Vec<f64>),
    /// The lower end of each range of lengths, in characters.
    Lengths(Vec<f64>),
}

impl Column {
    /// A column, its filter, and its bars without their rows.
    pub(super) fn of_rows(
        name: &str,
        rows: &[JsonRow],
        layout: Option<&Layout>,
        shown: bool,
        wanted: String,
    ) -> Column {
        let about = layout.and_then(|l| l.columns.iter().find(|c| c.name == name)).map_or("", |c| c.about);
        let is_label = layout.is_some_and(|layout| layout.labels.contains(&name));
        let (spread, mut bars, more) = spread_values(name, rows, is_label);
        if rows.iter().any(|row| row.get(name).is_some_and(Value::is_null)) {
            bars.push((NULL.to_owned(), "null".to_owned()));
        }
        let kind = match &spread {
            _ if bars.is_empty() => "",
            Spread::None | Spread::Labels(_) => "labels",
            Spread::Numbers(_) | Spread::Ranges(_) => "numbers",
            Spread::Lengths(_) => "lengths",
        };
        let bar = |(value, label): (String, String)| ColumnBar {
            on: value == wanted,
            address: String::new(),
            rows: 0,
            share: 0,
            value,
            label,
        };
        let bars: Vec<ColumnBar> = bars.into_iter().map(bar).collect();
        let called = bars.iter().find(|bar| bar.on).map_or(&wanted, |bar| &bar.label).clone();
        let mut ranges = bars.iter().filter(|bar| bar.value != NULL).map(|bar| bar.label.clone());
        let first = ranges.next().unwrap_or_default();
        let ends = [first.clone(), ranges.next_back().unwrap_or(first)];
        let (name, without) = (name.to_owned(), String::new());
        Column { name, about, shown, kind, bars, ends, more, wanted, called, without, spread }
    }

    /// Whether a row has what is asked for.
    pub(super) fn has_wanted_value(&self, row: &JsonRow) -> bool {
        if self.wanted.is_empty() {
            return true;
        }
        let value = row.get(&self.name);
        if self.wanted == NULL {
            return value.is_some_and(Value::is_null);
        }
        let measured = match (&self.spread, value) {
            (Spread::Ranges(_), Some(value)) => value.as_f64(),
            (Spread::Lengths(_), Some(value)) => text_length(value),
            _ => None,
        };
        match (parse_range(&self.wanted), measured) {
            (Some((low, high)), Some(x)) => low <= x && high.is_none_or(|high| x < high),
            _ if matches!(self.spread, Spread::Numbers(_)) => {
                value.and_then(Value::as_f64).is_some_and(|x| format_number(x) == self.wanted)
            }
            _ => labels_of(value).contains(&self.wanted),
        }
    }

    /// Counts a row in the bars that its value has.
    pub(super) fn count_row(&mut self, row: &JsonRow) {
        let Some(value) = row.get(&self.name) else { return };
        let bars = self.bars.len();
        let below = |ends: &[f64], x: f64| ends.iter().rposition(|low| *low <= x);
        let places: Vec<usize> = match (&self.spread, value) {
            // The bar of null is the last.
            (_, Value::Null) => bars.checked_sub(1).into_iter().collect(),
            (Spread::None, _) => Vec::new(),
            (Spread::Labels(known), value) => {
                labels_of(Some(value)).iter().filter_map(|label| known.get(label).copied()).collect()
            }
            (Spread::Numbers(known), value) => {
                let read = value.as_f64().map(format_number);
                known.iter().position(|known| Some(known) == read.as_ref()).into_iter().collect()
            }
            (Spread::Ranges(ends), value) => {
                value.as_f64().and_then(|x| below(ends, x)).into_iter().collect()
            }
            (Spread::Lengths(ends), value) => {
                text_length(value).and_then(|x| below(ends, x)).into_iter().collect()
            }
        };
        for place in places {
            if let Some(bar) = self.bars.get_mut(place) {
                bar.rows += 1;
            }
        }
    }

    /// Gives each bar its share and its address: `address` is that of the view with a value of this column.
    pub(super) fn finish(&mut self, address: impl Fn(&str, &str) -> String) {
        let highest = self.bars.iter().map(|bar| bar.rows).max().unwrap_or(0).max(1);
        self.without = address(&self.name, "");
        for bar in &mut self.bars {
            bar.share = bar.rows * 1000 / highest;
            bar.address = address(&self.name, if bar.on { "" } else { &bar.value });
        }
    }
}

/// What an address says for a bar, and what the bar is called.
type Bars = Vec<(String, String)>;

/// How the values of a column are spread, the bars, and the number of values without one.
fn spread_values(name: &str, rows: &[JsonRow], is_label: bool) -> (Spread, Bars, usize) {
    let values = || rows.iter().filter_map(|row| row.get(name)).filter(|value| !value.is_null());
    let is_name = name == "id" || name == "index" || name.ends_with("_id");
    if is_label || (!is_name && has_few_values(values())) {
        return label_bars(values());
    }
    if is_name {
        return (Spread::None, Vec::new(), 0);
    }
    if values().all(Value::is_number) {
        let numbers: Vec<f64> = values().filter_map(Value::as_f64).collect();
        let mut texts: Vec<(f64, String)> = numbers.iter().map(|x| (*x, format_number(*x))).collect();
        texts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        texts.dedup_by(|(_, a), (_, b)| a == b);
        if texts.len() <= BARS {
            let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
            let bars = texts.iter().map(|text| (text.clone(), text.clone())).collect();
            return (Spread::Numbers(texts), bars, 0);
        }
        let (ends, bars) = range_bars(&numbers, numbers.iter().all(|x| x.fract() == 0.0));
        return (Spread::Ranges(ends), bars, 0);
    }
    let lengths: Vec<f64> = values().filter_map(text_length).collect();
    if lengths.is_empty() || lengths.len() < values().count() {
        return (Spread::None, Vec::new(), 0);
    }
    let (ends, bars) = range_bars(&lengths, true);
    (Spread::Lengths(ends), bars, 0)
}

/// Whether these are few values that return: yes or no, sources, kinds.
fn has_few_values<'v>(values: impl Iterator<Item = &'v Value>) -> bool {
    let (mut known, mut all): (Vec<&Value>, usize) = (Vec::new(), 0);
    for value in values {
        if !(value.is_string() || value.is_boolean()) {
            return false;
        }
        all += 1;
        if !known.contains(&value) {
            known.push(value);
        }
        if known.len() > BARS {
            return false;
        }
    }
    all > 0 && (known.iter().all(|value| value.is_boolean()) || known.len() * 2 <= all)
}

fn label_bars<'v>(values: impl Iterator<Item = &'v Value>) -> (Spread, Bars, usize) {
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    for label in values.flat_map(|value| labels_of(Some(value))) {
        *counts.entry(label).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    let more = counts.len().saturating_sub(VALUES);
    counts.truncate(VALUES);
    let bars = counts.iter().map(|(label, _)| (label.clone(), label.clone())).collect();
    let known = counts.into_iter().enumerate().map(|(at, (label, _))| (label, at)).collect();
    (Spread::Labels(known), bars, more)
}

/// Ranges whose ends are round: `LOW..HIGH` without the high end, the last one open.
fn range_bars(numbers: &[f64], whole: bool) -> (Vec<f64>, Bars) {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(most)) = (sorted.first().copied(), sorted.last().copied()) else {
        return (Vec::new(), Vec::new());
    };
    // A few that are much greater would leave one bar for all others: they share the last.
    let tail = if sorted.len() < MANY { 0 } else { sorted.len() / MANY };
    let high = sorted[sorted.len() - 1 - tail];
    // 1, 2 or 5 times a power of ten.
    let least = if whole { 0 } else { -9 };
    let mut steps = (least..=18).flat_map(|power| [1.0, 2.0, 5.0].map(|n| (n, power)));
    let place = |x: f64, (n, power): (f64, i32)| (x / (n * 10_f64.powi(power))).floor();
    let fits = |step: &(f64, i32)| place(high, *step) - place(low, *step) < (BARS - 1) as f64;
    let Some((n, power)) = steps.find(fits) else { return (Vec::new(), Vec::new()) };
    let digits = usize::try_from(-power).unwrap_or(0);
    // What is written and what is compared are one number.
    let end = |at: f64| format_decimals(at * n * 10_f64.powi(power), digits);
    let (mut from, to) = (place(low, (n, power)), place(high, (n, power)));
    // A quotient may be rounded up to the next end.
    if end(from).parse().is_ok_and(|end: f64| end > low) {
        from -= 1.0;
    }
    let mut ends = Vec::new();
    let mut bars = Vec::new();
    for at in 0..=((to - from) as usize) {
        let (this, next) = (end(from + at as f64), end(from + at as f64 + 1.0));
        ends.push(this.parse().unwrap_or_default());
        let last = from + at as f64 == to;
        let value = if last { format!("{this}..") } else { format!("{this}..{next}") };
        let label = match next.parse::<f64>() {
            Ok(next) if last && most >= next => format!("{this}+"),
            Ok(next) if whole && n * 10_f64.powi(power) == 1.0 => format_decimals(next - 1.0, 0),
            Ok(next) if whole => format!("{this}–{}", format_decimals(next - 1.0, 0)),
            _ => format!("{this}–{next}"),
        };
        bars.push((value, label));
    }
    (ends, bars)
}

/// The ends of `LOW..HIGH` or `LOW..`.
fn parse_range(wanted: &str) -> Option<(f64, Option<f64>)> {
    let (low, high) = wanted.split_once("..")?;
    let high = if high.is_empty() { None } else { Some(high.parse().ok()?) };
    Some((low.parse().ok()?, high))
}

/// A number as a bar reads.
fn format_number(x: f64) -> String {
    let text = format_decimals(x, 2);
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// The characters of a text.
fn text_length(value: &Value) -> Option<f64> {
    Some(value.as_str()?.chars().count() as f64)
}

/// The labels in a cell, each once.
pub(super) fn labels_of(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Null) => vec![NULL.to_owned()],
        Some(Value::Array(several)) => {
            let mut labels: Vec<String> = several.iter().map(label_of).collect();
            labels.sort();
            labels.dedup();
            labels
        }
        Some(one) => vec![label_of(one)],
        None => Vec::new(),
    }
}

/// A value as a label: in quotes where it would read like null or like nothing.
fn label_of(value: &Value) -> String {
    match cell_text(value) {
        text if ["", "null", "\"\"", NULL].contains(&text.as_str()) => format!("{text:?}"),
        text => text,
    }
}

/// A value in a cell.
pub(super) fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" · ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rows(values: &[Value]) -> Vec<JsonRow> {
        values.iter().map(|value| json!({ "it": value }).as_object().cloned().unwrap()).collect()
    }

    /// Each bar of a column: what an address says for it, its label, and its rows.
    fn bars(rows: &[JsonRow]) -> Vec<(String, String, usize)> {
        let mut column = Column::of_rows("it", rows, None, true, String::new());
        rows.iter().for_each(|row| column.count_row(row));
        column.finish(|name, value| format!("{name}={value}"));
        column.bars.into_iter().map(|bar| (bar.value, bar.label, bar.rows)).collect()
    }

    #[test]
    fn few_values_are_labels_and_null_is_one_of_them() {
        let of: Vec<Value> = ["b", "a", "b", "b", "a"].iter().map(|text| json!(text)).collect();
        let rows = rows(&[of, vec![Value::Null]].concat());
        let want = [("b", "b", 3), ("a", "a", 2), (NULL, "null", 1)];
        assert_eq!(bars(&rows), want.map(|(value, label, n)| (value.to_owned(), label.to_owned(), n)));
        let null = Column::of_rows("it", &rows, None, true, NULL.to_owned());
        assert_eq!(rows.iter().filter(|row| null.has_wanted_value(row)).count(), 1);
        assert_eq!(null.called, "null");
    }

    #[test]
    fn every_label_is_told_from_the_others_and_finds_what_it_counts() {
        let mut values: Vec<Value> = ["", "", "null", NULL, "\"\""].iter().map(|text| json!(text)).collect();
        values.extend(std::iter::repeat_n(json!("a"), 7));
        values.push(Value::Null);
        let rows = rows(&values);
        let found = bars(&rows);
        let labels: std::collections::BTreeSet<&str> =
            found.iter().map(|(_, label, _)| label.as_str()).collect();
        assert!(labels.len() == found.len() && !labels.contains(""), "{found:?}");
        for (value, label, n) in &found {
            let asked = Column::of_rows("it", &rows, None, true, value.clone());
            assert_eq!(rows.iter().filter(|row| asked.has_wanted_value(row)).count(), *n, "{label}");
        }
        assert_eq!(found.len(), 6, "{found:?}");
        assert_eq!(labels_of(Some(&json!(["a", "a", ""]))), ["\"\"", "a"], "a cell has each label once");
        assert_eq!((format_number(-0.001), format_number(0.0)), ("0".to_owned(), "0".to_owned()));
    }

    #[test]
    fn texts_are_spread_by_length_and_ids_are_not() {
        let of: Vec<Value> = (0..40).map(|n| json!("字".repeat(n + 1))).collect();
        let rows = rows(&of);
        let found = bars(&rows);
        assert_eq!(found[0], ("0..5".to_owned(), "0–4".to_owned(), 4));
        assert_eq!(found.last().unwrap(), &("40..".to_owned(), "40–44".to_owned(), 1));
        let mut many: Vec<Value> = (0..100).map(|n| json!("字".repeat(n % 20 + 1))).collect();
        many.push(json!("字".repeat(900)));
        let last = bars(&self::rows(&many)).pop().unwrap();
        assert_eq!(
            last,
            ("20..".to_owned(), "20+".to_owned(), 6),
            "one long text leaves the others their bars"
        );
        let id: Vec<JsonRow> = rows.iter().map(|row| json!({ "id": row["it"] })).map(object).collect();
        assert!(Column::of_rows("id", &id, None, true, String::new()).bars.is_empty());
    }

    fn object(value: Value) -> JsonRow {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn numbers_that_read_alike_share_a_bar() {
        let found = bars(&rows(&[json!(7.0 / 3.0), json!(2.333_333_333_333_333), json!(4), json!(null)]));
        let want = [("2.33", "2.33", 2), ("4", "4", 1), (NULL, "null", 1)];
        assert_eq!(found, want.map(|(value, label, n)| (value.to_owned(), label.to_owned(), n)));
    }

    proptest! {
        /// Every number is in exactly one bar, and the bar's address finds as many rows as it says.
        #[test]
        fn a_bar_leads_to_the_rows_that_it_counts(
            numbers in prop::collection::vec(prop_oneof![-1e6..1e6_f64, (-50..50_i32).prop_map(f64::from)], 1..60),
            nulls in 0..3_usize,
        ) {
            let mut values: Vec<Value> = numbers.iter().map(|x| json!(x)).collect();
            values.extend(std::iter::repeat_n(Value::Null, nulls));
            let rows = rows(&values);
            let found = bars(&rows);
            prop_assert_eq!(found.iter().map(|(.., n)| n).sum::<usize>(), rows.len());
            prop_assert!(found.len() <= BARS + 1);
            for (value, _, n) in found {
                let asked = Column::of_rows("it", &rows, None, true, value.clone());
                prop_assert_eq!(rows.iter().filter(|row| asked.has_wanted_value(row)).count(), n, "{}", value);
            }
        }
    }
}
