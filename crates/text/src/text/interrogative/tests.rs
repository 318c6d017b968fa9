//! Property tests, examples, and the figures on labelled posts.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::post::Post;
use super::quotation::unwrap_quotation;
use super::words::has_cue;
use super::{Notion, Rule, is_question, judge_by, judge_text};

#[test]
fn every_rule_decides_its_example() {
    for rule in Rule::ALL {
        let example = rule.example();
        let judgement = judge_text(example.text);
        assert_eq!((judgement.rule, judgement.is_question), (*rule, example.is_question), "{}", example.text);
    }
}

#[test]
fn question_words_ask_only_where_they_are_open() {
    check("谁把月亮的电费交了", true);
    check("月亮的电费谁都可以交", false);
    check("谁先修好月亮谁交电费", false);
    check("他忘了谁交过月亮的电费", false);
    check("月亮没什么电费要交", false);
    check("月亮的电费怎么这么贵", false);
    check("你们怎么连月亮都敢停电", false);
    check("月亮和路灯的区别是什么", true);
    check("有没有人知道哪里卖月亮", true);
    check("我想知道月亮的电费是谁交的", true);
    check("百度知道月亮停电了怎么办", true);
}

#[test]
fn who_asks_decides() {
    check("“月亮几点下班？”扫帚问。", false);
    check("月亮几点下班？扫帚看着天空问道。", false);
    check("扫帚问月亮几点下班？", false);
    check("“月亮几点下班？”“等人睡着。”", false);
    check("扫帚：月亮几点下班？簸箕：等人睡着。", false);
    check("“月亮几点下班？”", true);
    check("请问月亮几点下班", true);
    check("扫帚望着天空不解：月亮几点下班？", false);
    check("路灯对老板说：月亮几点下班？", false);
    check("老板：月亮几点下班？", false);
    check("有个问题：月亮几点下班？", true);
    check("冷知识：月亮也会下班，那它几点上班？", true);
    check("扫帚说：“月亮会下班”，可是它几点上班？", true);
}

#[test]
fn answers_make_statements_of_questions() {
    check("为什么月亮不下班？因为要加班。", false);
    check("为什么月亮不下班？我等了它一夜。", true);
    check("月亮停电了怎么办？别担心，点根蜡烛。", false);
    check("月亮停电了怎么办？\n如题", true);
    check("月亮停电了怎么办？观察四周，哪颗星星亮就跟着哪颗走。", false);
    check("月亮停电了怎么办？专家：换一个。", false);
    check("月亮停电了怎么办？看不见回家的路急得团团转。", true);
    check("月亮停电了怎么办？观察四周以后我还没回家呢。", true);
    check("月亮怎么不亮呢 可能因为欠费了", false);
    check("最远的距离是什么？是我和月亮的账单", false);
    check("论如何优雅地替月亮缴费", false);
    check("什么地方最黑？ 灯下 因为灯照不到自己", false);
    check("月亮是谁发明的？也太亮了吧", true);
    check("为什么路灯白天不亮？会浪费的。", false);
    check("为什么路灯白天不亮？想不通的。", true);
}

#[test]
fn a_premise_leaves_nothing_to_tell() {
    check("既然月亮不用交电费，那么路灯为什么要交，反正都是照路。", true);
    check("月亮为什么从来不交电费，一定是有黑幕。", false);
}

#[test]
fn a_word_that_holds_a_question_word_asks_nothing() {
    check("哪吒闹海的时候月亮还没亮", false);
    check("我认为何老师该替月亮交电费", false);
    check("扫帚要参加爸爸去哪儿第三季", false);
    check("哪里可以替月亮交电费", true);
    check("月亮下班这图啥意思", true);
}

#[test]
fn form_counts_the_mark() {
    let by_form = |text| judge_by(text, Notion::Form).is_question;
    for (text, form, sense) in [
        ("月亮几点下班", false, true),
        ("月亮几点下班？", true, true),
        ("扫帚问月亮几点下班？", true, false),
        ("谁能想到，月亮竟然会下班？", true, false),
        ("为什么月亮不下班？因为要加班。", false, false),
        ("简述月亮不下班的经济学原理", true, true),
        ("月亮下班了", false, false),
    ] {
        assert_eq!((by_form(text), is_question(text)), (form, sense), "{text}");
    }
}

