//! Votes from the page: stored once, confirmed, and never lost.

use std::collections::BTreeSet;

use crate::browser::{Browser, Server, coded, hidden, item, made};

#[test]
fn a_vote_is_stored_once_and_people_are_informed() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let place = "/review/ruozhibench-gen/translation/vote";
    let mut one = Browser::default();
    let page = one.get(&server, &format!("{place}?as=annotator-1")).body;
    let (id, hash, base) = item(&page);
    let csrf = hidden(&page, "csrf");
    let vote = |verdict: &str, text: &str, base: &str, hash: &str, csrf: &str| {
        let mut fields = vec![("csrf", csrf.to_string()), ("as", "annotator-1".into()), ("item", id.clone())];
        fields.extend([("hash", hash.to_string()), ("base", base.into()), ("seconds", "7.5".into())]);
        fields.push(("f.verdict", verdict.into()));
        if !text.is_empty() {
            fields.push(("f.question_en", text.into()));
        }
        fields
    };
    let send = |browser: &mut Browser, fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        browser.post(&server, place, &fields)
    };
    let text = "Does my umbrella mind the sun?";

    // Not from our page, not from our browser, not from our site.
    assert_eq!(send(&mut one, &vote("rewrite", text, &base, &hash, "")).status, 403);
    assert_eq!(send(&mut Browser::default(), &vote("rewrite", text, &base, &hash, &csrf)).status, 403);
    let other = one.send(&server, "POST", place, &["Origin: http://evil.example"], "csrf=x").unwrap();
    assert_eq!(other.status, 403);
    let other = one.send(&server, "POST", place, &["Sec-Fetch-Site: cross-site"], "csrf=x").unwrap();
    assert_eq!(other.status, 403);
    assert!(!workspace.exists("raw/votes/000001.jsonl"), "nothing was stored");

    let faulty = send(&mut one, &vote("rewrite", "", &base, &hash, &csrf));
    assert!(faulty.status == 422 && faulty.body.contains("question_en"), "{}", faulty.body);
    let changed = send(&mut one, &vote("rewrite", text, &base, &hash.replace(['0', '1', '2'], "3"), &csrf));
    assert!(changed.status == 409 && changed.body.contains("item_changed"), "{}", changed.body);

    let saved = send(&mut one, &vote("rewrite", text, &base, &hash, &csrf));
    assert!(saved.status == 200 && saved.body.contains("saved"), "{}", saved.body);
    let lines = || workspace.read("raw/votes/000001.jsonl").lines().count();
    assert_eq!(lines(), 1);
    let again = send(&mut one, &vote("rewrite", text, &base, &hash, &csrf));
    assert_eq!((again.status, lines()), (200, 1), "a double click is one vote");
    let tab = send(&mut one, &vote("rewrite", "Another text?", &base, &hash, &csrf));
    assert!(tab.status == 409 && tab.body.contains("overtaken") && lines() == 1, "{}", tab.body);

    // Going back shows the vote, which can be changed.
    let back = one.get(&server, &format!("{place}?as=annotator-1&item={}", coded(&id))).body;
    assert!(back.contains(text));
    let (_, hash, base) = item(&back);
    assert_eq!(send(&mut one, &vote("rewrite", "Better so?", &base, &hash, &csrf)).status, 200);
    assert_eq!(lines(), 2);
    // Nobody else sees it, even when requesting this very item.
    let peek = one.get(&server, &format!("{place}?as=annotator-2&item={}", coded(&id)));
    assert!(peek.status == 403 && !peek.body.contains("Better so?"));
    let list = one.get(&server, &format!("{place}?as=annotator-2")).body;
    assert!(!list.contains("Better so?") && !list.contains("annotator-1</"));

    workspace.run();
    let actual = workspace.explain("ruozhibench-gen", &id).to_string();
    assert!(actual.contains("Better so?"), "the run uses the vote: {actual}");
}

