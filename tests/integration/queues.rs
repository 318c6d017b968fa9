//! Pairs and held posts on the pages: one at a time, the next one after a decision, and taken back.

use crate::browser::{Browser, Server, hidden, made};

const PAIRS: &str = "/ruozhibench-gen/pairs?verdict=all";

/// The two records that stand there.
fn pair(html: &str) -> (String, String) {
    (hidden(html, "record"), hidden(html, "other"))
}

#[test]
fn after_a_decision_the_next_pair_stands_there_and_one_key_takes_it_back() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut one = Browser::default();
    let page = one.get(&server, PAIRS).body;
    assert!(page.contains("data-press=\"s\"") && page.contains("<del>"), "{page}");
    assert!(!page.contains("id=\"last\""), "nothing was decided: {page}");
    let (first, second) = (pair(&page), pair(&one.get(&server, &format!("{PAIRS}&at=1")).body));
    assert_ne!(first, second);

    let csrf = hidden(&page, "csrf");
    let seen = hidden(&page, "seen");
    let stage = hidden(&page, "stage");
    let fields = [
        ("csrf", csrf.as_str()),
        ("back", PAIRS),
        ("queue", "1"),
        ("record", &first.0),
        ("other", &first.1),
        ("stage", &stage),
        ("seen", &seen),
        ("as", "meta-1"),
        ("why", ""),
        ("why.two", "two jokes, read side by side"),
        ("verdict", "two"),
    ];
    let answer = one.post(&server, "/ruozhibench-gen/decide", &fields);
    assert_eq!(answer.status, 303, "{}", answer.body);
    let to = answer.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned();
    assert_eq!(to, format!("{PAIRS}&as=meta-1"), "whoever chose a name stays that person");
    let log = workspace.read("raw/decisions/000001.jsonl");
    assert!(log.contains("two jokes, read side by side") && log.contains("\"two\""), "{log}");

    let next = one.get(&server, &to).body;
    assert_eq!(pair(&next), second, "the next one stands where the first one stood");
    assert!(next.contains("1 decided"), "{next}");
    let (_, last) = next.split_once("id=\"last\"").expect("the last decision can be undone");
    let undo = hidden(last, "undo");

    // The decision is listed on a page of its own.
    let list = one.get(&server, "/ruozhibench-gen/decisions").body;
    assert!(list.contains(&undo) && list.contains("the next run applies it"), "{list}");

    let fields = [
        ("csrf", csrf.as_str()),
        ("back", &to),
        ("queue", "1"),
        ("record", &first.0),
        ("undo", &undo),
        ("as", "meta-1"),
        ("why.undo", "a second look"),
    ];
    assert_eq!(one.post(&server, "/ruozhibench-gen/decide", &fields).status, 303);
    let again = one.get(&server, &to).body;
    assert_eq!(pair(&again), first, "it stands there again");
    assert!(!again.contains("id=\"last\""), "{again}");
    let list = one.get(&server, "/ruozhibench-gen/decisions").body;
    assert!(list.contains("undone") && !list.contains("name=\"undo\""), "{list}");
}

#[test]
fn a_queue_ends_in_words_and_needs_a_reason_elsewhere() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let end = server.get("/ruozhibench-gen/pairs?at=100000").body;
    assert!(end.contains("The list ends here") && end.contains("From the start"), "{end}");
    for recipe in ["ruozhibench-gen", "flub", "chumor"] {
        for page in ["held", "decisions", "held?lang=zh", "decisions?lang=zh"] {
            let answer = server.get(&format!("/{recipe}/{page}"));
            assert!([200, 303].contains(&answer.status), "{recipe}/{page}: {}", answer.body);
        }
    }
    // Without a reason, written or shown by the page, nothing is stored.
    let mut one = Browser::default();
    let page = one.get(&server, PAIRS).body;
    let (csrf, seen, stage) = (hidden(&page, "csrf"), hidden(&page, "seen"), hidden(&page, "stage"));
    let (record, other) = pair(&page);
    let fields = [
        ("csrf", csrf.as_str()),
        ("back", PAIRS),
        ("record", &record),
        ("other", &other),
        ("stage", &stage),
        ("seen", &seen),
        ("as", "meta-1"),
        ("verdict", "one"),
    ];
    assert_eq!(one.post(&server, "/ruozhibench-gen/decide", &fields).status, 422);
}
