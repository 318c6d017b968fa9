//! Words that can turn a sentence into a question: particles, A-not-A, alternatives, question words.

use std::ops::Range;

use super::QuestionKind;
use super::quotation::is_filler;
use super::scope::{self, Scope};
use super::words::{clause_after, clause_before, ends_with_any, is_break, is_letter, starts_with_any};
use crate::text::segment::is_separate_word;

/// A place in a sentence that may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operator {
    /// The kind of question.
    pub(super) kind: QuestionKind,
    /// Byte range in the post.
    pub(super) span: Range<usize>,
    /// Whether it asks there.
    pub(super) scope: Scope,
}

impl Operator {
    /// Whether it asks in its context.
    pub(super) fn is_open(&self) -> bool {
        self.scope == Scope::Open
    }

    /// Whether it is not a question, but an indefinite or an exclamation.
    pub(super) fn is_void(&self) -> bool {
        matches!(self.scope, Scope::Indefinite | Scope::Rhetorical)
    }

    /// Whether a verb governs it.
    pub(super) fn is_embedded(&self) -> bool {
        self.scope == Scope::Embedded
    }
}

/// The operators of a sentence that begins at byte `base` of its post, in order, none overlapping.
pub(super) fn scan_operators(sentence: &str, base: usize) -> Vec<Operator> {
    let mut operators = Vec::new();
    let mut resume = 0;
    for (at, c) in sentence.char_indices() {
        if at < resume {
            continue;
        }
        if let Some((kind, len)) = operator_at(sentence, at, c) {
            // `哪` in `哪吒` and `为何` in `认为何方` are not words. Other kinds are exempt: doubling a verb cuts
            // words (`缺不缺德`).
            if kind.is_word() && !is_separate_word(sentence, at..at + len) {
                continue;
            }
            resume = at + len;
            let scope = scope::scope_of(kind, sentence, at..resume);
            operators.push(Operator { kind, span: base + at..base + resume, scope });
        }
    }
    operators
}

/// The operator that begins at `at`, with its length in bytes.
fn operator_at(sentence: &str, at: usize, c: char) -> Option<(QuestionKind, usize)> {
    let rest = &sentence[at..];
    let word = |kind, words: &[&str]| {
        words.iter().find(|word| rest.starts_with(**word)).map(|word| (kind, word.len()))
    };
    let found = match c {
        '为' => word(QuestionKind::Why, &["为什么", "为甚么", "为啥", "为何", "为神马", "为毛"]),
        '凭' => word(QuestionKind::Why, &["凭什么", "凭啥"]),
        '何' => word(QuestionKind::Why, &["何不"]).or_else(|| word(QuestionKind::Which, WHICH_HE)),
        '有' => word(QuestionKind::Which, &["有何"]),
        '干' => word(QuestionKind::What, &["干什么", "干嘛", "干啥", "干吗", "干甚么"]),
        '怎' | '咋' => word(QuestionKind::Help, HELP).or_else(|| word(QuestionKind::How, HOW)),
        '如' => word(QuestionKind::Help, &["如何是好"]).or_else(|| word(QuestionKind::How, &["如何"])),
        '什' | '甚' | '啥' => word(QuestionKind::What, &["什么", "甚么", "啥"]),
        '谁' => word(QuestionKind::Which, &["谁"]),
        '呢' => is_what_if(sentence, at).then_some((QuestionKind::Polar, c.len_utf8())),
        '哪' => word(QuestionKind::Which, &["哪里", "哪儿", "哪个", "哪些", "哪种", "哪位", "哪一", "哪"]),
        '那' => misspelt_which(sentence, at),
        '几' => asks_number(sentence, at).then_some((QuestionKind::Which, c.len_utf8())),
        '多' => find_amount(sentence, at),
        '吗' => is_polar_ma(sentence, at).then_some((QuestionKind::Polar, c.len_utf8())),
        '么' => is_polar_me(sentence, at).then_some((QuestionKind::Polar, c.len_utf8())),
        '难' => word(QuestionKind::Polar, &["难道"]),
        '岂' => word(QuestionKind::Polar, &["岂不", "岂非"]),
        '是' | '能' | '可' | '会' => word(QuestionKind::ANotA, &["是否", "能否", "可否", "会否"]),
        '还' => find_alternative(sentence, at),
        '没' => is_final_mei(sentence, at).then_some((QuestionKind::ANotA, c.len_utf8())),
        _ => None,
    };
    found.or_else(|| a_not_a(sentence, at, c))
}

