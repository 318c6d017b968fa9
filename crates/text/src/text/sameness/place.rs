//! Veto: little is shared apart from the names of the forum.
//!
//! What: without the forum's own names (`place` in `forum.txt`) the overlap of the two is under 0.60. The
//! pair is one step less similar. Why: the characters of a forum's name are rare in Chinese at large but
//! occur in every other comment of the forum, where sharing them means nothing.
//!
//! Known problems: the names are those of one forum.
//!
//! Example: `我不是弱智，为什么关注了弱智吧` and `不是弱智进不了弱智吧`.

use super::prepared::Bag;
use super::{Prepared, Ratio, reworded};
use crate::text::segment::place_names;

pub(super) fn vetoes(a: &Prepared, b: &Prepared) -> bool {
    let (rest_a, rest_b) = (without_names(&a.chars), without_names(&b.chars));
    if rest_a.len() == a.chars.len() && rest_b.len() == b.chars.len() {
        return false;
    }
    let (a, b) = (Bag::of_chars(&rest_a), Bag::of_chars(&rest_b));
    reworded::overlap(a.shared(&b), (a.total.min(b.total), a.total.max(b.total))) < Ratio::new(60, 100)
}

fn without_names(chars: &[char]) -> Vec<char> {
    let mut rest = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match place_names().iter().find(|name| chars[at..].starts_with(name)) {
            Some(name) => at += name.len(),
            None => {
                rest.push(c);
                at += 1;
            }
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sameness::{Verdict, compare};

    #[test]
    fn the_name_of_the_forum_says_nothing() {
        let pair = compare("我不是弱智，为什么关注了弱智吧", "不是弱智进不了弱智吧");
        assert_ne!(pair.verdict, Verdict::Same, "{pair:?}");
        let named = compare(
            "弱智吧的鱼在水里游了一辈子，为什么从来不洗澡？",
            "为什么弱智吧的鱼从不洗澡，明明一辈子都在水里游",
        );
        assert_eq!(named.verdict, Verdict::Same, "{named:?}");
    }

    #[test]
    fn names_are_taken_whole() {
        let rest: String = without_names(&"我爱弱智吧和弱智".chars().collect::<Vec<_>>()).iter().collect();
        assert_eq!(rest, "我爱和");
    }
}