#[test]
fn a_dispute_goes_to_whoever_settles_it_and_names_nobody() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let place = "/review/ruozhibench-gen/category/vote";
    let first = Browser::default().get(&server, &format!("{place}?as=annotator-1")).body;
    let (id, ..) = item(&first);
    for (name, result) in [("annotator-1", "1"), ("annotator-2", "2")] {
        let mut browser = Browser::default();
        let page = browser.get(&server, &format!("{place}?as={name}&item={}", coded(&id))).body;
        let (_, hash, base) = item(&page);
        assert!(!page.contains("votes ·"), "a first look is blind");
        let csrf = hidden(&page, "csrf");
        let fields = [
            ("csrf", csrf.as_str()),
            ("as", name),
            ("item", &id),
            ("hash", &hash),
            ("base", &base),
            ("f.categories", result),
            ("f.sure", "yes"),
        ];
        let answer = browser.post(&server, place, &fields);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let place = "/review/ruozhibench-gen/category/adjudication";
    let mut meta = Browser::default();
    let page = meta.get(&server, &format!("{place}?as=meta-1")).body;
    assert!(page.contains("Votes so far: 2") && !page.contains("annotator-"), "{page}");
    let (item_id, hash, base) = item(&page);
    assert_eq!(item_id, id);
    let csrf = hidden(&page, "csrf");
    let decide = |meta: &mut Browser, reason: &str| {
        let mut fields =
            vec![("csrf", csrf.as_str()), ("as", "meta-1"), ("item", &id), ("hash", &hash), ("base", &base)];
        fields.extend([("f.categories", "1"), ("f.reason", reason)]);
        meta.post(&server, place, &fields)
    };
    assert_eq!(decide(&mut meta, "").status, 422, "a decision needs a reason");
    assert_eq!(decide(&mut meta, "The trap is plain in English too.").status, 200);
    let curate = meta.get(&server, "/curate/ruozhibench-gen/category").body;
    assert!(curate.contains("meta-1") && curate.contains("annotator-2"));
    workspace.run();
    assert!(workspace.explain("ruozhibench-gen", &id).to_string().contains("meta-1"));
}

#[test]
fn a_killed_server_has_every_vote_it_called_saved() {
    let workspace = made();
    let place = "/review/ruozhibench-gen/translation/vote";
    let mut saved: BTreeSet<String> = BTreeSet::new();
    for life in 0..2 {
        let mut server = Server::start(&workspace, &[]);
        let (sent, done) = std::sync::mpsc::channel::<String>();
        std::thread::scope(|scope| {
            for name in ["annotator-1", "annotator-2", "annotator-3"] {
                let (server, sent) = (&server, sent.clone());
                scope.spawn(move || {
                    let mut browser = Browser::default();
                    loop {
                        let path = format!("{place}?as={name}");
                        let Some(page) = browser.send(server, "GET", &path, &[], "") else { return };
                        if !page.body.contains("name=\"hash\"") {
                            return;
                        }
                        let (id, hash, base) = item(&page.body);
                        let (csrf, text) =
                            (hidden(&page.body, "csrf"), format!("Is {id} a question of {name}?"));
                        let fields = [
                            ("csrf", csrf.as_str()),
                            ("as", name),
                            ("item", &id),
                            ("hash", &hash),
                            ("base", &base),
                            ("f.verdict", "rewrite"),
                            ("f.question_en", &text),
                        ];
                        match browser.try_post(server, place, &fields) {
                            Some(answer) if answer.body.contains("\"saved\"") => {
                                let actual: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
                                sent.send(actual["vote"].as_str().unwrap().to_string()).unwrap();
                            }
                            // Somebody else was faster, or the server has stopped.
                            _ => {}
                        }
                    }
                });
            }
            drop(sent);
            let id = server.child.id().to_string();
            for (n, vote) in done.iter().enumerate() {
                saved.insert(vote);
                if n == 8 && life == 0 {
                    std::process::Command::new("kill").args(["-9", &id]).status().unwrap();
                }
            }
        });
        let _ = server.child.kill();
    }
    let stored = workspace.read("raw/votes/000001.jsonl");
    let ids: Vec<String> = stored
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_string()
        })
        .collect();
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "no vote occurs twice");
    assert!(saved.iter().all(|vote| unique.contains(vote)), "a vote that was called saved is lost");
    assert!(saved.len() > 20);
}
