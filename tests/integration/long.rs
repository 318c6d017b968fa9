//! Long work shows progress, stops on request, and writes escape sequences only to terminals.

use std::fmt::Write;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::generate::{GEN, LOOP, Server, served};
use crate::harness::{Workspace, source};

fn interrupt(id: u32) {
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {id}")]).status().unwrap();
    assert!(kill.success());
}

/// This many short posts that hardly resemble each other, but share many characters.
fn corpus(posts: u64) -> String {
    let letters: Vec<char> = "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感".chars().collect();
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut text = String::new();
    for id in 0..posts {
        let length = 14 + next() % 30;
        let words: String = (0..length).map(|_| letters[next() % letters.len()]).collect();
        writeln!(text, "{}", serde_json::json!({ "id": format!("p{id}"), "content": words })).unwrap();
    }
    text
}

fn with_corpus(posts: u64) -> Workspace {
    let source = source("posts", "table", "raw/dumps/posts.jsonl");
    let ws =
        Workspace::with(&format!("{source}fields = {{ id = \"tieba:{{id}}\", content = \"content\" }}\n"));
    ws.write("raw/dumps/posts.jsonl", corpus(posts));
    ws
}

/// CPU seconds of a process, on all cores.
fn cpu_secs(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    // User and system time, in hundredths.
    fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[test]
fn ctrl_c_ends_dedup_within_two_seconds() {
    let ws = with_corpus(120_000);
    let args = ["run", "-v", "--offline", "--recipe", "chumor", "--to", "dedup"];
    let mut command = ws.interruptible(args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("chumor dedup: not made yet") {
        line.clear();
        assert!(talk.read_line(&mut line).unwrap() > 0, "the run ended before dedup");
    }
    // In the middle of the join, which takes half a minute here.
    std::thread::sleep(Duration::from_secs(3));
    let (before, mut after) = (cpu_secs(child.id()), 0.0f64);
    let asked = Instant::now();
    interrupt(child.id());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        after = after.max(cpu_secs(child.id()));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(130));
    let took = asked.elapsed();
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("stopping; finished work is kept"), "{rest}");
    assert!(rest.contains("the same command continues"), "{rest}");
    // Two seconds on an idle machine with two cores.
    assert!(took < Duration::from_secs(2) || after - before < 4.0, "{took:?}, {} s of work", after - before);
    assert!(ws.exists("staged/chumor/04_filter") && !ws.exists("staged/chumor/05_dedup"));
}

