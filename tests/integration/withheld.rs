//! What the pages withhold from users without permission, for every route of the server, whatever is sent.

use std::collections::BTreeSet;

use riddlemill::config::{Config, Overrides};
use riddlemill::pipeline::review_items;
use riddlemill::recipe;
use riddlemill::web::{Rank, route_addresses};

use crate::browser::{Answer, Browser, Server, coded, hidden, item, made};
use crate::harness::Workspace;

const RECIPES: [&str; 3] = ["ruozhibench-gen", "flub", "chumor"];
const ROUNDS: [&str; 3] = ["vote", "review", "adjudication"];

/// What is requested of each route besides its bare path. A route that is not listed here fails the test: its
/// author lists the parameters, and the test sees what it reveals.
const ASKED: &[(&str, &[&str])] = &[
    ("/login", &[""]),
    ("/logout", &[""]),
    ("/assets/{hash}/{name}", &[""]),
    ("/health", &[""]),
    ("/join/{token}", &[""]),
    ("/review", &["", "?as={other}"]),
    ("/review/mine", &["", "?as={other}", "?as={other}&q={item}"]),
    ("/review/{recipe}/{step}/guideline", &["", "?as={other}"]),
    (
        "/review/{recipe}/{step}/{round}",
        &["", "?as={other}", "?item={item}", "?as={other}&item={item}", "?after={item}"],
    ),
    ("/review/{recipe}/{step}/{round}/later", &[""]),
    ("/", &["", "?as={other}"]),
    ("/find", &["", "?q={item}", "?q={secret}"]),
    ("/{recipe}/stage/{stage}", &["", "?q={secret}", "?sort=score"]),
    ("/{recipe}/figures/{stage}", &[""]),
    ("/{recipe}/causes/{stage}", &[""]),
    ("/{recipe}/record/{*id}", &[""]),
    ("/{recipe}/duplicates", &["", "?show=pairs&verdict=all"]),
    ("/{recipe}/pairs", &["", "?as={other}"]),
    ("/{recipe}/held", &["", "?as={other}"]),
    ("/{recipe}/decisions", &["", "?as={other}"]),
    ("/run", &[""]),
    ("/run/costs", &[""]),
    ("/run/events", &[""]),
    ("/releases", &[""]),
    ("/{recipe}/release/{version}", &["", "?reference=..%2faccess.jsonl"]),
    ("/{recipe}/release/{version}/rows", &["", "?q={secret}", "?row=0"]),
    ("/{recipe}/release/{version}/rows/{form}", &["", "?q={secret}"]),
    ("/{recipe}/release/{version}/card", &[""]),
    ("/{recipe}/release/{version}/file/{*path}", &[""]),
    ("/{recipe}/diff", &["", "?before=candidate&after=candidate"]),
    ("/curate", &["", "?as={other}"]),
    ("/curate/people", &[""]),
    ("/curate/{recipe}/{step}/trials", &[""]),
    ("/curate/people/{name}", &[""]),
    ("/people", &["", "?as={other}"]),
    ("/people/invite", &[""]),
    ("/people/revoke", &[""]),
    ("/curate/{recipe}/{step}", &["", "?as={other}"]),
    ("/curate/{recipe}/{step}/assign", &["", "?as={other}"]),
    ("/curate/{recipe}/{step}/guideline", &[""]),
    ("/curate/{recipe}/{step}/carry", &["", "?as={other}"]),
    ("/curate/{recipe}/{step}/votes.jsonl", &["", "?as={other}"]),
    ("/{recipe}/decide", &[""]),
];

/// A user's votes and comments, which nobody else may read.
struct Secrets {
    /// A user who has voted.
    other: &'static str,
    /// The item they voted on.
    item: String,
    /// Their texts, and their vote's id.
    wrote: Vec<String>,
}

