//! What a workspace in git commits: nothing that must stay private, and every log as it is.

use std::process::Command;

use crate::harness::Workspace;

#[test]
fn git_commits_no_secret_of_a_workspace() {
    let ws = Workspace::folder();
    let made = ws.call(["init"]).expect(0);
    assert!(!made.err.contains("note:"), "{}", made.err);
    ws.call(["run", "--recipe", "flub", "--offline", "-q"]).expect(0);
    ws.call(["access", "grant", "reader", "--rank", "reader"]).expect(0);
    ws.write("raw/blinding", crate::harness::SALT);
    ws.write("raw/dumps/posts.jsonl", "{}\n");
    // What must not be committed has to be there, or the test says nothing.
    for private in ["raw/salt", "raw/blinding", "raw/access.jsonl", "staged", "output"] {
        assert!(ws.exists(private), "{private}");
    }
    let git = |args: &[&str]| {
        let called = Command::new("git").current_dir(ws.root()).args(args).output().unwrap();
        assert!(called.status.success(), "{args:?}: {}", String::from_utf8_lossy(&called.stderr));
        String::from_utf8(called.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    let committed = git(&["ls-files"]);
    assert!(
        committed.contains("pipeline.toml") && committed.contains("raw/sample/votes.jsonl"),
        "{committed}"
    );
    for private in ["raw/salt", "raw/blinding", "raw/access.jsonl", "raw/dumps/", "staged/", "output/"] {
        assert!(!committed.lines().any(|line| line.starts_with(private)), "{private} in\n{committed}");
    }
    // A checkout that changes line ends would break the chain of every log.
    assert!(git(&["check-attr", "text", "raw/heads.jsonl"]).ends_with(": text: unset\n"));
}

#[test]
fn a_gitignore_that_is_there_is_left_alone_and_what_it_should_hold_is_said() {
    let ws = Workspace::folder();
    ws.write(".gitignore", "*.tmp\n");
    let made = ws.call(["init", "--empty"]).expect(0);
    assert!(made.err.contains("raw/salt") && made.err.contains("unchanged"), "{}", made.err);
    assert_eq!(ws.read(".gitignore"), "*.tmp\n");
}

#[test]
fn a_release_is_dated_by_a_day_of_the_calendar() {
    let ws = Workspace::sample();
    for day in ["2027-02-29", "2026-13-01", "2026-04-31", "20260102", "+026-01-02"] {
        let refused = ws.call(["release", "flub", "--date", day]).expect(2);
        assert!(refused.err.contains("is not a day of the calendar"), "{day}: {}", refused.err);
    }
}
