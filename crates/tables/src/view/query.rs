//! Which records or pairs of a stage a page shows, and in which order. A pair takes sixteen bytes.

use memchr::memmem;
use polars::prelude::{Column, DataFrame, PolarsResult};
use rayon::prelude::*;
use regex::{Regex, RegexBuilder};
use riddlemill_text::text::normalise::{Fold, fold};

use crate::{Error, StageReader, part_columns};

/// The order of a page's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// As they entered.
    #[default]
    Entered,
    /// The longest text first.
    Longest,
    /// The shortest text first.
    Shortest,
    /// The highest score of a merge first.
    Score,
    /// The lowest score of a merge first: the most doubtful.
    Lowest,
}

impl Sort {
    /// Every order.
    pub const ALL: [Sort; 5] = [Sort::Entered, Sort::Longest, Sort::Shortest, Sort::Score, Sort::Lowest];

    /// Its name in a URL.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Entered => "entered",
            Sort::Longest => "longest",
            Sort::Shortest => "shortest",
            Sort::Score => "score",
            Sort::Lowest => "lowest",
        }
    }

    /// The order with this name.
    pub fn from_name(name: &str) -> Option<Sort> {
        Sort::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// A page's query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query {
    /// Only records that left in this state.
    pub outcome: String,
    /// Only those with this reason.
    pub reason: String,
    /// Only those whose text or id contains this.
    pub words: String,
    /// Fewest characters; 0 for any.
    pub min: u32,
    /// Most characters; 0 for any.
    pub max: u32,
    /// The order.
    pub sort: Sort,
}

impl Query {
    /// Whether every record is included, in the original order.
    pub(super) fn is_all(&self) -> bool {
        *self == Query::default()
    }

    /// A finder for the words: unchanged, ignoring case, and with script and width folded as for comparison.
    pub(super) fn build_finder(&self) -> Option<Finder> {
        let text = self.words.trim();
        if text.is_empty() {
            return None;
        }
        let mut forms = vec![text.to_string()];
        let folded = fold(text, Fold::KEY);
        // A character that folding drops was typed on purpose.
        if folded != text && folded.chars().count() == text.chars().count() {
            forms.push(folded);
        }
        // Bytes are searched much faster than a pattern, which is only needed for letters with case.
        let one_case = |c: char| c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]);
        if forms.iter().flat_map(|form| form.chars()).all(one_case) {
            return Some(Finder::Plain(
                forms.iter().map(|form| memmem::Finder::new(form).into_owned()).collect(),
            ));
        }
        let escaped: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
        RegexBuilder::new(&escaped.join("|")).case_insensitive(true).build().ok().map(Finder::Cased)
    }
}

/// Finds one of a few words in a text.
#[derive(Clone)]
pub(super) enum Finder {
    /// Words without case, as most Chinese ones are: found byte by byte.
    Plain(Vec<memmem::Finder<'static>>),
    /// Words ignoring case.
    Cased(Regex),
}

impl Finder {
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Finder::Plain(words) => words.iter().any(|word| word.find(text.as_bytes()).is_some()),
            Finder::Cased(words) => words.is_match(text),
        }
    }
}

/// Which pairs a page shows, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct PairQuery<'q> {
    /// Only pairs with a score less than this.
    pub below: f64,
    /// Only pairs with this verdict.
    pub verdict: Option<&'q str>,
    /// From the lowest score up instead of from the highest down.
    pub lowest: bool,
}

/// Pairs by their score, highest first.
pub(super) struct Pairs {
    /// The verdicts that occur.
    verdicts: Vec<String>,
    /// Score, index of the verdict, row; at equal scores in the order of the rows.
    order: Vec<(f64, u16, u32)>,
}

impl Pairs {
    pub(super) fn read_from_stage(stage: &StageReader) -> Result<Pairs, Error> {
        let mut pairs = Pairs { verdicts: Vec::new(), order: Vec::new() };
        for part in 0..stage.table("pairs").parts.len() {
            let frame = part_columns(stage, "pairs", part, &["score", "verdict"])?;
            pairs.add(&frame).map_err(|e| Error::stale_file(&stage.folder().join("pairs"), e))?;
        }
        // The sort is stable, so that pairs with equal scores keep the order of the rows.
        pairs.order.par_sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(pairs)
    }

    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let verdicts = frame.column("verdict").and_then(Column::str)?;
        for (score, verdict) in frame.column("score").and_then(Column::f64)?.iter().zip(verdicts.iter()) {
            let verdict = verdict.unwrap_or_default();
            let known = self.verdicts.iter().position(|known| known == verdict).unwrap_or_else(|| {
                self.verdicts.push(verdict.to_string());
                self.verdicts.len() - 1
            });
            self.order.push((score.unwrap_or_default(), known as u16, self.order.len() as u32));
        }
        Ok(())
    }

    /// A page of the rows that match a query, and their total number.
    pub(super) fn select_page(&self, query: PairQuery<'_>, from: usize, count: usize) -> (Vec<u32>, usize) {
        let PairQuery { below, verdict, lowest } = query;
        let first = self.order.partition_point(|(score, ..)| *score >= below);
        // An unknown verdict matches no pair, whereas a missing one matches all.
        let wanted = verdict.map(|verdict| self.verdicts.iter().position(|known| known == verdict));
        let fits = |place: u16| wanted.is_none_or(|wanted| wanted == Some(usize::from(place)));
        let mut rows: Vec<u32> = self.order[first..]
            .iter()
            .filter(|(_, verdict, _)| fits(*verdict))
            .map(|(.., row)| *row)
            .collect();
        if lowest {
            rows.reverse();
        }
        (rows.iter().skip(from).take(count).copied().collect(), rows.len())
    }

    pub(super) fn estimate_bytes(&self) -> usize {
        self.order.len() * size_of::<(f64, u16, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whatever_their_case_and_script() {
        let finder = |query: &str| Query { words: query.into(), ..Query::default() }.build_finder().unwrap();
        assert!(finder("冰箱").is_in("我的冰箱里"));
        assert!(finder("燈").is_in("冰箱里的灯"));
        assert!(finder("a.b").is_in("xA.Bx"));
        assert!(!finder("a.b").is_in("aab"));
        assert!(finder("４号").is_in("住在4号楼"), "in another width");
        assert!(Query::default().build_finder().is_none());
    }

    #[test]
    fn orders_have_names() {
        assert!(Sort::ALL.into_iter().all(|sort| Sort::from_name(sort.name()) == Some(sort)));
    }

    #[test]
    fn pairs_come_from_a_score_downwards() {
        let pairs = Pairs {
            verdicts: vec!["same".into(), "borderline".into()],
            order: vec![(0.9, 0, 2), (0.8, 1, 0), (0.8, 0, 3), (0.6, 1, 1)],
        };
        let all = PairQuery { below: 1.1, verdict: None, lowest: false };
        assert_eq!(pairs.select_page(all, 0, 2), (vec![2, 0], 4));
        assert_eq!(pairs.select_page(PairQuery { below: 0.9, ..all }, 1, 9), (vec![3, 1], 3));
        let borderline = PairQuery { verdict: Some("borderline"), lowest: true, ..all };
        assert_eq!(pairs.select_page(borderline, 0, 9), (vec![1, 0], 2));
        assert_eq!(pairs.select_page(PairQuery { verdict: Some("neither"), ..all }, 0, 9), (vec![], 0));
    }
}
