//! Whether two words take each other's place.

use rustc_hash::FxHashMap;

use super::PreparedText;
use super::numbers::with_numbers;
use super::prepared::weight;
use crate::text::language::Language;

/// From this weight on a character says who or what. Particles and auxiliaries are under it, and words of the least weight.
const WEIGHTY: u32 = 30;

/// At most so many characters between the two: a longer stretch is a clause of its own.
const BETWEEN: usize = 10;

/// Veto: the same words in exchanged places.
///
/// What: two weighty characters (of English: words) stand in one order in one text and in the other order in the other, and
/// what is between them is mostly the same: `人咬狗` and `狗咬人`. The pair is one step less similar.
///
/// Why: a retelling moves clauses, and then other words are between the two than before; who does what to whom is another joke
/// when two words take each other's place.
///
/// Words of frequent characters count where the two texts begin to differ, or end to: `中国` and `美国` in `中国打败美国` and
/// `美国打败中国`. Numbers and words in Latin letters are one character each.
///
/// Known problems: a joke that is told again with its two examples in the other order; and words that a text has in both orders.
///
/// Example: `我能把爸爸的儿子当儿子养吗` and `我能把儿子的爸爸当爸爸养吗`.
pub(super) fn differ_in_order(a: &PreparedText, b: &PreparedText) -> bool {
    // Chinese has no blanks between words: those around two characters are looked for. Of English each word is one character here.
    let by_words = a.language() == Language::Zh;
    let (a, b) = (with_numbers(&a.chars), with_numbers(&b.chars));
    if !by_words {
        return are_in_other_order(&a, &b, by_words);
    }
    let (a, b) = (with_words(&a), with_words(&b));
    let backwards = |text: &[char]| text.iter().rev().copied().collect::<Vec<_>>();
    are_in_other_order(&a, &b, by_words)
        || are_blocks_exchanged(&a, &b)
        || are_blocks_exchanged(&backwards(&a), &backwards(&b))
}

/// Whether two weighty symbols are exchanged between two texts, of characters or of words.
pub(super) fn are_in_other_order(a: &[char], b: &[char], by_words: bool) -> bool {
    may_be_exchanged(a, b) && (are_exchanged(a, b, by_words) || are_exchanged(b, a, by_words))
}

/// The characters with each word in Latin letters as one, which no script uses and which weighs much.
fn with_words(chars: &[char]) -> Vec<char> {
    let mut with = Vec::with_capacity(chars.len());
    let is_latin = |c: char| c.is_ascii_alphabetic();
    for run in chars.chunk_by(|x, y| is_latin(*x) && is_latin(*y)) {
        if is_latin(run[0]) {
            let hash = run.iter().fold(5_381_u32, |hash, c| hash.wrapping_mul(33) ^ u32::from(*c));
            with.push(char::from_u32(0x10_0000 + hash % 0xfffd).unwrap_or('a'));
        } else {
            with.extend(run);
        }
    }
    with
}

/// Whether, where two texts begin to differ, a word of each stands in the other's place, with the like between and behind.
fn are_blocks_exchanged(a: &[char], b: &[char]) -> bool {
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[common..], &b[common..]);
    let ending = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    if ending == a.len().min(b.len()) {
        // One has a word more, and no more.
        return false;
    }
    let weighs = |word: &[char]| word.iter().map(|c| weight(*c)).sum::<u32>() >= WEIGHTY;
    let words = |text: &'_ [char]| -> Vec<usize> {
        (1..=WORD.min(text.len())).filter(|length| weighs(&text[..*length])).collect()
    };
    // Where a word begins behind the first one, with something between.
    let places = |text: &[char], first: usize, word: &[char]| -> Vec<usize> {
        let end = (first + BETWEEN).min(text.len().saturating_sub(word.len()));
        (first + 1..=end).filter(|at| text[*at..].starts_with(word)).collect()
    };
    // A word that begins or ends another one takes no place of its own: one of the texts has a particle more.
    let is_part =
        |x: &[char], y: &[char]| x.starts_with(y) || x.ends_with(y) || y.starts_with(x) || y.ends_with(x);
    words(a).into_iter().any(|x| {
        words(b).into_iter().filter(|y| !is_part(&a[..x], &b[..*y])).any(|y| {
            let in_a = places(a, x, &b[..y]);
            if in_a.is_empty() {
                return false;
            }
            let in_b = places(b, y, &a[..x]);
            in_a.iter().any(|&p| {
                in_b.iter().any(|&q| {
                    are_alike(&a[x..p], &b[y..q])
                        && are_alike(&a[p + y..], &b[q + x..])
                        && !is_told_twice(&a[..p + y], &b[..q + x])
                })
            })
        })
    })
}

