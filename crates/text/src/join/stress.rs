//! Rows that break joins: what is counted here is work, not time.

use proptest::prelude::*;

use super::*;

const TIGHT: Query = Query { metric: Metric::Indel, threshold: EIGHTY };
const EIGHTY: Threshold = Threshold::of_ratio(4, 5);
const METRICS: [Metric; 4] = [Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED];

/// Texts of phrases that begin and go on differently, as posts of one forum are: lists of the index are full of records
/// that share one of them and little else.
pub(super) fn texts_of_phrases() -> impl Strategy<Value = Vec<String>> {
    const PHRASES: [&str; 6] = [
        "冰箱里的灯关门后还亮吗",
        "我钻进去看过一次",
        "为什么云不会恐高",
        "鱼在水里口渴了怎么办",
        "医生说一生只能死一次",
        "小偷把我家的门偷走了",
    ];
    let part = (0..PHRASES.len(), 0..4usize, 2..12usize, "[一-俿]{0,2}");
    let part = part.prop_map(|(n, from, chars, rest)| {
        PHRASES[n].chars().skip(from).take(chars).chain(rest.chars()).collect::<String>()
    });
    let text = prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat());
    prop::collection::vec(text, 2..40)
}

/// The same numbers every time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    /// A character, the first of them more often than the last.
    fn char(&mut self, of: usize) -> char {
        let n = self.below(of).min(self.below(of));
        char::from_u32(0x4E00 + n as u32).expect("an ideograph")
    }

    fn text(&mut self, chars: usize, of: usize) -> String {
        (0..chars).map(|_| self.char(of)).collect()
    }
}

fn rows(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Every pair by comparing each with each.
fn brute_force(rows: &[&str], query: &Query) -> Vec<(u32, u32)> {
    let all = (0..rows.len()).flat_map(|a| (a + 1..rows.len()).map(move |b| (a, b)));
    all.filter(|&(a, b)| query.threshold.admits(plain_similarity(query.metric, rows[a], rows[b])))
        .map(|(a, b)| (a as u32, b as u32))
        .collect()
}

fn found(rows: &[&str], query: &Query) -> Vec<(u32, u32)> {
    self_join(rows, query).pairs().map(|pair| (pair.a, pair.b)).collect()
}

#[test]
fn identical_rows_are_compared_with_nothing() {
    let mut texts = vec!["云会恐高吗，鱼会口渴吗".to_string(); 200_000];
    texts.push("云会恐高吗，鱼会口渴".into());
    let joined = self_join(&rows(&texts), &TIGHT);
    assert_eq!(joined.groups.iter().map(Vec::len).collect::<Vec<_>>(), [200_000, 1]);
    assert_eq!((joined.pairs.len(), joined.effort.compared), (1, 1));
    assert_eq!(joined.pairs().take(300_000).count(), 300_000, "one at a time");

    let folder = tempfile::tempdir().expect("a folder");
    let joined = disk_join(&texts, &TIGHT, folder.path(), 1 << 30).expect("room on disk");
    assert_eq!(joined.effort.compared, 1);
    assert_eq!(joined.pairs().expect("a file").take(300_000).flatten().count(), 300_000);
    assert_eq!(joined.copies()[&0].len(), 200_000);
}

#[test]
fn short_posts_stay_near_their_pairs() {
    for metric in METRICS {
        let mut draw = Draw(3);
        let texts: Vec<String> = (0..20_000)
            .map(|_| {
                let n = 1 + draw.below(8);
                draw.text(n, 2000)
            })
            .collect();
        let query = Query { metric, threshold: EIGHTY };
        let joined = self_join(&rows(&texts), &query);
        let useful = joined.pairs.len() as u64 + joined.groups.len() as u64;
        let Effort { compared, met, .. } = joined.effort;
        assert!(compared <= 4 * useful && met <= 200 * useful, "{metric:?}: {:?}, {useful}", joined.effort);
        let some: Vec<&str> = rows(&texts)[..400].to_vec();
        assert_eq!(found(&some, &query), brute_force(&some, &query), "{metric:?}");
    }
}

#[test]
fn work_grows_with_the_rows() {
    // Some 300 tokens either way, so that keys of one token are too common for the larger set.
    let effort = |count: usize, metric: Metric| {
        let characters = if metric.of_sequences() { 300 } else { 17 };
        let mut draw = Draw(9);
        let texts: Vec<String> = (0..count)
            .map(|_| {
                let n = 12 + draw.below(30);
                draw.text(n, characters)
            })
            .collect();
        let Effort { met, compared, .. } =
            self_join(&rows(&texts), &Query { metric, threshold: EIGHTY }).effort;
        met + compared
    };
    for metric in [Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }] {
        let (small, large) = (effort(2000, metric), effort(32_000, metric));
        assert!(large <= 64 * small.max(1000), "{metric:?}: {small} to {large}; 256 times is quadratic");
    }
}

