//! Property tests of cleaning, and the labelled posts if they are at hand.

use super::*;
use proptest::prelude::*;

fn thread(title: &str, content: Option<&str>) -> Cleaned {
    clean(&PostText { kind: DraftKind::Thread, title, content })
}

fn plain(text: &str) -> Cleaned {
    clean(&PostText { kind: DraftKind::Plain, title: "", content: Some(text) })
}

fn squash(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn every_example_holds() {
    for rule in Rule::ALL {
        let (before, after) = rule.example();
        let got = match (rule, before.split_once(" / ")) {
            (_, Some((title, content))) => thread(title, Some(content)),
            (Rule::Score | Rule::Number, None) => {
                let draft = PostText { kind: DraftKind::NumberedPost, title: "", content: Some(before) };
                clean(&draft)
            }
            (_, None) => plain(before),
        };
        assert_eq!(got.text, after, "{rule:?}");
        assert!(got.hits.iter().any(|hit| hit.rule == *rule), "{rule:?} is silent: {:?}", got.hits);
        assert!(rule.definition().ends_with('.'));
    }
}

#[test]
fn a_thread_of_nothing_is_dropped() {
    assert!(matches!(thread("。", Some(".")).verdict, CleanVerdict::Drop(Reason::Placeholder, _)));
    assert!(matches!(thread("", None).verdict, CleanVerdict::Drop(Reason::Empty, _)));
    assert_eq!(thread("云", None).verdict, CleanVerdict::Keep);
}

/// Strings built from the pieces that the rules look for, so that these occur in every order.
fn post() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("云会恐高吗"),
        Just("丨"),
        Just("匚"),
        Just("\r\n"),
        Just(" "),
        Just("\u{200b}"),
        Just("\u{200d}"),
        Just("😂"),
        Just("http://a.example/1"),
        Just("www.a.example"),
        Just("[图片]"),
        Just("帖子相关图片："),
        Just("——来自某某客户端"),
        Just("发自我的iPhone"),
        Just("如题，"),
        Just("RT"),
        Just("12."),
        Just("*:"),
        Just("评分：3.5"),
        Just("。"),
        Just("J"),
        Just("[img]"),
        Just("[/img]"),
        Just("我"),
        Just("A"),
        Just("\n"),
        Just("（"),
        Just("”"),
    ];
    prop::collection::vec(prop_oneof![4 => piece.prop_map(str::to_owned), 1 => any::<String>()], 0..12)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn cleaning_is_idempotent_and_total(title in post(), content in prop::option::of(post()), kind in 0..3usize) {
        let kind = [DraftKind::Thread, DraftKind::NumberedPost, DraftKind::Plain][kind];
        let once = clean(&PostText { kind, title: &title, content: content.as_deref() });
        let twice = plain(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert_eq!(matches!(twice.verdict, CleanVerdict::Keep), matches!(once.verdict, CleanVerdict::Keep));
        prop_assert!(twice.hits.is_empty(), "{:?}", twice.hits);
    }
}

fn reference() -> Option<std::path::PathBuf> {
    let root = std::env::var_os("RIDDLEMILL_REFERENCE").map(std::path::PathBuf::from);
    if root.is_none() {
        eprintln!("skipped: RIDDLEMILL_REFERENCE is unset");
    }
    root
}

fn lines(path: &std::path::Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn labelled_threads_come_out_right() {
    let Some(root) = reference() else { return };
    let mut wrong = Vec::new();
    let mut seen = 0;
    for row in lines(&root.join("gold/clean-dev.jsonl")) {
        let got = thread(row["title"].as_str().unwrap(), row["abs"].as_str());
        let right = squash(&got.text) == squash(row["text"].as_str().unwrap());
        match row["unsure"].as_bool().unwrap() {
            true if !right => eprintln!("unsure: {row} -> {:?}", got.text),
            true => {}
            false => {
                seen += 1;
                if !right {
                    wrong.push(format!("{row} -> {:?}", got.text));
                }
            }
        }
    }
    eprintln!("clean: {} of {seen} labelled threads", seen - wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn jokes_of_the_annual_threads_are_found() {
    let Some(root) = reference() else { return };
    for tid in ["7339397421", "10354221105"] {
        let gold: Vec<serde_json::Value> = serde_json::from_str(
            &std::fs::read_to_string(root.join(format!("gold/annual-thread-{tid}.json"))).unwrap(),
        )
        .unwrap();
        let rows = lines(&root.join(format!("data/raw/threads/{tid}_dump.jsonl")));
        let owner = rows.iter().find(|row| row["floor"] == 1).unwrap()["user_id"].clone();
        let mut wanted: Vec<String> = gold.iter().map(|row| squash(row["text"].as_str().unwrap())).collect();
        let (total, mut hit, mut got) = (wanted.len(), 0, 0);
        for row in &rows {
            let standing = annual::Position {
                by_owner: row["user_id"] == owner,
                is_comment: row["is_comment"].as_bool().unwrap(),
            };
            let Ok(joke) = annual::joke(row["text"].as_str().unwrap(), standing) else { continue };
            got += 1;
            match wanted.iter().position(|text| *text == squash(joke.text)) {
                Some(at) => {
                    wanted.swap_remove(at);
                    hit += 1;
                }
                None => eprintln!("{tid}: not labelled a joke: {:?}", joke.text),
            }
        }
        let (recall, precision) = (f64::from(hit) / total as f64, f64::from(hit) / f64::from(got));
        eprintln!(
            "{tid}: {hit} of {total} jokes among {got}: recall {recall:.4}, precision {precision:.4}; missed {wanted:?}"
        );
        assert!(recall >= 0.99 && precision >= 0.99);
    }
}

/// `cargo test --release -- --ignored --nocapture speed_of_ordinary_posts`
#[test]
#[ignore = "a measurement"]
fn speed_of_ordinary_posts() {
    let titles: Vec<String> =
        (0..1000).map(|i| format!("我把第{i}朵云借给邻居晒被子他还回来的时候少了一场雨，这算")).collect();
    let posts: Vec<(String, String)> = titles
        .into_iter()
        .enumerate()
        .map(|(i, title)| {
            let content = match i % 4 {
                0 => "。".to_owned(),
                1 => title.clone(),
                2 => format!("{title}不算偷？"),
                _ => format!("邻居说第{i}场雨本来就要下在他家。"),
            };
            (title, content)
        })
        .collect();
    let (mut chars, start) = (0, std::time::Instant::now());
    const ROUNDS: usize = 1000;
    for _ in 0..ROUNDS {
        for (title, content) in &posts {
            chars += thread(title, Some(content)).text.len();
        }
    }
    let rate = (ROUNDS * posts.len()) as f64 / start.elapsed().as_secs_f64();
    eprintln!("clean: {rate:.0} posts a second, {chars} bytes out");
}
