//! The planted set, the examples and property tests of anonymising.

use proptest::prelude::*;

use super::*;

/// A line of the planted set: its text, the names handed in, and the expected marks.
fn planted(line: &str) -> (String, Vec<String>, Vec<DataMark>) {
    let (body, names) = line.split_once('\t').unwrap_or((line, ""));
    let names = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let (mut text, mut marks, mut rest) = (String::new(), Vec::new(), body);
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        let close = rest.find('}').unwrap();
        let (kind, marked) = rest[open + 1..close].split_once('|').unwrap();
        let kind = match kind {
            "id" => DataKind::IdCard,
            code => *DataKind::ALL.iter().find(|kind| kind.code() == code).unwrap(),
        };
        marks.push(DataMark { kind, start_char: text.chars().count(), len_chars: marked.chars().count() });
        text.push_str(marked);
        rest = &rest[close + 1..];
    }
    text.push_str(rest);
    (text, names, marks)
}

/// Precision and recall on a planted set of at least so many rows.
fn is_found(set: &str, least: usize) {
    let anonymiser = Anonymiser::default();
    let (mut rows, mut right, mut false_finds, mut missed) = (0, 0, Vec::new(), Vec::new());
    for line in set.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (text, names, wanted) = planted(line);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = anonymiser.apply(&text, &names).marks;
        rows += 1;
        right += wanted.iter().filter(|mark| found.contains(mark)).count();
        false_finds.extend(
            found.iter().filter(|mark| !wanted.contains(mark)).map(|mark| format!("{text}: {mark:?}")),
        );
        missed.extend(
            wanted.iter().filter(|mark| !found.contains(mark)).map(|mark| format!("{text}: {mark:?}")),
        );
    }
    let precision = right as f64 / (right + false_finds.len()) as f64;
    let recall = right as f64 / (right + missed.len()) as f64;
    eprintln!("anonymise: {rows} rows, {right} right, precision {precision:.4}, recall {recall:.4}");
    eprintln!("false: {false_finds:#?}\nmissed: {missed:#?}");
    assert!(rows >= least);
    assert!(precision >= 0.98 && recall >= 0.98);
}

#[test]
fn the_planted_set_is_found() {
    is_found(include_str!("planted.txt"), 150);
}

#[test]
fn the_planted_english_set_is_found() {
    is_found(include_str!("planted_english.txt"), 120);
}

#[test]
fn every_example_holds() {
    for kind in DataKind::ALL {
        let (before, after) = kind.example();
        let done = Anonymiser::default().apply(before, &[]);
        assert_eq!(done.text, after);
        assert_eq!(done.marks.iter().map(|mark| mark.kind).collect::<Vec<_>>(), [*kind]);
        let (before, after) = kind.english_example();
        let english = Anonymiser::new(AnonymiseSettings { english: true, ..AnonymiseSettings::default() });
        let done = english.apply(before, &[]);
        assert_eq!(done.text, after);
        assert_eq!(done.marks.iter().map(|mark| mark.kind).collect::<Vec<_>>(), [*kind]);
    }
}

#[test]
fn settings_decide_by_kind() {
    let text = "QQ：100012345，打13800138000";
    let settings =
        AnonymiseSettings { qq: Action::Remove, phones: Action::Refuse, ..AnonymiseSettings::default() };
    let done = Anonymiser::new(settings).apply(text, &[]);
    assert_eq!((done.text.as_ref(), done.refused), ("QQ：，打[电话]", true));
    let keep = AnonymiseSettings { qq: Action::Keep, phones: Action::Keep, ..AnonymiseSettings::default() };
    assert_eq!(Anonymiser::new(keep).apply(text, &[]).text, Cow::Borrowed(text));
}

#[test]
fn evidence_holds_no_text() {
    let done = Anonymiser::default().apply("打13800138000或13900139000找@云中鹤", &[]);
    assert_eq!(done.evidence(), "phone 2, name 1");
}

proptest! {
    #[test]
    fn marks_lie_in_the_text_and_handed_names_are_gone(
        text in "(@|回复 |云中鹤|13800138000|QQ：|微信：|u/|\\+1 |\\(415\\) |GB82 |4111 |live at |Street|Apt |[a-z]{1,8}|[0-9]{1,12}|号|路|栋|市|。| |:|\\.|/|\\PC){0,16}",
    ) {
        let anonymiser = Anonymiser::default();
        let done = anonymiser.apply(&text, &["云中鹤"]);
        let mut end = 0;
        for mark in &done.marks {
            prop_assert!(mark.start_char >= end && mark.len_chars > 0);
            end = mark.start_char + mark.len_chars;
        }
        prop_assert!(end <= text.chars().count());
        prop_assert!(!done.text.contains("云中鹤"));
    }
}
