//! A form that is refused stands there again with what was written, and the reason beside its field.

use regex::Regex;

use crate::browser::{Answer, Browser, Server, coded, hidden, made};

/// Sends a form as a browser does, which names the page that it is on.
fn send(browser: &mut Browser, server: &Server, from: &str, to: &str, fields: &[(&str, &str)]) -> Answer {
    let referer = format!("Referer: http://127.0.0.1:{}{from}", server.port());
    let body: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", coded(name), coded(value))).collect();
    browser.send(server, "POST", to, &[&referer], &body.join("&")).unwrap()
}

#[test]
fn what_was_written_into_a_refused_form_stands_there_again_beside_the_reason() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    boss.get(&server, "/?lang=zh");
    let csrf = hidden(&boss.get(&server, "/people").body, "csrf");

    let refused = send(
        &mut boss,
        &server,
        "/people",
        "/people/invite",
        &[("csrf", &csrf), ("name", "Newcomer <1>"), ("rank", "annotator")],
    );
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("value=\"Newcomer &lt;1&gt;\""), "{}", refused.body);
    assert!(refused.body.contains("中没有名为 Newcomer"), "{}", refused.body);
    assert_eq!(refused.body.matches("id=\"refused\"").count(), 1);

    // An expired form too: its new token is that of the page.
    let expired = send(
        &mut boss,
        &server,
        "/people",
        "/people/invite",
        &[("csrf", "old"), ("name", "Newcomer"), ("rank", "curator")],
    );
    assert!(expired.status == 403 && expired.body.contains("value=\"Newcomer\""), "{}", expired.body);
    assert!(expired.body.contains(&format!("name=\"csrf\" value=\"{csrf}\"")), "{}", expired.body);

    let run = send(&mut boss, &server, "/run", "/run", &[("csrf", &csrf), ("offline", "yes")]);
    assert!(run.status == 400 && run.body.contains("请至少选择一个配方"), "{}", run.body);
    assert!(run.body.contains("name=\"offline\" value=\"yes\" checked"), "{}", run.body);
    assert!(!run.body.contains("name=\"recipe\" value=\"flub\" checked"), "{}", run.body);

    let page = "/curate/flub/clean/assign";
    let round = hidden(&boss.get(&server, page).body, "round");
    let fields =
        [("csrf", &*csrf), ("round", &round), ("overlap", "two"), ("until", "2026-05-01"), ("seed", "7")];
    let assign = send(&mut boss, &server, page, page, &fields);
    assert!(assign.status == 400 && assign.body.contains("value=\"two\""), "{}", assign.body);
    assert!(assign.body.contains("value=\"2026-05-01\""), "{}", assign.body);
}

#[test]
fn a_decision_that_is_refused_keeps_its_reason_and_its_scope() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let place = "/flub/record/tieba:990001059";
    let page = boss.get(&server, place).body;
    let (_, form) = page.split_once("action=\"/flub/decide\"").expect("a form of a decision");
    let form = &form[..form.find("</form>").unwrap()];
    let verdict = ["keep", "drop", "hold"].into_iter().find(|verdict| form.contains(verdict)).unwrap();
    // What nobody writes is sent as it stands there.
    let hidden_field = Regex::new("type=\"hidden\" name=\"([^\"]+)\" value=\"([^\"]*)\"").unwrap();
    let mut fields: Vec<(String, String)> = hidden_field
        .captures_iter(form)
        .map(|found| (found[1].to_owned(), found[2].replace("&#x2f;", "/")))
        .collect();
    let written = [("verdict", verdict), ("scope", "one"), ("as", "nobody"), ("why", "It is <two> jokes")];
    fields.extend(written.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let refused = send(&mut boss, &server, place, "/flub/decide", &fields);
    assert!((400..500).contains(&refused.status), "{}", refused.body);
    assert!(refused.body.contains("id=\"refused\""), "{}", refused.body);
    assert!(refused.body.contains("<option value=\"one\" selected>"), "{}", refused.body);
    assert!(refused.body.contains("value=\"It is &lt;two&gt; jokes\""), "{}", refused.body);
}

/// The form of a decision on a record's page, as a browser sends it.
fn decision_form(browser: &mut Browser, server: &Server, place: &str) -> Vec<(String, String)> {
    let page = browser.get(server, place).body;
    let (_, form) = page.split_once("action=\"/flub/decide\"").expect("a form of a decision");
    let form = &form[..form.find("</form>").unwrap()];
    let hidden_field = Regex::new("type=\"hidden\" name=\"([^\"]+)\" value=\"([^\"]*)\"").unwrap();
    hidden_field
        .captures_iter(form)
        .map(|found| (found[1].to_owned(), found[2].replace("&#x2f;", "/")))
        .collect()
}

