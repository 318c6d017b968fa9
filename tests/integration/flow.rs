//! The overview as a flow and the tables of progress: what comes next is a button that leads to where it is done.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::browser::{Browser, Server, made};
use crate::harness::Workspace;

/// No page of these is larger.
const BYTES: usize = 62_000;

/// Verbs that pages do themselves.
const VERBS: [&str; 4] = ["riddlemill review ", "riddlemill decide ", "riddlemill run", "riddlemill show "];

fn unescaped(html: &str) -> String {
    [("&#x2f;", "/"), ("&#x27;", "'"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        .into_iter()
        .fold(html.to_owned(), |html, (code, sign)| html.replace(code, sign))
}

fn page(browser: &mut Browser, server: &Server, path: &str) -> String {
    let answer = browser.get(server, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    unescaped(&answer.body)
}

/// The buttons of what comes next: their words, and where they lead.
fn buttons(overview: &str) -> Vec<(String, String)> {
    let next = overview.split_once("aria-labelledby=\"_next\"").expect("what comes next").1;
    let next = next.split_once("</section>").unwrap().0;
    let button = Regex::new(r#"<a class="button[^"]*" href="([^"]+)">([^<]+)</a>"#).unwrap();
    button.captures_iter(next).map(|found| (found[2].to_owned(), found[1].to_owned())).collect()
}

fn labels(overview: &str) -> Vec<String> {
    buttons(overview).into_iter().map(|(label, _)| label).collect()
}

#[test]
fn what_comes_next_is_a_button_that_leads_to_where_it_is_done() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let overview = page(&mut boss, &server, "/");
    let found = buttons(&overview);
    for begin in ["Assign ", "Name an endpoint", "Decide 1 held post"] {
        assert!(found.iter().any(|(label, _)| label.starts_with(begin)), "no {begin:?} in {found:?}");
    }
    for (label, href) in &found {
        let there = page(&mut boss, &server, href.split('#').next().unwrap());
        let done = match label.split(' ').next().unwrap() {
            "Assign" => "items still need voters",
            "Name" => "[llm.mine]",
            "Decide" => "id=\"one\"",
            "See" => "id=\"waits\"",
            "Run" => "name=\"offline\"",
            other => panic!("a button that no test follows: {other} -> {href}"),
        };
        assert!(there.contains(done), "{label} -> {href}: no {done:?}");
        // The button and the page count the same.
        if let Some(number) = label.strip_prefix("Assign ").and_then(|rest| rest.split(' ').next()) {
            let told = format!("{number} items still need voters.");
            assert!(there.contains(&told), "{label} -> {href}: no {told:?} in {there}");
            let made_up = "kept by made-up votes of the sample alone";
            // On puzzles without an answer the sample has no votes, so that all of them wait.
            let is_voted = href != "/curate/brainteaser/text/assign";
            assert_eq!(there.contains(made_up), is_voted, "{href}: why they are more than those that wait");
        }
        if done == "[llm.mine]" {
            let settings = ["draft.endpoint", "respond.endpoints"];
            assert!(settings.iter().any(|name| there.contains(name)), "{href} names the setting: {there}");
        }
    }
    assert!(overview.contains("more have only made-up votes of the sample"), "{overview}");
    let addresses: std::collections::BTreeSet<&String> = found.iter().map(|(_, href)| href).collect();
    assert_eq!(addresses.len(), found.len(), "one button a thing: {found:?}");

    // What has been assigned is no longer to be assigned.
    assert!(found.iter().any(|(_, href)| href == "/curate/flub/clean/assign"), "{found:?}");
    workspace.call(["review", "assign", "clean", "--recipe", "flub"]).expect(0);
    let after = buttons(&page(&mut boss, &server, "/"));
    assert!(after.iter().all(|(_, href)| href != "/curate/flub/clean/assign"), "{after:?}");
    let waited = after.iter().find(|(_, href)| href == "/curate/flub/clean#waits");
    let (label, _) = waited.unwrap_or_else(|| panic!("{after:?}"));
    let number = label.strip_prefix("See who votes on ").and_then(|rest| rest.split(' ').next()).unwrap();
    let waits = page(&mut boss, &server, "/curate/flub/clean");
    assert!(waits.contains(&format!("Votes on {number}:")), "{label}: {waits}");
    assert!(waits.contains("id=\"waits\"") && waits.contains("<span class=\"badge held\">"), "{waits}");
}

#[test]
fn what_was_decided_is_not_asked_again_and_waits_for_a_run() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let before = labels(&page(&mut boss, &server, "/"));
    assert!(before.iter().all(|label| !label.starts_with("Run ")), "nothing is due: {before:?}");
    let held = page(&mut boss, &server, "/ruozhibench-gen/held");
    let post = held.split_once("data-record=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let decision = ["decide", "drop", &post, "--stage", "anonymise", "--by", "meta-1", "--why", "looked at"];
    workspace.call(decision).expect(0);
    let after = labels(&page(&mut boss, &server, "/"));
    assert!(after[0].starts_with("Run "), "a run comes first: {after:?}");
    assert!(after.iter().all(|label| !label.starts_with("Decide ")), "{after:?}");
    workspace.run();
    assert_eq!(
        labels(&page(&mut boss, &server, "/")).iter().filter(|label| label.starts_with("Decide ")).count(),
        0
    );
}

#[test]
fn the_overview_shows_shared_stages_once_and_nothing_that_says_nothing() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let overview = page(&mut boss, &server, "/");
    for stage in ["import", "clean", "anonymise"] {
        let links = ["ruozhibench-gen", "flub", "chumor"].map(|recipe| {
            overview.matches(&format!("class=\"step\" href=\"/{recipe}/stage/{stage}\"")).count()
        });
        assert_eq!(links, [1, 0, 0], "{stage}");
    }
    assert!(overview.contains("Shared by ruozhibench-gen, flub, chumor"), "{overview}");
    assert!(overview.contains("Shared by flub, chumor"), "{overview}");
    // Every other stage of every benchmark is there, in a row that opens without a script.
    for (recipe, stage) in [
        ("flub", "review:clean"),
        ("chumor", "review:errors"),
        ("brainteaser", "topic"),
        ("ruozhibench-mc", "judge"),
    ] {
        assert!(overview.contains(&format!("href=\"/{recipe}/stage/{stage}\"")), "{recipe} {stage}");
        assert!(overview.contains(&format!("<details class=\"recipe\" id=\"{recipe}\">")), "{recipe}");
    }
    assert!(overview.contains("none left out") && overview.contains("Nothing was sent to a paid model."));
    let zero = Regex::new(r#"<b>0</b>|class="num[^"]*">\s*0\s*<"#).unwrap();
    for path in ["/", "/curate"] {
        let body = page(&mut boss, &server, path);
        assert!(!zero.is_match(&body), "{path} says 0: {:?}", zero.find(&body));
    }
}

#[test]
fn pages_name_no_command_where_a_page_does_it() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let paths =
        ["/", "/curate", "/curate/flub/clean", "/flub/stage/review:clean", "/flub/causes/review:clean"];
    for language in ["en", "zh"] {
        let mut boss = Browser { cookies: vec![("lang".into(), language.into())] };
        for path in paths.iter().chain(&["/flub/stage/anonymise", "/flub/causes/anonymise"]) {
            let body = page(&mut boss, &server, path);
            for verb in VERBS {
                assert!(!body.contains(verb), "{path} ({language}) names {verb:?}: {body}");
            }
        }
        let stage = page(&mut boss, &server, "/flub/stage/review:clean");
        assert!(stage.contains("href=\"/curate/flub/clean/assign\""), "{stage}");
        let held = page(&mut boss, &server, "/flub/stage/anonymise");
        assert!(held.contains("href=\"/flub/held\""), "{held}");
    }
}

#[test]
fn a_reader_gets_buttons_of_pages_that_open_to_them() {
    let workspace = made();
    let granted = workspace.call(["access", "grant", "looker", "--rank", "reader"]).expect(0).out;
    let token = granted.split_whitespace().find(|word| word.len() == 64).unwrap().to_owned();
    let server = Server::start(&workspace, &[]);
    let mut looker = Browser::login(&server, &token);
    let found = buttons(&page(&mut looker, &server, "/"));
    assert!(!found.is_empty());
    for (label, href) in &found {
        assert!(!href.starts_with("/curate"), "{label} -> {href}");
        page(&mut looker, &server, href.split('#').next().unwrap());
    }
}

#[test]
fn a_workspace_without_a_run_has_one_button() {
    let workspace = Workspace::sample();
    let server = Server::start(&workspace, &[]);
    let overview = page(&mut Browser::default(), &server, "/");
    let found = buttons(&overview);
    assert!(found.len() == 1 && found[0].0.starts_with("Run ") && found[0].1 == "/run", "{found:?}");
    assert!(overview.contains("not made yet"), "{overview}");
}

#[test]
fn progress_is_two_tables_and_every_figure_leads_on() {
    let workspace = made();
    workspace.call(["review", "assign", "category", "--recipe", "ruozhibench-gen"]).expect(0);
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let body = page(&mut boss, &server, "/curate");
    assert_eq!(body.matches("<table").count(), 2, "{body}");
    assert_eq!(body.matches("<details").count(), 0, "nothing is folded: {body}");
    for ballot in ["flub-clean", "ruozhibench-gen-category", "chumor-screen", "brainteaser-validity"] {
        assert_eq!(body.matches(&format!("<tr id=\"s-{ballot}\"")).count(), 1, "{ballot}");
    }
    let main = body.split_once("<main").unwrap().1.split_once("</main>").unwrap().0;
    let link = Regex::new(r##"href="([^"#]*)(#[^"]*)?""##).unwrap();
    let links: BTreeMap<String, BTreeSet<String>> =
        link.captures_iter(main).fold(BTreeMap::new(), |mut links, found| {
            let places = links.entry(found[1].to_owned()).or_insert_with(BTreeSet::new);
            places.extend(found.get(2).map(|place| place.as_str()[1..].to_owned()));
            links
        });
    assert!(links.contains_key("/curate/people/annotator-1"), "{links:?}");
    assert!(links.contains_key("/curate/flub/clean/assign"), "{links:?}");
    for (href, places) in &links {
        let led_to = page(&mut boss, &server, href);
        for place in places {
            assert!(led_to.contains(&format!("id=\"{place}\"")), "{href} has no #{place}");
        }
    }
    // A row by itself, which stands in for the one that is counted later.
    let one = page(&mut boss, &server, "/curate/ruozhibench-gen/category");
    assert!(one.contains("<tr id=\"s-ruozhibench-gen-category\"") && one.contains("id=\"waits\""), "{one}");
}

#[test]
fn the_pages_stay_light() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    for path in
        ["/", "/curate", "/curate/ruozhibench-gen/category", "/ruozhibench-gen/record/tieba:990001059"]
    {
        let body = Browser::default().get(&server, path).body;
        assert!(body.len() <= BYTES, "{path}: {} bytes", body.len());
        assert!(!body.contains("src=\"http"), "{path} loads from elsewhere");
    }
}

#[test]
fn the_page_of_assignments_opens_on_the_round_that_is_named() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let body = page(&mut Browser::default(), &server, "/curate/flub/type/assign?round=review");
    assert!(body.contains("<option value=\"review\" selected>"), "{body}");
}

#[test]
fn the_page_of_assignments_of_many_items_comes_before_they_are_counted() {
    let workspace = Workspace::with(
        "version = 1\n\n[[source]]\nname = \"many\"\nkind = \"table\"\npath = \"posts.jsonl\"\nrecipes = [\"flub\"]\n\
         fields = { id = \"id\", content = \"text\" }\n\n\
         [[annotator]]\nname = \"a1\"\nrole = \"junior\"\nqualified = true\n",
    );
    // More than a page counts while it is made, and none like another.
    let character = |n: u32| char::from_u32(0x4e00 + n % 0x4000).unwrap();
    let post = |n: u32| {
        let mixed = |at: u32| n.wrapping_mul(2_654_435_761).rotate_left(at * 5) ^ (n * 77 + at);
        let text: String = (0..9).map(|at| character(mixed(at))).collect();
        format!("{{\"id\": \"p{n}\", \"text\": \"为什么{text}？\"}}\n")
    };
    workspace.write("posts.jsonl", (0..20_200).map(post).collect::<String>());
    workspace.call(["run", "--offline", "-q"]).expect(0);
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let first = page(&mut boss, &server, "/curate/flub/clean/assign");
    let whole = "/curate/flub/clean/assign?round=vote&whole=yes";
    assert!(first.contains(&format!("hx-get=\"{whole}\"")), "{first}");
    assert!(first.contains("value=\"a1\" checked"), "{first}");
    assert!(!first.contains("items still need voters"), "{first}");
    let counted = page(&mut boss, &server, whole);
    assert!(counted.contains("20,200 items still need voters"), "{counted}");
    // Its button has no number, as its page counts later.
    let causes = page(&mut boss, &server, "/flub/causes/review:clean");
    assert!(causes.contains(">Assign texts</a>"), "{causes}");
}
