//! Figures of all answers to an item together (pass@k, the majority), and of the confidence that answers state.

use riddlemill_benchmarks::table::AnswerScore;
use riddlemill_benchmarks::task::AnswerParsing;

use super::classed::covered_answers;
use super::scores::ScoreBook;
use crate::answer::Answer;
use crate::figures::{Figure, Keys, Row, Table, figure_row};
use crate::item::Item;
use crate::measures::{Binned, RatioUnit, SHARE, Stated, Voted, majority_answer, pass_at};
use crate::task::{Setting, Task};

/// Whose answers to what.
#[derive(Clone, Copy)]
pub(super) struct SampleOwner {
    pub who: usize,
    pub task: Task,
    pub setting: Setting,
}

/// The figure of one author's answers to the covered items, times 100; `None` without answers, or without confidences.
pub(super) fn figure_of_author(
    book: &ScoreBook<'_>,
    whose: SampleOwner,
    score: AnswerScore,
    among: impl Fn(&Item) -> bool,
    keys: Keys,
) -> Option<Figure> {
    let of_items = |value: &dyn Fn(&Voting<'_>) -> Option<f64>| {
        let units = units_of_items(book, whose, &among, value)?;
        Some(Figure::new(book.resamples.estimate_ratio(&units, SHARE)?, 100.0, units.len(), keys.clone()))
    };
    match score {
        AnswerScore::PassAt(k) => of_items(&|item| pass_at(k, item.answers.len(), item.right)),
        AnswerScore::Majority => of_items(&|item| Some(item.majority_vote()?.right)),
        AnswerScore::Calibration => {
            let stated = stated_confidences(book, whose, &among);
            let bins = whose.task.task_declaration().confidence?.bins;
            let binned = Binned::new(&stated, bins);
            let estimate =
                book.resamples.estimate_biased(SHARE, |weights| binned.calibration_error(weights))?;
            Some(Figure::new(estimate, 100.0, stated.len(), keys))
        }
        AnswerScore::Brier => {
            mean_of_stated(book, &stated_confidences(book, whose, &among), Stated::brier_score, keys)
        }
    }
}

/// The answers of one author to one item.
struct Voting<'a> {
    /// The chosen options.
    answers: Vec<Option<&'a str>>,
    gold: Option<&'a str>,
    /// How many are right.
    right: usize,
}

impl Voting<'_> {
    fn majority_vote(&self) -> Option<Voted> {
        majority_answer(self.answers.iter().copied(), self.gold?)
    }
}