#[test]
fn what_a_decision_would_leave_out_or_overrule_unseen_is_refused() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut one = Browser::default();
    let place = "/flub/record/tieba:990001059";
    let log = "raw/decisions/000001.jsonl";
    let first = decision_form(&mut one, &server, place);
    let mut decide = |form: &[(String, String)], written: &[(&str, &str)]| {
        let mut fields: Vec<(&str, &str)> = form.iter().map(|(name, value)| (&**name, &**value)).collect();
        fields.extend(written);
        send(&mut one, &server, place, "/flub/decide", &fields)
    };
    let by = ("as", "meta-1");

    // Only a decision on the text stores one.
    let unused =
        decide(&first, &[("verdict", "drop"), ("scope", "one"), by, ("why", "x"), ("text", "另一句话？")]);
    assert_eq!(unused.status, 422, "{}", unused.body);
    assert!(unused.body.contains("stores no text") && unused.body.contains("另一句话？"), "{}", unused.body);
    let nowhere = decide(&first, &[("verdict", "drop"), ("scope", "zzz"), by, ("why", "x")]);
    assert!(nowhere.status == 400 && nowhere.body.contains("id=\"refused\""), "{}", nowhere.body);
    let long = "x".repeat(501);
    let cut = decide(&first, &[("verdict", "drop"), ("scope", "one"), by, ("why", &long)]);
    assert!(cut.status == 400 && cut.body.contains("at most 500 characters, not 501"), "{}", cut.body);
    assert!(!workspace.exists(log), "nothing was stored");

    let drop = [("verdict", "drop"), ("scope", "one"), by, ("why", "no joke")];
    assert_eq!(decide(&first, &drop).status, 303);
    assert_eq!(decide(&first, &drop).status, 303, "pressed twice");
    let again = decide(&first, &[("verdict", "drop"), ("scope", "one"), by, ("why", "another reason")]);
    assert_eq!(again.status, 409, "{}", again.body);
    assert!(again.body.contains("meta-1 decided this already (drop): no joke"), "{}", again.body);
    // A page that was opened before that decision.
    let other = [("verdict", "hold"), ("scope", "one"), ("as", "senior-1"), ("why", "wait")];
    let unseen = decide(&first, &other);
    assert_eq!(unseen.status, 409, "{}", unseen.body);
    assert!(unseen.body.contains("meta-1 has decided drop since"), "{}", unseen.body);
    assert_eq!(workspace.read(log).lines().count(), 1);
    let looked = decision_form(&mut Browser::default(), &server, place);
    let looked: Vec<(String, String)> = looked
        .into_iter()
        .map(|(name, value)| match name.as_str() {
            "csrf" => first.iter().find(|(name, _)| name == "csrf").cloned().unwrap(),
            _ => (name, value),
        })
        .collect();
    assert_eq!(decide(&looked, &other).status, 303);
    assert_eq!(workspace.read(log).lines().count(), 2);
}

#[test]
fn only_who_may_decide_sets_votes_aside_on_the_page_too() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let place = "/curate/people/annotator-1";
    let csrf = hidden(&boss.get(&server, place).body, "csrf");
    for by in ["nobody-at-all", "annotator-2", ""] {
        let fields = [("csrf", &*csrf), ("action", "aside"), ("as", by), ("why", "clicked through")];
        let refused = send(&mut boss, &server, place, place, &fields);
        assert!(refused.status == 403 && refused.body.contains("may not decide"), "{by}: {}", refused.body);
    }
    let days = [("from", "2026-11-29"), ("until", "2026-11-28")];
    let fields = [("csrf", &*csrf), ("action", "look"), ("as", "meta-1"), ("why", "x"), days[0], days[1]];
    let reversed = send(&mut boss, &server, place, place, &fields);
    assert!(reversed.status == 400 && reversed.body.contains("begins after its end"), "{}", reversed.body);
    assert!(!workspace.exists("raw/votes/aside"), "nothing was stored");
}

#[test]
fn a_vote_that_lacks_an_answer_is_told_which_without_the_script() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut one = Browser::default();
    let place = "/review/ruozhibench-gen/translation/vote";
    let from = format!("{place}?as=annotator-1");
    let page = one.get(&server, &from).body;
    let value = |name: &str| hidden(&page, name);
    // What a browser sends of the form as it is.
    let sent = ["csrf", "item", "hash", "base", "as", "seconds", "guideline"].map(|name| (name, value(name)));
    let fields = sent.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refused = send(&mut one, &server, &from, place, &fields);
    assert_eq!(refused.status, 422, "{}", refused.body);
    let (_, told) = refused.body.split_once("id=\"refused\"").expect("the reason is beside the field");
    assert!(!told[..told.find("</strong>").unwrap()].contains("named here"), "{told}");
    // Without the page that it came from, the reason names the field all the same.
    let bare = send(&mut one, &server, "/review", place, &fields);
    assert!(bare.status == 422 && bare.body.contains("class=\"detail\""), "{}", bare.body);
    assert!(!bare.body.contains("the marked fields"), "{}", bare.body);

    // Where no token exists, none is spoken of.
    let mine = server.get("/review/mine");
    assert!(mine.status == 403 && !mine.body.contains("token"), "{}", mine.body);
    assert!(mine.body.contains("Who votes?") && mine.body.contains("href=\"/review\""), "{}", mine.body);
}
