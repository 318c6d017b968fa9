//! What demotes a pair.

use super::measures::{self, indel_ratio, overlap_ratio};
use super::numbers;
use super::prepared::{Bag, Shared};
use super::signs::is_sign_letter;
use super::symbols::is_symbol;
use super::{Predicate, PreparedText, Ratio};
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
    /// Another number, sign or symbol.
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

pub(super) const NEGATIONS: [char; 6] = ['不', '没', '未', '非', '别', '勿'];

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

/// Veto: another symbol in its place.
///
/// What: each text has a [symbol](super::symbols) in the place of a word that the other has not there. The pair is one step less
/// similar. Why: `今天😀怎么样` and `今天😭怎么样` are two. A symbol that a copy lost says nothing.
///
/// Example: `🐶为什么不会说人话` and `🐱为什么不会说人话`.
pub(super) fn differ_in_symbols(a: &PreparedText, b: &PreparedText) -> bool {
    let symbols =
        |text: &'_ PreparedText| -> Vec<char> { text.key().chars().filter(|c| is_symbol(*c)).collect() };
    let is_part = |short: &[char], long: &[char]| {
        let mut rest = long.iter();
        short.iter().all(|c| rest.any(|other| other == c))
    };
    let (a, b) = (symbols(a), symbols(b));
    !is_part(&a, &b) && !is_part(&b, &a)
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
    use super::*;
    use crate::text::sameness::{Verdict, Veto, compare};

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