#[test]
fn tasks_ask_without_a_mark() {
    check("请设计一个让月亮下班的方案", true);
    check("请各位高手说说月亮下班的好处", true);
    check("请结合实际情况分析月亮下班的原因", true);
    check("请对月亮最近的表现作出评价！", true);
    check("请大家不要评价月亮的下班时间", false);
    check("请月亮下班之后再回家", false);
    check("给出把大海装进冰箱的步骤", true);
    check("从这张账单可以看出什么道理", true);
    check("月亮停电了，证明它欠费了", false);
    check("请把月亮关上再睡", false);
}

#[test]
fn alternatives_need_two_sides() {
    check("月亮算星星还是算路灯", true);
    check("等了一夜月亮还是没下班", false);
    check("这道题选月亮还是选路灯", true);
}

fn check(text: &str, is_question: bool) {
    let judgement = judge_text(text);
    assert_eq!(judgement.is_question, is_question, "{text}: {judgement:?}");
}

#[test]
fn codes_are_unique() {
    let mut codes: Vec<_> = Rule::ALL.iter().map(|rule| rule.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Rule::ALL.len());
}

#[test]
fn evidence_is_a_short_fragment_of_the_post() {
    let text = format!("{}为什么还不结束", "这句话很长".repeat(30));
    let judgement = judge_text(&text);
    assert!(judgement.is_question && judgement.evidence.chars().count() == 40);
    assert!(text.contains(&judgement.evidence));
}

/// Characters that the rules look for, so that random posts trigger them.
fn postlike() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "吗",
        "呢",
        "谁",
        "都",
        "怎么",
        "怎么办",
        "什么",
        "为什么",
        "因为",
        "是不是",
        "还是",
        "问",
        "说",
        "道",
        "“",
        "”",
        "\"",
        "「",
        "《",
        "》",
        "？",
        "?",
        "！",
        "，",
        "：",
        "。",
        "……",
        "\n",
        " ",
        "几",
        "多少",
        "简述",
        "求",
        "不知道",
        "我",
        "猫",
        "a",
        "1",
        "🐴",
        "\u{1f}",
        "（）",
        "没",
        "不",
        "有没有",
        "难道",
        "哪里",
        "么",
        "的",
    ]);
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_string_has_a_verdict(text in any::<String>()) {
        let judgement = judge_text(&text);
        prop_assert!(judgement.evidence.chars().count() <= 40);
        prop_assert!(text.contains(&judgement.evidence));
    }

    #[test]
    fn any_postlike_string_has_a_verdict(text in postlike()) {
        let judgement = judge_text(&text);
        prop_assert_eq!(judgement.is_question, judgement.rule.asks());
        prop_assert!(text.contains(&judgement.evidence));
    }

    #[test]
    fn whitespace_around_a_post_changes_nothing(text in postlike(), before in "[ \t\n\u{3000}]{0,3}", after in "[ \t\n\u{3000}]{0,3}") {
        prop_assert_eq!(judge_text(&text), judge_text(&format!("{before}{text}{after}")));
    }

    #[test]
    fn posts_without_a_cue_would_be_statements_anyway(text in postlike()) {
        if !has_cue(&text) {
            let (rule, _) = Rule::first_match(&Post::parse_text(unwrap_quotation(text.trim())));
            prop_assert!(!rule.asks(), "{:?}", rule);
        }
    }
}

/// The folder of labelled posts, if the machine has one.
fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("RIDDLEMILL_REFERENCE").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: RIDDLEMILL_REFERENCE is unset");
    }
    folder
}

/// Rows of a JSONL file as (text, whether it asks); rows marked unsure are left out. Without `label` every
/// row asks.
fn labelled(path: &Path, text: &str, label: Option<&str>) -> Vec<(String, bool)> {
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        // The published file contains the bare token NaN, which is not JSON.
        .map(|line| serde_json::from_str::<serde_json::Value>(&line.replace(": NaN", ": null")).unwrap())
        .filter(|row| row["unsure"] != true)
        .map(|row| (row[text].as_str().unwrap().to_owned(), label.is_none_or(|label| row[label] == true)))
        .collect()
}