/// Whether more was added to one of two stretches than the exchange of two words.
fn is_told_twice(a: &[char], b: &[char]) -> bool {
    2 * a.len().abs_diff(b.len()) > a.len().min(b.len())
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
type CharPlaces = FxHashMap<char, Vec<usize>>;

/// Whether two characters of `a` are in the other order in `b`, with the like between them, and not in this order, too.
fn are_exchanged(a: &[char], b: &[char], by_words: bool) -> bool {
    let weighty = |c: char| weight(c) >= WEIGHTY;
    // By character, so that a long text is not read again for each of the other.
    let mut places: CharPlaces = FxHashMap::default();
    b.iter().enumerate().for_each(|(at, c)| places.entry(*c).or_default().push(at));
    let stretches = |first, second| stretches_between(b, &places, first, second);
    a.iter().enumerate().filter(|(_, x)| weighty(**x) && places.contains_key(*x)).any(|(i, &x)| {
        let end = a.len().min(i + 2 + BETWEEN);
        (i + 2..end).any(|j| {
            let (y, between) = (a[j], &a[i + 1..j]);
            y != x
                && weighty(y)
                && (stretches(y, x).any(|other| are_alike(between, other))
                    || by_words && are_words_exchanged((a, i, j), b, &places))
                && !stretches(x, y).any(|same| are_alike(between, same))
                && !is_one_word(a, b, x, y)
        })
    })
}

/// At most so many characters of a word that takes another's place.
const WORD: usize = 6;

/// Whether the words around two characters of `a`, as far as `b` has them, too, take each other's place in `b`: of `教练骂球员` and
/// `球员骂教练` no two characters have the same between them, but the words have.
fn are_words_exchanged((a, i, j): (&[char], usize, usize), b: &[char], places: &CharPlaces) -> bool {
    let at = |c: char| places.get(&c).map(Vec::as_slice).unwrap_or_default();
    let near = |first: usize, second: usize| first < second && second - first <= BETWEEN + 2 * WORD;
    // A copy in which a word occurs twice has them in this order, too.
    if at(a[i]).iter().any(|first| at(a[j]).iter().any(|second| near(*first, *second))) {
        return false;
    }
    at(a[i]).iter().any(|&q| {
        let first = word_around(a, i, b, q);
        at(a[j]).iter().filter(|p| near(**p, q)).any(|&p| {
            let second = word_around(a, j, b, p);
            let (left, right) = ((first.0, second.0), (first.1, second.1));
            // The ends of the first word and the beginnings of the second, in both texts.
            let (Some(in_a), Some(in_b)) = (
                a.get(i + right.0 + 1..j.saturating_sub(left.1)),
                b.get(p + right.1 + 1..q.saturating_sub(left.0)),
            ) else {
                return false;
            };
            let lengths = [left.0 + right.0 + 1, left.1 + right.1 + 1];
            lengths.iter().all(|length| *length <= WORD)
                && lengths.iter().any(|length| *length > 1)
                && !in_a.is_empty()
                && !in_b.is_empty()
                && are_alike(in_a, in_b)
        })
    })
}

/// How many characters before and behind a place of `a` are those before and behind a place of `b`, a little beyond a word at most.
fn word_around(a: &[char], i: usize, b: &[char], q: usize) -> (usize, usize) {
    let alike = |(x, y): &(&char, &char)| x == y;
    let before = a[..i].iter().rev().zip(b[..q].iter().rev()).take(WORD).take_while(alike).count();
    let behind = a[i + 1..].iter().zip(&b[q + 1..]).take(WORD).take_while(alike).count();
    (before, behind)
}

/// Whether two characters are neighbours in both texts: parts of one word, which may stand there twice.
fn is_one_word(a: &[char], b: &[char], x: char, y: char) -> bool {
    let holds = |text: &[char], pair: [char; 2]| text.windows(2).any(|neighbours| *neighbours == pair);
    [[x, y], [y, x]].into_iter().any(|pair| holds(a, pair) && holds(b, pair))
}

/// What is between the first character and the second, wherever they are in this order and not too far from each other.
fn stretches_between<'t>(
    text: &'t [char],
    places: &CharPlaces,
    first: char,
    second: char,
) -> impl Iterator<Item = &'t [char]> {
    places.get(&first).into_iter().flatten().flat_map(move |&at| {
        let end = text.len().min(at + 2 + BETWEEN);
        (at + 2..end).filter(move |to| text[*to] == second).map(move |to| &text[at + 1..to])
    })
}

