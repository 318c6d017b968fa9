//! The pages of voting: addresses of items, and a login that comes back to them.

use crate::browser::{Browser, Server, coded, hidden, item, made};

#[test]
fn every_item_has_an_address_and_going_back_shows_the_vote() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let place = "/review/ruozhibench-gen/translation/vote";
    let mut one = Browser::default();
    let page = one.get(&server, &format!("{place}?as=annotator-1")).body;
    assert!(page.contains("autocomplete=\"off\" action="), "{page}");
    let (id, hash, base) = item(&page);
    let csrf = hidden(&page, "csrf");
    let fields = [
        ("csrf", csrf.as_str()),
        ("as", "annotator-1"),
        ("item", &id),
        ("hash", &hash),
        ("base", &base),
        ("f.verdict", "rewrite"),
        ("f.question_en", "Does my umbrella mind the sun?"),
    ];
    assert_eq!(one.post(&server, place, &fields).status, 200);

    // What comes after the item is sent on to an address of its own.
    let next = one.get(&server, &format!("{place}?as=annotator-1&after={}", coded(&id)));
    assert_eq!(next.status, 303, "{}", next.body);
    let to = next.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned();
    assert!(to.starts_with(place) && to.contains("as=annotator-1&item="), "{to}");
    // A page that is fetched ahead is the same one, and says so on its way.
    let ahead = one.get(&server, &format!("{place}?as=annotator-1&after={}&ahead=1", coded(&id)));
    assert!(ahead.status == 303 && ahead.head.contains(&format!("{to}&ahead=1")), "{}", ahead.head);
    let second = one.get(&server, &to).body;
    assert!(second.contains("id=\"queue\"") && second.contains("data-who=\"annotator-1\""), "{second}");
    let (other, ..) = item(&second);
    assert!(other != id && !second.contains("You have voted on this;"), "{second}");

    let back = one.get(&server, &format!("{place}?as=annotator-1&item={}", coded(&id))).body;
    assert_eq!(item(&back).0, id);
    assert!(back.contains("You have voted on this;"), "{back}");
}

#[test]
fn what_was_given_to_somebody_stands_above_the_rest() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let list = || server.get("/review?as=annotator-1").body;
    let before = list();
    assert!(!before.contains("id=\"given\"") && !before.contains("id=\"others\""), "{before}");
    let assign = |until: &str| {
        workspace.call([
            "review",
            "assign",
            "screen",
            "--recipe",
            "chumor",
            "--to",
            "annotator-1",
            "--until",
            until,
        ])
    };
    let refused = assign("tomorrow");
    assert!(refused.code == 2 && refused.err.contains("YYYY-MM-DD"), "{}", refused.err);
    let past = assign("2020-02-03");
    assert!(past.code == 2 && past.err.contains("2020-02-03, is past"), "{}", past.err);
    let replaced = ["review", "assign", "screen", "--recipe", "chumor", "--replace", "nobody-1"];
    let unknown = workspace.call(replaced).expect(2).err;
    assert!(
        unknown.contains("unknown annotator \"nobody-1\"") && unknown.contains("annotator-"),
        "{unknown}"
    );
    assign("2031-02-03").expect(0);
    let after = list().replace("&#x2f;", "/");
    let (given, others) = after.split_once("<details id=\"others\">").expect("the rest is folded");
    assert!(given.contains("/review/chumor/screen/vote") && given.contains("until 2031-02-03"), "{given}");
    assert!(given.contains(" left") && !given.contains("/review/ruozhibench-gen/screen/vote"), "{given}");
    assert!(others.contains("/review/ruozhibench-gen/screen/vote"), "{others}");
}

#[test]
fn the_first_person_becomes_the_manager_by_choice() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let page = boss.get(&server, "/people").body;
    assert!(page.contains("becomes the manager") && page.contains("make annotator-1 the manager"), "{page}");
    assert!(page.contains("<option value=\"\" selected>"), "nothing is chosen for anybody: {page}");
    let csrf = hidden(&page, "csrf");
    let unchosen = [("csrf", csrf.as_str()), ("name", "annotator-1"), ("rank", "")];
    let refused = boss.post(&server, "/people/invite", &unchosen);
    assert!(refused.status == 400 && refused.body.contains("only if that is chosen"), "{}", refused.body);
    let chosen = [("csrf", csrf.as_str()), ("name", "annotator-1"), ("rank", "curator")];
    assert!(boss.post(&server, "/people/invite", &chosen).body.contains("join"));
}

#[test]
fn a_login_comes_back_to_the_item() {
    let workspace = made();
    let grant = workspace.call(["access", "grant", "annotator-1", "--rank", "annotator"]).expect(0);
    let token = grant.out.trim().to_owned();
    let server = Server::start(&workspace, &[]);
    let mut one = Browser::login(&server, &token);
    let place = "/review/ruozhibench-gen/screen/vote";
    let (id, ..) = item(&one.get(&server, place).body);
    let address = format!("{place}?item={}", coded(&id));

    let mut again = Browser::default();
    let refused = again.get(&server, &address);
    let to = refused.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned();
    assert!(refused.status == 303 && to.starts_with("/login?to=%2"), "{to}");
    // The header was put in small letters by the test; an escape is the same in both.
    let page = again.get(&server, &to).body;
    let (csrf, back) = (hidden(&page, "csrf"), address.clone());
    assert!(page.contains("name=\"to\""), "{page}");
    let fields = [("csrf", csrf.as_str()), ("token", &token), ("to", &back)];
    let entered = again.post(&server, "/login", &fields);
    assert_eq!(entered.status, 303);
    assert!(entered.head.contains(&format!("location: {}", address.to_lowercase())), "{}", entered.head);
    assert_eq!(item(&again.get(&server, &address).body).0, id);

    // Never to another server, whatever a link says.
    let mut lured = Browser::default();
    let csrf = lured.mark(&server, "/login?to=%2F%2Fevil.example");
    let fields = [("csrf", csrf.as_str()), ("token", &token), ("to", "//evil.example")];
    let entered = lured.post(&server, "/login", &fields);
    assert!(entered.head.contains("location: /review"), "{}", entered.head);

    // A vote that is sent without a session says where to log in.
    let sent = Browser::default().post(&server, place, &[("item", id.as_str())]);
    assert!(sent.status == 401 && sent.body.contains("/login?to="), "{}", sent.body);
}
