//! The same input gives the same bytes, however a run proceeded.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::{RECIPES, Workspace, assert_same, source, title};

#[test]
fn all_that_is_derived_can_be_derived_again() {
    let ws = Workspace::sample();
    ws.run();
    let first = ws.derived();
    ws.remove_derived();
    ws.run();
    assert_same(&first, &ws.derived(), "after rm -rf staged output");
}

#[test]
fn threads_places_and_the_order_of_sources_do_not_show() {
    let ws = Workspace::sample();
    ws.call(["run", "--threads", "1"]).expect(0);
    let first = ws.derived();

    let other = Workspace::sample();
    let text = other.read("pipeline.toml");
    let start = text.find("[[source]]\n").unwrap();
    let end = text.find("\n# Drafts come from").unwrap();
    let mut tables: Vec<&str> = text[start..end].split("\n\n").map(str::trim).collect();
    assert!(tables.len() >= 3);
    tables.reverse();
    let turned = format!("{}{}\n{}", &text[..start], tables.join("\n\n"), &text[end..]);
    assert!(turned.find("sample-thread").unwrap() < turned.find("sample-titles").unwrap());
    other.write("pipeline.toml", turned);
    other.call(["run", "--threads", "3"]).expect(0);
    assert_same(&first, &other.derived(), "three threads, another folder, sources turned round");
}

/// Two parts of posts, of which each stage keeps some, changes some and drops some; ids recur within a part
/// and in the other.
#[test]
fn parts_are_the_same_from_any_threads_and_from_the_filters() {
    let texts = [
        "云会恐高吗，会不会",
        "鱼会口渴吗？要多少水",
        "占楼",
        "云飞",
        "冰箱里的灯丨关丨了门还亮吗",
        "加我QQ123456789，一起看云",
        "http://example.com/p/1\n门把手坏了怎么敲门",
        "第三个例子（如图）",
    ];
    let rows: Vec<String> = (0..70_000_u64)
        .map(|i| {
            let text = texts[(i % 61 % 8) as usize];
            match i {
                _ if i % 97 == 5 => title(1000 + i / 2, text),
                _ if i % 500 == 7 => "{\"title\": ".into(),
                _ => title(1000 + i, &format!("{text}{}", "云".repeat((i % 9) as usize))),
            }
        })
        .collect();
    let workspace = || {
        let ws = Workspace::with(&format!("version = 1\n{}", source("a", "leymore-titles", "raw/a.jsonl")));
        ws.write("raw/a.jsonl", rows.join("\n"));
        ws.write("raw/salt", "5a".repeat(32));
        ws
    };
    let (one, three, apart) = (workspace(), workspace(), workspace());
    let run = |ws: &Workspace, threads: &str| {
        ws.call(["run", "--threads", threads, "--offline", "--recipe", "flub", "--to", "filter"])
    };
    run(&one, "1").expect(3);
    run(&three, "3").expect(3);
    assert_same(&one.derived(), &three.derived(), "one thread and three");
    one.audit_clean();
    let parts = |stage: &str| {
        let manifest: serde_json::Value =
            serde_json::from_str(&one.read(&format!("staged/flub/{stage}/manifest.json"))).unwrap();
        let rows = |table: &str| -> Vec<u64> {
            let parts = manifest["tables"][table]["parts"].as_array().unwrap();
            parts.iter().map(|part| part["rows"].as_u64().unwrap()).collect()
        };
        (rows("ledger"), rows("rows"))
    };
    // A part of import becomes a part of every later stage, with fewer rows.
    let (import, clean, filter) = (parts("01_import"), parts("02_clean"), parts("04_filter"));
    assert_eq!(import.0, [65_536, 70_000 - 65_536]);
    assert_eq!(clean.0, import.1);
    assert!(filter.1[0] < 65_000 && filter.1[0] > 30_000 && filter.1.len() == 2, "{filter:?}");

    let sh = |line: &str| apart.shell(&format!("set -o pipefail; {line}"));
    sh("mkdir books; \"$0\" apply import --source a raw/a.jsonl > books/import").expect(3);
    sh("\"$0\" assemble --recipe flub import books/import").expect(3);
    for (before, stage) in [("import", "clean"), ("clean", "anonymise"), ("anonymise", "filter")] {
        sh(&format!("\"$0\" apply {stage} --ledger --recipe flub < books/{before} > books/{stage}"))
            .expect(0);
        sh(&format!("\"$0\" assemble --recipe flub {stage} books/{stage}")).expect(0);
    }
    assert_same(&one.derived(), &apart.derived(), "from the filters");
}

