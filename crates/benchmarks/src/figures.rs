//! Reading figures: `report.toml`, and `[[table]]` of benchmark.toml, each of which may hold figures of records and tables of
//! models' answers. What it names says which it is.

use std::cell::{Cell, RefCell};

use riddlemill_text::hint::unknown;

use crate::ballots::Ballots;
use crate::choice::{Choice, Lists};
use crate::data::words;
use crate::expression::{Expression, Language};
use crate::figure::{
    Bars, Counts, Division, Figure, Judged, Kept, Kind, Line, Measure, Number, Posed, Puzzles, Report, Wins,
};
use crate::reader::{Keys, Problem, read};
use crate::record_kind::{self, RecordKind};
use crate::table::{Layout, Shape};
use crate::tables::{Context, Words, charts};

/// The report of a benchmark that has no file of its own.
const USUAL: &str = include_str!("usual_report.toml");

/// Default number of spaces before a line.
const INDENT: usize = 4;

const MEASURES: [&str; 7] = ["count", "share", "mean", "lengths", "items", "modified", "looked_at"];

/// The names that figures may use.
pub(crate) struct Known<'a> {
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
pub(crate) fn load(text: Option<&str>, known: &Known<'_>, keys: &Keys<'_>) -> (Declared, Vec<Problem>) {
    let reader = Reader { known, names: RefCell::default(), usual: Cell::new(false) };
    let tables = keys.tables("table", |keys| reader.figure(&[], keys, false)).unwrap_or_default();
    let (evaluation, of_records) = apart(tables);
    reader.usual.set(text.is_none());
    let mut unexpected = Vec::new();
    let read = read(known.file, text.unwrap_or(USUAL), |keys| {
        let mut declared = reader.report(keys);
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

/// Whether a kind is one of records, and no layout of a table of answers has the same name.
pub(crate) fn is_only_of_records(kind: &str) -> bool {
    Kind::NAMES.contains(&kind) && Layout::ALL.iter().all(|(layout, ..)| *layout != kind)
}

/// Tables of answers, and figures of records.
fn apart(figures: Vec<Option<Figure>>) -> (Vec<Figure>, Vec<Figure>) {
    figures.into_iter().flatten().partition(|figure| figure.of_answers().is_some())
}

struct Reader<'k> {
    known: &'k Known<'k>,
    /// The keys of figures and numbers so far, each with its division.
    names: RefCell<Vec<(Option<usize>, &'static str)>>,
    /// Whether it is the default report, which fits any benchmark.
    usual: Cell<bool>,
}

impl Reader<'_> {
    fn report(&self, keys: &Keys<'_>) -> Declared {
        let parts: Vec<Division> =
            keys.each("part", |name, keys| self.division(name, keys)).into_iter().flatten().collect();
        let figures = keys.tables("figure", |keys| self.figure(&parts, keys, true)).unwrap_or_default();
        let (evaluation, figures) = apart(figures);
        Declared { report: Report { parts, figures }, evaluation }
    }

    fn division(&self, name: &'static str, keys: &Keys<'_>) -> Option<Division> {
        let (key, of) = (keys.needed("key"), self.needed(keys, "of"));
        let values = keys.texts("values").unwrap_or_default();
        if values.is_empty() {
            keys.problem("values", "`values` names the parts");
        }
        Some(Division { name, key, of: of?, values })
    }

    /// `None` if it is invalid, which is reported. What names tasks or columns is of models' answers; a table of benchmark.toml
    /// is, too, unless its kind is only one of records.
    fn figure(&self, parts: &[Division], keys: &Keys<'_>, is_report: bool) -> Option<Figure> {
        let is_of_records = is_report || keys.text("kind").is_some_and(is_only_of_records);
        if keys.has("tasks") || keys.has("columns") || !is_of_records {
            return self.known.answers.table(keys);
        }
        let part = keys.text("part").and_then(|name| {
            let place = parts.iter().position(|part| part.name == name);
            if place.is_none() {
                keys.problem("part", unknown("part", name, parts.iter().map(|part| part.name)));
            }
            place
        });
        let step = keys.text("step");
        if let Some(name) = step.filter(|name| !self.known.steps.contains(name)) {
            keys.problem("step", unknown("step", name, self.known.steps.iter().copied()));
        }
        let records = keys.text("records").and_then(|kind| record_kind::find(kind, self.known.kinds, keys));
        let among = self.expression(keys, "among");
        let word = keys.needed("kind");
        let kind = self.kind(word, part, keys);
        let bare = matches!(word, "numbers" | "lines");
        let name = if bare { "" } else { keys.needed("name") };
        if !bare {
            self.named(part, name, keys);
        }
        let title = words(self.known.language, self.known.file, keys, "title");
        let heading = keys.text("title").unwrap_or_default();
        let described = Words::default();
        let about = described.text(keys, "about").unwrap_or_default();
        let paper = keys.text("paper").unwrap_or_default();
        let drawn = charts(heading, kind.as_ref().is_some_and(Kind::is_drawn), &described, keys);
        let is_free = matches!(kind, Some(Kind::Counts(_) | Kind::Votes { .. } | Kind::Wins(_)) | None);
        if keys.has("drawn") && !is_free {
            keys.problem(
                "drawn",
                "only `counts`, `votes` and `wins` of records are drawn as the folder says",
            );
        } else if drawn.len() > 1
            || drawn.iter().any(|drawn| matches!(drawn.shape, Shape::Lines | Shape::Scatter))
        {
            keys.problem("drawn", "a figure of records is drawn once, as `bars` or `stacked`");
        }
        if keys.flag("chart") == Some(true) && kind.as_ref().is_some_and(|kind| !kind.is_drawn()) {
            keys.problem("chart", format!("a figure of the kind {word:?} has no chart"));
        }
        let line = match keys.text("line") {
            None => Line::Usual,
            Some("") => Line::None,
            Some(_) => self.expression(keys, "line").map_or(Line::None, Line::Template),
        };
        let has_cells = kind.as_ref().is_none_or(|kind| kind.cells().is_some_and(|cells| !cells.is_empty()));
        if keys.has("keys") && (!has_cells || matches!(word, "numbers" | "words-kept")) {
            keys.problem("keys", format!("`keys` names the cells of a table, and {word:?} has none"));
        }
        let renamed = |keys: &Keys<'_>| -> Vec<_> {
            let cell = |name: &'static str| Some((name, self.expression(keys, name)?));
            keys.names().into_iter().filter_map(cell).collect()
        };
        let renamed = keys.table("keys", renamed).unwrap_or_default();
        let indent = keys.count("indent").unwrap_or(INDENT);
        let kind = kind?;
        Some(Figure {
            name,
            heading,
            about,
            paper,
            paper_of_settings: paper,
            drawn,
            words: described.all(),
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
    fn named(&self, part: Option<usize>, name: &'static str, keys: &Keys<'_>) {
        let mut names = self.names.borrow_mut();
        if names.contains(&(part, name)) {
            keys.problem("name", format!("two figures are named {name:?}"));
        }
        names.push((part, name));
    }

    fn kind(&self, word: &str, part: Option<usize>, keys: &Keys<'_>) -> Option<Kind> {
        Some(match word {
            "numbers" => {
                let numbers = keys.tables("numbers", |keys| self.number(part, keys));
                if numbers.is_none() {
                    keys.problem("kind", "`numbers` is missing: what is counted");
                }
                Kind::Numbers(numbers?.into_iter().collect::<Option<_>>()?)
            }
            "counts" => {
                let by = match keys.is_text("by") || !keys.has("by") {
                    true => self.needed(keys, "by").map(|by| vec![("count", by)]),
                    false => keys.table("by", |keys| {
                        let cell = |name: &'static str| Some((name, self.expression(keys, name)?));
                        keys.names().into_iter().filter_map(cell).collect()
                    }),
                };
                let (options, most) = (self.options(keys), keys.count("most"));
                let column = keys.text("column");
                if column.is_some() && options.is_empty() {
                    keys.problem(
                        "column",
                        "`column` reads published labels as those of a `list`, which is missing",
                    );
                }
                Kind::Counts(Counts { by: by?, options, column, most })
            }
            "bars" => {
                let bound = |key: &str| {
                    if !keys.has(key) {
                        keys.needed(key);
                    }
                    keys.number(key).unwrap_or_default()
                };
                let (of, from, to, wide) =
                    (self.needed(keys, "of"), bound("from"), bound("to"), bound("wide"));
                // No bar width, or too many bars to read.
                if wide <= 0.0 || to <= from || (to - from) / wide > 1000.0 {
                    keys.problem("wide", "`from`, `to` and `wide` must give 1 to 1000 bars");
                    return None;
                }
                Kind::Bars(Bars { of: of?, from, to, wide })
            }
            "votes" => {
                let (of, options) = (self.needed(keys, "of"), self.options(keys));
                Kind::Votes { of: of?, options }
            }
            "wins" => Kind::Wins(Box::new(self.wins(keys)?)),
            "shortcuts" if !keys.has("question") => {
                self.released(keys);
                Kind::Shortcuts(None)
            }
            "shortcuts" => {
                let (question, options, gold) =
                    (self.needed(keys, "question"), self.needed(keys, "options"), self.needed(keys, "gold"));
                let group = self.expression(keys, "group");
                let apart = keys.texts("apart").unwrap_or_default();
                let posed = Posed { question: question?, options: options?, gold: gold?, group, apart };
                Kind::Shortcuts(Some(Box::new(posed)))
            }
            "agreement" => {
                let listed = keys.has("fields");
                let fields = match listed {
                    true => keys.texts("fields").unwrap_or_default(),
                    false => vec![keys.needed("field")],
                };
                let ballot = self.ballot(keys, "ballot");
                if let Some(ballot) = self.known.ballots.and_then(|all| all.step(ballot)) {
                    let known = || ballot.fields.iter().map(|field| field.name);
                    for name in fields.iter().filter(|name| !known().any(|known| known == **name)) {
                        let key = if listed { "fields" } else { "field" };
                        keys.problem(key, unknown("field of this ballot", name, known()));
                    }
                }
                Kind::Agreement { ballot, fields, listed }
            }
            "pooled-agreement" => Kind::PooledAgreement(self.ballot(keys, "ballot")),
            "reviews" => Kind::Reviews,
            "judge-pairs" => Kind::JudgePairs(Box::new(self.judged(keys)?)),
            "ratings" => Kind::Ratings(Box::new(self.judged(keys)?)),
            "scores-by-part" => {
                let (judged, parts) = (self.judged(keys), self.needed(keys, "parts"));
                let questions = keys.text("questions");
                // Steps of other benchmarks are known when the report is made.
                if let Some(name) =
                    questions.filter(|name| !name.contains('/') && !self.known.steps.contains(name))
                {
                    keys.problem("questions", unknown("step", name, self.known.steps.iter().copied()));
                }
                Kind::ScoresByPart { judged: Box::new(judged?), parts: parts?, questions }
            }
            "puzzle-statistics" => {
                let (question, answer, options) = (
                    self.needed(keys, "question"),
                    self.needed(keys, "answer"),
                    self.needed(keys, "options"),
                );
                let puzzles = Puzzles { question: question?, answer: answer?, options: options? };
                Kind::PuzzleStatistics(Box::new(puzzles))
            }
            "words-kept" => {
                let label = keys.needed("label");
                let [text, group, from, to] =
                    ["text", "group", "from", "to"].map(|key| self.needed(keys, key));
                Kind::WordsKept(Box::new(Kept { label, text: text?, group: group?, from: from?, to: to? }))
            }
            "labels" => {
                self.released(keys);
                Kind::Labels
            }
            "columns" => {
                self.released(keys);
                Kind::Columns
            }
            "lines" => Kind::Lines(self.needed(keys, "of")?),
            "" => return None,
            word => {
                keys.problem("kind", unknown("kind of figure", word, Kind::NAMES));
                // Which keys an unknown kind allows is unknown, too.
                keys.written();
                return None;
            }
        })
    }

    fn number(&self, part: Option<usize>, keys: &Keys<'_>) -> Option<Number> {
        let name = keys.needed("name");
        self.named(part, name, keys);
        let label = keys.text("label").unwrap_or(name);
        let named: Vec<&str> = MEASURES.into_iter().filter(|measure| keys.has(measure)).collect();
        let [measure] = named[..] else {
            keys.problem("name", format!("a number has one of {}", MEASURES.join(", ")));
            keys.written();
            return None;
        };
        let of = || self.expression(keys, measure);
        let measure = match measure {
            "count" => Measure::Count(of()?),
            "share" => Measure::Share(of()?),
            "mean" => Measure::Mean(of()?),
            "lengths" => Measure::Lengths(of()?),
            "modified" => Measure::Modified(self.looked_over(keys, measure)),
            "looked_at" => Measure::LookedAt(self.looked_over(keys, measure)),
            _ => {
                if keys.flag(measure) == Some(false) {
                    keys.problem(measure, "`items = true` counts the items");
                }
                self.released(keys);
                Measure::Items
            }
        };
        Some(Number { name, label, measure })
    }

    fn wins(&self, keys: &Keys<'_>) -> Option<Wins> {
        let (opponents, verdicts) = (self.needed(keys, "opponents"), self.needed(keys, "verdicts"));
        let (votes, marks) = (self.expression(keys, "votes"), self.expression(keys, "marks"));
        let share = |keys: &Keys<'_>| {
            keys.names().into_iter().map(|name| (name, keys.needed(name))).collect::<Vec<_>>()
        };
        let shares = keys.table("shares", share).unwrap_or_default();
        if shares.is_empty() {
            keys.problem("shares", "`shares` names the verdicts: NAME = CODE");
        }
        Some(Wins { opponents: opponents?, verdicts: verdicts?, votes, marks, shares })
    }

    /// Rated answers; columns that are not given have the names of the step `judge`'s output.
    fn judged(&self, keys: &Keys<'_>) -> Option<Judged> {
        let column = |key: &'static str| match keys.has(key) {
            true => self.expression(keys, key),
            false => {
                let place = keys.place("kind").unwrap_or_else(|| self.known.file.to_owned());
                Expression::parse(self.known.language, place, key).ok()
            }
        };
        Some(Judged {
            question: column("question")?,
            normal: column("normal")?,
            model: column("model")?,
            judges: column("judges")?,
            ratings: column("ratings")?,
        })
    }

    fn options(&self, keys: &Keys<'_>) -> Vec<Choice> {
        let Some(name) = keys.text("list") else { return Vec::new() };
        let found = self.known.lists.get(name);
        if found.is_none() && self.known.ballots.is_some() {
            keys.problem("list", unknown("list", name, self.known.lists.keys().copied()));
        }
        found.cloned().unwrap_or_default()
    }

    fn ballot(&self, keys: &Keys<'_>, key: &str) -> &'static str {
        let name = keys.needed(key);
        if let Some(ballots) = self.known.ballots.filter(|all| !name.is_empty() && all.step(name).is_none()) {
            keys.problem(key, unknown("ballot", name, ballots.steps.iter().map(|ballot| ballot.name)));
        }
        name
    }

    /// A ballot with a review.
    fn looked_over(&self, keys: &Keys<'_>, key: &str) -> &'static str {
        let name = self.ballot(keys, key);
        if self.known.ballots.and_then(|all| all.step(name)).is_some_and(|ballot| ballot.review.is_none()) {
            keys.problem(
                key,
                format!("the ballot {name:?} has no second review, which could change a decision"),
            );
        }
        name
    }

    /// Reports a figure of released rows if the benchmark releases none.
    fn released(&self, keys: &Keys<'_>) {
        if !self.known.released && !self.usual.get() {
            keys.problem("kind", "it is about the rows of a release, and benchmark.toml has no [data]");
        }
    }

    fn needed(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        if !keys.has(key) {
            keys.needed(key);
            return None;
        }
        self.expression(keys, key)
    }

    fn expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        let source = keys.text(key)?;
        let place = keys.place(key).unwrap_or_else(|| self.known.file.to_owned());
        Expression::parse(self.known.language, place, source).map_err(|what| keys.problem(key, what)).ok()
    }

    /// Names in titles, lines and keys that are neither a figure nor a cell.
    fn strange_names(&self, report: &Report) -> Vec<Problem> {
        let names = self.names.borrow();
        let divisions = report.parts.iter().flat_map(|part| [part.name, part.key]);
        let all: Vec<&str> = names.iter().map(|(_, name)| *name).chain(divisions).chain(["value"]).collect();
        let mut problems = Vec::new();
        let mut tell = |e: &Expression, what: &str, known: &[&str]| {
            let unexpected = e.unknown(what, known.iter().copied());
            problems.extend(unexpected.map(|what| Problem { place: e.place().to_owned(), what }));
        };
        for figure in &report.figures {
            if let Some(title) = &figure.title {
                tell(title, "figure", &all);
            }
            let Some(cells) = figure.kind.cells() else {
                if let Kind::Lines(of) = &figure.kind {
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
