//! Stages in parts: the filters individually, and their combined output compared with that of a single run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;
use riddlemill::config::sections::{DedupMetric, Keep};
use riddlemill::config::{Config, sections};
use riddlemill::join::Unwatched;
use riddlemill::record::Post;
use riddlemill::stages::apply::{RowObject, apply_dedup};
use riddlemill::stages::parted::{
    CommonPairs, Decision, Group, KeyLine, Keyer, Measure, MergeTarget, PairLine, PartStats, Share,
    decide_merges, ledger_record, rank_of, verify_line,
};
use serde_json::{Value, json};

use crate::harness::{Workspace, assert_same, source, title};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Posts of which many resemble others: copies, prefixes, synonyms, other punctuation.
fn posts(count: u64) -> Vec<Value> {
    let words =
        ["云", "会恐高吗", "鱼", "口渴", "为什么", "冰箱里的灯", "关了门", "还亮吗", "医生", "第二期", "，"];
    let mut state = 11u64;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut texts: Vec<String> = Vec::new();
    for n in 0..count {
        let text = match draw(5) {
            0 if n > 9 => format!("{}。", texts[draw(texts.len())]),
            1 if n > 9 => format!("{}然后呢", texts[draw(texts.len())]),
            2 if n > 9 => texts[draw(texts.len())].clone(),
            _ => (0..3 + draw(8)).map(|_| words[draw(words.len())]).collect(),
        };
        texts.push(text);
    }
    texts.push(String::new());
    texts.push(" \u{3000}".into());
    let row = |(n, text): (usize, String)| json!({ "id": format!("p{n:04}"), "text": text, "score": n % 7 });
    texts.into_iter().enumerate().map(row).collect()
}

fn jsonl<'a>(rows: impl IntoIterator<Item = &'a Value>) -> String {
    rows.into_iter().fold(String::new(), |mut text, row| {
        let _ = writeln!(text, "{row}");
        text
    })
}

/// The decision on each dropped row: the row it is merged into, the score.
type Gone = BTreeMap<String, (String, f64)>;

fn gone(decided: &[Value]) -> Gone {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_string();
    decided
        .iter()
        .filter(|row| !row["into"].is_null())
        .map(|row| (text(row, "id"), (text(row, "into"), row["score"].as_f64().unwrap())))
        .collect()
}