const WHICH_HE: &[&str] =
    &["何时", "何处", "何人", "何物", "何种", "何在", "何日", "何者", "何原因", "何意", "何方", "何以"];
const HELP: &[&str] = &[
    "怎么办",
    "怎么回事",
    "怎么破",
    "怎么整",
    "怎么搞",
    "怎样办",
    "怎么弄",
    "咋办",
    "咋整",
    "咋回事",
    "咋弄",
];
const HOW: &[&str] = &["怎么样", "怎么", "怎样", "怎能", "怎会", "怎敢", "怎可", "怎", "咋"];

/// `吗` asks at the end of a clause. Without punctuation a clause may end in the middle, so anything may
/// follow except what makes it another word (`吗啡`) or a misspelt `妈` (`你吗的`).
fn is_polar_ma(sentence: &str, at: usize) -> bool {
    let (before, after) = split_around(sentence, at, '吗');
    let starts_clause = before.chars().next_back().is_none_or(|c| is_break(c) || is_filler(c));
    !starts_clause
        && !after.starts_with('的')
        && (ends_clause(after) || !before.ends_with(['你', '他', '她', '捏', '塔', '日', '操', '尼']))
}

/// `么` asks if it ends a clause and is not part of a pronoun or adverb (`什么`, `这么`).
fn is_polar_me(sentence: &str, at: usize) -> bool {
    let (before, after) = split_around(sentence, at, '么');
    ends_clause(after)
        && before.chars().next_back().is_some_and(is_letter)
        && !before.ends_with(['什', '甚', '怎', '这', '那', '多', '要', '哪', '饿', '他', '她'])
}

/// `吃了没`, `来过没有` at the end of the sentence.
fn is_final_mei(sentence: &str, at: usize) -> bool {
    let (before, after) = split_around(sentence, at, '没');
    let clause = clause_before(before);
    let after = after.strip_prefix('有').unwrap_or(after).trim_start_matches(['啊', '呢', '呀']);
    !after.chars().any(is_letter)
        && (before.ends_with(['了', '过']) || (clause.contains("到底") && sentence[at..].starts_with("没有")))
        && !clause.contains(['都', '也', '什', '还'])
}

/// `有那些…呢`: `那` written for `哪`, as the particle at the end shows.
fn misspelt_which(sentence: &str, at: usize) -> Option<(QuestionKind, usize)> {
    let (before, after) = split_around(sentence, at, '那');
    let asks = sentence.trim_end().ends_with('呢')
        && ends_with_any(before, &["有", "是", "在"])
        && after.starts_with(['些', '种', '里', '个']);
    asks.then_some((QuestionKind::Which, "那些".len()))
}

/// `万一他不来呢`: a condition without its consequence.
fn is_what_if(sentence: &str, at: usize) -> bool {
    let (before, after) = split_around(sentence, at, '呢');
    !after.chars().any(is_letter)
        && starts_with_any(clause_before(before).trim_start_matches('那'), &["万一", "要是", "如果", "假如"])
}

/// `几` asks for a number if only a number fits; elsewhere it means "a few".
fn asks_number(sentence: &str, at: usize) -> bool {
    let (before, after) = split_around(sentence, at, '几');
    let last_of = |c: char| matches!(c, '时' | '点' | '号' | '岁' | '楼' | '级');
    ends_with_any(before, &["还剩", "剩下", "剩", "是", "等于", "第", "星期", "周", "得"])
        && !after.starts_with(['十', '百', '千', '万', '亿', '乎', '把', '率', '何'])
        || (after.starts_with(last_of) && !before.ends_with(['好', '前', '这', '那', '十', '才', '没', '了']))
        || ends_with_any(before, &["等", "减", "加", "乘"]) && ends_clause(after)
}

