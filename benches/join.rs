//! The layers of the exact join, each by itself and all together.
//!
//!     cargo bench --bench join

use divan::{Bencher, black_box};
use riddlemill::join::{
    KeyedMember, Likeness, Metric, Order, Query, Stats, Threshold, disk_join, find_alike_pairs, keys,
    resolve, self_join, verify,
};
use riddlemill::text::sameness::Reading;

fn main() {
    divan::main();
}

const METRICS: [Metric; 4] = [Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED];

/// The vocabulary of the posts; two rare characters make each post unique.
const WORDS: [&str; 40] = [
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
    "把",
    "被",
    "让",
    "给",
    "从",
    "的",
    "了",
    "会",
    "不",
    "也",
    "吃",
    "飞",
    "游泳",
    "恐高",
    "失眠",
    "吗",
    "呢",
    "？",
    "，",
    "半夜",
];

/// Posts of 8 to 60 characters, one in 16 an edited copy. Deterministic.
fn posts(count: usize) -> Vec<String> {
    let mut state = 7u64;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut posts: Vec<String> = Vec::with_capacity(count);
    for n in 0..count {
        if n > 100 && draw(16) == 0 {
            let mut copy: Vec<char> = posts[draw(n)].chars().collect();
            copy.insert(draw(copy.len()), '呀');
            posts.push(copy.into_iter().collect());
        } else {
            let mut words: Vec<String> =
                (0..5 + draw(20)).map(|_| WORDS[draw(WORDS.len())].to_string()).collect();
            for _ in 0..2 {
                let rare = char::from_u32(0x4E00 + draw(20_000) as u32).unwrap_or('鱼');
                words.insert(draw(words.len()), rare.to_string());
            }
            posts.push(words.concat());
        }
    }
    posts
}

fn query(metric: Metric) -> Query {
    Query { metric, threshold: Threshold::new(4, 5).unwrap_or(Threshold::ONE) }
}

fn count(posts: &[String], metric: Metric) -> Stats {
    let mut stats = Stats::new(metric);
    posts.iter().for_each(|post| stats.add(post));
    stats
}

#[divan::bench(args = METRICS)]
fn stats_of_1000_posts(bencher: Bencher, metric: Metric) {
    let posts = posts(1000);
    bencher.bench(|| count(black_box(&posts), metric));
}

#[divan::bench(args = METRICS)]
fn keys_of_1000_posts(bencher: Bencher, metric: Metric) {
    let posts = posts(50_000);
    let order = Order::new(&count(&posts, metric), query(metric).threshold);
    bencher.bench(|| {
        posts[..1000].iter().filter_map(|post| keys(post, &order).ok()).map(|keys| keys.len()).sum::<usize>()
    });
}

#[divan::bench(args = METRICS)]
fn verify_a_group_of_100(bencher: Bencher, metric: Metric) {
    let (posts, query) = (posts(100), query(metric));
    let member = |row: usize, role| KeyedMember { row: row as u64, text: &posts[row], role, skip: 0 };
    let roles = [riddlemill::join::Role::Smaller, riddlemill::join::Role::Larger];
    let group: Vec<KeyedMember> = roles
        .into_iter()
        .flat_map(|role| (0..100).map(move |row| (row, role)))
        .map(|(row, role)| member(row, role))
        .collect();
    bencher.bench(|| verify(black_box(&group), &query));
}

#[divan::bench]
fn resolve_100_000_pairs(bencher: Bencher) {
    let similar_pairs: Vec<Likeness<()>> = (1..100_000u32)
        .map(|from| Likeness { into: from / 2, from, score: f64::from(from % 7) / 7.0, with: () })
        .collect();
    bencher.bench(|| resolve(black_box(similar_pairs.iter().copied())).count());
}

#[divan::bench]
fn read_1000_posts(bencher: Bencher) {
    let posts = posts(1000);
    bencher.bench(|| posts.iter().map(|post| Reading::new(post)).collect::<Vec<_>>());
}

#[divan::bench(args = METRICS, sample_count = 5)]
fn join_20_000_posts_in_memory(bencher: Bencher, metric: Metric) {
    let posts = posts(20_000);
    let rows: Vec<&str> = posts.iter().map(String::as_str).collect();
    bencher.bench(|| self_join(black_box(&rows), &query(metric)).pairs.len());
}

#[divan::bench(args = METRICS, sample_count = 5)]
fn join_20_000_posts_on_disk(bencher: Bencher, metric: Metric) {
    let posts = posts(20_000);
    bencher.bench(|| {
        disk_join(&posts, &query(metric), &std::env::temp_dir(), 1 << 31)
            .map(|found| found.effort.compared)
            .ok()
    });
}

#[divan::bench(sample_count = 5)]
fn join_20_000_posts_by_the_default_similarity(bencher: Bencher) {
    let posts = posts(20_000);
    let rows: Vec<&str> = posts.iter().map(String::as_str).collect();
    bencher.bench(|| find_alike_pairs(black_box(&rows)).pairs.len());
}