/// Every path of a route: each of its parameters takes every available value.
fn filled(path: &str, secrets: &Secrets) -> Vec<String> {
    let mut paths = vec![path.to_string()];
    let mut fill = |name: &str, values: &dyn Fn(&str) -> Vec<String>| {
        if path.contains(name) {
            let each = |path: &String| {
                values(path).into_iter().map(|value| path.replace(name, &value)).collect::<Vec<_>>()
            };
            paths = paths.iter().flat_map(each).collect();
        }
    };
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_string()).collect::<Vec<_>>();
    fill("{recipe}", &|_| texts(&RECIPES));
    let of = |path: &str| {
        recipe::find_recipe(path.split('/').find(|part| RECIPES.contains(part)).unwrap()).unwrap()
    };
    fill("{step}", &|path| {
        of(path).review_steps().map(|review| review.benchmark_and_ballot().1.to_string()).collect()
    });
    fill("{stage}", &|path| of(path).steps().iter().map(|step| coded(step.name)).collect());
    fill("{round}", &|_| texts(&ROUNDS));
    fill("{*path}", &|_| texts(&["MANIFEST.json", "..%2f..%2f..%2fraw%2faccess.jsonl"]));
    fill("{token}", &|_| texts(&["0123456789abcdef"]));
    fill("{version}", &|_| texts(&["candidate"]));
    fill("{form}", &|_| texts(&["csv", "jsonl", "parquet", "toml"]));
    fill("{*id}", &|_| vec![secrets.item.clone()]);
    fill("{hash}", &|_| texts(&["0", ".."]));
    fill("{name}", &|_| texts(&["page.css", "access.jsonl"]));
    assert!(paths.iter().all(|path| !path.contains('{')), "a parameter that no value is known for: {path}");
    paths
}

fn asked(path: &str) -> &'static [&'static str] {
    let known = ASKED.iter().find(|(known, _)| *known == path);
    known.unwrap_or_else(|| panic!("say in ASKED what may be asked of {path}")).1
}

/// A vote on the page; the texts in it are returned as secrets.
fn votes(server: &Server, token: &str, place: &str, answer: &[(&str, &str)]) -> (String, String) {
    let mut browser = Browser::login(server, token);
    let page = browser.get(server, place).body;
    let (id, hash, base) = item(&page);
    let csrf = hidden(&page, "csrf");
    let mut fields = vec![("csrf", csrf.as_str()), ("item", &id), ("hash", &hash), ("base", &base)];
    fields.extend(answer);
    let result = browser.post(server, place, &fields);
    assert_eq!(result.status, 200, "{}", result.body);
    let actual: serde_json::Value = serde_json::from_str(&result.body).unwrap();
    (id, actual["vote"].as_str().unwrap().to_string())
}

/// The drafts that a blind ballot withholds.
fn drafts(workspace: &Workspace) -> Vec<String> {
    let root = workspace.root();
    let config =
        Config::load(root, &recipe::recipe_names(), &recipe::changed_defaults(), &Overrides::default())
            .unwrap();
    let flub = recipe::find_recipe("flub").unwrap();
    let (step, items) = review_items(&config, flub, "explanation").unwrap().unwrap();
    assert!(!step.shows_drafts(riddlemill::review::Round::Vote));
    let drafts: Vec<String> =
        items.iter().filter_map(|item| item.draft.get("explanation")).map(ToString::to_string).collect();
    assert!(drafts.len() > 3, "there is something to withhold");
    drafts
}

/// A user with a browser.
struct Visitor<'s> {
    name: &'static str,
    rank: Option<Rank>,
    browser: Browser,
    /// The token in their own forms.
    csrf: String,
    /// The secrets they try to read.
    after: &'s Secrets,
}

impl Visitor<'_> {
    /// Sends everything to a path, and returns the responses. `all` says whether to try every method.
    fn try_everything(
        &self,
        server: &Server,
        address: &str,
        queries: &[&str],
        all: bool,
    ) -> Vec<(String, Answer)> {
        // Logging out would end the session used for the other routes.
        let mut browser = self.browser.clone();
        let Secrets { other, item, wrote, .. } = self.after;
        let mut answers = Vec::new();
        for query in queries {
            let query = query.replace("{other}", other).replace("{item}", &coded(item));
            let address = format!("{address}{}", query.replace("{secret}", &coded(&wrote[0])));
            answers.push((format!("GET {address}"), browser.get(server, &address)));
        }
        if !all && !address.starts_with("/review") {
            return answers;
        }
        let own = [
            ("csrf", self.csrf.as_str()),
            ("as", other),
            ("item", item),
            ("reason", "none"),
            ("round", "vote"),
        ];
        for hash in [&[][..], &[("hash", "00")]] {
            let fields: Vec<(&str, &str)> = own.iter().chain(hash).copied().collect();
            answers.push((format!("POST {address}"), browser.post(server, address, &fields)));
        }
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"].iter().filter(|_| all) {
            answers.push((
                format!("{method} {address}"),
                browser.send(server, method, address, &[], "").unwrap(),
            ));
        }
        answers
    }
}