#[test]
fn dedup_in_parts_is_dedup() {
    let ws = Workspace::folder();
    let rows = posts(400);
    ws.write("rows.jsonl", jsonl(&rows));
    for how in ["", "--metric indel --threshold 0.8 --normalize none", "--metric jaccard --threshold 0.7"] {
        let whole = lines(&ws.shell(&format!("\"$0\" apply dedup {how} < rows.jsonl")).expect(0).out);
        let expected = gone(&whole);
        assert!(expected.len() > 100, "{how}: {}", expected.len());
        let sh = |line: &str| {
            ws.shell(&format!("export LC_ALL=C; set -o pipefail; {}", line.replace('@', how))).expect(0)
        };
        sh("\"$0\" apply dedup-keys @ < rows.jsonl | sort | \"$0\" apply dedup-verify @ > copies.jsonl");
        let copies: BTreeSet<String> = lines(&ws.read("copies.jsonl"))
            .iter()
            .map(|pair| pair["from"].as_str().unwrap().split_once(':').unwrap().1.to_string())
            .collect();
        let heads = rows.iter().filter(|row| !copies.contains(row["id"].as_str().unwrap()));
        ws.write("heads.jsonl", jsonl(heads));
        // Counted in two parts, which are added up in reverse order.
        sh(
            "split -n l/2 heads.jsonl part-; for p in part-aa part-ab; do \"$0\" apply dedup-stats @ < $p > $p.stats; done",
        );
        sh("cat part-ab.stats part-aa.stats | \"$0\" apply dedup-stats @ > stats.jsonl");
        sh("\"$0\" apply dedup-stats @ < heads.jsonl | cmp - stats.jsonl");
        let keys = "\"$0\" apply dedup-keys @ --stats stats.jsonl";
        sh(&format!(
            "{keys} --texts < heads.jsonl | sort | \"$0\" apply dedup-verify @ --stats stats.jsonl | sort -u > pairs.jsonl"
        ));
        sh(
            "cat pairs.jsonl copies.jsonl | \"$0\" apply dedup-resolve --memory 1 --on-disk . > decided.jsonl",
        );
        assert_eq!(gone(&lines(&ws.read("decided.jsonl"))), expected, "{how}");

        // Without texts the pairs are only proposed, and every true pair is among them.
        sh(&format!("{keys} < heads.jsonl | sort | \"$0\" apply dedup-verify @ | sort -u > maybe.jsonl"));
        let ends = |path: &str| -> BTreeSet<(String, String)> {
            let end = |pair: &Value, key: &str| pair[key].as_str().unwrap().to_string();
            lines(&ws.read(path)).iter().map(|pair| (end(pair, "from"), end(pair, "into"))).collect()
        };
        assert!(ends("maybe.jsonl").is_superset(&ends("pairs.jsonl")), "{how}");
        // The data next to a key rejects most of the pairs that share one, or most of the proposed pairs are
        // true.
        let groups = lines(&sh(&format!("{keys} < heads.jsonl")).out).into_iter().fold(
            BTreeMap::<(String, String), [u64; 2]>::new(),
            |mut groups, key| {
                groups.entry((key["key"].to_string(), key["of"].to_string())).or_default()
                    [key["role"].as_u64().unwrap() as usize] += 1;
                groups
            },
        );
        let met: u64 = groups.values().map(|[wait, look]| wait * look).sum();
        let named = ends("maybe.jsonl").len() as u64;
        let pairs = ends("pairs.jsonl").len() as u64;
        assert!(
            20 * named < met || named < 4 * pairs,
            "{how}: of {met} pairs that share a key {named} are named, and {pairs} are pairs"
        );
        // In shares; no key is in two of them.
        let shared = format!("for n in 1 2 3; do {keys} --share $n/3 < heads.jsonl > share-$n; done");
        sh(&format!("{shared}; {keys} < heads.jsonl | sort > whole; sort share-? | cmp - whole"));
        assert!(lines(&ws.read("share-2")).len() > lines(&ws.read("whole")).len() / 5, "{how}");
        let of_shares = "for n in 1 2 3; do sort share-$n | \"$0\" apply dedup-verify @; done | sort -u";
        sh(&format!("{of_shares} | cmp - maybe.jsonl"));
    }
    let left: Vec<_> = std::fs::read_dir(ws.root())
        .unwrap()
        .filter_map(|e| e.unwrap().file_name().into_string().ok())
        .collect();
    assert!(left.iter().all(|name| !name.starts_with('.')), "no working file is left: {left:?}");
}

