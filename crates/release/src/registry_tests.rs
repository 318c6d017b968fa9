//! Tests of `registry`.

use std::fs;

use super::*;

#[test]
fn a_torn_tail_is_cut_and_a_damaged_line_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path());
    let canary = Registry::open(&workspace, "flub").unwrap().ensure_canary().unwrap();
    assert_eq!((canary.len(), &canary[14..15]), (36, "4"));
    let path = dir.path().join("raw/releases/flub/registry.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"{\"event\":\"rel"].concat()).unwrap();
    let mut registry = Registry::open(&workspace, "flub").unwrap();
    assert_eq!(registry.ensure_canary().unwrap(), canary, "drawn once");
    registry.append_event(&Event::Canary { guid: "x".into() }).unwrap();
    assert_eq!(Registry::open(&workspace, "flub").unwrap().canary.as_deref(), Some("x"));
    // An event that lost only its line end is complete.
    let two = fs::read(&path).unwrap();
    fs::write(&path, &two[..two.len() - 1]).unwrap();
    let mut registry = Registry::open(&workspace, "flub").unwrap();
    assert_eq!(registry.canary.as_deref(), Some("x"));
    registry.append_event(&Event::Canary { guid: "y".into() }).unwrap();
    assert_eq!(fs::read(&path).unwrap()[..two.len()], two);
    assert_eq!(Registry::open(&workspace, "flub").unwrap().canary.as_deref(), Some("y"));
    fs::write(&path, [b"no event\n", &whole[..]].concat()).unwrap();
    assert!(Registry::open(&workspace, "flub").unwrap_err().to_string().contains("line 2"));
}

#[test]
fn a_version_that_no_event_names_stops_everything() {
    for folder in ["raw/releases/flub/1.0.0-draft.1", "output/flub/1.0.0-draft.1"] {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let folder = dir.path().join(folder);
        durable::create_folder(&folder).unwrap();
        Registry::open(&workspace, "flub").unwrap();
        fs::write(folder.join(TEXTS), "").unwrap();
        fs::write(folder.join(MANIFEST), "").unwrap();
        let error = Registry::open(&workspace, "flub").unwrap_err().to_string();
        assert!(error.contains("does not name 1.0.0-draft.1") && error.contains("hint"), "{error}");
        assert!(Registry::open(&workspace, "chumor").is_ok());
    }
}

#[test]
fn a_number_is_for_good() {
    let mut registry = Registry::default();
    let mut ordinals = registry.collect_ordinals();
    let given = [
        ordinals.assign_number("index", 1, "a"),
        ordinals.assign_number("index", 1, "b"),
        ordinals.assign_number("SP", 0, "x"),
    ];
    assert_eq!(given, [1, 2, 0]);
    let release = Release {
        version: Version::FIRST,
        date: String::new(),
        riddlemill: String::new(),
        configs: BTreeMap::new(),
        sums: String::new(),
        sealed: BTreeMap::new(),
        stages: 5,
        changes: Changes::default(),
        allotted: ordinals.new_numbers().to_vec(),
        split: Vec::new(),
        retired: vec!["a".into()],
    };
    registry.releases.push(release);
    let mut ordinals = registry.collect_ordinals();
    assert_eq!(
        [ordinals.assign_number("index", 1, "c"), ordinals.assign_number("index", 1, "b")],
        [3, 2],
        "a is gone, 1 is not given again"
    );
    assert_eq!(ordinals.number_of_key("index", "a"), Some(1), "and waits for a");
    assert_eq!(ordinals.new_numbers(), [("index".to_string(), "c".to_string(), 3)]);
}

#[test]
fn a_published_number_is_borne_unless_either_has_another() {
    let mut ordinals = Ordinals::default();
    for (key, number) in [("a", 7), ("b", 7), ("a", 8)] {
        ordinals.assign_published("index", key, number);
    }
    assert_eq!(["a", "b"].map(|key| ordinals.number_of_key("index", key)), [Some(7), None]);
    assert_eq!((ordinals.key_of_number("index", 7), ordinals.key_of_number("SP", 7)), (Some("a"), None));
    assert_eq!(ordinals.assign_number("index", 1, "b"), 8, "behind the greatest");
}