#[test]
fn every_route_keeps_to_itself_what_is_not_the_visitors() {
    let workspace = made();
    let token = |name: &str, rank: &str| {
        workspace.call(["access", "grant", name, "--rank", rank]).expect(0).out.trim().to_string()
    };
    let [one, two] = ["annotator-1", "annotator-2"].map(|name| token(name, "annotator"));
    let [junior, other] = ["junior-1", "junior-2"].map(|name| token(name, "annotator"));
    let reader = token("looker", "reader");
    let server = Server::start(&workspace, &[]);

    let written = "Would the umbrella rather stay at home?";
    let answer = [("f.verdict", "rewrite"), ("f.question_en", written)];
    let (item, vote) = votes(&server, &one, "/review/ruozhibench-gen/translation/vote", &answer);
    let first = Secrets { other: "annotator-1", item, wrote: vec![written.into(), vote] };
    let written = "这句话把伞当成了会拿主意的人。";
    let place = "/review/flub/explanation/vote";
    let (item, vote) = votes(&server, &junior, place, &[("f.explanation", written)]);
    let second = Secrets { other: "junior-1", item, wrote: vec![written.into(), vote] };
    let drafts = drafts(&workspace);
    let before = workspace.read("raw/votes/000001.jsonl");

    let mut forger = Browser::login(&server, &two);
    forger.cookies.iter_mut().for_each(|(_, value)| *value = "0".repeat(64));
    let login = |token: &str| Browser::login(&server, token);
    let visitors = [
        ("nobody", None, Browser::default(), &first),
        ("forger", None, forger, &first),
        ("annotator-2", Some(Rank::Annotator), login(&two), &first),
        ("junior-2", Some(Rank::Annotator), login(&other), &second),
        ("looker", Some(Rank::Reader), login(&reader), &first),
    ];
    let visitors = visitors.map(|(name, rank, mut browser, after)| {
        let csrf = browser.mark(&server, if rank.is_some() { "/review" } else { "/login" });
        Visitor { name, rank, browser, csrf, after }
    });
    let routes = route_addresses();
    let known: BTreeSet<&str> = routes.iter().map(|(path, _)| *path).collect();
    assert!(ASKED.iter().all(|(path, _)| known.contains(path)), "ASKED names a route that is gone");
    for (path, needed) in routes {
        let queries = asked(path);
        let addresses = filled(path, &first).into_iter().chain(filled(path, &second));
        for (at, address) in addresses.collect::<BTreeSet<_>>().into_iter().enumerate() {
            for visitor in &visitors {
                for (what, answer) in visitor.try_everything(&server, &address, queries, at == 0) {
                    let actual =
                        format!("{}: {what} answered {}\n{}", visitor.name, answer.status, answer.body);
                    if needed.is_some() && visitor.rank < needed {
                        assert!([303, 401, 403, 405].contains(&answer.status), "{actual}");
                        assert!(!answer.body.contains("tieba:"), "{actual}");
                    }
                    // A reader's audit pages show votes and drafts; nobody else's do.
                    if visitor.rank >= Some(Rank::Reader) && needed != Some(Rank::Curator) {
                        continue;
                    }
                    for secret in first.wrote.iter().chain(&second.wrote).chain(&drafts) {
                        assert!(!answer.body.contains(secret.as_str()), "{secret}\n{actual}");
                    }
                }
            }
        }
    }
    assert_eq!(workspace.read("raw/votes/000001.jsonl"), before, "nobody voted for somebody else");
    assert!(!workspace.exists("raw/votes/assigned"), "and nobody gave work out");
}
