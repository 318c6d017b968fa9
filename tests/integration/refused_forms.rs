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