/// `多少`, `多大`, `多久` … if `多` asks for a measure and does not mean "much".
fn find_amount(sentence: &str, at: usize) -> Option<(QuestionKind, usize)> {
    let (before, after) = split_around(sentence, at, '多');
    if before.ends_with([
        '很', '好', '太', '许', '不', '差', '这', '那', '更', '最', '再', '越', '增', '众', '几', '么',
    ]) {
        return None;
    }
    let measured = after.chars().next()?;
    let asks = match measured {
        '少' => !after.starts_with("少沾") && !after.starts_with("少有"),
        '大' => !after.starts_with("大点"),
        '高' | '长' | '久' | '远' => true,
        '深' | '宽' | '厚' | '快' => before.ends_with(['有', '能', '要', '会', '得']),
        _ => false,
    };
    asks.then(|| (QuestionKind::Which, '多'.len_utf8() + measured.len_utf8()))
}

/// `V不V`, `V没V`, `能不能`, `可不可以`, `喜欢不喜欢`.
fn a_not_a(sentence: &str, at: usize, c: char) -> Option<(QuestionKind, usize)> {
    const NO_VERB: &str = "时动人鬼男女不没我你他她的了着三四五两半一个急还就也又都从并";
    if !is_letter(c) || c.is_ascii() || NO_VERB.contains(c) {
        return None;
    }
    let rest = &sentence[at + c.len_utf8()..];
    let not_verb = rest.strip_prefix(['不', '没'])?;
    if c == '有' && starts_with_any(not_verb, &["可能", "人"]) && rest.starts_with('没') {
        return Some((QuestionKind::ANotA, "有没".len())); // `有没可能`
    }
    let before = &sentence[..at];
    // `说长不长`, `要死不死`, `半懂不懂` state; so does a run of the same character.
    if before.ends_with(['说', '爱', '半', '似', '要', '不', c])
        && !ends_with_any(before, &["要说", "是说"])
        && c != '是'
        && c != '会'
    {
        return None;
    }
    not_verb.starts_with(c).then(|| (QuestionKind::ANotA, 2 * c.len_utf8() + '不'.len_utf8()))
}

/// `A还是B` with `A` and `B` parallel. By itself `还是` means "still" or "after all", so the two sides must show
/// the alternative: `是` opens the first, or both begin or end alike.
fn find_alternative(sentence: &str, at: usize) -> Option<(QuestionKind, usize)> {
    let (before, after) = split_around(sentence, at, '还');
    let right = clause_after(after.strip_prefix('是')?).trim_end_matches(['呢', '啊', '呀', '吧']);
    let comma = before.trim_end_matches(is_break).len() < before.len();
    let left = clause_before(before.trim_end_matches(is_break));
    let (first, last) = (right.chars().next()?, right.chars().next_back()?);
    let opened = left.match_indices('是').any(|(at, _)| {
        !left[..at].ends_with([
            '就', '都', '可', '但', '只', '不', '于', '总', '老', '也', '要', '还', '算', '像', '其', '真',
            '说', '则', '而',
        ]) && !left[at..].starts_with("是因为")
    });
    let potential = right.chars().nth(1).is_some_and(|c| matches!(c, '不' | '没')); // `还是学不会`
    let same_edges =
        !comma && !potential && (left.starts_with(first) || left.ends_with(last)) && left.chars().count() > 1;
    let parallel = !comma && !potential && is_parallel(left, right, first);
    let measured = contains_choice(left);
    (opened && (!comma || right.chars().count() > 2) || same_edges || parallel || measured)
        .then_some((QuestionKind::Alternative, "还是".len()))
}

/// `…选A还是选B`: the left ends in a phrase that begins as the right one and is about as long.
fn is_parallel(left: &str, right: &str, first: char) -> bool {
    let Some(at) = left.rfind(first) else { return false };
    let (left, right) = (left[at..].chars().count(), right.chars().count());
    left > 1 && left <= 4 && left.abs_diff(right) <= 1
}

/// Verbs that announce a choice.
fn contains_choice(left: &str) -> bool {
    ["到底", "究竟", "算", "该"].iter().any(|word| left.contains(word)) && !left.contains("应该")
}

/// The text before and after the character `c` at `at`.
fn split_around(sentence: &str, at: usize, c: char) -> (&str, &str) {
    (&sentence[..at], &sentence[at + c.len_utf8()..])
}

/// Whether a clause ends before `after`: punctuation, an emoji, quotation, or nothing follows.
fn ends_clause(after: &str) -> bool {
    after.chars().next().is_none_or(|c| !is_letter(c))
}
