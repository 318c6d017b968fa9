//! Several answers to one item: pass@k, and the majority of the answers.

use std::collections::BTreeMap;

/// The probability that some of `k` answers are right, drawn from `n` of which `right` are: the unbiased estimator of pass@k,
/// 1 - C(n - right, k) / C(n, k) (Chen et al. 2021). `None` of fewer answers than `k`, and of none.
pub fn pass_at(k: usize, n: usize, right: usize) -> Option<f64> {
    if k == 0 || n < k || n < right {
        return None;
    }
    if n - right < k {
        return Some(1.0);
    }
    // As a product, because binomial coefficients of many answers are no floating numbers.
    let none: f64 = (n - right + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product();
    Some(1.0 - none)
}

/// What several answers to one item decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voted {
    /// 1 if the most frequent answer is right, else 0; of a tie the share of the most frequent ones, as if one was drawn.
    pub right: f64,
    /// Whether several answers are the most frequent.
    pub is_tied: bool,
}

/// The majority of answers, of which those that cannot be parsed (`None`) do not count; `None` without answers.
pub fn majority_answer<'a>(answers: impl IntoIterator<Item = Option<&'a str>>, gold: &str) -> Option<Voted> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut any = false;
    for answer in answers {
        any = true;
        answer.into_iter().for_each(|answer| *counts.entry(answer).or_default() += 1);
    }
    let most = counts.values().copied().max().unwrap_or(0);
    let first: Vec<&str> = counts.iter().filter(|(_, n)| **n == most).map(|(answer, _)| *answer).collect();
    let right = if first.contains(&gold) { 1.0 / first.len() as f64 } else { 0.0 };
    any.then_some(Voted { right, is_tied: first.len() > 1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All choices of `k` of the answers, and whether some of them are right.
    fn brute(answers: &[bool], k: usize) -> f64 {
        let (mut all, mut some) = (0u32, 0u32);
        for chosen in 0u32..1 << answers.len() {
            if chosen.count_ones() as usize == k {
                all += 1;
                let any = answers.iter().enumerate().any(|(at, right)| *right && chosen >> at & 1 == 1);
                some += u32::from(any);
            }
        }
        f64::from(some) / f64::from(all)
    }

    #[test]
    fn pass_at_k_is_one_only_where_every_choice_has_a_right_answer() {
        assert!((pass_at(1, 5, 2).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!((pass_at(5, 5, 1), pass_at(5, 5, 0), pass_at(4, 5, 2)), (Some(1.0), Some(0.0), Some(1.0)));
        assert_eq!((pass_at(6, 5, 5), pass_at(0, 5, 5)), (None, None));
        // 1 - C(990, 500) / C(1000, 500), by whole numbers of 300 digits in Python.
        let many = pass_at(500, 1000, 10).unwrap();
        assert!((many - 0.999_066_812_197_815_5).abs() < 1e-9, "{many}");
    }

    #[test]
    fn a_majority_counts_what_is_read_and_a_tie_is_a_draw() {
        let of = |answers: &[Option<&str>]| {
            majority_answer(answers.iter().copied(), "A").map(|v| (v.right, v.is_tied))
        };
        assert_eq!(of(&[Some("A"), Some("B"), Some("A")]), Some((1.0, false)));
        assert_eq!(of(&[Some("A"), Some("B"), None]), Some((0.5, true)));
        assert_eq!(of(&[Some("C"), Some("B"), None]), Some((0.0, true)));
        assert_eq!((of(&[None, None]), of(&[])), (Some((0.0, false)), None));
    }

    proptest! {
        #[test]
        fn pass_at_k_is_that_of_all_choices(answers in prop::collection::vec(any::<bool>(), 1..11), k in 1usize..11) {
            let right = answers.iter().filter(|right| **right).count();
            match pass_at(k, answers.len(), right) {
                None => prop_assert!(k > answers.len()),
                Some(figure) => prop_assert!((figure - brute(&answers, k)).abs() < 1e-12, "{figure}"),
            }
        }

        /// pass@1 is the share of right answers, and more answers never pass less often.
        #[test]
        fn more_answers_pass_more_often(n in 1usize..200, right in 0usize..200) {
            let right = right.min(n);
            let first = pass_at(1, n, right).unwrap();
            prop_assert!((first - right as f64 / n as f64).abs() < 1e-9);
            let all: Vec<f64> = (1..=n).map(|k| pass_at(k, n, right).unwrap()).collect();
            prop_assert!(all.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "{all:?}");
        }
    }
}
