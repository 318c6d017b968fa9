//! Accidents: a full disk, Ctrl-C, two runs, folders without permission. What was finished stays, the message
//! says what to do, and the next run continues.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::harness::{BINARY, CallResult, Workspace, assert_same, root, title};

#[test]
fn a_second_run_on_a_recipe_is_turned_away() {
    let ws = Workspace::sample();
    ws.run();
    let before = ws.derived();
    let lock = File::options().read(true).write(true).open(ws.path("staged/flub/.lock")).unwrap();
    lock.lock().unwrap();
    let result = ws.call(["run", "--recipe", "flub", "--force"]).expect(5);
    assert!(result.err.contains("another run holds") && result.err.contains("hint"), "{}", result.err);
    ws.call(["run", "--recipe", "chumor", "--force"]).expect(0);
    assert_same(&before, &ws.derived(), "while locked");
    // Read-only commands need no lock.
    ws.call(["status"]).expect(0);
    ws.call(["report"]).expect(0);
    drop(lock);
    ws.call(["run", "--recipe", "flub", "--force"]).expect(0);
}

#[test]
fn ctrl_c_finishes_what_is_at_hand() {
    let many: String = (1..150_000).map(|i| title(i, &format!("第{i}盏灯为什么不睡觉？")) + "\n").collect();
    let ws = Workspace::with_dump("leymore-titles", many);
    let args = ["run", "--recipe", "flub", "--to", "filter", "--threads", "1", "-v"];
    let mut child = ws.start(args);
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("flub clean: not made yet") {
        line.clear();
        assert!(talk.read_line(&mut line).unwrap() > 0, "the run ended before it cleaned");
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("the same command continues"), "{rest}");
    assert!(ws.exists("staged/flub/01_import/manifest.json") && !ws.exists("staged/flub/04_filter"));
    let import = ws.making("staged/flub/01_import");
    ws.call(args).expect(0);
    assert_eq!(import, ws.making("staged/flub/01_import"), "what was finished is not made again");
    let resumed = ws.derived();
    ws.remove_derived();
    ws.call(args).expect(0);
    assert_same(&resumed, &ws.derived(), "after Ctrl-C and on");
    ws.audit_clean();
}

/// `ulimit -f` makes every write beyond this many KiB fail, as on a full disk.
#[test]
fn a_full_disk_at_any_write() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub"]).expect(0);
    let whole = ws.derived();
    let (mut failed, mut done) = (0, 0);
    for limit in [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 4096] {
        ws.remove("output");
        let result = ws.shell(&format!("trap '' XFSZ; ulimit -f {limit}; exec $0 run --recipe flub --force"));
        if result.code == 0 {
            done += 1;
        } else {
            failed += 1;
            assert_eq!(result.code, 4, "limit {limit}: {}", result.err);
            assert!(
                result.err.contains("error: cannot write ") && result.err.contains("ulimit -f"),
                "limit {limit}: {}",
                result.err
            );
        }
        let mut now = ws.derived();
        now.retain(|name, _| name.starts_with("staged/"));
        let mut staged = whole.clone();
        staged.retain(|name, _| name.starts_with("staged/"));
        assert_same(&staged, &now, &format!("old stages still stand at limit {limit}"));
        ws.call(["run", "--recipe", "flub"]).expect(0);
        assert_same(&whole, &ws.derived(), &format!("the next run completes after limit {limit}"));
    }
    assert!(failed >= 5 && done >= 1, "{failed} failed, {done} went through");
}

#[test]
fn a_full_disk_in_a_new_workspace() {
    let ws = Workspace::folder();
    ws.call(["init"]).expect(0);
    for limit in [0, 1, 8] {
        let result = ws.shell(&format!("trap '' XFSZ; ulimit -f {limit}; exec $0 run")).expect(4);
        assert!(result.err.contains("error: cannot write "), "{}", result.err);
    }
    let left: Vec<_> = fs::read_dir(ws.path("raw")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
    ws.run();
    ws.audit_clean();
}

/// A run as a user without some permissions, in a workspace owned by that user.
struct Nobody {
    ws: Workspace,
    binary: tempfile::TempDir,
}

impl Nobody {
    fn new() -> Option<Nobody> {
        if !root() {
            return None;
        }
        // The folder of the command under test may not be readable for others.
        let binary = tempfile::tempdir().unwrap();
        let copy = binary.path().join("riddlemill");
        fs::hard_link(BINARY, &copy).or_else(|_| fs::copy(BINARY, &copy).map(drop)).unwrap();
        let ws = Workspace::sample();
        for folder in [binary.path(), ws.root()] {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        assert!(Command::new("chown").arg("-R").arg("nobody").arg(ws.root()).status().unwrap().success());
        Some(Nobody { ws, binary })
    }

    fn call(&self, args: &str) -> CallResult {
        let line =
            format!("cd {} && {}/riddlemill {args}", self.ws.root().display(), self.binary.path().display());
        let output = Command::new("su").args(["nobody", "-s", "/bin/sh", "-c", &line]).output().unwrap();
        CallResult {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.ws.path(path), Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn dumps_that_may_not_be_read() {
    let Some(nobody) = Nobody::new() else { return };
    nobody.mode("raw/sample/dumps/annual.json", 0o000);
    nobody.mode("raw/sample/dumps/thread.jsonl", 0o000);
    let result = nobody.call("run").expect(2);
    for source in ["sample-annual", "sample-thread"] {
        assert!(result.err.contains(source), "{}", result.err);
    }
    assert!(result.err.contains("Permission denied"), "{}", result.err);
    // An unreadable folder is not the same as a missing file.
    nobody.mode("raw/sample/dumps", 0o000);
    let result = nobody.call("run").expect(2);
    assert!(result.err.contains("Permission denied"), "{}", result.err);
    nobody.mode("raw/sample/dumps", 0o755);
    nobody.mode("raw/sample/dumps/annual.json", 0o644);
    nobody.mode("raw/sample/dumps/thread.jsonl", 0o644);
    nobody.call("run").expect(0);
}

#[test]
fn raw_may_be_read_only() {
    let Some(nobody) = Nobody::new() else { return };
    for folder in ["raw/sample/dumps", "raw/sample", "raw"] {
        nobody.mode(folder, 0o555);
    }
    nobody.call("run").expect(0);
    nobody.call("audit").expect(0);
    // Only the salt has to be written there, once.
    nobody.ws.remove("raw/salt");
    let result = nobody.call("run --force").expect(4);
    assert!(result.err.contains("raw/salt") && result.err.contains("hint"), "{}", result.err);
    nobody.mode("raw", 0o755);
}

#[test]
fn derived_folders_that_may_not_be_written() {
    let Some(nobody) = Nobody::new() else { return };
    nobody.call("run").expect(0);
    let whole = nobody.ws.derived();
    for folder in ["staged/flub", "output/flub"] {
        nobody.mode(folder, 0o555);
        if folder == "output/flub" {
            nobody.ws.remove("output/flub/candidate/SHA256SUMS");
        }
        let result = nobody.call("run --recipe flub --force").expect(4);
        assert!(
            result.err.contains(folder) && result.err.contains("hint: check the owner and mode"),
            "{}",
            result.err
        );
        nobody.mode(folder, 0o755);
        nobody.call("run").expect(0);
        assert_same(&whole, &nobody.ws.derived(), folder);
    }
    // Read-only commands need no write permission.
    nobody.mode("staged/flub", 0o555);
    nobody.call("status").expect(0);
    nobody.call("audit").expect(0);
    nobody.mode("staged/flub", 0o755);
}
