//! Which decision counts, at the margins: other questions, recipes and texts, and words that mean a verdict.

use std::collections::BTreeMap;

use super::tests::test_decision;
use super::*;
use crate::Digest;
use riddlemill_files::log::{LogError, Segments};

fn seen() -> Digest {
    seen_text("云会恐高吗")
}

fn pair_decision(a: &str, b: &str, verdict: Verdict) -> Decision {
    let stated = seen_pair((a, "x"), (b, "y"));
    Decision { other: Some(b.into()), seen: stated, ..test_decision(a, verdict) }.with_id()
}

#[test]
fn every_word_means_its_verdict() {
    for verdict in Verdict::ALL {
        assert_eq!(Verdict::from_name(verdict.name()), Some(verdict));
        assert_eq!(Verdict::from_name(verdict.word()), Some(verdict));
        assert_eq!(verdict.to_string(), verdict.word());
        assert_eq!(verdict.is_of_pair(), matches!(verdict, Verdict::One | Verdict::Two), "{verdict}");
        let is_edit = matches!(verdict, Verdict::Text | Verdict::Title | Verdict::Answer);
        assert_eq!(verdict.is_edit(), is_edit, "{verdict}");
    }
    let names: std::collections::BTreeSet<&str> = Verdict::ALL.into_iter().map(Verdict::name).collect();
    assert_eq!(names.len(), 8);
    assert_eq!(Verdict::from_name("same"), Some(Verdict::One));
    assert_eq!(Verdict::from_name("different"), Some(Verdict::Two));
    assert_eq!(["", "Keep", "other"].map(Verdict::from_name), [None, None, None]);
}

#[test]
fn a_decision_is_for_its_recipe_and_shown_with_who_and_why() {
    let all = test_decision("tieba:1", Verdict::Keep);
    let own = Decision { recipe: Some("flub".into()), ..all.clone() }.with_id();
    assert!(all.is_for("flub") && all.is_for("chumor") && own.is_for("flub") && !own.is_for("chumor"));
    assert_eq!(all.to_string(), format!("decision:{} by meta-1: keep (it is one)", all.id));
    assert!(all.same_content(&Decision { by: "meta-2".into(), ..all.clone() }));
    for other in [
        Decision { record: "tieba:2".into(), ..all.clone() },
        Decision { stage: "clean".into(), ..all.clone() },
        Decision { verdict: Verdict::Drop, ..all.clone() },
        Decision { text: Some("x".into()), ..all.clone() },
        Decision { seen: seen_text("x"), ..all.clone() },
        own,
    ] {
        assert!(!all.same_content(&other), "{other:?}");
    }
}

#[test]
fn a_withdrawal_is_known_by_what_whom_and_why() {
    let undo = Undo {
        id: seen(),
        undoes: test_decision("tieba:1", Verdict::Keep).id,
        by: "meta-1".into(),
        why: "a slip".into(),
        at: "2026-11-23T00:00:00Z".into(),
    };
    assert_eq!(undo.compute_id(), Undo { at: "later".into(), ..undo.clone() }.compute_id());
    for other in [
        Undo { undoes: seen(), ..undo.clone() },
        Undo { by: "meta-2".into(), ..undo.clone() },
        Undo { why: "another".into(), ..undo.clone() },
    ] {
        assert_ne!(other.compute_id(), undo.compute_id());
    }
}

