//! The keeper policy: which of two records stays.

use std::cmp::Reverse;

use rayon::prelude::*;

/// What the policies look at, of one record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Characters of the text.
    pub chars: u32,
    /// The voters' or annotators' score.
    pub score: Option<f64>,
    /// Seconds since 1970.
    pub time: Option<i64>,
}

/// Where each record stands in the policy `keep`: 0 is kept before all others. Ties go by id.
pub(super) fn ranks<I: Ord>(standings: &[Standing], keep: &str, id: impl Fn(u32) -> I + Sync) -> Vec<u32> {
    let mut order: Vec<u32> = (0..standings.len() as u32).collect();
    let of = |row: &u32| standings[*row as usize];
    let long = |row: &u32| (Reverse(of(row).chars), id(*row));
    match keep {
        "best-scored" => order.par_sort_by(|x, y| {
            let score = |row: &u32| of(row).score.unwrap_or(f64::NEG_INFINITY);
            score(y).total_cmp(&score(x)).then_with(|| long(x).cmp(&long(y)))
        }),
        "earliest" => order.par_sort_by(|x, y| {
            let early = |row: &u32| (of(row).time.is_none(), of(row).time, id(*row));
            early(x).cmp(&early(y))
        }),
        _ => order.par_sort_by(|x, y| long(x).cmp(&long(y))),
    }
    let mut ranks = vec![0; standings.len()];
    for (rank, row) in (0..).zip(order) {
        ranks[row as usize] = rank;
    }
    ranks
}

/// Seconds since 1970 of the two forms that dumps have: a Unix time, or `2018-12-24 00:02` at UTC+8.
pub(super) fn seconds(time: &str) -> Option<i64> {
    if let Ok(unix) = time.parse() {
        return Some(unix);
    }
    let mut numbers = time.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse::<i64>().ok());
    let mut next = || numbers.next().flatten();
    let (year, month, day) = (next()?, next()?, next()?);
    let (hour, minute, second) = (next().unwrap_or(0), next().unwrap_or(0), next().unwrap_or(0));
    // Days from the civil calendar, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day
        - 1
        - 719_468;
    Some(((days * 24 + hour - 8) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_forms_compare() {
        assert_eq!(seconds("1545580920"), Some(1_545_580_920));
        assert_eq!(seconds("2018-12-24 00:02"), Some(1_545_580_920));
        assert_eq!(seconds("昨天"), None);
    }

    #[test]
    fn each_policy_has_its_order() {
        let standing = |chars, score, time| Standing { chars, score, time };
        let all = [standing(3, None, Some(5)), standing(4, None, None), standing(3, Some(0.1), Some(4))];
        assert_eq!(ranks(&all, "longest", |row| row), [1, 0, 2]);
        assert_eq!(ranks(&all, "best-scored", |row| row), [2, 1, 0]);
        assert_eq!(ranks(&all, "earliest", |row| row), [1, 2, 0]);
    }
}
