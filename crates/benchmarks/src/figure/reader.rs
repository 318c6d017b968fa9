//! Reading figures: `report.toml`, and `[[table]]` of benchmark.toml, each of which may hold figures of records and tables of
//! models' answers. What it names says which it is.

mod kinds;

use std::cell::{Cell, RefCell};

use riddlemill_text::hint::unknown;

use crate::ballot::reader::Ballots;
use crate::charts::{Words, parse_charts};
use crate::choice::{Choice, Lists};
use crate::data::parse_words;
use crate::expression::{Expression, Language};
use crate::figure::{Division, Figure, FigureKind, Line, Report};
use crate::reader::{Keys, Problem, parse_file};
use crate::record_kind::{self, RecordKind};
use crate::table::reader::Context;
use crate::table::{Shape, is_only_of_records};

/// The report of a benchmark that has no file of its own.
const USUAL: &str = include_str!("usual_report.toml");

/// Default number of spaces before a line.
const INDENT: usize = 4;

/// The names that figures may use.
pub(crate) struct FigureNames<'a> {
    /// The kinds of records that it may name.
    pub kinds: &'a [&'static RecordKind],
    /// The file, for messages.
    pub file: &'a str,
    /// The expressions of the benchmark.
    pub language: Language,
    /// Its ballots; `None` if they could not be read.
    pub ballots: Option<&'a Ballots>,
    /// Its options.
    pub lists: &'a Lists,
    pub steps: &'a [&'static str],
    /// Whether it has released data.
    pub released: bool,
    /// What tables of models' answers may use.
    pub answers: Context<'a>,
}

/// All figures of a benchmark.
#[derive(Default)]
pub(crate) struct Declared {
    /// Of its records.
    pub report: Report,
    /// Of models' answers.
    pub evaluation: Vec<Figure>,
}

/// Parses the tables of benchmark.toml, whose keys are given, and a report; the default report if there is no file. Problems of
/// the report are returned beside what could be read.
pub(crate) fn load_figures(
    text: Option<&str>,
    known: &FigureNames<'_>,
    keys: &Keys<'_>,
) -> (Declared, Vec<Problem>) {
    let reader = FigureReader { known, names: RefCell::default(), usual: Cell::new(false) };
    let tables = keys.read_tables("table", |keys| reader.parse_figure(&[], keys, false)).unwrap_or_default();
    let (evaluation, of_records) = split_figures(tables);
    reader.usual.set(text.is_none());
    let mut unexpected = Vec::new();
    let read = parse_file(known.file, text.unwrap_or(USUAL), |keys| {
        let mut declared = reader.parse_report(keys);
        declared.report.figures.extend(of_records);
        unexpected = reader.strange_names(&declared.report);
        declared
    });
    match read {
        Ok(mut declared) if unexpected.is_empty() => {
            declared.evaluation.splice(0..0, evaluation);
            (declared, Vec::new())
        }
        Ok(_) => (Declared { report: Report::default(), evaluation }, unexpected),
        Err(mut problems) => {
            problems.0.extend(unexpected);
            (Declared { report: Report::default(), evaluation }, problems.0)
        }
    }
}

/// Tables of answers, and figures of records.
fn split_figures(figures: Vec<Option<Figure>>) -> (Vec<Figure>, Vec<Figure>) {
    figures.into_iter().flatten().partition(|figure| figure.of_answers().is_some())
}

struct FigureReader<'k> {
    known: &'k FigureNames<'k>,
    /// The keys of figures and numbers so far, each with its division.
    names: RefCell<Vec<(Option<usize>, &'static str)>>,
    /// Whether it is the default report, which fits any benchmark.
    usual: Cell<bool>,
}

