//! What takes long is bounded, and said; what cannot be written is read.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::{Workspace, root, source};

/// Texts of so many characters, each with another beginning and otherwise alike.
fn alike(count: usize, chars: usize) -> Vec<String> {
    let mut draw = 1_u64;
    let mut letter = || {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from_u32(0x4E00 + (draw >> 33) as u32 % 3000).unwrap()
    };
    let text: String = (0..chars).map(|_| letter()).collect();
    (0..count)
        .map(|n| format!("{}{text}？", ["鱼", "鸟", "猫", "狗", "牛", "马", "羊", "鸡"][n % 8]))
        .collect()
}

/// Eight posts of 200,000 characters took over 200 s.
#[test]
fn long_posts_are_compared_as_copies_and_beginnings() {
    let fields = "fields = { id = \"tieba:{id}\", content = \"content\" }\n";
    let settings =
        source("dump", "table", "raw/dumps/dump.jsonl") + fields + "\n[filter]\nmax_chars = 1000000\n";
    let ws = Workspace::with(&settings);
    let mut posts = alike(8, 60_000);
    // A copy with another end, and a beginning.
    posts.push(posts[0].replace('？', "！"));
    posts.push(posts[0].chars().take(30_000).chain(['？']).collect());
    posts.push("为什么鱼从来不洗澡？".to_owned());
    let line = |(n, text): (usize, &String)| {
        serde_json::json!({ "id": format!("{}", n + 1), "content": text }).to_string()
    };
    let lines: Vec<String> = posts.iter().enumerate().map(line).collect();
    ws.write("raw/dumps/dump.jsonl", lines.join("\n"));
    let args = ["run", "--recipe", "flub", "--to", "dedup", "--offline"];
    let start = Instant::now();
    let result = ws.call(args).expect(0);
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    assert!(result.err.contains("texts over 4000 characters long"), "{}", result.err);
    let shown = ws.call(["show", "dedup", "--recipe", "flub", "--outcome", "merged"]).expect(0);
    let figures: Vec<&str> = shown.out.lines().filter(|line| line.contains("levenshtein")).collect();
    assert_eq!(figures.len(), 2, "{figures:?}");
    assert!(figures.iter().all(|line| line.contains("of the first 4000 characters")), "{figures:?}");
}

/// A cloned disk, a mounted backup: everything that only reads works, and says nothing of damage.
#[test]
fn a_workspace_that_may_not_be_written_is_read() {
    if !root() {
        return;
    }
    let ws = Workspace::sample();
    ws.call(["replies", "import", "raw/sample/replies.jsonl"]);
    ws.run();
    let readers = [
        "status",
        "status --json",
        "estimate",
        "fsck",
        "audit",
        "report",
        "show dedup --recipe brainteaser",
        "explain riddle:900206",
        "replies stats",
        "replies verify",
        "verify output/flub/candidate",
    ];
    let place = ws.root().display().to_string();
    let riddlemill = env!("CARGO_BIN_EXE_riddlemill");
    let read_only = |args: &str| {
        // In a name space of its own, so that the mount ends with the command.
        let line = format!(
            "mount --bind {place} {place} && mount -o remount,ro,bind {place} && cd {place} && ! touch x 2>/dev/null || exit 77; exec {riddlemill} {args}"
        );
        Command::new("unshare").args(["--mount", "sh", "-c", &line]).output()
    };
    // The index of replies is made again where it is missing, too; in memory, because it cannot be written.
    for with_index in [true, false] {
        for args in readers {
            let usual = ws.call(args.split(' '));
            if !with_index && ws.exists(".index") {
                ws.remove(".index");
            }
            let Ok(output) = read_only(args) else { return };
            // No right to mount anything here.
            if output.status.code() == Some(77) || String::from_utf8_lossy(&output.stderr).contains("unshare")
            {
                return;
            }
            let said = format!(
                "{args}: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert_eq!(output.status.code(), Some(usual.code), "{said}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), usual.out, "{args}");
            assert!(!said.contains("Read-only file system"), "{said}");
        }
    }
}