#[test]
fn ctrl_c_says_what_it_waits_for_and_a_second_one_leaves_it_booked_as_spent() {
    let server = Server::slow(None, Duration::from_secs(8));
    let ws = served(&server);
    let prices = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 100 }\n";
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("free = true\n", prices));
    let args = ["run", "--recipe", GEN, "--set", "run.max_usd=1"].iter().copied().chain(LOOP);
    let mut child = ws.interruptible(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while server.count() < 4 {
        assert!(child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
    interrupt(child.id());
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut result = String::new();
    while !result.contains("in flight") {
        assert!(talk.read_line(&mut result).unwrap() > 0, "{result}");
    }
    let sent = server.count();
    assert!(
        result.contains("nothing more is sent; waiting for ") && result.contains(", 600 s at most"),
        "{result}"
    );
    assert!(result.contains("press Ctrl-C again to abandon them (they are charged)"), "{result}");
    interrupt(child.id());
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(2));
    let stats: Value = serde_json::from_str(&ws.call(["replies", "stats", "--json"]).expect(0).out).unwrap();
    assert_eq!(server.count(), sent, "nothing was sent after the first one");
    assert_eq!((&stats["replies"], stats["open_attempts"].as_u64() > Some(0)), (&0.into(), true), "{stats}");
    // The money for abandoned requests is spent: it counts against the cap.
    let spent = stats["scopes"].to_string() + &stats.to_string();
    assert!(spent.contains("usd"), "{stats}");
}

#[test]
fn a_closed_pipe_ends_no_run() {
    let ws = Workspace::sample();
    let result = ws.shell("set -o pipefail; \"$0\" run --offline 2>&1 | head -3").expect(0);
    assert_eq!(result.out.lines().count(), 3, "{}", result.out);
    assert!(ws.exists("output/flub/candidate/MANIFEST.json"), "the run went on to its end");
    for verb in ["report", "status", "config", "explain 鱼", "show import"] {
        ws.shell(&format!("set -o pipefail; \"$0\" {verb} | head -1")).expect(0);
    }
}

#[test]
fn escapes_reach_terminals_alone_and_those_of_posts_none() {
    let post = "鱼\u{1b}]0;x\u{7}会\u{1b}[31m口渴\u{9b}2J吗";
    let dump = serde_json::json!([{ "title": post, "abs": null, "href": "/p/77?fr=good", "lz": "某人" }]);
    let ws = Workspace::with_dump("leymore-titles", dump.to_string());
    let run = ws.call(["run", "--offline", "--recipe", "chumor"]).expect(0);
    let verbs = [
        vec!["explain", "tieba:77"],
        vec!["show", "import"],
        vec!["status"],
        vec!["report", "--examples", "1"],
    ];
    let free = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    assert!(free(&run.err), "{:?}", run.err);
    for verb in &verbs {
        let result = ws.call(verb).expect(0);
        assert!(free(&result.out), "{verb:?}: {:?}", result.out);
        let mut command = ws.command(verb);
        let forced = command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").output().unwrap();
        let forced = String::from_utf8(forced.stdout).unwrap();
        assert!(forced.contains("\u{1b}["), "{verb:?} has colours: {forced:?}");
        assert!(
            !forced.contains("\u{1b}]0") && !forced.contains('\u{9b}') && !forced.contains('\u{7}'),
            "{forced:?}"
        );
        let plain = command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE").output().unwrap();
        assert!(free(&String::from_utf8(plain.stdout).unwrap()), "{verb:?}");
    }
    let shown = ws.call(["show", "import"]).expect(0).out;
    assert!(shown.contains("鱼␛]0;x␇会␛[31m口渴\u{fffd}2J吗"), "{shown}");
}

#[test]
fn lines_fit_eighty_columns_and_no_word_is_cut() {
    let ws = Workspace::sample();
    ws.run();
    let whole = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let verbs = [
        vec!["report"],
        vec!["explain", "tieba:990010923"],
        vec!["estimate"],
        vec!["review", "status", "--agreement"],
        vec!["config"],
        vec!["status"],
        vec!["show", "dedup", "--borderline"],
    ];
    for verb in verbs {
        let unbroken = ws.call(&verb).expect(0).out;
        let output = ws.command(&verb).env("COLUMNS", "80").output().unwrap();
        let fitted = String::from_utf8(output.stdout).unwrap();
        assert_eq!(whole(&fitted), whole(&unbroken), "{verb:?}");
        for line in fitted.lines() {
            // A command is on one line, however long, so that what is copied runs.
            let is_command = line
                .trim()
                .strip_prefix('`')
                .is_some_and(|rest| rest.trim_end_matches([',', ';', '.']).ends_with('`'));
            let fits = unicode_width::UnicodeWidthStr::width(line) <= 80;
            assert!(fits || is_command && line.matches('`').count() == 2, "{verb:?}: {line}");
        }
    }
}

#[test]
fn a_bar_has_a_rate_and_one_time_left() {
    // `script` gives the program a terminal.
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script` here");
        return;
    }
    let ws = with_corpus(60_000);
    let line = "stty cols 80 2>/dev/null; \"$0\" run --offline --recipe chumor --to dedup";
    let result =
        ws.shell(&format!("export BIN=\"$0\"; script -qec '{}' /dev/null", line.replace("\"$0\"", "$BIN")));
    let bars: Vec<&str> = result
        .out
        .split(['\r', '\n'])
        .filter(|part| part.contains("chumor dedup") && part.contains(" left"))
        .collect();
    assert!(bars.len() > 3, "{:?}", result.out);
    for bar in &bars {
        assert_eq!(bar.matches(" left").count(), 1, "one time left: {bar:?}");
        assert!(bar.contains("/s"), "{bar:?}");
    }
    assert!(bars.iter().any(|bar| bar.contains(" k/60.0 k")), "{bars:?}");
}

#[test]
fn a_run_without_room_on_the_disk_is_refused() {
    let ws = Workspace::with(&source("big", "leymore-titles", "raw/dumps/big.json"));
    ws.write("raw/dumps/big.json", "");
    let file = std::fs::OpenOptions::new().write(true).open(ws.path("raw/dumps/big.json")).unwrap();
    // A sparse file: nothing of it is on the disk.
    if file.set_len(1 << 43).is_err() {
        eprintln!("skipped: this file system has no files of 8 TiB");
        return;
    }
    let result = ws.call(["run", "--offline"]).expect(4);
    assert!(
        result.err.contains("staged/ needs about 35.2 TB for dumps of 8.8 TB, and its disk has "),
        "{}",
        result.err
    );
    assert!(result.err.contains("--set run.disk_check=false"), "{}", result.err);
    assert!(!ws.exists("staged"));
}