#[test]
fn a_post_of_100_000_characters_is_one_post() {
    let mut draw = Draw(5);
    let mut texts: Vec<String> = (0..500).map(|_| draw.text(30, 3000)).collect();
    let long = draw.text(100_000, 3000);
    texts.push(format!("{long}完"));
    texts.push(long);
    for metric in METRICS {
        let joined = self_join(&rows(&texts), &Query { metric, threshold: EIGHTY });
        assert_eq!(joined.pairs.iter().map(|p| (p.a, p.b)).collect::<Vec<_>>(), [(500, 501)], "{metric:?}");
        let Effort { keys, probes, .. } = joined.effort;
        assert!(keys + probes < 2_000_000, "{metric:?}: {:?}", joined.effort);
    }
    let alike = find_alike_pairs(&rows(&texts));
    assert_eq!(alike.pairs.iter().map(|p| (p.a, p.b)).collect::<Vec<_>>(), [(500, 501)]);
}

#[test]
fn emoji_and_combining_marks_are_characters() {
    let texts = [
        "😀😀😀😀😁",
        "😀😀😀😀😀",
        "😀😀😀😀",
        "🐟",
        "🐠",
        "👨‍👩‍👧",
        "👨‍👩‍👦",
        "e\u{301}",
        "é",
        "e",
        "a\u{300}\u{301}\u{302}\u{303}",
        "a\u{300}\u{301}\u{302}\u{304}",
        "\u{301}",
        "",
        "",
        "❤️",
        "❤",
    ];
    for metric in METRICS {
        for threshold in [EIGHTY, Threshold::of_ratio(1, 2), Threshold::ONE] {
            let query = Query { metric, threshold };
            assert_eq!(found(&texts, &query), brute_force(&texts, &query), "{query:?}");
        }
    }
    let alike = find_alike_pairs(&texts);
    let group = |text: &str| {
        let row = texts.iter().position(|other| *other == text).map(|row| row as u32);
        alike.groups.iter().position(|rows| row.is_some_and(|row| rows.contains(&row)))
    };
    assert_eq!(group("e\u{301}"), group("é"), "one spelling");
    assert_ne!(group("🐟"), group("🐠"));
    assert_eq!(group(""), None);
    assert!(alike.pairs.is_empty(), "{:?}", alike.pairs);
}

#[test]
fn ties_are_in() {
    // 8 of 10 characters, 2·8 of 20, 2 grams of 3, and by weight 3/5.
    let tied = [
        (Metric::Levenshtein, ["abcdefghij", "abcdefghXY"], (4, 5)),
        (Metric::Indel, ["abcdefghij", "abcdefghXY"], (4, 5)),
        (Metric::Jaccard { n: 2 }, ["abcd", "abc"], (2, 3)),
        (Metric::REWORDED, ["abcde", "abcXY"], (3, 5)),
    ];
    for (metric, rows, (num, den)) in tied {
        let at = Query { metric, threshold: Threshold::of_ratio(num, den) };
        assert_eq!(found(&rows, &at), [(0, 1)], "{metric:?}");
        let over = Query { metric, threshold: Threshold::of_ratio(num * 1000 + 1, den * 1000) };
        assert_eq!(found(&rows, &over), [], "{metric:?}");
    }
}

/// Records of few phrases: few lists have all the work.
#[test]
fn progress_reaches_the_whole_where_lists_are_long() {
    let mut draw = Draw(7);
    let phrases: Vec<String> = (0..30).map(|_| draw.text(12, 2000)).collect();
    let texts: Vec<String> =
        (0..2000).map(|_| (0..3).map(|_| phrases[draw.below(30)].as_str()).collect()).collect();
    for metric in METRICS {
        let sum = watch::Sum::default();
        self_join_watched(&rows(&texts), &Query { metric, threshold: EIGHTY }, &sum);
        let (all, longest) = sum.sum_and_largest();
        assert!((all - 1.0).abs() < 1e-6 && longest < 0.25, "{metric:?}: {all}, {longest} at once");
    }
}
