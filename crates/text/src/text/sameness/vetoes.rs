//! What demotes a pair.

use rustc_hash::FxHashMap;

use super::measures::{self, indel_ratio, overlap_ratio};
use super::numbers::{self, with_numbers};
use super::prepared::{Bag, Shared, weight};
use super::signs::is_sign_letter;
use super::{Predicate, PreparedText, Ratio};
use crate::text::language::Language;
use crate::text::segment::place_names;

/// Why a pair was judged less similar than its predicate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Veto {
    /// Two parts of a series.
    Series,
    /// One states what the other denies.
    Negation,
    /// The same frame about something else.
    Template,
    /// A compilation and one of its parts.
    Compilation,
    /// Little is shared apart from the names of the forum.
    Place,
    /// The same words in exchanged places.
    Order,
    /// Another number.
    Number,
    /// Another subject in its place.
    Subject,
}

impl Veto {
    /// The name in ledgers and reports.
    pub fn name(self) -> &'static str {
        match self {
            Veto::Series => "series",
            Veto::Negation => "negation",
            Veto::Template => "template",
            Veto::Compilation => "compilation",
            Veto::Place => "place",
            Veto::Order => "order",
            Veto::Number => "number",
            Veto::Subject => "subject",
        }
    }
}

/// Veto: two parts of a series.
///
/// What: each text has an issue number or a year that the other does not have: `第三期`, `(二)`, `5集`, `2021年`,
/// `19年度`, in digits or numerals. The pair is different. Why: the notices of a series differ only in the
/// number, but are not the same notice.
///
/// Known problems: numbers without such a mark are ignored, since a retelling may change them.
///
/// Example: `鱼缸清洗指南第三期` and `鱼缸清洗指南第2期`.
pub(super) fn differ_in_issue(a: &PreparedText, b: &PreparedText) -> bool {
    let lacks = |x: &[u32], y: &[u32]| x.iter().any(|n| y.binary_search(n).is_err());
    lacks(a.series(), b.series()) && lacks(b.series(), a.series())
}

const NEGATIONS: [char; 6] = ['不', '没', '未', '非', '别', '勿'];

