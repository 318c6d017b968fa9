//! The difference of two columns of a table.

use std::collections::BTreeSet;

use riddlemill_benchmarks::table::{ColumnMeasure, TableColumn};

use super::super::compare::figures_by_item;
use super::{Measured, task_of, tasks_of_measure};
use crate::answer::Answer;
use crate::figures::Figure;
use crate::item::Item;
use crate::measures::paired_difference;

impl Measured<'_, '_> {
    /// The figure of one column less that of another one: of two tasks over the items that have both, so that it is no difference
    /// between items; of parts of the set over each of them.
    pub(super) fn difference_of_columns(&self, places: [usize; 2], figures: [&Figure; 2]) -> Option<Figure> {
        let columns = places.map(|place| &self.columns[place]);
        let Some(both) = self.paired_items(columns) else {
            return Some(self.subtract_figures(columns, figures));
        };
        let over = Measured { only: Some(&both), ..*self };
        let [one, other] = columns.map(|column| over.measure_cell(column, None, &[]));
        Some(over.subtract_figures(columns, [&one?, &other?]))
    }

    /// The items on which two columns of different tasks both have a figure; `None` where columns are of the same task, or of other
    /// parts of the set, so that they have other items by what they are.
    fn paired_items(&self, columns: [&TableColumn; 2]) -> Option<BTreeSet<&str>> {
        let [one, other] = columns.map(|column| tasks_of_measure(&column.measure));
        let items = &self.book.set.items;
        let ([one], [other]) = (&one[..], &other[..]) else { return None };
        let is_in_one =
            |item: &Item| self.is_item_covered(columns[0], item) != self.is_item_covered(columns[1], item);
        if one == other || columns.iter().any(|column| column.each.is_some()) || items.iter().any(is_in_one) {
            return None;
        }
        let of_task = |task| figures_by_item(self.book, self.who, task, self.setting);
        let (one, other) = (of_task(*one)?, of_task(*other)?);
        Some(one.keys().filter(|at| other.contains_key(at)).map(|at| items[*at].id.as_str()).collect())
    }

    fn subtract_figures(&self, columns: [&TableColumn; 2], [a, b]: [&Figure; 2]) -> Figure {
        let keys = a.from.iter().filter(|(key, value)| b.from.get(*key) == Some(value));
        let keys = keys.map(|(key, value)| (*key, value.clone())).collect();
        let ends = self.shares_interval(columns).or_else(|| self.difference_interval(columns));
        Figure { value: a.value - b.value, ends, n: a.n.min(b.n), from: keys, unit: None }
    }

    /// The interval of the difference of two shares on the same resamples; `None` for other figures.
    fn shares_interval(&self, columns: [&TableColumn; 2]) -> Option<[f64; 2]> {
        let units = columns.map(|column| {
            let ColumnMeasure::Accuracy(name) = column.measure else { return None };
            let answers = self.book.answers_of_author(self.who, task_of(name)?, self.setting)?;
            let right = |answer: &Answer| answer.correct.map(f64::from);
            Some(self.book.sum_by_unit(answers, |item| self.is_item_covered(column, item), right).0)
        });
        let [Some(first), Some(second)] = units else { return None };
        let found = paired_difference(&self.book.resamples, &first, &second, 1.0)?.difference;
        Some([100.0 * found.low, 100.0 * found.high])
    }

    /// The interval of the difference of two other figures on the same resamples; `None` if one of them has none.
    fn difference_interval(&self, columns: [&TableColumn; 2]) -> Option<[f64; 2]> {
        let [one, other] = columns.map(|column| self.derivable_figure(column));
        let (one, other) = (one?, other?);
        let most = one.most.max(other.most);
        let of = |weights: &[u16]| Some((one.of)(weights)? - (other.of)(weights)?);
        let units = one.units.min(other.units);
        let found = self.book.resamples.estimate_statistic(units, [-most, most], of)?;
        Some([found.low, found.high])
    }
}
