//! Which of two texts is preferred (Chumor, figure 1), and agreement on that (section 3, appendix C).

use riddlemill_benchmarks::figure::Figure as Declared;

use super::scores::ScoreBook;
use crate::answer::Answer;
use crate::figures::{Figure, Keys, Table, figure_row};
use crate::measures::SHARE;
use crate::review::agreement::{Coefficient, Units};
use crate::review::majority_answer;
use crate::task::{Setting, Task};

const VERDICTS: [&str; 3] = ["human", "llm", "equal"];

/// The verdict of more than half of those who judged an answer; `undecided` if there is none, for example if
/// all three differ. `None` if nobody judged it.
fn majority_verdict<'a>(verdicts: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let counts = count_verdicts(verdicts);
    let judged = counts.iter().any(|count| *count > 0);
    let by_verdict = VERDICTS.into_iter().zip(counts.map(|count| count as usize));
    judged.then(|| majority_answer(by_verdict).unwrap_or("undecided"))
}

fn verdicts_on_answer(answer: &Answer, person: bool) -> impl Iterator<Item = &str> {
    answer.ratings.iter().filter(move |rating| rating.person == person).map(|rating| rating.value.as_str())
}

/// Figure 1: whose explanation wins, in percent of the jokes, by people and by judges.
pub fn preference_table(book: &ScoreBook<'_>, declared: &Declared, task: Task) -> Table {
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&[task]) {
        let Some(column) = book.answers_of_author(who, task, Setting::default()) else { continue };
        for person in [true, false] {
            let share = |verdict: &str| {
                let value = |answer: &Answer| {
                    self::majority_verdict(verdicts_on_answer(answer, person))
                        .map(|found| f64::from(found == verdict))
                };
                let (units, n) = book.sum_by_unit(column, |_| true, value);
                Some(Figure::new(
                    book.resamples.estimate_ratio(&units, SHARE)?,
                    100.0,
                    n,
                    keys_of_raters(book, who, task, person),
                ))
            };
            let cells: Vec<Option<Figure>> =
                ["human", "llm", "equal", "undecided"].into_iter().map(share).collect();
            if cells.iter().any(Option::is_some) {
                let by = if person { "people" } else { "judges" };
                rows.push(figure_row(format!("{}, by {by}", book.who[who].name), cells));
            }
        }
    }
    Table::of_figures("Model", ["Person wins", "Model wins", "Equal", "Undecided"], rows)
        .with_heading(declared)
}

fn keys_of_raters(book: &ScoreBook<'_>, who: usize, task: Task, person: bool) -> Keys {
    let mut keys = book.keys_of_answers(who, task, Setting::default());
    keys.insert("rated_by", if person { "people" } else { "judges" }.into());
    keys
}

/// Agreement on the preferences: percent of agreeing pairs (appendix C) and Fleiss' kappa; between people,
/// between judges, and between the judges' majority and people's.
pub fn agreement_table(book: &ScoreBook<'_>, declared: &Declared, task: Task) -> Table {
    let mut rows = Vec::new();
    for who in book.authors_of_tasks(&[task]) {
        let Some(column) = book.answers_of_author(who, task, Setting::default()) else { continue };
        let answers: Vec<(usize, &Answer)> = column
            .iter()
            .enumerate()
            .flat_map(|(at, of)| of.iter().map(move |a| (book.unit_of_item(at), *a)))
            .collect();
        let name = &book.who[who].name;
        for person in [true, false] {
            let rated: Vec<(usize, [u32; 3])> = answers
                .iter()
                .map(|(at, answer)| (*at, count_verdicts(verdicts_on_answer(answer, person))))
                .collect();
            let cells = agreement_cells(book, &rated, keys_of_raters(book, who, task, person));
            if cells.iter().any(Option::is_some) {
                rows.push(figure_row(format!("{name}: {}", if person { "people" } else { "judges" }), cells));
            }
        }
        let both: Vec<(usize, [u32; 3])> = answers
            .iter()
            .filter_map(|(at, answer)| {
                let sides = [true, false].map(|person| majority_verdict(verdicts_on_answer(answer, person)));
                let [Some(people), Some(judges)] = sides else { return None };
                Some((*at, count_verdicts([people, judges].into_iter())))
            })
            .filter(|(_, counts)| counts.iter().sum::<u32>() == 2)
            .collect();
        let cells = agreement_cells(book, &both, book.keys_of_answers(who, task, Setting::default()));
        if cells.iter().any(Option::is_some) {
            rows.push(figure_row(format!("{name}: judges with people"), cells));
        }
    }
    Table::of_figures("Model and who judges", ["Agreement %", "Fleiss' kappa"], rows).with_heading(declared)
}

fn count_verdicts<'a>(verdicts: impl Iterator<Item = &'a str>) -> [u32; 3] {
    let mut counts = [0; 3];
    for verdict in verdicts {
        if let Some(at) = VERDICTS.iter().position(|known| *known == verdict) {
            counts[at] += 1;
        }
    }
    counts
}

fn agreement_cells(book: &ScoreBook<'_>, rated: &[(usize, [u32; 3])], keys: Keys) -> Vec<Option<Figure>> {
    let twice: Vec<&(usize, [u32; 3])> = rated.iter().filter(|(_, of)| of.iter().sum::<u32>() >= 2).collect();
    let n = twice.len();
    let units = |times: &dyn Fn(usize) -> u16| {
        let mut units = Units::of_categories(VERDICTS.len());
        for (at, counts) in &twice {
            (0..times(*at)).for_each(|_| units.push_counts(counts));
        }
        units
    };
    let once = units(&|_| 1);
    let of = |which: Coefficient| {
        let drawn =
            book.resamples.resample_statistic(|weights| which.compute_value(&units(&|at| weights[at])));
        Some(book.resamples.settings().of_coefficient(which, &once, which.compute_value(&once)?, drawn))
    };
    let (share, kappa) = (of(Coefficient::Percent), of(Coefficient::Fleiss));
    vec![
        share.map(|estimate| Figure::new(estimate, 100.0, n, keys.clone())),
        kappa.map(|estimate| Figure::new(estimate, 1.0, n, keys)),
    ]
}