#[test]
fn what_is_no_line_is_reported_and_the_rest_goes_on() {
    let ws = Workspace::folder();
    ws.write("rows.jsonl", "{\"id\":\"a\",\"text\":\"云会恐高吗\"}\nno row\n{\"text\":\"鱼\"}\n{\"id\":\"b\",\"text\":\"云会恐高吗！\"}\n");
    let result = ws.shell("\"$0\" apply dedup-keys < rows.jsonl").expect(3);
    assert_eq!(lines(&result.out).len(), 2);
    assert!(result.err.contains("line 2") && result.err.contains("line 3"), "{}", result.err);
    let result = ws.shell("\"$0\" apply dedup-stats < rows.jsonl").expect(3);
    assert_eq!(lines(&result.out)[0]["rows"], 2, "{}", result.out);
    let result = ws.shell("\"$0\" apply filter --ledger < rows.jsonl").expect(3);
    let outcomes: Vec<Value> = lines(&result.out).iter().map(|row| row["entry"]["outcome"].clone()).collect();
    assert_eq!(outcomes, ["kept", "failed", "failed", "kept"]);
    // A numeric id is identified by its digits; of many invalid lines only the first are reported.
    let many = "no row\n".repeat(50);
    ws.write(
        "numbers.jsonl",
        format!("{{\"id\":7,\"text\":\"鱼\"}}\n{{\"id\":12,\"text\":\"鱼！\"}}\n{many}"),
    );
    let result = ws.shell("\"$0\" apply dedup-keys < numbers.jsonl").expect(3);
    assert!(lines(&result.out)[0]["rank"].as_str().unwrap().ends_with(":7"), "{}", result.out);
    assert!(result.err.contains("30 more lines") && result.err.lines().count() < 25, "{}", result.err);
    // Sorted differently, the keys are not grouped.
    let result =
        ws.shell("\"$0\" apply dedup-keys < rows.jsonl | sort -r | \"$0\" apply dedup-verify").expect(2);
    assert!(result.err.contains("sort"), "{}", result.err);
    // Texts are not compared without the counts.
    let result = ws
        .shell("\"$0\" apply dedup-stats < rows.jsonl > stats; \"$0\" apply dedup-keys --stats stats --texts < numbers.jsonl | sort | \"$0\" apply dedup-verify")
        .expect(2);
    assert!(result.err.contains("--stats FILE"), "{}", result.err);
    // Counts for one measure cannot be used for another.
    ws.shell("\"$0\" apply dedup-stats < rows.jsonl > stats").expect(3);
    let result = ws.shell("\"$0\" apply dedup-keys --metric indel --stats stats < rows.jsonl").expect(2);
    assert!(result.err.contains("stats:1"), "{}", result.err);
}

#[test]
fn import_reads_a_dump_from_a_pipe() {
    let ws = Workspace::with("version = 1\n");
    let dump = "{\"id\":\"t1\",\"title\":\"云会恐高吗\",\"selftext\":\"\"}\nbroken\n{\"id\":\"t2\",\"title\":\"鱼会口渴吗\",\"selftext\":\"\"}\n";
    ws.write("dump.jsonl", dump);
    let piped = ws.shell("\"$0\" apply import --kind reddit --file dump.jsonl < dump.jsonl").expect(3);
    let read = ws.shell("\"$0\" apply import --kind reddit dump.jsonl").expect(3);
    assert_eq!(piped.out, read.out);
    let books = lines(&piped.out);
    assert_eq!(books.len(), 3);
    assert_eq!(books[1]["entry"]["id"], "dump/dump.jsonl:2");
    assert_eq!(books[1]["entry"]["outcome"], "failed");
    assert_eq!(books[2]["rows"][0]["id"], "reddit:t2");
    let result = ws.shell("\"$0\" apply import < dump.jsonl").expect(2);
    assert!(result.err.contains("--kind"), "{}", result.err);
}

