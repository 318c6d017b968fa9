//! The kinds of figures of records.

use riddlemill_text::hint::unknown;

use super::FigureReader;
use crate::expression::Expression;
use crate::figure::{
    Bars, ChoiceColumns, Counts, FigureKind, NumberFigure, NumberMeasure, Puzzles, RatedAnswers, TextPair,
    Wins,
};
use crate::reader::Keys;

const MEASURES: [&str; 7] = ["count", "share", "mean", "lengths", "items", "modified", "looked_at"];

impl FigureReader<'_> {
    pub(super) fn parse_kind(&self, word: &str, part: Option<usize>, keys: &Keys<'_>) -> Option<FigureKind> {
        Some(match word {
            "numbers" => {
                let numbers = keys.read_tables("numbers", |keys| self.parse_number(part, keys));
                if numbers.is_none() {
                    keys.report_problem("kind", "`numbers` is missing: what is counted");
                }
                FigureKind::Numbers(numbers?.into_iter().collect::<Option<_>>()?)
            }
            "counts" => {
                let by = match keys.is_text("by") || !keys.has_key("by") {
                    true => self.require_expression(keys, "by").map(|by| vec![("count", by)]),
                    false => keys.read_table("by", |keys| {
                        let cell = |name: &'static str| Some((name, self.parse_expression(keys, name)?));
                        keys.key_names().into_iter().filter_map(cell).collect()
                    }),
                };
                let (options, most) = (self.find_list_options(keys), keys.read_count("most"));
                let column = keys.read_text("column");
                if column.is_some() && options.is_empty() {
                    keys.report_problem(
                        "column",
                        "`column` reads published labels as those of a `list`, which is missing",
                    );
                }
                FigureKind::Counts(Counts { by: by?, options, column, most })
            }
            "bars" => {
                let bound = |key: &str| {
                    if !keys.has_key(key) {
                        keys.require_text(key);
                    }
                    keys.read_number(key).unwrap_or_default()
                };
                let (of, from, to, wide) =
                    (self.require_expression(keys, "of"), bound("from"), bound("to"), bound("wide"));
                // No bar width, or too many bars to read.
                if wide <= 0.0 || to <= from || (to - from) / wide > 1000.0 {
                    keys.report_problem("wide", "`from`, `to` and `wide` must give 1 to 1000 bars");
                    return None;
                }
                FigureKind::Bars(Bars { of: of?, from, to, wide })
            }
            "votes" => {
                let (of, options) = (self.require_expression(keys, "of"), self.find_list_options(keys));
                FigureKind::Votes { of: of?, options }
            }
            "wins" => FigureKind::Wins(Box::new(self.parse_wins(keys)?)),
            "shortcuts" if !keys.has_key("question") => {
                self.check_released(keys);
                FigureKind::Shortcuts(None)
            }
            "shortcuts" => {
                let (question, options, gold) = (
                    self.require_expression(keys, "question"),
                    self.require_expression(keys, "options"),
                    self.require_expression(keys, "gold"),
                );
                let group = self.parse_expression(keys, "group");
                let apart = keys.read_texts("apart").unwrap_or_default();
                let posed =
                    ChoiceColumns { question: question?, options: options?, gold: gold?, group, apart };
                FigureKind::Shortcuts(Some(Box::new(posed)))
            }
            "agreement" => {
                let listed = keys.has_key("fields");
                let fields = match listed {
                    true => keys.read_texts("fields").unwrap_or_default(),
                    false => vec![keys.require_text("field")],
                };
                let ballot = self.require_ballot(keys, "ballot");
                if let Some(ballot) = self.known.ballots.and_then(|all| all.find_ballot(ballot)) {
                    let known = || ballot.fields.iter().map(|field| field.name);
                    for name in fields.iter().filter(|name| !known().any(|known| known == **name)) {
                        let key = if listed { "fields" } else { "field" };
                        keys.report_problem(key, unknown("field of this ballot", name, known()));
                    }
                }
                FigureKind::Agreement { ballot, fields, listed }
            }
            "pooled-agreement" => FigureKind::PooledAgreement(self.require_ballot(keys, "ballot")),
            "reviews" => FigureKind::Reviews,
            "judge-pairs" => FigureKind::JudgePairs(Box::new(self.parse_judged(keys)?)),
            "ratings" => FigureKind::Ratings(Box::new(self.parse_judged(keys)?)),
            "scores-by-part" => {
                let (judged, parts) = (self.parse_judged(keys), self.require_expression(keys, "parts"));
                let questions = keys.read_text("questions");
                // Steps of other benchmarks are known when the report is made.
                if let Some(name) =
                    questions.filter(|name| !name.contains('/') && !self.known.steps.contains(name))
                {
                    keys.report_problem("questions", unknown("step", name, self.known.steps.iter().copied()));
                }
                FigureKind::ScoresByPart { judged: Box::new(judged?), parts: parts?, questions }
            }
            "puzzle-statistics" => {
                let (question, answer, options) = (
                    self.require_expression(keys, "question"),
                    self.require_expression(keys, "answer"),
                    self.require_expression(keys, "options"),
                );
                let puzzles = Puzzles { question: question?, answer: answer?, options: options? };
                FigureKind::PuzzleStatistics(Box::new(puzzles))
            }
            "words-kept" => {
                let label = keys.require_text("label");
                let [text, group, from, to] =
                    ["text", "group", "from", "to"].map(|key| self.require_expression(keys, key));
                FigureKind::WordsKept(Box::new(TextPair {
                    label,
                    text: text?,
                    group: group?,
                    from: from?,
                    to: to?,
                }))
            }
            "labels" => {
                self.check_released(keys);
                FigureKind::Labels
            }
            "columns" => {
                self.check_released(keys);
                FigureKind::Columns
            }
            "lines" => FigureKind::Lines(self.require_expression(keys, "of")?),
            "" => return None,
            word => {
                keys.report_problem("kind", unknown("kind of figure", word, FigureKind::NAMES));
                // Which keys an unknown kind allows is unknown, too.
                keys.read_sources();
                return None;
            }
        })
    }

    pub(super) fn parse_number(&self, part: Option<usize>, keys: &Keys<'_>) -> Option<NumberFigure> {
        let name = keys.require_text("name");
        self.register_name(part, name, keys);
        let label = keys.read_text("label").unwrap_or(name);
        let named: Vec<&str> = MEASURES.into_iter().filter(|measure| keys.has_key(measure)).collect();
        let [measure] = named[..] else {
            keys.report_problem("name", format!("a number has one of {}", MEASURES.join(", ")));
            keys.read_sources();
            return None;
        };
        let of = || self.parse_expression(keys, measure);
        let measure = match measure {
            "count" => NumberMeasure::Count(of()?),
            "share" => NumberMeasure::Share(of()?),
            "mean" => NumberMeasure::Mean(of()?),
            "lengths" => NumberMeasure::Lengths(of()?),
            "modified" => NumberMeasure::Modified(self.looked_over(keys, measure)),
            "looked_at" => NumberMeasure::LookedAt(self.looked_over(keys, measure)),
            _ => {
                if keys.read_flag(measure) == Some(false) {
                    keys.report_problem(measure, "`items = true` counts the items");
                }
                self.check_released(keys);
                NumberMeasure::Items
            }
        };
        Some(NumberFigure { name, label, measure })
    }

    pub(super) fn parse_wins(&self, keys: &Keys<'_>) -> Option<Wins> {
        let (opponents, verdicts) =
            (self.require_expression(keys, "opponents"), self.require_expression(keys, "verdicts"));
        let (votes, marks) = (self.parse_expression(keys, "votes"), self.parse_expression(keys, "marks"));
        let share = |keys: &Keys<'_>| {
            keys.key_names().into_iter().map(|name| (name, keys.require_text(name))).collect::<Vec<_>>()
        };
        let shares = keys.read_table("shares", share).unwrap_or_default();
        if shares.is_empty() {
            keys.report_problem("shares", "`shares` names the verdicts: NAME = CODE");
        }
        Some(Wins { opponents: opponents?, verdicts: verdicts?, votes, marks, shares })
    }

    /// Rated answers; columns that are not given have the names of the step `judge`'s output.
    pub(super) fn parse_judged(&self, keys: &Keys<'_>) -> Option<RatedAnswers> {
        let column = |key: &'static str| match keys.has_key(key) {
            true => self.parse_expression(keys, key),
            false => {
                let place = keys.place_of_key("kind").unwrap_or_else(|| self.known.file.to_owned());
                Expression::parse(self.known.language, place, key).ok()
            }
        };
        Some(RatedAnswers {
            question: column("question")?,
            normal: column("normal")?,
            model: column("model")?,
            judges: column("judges")?,
            ratings: column("ratings")?,
        })
    }
}