#[test]
fn each_question_has_its_own_ruling_on_todays_text() {
    let of = |verdict: Verdict| {
        Decision { text: Some("new".into()), ..test_decision("tieba:1", verdict) }.with_id()
    };
    let verdicts = [Verdict::Hold, Verdict::Text, Verdict::Title, Verdict::Answer];
    let stage = StageDecisions::new(verdicts.into_iter().map(of));
    assert!(stage.len() == 4 && !stage.is_empty());
    let ruling = stage.ruling_on("tieba:1", seen).unwrap();
    let found = [ruling.outcome, ruling.text, ruling.title, ruling.answer].map(|d| d.unwrap().verdict);
    assert_eq!(found, verdicts);
    assert!(stage.ruling_on("tieba:2", seen).is_none());
    assert!(stage.ruling_on("tieba:1", || seen_text("another text")).is_none());
    let evidence = stage.evidence().unwrap();
    let (count, hash) = evidence.split_once(' ').unwrap();
    assert!(count == "4" && hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let fewer = StageDecisions::new(verdicts.into_iter().take(3).map(of));
    assert_ne!(fewer.evidence().unwrap().split_once(' ').unwrap().1, hash);
    let none = StageDecisions::new(std::iter::empty());
    assert!(none.is_empty() && none.evidence().is_none());
    assert_eq!(none.len(), 0);
}

#[test]
fn pairs_are_ruled_on_by_their_places_and_texts() {
    let one = pair_decision("a", "b", Verdict::One);
    let stage = StageDecisions::new(
        [one, pair_decision("b", "c", Verdict::Two), pair_decision("b", "gone", Verdict::One)].into_iter(),
    );
    let ids = ["x", "a", "b", "c"];
    let texts = BTreeMap::from([("a", "x"), ("b", "y"), ("c", "y")]);
    let hash = |a: u32, b: u32| {
        let at = |n: u32| (ids[n as usize], texts[ids[n as usize]]);
        seen_pair(at(a), at(b))
    };
    let found = stage.find_pairings(ids.into_iter(), hash);
    // The text of `b` is not what was seen when it was compared with `c`.
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!((only.a, only.b, only.one), (1, 2, true));
    assert!(StageDecisions::default().find_pairings(ids.into_iter(), hash).is_empty());
    // The same of other texts: those that people saw still are what they were.
    let shown = |id: &str| texts.get(id).copied();
    let retold = stage.restate_pairs(shown, |id| Some(if id == "a" { "X" } else { "Y" }));
    let found = retold.find_pairings(ids.into_iter(), |_, _| seen_pair(("a", "X"), ("b", "Y")));
    assert_eq!(found.len(), 1);
    assert!(stage.restate_pairs(|_| Some("changed"), shown).find_pairings(ids.into_iter(), hash).is_empty());
    let two = StageDecisions::new(std::iter::once(pair_decision("a", "b", Verdict::Two)));
    assert!(!two.find_pairings(ids.into_iter(), hash)[0].one);
}

#[test]
fn what_overrules_is_later_on_the_same_question_and_counts() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("decisions");
    let add = |decision: Decision| DecisionLog::append_decisions(&folder, vec![decision]).unwrap();
    let read = || DecisionLog::read_folder(&folder).unwrap();
    add(test_decision("tieba:1", Verdict::Keep));
    add(test_decision("tieba:2", Verdict::Drop));
    let first = read().all_decisions()[0].clone();
    assert!(read().overruling_decision(&first, "flub").is_none(), "another record");
    add(Decision { stage: "clean".into(), ..test_decision("tieba:1", Verdict::Drop) });
    assert!(read().overruling_decision(&first, "flub").is_none(), "another stage");
    add(Decision { text: Some("new".into()), ..test_decision("tieba:1", Verdict::Text) });
    assert!(read().overruling_decision(&first, "flub").is_none(), "another question");
    let later =
        add(Decision { recipe: Some("flub".into()), ..test_decision("tieba:1", Verdict::Drop) }).added[0];
    assert_eq!(read().overruling_decision(&first, "flub").map(|d| d.id), Some(later));
    assert!(read().overruling_decision(&first, "chumor").is_none(), "for another recipe");
    assert_eq!(read().of_stage("flub", "filter").len(), 3, "tieba:1 in two questions, and tieba:2");
    assert_eq!(read().of_stage("flub", "clean").len(), 1);
    assert!(read().undo_of(later).is_none());
    assert!(
        DecisionLog::withdraw_decision(&folder, later, "meta-1", "a slip", "2026-11-23T00:00:00Z").unwrap()
    );
    assert_eq!(read().undo_of(later).map(|undo| undo.why.clone()), Some("a slip".into()));
    assert!(read().overruling_decision(&first, "flub").is_none(), "withdrawn");
    assert!(
        !DecisionLog::withdraw_decision(&folder, seen(), "meta-1", "x", "2026-11-23T00:00:00Z").unwrap(),
        "of nothing"
    );
    // Each knows the last word on its question, which makes it another decision than one made without it.
    let bases: Vec<bool> = read().all_decisions().iter().map(|d| d.base.is_some()).collect();
    assert_eq!(bases, [false, false, false, false, true]);
}

#[test]
fn what_counts_is_stored_once_whatever_was_decided_since() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("decisions");
    let add = |decision: Decision| DecisionLog::append_decisions(&folder, vec![decision]).unwrap();
    let first = add(test_decision("tieba:1", Verdict::Keep)).added;
    add(test_decision("tieba:2", Verdict::Keep));
    let again = add(test_decision("tieba:1", Verdict::Keep));
    assert_eq!(again, DecisionReceipt { known: first, ..DecisionReceipt::default() });
    let own = Decision { recipe: Some("flub".into()), ..test_decision("tieba:1", Verdict::Keep) };
    let alone = add(own.clone()).added;
    assert_eq!(alone.len(), 1, "for a recipe alone it is another one");
    assert_eq!(add(own), DecisionReceipt { known: alone, ..DecisionReceipt::default() });
}

