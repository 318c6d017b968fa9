//! Parses figures of models' answers, and what every figure says of itself: how to read it, where a paper has it, its charts.

use std::cell::RefCell;

use crate::charts::{Words, parse_charts};
use crate::choice::Lists;
use crate::expression::{Expression, Language};
use crate::figure::{Figure, FigureKind, Line};
use crate::reader::Keys;
use crate::table::{
    AnswerScore, ByJudge, ClassScore, Classes, ColumnMeasure, Layout, Measures, NativeTable, Part,
    TableColumn,
};
use crate::task::{AnswerJudging, AnswerParsing, Task};

/// What a table of answers may reference.
pub(crate) struct Context<'a> {
    pub language: Language,
    /// The columns of the set.
    pub of_row: Vec<&'static str>,
    pub lists: &'a Lists,
    pub tasks: &'a [Task],
    /// The names of the tables so far.
    pub names: RefCell<Vec<&'static str>>,
}

const MEASURES: [&str; 17] = [
    "accuracy",
    "accuracy_of_attempted",
    "f1",
    "precision",
    "recall",
    "mcc",
    "fpr",
    "fnr",
    "ece",
    "brier",
    "correlation",
    "score",
    "groups",
    "format",
    "difference",
    "mean",
    "geometric",
];

/// The figures of labels as classes.
const OF_CLASSES: [(&str, ClassScore); 6] = [
    ("precision", ClassScore::Precision),
    ("recall", ClassScore::Recall),
    ("f1", ClassScore::F1),
    ("mcc", ClassScore::Mcc),
    ("fpr", ClassScore::FalsePositives),
    ("fnr", ClassScore::FalseNegatives),
];

