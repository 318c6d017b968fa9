//! What a newer program wrote into the logs of people's work is neither read without it nor appended to, however
//! often somebody asks.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::ballot::Round;
use crate::carry::{Seen, SeenLog};
use crate::guidance::{self, Note};
use crate::value::Values;
use crate::votes::aside::append_line;
use crate::votes::{AsideLine, Asides, SetAside, Vote, VoteLog};
use crate::{ballots, testing};
use riddlemill_files::log::{Log, LogError, Segments};

fn vote(item: &str) -> Vote {
    let step = ballots::find_step("flub", "type").unwrap();
    let item = testing::test_item(&step, item, &[]);
    testing::test_vote(&step, &item, Round::Vote, "a", testing::one_answer("type", "paradox")).with_id()
}

fn is_newer<T>(result: Result<T, LogError>) -> bool {
    matches!(result, Err(LogError::Newer { .. }))
}

/// Adds a line with its chain to a folder of segments. Returns the file.
fn append_newer(folder: &Path, line: &serde_json::Value) -> std::path::PathBuf {
    Segments::in_folder(folder).open_writer().unwrap().append_blocks(&[format!("{line}\n")]).unwrap();
    folder.join("000001.jsonl")
}

#[test]
fn votes() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = VoteLog::open(dir.path()).unwrap();
    log.append_votes(vec![vote("i")]).unwrap();
    let mut newer = json!(vote("j"));
    newer["role"] = json!("oracle");
    let path = append_newer(dir.path(), &newer);
    let before = fs::read(&path).unwrap();
    for _ in 0..2 {
        assert!(is_newer(log.refresh()));
        assert!(is_newer(log.append_votes(vec![vote("k")])));
        assert!(is_newer(VoteLog::open(dir.path())));
    }
    assert!(log.votes().len() == 1 && log.damaged().is_empty());
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn texts_that_voters_saw() {
    let dir = tempfile::tempdir().unwrap();
    let vote = vote("i");
    let seen = Seen { content_hash: vote.content_hash, content: Default::default(), draft: Values::new() };
    let path = append_newer(dir.path(), &json!({"content_hash": 7}));
    let before = fs::read(&path).unwrap();
    assert!(is_newer(SeenLog::read_folder(dir.path())));
    assert!(is_newer(SeenLog::append_texts(dir.path(), vec![seen])));
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn remarks_and_what_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = guidance::path_of_notes(dir.path(), "flub", "type");
    let note = Note {
        item: "i".into(),
        annotator: "a".into(),
        round: Round::Vote,
        text: "unsure".into(),
        flag: false,
        at: String::new(),
    };
    guidance::add(path.clone(), &note).unwrap();
    Log::in_file(&path).append_lines(b"{\"judgement\":1}\n").unwrap();
    assert!(is_newer(guidance::read_entries::<Note>(path.clone())));
    assert!(is_newer(guidance::add(path, &note)));

    let aside = SetAside::all_of("a", "meta-1", "clicked through", "2026-01-31T12:00:00Z").with_id();
    append_line(dir.path(), &AsideLine::SetAside(aside.clone())).unwrap();
    let path = dir.path().join("aside/set-aside.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    // From before lines were chained: what was edited by hand is no work of a newer program.
    fs::remove_dir_all(dir.path()).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let (bare, _) = whole.split_once(",\"chain\"").unwrap();
    fs::write(&path, bare.replace("clicked", "slept") + "}\n").unwrap();
    let error = Asides::read_asides(dir.path()).unwrap_err();
    assert!(
        matches!(error, LogError::Damaged { .. }) && error.to_string().contains("edited by hand"),
        "{error}"
    );

    fs::write(&path, "{\"event\":\"pause\"}\n").unwrap();
    assert!(is_newer(append_line(dir.path(), &AsideLine::SetAside(aside))));
    assert!(is_newer(Asides::read_asides(dir.path())));
}