impl FigureReader<'_> {
    fn parse_report(&self, keys: &Keys<'_>) -> Declared {
        let parts: Vec<Division> = keys
            .read_named_tables("part", |name, keys| self.parse_division(name, keys))
            .into_iter()
            .flatten()
            .collect();
        let figures =
            keys.read_tables("figure", |keys| self.parse_figure(&parts, keys, true)).unwrap_or_default();
        let (evaluation, figures) = split_figures(figures);
        Declared { report: Report { parts, figures }, evaluation }
    }

    fn parse_division(&self, name: &'static str, keys: &Keys<'_>) -> Option<Division> {
        let (key, of) = (keys.require_text("key"), self.require_expression(keys, "of"));
        let values = keys.read_texts("values").unwrap_or_default();
        if values.is_empty() {
            keys.report_problem("values", "`values` names the parts");
        }
        Some(Division { name, key, of: of?, values })
    }

    /// `None` if it is invalid, which is reported. What names tasks or columns is of models' answers; a table of benchmark.toml
    /// is, too, unless its kind is only one of records.
    fn parse_figure(&self, parts: &[Division], keys: &Keys<'_>, is_report: bool) -> Option<Figure> {
        let is_of_records = is_report || keys.read_text("kind").is_some_and(is_only_of_records);
        if keys.has_key("tasks") || keys.has_key("columns") || !is_of_records {
            return self.known.answers.parse_table(keys);
        }
        let part = keys.read_text("part").and_then(|name| {
            let place = parts.iter().position(|part| part.name == name);
            if place.is_none() {
                keys.report_problem("part", unknown("part", name, parts.iter().map(|part| part.name)));
            }
            place
        });
        let step = keys.read_text("step");
        if let Some(name) = step.filter(|name| !self.known.steps.contains(name)) {
            keys.report_problem("step", unknown("step", name, self.known.steps.iter().copied()));
        }
        let records =
            keys.read_text("records").and_then(|kind| record_kind::find_kind(kind, self.known.kinds, keys));
        let among = self.parse_expression(keys, "among");
        let word = keys.require_text("kind");
        let kind = self.parse_kind(word, part, keys);
        let bare = matches!(word, "numbers" | "lines");
        let name = if bare { "" } else { keys.require_text("name") };
        if !bare {
            self.register_name(part, name, keys);
        }
        let title = parse_words(self.known.language, self.known.file, keys, "title");
        let heading = keys.read_text("title").unwrap_or_default();
        let described = Words::default();
        let caption = described.read_text(keys, "caption").unwrap_or_default();
        let about = described.read_text(keys, "about").unwrap_or_default();
        let paper = keys.read_text("paper").unwrap_or_default();
        let drawn = parse_charts(heading, kind.as_ref().is_some_and(FigureKind::is_drawn), &described, keys);
        let is_free = matches!(
            kind,
            Some(FigureKind::Counts(_) | FigureKind::Votes { .. } | FigureKind::Wins(_)) | None
        );
        if keys.has_key("drawn") && !is_free {
            keys.report_problem(
                "drawn",
                "only `counts`, `votes` and `wins` of records are drawn as the folder says",
            );
        } else if drawn.len() > 1
            || drawn.iter().any(|drawn| matches!(drawn.shape, Shape::Lines | Shape::Scatter))
        {
            keys.report_problem("drawn", "a figure of records is drawn once, as `bars` or `stacked`");
        }
        if keys.read_flag("chart") == Some(true) && kind.as_ref().is_some_and(|kind| !kind.is_drawn()) {
            keys.report_problem("chart", format!("a figure of the kind {word:?} has no chart"));
        }
        let line = match keys.read_text("line") {
            None => Line::Usual,
            Some("") => Line::None,
            Some(_) => self.parse_expression(keys, "line").map_or(Line::None, Line::Template),
        };
        let has_cells =
            kind.as_ref().is_none_or(|kind| kind.cell_names().is_some_and(|cells| !cells.is_empty()));
        if keys.has_key("keys") && (!has_cells || matches!(word, "numbers" | "words-kept")) {
            keys.report_problem("keys", format!("`keys` names the cells of a table, and {word:?} has none"));
        }
        let renamed = |keys: &Keys<'_>| -> Vec<_> {
            let cell = |name: &'static str| Some((name, self.parse_expression(keys, name)?));
            keys.key_names().into_iter().filter_map(cell).collect()
        };
        let renamed = keys.read_table("keys", renamed).unwrap_or_default();
        let indent = keys.read_count("indent").unwrap_or(INDENT);
        let kind = kind?;
        Some(Figure {
            name,
            heading,
            caption,
            about,
            paper,
            paper_of_settings: paper,
            drawn,
            words: described.into_pairs(),
            kind,
            step,
            records,
            among,
            part,
            keys: renamed,
            title,
            line,
            indent,
        })
    }

    /// Registers a key in JSON, and reports a duplicate.
    fn register_name(&self, part: Option<usize>, name: &'static str, keys: &Keys<'_>) {
        let mut names = self.names.borrow_mut();
        if names.contains(&(part, name)) {
            keys.report_problem("name", format!("two figures are named {name:?}"));
        }
        names.push((part, name));
    }

    fn find_list_options(&self, keys: &Keys<'_>) -> Vec<Choice> {
        let Some(name) = keys.read_text("list") else { return Vec::new() };
        let found = self.known.lists.get(name);
        if found.is_none() && self.known.ballots.is_some() {
            keys.report_problem("list", unknown("list", name, self.known.lists.keys().copied()));
        }
        found.cloned().unwrap_or_default()
    }

    fn require_ballot(&self, keys: &Keys<'_>, key: &str) -> &'static str {
        let name = keys.require_text(key);
        if let Some(ballots) =
            self.known.ballots.filter(|all| !name.is_empty() && all.find_ballot(name).is_none())
        {
            keys.report_problem(key, unknown("ballot", name, ballots.steps.iter().map(|ballot| ballot.name)));
        }
        name
    }

    /// A ballot with a review.
    fn looked_over(&self, keys: &Keys<'_>, key: &str) -> &'static str {
        let name = self.require_ballot(keys, key);
        if self
            .known
            .ballots
            .and_then(|all| all.find_ballot(name))
            .is_some_and(|ballot| ballot.review.is_none())
        {
            keys.report_problem(
                key,
                format!("the ballot {name:?} has no second review, which could change a decision"),
            );
        }
        name
    }

    /// Reports a figure of released rows if the benchmark releases none.
    fn check_released(&self, keys: &Keys<'_>) {
        if !self.known.released && !self.usual.get() {
            keys.report_problem(
                "kind",
                "it is about the rows of a release, and benchmark.toml has no [data]",
            );
        }
    }

    fn require_expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        if !keys.has_key(key) {
            keys.require_text(key);
            return None;
        }
        self.parse_expression(keys, key)
    }

    fn parse_expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        let source = keys.read_text(key)?;
        let place = keys.place_of_key(key).unwrap_or_else(|| self.known.file.to_owned());
        Expression::parse(self.known.language, place, source)
            .map_err(|what| keys.report_problem(key, what))
            .ok()
    }

    /// Names in titles, lines and keys that are neither a figure nor a cell.
    fn strange_names(&self, report: &Report) -> Vec<Problem> {
        let names = self.names.borrow();
        let divisions = report.parts.iter().flat_map(|part| [part.name, part.key]);
        let all: Vec<&str> = names.iter().map(|(_, name)| *name).chain(divisions).chain(["value"]).collect();
        let mut problems = Vec::new();
        let mut tell = |e: &Expression, what: &str, known: &[&str]| {
            let unexpected = e.find_unknown_name(what, known.iter().copied());
            problems.extend(unexpected.map(|what| Problem { place: e.place().to_owned(), what }));
        };
        for figure in &report.figures {
            if let Some(title) = &figure.title {
                tell(title, "figure", &all);
            }
            let Some(cells) = figure.kind.cell_names() else {
                if let FigureKind::Lines(of) = &figure.kind {
                    tell(of, "figure", &all);
                }
                continue;
            };
            for (_, cell) in &figure.keys {
                tell(cell, "cell", &cells);
            }
            if let Line::Template(line) = &figure.line {
                let renamed = figure.keys.iter().map(|(key, _)| *key);
                let cells: Vec<&str> = match figure.keys.is_empty() {
                    true => cells,
                    false => renamed.collect(),
                };
                tell(line, "cell", &cells.into_iter().chain(all.iter().copied()).collect::<Vec<_>>());
            }
        }
        problems
    }
}
