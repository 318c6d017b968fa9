//! `[data.splits]`: the files that a release's rows are divided into.

use riddlemill_text::options::SplitSize;

use crate::column::{Column, ColumnKind};
use crate::reader::{Keys, is_code};

/// How a set is divided.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits {
    /// The splits, in the order of the files.
    pub splits: Vec<Split>,
    /// Each split has each value of this column in proportion, in the first draw.
    pub stratify: Option<&'static str>,
    /// The column that says which split a row is in, instead of a draw.
    pub column: Option<&'static str>,
    /// The split that solved examples are taken from.
    pub fewshot: Option<&'static str>,
    /// The seed of the draw.
    pub seed: u64,
}

/// A split.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Its name: that of its file, and of the split for loaders.
    pub name: &'static str,
    pub size: SplitSize,
}

/// The name of a set's only file, where it is not divided.
pub const WHOLE: &str = "test";

/// The name of the few-shot split that has no name of its own.
const FEWSHOT: &str = "fewshot";

/// How far shares that sum to 1 may be from it.
const ROUNDING: f64 = 1e-9;

impl Splits {
    /// The place of a split.
    pub fn index_of_split(&self, name: &str) -> Option<usize> {
        self.splits.iter().position(|split| split.name == name)
    }

    /// Of splits that have rows, the one that is evaluated: `test`, or the last that no examples are taken from.
    pub fn evaluated_split<'n>(&self, with_rows: &[&'n str]) -> Option<&'n str> {
        let asked = |name: &&&str| Some(**name) != self.fewshot;
        let test = with_rows.iter().find(|name| **name == WHOLE);
        test.or_else(|| with_rows.iter().rfind(asked)).or(with_rows.last()).copied()
    }
}

/// Reads `[data.splits]`.
pub(crate) fn parse_splits(keys: &Keys<'_>) -> Splits {
    let mut splits: Vec<Split> = Vec::new();
    let mut add = |keys: &Keys<'_>, name: &'static str, size: SplitSize| {
        if !is_name(name) {
            keys.report_problem(name, no_name(name));
        }
        match splits.iter().any(|split| split.name == name) {
            true => keys.report_problem(name, format!("the split {name:?} is declared twice")),
            false => splits.push(Split { name, size }),
        }
    };
    let mut shares: f64 = 0.0;
    keys.read_table("shares", |keys| {
        for name in keys.key_names() {
            let share = keys.read_share(name).unwrap_or_default();
            shares += share;
            add(keys, name, SplitSize::Share(share));
        }
    });
    if shares > 1.0 + ROUNDING {
        let sum = (shares * 1e6).round() / 1e6;
        keys.report_problem("shares", format!("the shares sum to {sum}, and at most to 1"));
    }
    let mut rests = 0;
    keys.read_table("counts", |keys| {
        for name in keys.key_names() {
            let size = match keys.is_text(name) {
                true => match keys.read_text(name) {
                    Some("rest") | None => SplitSize::Rest,
                    Some(other) => {
                        keys.report_problem(name, riddlemill_text::hint::unknown("count", other, ["rest"]));
                        SplitSize::Rest
                    }
                },
                false => SplitSize::Count(keys.read_count(name).unwrap_or_default()),
            };
            rests += usize::from(size == SplitSize::Rest);
            add(keys, name, size);
        }
    });
    if rests > 1 {
        keys.report_problem("counts", "only one split has the rest");
    }
    if rests > 0 && (shares - 1.0).abs() <= ROUNDING {
        keys.report_problem("counts", "the shares sum to 1 and leave no rest");
    }
    let fewshot = parse_fewshot(keys, &mut add);
    let column = keys.read_text("column");
    let stratify = keys.read_text("stratify");
    let seed = keys.read_count("seed").unwrap_or_default() as u64;
    if column.is_some() {
        for key in ["shares", "counts", "fewshot", "stratify"].into_iter().filter(|key| keys.has_key(key)) {
            keys.report_problem(key, format!("{key}: nothing is drawn where `column` says the split"));
        }
    } else if splits.iter().all(|split| Some(split.name) == fewshot) {
        keys.report_problem("shares", "no split: `shares`, `counts` or `column` name them");
    }
    Splits { splits, stratify, column, fewshot, seed }
}

