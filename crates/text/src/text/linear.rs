//! Every rule takes time proportional to the text, even for repetitive texts: posts come from strangers.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::anonymise::Anonymiser;
use super::clean::{self, DraftKind, PostText};
use super::filter::{self, Context};
use super::interrogative;
use super::normalise::{Fold, fold};
use super::policy::Policy;

/// Repeated units: some that once took minutes, and what the rules look for.
const UNITS: [&str; 56] = [
    "@a ",
    "@云中鹤 ",
    "为什么",
    "是不是",
    "云中鹤",
    "a@a.",
    "a.",
    "a.b/",
    "www.",
    "http://",
    "1",
    "12-",
    "１",
    "回复 a :",
    "1、",
    "①",
    "第1名",
    "“",
    "”",
    "\"",
    "“a”",
    "《",
    "【】",
    "[",
    "(",
    "（",
    "？",
    "。",
    "，",
    "……",
    "\n",
    " ",
    "　",
    "路",
    "市彩虹路7号",
    "微信",
    "QQ：",
    "加我微信a",
    "丨",
    "请问",
    "谁",
    "如题",
    "说：",
    "图",
    "+1 ",
    "+44",
    "(415) ",
    "415-",
    "call ",
    "4111 ",
    "GB82 ",
    "u/abc ",
    "1 Elm St",
    "live at ",
    "12 The ",
    "&amp;",
];

/// A name of a rule, and the rule.
type Rule<'r> = (&'static str, Box<dyn Fn(&str) + 'r>);

fn timed_rules(policy: &Policy) -> Vec<Rule<'_>> {
    let draft = |kind: DraftKind| {
        move |text: &str| {
            let (title, content) = match kind {
                DraftKind::Thread => (text, Some(text)),
                _ => ("", Some(text)),
            };
            drop(clean::clean(&PostText { kind, title, content }));
        }
    };
    let settings = filter::FilterSettings { max_chars: usize::MAX, ..filter::FilterSettings::default() };
    vec![
        ("clean a thread", Box::new(draft(DraftKind::Thread))),
        ("clean a numbered post", Box::new(draft(DraftKind::NumberedPost))),
        ("clean a text", Box::new(draft(DraftKind::Plain))),
        ("anonymise", Box::new(|text| drop(Anonymiser::default().apply(text, &["云中鹤", "路人"])))),
        ("policy", Box::new(|text| drop(policy.check(text)))),
        ("filter", Box::new(move |text| drop(filter::filter(text, &settings, Context::default())))),
        ("interrogative", Box::new(|text| drop(interrogative::judge_text(text)))),
        ("normalise", Box::new(|text| drop(fold(text, Fold::KEY)))),
    ]
}

fn repeat_unit(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len() + 1)
}

/// The shorter of two measurements: other load on the machine only adds time.
fn shortest_time(rule: &dyn Fn(&str), text: &str) -> Duration {
    let go = || {
        let start = Instant::now();
        rule(text);
        start.elapsed()
    };
    let first = go();
    if first < ENOUGH { first } else { first.min(go()) }
}

/// Times below this are not checked for growth.
const ENOUGH: Duration = Duration::from_millis(400);
/// Bytes of the shorter text; the other has sixteen times as many.
const SHORT: usize = 16 << 10;

/// Sixteen times the text takes sixteen times as long, or 256 times if a rule rescans it again and again. What took too
/// long, if it did.
fn too_long(name: &str, rule: &dyn Fn(&str), unit: &str) -> Option<String> {
    let long = shortest_time(rule, &repeat_unit(unit, 16 * SHORT));
    if long < ENOUGH {
        return None;
    }
    let short = shortest_time(rule, &repeat_unit(unit, SHORT));
    let grew = long.as_secs_f64() / short.as_secs_f64();
    (grew >= 64.0).then(|| format!("{name} of {unit:?}: {short:?} grows to {long:?}"))
}

#[test]
fn no_rule_takes_longer_for_a_character_of_a_longer_text() {
    let policy = Policy::with_shipped_lists().unwrap();
    let rules = timed_rules(&policy);
    let found: Vec<String> = UNITS
        .iter()
        .flat_map(|unit| rules.iter().filter_map(|(name, rule)| too_long(name, rule, unit)))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nor_of_any_two_things_in_turn(a in 0..UNITS.len(), b in 0..UNITS.len(), other in "\\PC{0,3}") {
        let policy = Policy::with_shipped_lists().unwrap();
        let unit = format!("{}{other}{}", UNITS[a], UNITS[b]);
        for (name, rule) in timed_rules(&policy) {
            prop_assert!(too_long(name, &rule, &unit).is_none(), "{name} of {unit:?}");
        }
    }
}
