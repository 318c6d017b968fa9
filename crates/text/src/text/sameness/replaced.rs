//! Words that two texts of Chinese have in each other's place.
//!
//! What: where two texts that are mostly the same differ, one has another numeral (`三个月`, `六个月`), other letters (`牛C`, `牛D`),
//! an opposite of the list `opposites.txt` (`关门`, `开门`), a denial, or another word of content (`飞机`, `汽车`). The pair is one step
//! less similar.
//!
//! Why: where one word of a joke is another, it is another joke more often than not. What sounds alike, and what no dictionary has, is a
//! slip of the keyboard; what only one of the two has is an edit.
//!
//! Known problems: a synonym is another word.
//!
//! Example: `为什么飞机不能倒着飞` and `为什么汽车不能倒着飞`.

use std::ops::Range;
use std::sync::LazyLock;

use super::PreparedText;
use super::measures::indel_ratio;
use super::numbers::{is_any_numeral, number_value};
use super::predicate::Ratio;
use super::vetoes::{NEGATIONS, Veto};
use super::view::char_of_syllable;
use crate::text::segment::shared_jieba;

/// Two texts with less in common are retold, and words in them are in nobody's place.
const ALIKE: Ratio = Ratio::new(3, 4);
/// Most places in which two texts may differ: a retelling changes a little everywhere.
const PLACES: usize = 2;
/// Most words in a place: more are a clause of its own.
const WORDS: usize = 2;
/// Most characters of a word in its place.
const WORD: usize = 6;
/// Most characters of a word of denial in its place.
const DENIAL: usize = 3;
/// Most comparisons of one character with another to find the places.
const MOST_STEPS: usize = 250_000;
/// How many characters around a place decide where its words begin.
const AROUND: usize = 8;

/// What stands in one text, and in its place in the other.
type Place = (Range<usize>, Range<usize>);

pub(super) fn find_veto(a: &PreparedText, b: &PreparedText) -> Option<Veto> {
    let common = || a.bag().count_shared(b.bag()).0;
    if indel_ratio(&a.chars, &b.chars, ALIKE, common) < ALIKE {
        return None;
    }
    let (a, b) = (&a.chars[..], &b.chars[..]);
    if has_changed_sides(a, b) || has_changed_sides(b, a) {
        return Some(Veto::Order);
    }
    let places = differing_places(a, b)?;
    if places.len() > PLACES {
        return None;
    }
    if places.iter().any(|(x, y)| is_other_number((a, x), (b, y))) {
        return Some(Veto::Number);
    }
    let is_word = |place: &Range<usize>| (1..=WORD).contains(&place.len());
    let replaced: Vec<&Place> = places.iter().filter(|(x, y)| is_word(x) && is_word(y)).collect();
    let is_short = |(x, y): &&&Place| x.len().max(y.len()) <= DENIAL;
    if replaced.iter().filter(is_short).any(|(x, y)| denies(a, x) != denies(b, y)) {
        return Some(Veto::Negation);
    }
    replaced.iter().any(|(x, y)| is_other_word((a, x), (b, y), places.len() == 1)).then_some(Veto::Subject)
}

/// Whether what is done to somebody in `a` is done by them in `b`: `被狗咬了` and `咬了狗`. Not `小偷被抓` and `抓了小偷`, where the
/// others moved, too.
fn has_changed_sides(a: &[char], b: &[char]) -> bool {
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    if a.get(common) != Some(&'被') || b.len() + 1 != a.len() {
        return false;
    }
    let (done, doing) = (&a[common + 1..], &b[common..]);
    let sorted = |text: &[char]| {
        let mut text = text.to_vec();
        text.sort_unstable();
        text
    };
    done != doing && sorted(done) == sorted(doing)
}

/// Words that begin like a denial and deny nothing.
const NO_DENIALS: [&str; 6] = ["非常", "别人", "别的", "别墅", "未来", "不过"];

