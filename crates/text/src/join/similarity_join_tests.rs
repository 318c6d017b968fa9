//! Tests of `similarity_join`.

use proptest::prelude::*;

use super::*;
use crate::join::stress::texts_of_phrases;
use crate::text::language::tag_language;
use crate::text::sameness::compare_prepared;
use riddlemill_record::Language;

/// Two texts, and all that their comparison says.
type Described = (String, String, String);

fn brute(texts: &[String]) -> Vec<Described> {
    let mut firsts: Vec<(&String, PreparedText)> = Vec::new();
    for text in texts.iter().filter(|t| !Reading::new(t).is_blank()) {
        let prepared = PreparedText::new(text);
        if firsts.iter().all(|(_, first)| *first != prepared) {
            firsts.push((text, prepared));
        }
    }
    let mut pairs = Vec::new();
    for (i, (a, first)) in firsts.iter().enumerate() {
        for (b, second) in &firsts[i + 1..] {
            let comparison = compare_prepared(first, second);
            if comparison.verdict != Verdict::Different {
                pairs.push((a.to_string(), b.to_string(), format!("{comparison:?}")));
            }
        }
    }
    pairs.sort();
    pairs
}

fn joined(texts: &[String]) -> Vec<Described> {
    let rows: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = find_alike_pairs(&rows);
    let text = |group: u32| texts[found.groups[group as usize][0] as usize].clone();
    let described = |pair: &AlikePair| (text(pair.a), text(pair.b), format!("{:?}", pair.comparison));
    let mut pairs: Vec<Described> = found.pairs.iter().map(described).collect();
    pairs.sort();
    pairs
}

fn posts() -> impl Strategy<Value = Vec<String>> {
    let words = [
        "云",
        "会",
        "恐高",
        "吗",
        "？",
        "为什么",
        "鱼",
        "口渴",
        "，",
        "医生",
        "一生",
        "第二期",
        "第三期",
        "不",
        "X",
        "Ｘ",
        "雲",
        "abc",
        "🐟",
        "e\u{301}",
        "\n1、",
        " cat ",
        " dogs ",
        " don't ",
        " 3 ",
        " three ",
        " the ",
    ];
    let word = prop::sample::select(words.to_vec());
    let language = prop::sample::select(vec![Language::Zh, Language::Zh, Language::En, Language::Und]);
    let text = (prop::collection::vec(word, 0..14), language);
    let text = text.prop_map(|(words, language)| tag_language(&words.concat(), language).into_owned());
    prop::collection::vec(text, 2..14)
}

/// Texts of English words, some of them in another order.
fn english() -> impl Strategy<Value = Vec<String>> {
    let words = [
        "why",
        "do",
        "cats",
        "dogs",
        "hate",
        "water",
        "not",
        "the",
        "bird",
        "worm",
        "early",
        "3",
        "sleeping",
        "if",
        "house",
        "boat",
        "zebra",
        "physician",
        "never",
    ];
    let word = prop::sample::select(words.to_vec());
    let text = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    (prop::collection::vec(text, 2..10), any::<prop::sample::Index>()).prop_map(|(mut texts, at)| {
        let whole: Vec<&str> = texts[0].split(' ').collect();
        let (begin, end) = whole.split_at(at.index(whole.len().max(1)));
        let moved = [end, begin].concat().join(" ");
        texts.push(moved);
        texts.push(format!("{} my friend", texts[1]));
        let mut tags: Vec<String> =
            texts.iter().map(|text| tag_language(text, Language::En).into_owned()).collect();
        // The same texts in another language are the same only where they are identical.
        tags.extend(texts.iter().map(|text| tag_language(text, Language::Und).into_owned()));
        tags.push(texts[0].clone());
        tags
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_join_finds_what_brute_force_finds_in_english(texts in english()) {
        prop_assert_eq!(joined(&texts), brute(&texts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_join_finds_what_brute_force_finds(mut texts in posts(), cut in 1usize..30) {
        // Copies, openings and texts with one word more, which random texts hardly make.
        let (first, last) = (texts[0].clone(), texts[texts.len() - 1].clone());
        texts.push(first.chars().take(cut).collect());
        texts.push(format!("{first}然后呢"));
        texts.push(format!("{last}{first}"));
        texts.push(format!("{last}，{last}，一二三四五六七八九十"));
        prop_assert_eq!(joined(&texts), brute(&texts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_join_finds_what_brute_force_finds_among_phrases(texts in texts_of_phrases()) {
        prop_assert_eq!(joined(&texts), brute(&texts));
    }
}

/// The time that is left by the shares of the steps lies near the one that the work takes, from a fifth of it on: the clock is
/// the work itself.
#[test]
fn what_is_left_is_known_from_a_fifth_of_the_work_on() {
    const WORDS: [&str; 24] = [
        "为什么",
        "如果",
        "其实",
        "据说",
        "每次",
        "医生",
        "邻居",
        "司机",
        "小偷",
        "鱼",
        "猫",
        "云",
        "月亮",
        "冰箱",
        "电梯",
        "镜子",
        "雨伞",
        "西瓜",
        "牛奶",
        "火锅",
        "吃",
        "飞",
        "游泳",
        "恐高",
    ];
    let mut seed = 7u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut text = |words: usize, rare: usize| -> String {
        let mut text: String = (0..words).map(|_| WORDS[below(WORDS.len())]).collect();
        text.extend((0..rare).filter_map(|_| char::from_u32(0x4e00 + below(6000) as u32)));
        text
    };
    let few: Vec<String> = (0..12_000).map(|_| text(8, 10)).collect();
    // Edits of a hundred jokes, which are compared with each other.
    let jokes: Vec<String> = (0..100).map(|_| text(6, 12)).collect();
    let edits: Vec<String> = (0..12_000).map(|n| format!("{}{}", jokes[n % 100], text(1, 2))).collect();
    let common: Vec<String> = (0..12_000).map(|_| text(12, 0)).collect();
    for (name, texts) in [("few", few), ("edits", edits), ("common", common)] {
        let readings: Vec<Reading> = texts.iter().map(|text| Reading::new(text)).collect();
        let readings: Vec<&Reading> = readings.iter().collect();
        let takes = work_of(&readings, &default_joins()).step_costs();
        let drawn: Vec<&Reading> = draw_sample(readings.len()).into_iter().map(|at| readings[at]).collect();
        let forecast = forecast_work(&drawn, readings.len()).step_costs();
        let (all, foretold) = (takes.iter().sum::<f64>(), forecast.iter().sum::<f64>());
        for percent in (20..=95).step_by(5) {
            // What is done by the clock, and the share that is told of it.
            let now = all * f64::from(percent) / 100.0;
            let (mut clock, mut told) = (0.0, 0.0);
            for (took, share) in takes.iter().zip(forecast.iter().map(|cost| cost / foretold)) {
                let part = ((now - clock) / took.max(1e-9)).clamp(0.0, 1.0);
                told += share * part;
                clock += took * part;
            }
            let left = now * (1.0 - told) / told;
            let off = (left - (all - now)).abs() / all;
            let near = (left / (all - now) - 1.0).abs();
            assert!(
                near < 0.3 || off < 0.03,
                "{name}: {percent} %: {left} left, not {}: {takes:?} {forecast:?}",
                all - now
            );
        }
    }
}

#[test]
fn identical_rows_are_one_group() {
    let rows = vec!["云会恐高吗，鱼会口渴吗"; 50_000];
    let found = find_alike_pairs(&rows);
    assert_eq!((found.groups.len(), found.pairs.len()), (1, 0));
    assert_eq!(found.groups[0].len(), 50_000);
}
