//! Answers in free text, rated by people and judges (BrainTeaser, appendix A.5).

use riddlemill_benchmarks::figure::Figure as Declared;

use super::scores::ScoreBook;
use crate::answer::{Answer, NoAnswer};
use crate::figures::{Figure, Table, figure_row};
use crate::measures::SHARE;
use crate::task::{Setting, Task};

/// Appendix A.5: context reconstructions answered in free text. Giving no answer scores 0.
pub fn free_answers_table(book: &ScoreBook<'_>, declared: &Declared, task: Task) -> Table {
    let setting = Setting::default();
    // A mean is within the judges' scale.
    let scale = task.scale_of_judges().map_or(SHARE, |scale| scale.map(f64::from));
    let cells = |who: usize| {
        let Some(column) = book.answers_of_author(who, task, setting) else { return vec![None; 3] };
        let keys = book.keys_of_answers(who, task, setting);
        let is_cut = |answer: &Answer| answer.no_answer == Some(NoAnswer::Cut);
        let gave_up = |answer: &Answer| answer.format_error.is_some() && !is_cut(answer);
        let mean = |person: bool| {
            // If nobody of a kind has scored anything, giving no answer does not count as scored by them.
            let of_kind = |answer: &&Answer| answer.ratings.iter().any(|rating| rating.person == person);
            column.iter().flatten().any(of_kind).then_some(())?;
            let score =
                |answer: &Answer| if gave_up(answer) { Some(0.0) } else { answer.mean_rating(person) };
            let (units, n) = book.sum_by_unit(column, |_| true, score);
            Some(Figure::new(book.resamples.estimate_ratio(&units, scale)?, 1.0, n, keys.clone()))
        };
        let (units, n) = book.sum_by_unit(
            column,
            |_| true,
            |answer| (!is_cut(answer)).then(|| f64::from(gave_up(answer))),
        );
        let up = book
            .resamples
            .estimate_ratio(&units, SHARE)
            .map(|share| Figure::new(share, 100.0, n, keys.clone()));
        vec![mean(true), mean(false), up]
    };
    let answered = book.authors_of_tasks(&[task]).into_iter();
    let rows = answered.map(|who| figure_row(&book.who[who].name, cells(who))).collect();
    Table::of_figures("Model", ["Experts", "Judges", "Given up"], rows).with_heading(declared)
}
