//! Veto: the same words in exchanged places.
//!
//! What: two weighty characters (of English: words) stand in one order in one text and in the other order in the other, and
//! what is between them is mostly the same: `人咬狗` and `狗咬人`. The pair is one step less similar.
//!
//! Why: a retelling moves clauses, and then other words are between the two than before; who does what to whom is another joke
//! when two words take each other's place.
//!
//! Known problems: a joke that is told again with its two examples in the other order.
//!
//! Example: `我能把爸爸的儿子当儿子养吗` and `我能把儿子的爸爸当爸爸养吗`.

use rustc_hash::FxHashMap;

use super::Prepared;
use super::numbers::with_numbers;
use super::weight::weight;

/// From this weight on a character says who or what. Particles and auxiliaries are under it, and words of the least weight.
const WEIGHTY: u32 = 30;

/// At most so many characters between the two: a longer stretch is a clause of its own.
const BETWEEN: usize = 10;

pub(super) fn vetoes(a: &Prepared, b: &Prepared) -> bool {
    let (a, b) = (with_numbers(&a.chars), with_numbers(&b.chars));
    may_be_exchanged(&a, &b) && (exchanged(&a, &b) || exchanged(&b, &a))
}

/// Whether any two weighty characters stand in another order in `b` than in `a`, however far from each other. Most pairs are
/// copies with an edit, and have none: the places of all characters are looked up only where there are some.
fn may_be_exchanged(a: &[char], b: &[char]) -> bool {
    let mut ends: FxHashMap<char, (usize, usize)> = FxHashMap::default();
    for (at, c) in b.iter().enumerate().filter(|(_, c)| weight(**c) >= WEIGHTY) {
        ends.entry(*c).and_modify(|(_, last)| *last = at).or_insert((at, at));
    }
    // The two characters before that reach furthest in `b`: one of them may be the character itself.
    let mut furthest: [Option<(usize, char)>; 2] = [None, None];
    for &c in a {
        let Some(&(first, last)) = ends.get(&c) else { continue };
        if furthest.iter().flatten().any(|&(reached, other)| other != c && reached > first) {
            return true;
        }
        match furthest {
            [Some((_, other)), _] if other == c => {}
            [Some((reached, _)), _] if reached >= last => {
                if furthest[1].is_none_or(|(reached, _)| reached < last) {
                    furthest[1] = Some((last, c));
                }
            }
            _ => furthest = [Some((last, c)), furthest[0]],
        }
    }
    false
}

/// Where each character of a text is.
type Places = FxHashMap<char, Vec<usize>>;

/// Whether two characters of `a` are in the other order in `b`, with the like between them, and not in this order, too.
fn exchanged(a: &[char], b: &[char]) -> bool {
    let weighty = |c: char| weight(c) >= WEIGHTY;
    // By character, so that a long text is not read again for each of the other.
    let mut places: Places = FxHashMap::default();
    b.iter().enumerate().for_each(|(at, c)| places.entry(*c).or_default().push(at));
    let stretches = |first, second| stretches(b, &places, first, second);
    a.iter().enumerate().filter(|(_, x)| weighty(**x) && places.contains_key(*x)).any(|(i, &x)| {
        let end = a.len().min(i + 2 + BETWEEN);
        (i + 2..end).any(|j| {
            let (y, between) = (a[j], &a[i + 1..j]);
            y != x
                && weighty(y)
                && stretches(y, x).any(|other| alike(between, other))
                && !stretches(x, y).any(|same| alike(between, same))
                && !is_one_word(a, b, x, y)
        })
    })
}

/// Whether two characters are neighbours in both texts: parts of one word, which may stand there twice.
fn is_one_word(a: &[char], b: &[char], x: char, y: char) -> bool {
    let holds = |text: &[char], pair: [char; 2]| text.windows(2).any(|neighbours| *neighbours == pair);
    [[x, y], [y, x]].into_iter().any(|pair| holds(a, pair) && holds(b, pair))
}

/// What is between the first character and the second, wherever they are in this order and not too far from each other.
fn stretches<'t>(
    text: &'t [char],
    places: &Places,
    first: char,
    second: char,
) -> impl Iterator<Item = &'t [char]> {
    places.get(&first).into_iter().flatten().flat_map(move |&at| {
        let end = text.len().min(at + 2 + BETWEEN);
        (at + 2..end).filter(move |to| text[*to] == second).map(move |to| &text[at + 1..to])
    })
}

/// Whether the shorter of two stretches is mostly in the longer, in order.
fn alike(x: &[char], y: &[char]) -> bool {
    let common = rapidfuzz::distance::lcs_seq::similarity(x.iter().copied(), y.iter().copied());
    10 * common >= 7 * x.len().min(y.len()) && 10 * common >= 4 * x.len().max(y.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{exchanged, may_be_exchanged};
    use crate::text::sameness::{Verdict, Veto, compare};

    proptest! {
        #[test]
        fn the_quick_look_overlooks_nothing(a in "[鱼猫狗鸡鸭的了]{0,14}", b in "[鱼猫狗鸡鸭的了]{0,14}") {
            let [a, b]: [Vec<char>; 2] = [a, b].map(|text| text.chars().collect());
            prop_assert!(may_be_exchanged(&a, &b) || !(exchanged(&a, &b) || exchanged(&b, &a)), "{a:?} {b:?}");
        }
    }

    #[test]
    fn exchanged_words_are_borderline() {
        for (a, b) in [
            ("我能把爸爸的儿子当儿子养吗？", "我能把儿子的爸爸当爸爸养吗？"),
            ("医生的手会不会给自己看病？", "病会不会给医生的手看自己？"),
            ("为什么人咬狗才是新闻？", "为什么狗咬人不算新闻？"),
            ("为什么十三和三差了一条街？", "为什么三和十三差了一个十？"),
            ("为什么北京的烤鸭飞不到南京？", "为什么南京的盐水鸭飞不到北京？"),
        ] {
            let pair = compare(a, b);
            assert_ne!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
        }
        let pair = compare("我能把爸爸的儿子当儿子养吗？", "我能把儿子的爸爸当爸爸养吗？");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Order)));
    }

    #[test]
    fn moved_clauses_are_the_same() {
        for (a, b) in [
            ("鳄鱼被做成了皮包，于是鳄鱼愤怒地咬了皮包", "鳄鱼愤怒地咬了皮包，因为自己被做成了皮包"),
            ("鱼在水里游了一辈子，为什么从来不洗澡？", "为什么鱼从不洗澡，明明一辈子都在水里游"),
            (
                "这么累为什么不把楼梯设计成向下的，我天天爬楼梯",
                "天天爬楼那么累，为什么不把楼梯都设计成向下的？",
            ),
        ] {
            assert_eq!(compare(a, b).verdict, Verdict::Same, "{a} {b}");
        }
    }
}