/// Precision, recall and F1 of the verdicts by a definition, printed with the misjudged rows.
fn f1(name: &str, rows: &[(String, bool)], notion: Notion) -> f64 {
    let (mut hits, mut wanted, mut given) = (0.0, 0.0, 0.0);
    for (text, want) in rows {
        let judgement = judge_by(text, notion);
        wanted += f64::from(u8::from(*want));
        given += f64::from(u8::from(judgement.is_question));
        hits += f64::from(u8::from(*want && judgement.is_question));
        if *want != judgement.is_question {
            println!("  want {want}: {text:?} by {}: {:?}", judgement.rule.code(), judgement.evidence);
        }
    }
    let (precision, recall) = (hits / f64::max(1.0, given), hits / f64::max(1.0, wanted));
    let f1 = 2.0 * precision * recall / f64::max(1e-9, precision + recall);
    println!("{name}: n={} precision={precision:.4} recall={recall:.4} f1={f1:.4}", rows.len());
    f1
}

#[test]
fn labelled_posts_are_judged_as_people_judge_them() {
    let Some(folder) = reference() else { return };
    let posts = labelled(&folder.join("gold/question-dev.jsonl"), "text", Some("is_question"));
    let flub = labelled(&folder.join("data/reference/flub-dev.jsonl"), "text", Some("is_question"));
    let gen_prompts = labelled(&folder.join("data/reference/ruozhibench-gen-dev.jsonl"), "question_zh", None);
    assert!(f1("raw posts", &posts, Notion::Sense) >= 0.93);
    assert!(f1("FLUB is_question by sense", &flub, Notion::Sense) >= 0.98);
    assert!(f1("FLUB is_question by form", &flub, Notion::Form) >= 0.98);
    f1("RuozhiBench questions", &gen_prompts, Notion::Sense);
    let asked = gen_prompts.iter().filter(|(text, _)| is_question(text)).count();
    assert!(asked as f64 >= 0.99 * gen_prompts.len() as f64);
}

/// Prints, for each rule, how many more labelled rows are misjudged without it, on the fit part and on the
/// held-out part of each set: the table in docs/quality.md.
#[test]
#[ignore = "a measurement: run it with --nocapture"]
fn what_rules_earn() {
    let Some(folder) = reference() else { return };
    let sets = [
        labelled(&folder.join("gold/question-dev.jsonl"), "text", Some("is_question")),
        labelled(&folder.join("data/reference/flub-dev.jsonl"), "text", Some("is_question")),
        labelled(&folder.join("data/reference/ruozhibench-gen-dev.jsonl"), "question_zh", None),
    ];
    let digest_of = |text: &str| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[0]);
        hasher.update(text.as_bytes());
        hasher.finalize().as_bytes()[0] % 2 == 1
    };
    let wrong = |left_out: Option<Rule>, rows: &[(String, bool)], part: bool| {
        let asks = |text: &str| {
            let post = Post::parse_text(unwrap_quotation(text.trim()));
            let mut rules = Rule::ALL.iter().filter(|rule| Some(**rule) != left_out);
            rules.find(|rule| rule.find_case(&post).is_some()).is_some_and(|rule| rule.asks())
        };
        rows.iter().filter(|(text, want)| digest_of(text) == part && asks(text) != *want).count() as i64
    };
    for rule in Rule::ALL {
        let earned = sets
            .each_ref()
            .map(|rows| [false, true].map(|part| wrong(Some(*rule), rows, part) - wrong(None, rows, part)));
        if earned != [[0; 2]; 3] {
            println!("| `{}` | {earned:?} |", rule.code());
        }
    }
}

/// Run with `--release -- --ignored --nocapture`; a debug build is several times slower.
#[test]
#[ignore = "measures speed; meaningful in a release build on an idle core"]
fn judges_300_000_posts_a_second() {
    let posts: Vec<_> = Rule::ALL
        .iter()
        .flat_map(|rule| {
            [
                rule.example().text.to_owned(),
                "邻居把梯子借给了楼下的猫于是猫第二天就搬到了屋顶上住".to_owned(),
            ]
        })
        .collect();
    let start = Instant::now();
    let mut judged = 0_u32;
    while start.elapsed() < Duration::from_secs(1) {
        for post in &posts {
            std::hint::black_box(judge_text(std::hint::black_box(post)));
        }
        judged += u32::try_from(posts.len()).unwrap();
    }
    let rate = f64::from(judged) / start.elapsed().as_secs_f64();
    println!("{rate:.0} posts/s");
    assert!(rate >= 300_000.0);
}
