//! Damage: whatever is lost or changed in raw/ is noticed, and never causes anything to be overwritten.

use std::fs;
use std::process::Command;

use crate::harness::{Tree, Workspace, title};

const RELEASE: [&str; 4] = ["release", "flub", "--date", "2026-01-02"];

/// A workspace with a release of a recipe.
fn released() -> Workspace {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    ws.call(RELEASE).expect(0);
    ws
}

/// The files of a folder.
fn tree(ws: &Workspace, folder: &str) -> Tree {
    fn collect(path: &std::path::Path, tree: &mut Tree) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => collect(&path, tree),
                false => drop(tree.insert(path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    let mut tree = Tree::new();
    collect(&ws.path(folder), &mut tree);
    tree
}

#[test]
fn a_registry_that_lost_a_release_gives_no_version_twice() {
    let ws = released();
    let registry = "raw/releases/flub/registry.jsonl";
    let whole = ws.bytes(registry);
    let sealed = tree(&ws, "raw/releases/flub/1.0.0-draft.1");
    let released = tree(&ws, "output/flub/1.0.0-draft.1");
    // Input that changes the set.
    let votes = ws.read("raw/sample/votes.jsonl");
    let of_flub = |line: &&str| line.contains("\"recipe\":\"flub\"");
    let item = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["item"].clone();
    let last = item(votes.lines().rfind(of_flub).unwrap());
    let votes: String = votes.lines().filter(|l| item(l) != last).map(|l| format!("{l}\n")).collect();
    ws.write("raw/sample/votes.jsonl", votes);
    let canary = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let damages = [None, Some(0), Some(canary - 1), Some(canary), Some(canary + 40), Some(whole.len() - 2)];
    for damage in damages {
        match damage {
            None => ws.remove(registry),
            Some(length) => ws.write(registry, &whole[..length]),
        }
        let damaged = ws.exists(registry).then(|| ws.bytes(registry));
        for args in [&["run", "--recipe", "flub", "--offline"][..], &RELEASE, &["status", "--recipe", "flub"]]
        {
            let result = ws.call(args).expect(4);
            assert!(result.err.contains("registry.jsonl") && result.err.contains("hint"), "{}", result.err);
        }
        assert_eq!(damaged, ws.exists(registry).then(|| ws.bytes(registry)));
        // Without the derived folder, the sealed one is the evidence.
        fs::rename(ws.path("output"), ws.path("elsewhere")).unwrap();
        ws.call(["run", "--recipe", "flub", "--offline"]).expect(4);
        ws.remove("output");
        fs::rename(ws.path("elsewhere"), ws.path("output")).unwrap();
        assert_eq!(sealed, tree(&ws, "raw/releases/flub/1.0.0-draft.1"));
        assert_eq!(released, tree(&ws, "output/flub/1.0.0-draft.1"));
    }
    // The event is complete, and only its line break is missing.
    ws.write(registry, &whole[..whole.len() - 1]);
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let result = ws.call(RELEASE).expect(0);
    assert!(
        result.out.contains("1.0.0-draft.2") && result.out.contains("since 1.0.0-draft.1"),
        "{}",
        result.out
    );
    assert_eq!(ws.bytes(registry)[..whole.len()], whole);
    assert_eq!(sealed, tree(&ws, "raw/releases/flub/1.0.0-draft.1"));
}

#[test]
fn a_release_that_was_stopped_is_finished_or_made_again() {
    let ws = released();
    let (registry, place) = ("raw/releases/flub/registry.jsonl", "raw/releases/flub/1.0.0-draft.1");
    let making = "raw/releases/flub/.making-1.0.0-draft.1";
    let whole = ws.bytes(registry);
    let (sealed, output) = (tree(&ws, place), tree(&ws, "output/flub/1.0.0-draft.1"));
    // After the entry, before the folder was renamed.
    fs::rename(ws.path(place), ws.path(making)).unwrap();
    ws.remove("output/flub/1.0.0-draft.1");
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    assert_eq!((sealed.clone(), output.clone()), (tree(&ws, place), tree(&ws, "output/flub/1.0.0-draft.1")));
    // Before the entry was complete: its head is written after it.
    fs::rename(ws.path(place), ws.path(making)).unwrap();
    ws.remove("output/flub/1.0.0-draft.1");
    ws.write(registry, &whole[..whole.len() - 30]);
    let heads = ws.read("raw/heads.jsonl");
    let last = heads.trim_end().rfind('\n').unwrap() + 1;
    ws.write("raw/heads.jsonl", &heads[..last]);
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    ws.call(RELEASE).expect(0);
    assert_eq!(whole, ws.bytes(registry));
    assert_eq!((sealed, output), (tree(&ws, place), tree(&ws, "output/flub/1.0.0-draft.1")));
    assert!(!ws.exists(making));
}

#[test]
fn a_salt_that_is_gone_is_not_drawn_again() {
    let ws = Workspace::with_dump("leymore-titles", title(1, "云会恐高吗？"));
    ws.remove("raw/salt");
    ws.call(["run", "--recipe", "flub", "--to", "filter"]).expect(0);
    let salt = ws.read("raw/salt");
    ws.remove("raw/salt");
    for verb in [&["run", "--recipe", "flub", "--to", "filter"][..], &["status", "--recipe", "flub"]] {
        let result = ws.call(verb).expect(4);
        assert!(result.err.contains("raw/salt") && result.err.contains("backup"), "{}", result.err);
    }
    assert!(!ws.exists("raw/salt"));
    ws.write("raw/salt", salt);
    ws.call(["run", "--recipe", "flub", "--to", "filter"]).expect(0);
}

#[test]
fn an_init_that_was_killed_is_finished_and_writes_over_nothing() {
    let ws = Workspace::folder();
    ws.call(["init"]).expect(0);
    let (whole, settings) = (tree(&ws, "raw"), ws.read("pipeline.toml"));
    let (votes, reply) = ("raw/sample/votes.jsonl", "raw/sample/replies.jsonl");
    ws.remove("pipeline.toml");
    ws.write(votes, &ws.bytes(votes)[..1000]);
    ws.write(reply, "");
    ws.call(["init"]).expect(0);
    assert_eq!((&whole, &settings), (&tree(&ws, "raw"), &ws.read("pipeline.toml")));
    // A file of the user.
    ws.remove("pipeline.toml");
    ws.write(votes, "mine\n");
    ws.remove(reply);
    let result = ws.call(["init"]).expect(2);
    assert!(result.err.contains("votes.jsonl") && result.err.contains("--empty"), "{}", result.err);
    assert!(ws.read(votes) == "mine\n" && !ws.exists(reply) && !ws.exists("pipeline.toml"));
}

/// Pipes never end, devices never stop, links to themselves lead nowhere.
#[test]
fn what_is_no_file_is_not_read() {
    let ws = released();
    let place = "output/flub/1.0.0-draft.1";
    let pipe = |path: &str| assert!(Command::new("mkfifo").arg(ws.path(path)).status().unwrap().success());
    let link = |to: &str, path: &str| std::os::unix::fs::symlink(to, ws.path(path)).unwrap();
    for name in ["SHA256SUMS", "MANIFEST.json", "more"] {
        let path = format!("{place}/{name}");
        let kept = ws.exists(&path).then(|| ws.bytes(&path));
        for make in [&|path: &str| pipe(path), &|path: &str| link(".", path), &|path: &str| link(name, path)]
            as [&dyn Fn(&str); 3]
        {
            ws.remove(&path);
            make(&path);
            let result = ws.call(["verify", place]).expect(1);
            assert!(result.out.contains(&format!("{name}: not a file")), "{}", result.out);
            fs::remove_file(ws.path(&path)).unwrap();
        }
        kept.into_iter().for_each(|bytes| ws.write(&path, bytes));
    }
    ws.call(["verify", place]).expect(0);

    let ws = Workspace::with_dump("leymore-titles", title(1, "云会恐高吗？"));
    ws.remove("raw/dumps/dump");
    assert!(Command::new("mkfifo").arg(ws.path("raw/dumps/dump")).status().unwrap().success());
    let result = ws.call(["run", "--recipe", "flub", "--to", "filter"]).expect(2);
    assert!(result.err.contains("raw/dumps/dump is not a file"), "{}", result.err);
    let args = ["apply", "import", "--kind", "leymore-titles", "raw/dumps/dump"];
    let result = ws.call(args).expect(2);
    assert!(result.err.contains("is not a file"), "{}", result.err);
}

#[test]
fn a_damaged_log_stops_everything_until_it_is_salvaged() {
    let ws = Workspace::sample();
    let run = ["run", "--recipe", "flub", "--offline"];
    ws.call(run).expect(0);
    let held: Vec<String> =
        ws.posts("flub").iter().take(3).map(|post| post["id"].as_str().unwrap().to_owned()).collect();
    for post in &held {
        let args = ["decide", "drop", post, "--by", "meta-1", "--why", "I looked at it"];
        ws.call(args).expect(0);
    }
    ws.call(run).expect(0);
    assert!(ws.call(["fsck"]).expect(0).out.contains("raw/ is intact"));
    let log = "raw/decisions/000001.jsonl";
    let whole = ws.bytes(log);
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut flipped = whole.clone();
    flipped[second + 20] ^= 1;
    for damaged in [&whole[..whole.len() - 10], &whole[..second], &flipped[..], &whole[second..], &[]] {
        ws.write(log, damaged);
        for args in [&run[..], &["status"], &["release", "flub"], &["decide", "list"]] {
            let result = ws.call(args).expect(4);
            assert!(
                result.err.contains("raw/decisions") && result.err.contains("fsck --salvage"),
                "{}",
                result.err
            );
        }
        let result = ws.call(["fsck"]).expect(1);
        assert!(result.out.contains("raw/decisions"), "{}", result.out);
        assert_eq!(ws.bytes(log), damaged, "looking changes nothing");
    }
    ws.remove(log);
    ws.call(run).expect(4);
    // The last line is torn: two are rebuilt, and the old file is kept.
    ws.write(log, &whole[..whole.len() - 10]);
    let result = ws.call(["fsck", "--salvage"]).expect(0);
    assert!(result.out.contains("2 lines kept, 1 left out"), "{}", result.out);
    assert_eq!(ws.bytes("raw/damaged/001/decisions/000001.jsonl"), whole[..whole.len() - 10]);
    ws.call(run).expect(0);
    let list = ws.call(["decide", "list"]).expect(0).out;
    assert!(list.contains(&held[0]) && list.contains(&held[1]) && !list.contains(&held[2]), "{list}");
    ws.call(["decide", "drop", &held[2], "--by", "meta-1", "--why", "again"]).expect(0);
    ws.call(["fsck"]).expect(0);
}
