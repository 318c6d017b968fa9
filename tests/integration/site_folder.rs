//! Where the pages of a release may be written, and how they get to the Hub.

use crate::harness::Workspace;
use crate::site::{FLUB, released};

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let ws = released("flub");
    ws.write("thesis/chapter.tex", "years");
    for (out, why) in [
        ("thesis", "so that it is no site"),
        ("output/flub/site", "belongs to the workspace"),
        (FLUB, "belongs to the workspace"),
        ("raw/site", "belongs to the workspace"),
        (".", "belongs to the workspace"),
    ] {
        let refused = ws.call(["site", FLUB, "--out", out]).expect(2);
        assert!(refused.err.contains(why) && refused.err.contains("nothing was written"), "{}", refused.err);
    }
    assert_eq!(ws.tree("thesis").len(), 1);
    // What a killed call left is no hindrance, and a site is replaced whole.
    ws.write(".making-site/rows/half.html", "half");
    ws.call(["site", FLUB, "--out", "site"]).expect(0);
    assert!(!ws.exists(".making-site") && !ws.exists("site/rows/half.html"));
    ws.write("site/CNAME", "host.example");
    let refused = ws.call(["site", FLUB, "--out", "site"]).expect(2);
    assert!(refused.err.contains("holds CNAME"), "{}", refused.err);
    ws.remove("site/CNAME");
    // Of another set, of no release, of a damaged one.
    let marker = ws.read("site/site.json");
    ws.write("site/site.json", marker.replace("\"flub\"", "\"chumor\""));
    let refused = ws.call(["site", FLUB, "--out", "site"]).expect(2);
    assert!(refused.err.contains("is the site of chumor"), "{}", refused.err);
    let candidate = ws.call(["site", "output/flub/candidate", "--out", "other"]).expect(2);
    assert!(candidate.err.contains("no released version"), "{}", candidate.err);
    let rows = format!("{FLUB}/data/flub/test.jsonl");
    let whole = ws.read(&rows);
    ws.write(&rows, whole.replacen('？', "?", 1));
    let damaged = ws.call(["site", FLUB, "--out", "other"]).expect(1);
    assert!(damaged.err.contains("does not verify") && !ws.exists("other"), "{}", damaged.err);
    ws.write(&rows, whole);
    // A release of somebody else's workspace.
    let stranger = Workspace::sample();
    let folder = ws.path(FLUB).display().to_string();
    let refused = stranger.call(["site", &folder, "--out", "site"]).expect(2);
    assert!(refused.err.contains("names no flub 1.0.0-draft.1"), "{}", refused.err);
}

#[test]
fn the_hub_gets_the_site_of_this_release_as_a_space() {
    let ws = released("flub");
    ws.call(["site", FLUB, "--out", "site"]).expect(0);
    let publish = ["publish", FLUB, "--draft", "--to", "hub:some/flub", "--site"];
    let printed = ws.call(publish.iter().chain(&["site"])).expect(0);
    let commands: Vec<&str> = printed.out.lines().collect();
    assert_eq!(commands.len(), 4, "{}", printed.out);
    assert_eq!(
        commands[2..],
        [
            "hf repos create some/flub --repo-type space --space-sdk static --exist-ok",
            "hf upload some/flub site . --repo-type space --delete '*' --commit-message 'flub 1.0.0-draft.1'",
        ]
    );
    let refused = ws.call(publish.iter().chain(&["output"])).expect(2);
    assert!(refused.err.contains("output is no site, not the site of flub-1.0.0-draft.1"), "{}", refused.err);
    let archive = ["publish", FLUB, "--draft", "--to", "archive", "--site", "site"];
    assert!(ws.call(archive).expect(2).err.contains("goes to the Hub only"));
}