/// Import by file, the stateless stages by line, dedup by key: staged/ equals that of `run`, byte for byte.
#[test]
fn partitions_are_assembled_into_what_run_writes() {
    let settings = ["a", "b", "c"].map(|name| source(name, "leymore-titles", &format!("raw/{name}.json")));
    let ws = Workspace::with(&format!("version = 1\n{}", settings.concat()));
    let texts = [
        "云会恐高吗，会不会",
        "云会恐高吗，会不会啊",
        "鱼会口渴吗",
        "冰箱里的灯关了门还亮吗，我钻进去看过",
        "《如题》",
        "占楼",
    ];
    for (n, name) in ["a", "b", "c"].into_iter().enumerate() {
        let mut rows: Vec<String> = (0..40u64)
            .map(|i| title(100 * (n as u64 + 1) + i, texts[(i as usize + n) % texts.len()]))
            .collect();
        // Ids that also occur in other files, with the same text and with another.
        rows.extend((0..6).map(|i| title(100 + i, texts[i as usize])));
        rows.extend((0..3).map(|i| title(110 + i, "换了一个说法，谁还认得出来呢")));
        ws.write(&format!("raw/{name}.json"), format!("[{}]", rows.join(",\n")));
    }
    ws.call(["run", "--offline", "--recipe", "flub", "--to", "dedup"]).expect(0);
    let expected = ws.derived();
    ws.remove("staged");
    let sh = |line: &str| ws.shell(&format!("export LC_ALL=C; set -o pipefail; {line}")).expect(0);
    let dumps = lines(&sh("\"$0\" apply import --list --recipe flub").out);
    assert_eq!(dumps.len(), 3);
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut apart: BTreeSet<(String, String)> = BTreeSet::new();
    let mut marked = String::new();
    for dump in &dumps {
        let name = dump["source"].as_str().unwrap();
        let path = dump["path"].as_str().unwrap();
        for record in sh(&format!("\"$0\" apply import --unsettled --source {name} {path}")).out.lines() {
            let actual: Value = serde_json::from_str(record).unwrap();
            let (id, text) = match &actual["rows"][0] {
                Value::Null => (String::new(), String::new()),
                post => (post["id"].to_string(), post["text"].to_string()),
            };
            let known = first.get(&id).map(|known| *known == text).filter(|_| !id.is_empty());
            // Texts that differ are unlike here: the first of each is kept apart.
            let again = |same: bool, apart: bool| {
                format!("{{\"again\":[{{\"row\":0,\"same\":{same},\"apart\":{apart}}}],\"record\":{record}}}")
            };
            let line = match known {
                Some(true) => again(true, false),
                // Too short to be unlike anything.
                Some(false) if first[&id].contains("如题") => again(false, false),
                Some(false) => again(!apart.insert((id.clone(), text.clone())), true),
                None => record.to_owned(),
            };
            let _ = writeln!(marked, "{line}");
            first.entry(id).or_insert(text);
        }
    }
    ws.write("marked.jsonl", &marked);
    sh("mkdir -p books; \"$0\" apply settle < marked.jsonl > books/import");
    for (before, stage) in [("import", "clean"), ("clean", "anonymise"), ("anonymise", "filter")] {
        sh(&format!("\"$0\" apply {stage} --ledger --recipe flub < books/{before} > books/{stage}"));
    }
    sh("\"$0\" apply dedup-keys < books/filter | sort | \"$0\" apply dedup-verify > copies");
    let rows: Vec<Value> =
        lines(&ws.read("books/filter")).iter().filter_map(|b| b["rows"].get(0).cloned()).collect();
    // All four in one pass give the same, and the remaining rows are the posts that filter keeps.
    let left = lines(&sh("mkdir one; \"$0\" apply rows --ledgers one --recipe flub < marked.jsonl").out);
    for stage in ["import", "clean", "anonymise", "filter"] {
        assert_eq!(ws.read(&format!("one/{stage}")), ws.read(&format!("books/{stage}")), "{stage}");
    }
    let of_dedup = |row: &Value| ["id", "text", "score", "time"].map(|column| row[column].clone());
    assert_eq!(left.iter().map(of_dedup).collect::<Vec<_>>(), rows.iter().map(of_dedup).collect::<Vec<_>>());
    let result = ws.shell("\"$0\" apply rows --recipe flub < marked.jsonl").expect(2);
    assert!(result.err.contains("rows needs --ledgers FOLDER"), "{}", result.err);
    let copies: BTreeSet<String> = lines(&ws.read("copies"))
        .iter()
        .map(|p| p["from"].as_str().unwrap().split_once(':').unwrap().1.into())
        .collect();
    ws.write("heads", jsonl(rows.iter().filter(|row| !copies.contains(row["id"].as_str().unwrap()))));
    sh(
        "\"$0\" apply dedup-stats < heads > stats; \"$0\" apply dedup-keys --stats stats --texts < heads | sort | \"$0\" apply dedup-verify --stats stats | sort -u > pairs",
    );
    let decided = lines(&sh("cat copies pairs | \"$0\" apply dedup-resolve").out);
    let row_of = |id: &Value| rows.iter().find(|row| row["id"] == *id).unwrap();
    let decided: Vec<Value> = rows
        .iter()
        .map(|row| match decided.iter().find(|decision| decision["id"] == row["id"]) {
            None => json!({ "row": row }),
            Some(d) => json!({ "row": row, "into": row_of(&d["into"]), "score": d["score"], "predicate": d["predicate"] }),
        })
        .collect();
    ws.write("decided", jsonl(&decided));
    sh("\"$0\" apply dedup-ledger < decided > books/dedup");
    let mut pairs = lines(&ws.read("pairs"));
    let id = |pair: &Value, end: &str| pair[end].as_str().unwrap().split_once(':').unwrap().1.to_string();
    pairs.sort_by_key(|pair| (id(pair, "into"), id(pair, "from")));
    ws.write("pairs", jsonl(&pairs));
    // A missing partition is reported, and nothing is written.
    sh("\"$0\" assemble --recipe flub import books/import");
    let result = ws.shell("head -n 3 books/clean > few; \"$0\" assemble --recipe flub clean few").expect(1);
    assert!(result.err.contains("a partition is missing"), "{}", result.err);
    assert!(!ws.exists("staged/flub/02_clean/manifest.json"));
    // The later stages are assembled where no dump is.
    sh("mkdir away; mv raw/?.json away");
    for stage in ["clean", "anonymise", "filter"] {
        sh(&format!(
            "split -n l/3 books/{stage} part-; gzip -f part-ab; \"$0\" assemble --recipe flub {stage} part-aa part-ab.gz part-ac"
        ));
    }
    sh("\"$0\" assemble --recipe flub --pairs pairs dedup books/dedup; mv away/* raw");
    ws.remove("output");
    assert_same(
        &expected.into_iter().filter(|(path, _)| path.starts_with("staged")).collect(),
        &ws.derived(),
        "assembled",
    );
    ws.audit_clean();
    let actual = ws.explain("flub", "tieba:100");
    assert!(actual.to_string().contains("clean"), "{actual}");
    let result = ws.call(["run", "--offline", "--recipe", "flub", "--to", "dedup"]).expect(0);
    assert!(!result.err.contains("not made yet"), "all of it is fresh: {}", result.err);
}