#[test]
fn a_decision_from_elsewhere_is_disputed_only_where_both_hold() {
    let dir = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| dir.path().join(name));
    let for_recipe = |recipe: Option<&str>, verdict| Decision {
        recipe: recipe.map(str::to_owned),
        ..test_decision("tieba:1", verdict)
    };
    DecisionLog::append_decisions(&here, vec![for_recipe(Some("flub"), Verdict::Keep)]).unwrap();
    DecisionLog::append_decisions(&there, vec![for_recipe(Some("chumor"), Verdict::Drop)]).unwrap();
    let new = DecisionLog::merge(&here, &there, true).unwrap();
    assert!(matches!(new[..], [DecisionLine::Decide(_)]), "for other recipes: {new:?}");
    DecisionLog::append_decisions(&there, vec![for_recipe(None, Verdict::Hold)]).unwrap();
    let new = DecisionLog::merge(&here, &there, false).unwrap();
    assert!(
        matches!(new[..], [DecisionLine::Decide(_), DecisionLine::Dispute(_)]),
        "for all recipes: {new:?}"
    );
    let log = DecisionLog::read_folder(&here).unwrap();
    let [disputed] = &log.open_disputes().collect::<Vec<_>>()[..] else { panic!("one") };
    assert!(log.is_disputed(disputed.id) && !log.is_disputed(log.all_decisions()[0].id));
    assert_eq!(log.of_stage("flub", "filter").len(), 1);
    // One that somebody here has withdrawn contradicts nothing any more.
    let [mine, theirs] = ["mine", "theirs"].map(|name| dir.path().join(name));
    let kept = DecisionLog::append_decisions(&mine, vec![for_recipe(None, Verdict::Keep)]).unwrap().added[0];
    DecisionLog::withdraw_decision(&mine, kept, "meta-1", "a slip", "2026-11-23T00:00:00Z").unwrap();
    DecisionLog::append_decisions(&theirs, vec![for_recipe(None, Verdict::Drop)]).unwrap();
    let new = DecisionLog::merge(&mine, &theirs, true).unwrap();
    assert!(matches!(new[..], [DecisionLine::Decide(_)]), "{new:?}");
}

#[test]
fn a_table_says_which_column_it_lacks() {
    let rows: Vec<CellsByColumn> = vec![BTreeMap::from([("record".to_owned(), "tieba:1".to_owned())])];
    let needed = ["record", "verdict", "rank"];
    for name in ["d.csv", "d.TSV", "d.xlsx"] {
        let bytes = write_table(&DECISIONS, if name == "d.xlsx" { name } else { "d.csv" }, &rows).unwrap();
        let read = read_table(name, &bytes).unwrap();
        let (lacking, columns) = missing_column(name, &bytes, &read, &needed).unwrap().unwrap();
        assert!(lacking == "rank" && columns.iter().any(|column| column == "verdict"), "{name}: {columns:?}");
        assert!(missing_column(name, &bytes, &read, &needed[..2]).unwrap().is_none(), "{name}");
    }
    // Lines have no key for an empty cell.
    let lines = b"\n{\"record\":\"tieba:1\",\"verdict\":\"\",\"why\":null}\n\n{\"record\":\"tieba:2\"}\n";
    let read = read_table("d.ndjson", lines).unwrap();
    assert_eq!(read.iter().map(|(at, row)| (*at, row.len())).collect::<Vec<_>>(), [(2, 1), (4, 1)]);
    assert!(missing_column("d.jsonl", lines, &read, &needed).unwrap().is_none());
    assert_eq!(missing_column("d.jsonl", lines, &read, &["id"]).unwrap().unwrap().0, "id");
    let error = read_table("d.jsonl", b"{}\n{\n").unwrap_err().to_string();
    assert!(error.starts_with("d.jsonl: line 2: "), "{error}");
}

/// It may be a decision on the same question.
#[test]
fn a_decision_of_a_newer_program_stops_reading_and_appending() {
    let dir = tempfile::tempdir().unwrap();
    let decide = || DecisionLog::append_decisions(dir.path(), vec![test_decision("tieba:1", Verdict::Keep)]);
    decide().unwrap();
    let newer = b"{\"event\":\"postpone\",\"id\":\"00\"}\n";
    Segments::in_folder(dir.path()).open_writer().unwrap().append_blocks(&[newer]).unwrap();
    let path = dir.path().join("000001.jsonl");
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(DecisionLog::read_folder(dir.path()), Err(LogError::Newer { .. })));
    assert!(matches!(decide(), Err(LogError::Newer { .. })));
    assert_eq!(std::fs::read(path).unwrap(), before);
}