/// Whether the words that a place touches deny something.
fn denies(text: &[char], place: &Range<usize>) -> bool {
    let words = words_at(text, place);
    let denials =
        words.iter().filter(|(word, _)| word.starts_with(NEGATIONS) && !NO_DENIALS.contains(&word.as_str()));
    denials.count() % 2 == 1
}

/// Where two texts differ, by a longest common subsequence of what is between their common ends; `None` if that would take long.
fn differing_places(a: &[char], b: &[char]) -> Option<Vec<Place>> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let tail = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (x, y) = (&rest_a[..rest_a.len() - tail], &rest_b[..rest_b.len() - tail]);
    if x.len() * y.len() > MOST_STEPS {
        return None;
    }
    let width = y.len() + 1;
    let mut longest = vec![0_u16; (x.len() + 1) * width];
    for i in (0..x.len()).rev() {
        for j in (0..y.len()).rev() {
            longest[i * width + j] = if x[i] == y[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut places, mut i, mut j) = (Vec::new(), 0, 0);
    let (mut from_i, mut from_j) = (0, 0);
    let mut close = |from_i: usize, i: usize, from_j: usize, j: usize| {
        if from_i < i || from_j < j {
            places.push((head + from_i..head + i, head + from_j..head + j));
        }
    };
    while i < x.len() && j < y.len() {
        if x[i] == y[j] {
            close(from_i, i, from_j, j);
            (i, j) = (i + 1, j + 1);
            (from_i, from_j) = (i, j);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    close(from_i, x.len(), from_j, y.len());
    Some(places)
}

/// Whether numerals stand where the other text has others, or one more beside the same.
fn is_other_number((a, x): (&[char], &Range<usize>), (b, y): (&[char], &Range<usize>)) -> bool {
    let own = [&a[x.clone()], &b[y.clone()]];
    if !own.iter().all(|text| text.iter().all(|c| is_any_numeral(*c))) {
        return false;
    }
    let number = |text: &[char], place: &Range<usize>| -> String {
        let before = text[..place.start].iter().rev().take_while(|c| is_any_numeral(**c)).count();
        let behind = text[place.end..].iter().take_while(|c| is_any_numeral(**c)).count();
        text[place.start - before..place.end + behind].iter().collect()
    };
    let (x, y) = (number(a, x), number(b, y));
    if x.is_empty() || y.is_empty() || x == y {
        return false;
    }
    let is_written = |number: &str| number.contains(|c: char| c.is_ascii_digit());
    match (is_written(&x) == is_written(&y), number_value(&x), number_value(&y)) {
        // `两` is `二`.
        (true, ..) => x.replace('两', "二").replace('〇', "零") != y.replace('两', "二").replace('〇', "零"),
        (false, Some(x), Some(y)) => x != y,
        // Which number `3千` is, is not told.
        (false, ..) => false,
    }
}

/// Sets of words of which one excludes the others.
static OPPOSITES: LazyLock<Vec<Vec<Vec<char>>>> = LazyLock::new(|| {
    let words = |line: &str| line.split(' ').map(|word| word.chars().collect()).collect();
    include_str!("opposites.txt").lines().map(words).collect()
});

/// Whether a place has another word. `alone`: whether all else is the same, as in no retelling.
fn is_other_word((a, x): (&[char], &Range<usize>), (b, y): (&[char], &Range<usize>), alone: bool) -> bool {
    let (own, other) = (&a[x.clone()], &b[y.clone()]);
    let latin = |text: &[char]| text.iter().all(char::is_ascii_alphabetic);
    if latin(own) && latin(other) {
        // One letter of a word is a slip.
        let long = |text: &[char], place: &Range<usize>| {
            let part = |c: &&char| c.is_ascii_alphabetic();
            text[..place.start].iter().rev().take_while(part).count()
                + text[place.start..].iter().take_while(part).count()
                > 3
        };
        return !(own.len() == 1 && other.len() == 1 && long(a, x) && long(b, y));
    }
    // Words of both that begin or end beside the place: `洗衣粉`, and `洗衣` and `液`.
    let (before, behind) = {
        let (x, y) = (reach_of_words(a, x), reach_of_words(b, y));
        (x.0.max(y.0), x.1.max(y.1))
    };
    let widen = |text: &[char], place: &Range<usize>| {
        place.start.saturating_sub(before)..text.len().min(place.end + behind)
    };
    let (words, others) = (words_at(a, &widen(a, x)), words_at(b, &widen(b, y)));
    let has = |text: &[char], words: &[(String, String)], one: &[char]| {
        text == one || words.iter().any(|(word, _)| word.chars().eq(one.iter().copied()))
    };
    let opposite = OPPOSITES.iter().any(|set| {
        let is_one =
            |text: &[char], words: &[(String, String)]| set.iter().position(|one| has(text, words, one));
        matches!((is_one(own, &words), is_one(other, &others)), (Some(one), Some(another)) if one != another)
    });
    let names = |words: &[(String, String)], others: &[(String, String)]| {
        words.iter().any(|(word, tag)| {
            is_content(word, tag, alone) && others.iter().all(|(other, _)| !is_variant(word, tag, other))
        })
    };
    // What sounds the same is a slip of the keyboard.
    let is_slip = own.iter().map(|c| char_of_syllable(*c)).eq(other.iter().map(|c| char_of_syllable(*c)));
    opposite
        || !is_slip
            && words.len().max(others.len()) <= WORDS
            && names(&words, &others)
            && names(&others, &words)
}

/// The words that a place of a text touches, with their tags.
fn words_at(text: &[char], place: &Range<usize>) -> Vec<(String, String)> {
    tagged_words(text, place).into_iter().map(|(_, word, tag)| (word, tag)).collect()
}

fn tagged_words(text: &[char], place: &Range<usize>) -> Vec<(Range<usize>, String, String)> {
    let from = place.start.saturating_sub(AROUND);
    let around: String = text[from..text.len().min(place.end + AROUND)].iter().collect();
    let mut at = from;
    let mut words = Vec::new();
    for found in shared_jieba().tag(&around, false) {
        let end = at + found.word.chars().count();
        if at < place.end && place.start < end {
            words.push((at..end, found.word.to_owned(), found.tag.to_owned()));
        }
        at = end;
    }
    words
}

/// How many characters the words that a place touches reach over it, before and behind.
fn reach_of_words(text: &[char], place: &Range<usize>) -> (usize, usize) {
    let words = tagged_words(text, place);
    let start = words.first().map_or(place.start, |(span, ..)| span.start);
    let end = words.last().map_or(place.end, |(span, ..)| span.end);
    (place.start.saturating_sub(start), end.saturating_sub(place.end))
}

/// Whether a word of the dictionary names something, or in two characters and more what is done or how something is.
fn is_content(word: &str, tag: &str, with_verbs: bool) -> bool {
    let least = match tag.chars().next() {
        Some('n' | 's' | 't' | 'i' | 'l' | 'j' | 'b') => 1,
        Some('v' | 'a') if with_verbs => 2,
        _ => return false,
    };
    word.chars().nth(least - 1).is_some() && shared_jieba().has_word(word)
}

/// Whether two words are one, longer or shorter, begin alike (`警官`, `警察`), end alike where they are verbs (`见到`, `看到`), or sound
/// alike.
fn is_variant(word: &str, tag: &str, other: &str) -> bool {
    let sound = |word: &str| word.chars().map(char_of_syllable).collect::<Vec<_>>();
    word.contains(other)
        || other.contains(word)
        || word.chars().next() == other.chars().next()
        || tag.starts_with('v') && word.chars().next_back() == other.chars().next_back()
        || sound(word) == sound(other)
}

#[cfg(test)]
mod tests {
    use super::OPPOSITES;
    use crate::text::sameness::{Verdict, compare};

    #[test]
    fn another_word_in_its_place_is_another_joke() {
        for (a, b) in [
            ("医生说我还能活三个月怎么办", "医生说我还能活六个月怎么办"),
            ("一个月工资三千怎么存钱买房", "一个月工资三万怎么存钱买房"),
            ("今天星期一，明天是星期几", "今天星期五，明天是星期几"),
            ("我把一斤铁称了称，结果少了三两", "我把一斤铁称了称，结果少了五两"),
            ("一个人在家害怕怎么办", "两个人在家害怕怎么办"),
            ("每天只有八小时可以睡觉", "每天只有六小时可以睡觉"),
            ("等了三天才下雨正常吗", "等了十三天才下雨正常吗"),
            ("牛A和牛C之间是什么", "牛A和牛D之间是什么"),
            ("男人为什么不能生孩子", "女人为什么能生孩子"),
            ("有没有不用上班就有钱的工作", "有没有要上班就有钱的工作"),
            ("被狗咬了应该怎么办在线等挺急的", "咬了狗应该怎么办在线等挺急的"),
            ("为什么白天看不到星星", "为什么晚上看不到星星"),
            ("冰箱里的灯关门以后还亮着吗", "冰箱里的灯开门以后还亮着吗"),
            ("为什么我上班总是迟到呢", "为什么我上班总是早到呢"),
            ("未婚的人怎么办离婚手续", "已婚的人怎么办离婚手续"),
            ("昨天的面包为什么今天吃不到", "明天的面包为什么今天吃不到"),
            ("减肥最快的方法是什么啊", "增肥最快的方法是什么啊"),
            ("为什么飞机不能倒着飞呢", "为什么汽车不能倒着飞呢"),
            ("为什么中国人喜欢喝热水", "为什么美国人喜欢喝热水"),
            ("为什么我用左手写字不好看", "为什么我用右手写字不好看"),
            ("为什么要睁着眼睛睡觉呢", "为什么要闭着眼睛睡觉呢"),
            ("怎么把大象放进冰箱里", "怎么把长颈鹿放进冰箱里"),
            ("老公出轨了我应该怎么办", "老婆出轨了我应该怎么办"),
            ("高考前一天应该吃什么好", "高考后一天应该吃什么好"),
            ("我妈让我下楼买一斤酱油", "我妈让我下楼卖一斤酱油"),
        ] {
            let pair = compare(a, b);
            assert_eq!(pair.verdict, Verdict::Borderline, "{a} {b} {pair:?}");
        }
    }

    #[test]
    fn a_slip_and_an_edit_are_no_other_word() {
        for (a, b) in [
            ("越王第一次见到一身是胆的赵云", "越王第一次看到一身是胆的赵云"),
            ("我把衣服放进洗衣粉里，为什么没有变干净", "我把衣服放进洗衣液里，为什么没有变干净"),
            ("校长说食堂的米饭要细嚼慢咽", "校长说食堂的蜜犯要细嚼慢咽"),
            ("既然监狱里全是罪犯，警官为什么不去", "既然监狱里全是罪犯，警察为什么不去"),
            ("我的iphone为什么不会游泳", "我的iphane为什么不会游泳"),
            ("朋友欠我12块钱，怎么才能让他还", "朋友欠我十二块钱，怎么才能让他还"),
            ("冰箱里的灯关门后还亮吗，我钻进去看过", "冰箱里的灯关了门还亮吗，我钻进去看过"),
            ("鱼在水里为什么不会被水淹死啊", "鱼在水里怎么不会被水给淹死呢"),
        ] {
            let pair = compare(a, b);
            assert_eq!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
        }
    }

    #[test]
    fn opposites_are_at_least_two_in_a_line() {
        assert!(OPPOSITES.iter().all(|set| set.len() > 1 && set.iter().all(|word| !word.is_empty())));
    }
}
