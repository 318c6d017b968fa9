//! Frequencies of values, distributions of numbers, and votes.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use riddlemill_benchmarks::choice::Choice;
use riddlemill_benchmarks::figure::{Bars, Counts};
use riddlemill_benchmarks::scope::{text, texts};
use riddlemill_benchmarks::{Data, Expression, Trouble};
use serde_json::{Value as Json, json};

use super::numbers::reals;
use super::source::Records;
use super::{Found, object};
use crate::figures::percent;

/// What is behind the most frequent values.
const OTHERS: &str = "Others";

/// A line a value: those of the options in their order, else all by their names, or the most frequent first. A record
/// counts once in each of its values.
///
/// A label of a published file counts as the option that `[compat.labels]` says, as in an evaluation.
pub(super) fn counts(counts: &Counts, data: Option<&Data>, records: &Records<'_>) -> Result<Found, Trouble> {
    let code_of = |value: String| -> String {
        let ours = data.zip(counts.column).and_then(|(data, column)| data.compat.label_for(column, &value));
        let Some(ours) = ours else { return value };
        let named = |option: &&Choice| [option.code, option.label.en, option.label.zh].contains(&ours);
        counts.options.iter().find(named).map_or(value, |option| option.code.to_owned())
    };
    let several = counts.by.len() > 1;
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, (_, by)) in counts.by.iter().enumerate() {
        for values in records.values(by)? {
            for value in texts(&values).into_iter().map(&code_of).collect::<BTreeSet<_>>() {
                found.entry(value).or_insert_with(|| vec![0; counts.by.len()])[place] += 1;
            }
        }
    }
    let names: Vec<&str> = counts.by.iter().map(|(name, _)| *name).collect();
    let numbered = |of: &[usize]| names.iter().copied().zip(of.iter().map(|n| json!(n))).collect::<Vec<_>>();
    let mut lines = String::new();
    let mut tell = |label: &str, of: &[usize]| {
        let cells = names.iter().zip(of).map(|(name, n)| match several {
            true => format!(" {name} {n:>6}"),
            false => format!(" {n:>6}"),
        });
        lines.push_str(&format!("    {label:<30}{}\n", cells.collect::<String>()));
    };
    if !counts.options.is_empty() {
        let none = vec![0; names.len()];
        let row = |(option, number): (&Choice, usize)| {
            let of = found.get(option.code).unwrap_or(&none);
            tell(option.label.en, of);
            object(labelled(option, number).into_iter().chain(numbered(of)))
        };
        let rows: Vec<Json> = counts.options.iter().zip(1..).map(row).collect();
        return Ok(Found::new(rows, lines));
    }
    let mut rows: Vec<(String, Vec<usize>)> = found.into_iter().collect();
    if let Some(most) = counts.most {
        // Ties stay in the order of their names.
        rows.sort_by_key(|(_, of)| std::cmp::Reverse(of.iter().sum::<usize>()));
        let rest = rows.split_off(most.min(rows.len()));
        if !rest.is_empty() {
            let sum = |place: usize| rest.iter().map(|(_, of)| of[place]).sum();
            rows.push((OTHERS.to_owned(), (0..names.len()).map(sum).collect()));
        }
    }
    let row = |(value, of): &(String, Vec<usize>)| {
        tell(value, of);
        object([("value", json!(value))].into_iter().chain(numbered(of)))
    };
    let rows: Vec<Json> = rows.iter().map(row).collect();
    Ok(Found::new(rows, lines))
}

/// The cells of an option.
fn labelled(option: &Choice, number: usize) -> Vec<(&'static str, Json)> {
    vec![
        ("value", json!(option.code)),
        ("label", json!(option.label.en)),
        ("label_zh", json!(option.label.zh)),
        ("number", json!(number)),
    ]
}

/// Bars of one width; a number is in the bar that ends with it.
pub(super) fn bars(bars: &Bars, records: &Records<'_>) -> Result<Found, Trouble> {
    // The smallest step keeps a third and two thirds from missing a whole number.
    const LEAST: f64 = 1e-9;
    let numbers = reals(&records.values(&bars.of)?);
    let many = ((bars.to - bars.from) / bars.wide - LEAST).ceil() as u32;
    let (mut rows, mut lines) = (Vec::new(), String::new());
    for at in 0..many {
        let end = |at: u32| bars.from + f64::from(at) * bars.wide;
        let (over, to) = (end(at), end(at + 1).min(bars.to));
        let inside = numbers.iter().filter(|number| **number > over + LEAST && **number <= to + LEAST);
        let count = inside.count();
        if count > 0 {
            lines.push_str(&format!("    {over:.1} to {to:.1} {count:>6}\n"));
        }
        rows.push(json!({ "over": over, "to": to, "count": count }));
    }
    Ok(Found::new(rows, lines))
}

/// The votes for each code over all records, and its percent of all votes.
pub(super) fn votes(of: &Expression, options: &[Choice], records: &Records<'_>) -> Result<Found, Trouble> {
    let mut sums: Vec<(String, u64)> = options.iter().map(|option| (option.code.to_owned(), 0)).collect();
    for tally in records.values(of)? {
        for (code, count) in tallied(&tally, of)? {
            match sums.iter_mut().find(|(known, _)| *known == code) {
                Some((_, sum)) => *sum += count,
                None => sums.push((code, count)),
            }
        }
    }
    let all: u64 = sums.iter().map(|(_, count)| count).sum();
    let (mut rows, mut lines) = (Vec::new(), String::new());
    for (number, (code, votes)) in (1..).zip(&sums) {
        let option = options.iter().find(|option| option.code == code);
        let percent = percent(*votes as usize, all as usize);
        let label = option.map_or(code.as_str(), |option| option.label.en);
        lines.push_str(&format!("    {label:<30} {votes:>6} {percent:>5.1} %\n"));
        let named = option.map(|option| labelled(option, number));
        let cells = named.unwrap_or_else(|| vec![("value", json!(code))]);
        rows.push(object(cells.into_iter().chain([("votes", json!(votes)), ("percent", json!(percent))])));
    }
    Ok(Found::new(rows, lines))
}

/// The codes of a tally with their votes; none where nobody voted.
fn tallied(tally: &Value, of: &Expression) -> Result<Vec<(String, u64)>, Trouble> {
    if tally.is_none() || tally.is_undefined() {
        return Ok(Vec::new());
    }
    let wrong = || of.trouble(format!("{} is no tally, such as BALLOT.tally.FIELD", of.source()));
    let count = |code: Value| {
        let count = tally.get_item(&code).ok().and_then(|count| count.as_usize())?;
        Some((text(&code)?, count as u64))
    };
    tally.try_iter().map_err(|_| wrong())?.map(|code| count(code).ok_or_else(wrong)).collect()
}