impl Context<'_> {
    /// A table of models' answers; `None` if it is invalid, which is reported.
    pub(crate) fn parse_table(&self, keys: &Keys<'_>) -> Option<Figure> {
        let name = keys.require_text("name");
        if self.names.borrow().contains(&name) {
            keys.report_problem("name", format!("two tables are named {name:?}"));
        }
        self.names.borrow_mut().push(name);
        let words = Words::default();
        let heading = words.require_text(keys, "title");
        let about = words.read_text(keys, "about").unwrap_or_default();
        let paper = keys.read_text("paper").unwrap_or_default();
        let layouts = Layout::ALL.map(|(name, layout, tasks, columns)| (name, (layout, tasks, columns)));
        let measures = match keys.one_of("kind", &layouts) {
            Some((layout, tasks, columns)) => {
                Some(Measures::Native(self.parse_native(layout, tasks, columns, &words, keys)))
            }
            None if keys.has_key("kind") => None,
            None => Some(self.parse_columns(&words, keys)),
        };
        if matches!(&measures, Some(Measures::Native(native)) if native.kind == Layout::ScoresByPart) {
            words.allow_continuation(about);
        }
        let drawn = parse_charts(heading, !keys.has_key("kind"), &words, keys);
        let paper_of_settings = keys.read_text("paper_of_settings").unwrap_or(paper);
        Some(Figure {
            name,
            heading,
            about,
            paper,
            caption: heading,
            paper_of_settings,
            drawn,
            words: words.into_pairs(),
            kind: FigureKind::OfAnswers(measures?),
            step: None,
            records: None,
            among: None,
            part: None,
            keys: Vec::new(),
            title: None,
            line: Line::None,
            indent: 0,
        })
    }

    fn parse_columns(&self, words: &Words, keys: &Keys<'_>) -> Measures {
        let mut columns: Vec<TableColumn> = Vec::new();
        keys.read_tables("columns", |keys| columns.extend(self.parse_column(&columns, words, keys)));
        if !keys.has_key("columns") {
            keys.report_problem("name", "`columns` is missing: what the table measures");
        }
        let by_setting = keys.one_of("rows", &[("settings", true), ("models", false)]).unwrap_or(false);
        let key = keys.read_text("part_key");
        let part = keys.read_text("part").map(|is| Part { key: key.unwrap_or("part"), is });
        Measures::Columns { columns, by_setting, part }
    }

    fn parse_native(
        &self,
        kind: Layout,
        tasks: usize,
        columns: usize,
        words: &Words,
        keys: &Keys<'_>,
    ) -> NativeTable {
        let named = keys.read_texts("tasks").unwrap_or_default();
        // Figures may be computed from both orders like from one task.
        let fits =
            named.len() == tasks || (named.len() == 2 && [Layout::Sizes, Layout::Against].contains(&kind));
        if !fits {
            keys.report_problem("tasks", format!("`tasks` names {tasks} for a table of this kind"));
        }
        let headings = keys.read_texts("columns").unwrap_or_default();
        if headings.len() != columns {
            keys.report_problem(
                "columns",
                format!("`columns` has {columns} headings for a table of this kind"),
            );
        }
        let parts = keys.read_text("parts").map(|name| {
            if !self.lists.contains_key(name) {
                let known = self.lists.keys().copied();
                keys.report_problem("parts", riddlemill_text::hint::unknown("list", name, known));
            }
            self.lists.get(name).into_iter().flatten().map(|option| option.label.en).collect()
        });
        let by_judge = keys.read_table("by_judge", |keys| ByJudge {
            name: keys.require_text("name"),
            title: words.require_text(keys, "title"),
            paper: keys.read_text("paper").unwrap_or_default(),
        });
        let ratings = keys.read_texts("ratings").map(|names| {
            for name in names.iter().filter(|name| !self.of_row.contains(name)) {
                let known = self.of_row.iter().copied();
                keys.report_problem("ratings", riddlemill_text::hint::unknown("column", name, known));
            }
            <[&str; 3]>::try_from(names)
        });
        if matches!(ratings, Some(Err(_))) {
            keys.report_problem("ratings", "`ratings` names three columns: models, judges, numbers");
        }
        let tasks: Vec<&Task> =
            named.into_iter().filter_map(|name| self.find_task(keys, "tasks", name)).collect();
        let fits = |task: &Task| match kind {
            Layout::BothOrders | Layout::BothOrdersByPart => matches!(task.wants, AnswerParsing::Tag { .. }),
            Layout::Wins | Layout::Preferences => {
                matches!(&task.judged, Some(judged) if judged.rating_scale().is_none())
            }
            Layout::Sizes | Layout::Against => true,
            _ => task.judged.as_ref().and_then(AnswerJudging::rating_scale).is_some(),
        };
        if let Some(task) = tasks.iter().find(|task| !fits(task)) {
            let what =
                format!("the answers to {:?} are not of the kind that this table measures", task.title);
            keys.report_problem("tasks", what);
        }
        NativeTable {
            kind,
            tasks: tasks.into_iter().map(|task| task.name).collect(),
            parts: parts.unwrap_or_default(),
            columns: headings,
            by_judge,
            ratings: ratings.and_then(Result::ok),
            other: keys.read_text("other"),
        }
    }

    /// `None` if there is a problem, which is reported.
    fn parse_column(&self, before: &[TableColumn], words: &Words, keys: &Keys<'_>) -> Option<TableColumn> {
        let title = words.require_text(keys, "title");
        if before.iter().any(|column| column.title == title) {
            keys.report_problem("title", format!("two columns are named {title:?}"));
        }
        let named: Vec<&str> = MEASURES.into_iter().filter(|measure| keys.has_key(measure)).collect();
        let among = keys.read_text("among").and_then(|source| {
            let place = keys.place_of_key("among")?;
            Expression::parse(self.language, place, source)
                .map_err(|what| keys.report_problem("among", what))
                .ok()
        });
        if let Some(problem) =
            among.as_ref().and_then(|e| e.find_unknown_name("column", self.of_row.iter().copied()))
        {
            keys.report_problem("among", problem);
        }
        let part = keys.read_text("part");
        let each = keys.read_text("each");
        if let Some(name) = each.filter(|name| !self.of_row.contains(name)) {
            let known = self.of_row.iter().copied();
            keys.report_problem("each", riddlemill_text::hint::unknown("column", name, known));
        }
        let [measure] = named[..] else {
            keys.report_problem("title", format!("a column has one of {}", MEASURES.join(", ")));
            return None;
        };
        let measure = self.parse_measure(measure, before, keys)?;
        let derived = matches!(
            measure,
            ColumnMeasure::Difference(..)
                | ColumnMeasure::Mean(_)
                | ColumnMeasure::Geometric(_)
                | ColumnMeasure::Format(_)
        );
        if derived && (among.is_some() || each.is_some() || part.is_some()) {
            keys.report_problem(
                "title",
                "`among`, `part` and `each` go with figures of one task alone, not with format, difference, mean and geometric",
            );
        }
        Some(TableColumn { title, measure, among, part, each })
    }

    fn parse_measure(&self, measure: &str, before: &[TableColumn], keys: &Keys<'_>) -> Option<ColumnMeasure> {
        Some(match measure {
            "accuracy" => self.parse_accuracy(keys)?,
            "ece" | "brier" => {
                let is_ece = measure == "ece";
                let task = self.require_task(keys, measure, |task| {
                    task.confidence.map(|_| ()).ok_or("a `confidence`")
                })?;
                let score = if is_ece { AnswerScore::Calibration } else { AnswerScore::Brier };
                ColumnMeasure::Answers { task, score }
            }
            "accuracy_of_attempted" => ColumnMeasure::OfAttempted(self.require_graded_task(keys, measure)?),
            "precision" | "recall" | "mcc" | "fpr" | "fnr" => self.parse_classes(measure, keys)?,
            "f1" if keys.has_key("average") || keys.has_key("of") => self.parse_classes(measure, keys)?,
            "f1" => {
                let of_set = keys.one_of("over", &[("set", true), ("answers", false)]).unwrap_or(false);
                let task = self.require_task(keys, measure, |task| {
                    matches!(task.wants, AnswerParsing::Labels { .. }).then_some(()).ok_or("`label`")
                })?;
                ColumnMeasure::F1 { task, of_set }
            }
            "correlation" => ColumnMeasure::Correlation(self.require_task(keys, measure, |task| {
                matches!(task.wants, AnswerParsing::Rating { .. }).then_some(()).ok_or("`rate`")
            })?),
            "score" => ColumnMeasure::Score(self.require_task(keys, measure, |task| {
                let judged = task.judged.as_ref().and_then(AnswerJudging::rating_scale);
                judged.map(|_| ()).ok_or("a `judge` that rates")
            })?),
            "groups" if keys.has_key("failed") || keys.has_key("solved") => {
                let [failed, solved] =
                    ["failed", "solved"].map(|key| keys.read_texts(key).unwrap_or_default());
                if failed.is_empty() || solved.is_empty() {
                    let what =
                        "`failed` names the parts of which some are wrong, `solved` those that are right";
                    keys.report_problem("groups", what);
                }
                ColumnMeasure::Failed { task: self.require_graded_task(keys, measure)?, failed, solved }
            }
            "groups" => {
                let parts = keys.read_texts("all_of").unwrap_or_default();
                if parts.is_empty() {
                    keys.report_problem(
                        "groups",
                        "`all_of` names the parts of a group that have to be right",
                    );
                }
                ColumnMeasure::Groups(self.require_graded_task(keys, measure)?, parts)
            }
            "format" => {
                let one = keys.is_text("format").then(|| keys.read_text("format").into_iter().collect());
                let named = one.or_else(|| keys.read_texts("format")).unwrap_or_default();
                let found: Vec<_> =
                    named.into_iter().filter_map(|name| self.find_task(keys, "format", name)).collect();
                if found.is_empty() {
                    return None;
                }
                ColumnMeasure::Format(found.into_iter().map(|task| task.name).collect())
            }
            _ => {
                let named = keys.read_texts(measure)?;
                let of = |title: &&'static str| {
                    let place = before.iter().position(|column| column.title == *title);
                    if place.is_none() {
                        let known = before.iter().map(|column| column.title);
                        let what = riddlemill_text::hint::unknown("column before this one", title, known);
                        keys.report_problem(measure, what);
                    } else if before.iter().any(|column| column.title == *title && column.each.is_some()) {
                        keys.report_problem(
                            measure,
                            format!("{title:?} is several columns, one for each value"),
                        );
                    }
                    place
                };
                let places: Vec<usize> = named.iter().filter_map(of).collect();
                let signed = |place: &usize| {
                    matches!(before[*place].measure, ColumnMeasure::Classes { score: ClassScore::Mcc, .. })
                };
                let of_answers =
                    |place: &usize| matches!(before[*place].measure, ColumnMeasure::Answers { .. });
                if measure == "geometric" && places.iter().any(of_answers) {
                    let what = "a geometric mean has none of `pass_at`, `majority`, `ece` and `brier`";
                    keys.report_problem(measure, what);
                    return None;
                }
                if measure == "geometric" && places.iter().any(signed) {
                    keys.report_problem(measure, "`mcc` may be negative, and has no geometric mean");
                    return None;
                }
                match (measure, &places[..]) {
                    ("mean", [_, ..]) => ColumnMeasure::Mean(places),
                    ("geometric", [_, ..]) => ColumnMeasure::Geometric(places),
                    ("difference", [first, second]) => ColumnMeasure::Difference(*first, *second),
                    _ => {
                        if places.len() == named.len() {
                            keys.report_problem(
                                measure,
                                "`difference` names two columns, `mean` one or more",
                            );
                        }
                        return None;
                    }
                }
            }
        })
    }

    /// Percent of right answers, or with `pass_at` or `majority` a figure of all answers of a model to a row.
    fn parse_accuracy(&self, keys: &Keys<'_>) -> Option<ColumnMeasure> {
        let task = self.require_graded_task(keys, "accuracy")?;
        let samples =
            self.tasks.iter().find(|known| known.name == task).map_or(1, |task| task.samples as usize);
        let (pass_at, majority) = (keys.read_count("pass_at"), keys.read_flag("majority"));
        let score = match (pass_at, majority) {
            (Some(_), Some(_)) => {
                keys.report_problem(
                    "majority",
                    "`pass_at` and `majority` are two figures: a column has one of them",
                );
                return None;
            }
            (Some(k), _) if !(1..=samples).contains(&k) => {
                let what =
                    format!("`pass_at` is between 1 and the `samples` of the task, which are {samples}");
                keys.report_problem("pass_at", what);
                return None;
            }
            (Some(k), _) => AnswerScore::PassAt(k),
            (None, Some(true)) if samples == 1 => {
                keys.report_problem(
                    "majority",
                    "the task takes one answer of every model: `samples = 5` takes five",
                );
                return None;
            }
            (None, Some(true)) => AnswerScore::Majority,
            (None, Some(false) | None) => return Some(ColumnMeasure::Accuracy(task)),
        };
        Some(ColumnMeasure::Answers { task, score })
    }

    /// A figure of labels as classes: over all of them, or of one.
    fn parse_classes(&self, measure: &str, keys: &Keys<'_>) -> Option<ColumnMeasure> {
        let score = OF_CLASSES.iter().find(|(name, _)| *name == measure)?.1;
        let task = self.find_task(keys, measure, keys.read_text(measure)?)?;
        let AnswerParsing::Labels { codes, many, .. } = &task.wants else {
            keys.report_problem(measure, format!("`{measure}` measures tasks with `label`"));
            return None;
        };
        let average = keys.one_of("average", &[("macro", Classes::Macro), ("micro", Classes::Micro)]);
        let over = match (keys.read_text("of"), average) {
            (Some(_), Some(_)) => {
                keys.report_problem(
                    "of",
                    "`of` names one label, `average` goes over all of them: one of the two",
                );
                return None;
            }
            (Some(label), None) => match codes.iter().position(|code| *code == label) {
                Some(at) => Classes::One(at),
                None => {
                    keys.report_problem(
                        "of",
                        riddlemill_text::hint::unknown("label", label, codes.iter().copied()),
                    );
                    return None;
                }
            },
            (None, average) => average.unwrap_or(Classes::Macro),
        };
        let one = matches!(over, Classes::One(_));
        match score {
            ClassScore::FalsePositives | ClassScore::FalseNegatives if !one => {
                keys.report_problem(measure, format!("`{measure}` is of one label: `of` names it"));
                None
            }
            ClassScore::Mcc if keys.has_key("average") => {
                keys.report_problem("average", "`mcc` has no average: it is over all labels, or `of` one");
                None
            }
            ClassScore::Mcc if *many && !one => {
                keys.report_problem(
                    measure,
                    "answers with several labels have an `mcc` of one of them: `of` names it",
                );
                None
            }
            _ => Some(ColumnMeasure::Classes { task: task.name, score, over }),
        }
    }

    /// A task whose answers are correct or incorrect.
    fn require_graded_task(&self, keys: &Keys<'_>, key: &str) -> Option<&'static str> {
        self.require_task(keys, key, |task| {
            let right = task.wants.is_choice() && !matches!(task.wants, AnswerParsing::Rating { .. });
            right.then_some(()).ok_or("`choose` or `label`")
        })
    }

    /// The qualified name of the task under a key, if it has such a figure.
    fn require_task(
        &self,
        keys: &Keys<'_>,
        key: &str,
        fits: impl Fn(&Task) -> Result<(), &'static str>,
    ) -> Option<&'static str> {
        let task = self.find_task(keys, key, keys.read_text(key)?)?;
        if let Err(kind) = fits(task) {
            keys.report_problem(key, format!("`{key}` measures tasks with {kind}"));
        }
        Some(task.name)
    }

    fn find_task(&self, keys: &Keys<'_>, key: &str, name: &str) -> Option<&Task> {
        let found = self.tasks.iter().find(|task| task.title == name);
        if found.is_none() {
            let known = self.tasks.iter().map(|task| task.title);
            keys.report_problem(key, riddlemill_text::hint::unknown("task", name, known));
        }
        found
    }
}