/// One value for each covered item that has one; `None` if the author did not answer this task.
fn units_of_items(
    book: &ScoreBook<'_>,
    SampleOwner { who, task, setting }: SampleOwner,
    among: impl Fn(&Item) -> bool,
    value: &dyn Fn(&Voting<'_>) -> Option<f64>,
) -> Option<Vec<RatioUnit>> {
    let column = book.answers_of_author(who, task, setting)?;
    let items = column.iter().enumerate().filter(|(at, on)| !on.is_empty() && among(&book.set.items[*at]));
    let unit = |(at, on): (usize, &Vec<&Answer>)| {
        let item = Voting {
            answers: on.iter().map(|answer| answer.chosen.as_deref()).collect(),
            gold: on.first().and_then(|answer| answer.gold.as_deref()),
            right: on.iter().filter(|answer| answer.correct == Some(true)).count(),
        };
        Some(RatioUnit { at: book.unit_of_item(at), sum: value(&item)?, count: 1.0 })
    };
    Some(items.filter_map(unit).collect())
}

/// The answers that state a confidence, and are right or wrong.
fn stated_confidences(
    book: &ScoreBook<'_>,
    SampleOwner { who, task, setting }: SampleOwner,
    among: impl Fn(&Item) -> bool,
) -> Vec<Stated> {
    let Some(column) = book.answers_of_author(who, task, setting) else { return Vec::new() };
    let one = |(at, answer): (usize, &Answer)| {
        let (confidence, right) = (answer.confidence?, answer.correct?);
        Some(Stated { at: book.unit_of_item(at), confidence, right })
    };
    covered_answers(book, column, among).filter_map(one).collect()
}

/// The mean of a value of such answers, times 100.
fn mean_of_stated(
    book: &ScoreBook<'_>,
    stated: &[Stated],
    value: impl Fn(&Stated) -> f64,
    keys: Keys,
) -> Option<Figure> {
    let unit = |one: &Stated| RatioUnit { at: one.at, sum: value(one), count: 1.0 };
    let units: Vec<RatioUnit> = stated.iter().map(unit).collect();
    Some(Figure::new(book.resamples.estimate_ratio(&units, SHARE)?, 100.0, stated.len(), keys))
}

/// Everybody who answered a task, in every setting.
fn authors_of_task(book: &ScoreBook<'_>, task: Task) -> Vec<(String, SampleOwner)> {
    let all: Vec<(usize, Setting)> = book.answered_in(task).collect();
    let is_one = all.windows(2).all(|two| two[0].1 == two[1].1);
    let named = |(who, setting): (usize, Setting)| {
        let name = &book.who[who].name;
        let name = if is_one { name.clone() } else { format!("{name}, {setting}") };
        (name, SampleOwner { who, task, setting })
    };
    all.into_iter().map(named).collect()
}

/// A table of each task that takes several answers to an item and whose answers are right or wrong.
pub fn sample_tables(book: &ScoreBook<'_>) -> Vec<Table> {
    let is_right_or_wrong = |task: &Task| {
        task.is_choice() && !matches!(task.task_declaration().wants, AnswerParsing::Rating { .. })
    };
    let tasks = Task::of_config(&book.set.config).into_iter().filter(|task| task.samples_per_item() > 1);
    tasks.filter(is_right_or_wrong).filter_map(|task| samples_of(book, task)).collect()
}

fn samples_of(book: &ScoreBook<'_>, task: Task) -> Option<Table> {
    let most = task.samples_per_item() as usize;
    let mut drawn: Vec<usize> =
        std::iter::successors(Some(2), |k| Some(k * 2)).take_while(|k| *k < most).collect();
    drawn.push(most);
    let of_one = |(name, whose): (String, SampleOwner)| {
        let SampleOwner { who, task, setting } = whose;
        let keys = || book.keys_of_answers(who, task, setting);
        let all = |_: &Item| true;
        let mut cells = vec![book.accuracy_of_author(who, task, setting, all, Keys::new())];
        cells.extend(
            drawn.iter().map(|k| figure_of_author(book, whose, AnswerScore::PassAt(*k), all, keys())),
        );
        cells.push(figure_of_author(book, whose, AnswerScore::Majority, all, keys()));
        let of_items = |value: &dyn Fn(&Voting<'_>) -> Option<f64>| units_of_items(book, whose, all, value);
        let tied = of_items(&|item| Some(f64::from(item.majority_vote()?.is_tied)));
        cells.push(tied.and_then(|tied| {
            Some(Figure::new(book.resamples.estimate_ratio(&tied, SHARE)?, 100.0, tied.len(), keys()))
        }));
        let counts = of_items(&|item| Some(item.answers.len() as f64)).unwrap_or_default();
        let fewest = counts.iter().map(|unit| unit.sum).min_by(f64::total_cmp);
        cells.push(fewest.map(|fewest| Figure::without_interval(fewest, counts.len(), keys())));
        figure_row(name, cells)
    };
    // Several answers of people are those of several persons.
    let models = authors_of_task(book, task).into_iter().filter(|(_, whose)| !book.who[whose.who].person);
    let rows: Vec<Row> = models.map(of_one).collect();
    let mut columns = vec!["Mean".to_owned()];
    columns.extend(drawn.iter().map(|k| format!("pass@{k}")));
    columns.extend(["Majority", "Tied", "Fewest answers"].map(str::to_owned));
    (!rows.is_empty()).then(|| Table {
        name: "samples".into(),
        title: format!("Samples, {task}"),
        paper: "none".into(),
        about: format!(
            "Of up to {most} answers to each item: the mean, the unbiased estimate of some of k answers being right, and the \
             answer that most of them give, in percent. A tie counts as if one of the most frequent answers was drawn. Items \
             with fewer than k answers are not in pass@k."
        ),
        ..Table::of_figures("Model", columns, rows)
    })
}

/// A table of each task that asks for a confidence.
pub fn calibration_tables(book: &ScoreBook<'_>) -> Vec<Table> {
    let tasks = Task::of_config(&book.set.config).into_iter();
    tasks.filter_map(|task| calibration_of(book, task, task.task_declaration().confidence?.bins)).collect()
}

fn calibration_of(book: &ScoreBook<'_>, task: Task, bins: usize) -> Option<Table> {
    let of_one = |(name, whose): (String, SampleOwner)| {
        let SampleOwner { who, task, setting } = whose;
        let keys = || book.keys_of_answers(who, task, setting);
        let all = |_: &Item| true;
        let stated = stated_confidences(book, whose, all);
        let is_stated = book.answers_of_author(who, task, setting).and_then(|column| {
            let (units, n) =
                book.sum_by_unit(column, all, |answer| Some(f64::from(answer.confidence.is_some())));
            Some(Figure::new(book.resamples.estimate_ratio(&units, SHARE)?, 100.0, n, keys()))
        });
        let cells = vec![
            is_stated,
            mean_of_stated(book, &stated, |one| one.confidence, keys()),
            mean_of_stated(book, &stated, |one| f64::from(one.right), keys()),
            figure_of_author(book, whose, AnswerScore::Calibration, all, keys()),
            figure_of_author(book, whose, AnswerScore::Brier, all, keys()),
        ];
        figure_row(name, cells)
    };
    let models = authors_of_task(book, task).into_iter().filter(|(_, whose)| !book.who[whose.who].person);
    let rows: Vec<Row> = models.map(of_one).collect();
    (!rows.is_empty()).then(|| Table {
        name: "calibration".into(),
        title: format!("Calibration, {task}"),
        paper: "none".into(),
        about: format!(
            "The share of answers that state a confidence, in percent; of these the mean confidence, the share that is right, \
             the expected calibration error (ECE) over {bins} bins of equal width, and Brier's score, both times 100."
        ),
        ..Table::of_figures("Model", ["Stated", "Confidence", "Right", "ECE × 100", "Brier × 100"], rows)
    })
}