/// Veto: one states what the other denies.
///
/// What: without their words of negation the two are nearly equal (an Indel ratio of 0.95), and one has an
/// odd number of them, the other an even one. The pair is one step less similar. Why: `鱼会淹死` and `鱼不会淹死` are
/// two claims, and often two jokes; only one step, because a rhetorical question may negate nothing.
///
/// Known problems: negation without such a word (`难道`, `才怪`).
///
/// Example: `为什么天气越冷鱼越会感冒` and `为什么天气越冷鱼越不会感冒`.
pub(super) fn differ_in_negation(a: &PreparedText, b: &PreparedText) -> bool {
    let count = |x: &PreparedText| x.chars.iter().filter(|c| NEGATIONS.contains(c)).count();
    if count(a) % 2 == count(b) % 2 {
        return false;
    }
    let rest =
        |x: &PreparedText| x.chars.iter().copied().filter(|c| !NEGATIONS.contains(c)).collect::<Vec<_>>();
    let least = Ratio::new(95, 100);
    indel_ratio(&rest(a), &rest(b), least, || u64::MAX) >= least
}

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
/// Known problems: a joke that is told again with its two examples in the other order; frequent words (`中国` and `美国`,
/// `儿子` and `父亲`) and words in Latin letters that take each other's place, and words that a text has in both orders.
///
/// Example: `我能把爸爸的儿子当儿子养吗` and `我能把儿子的爸爸当爸爸养吗`.
pub(super) fn differ_in_order(a: &PreparedText, b: &PreparedText) -> bool {
    // A word of English is one character here.
    let by_words = a.language() == Language::Zh;
    let (a, b) = (with_numbers(&a.chars), with_numbers(&b.chars));
    may_be_exchanged(&a, &b) && (are_exchanged(&a, &b, by_words) || are_exchanged(&b, &a, by_words))
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

/// Veto: another number.
///
/// What: each text has a number that the other lacks, in digits or in two numerals and more, and at most 15 % of the lighter
/// text by weight is not in the other. The pair is one step less similar. Why: `为什么3个和尚没水喝` asks something else of five
/// monks. A retelling in other words may change a number, too, and is no other joke for it.
///
/// Known problems: a number in one numeral (`三`), which is mostly a part of a word.
///
/// Example: `为什么1506号公路没有1507号公路长？` and `为什么1508号公路没有1509号公路长？`.
pub(super) fn differ_in_number(a: &PreparedText, b: &PreparedText, shared: Shared<'_>) -> bool {
    numbers::have_differing_numbers(&a.chars, &b.chars)
        && Ratio::new(shared.letter_weight(), shared.total_weights().0.max(1)) >= Ratio::new(85, 100)
}

/// Veto: another sign of a number or of a single letter.
///
/// What: the [signs](super::signs) of one text, in order, are not those of the other; of two of which one is the opening of the
/// other, those of the shorter are not the first ones of the longer. The pair is one step less similar. Why: `1.5` is not `15`,
/// `-5` not `5`, `C++` not `C`, and the letters and digits alone do not tell.
///
/// Known problems: `50%` and `百分之五十` are two.
///
/// Example: `为什么1+1=2？` and `为什么1-1=2？`.
pub(super) fn differ_in_signs(predicate: Predicate, a: &PreparedText, b: &PreparedText) -> bool {
    let signs =
        |text: &'_ PreparedText| -> Vec<char> { text.key().chars().filter(|c| is_sign_letter(*c)).collect() };
    let (short, long) =
        if a.key().len() <= b.key().len() { (signs(a), signs(b)) } else { (signs(b), signs(a)) };
    match predicate {
        Predicate::Opening => !long.starts_with(&short),
        _ => short != long,
    }
}

/// From this overlap on too much is shared for another joke.
const ALIKE: Ratio = Ratio::new(77, 100);

/// Veto: the same frame about something else.
///
/// What: more than 15 % of the lighter text by weight is not in the other, the shared characters are
/// contiguous (the overlap of neighbours is at least 3/4 of that of characters), and the overlap of
/// characters is under 0.77. The pair is one step less similar.
///
/// Why: a retelling changes a little everywhere, which breaks up neighbours all over the text; a template
/// keeps its frame literally and changes a word, which leaves neighbours whole. At equal overlap of
/// characters the neighbours distinguish the two.
///
/// Known problems: a faithful copy with one long word replaced looks like a template.
///
/// Example: `每天喝一杯牛奶的人变成了奶牛` and `每天喝一杯咖啡的人变成了猫头鹰`.
pub(super) fn differ_in_subject(shared: Shared<'_>) -> bool {
    let chars = overlap_ratio(shared.letter_weight(), shared.total_weights());
    if chars >= ALIKE {
        return false;
    }
    let lighter = shared.total_weights().0.max(1);
    let mostly_covered = Ratio::new(shared.letter_weight(), lighter) >= Ratio::new(85, 100);
    let pairs = overlap_ratio(shared.pair_weight(), shared.weights_of_pairs());
    let together = Ratio::new(4 * pairs.num, pairs.den) >= Ratio::new(3 * chars.num, chars.den);
    !mostly_covered && together
}

/// From this many items on it is a list.
const LIST: u32 = 3;

/// Veto: a compilation and one of its parts.
///
/// What: one text weighs less than half of the other, and the other does not begin with it; or the other is a
/// numbered list of three or more. The pair is one step less similar. Why: a post that contains two jokes
/// resembles each of them, and merging by it would make the two one. A copy with an added tail resembles it
/// too, but begins the same.
///
/// Known problems: a compilation that opens with the joke and is no list passes for a copy with a
/// tail; a joke told after a long preface passes for a part of a compilation.
///
/// Example: `鱼说水里没有秘密，因为水太透明了` in `猫把老鼠的简历退了回去，说专业不对口。鱼说水里没有秘密，因为水太透明了`.
pub(super) fn is_compilation(a: &PreparedText, b: &PreparedText) -> bool {
    let (light, heavy) = if a.weight <= b.weight { (a, b) } else { (b, a) };
    if 2 * light.weight >= heavy.weight {
        return false;
    }
    if heavy.count_list_lines() >= LIST && light.count_list_lines() < LIST {
        return true;
    }
    // The lead is a quarter longer than the text, to allow for inserted words.
    let lead = Bag::of_chars(&heavy.chars[..heavy.len().min(light.len() * 5 / 4)]);
    Ratio::new(light.bag().weight_shared(&lead), light.weight.max(1)) < Ratio::new(2, 3)
}

/// Veto: little is shared apart from the names of the forum.
///
/// What: without the forum's own names (`place` in `forum.txt`) the overlap of the two is under 0.60. The
/// pair is one step less similar. Why: the characters of a forum's name are rare in Chinese at large but
/// occur in every other comment of the forum, where sharing them means nothing.
///
/// Known problems: the names are those of one forum.
///
/// Example: `我不是弱智，为什么关注了弱智吧` and `不是弱智进不了弱智吧`.
pub(super) fn share_only_place(a: &PreparedText, b: &PreparedText) -> bool {
    let (rest_a, rest_b) = (without_names(&a.chars), without_names(&b.chars));
    if rest_a.len() == a.chars.len() && rest_b.len() == b.chars.len() {
        return false;
    }
    let (a, b) = (Bag::of_chars(&rest_a), Bag::of_chars(&rest_b));
    measures::overlap_ratio(a.weight_shared(&b), (a.total.min(b.total), a.total.max(b.total)))
        < Ratio::new(60, 100)
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

    #[test]
    fn two_issues_are_different() {
        let pair = compare("鱼缸清洗指南第三期", "鱼缸清洗指南第2期");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Different, Some(Veto::Series)));
        assert_eq!(compare("鱼缸清洗指南第三期", "鱼缸清洗指南第3期！").verdict, Verdict::Same);
        assert_eq!(compare("周末鱼缸清洗指南第三期", "周末鱼缸清洗指南").verdict, Verdict::Same);
    }

    #[test]
    fn a_denial_is_borderline() {
        let pair = compare("为什么天气越冷鱼越会感冒", "为什么天气越冷鱼越不会感冒");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Negation)));
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

    #[test]
    fn another_number_is_borderline() {
        let pair = compare("为什么1506号公路没有1507号公路长？", "为什么1508号公路没有1509号公路长？");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Number)));
        let same = compare("朋友欠我12块钱，怎么才能让他还24块", "朋友欠我十二块钱，怎么才能让他还二十四块");
        assert_eq!(same.verdict, Verdict::Same, "{same:?}");
    }

    #[test]
    fn another_subject_is_another_joke() {
        let pair = compare("每天喝一杯牛奶的人变成了奶牛", "每天喝一杯咖啡的人变成了猫头鹰");
        assert_ne!(pair.verdict, Verdict::Same);
    }

    #[test]
    fn a_retelling_is_not_a_template() {
        let pair =
            compare("鱼在水里游了一辈子，为什么从来不洗澡？", "为什么鱼从不洗澡，明明一辈子都在水里游");
        assert_eq!(pair.verdict, Verdict::Same);
    }

    #[test]
    fn a_part_is_not_the_whole() {
        let part = "鱼说水里没有秘密，因为水太透明了";
        let pair = compare(part, &format!("猫把老鼠的简历退了回去，说专业不对口。{part}"));
        assert_ne!(pair.verdict, Verdict::Same);
        let list =
            format!("1、{part}\n2、鸟把云叼走了，所以今天下不了雨\n3、虾红着脸从锅里爬出来，说自己只是害羞");
        let pair = compare(part, &list);
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Compilation)));
    }

    #[test]
    fn an_added_tail_is_no_compilation() {
        let pair = compare(
            "鱼说水里没有秘密，因为水太透明了",
            "鱼说：水里没有秘密，因为水实在太透明了。那么住在泥里的泥鳅是不是知道所有人的秘密？",
        );
        assert_eq!(pair.verdict, Verdict::Same);
    }

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