/// `fewshot = 8`, or `{ shots = 8 }` with a name of its own.
fn parse_fewshot(
    keys: &Keys<'_>,
    add: &mut dyn FnMut(&Keys<'_>, &'static str, SplitSize),
) -> Option<&'static str> {
    if !keys.has_key("fewshot") {
        // Asked for nevertheless, so that a key that is nearly this one is known.
        keys.read_count("fewshot");
        return None;
    }
    if !keys.is_table("fewshot") {
        let count = keys.read_count("fewshot").unwrap_or_default();
        add(keys, FEWSHOT, SplitSize::Count(count));
        return Some(FEWSHOT);
    }
    keys.read_table("fewshot", |keys| match keys.key_names()[..] {
        [name] => {
            add(keys, name, SplitSize::Count(keys.read_count(name).unwrap_or_default()));
            Some(name)
        }
        _ => {
            for name in keys.key_names() {
                keys.read_count(name);
            }
            keys.report_problem("", "fewshot: one name and its number of rows, as { shots = 8 }");
            None
        }
    })
    .flatten()
}

/// Checks the columns that are named, and takes the splits from the values of `column`.
pub(crate) fn check_columns<'c>(
    splits: &mut Splits,
    keys: &Keys<'_>,
    columns: impl Iterator<Item = &'c Column> + Clone,
) {
    let unknown = |name: &str| {
        let names = columns.clone().map(|column| column.name);
        riddlemill_text::hint::unknown("column", name, names)
    };
    let find = |name: &str| columns.clone().find(|column| column.name == name);
    if let Some(name) = splits.stratify.filter(|name| find(name).is_none()) {
        keys.report_problem("stratify", unknown(name));
    }
    match splits.column {
        None => {
            // A row in one file whose column names another would say two things.
            if find("split").is_some() {
                keys.report_problem(
                    "shares",
                    "the column `split` would say something else than the files\n  hint: `column = \"split\"` divides the rows by it; \
                     or give the column another name",
                );
            }
        }
        Some(name) => match find(name) {
            None => keys.report_problem("column", unknown(name)),
            Some(column) if column.kind != ColumnKind::Text || column.values.is_empty() => {
                keys.report_problem("column", format!("{name:?} lists no values, as \"train | test\" does"));
            }
            Some(column) => {
                for value in column.values.iter().filter(|value| !is_name(value)) {
                    keys.report_problem("column", no_name(value));
                }
                let said = |name: &&'static str| Split { name, size: SplitSize::Said };
                splits.splits = column.values.iter().map(said).collect();
            }
        },
    }
}

/// Whether a split may have this name: of a file on every system, and of a split of every loader.
fn is_name(name: &str) -> bool {
    name != "all" && name.len() <= 40 && name.starts_with(|c: char| c.is_ascii_lowercase()) && is_code(name)
}

/// What is wrong with a name that [`is_name`] refuses.
fn no_name(name: &str) -> String {
    format!("{name:?} is no name of a split: small letters, digits and _, a letter first, and not `all`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(text: &str) -> Result<Splits, String> {
        crate::reader::parse_file("benchmark.toml", text, parse_splits)
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn shares_counts_and_examples_are_read_in_order() {
        let read = read_of(
            "shares = { train = 0.75, test = 0.25 }\ncounts = { dev = 4 }\nfewshot = { shots = 2 }\nseed = 7",
        )
        .unwrap();
        let names: Vec<&str> = read.splits.iter().map(|split| split.name).collect();
        assert_eq!(
            (names, read.fewshot, read.seed),
            (vec!["train", "test", "dev", "shots"], Some("shots"), 7)
        );
        assert_eq!(read_of("counts = { test = \"rest\" }\nfewshot = 8").unwrap().splits[1].name, "fewshot");
        assert_eq!(read.evaluated_split(&["train", "shots"]), Some("train"));
        assert_eq!(read.evaluated_split(&["train", "test", "shots"]), Some("test"));
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let told = read_of(
            "shares = { train = 0.8, Test = 0.3, all = 0.1 }\ncounts = { train = 4, dev = \"res\" }\nfewshots = 8",
        )
        .unwrap_err();
        for part in [
            "sum to 1.2",
            "\"Test\" is no name of a split",
            "\"all\" is no name",
            "\"train\" is declared twice",
            "did you mean \"rest\"",
            "did you mean \"fewshot\"",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        for (text, part) in [
            ("seed = 1", "no split"),
            ("counts = { a = \"rest\", b = \"rest\" }", "only one split has the rest"),
            ("shares = { a = 1.0 }\ncounts = { b = \"rest\" }", "leave no rest"),
            ("column = \"split\"\nstratify = \"kind\"", "stratify: nothing is drawn"),
            ("fewshot = { a = 1, b = 2 }\nshares = { test = 1.0 }", "one name and its number"),
        ] {
            let told = read_of(text).unwrap_err();
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