/// Whoever imports on many machines learns, too, that a source gave nothing: before others, between them, and as the last.
#[test]
fn a_source_that_gives_nothing_is_told_by_parts() {
    let names = ["a", "b", "c", "d", "e"];
    let workspace = || {
        let settings = names.map(|name| source(name, "leymore-titles", &format!("raw/{name}.json"))).concat();
        let ws = Workspace::with(&format!("version = 1\n{settings}"));
        for (n, name) in (0..).zip(names) {
            let rows = match n % 2 {
                0 => String::new(),
                _ => title(100 + n, "云会恐高吗，会不会"),
            };
            ws.write(&format!("raw/{name}.json"), format!("[{rows}]"));
        }
        ws.write("raw/salt", "5a".repeat(32));
        ws
    };
    let (whole, parts) = (workspace(), workspace());
    whole.call(["run", "--offline", "--recipe", "flub", "--to", "import"]).expect(3);
    parts.shell(
        "\"$0\" apply import --source b raw/b.json > b; \"$0\" apply import --source d raw/d.json > d",
    );
    parts.call(["assemble", "--recipe", "flub", "import", "b", "d"]).expect(3);
    assert_same(&whole.derived(), &parts.derived(), "in parts");
    let nothing = parts.call(["show", "import", "--recipe", "flub", "--outcome", "failed"]).expect(0).out;
    assert_eq!(nothing.matches("nothing_read").count(), 3, "{nothing}");
}

/// Deterministic pseudo-random numbers from 0 to 1.
fn chances() -> impl Iterator<Item = f64> {
    let mut random = fastrand::Rng::with_seed(7);
    std::iter::repeat_with(move || random.f64())
}

#[test]
fn thirty_killed_runs_leave_no_trace() {
    let ws = Workspace::sample();
    ws.run();
    let want = ws.derived();
    ws.remove_derived();
    let start = Instant::now();
    ws.run();
    let whole = start.elapsed();

    let mut cut = 0;
    for (i, chance) in chances().take(30).enumerate() {
        // From scratch, over a complete run, and continuing where the last one was killed.
        match i % 3 {
            0 => ws.remove_derived(),
            1 => drop(ws.run()),
            _ => {}
        }
        let args: &[&str] = if i % 3 == 1 { &["run", "--offline", "--force"] } else { &["run", "--offline"] };
        let mut child = ws.start(args);
        sleep(Duration::from_secs_f64(whole.as_secs_f64() * chance));
        cut += i32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        if i % 3 == 2 {
            ws.run();
            assert_same(&want, &ws.derived(), &format!("after kill {i}"));
        }
    }
    ws.run();
    assert_same(&want, &ws.derived(), "after 30 kills");
    ws.audit_clean();
    assert!(cut >= 10, "only {cut} of 30 runs were still at work when they were killed");
}

#[test]
fn two_at_once_do_not_meet() {
    let ws = Workspace::sample();
    ws.run();
    let want = ws.derived();
    ws.remove_derived();
    let runs: Vec<_> = (0..3).map(|_| ws.start(["run", "--offline"])).collect();
    let codes: Vec<i32> =
        runs.into_iter().map(|run| run.wait_with_output().unwrap().status.code().unwrap_or(-1)).collect();
    assert!(codes.iter().all(|code| [0, 5].contains(code)), "{codes:?}");
    ws.run();
    assert_same(&want, &ws.derived(), "after three runs at once");
    ws.audit_clean();
    for recipe in RECIPES {
        assert!(ws.exists(&format!("output/{recipe}/candidate/SHA256SUMS")));
    }
}