/// Whether the shorter of two stretches is mostly in the longer, in order.
fn are_alike(x: &[char], y: &[char]) -> bool {
    let common = rapidfuzz::distance::lcs_seq::similarity(x.iter().copied(), y.iter().copied());
    10 * common >= 7 * x.len().min(y.len()) && 10 * common >= 4 * x.len().max(y.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::sameness::{Verdict, Veto, compare};

    proptest! {
        #[test]
        fn the_quick_look_overlooks_nothing(a in "[鱼猫狗鸡鸭的了]{0,14}", b in "[鱼猫狗鸡鸭的了]{0,14}") {
            let [a, b]: [Vec<char>; 2] = [a, b].map(|text| text.chars().collect());
            prop_assert!(may_be_exchanged(&a, &b) || !(are_exchanged(&a, &b, true) || are_exchanged(&b, &a, true)), "{a:?} {b:?}");
        }
    }

    proptest! {
        #[test]
        fn a_word_more_is_no_exchange(a in "[鱼猫怕热还是化的]{0,8}", more in "[鱼猫怕热还是化的]{1,2}", b in "[鱼猫怕热还是化的]{0,8}") {
            let [less, more]: [Vec<char>; 2] =
                [format!("{a}{b}"), format!("{a}{more}{b}")].map(|text| text.chars().collect());
            prop_assert!(!are_blocks_exchanged(&less, &more) && !are_blocks_exchanged(&more, &less), "{less:?} {more:?}");
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
        for (a, b) in [
            ("为什么教练骂球员是训练？", "为什么球员骂教练是训练？"),
            ("北京到上海要坐多久火车才能迟到？", "上海到北京要坐多久火车才能迟到？"),
            ("为什么Windows比Linux好用？", "为什么Linux比Windows好用？"),
            ("为什么A比B更适合当班长呢？", "为什么B比A更适合当班长呢？"),
            ("为什么中国打败美国是新闻？", "为什么美国打败中国是新闻？"),
            ("为什么中国打败了美国才是新闻？", "为什么美国打败中国就是新闻？"),
            ("我家儿子比父亲大三岁怎么办？", "我家父亲比儿子大三岁怎么办？"),
            ("这么说今天就是明天的昨天吗？", "那么说明天就是今天的昨天吗？"),
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
            ("我一直不明白鱼为什么不会被水淹死", "鱼为什么不会被水淹死我一直都不明白"),
            ("我的iPhone为什么不会游泳", "为什么我的iPhone不会游泳啊"),
            ("冰块怕热还是怕化？", "冰块是怕热还是怕化？"),
            ("冰块怕热还是怕化？", "冰块是怕热还是怕化呢？"),
        ] {
            assert_eq!(compare(a, b).verdict, Verdict::Same, "{a} {b}");
        }
    }
}