/// Applies the functions to random partitions of posts.
fn in_parts(
    posts: &[Post],
    settings: &sections::Dedup,
    parts: usize,
) -> BTreeMap<String, (String, u64, String)> {
    let measure = Measure::new(settings);
    let line = |key: KeyLine| serde_json::to_string(&key).unwrap();
    let grouped = |mut keys: Vec<String>, common: Option<&CommonPairs>| -> Vec<PairLine> {
        keys.sort();
        let (mut group, mut pairs) = (Group::default(), Vec::new());
        for key in keys {
            let key = serde_json::from_str(&key).unwrap();
            verify_line(&measure, common, &mut group, key, |pair| pairs.push(pair)).unwrap();
        }
        pairs
    };
    let rank = |post: &Post| rank_of(post, settings.keep);
    let by_rank: BTreeMap<String, &Post> = posts.iter().map(|post| (rank(post), post)).collect();
    let same = |post: &Post| Keyer::copy_key(&measure, &rank(post), &post.text, Share::WHOLE).map(line);
    let mut pairs = grouped(posts.iter().filter_map(same).collect(), None);
    let gone: BTreeSet<String> = pairs.iter().map(|pair| pair.from.clone()).collect();
    let heads: Vec<&Post> = posts.iter().filter(|post| !gone.contains(&rank(post))).collect();
    let share = heads.len().div_ceil(parts).max(1);
    let stats = heads.chunks(share).rev().fold(PartStats::new(&measure), |all, part| {
        let mut stats = PartStats::new(&measure);
        part.iter().for_each(|post| stats.add(&measure, &post.text));
        stats.merge(all)
    });
    let keyer = Keyer::new(measure.clone(), &stats);
    let mut keys = Vec::new();
    for post in &heads {
        keyer.emit_keys(&rank(post), &post.text, Share::WHOLE, |key| keys.push(line(key))).unwrap();
    }
    let maybe = grouped(keys, None);
    let named: BTreeSet<(String, String)> = maybe.into_iter().map(|pair| (pair.from, pair.into)).collect();
    let members = named.iter().flat_map(|(from, into)| [(from, from, into), (into, from, into)]);
    let texts = members
        .map(|(rank, from, into)| {
            line(KeyLine {
                key: format!("{from} {into}"),
                role: 0,
                rank: rank.into(),
                of: "pair".into(),
                skip: 0,
                signature: "".into(),
                size: 0,
                text: Some((&by_rank[rank].text).into()),
            })
        })
        .collect();
    pairs.extend(grouped(texts, Some(&stats.common_pairs())));
    let mut decided: Vec<Decision> = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let pairs = pairs.into_iter().map(Ok::<_, std::convert::Infallible>);
    decide_merges(pairs, folder.path(), 1 << 16, |decision| {
        decided.push(decision);
        Ok(())
    })
    .unwrap();
    let post = |id: &str| posts.iter().find(|post| post.id == id).unwrap().clone();
    decided
        .into_iter()
        .map(|d| {
            let decided = MergeTarget { into: post(&d.into), score: d.score, predicate: d.predicate };
            let entry = ledger_record(post(&d.id), Some(decided)).entry;
            let result = format!("{:?} {:?}", entry.reason, entry.evidence);
            (d.id, (d.into, d.score.to_bits(), result))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_partition_decides_as_the_whole(
        texts in prop::collection::vec("[云鱼会吗，。不一]{0,4}(为什么|医生|第二期|第三期|\n1、)?[云鱼会吗恐高]{0,9}", 0..24),
        copies in prop::collection::vec((0usize..24, 0usize..24, "(。|呢|然后呢)?"), 0..12),
        metric in prop::sample::select(vec![
            DedupMetric::Default,
            DedupMetric::Default,
            DedupMetric::Levenshtein,
            DedupMetric::Indel,
            DedupMetric::Jaccard,
        ]),
        keep in prop::sample::select(Keep::ALL),
        parts in 1usize..5,
        normalize: bool,
    ) {
        let mut texts = texts;
        for (from, cut, more) in copies {
            let Some(text) = texts.get(from).cloned() else { continue };
            texts.push(format!("{}{more}", text.chars().take(30 - cut).collect::<String>()));
        }
        let mut settings: sections::Dedup = Config::defaults().typed_settings(None, "dedup");
        (settings.metric, settings.keep, settings.normalize) = (metric, keep, normalize);
        (settings.threshold, settings.margin) = (0.7, 0.0);
        let post = |(n, text): (usize, String)| Post {
            id: format!("{n:03}"),
            text,
            score: (n % 3 > 0).then_some(n as f64 % 2.0),
            time: (n % 4 > 0).then(|| (n % 5).to_string()),
            ..Post::default()
        };
        let posts: Vec<Post> = texts.into_iter().enumerate().map(post).collect();
        let rows: Vec<RowObject> = posts
            .iter()
            .map(|p| json!({ "id": p.id, "text": p.text, "score": p.score, "time": p.time }).as_object().unwrap().clone())
            .collect();
        let expected: BTreeMap<String, (String, u64, String)> = apply_dedup(rows, &settings, None, &Unwatched, |_, _, _| {})
            .into_iter()
            .filter(|row| row["outcome"] == "merged")
            .map(|row| {
                let text = |key: &str| row[key].as_str().map(str::to_string);
                let result = format!("{:?} {:?}", text("reason"), text("evidence"));
                (text("id").unwrap(), (text("into").unwrap(), row["score"].as_f64().unwrap().to_bits(), result))
            })
            .collect();
        prop_assert_eq!(in_parts(&posts, &settings, parts), expected);
    }
}
