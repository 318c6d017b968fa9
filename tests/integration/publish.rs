//! Publishing a release: as an archive, and through the Hub's own program, replaced here by a script: nothing
//! may reach the network.

use std::os::unix::fs::PermissionsExt;

use crate::harness::Workspace;

/// The sample's FLUB, released: a draft, since its votes are synthetic.
fn released() -> (Workspace, &'static str) {
    released_by("The contributors of riddlemill\n")
}

fn released_by(authors: &str) -> (Workspace, &'static str) {
    let ws = Workspace::sample();
    ws.write("curator/authors.md", authors);
    ws.shell("\"$0\" run --offline -q --recipe flub");
    ws.call(["release", "flub", "--date", "2026-01-02"]).expect(0);
    (ws, "output/flub/1.0.0-draft.1")
}

/// Runs with a script in place of `hf`, which logs its arguments and responds by `CASE`.
fn with_hub(ws: &Workspace, case: &str, line: &str) -> crate::harness::CallResult {
    ws.write(
        "bin/hf",
        "#!/bin/sh\necho \"$@\" >> \"$ASKED\"\n\
         case \"$1 $2 $3 $CASE\" in\n\
         'repos tag list tagged') echo v1.0.0-draft.1;;\n\
         'upload '*' fails') echo 'Error: 401 Unauthorized' >&2; exit 1;;\nesac\n",
    );
    std::fs::set_permissions(ws.path("bin/hf"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let asked = ws.path("asked");
    ws.shell(&format!("PATH=\"$PWD/bin:$PATH\" ASKED={} CASE={case} \"$0\" {line}", asked.display()))
}

#[test]
fn an_archive_is_the_release_and_the_same_bytes_each_time() {
    let (ws, release) = released();
    let refused = ws.call(["publish", release, "--to", "archive"]).expect(2);
    assert!(
        refused.err.contains("28 rows of flub are synthetic") && refused.err.contains("--draft"),
        "{}",
        refused.err
    );
    ws.call(["publish", release, "--draft", "--to", "archive"]).expect(0);
    ws.call(["publish", release, "--draft", "--to", "archive:again/flub.tar.zst"]).expect(0);
    let archive = "output/flub-1.0.0-draft.1.tar.zst";
    assert!(ws.bytes(archive) == ws.bytes("again/flub.tar.zst"));
    // Repeating it is harmless; another file with the same name is left alone.
    ws.call(["publish", release, "--draft", "--to", "archive"]).expect(0);
    ws.write("taken.tar.zst", "something else");
    let taken = ws.call(["publish", release, "--draft", "--to", "archive:taken.tar.zst"]).expect(2);
    assert!(taken.err.contains("nothing was overwritten"), "{}", taken.err);
    assert_eq!(ws.read("taken.tar.zst"), "something else");

    let bytes = zstd::decode_all(ws.bytes(archive).as_slice()).unwrap();
    let mut tar = tar::Archive::new(bytes.as_slice());
    tar.unpack(ws.path("unpacked")).unwrap();
    ws.call(["verify", "unpacked/flub-1.0.0-draft.1"]).expect(0);
    assert!(ws.read("output/flub-1.0.0-draft.1.tar.zst.sha256").ends_with("  flub-1.0.0-draft.1.tar.zst\n"));
    let zenodo: serde_json::Value =
        serde_json::from_str(&ws.read("output/flub-1.0.0-draft.1.zenodo.json")).unwrap();
    assert_eq!(
        (&zenodo["upload_type"], &zenodo["license"], &zenodo["publication_date"]),
        (&"dataset".into(), &"cc0-1.0".into(), &"2026-01-02".into())
    );
    let datacite: serde_json::Value =
        serde_json::from_str(&ws.read("output/flub-1.0.0-draft.1.datacite.json")).unwrap();
    assert_eq!(
        (&datacite["publicationYear"], &datacite["version"], &datacite["publisher"]["name"]),
        (&"2026".into(), &"1.0.0-draft.1".into(), &"The contributors of riddlemill".into())
    );
}

/// Zenodo and DataCite require an author; an invented one would be cited for good.
#[test]
fn without_authors_there_is_an_archive_and_no_metadata() {
    let (ws, release) = released_by("");
    let published = ws.call(["publish", release, "--draft", "--to", "archive"]).expect(0);
    assert!(
        published.err.contains("curator/authors.md") && published.err.contains("not written"),
        "{}",
        published.err
    );
    assert!(ws.exists("output/flub-1.0.0-draft.1.tar.zst"));
    assert!(
        !ws.exists("output/flub-1.0.0-draft.1.datacite.json")
            && !ws.exists("output/flub-1.0.0-draft.1.zenodo.json")
    );
}

#[test]
fn what_does_not_prove_itself_or_was_yanked_is_not_published() {
    let (ws, release) = released();
    let candidate = ws.call(["publish", "output/flub/candidate", "--draft", "--to", "archive"]).expect(2);
    assert!(candidate.err.contains("has no version"), "{}", candidate.err);
    let rows = format!("{release}/data/flub/test.jsonl");
    let whole = ws.read(&rows);
    ws.write(&rows, whole.replacen('？', "?", 1));
    let edited = ws.call(["publish", release, "--draft", "--to", "archive"]).expect(1);
    assert!(edited.err.contains("does not verify") && edited.err.contains("test.jsonl"), "{}", edited.err);
    ws.write(&rows, whole);
    ws.call(["release", "yank", "1.0.0-draft.1", "--recipe", "flub", "--reason", "a mistake"]).expect(0);
    let yanked = ws.call(["publish", release, "--draft", "--to", "hub:some/flub", "--go"]).expect(2);
    assert!(yanked.err.contains("was yanked"), "{}", yanked.err);
}

#[test]
fn the_hub_gets_one_commit_and_a_tag_and_no_tag_is_moved() {
    let (ws, release) = released();
    let publish = format!("publish {release} --draft --to hub:some/flub");
    // Without the flag nothing is run.
    let dry = with_hub(&ws, "new", &publish).expect(0);
    assert!(
        dry.out
            .starts_with("hf upload some/flub output/flub/1.0.0-draft.1 . --repo-type dataset --delete '*'")
    );
    assert!(!ws.exists("asked"));

    with_hub(&ws, "new", &format!("{publish} --go")).expect(0);
    let asked = ws.read("asked");
    let first: Vec<&str> = asked.lines().filter_map(|line| line.split(" some/flub").next()).collect();
    assert_eq!(first, ["repos tag list", "upload", "repos tag create"], "{asked}");
    assert!(
        asked.trim_end().ends_with("v1.0.0-draft.1 --repo-type dataset -m flub 1.0.0-draft.1"),
        "{asked}"
    );

    ws.remove("asked");
    let tagged = with_hub(&ws, "tagged", &format!("{publish} --go")).expect(2);
    assert!(tagged.err.contains("never replaced"), "{}", tagged.err);
    assert_eq!(ws.read("asked").lines().count(), 1);

    let failed = with_hub(&ws, "fails", &format!("{publish} --go")).expect(3);
    assert!(failed.err.contains("401 Unauthorized"), "{}", failed.err);
    let nowhere = ws.call(["publish", release, "--to", "hub:../x", "--draft"]).expect(2);
    assert!(nowhere.err.contains("hub:OWNER/NAME"), "{}", nowhere.err);
}
