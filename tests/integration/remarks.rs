//! Additions to votes: comments, one's own history, and edited guidelines.

use crate::browser::{Browser, Server, coded, hidden, item, made};
use crate::harness::Workspace;

const PLACE: &str = "/review/ruozhibench-gen/category/vote";
const REMARK: &str = "The pun is lost on whoever does not fish";

/// Votes on an item as somebody, with more fields, and returns whether the page reported it as saved.
fn vote(server: &Server, who: &str, id: &str, more: &[(&str, &str)]) -> String {
    let mut browser = Browser::default();
    let page = browser.get(server, &format!("{PLACE}?as={who}&item={}", coded(id))).body;
    let (_, hash, base) = item(&page);
    let (csrf, guideline) = (hidden(&page, "csrf"), hidden(&page, "guideline"));
    let mut fields =
        vec![("csrf", csrf.as_str()), ("as", who), ("item", id), ("hash", &hash), ("base", &base)];
    fields.extend([("guideline", guideline.as_str()), ("f.sure", "yes")]);
    fields.extend(more);
    let answer = browser.post(server, PLACE, &fields);
    assert_eq!(answer.status, 200, "{}", answer.body);
    page
}

fn first(server: &Server) -> String {
    item(&Browser::default().get(server, &format!("{PLACE}?as=annotator-1")).body).0
}

/// Every file below a folder that contains the words.
fn holding(workspace: &Workspace, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![workspace.root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).contains(REMARK) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_remark_is_read_by_whoever_settles_and_goes_no_further() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let id = first(&server);
    vote(&server, "annotator-1", &id, &[("f.categories", "1"), ("n.text", REMARK), ("n.flag", "yes")]);
    let lines = |path: &str| workspace.read(path).lines().count();
    let notes = "raw/votes/notes/ruozhibench-gen.category.jsonl";
    assert_eq!((lines("raw/votes/000001.jsonl"), lines(notes)), (1, 1));
    let seen = vote(&server, "annotator-2", &id, &[("f.categories", "2")]);
    assert!(!seen.contains(REMARK), "a first look is blind");
    assert_eq!(lines(notes), 1, "who remarks nothing leaves nothing");

    // The last comment counts; the vote it belongs to is the same one.
    let seen = vote(&server, "annotator-1", &id, &[("f.categories", "1"), ("n.text", &format!("{REMARK}!"))]);
    assert!(
        seen.contains(REMARK) && seen.contains("name=\"n.flag\" value=\"yes\" autocomplete=\"off\" checked"),
        "one's own remark is there: {seen}"
    );
    assert_eq!((lines("raw/votes/000001.jsonl"), lines(notes)), (2, 2));

    let dispute = format!("/review/ruozhibench-gen/category/adjudication?as=meta-1&item={}", coded(&id));
    let page = Browser::default().get(&server, &dispute).body;
    assert!(page.contains(&format!("{REMARK}!")) && !page.contains("annotator-"), "{page}");
    let curated = Browser::default().get(&server, "/curate/ruozhibench-gen/category").body;
    assert!(curated.contains(&format!("{REMARK}!")), "{curated}");

    let list = |who: &str, q: &str| {
        Browser::default().get(&server, &format!("/review/mine?as={who}&q={}", coded(q))).body
    };
    let card = "<li class=\"card\">";
    let found = list("annotator-1", "whoever does NOT fish");
    assert!(found.contains(card) && found.contains("category/vote?as=annotator-1"), "{found}");
    assert!(!list("annotator-1", "nobody wrote this").contains(card));
    assert!(list("annotator-1", "").contains("votes: 1") && !list("annotator-2", "").contains(REMARK));

    workspace.run();
    workspace.call(["fsck"]).expect(0);
    for folder in ["staged", "output", "raw/releases"] {
        assert_eq!(holding(&workspace, folder), [] as [String; 0], "a remark is never published");
    }
    assert_eq!(holding(&workspace, "raw/votes"), [workspace.root().join(notes).display().to_string()]);
}

#[test]
fn a_guideline_is_edited_and_votes_know_what_was_read() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let id = first(&server);
    vote(&server, "annotator-1", &id, &[("f.categories", "1")]);
    let here = "/review/ruozhibench-gen/category/guideline";
    let mut curator = Browser::default();
    let page = curator.get(&server, here).body;
    assert!(page.contains("votes: 1"), "{page}");
    let csrf = hidden(&page, "csrf");
    let edit = |curator: &mut Browser, zh: &str| {
        let fields = [("csrf", csrf.as_str()), ("as", "meta-1"), ("en", "Mark what it is."), ("zh", zh)];
        let fields: Vec<(&str, &str)> = fields.into_iter().chain([("examples", "一楼")]).collect();
        curator.post(&server, "/curate/ruozhibench-gen/category/guideline", &fields).status
    };
    assert_eq!(edit(&mut curator, ""), 400, "it is written in both languages");
    assert_eq!(edit(&mut curator, "选出类型。"), 303);
    assert_eq!(edit(&mut curator, "选出类型。"), 303);
    let edits = workspace.read("raw/votes/guidelines/ruozhibench-gen.category.jsonl");
    let by = |name: &str| edits.lines().filter(|line| line.contains(&format!("\"by\":\"{name}\""))).count();
    assert_eq!(by("meta-1"), 1, "the same words are no new version");
    assert_eq!((by(""), edits.lines().count()), (1, 2), "what was voted by is kept, whoever wrote it");

    // The vote by the old version is kept, and counts together with one by the new version.
    let own = Browser::default().get(&server, &format!("{PLACE}?as=annotator-1&item={}", coded(&id))).body;
    assert!(own.contains("Mark what it is.") && own.contains("You have voted on this"), "{own}");
    vote(&server, "annotator-2", &id, &[("f.categories", "1")]);
    let votes = workspace.read("raw/votes/000001.jsonl");
    let read: Vec<String> = votes
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["guideline"].to_string())
        .collect();
    assert!(read.len() == 2 && read[0] != read[1] && !read.contains(&"null".to_string()), "{read:?}");
    let page = curator.get(&server, here).body;
    assert_eq!(page.matches("votes: 1").count(), 2, "each version has its vote: {page}");
    workspace.run();
    let stale = Browser::default().get(&server, "/curate/ruozhibench-gen/category").body;
    assert!(!stale.contains("/curate/ruozhibench-gen/category/carry"), "an edit outdates no vote");
}
