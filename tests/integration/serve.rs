//! The pages as requested by a browser: what they show, and what they never show.

use crate::browser::{Browser, Server, coded, made};
use crate::harness::{Workspace, title};

const READERS: [&str; 19] = [
    "/",
    "/find?q=x",
    "/flub/stage/dedup",
    "/flub/figures/dedup",
    "/ruozhibench-gen/record/tieba:990001059",
    "/flub/duplicates",
    "/brainteaser/duplicates?show=pairs&verdict=all",
    "/flub/pairs?verdict=all",
    "/flub/held",
    "/flub/decisions",
    "/releases",
    "/flub/release/candidate",
    "/flub/release/candidate/rows",
    "/flub/release/candidate/rows?q=x&sort=id&order=down&row=0&col=text",
    "/flub/release/candidate/card",
    "/flub/release/candidate/file/MANIFEST.json",
    "/run",
    "/run/costs",
    "/flub/diff",
];
const CURATORS: [&str; 6] = [
    "/curate",
    "/curate/ruozhibench-gen/screen",
    "/curate/ruozhibench-gen/screen/assign",
    "/people",
    "/curate/ruozhibench-gen/screen/carry",
    "/curate/ruozhibench-gen/screen/votes.jsonl",
];

#[test]
fn pages_tell_where_a_post_went_and_are_safe_to_open() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    for path in READERS.iter().chain(&CURATORS) {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(
            answer.head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{path}"
        );
        assert!(answer.head.contains("x-content-type-options: nosniff"), "{path}");
        assert!(answer.head.contains("cache-control: no-store"), "{path}");
    }
    let dropped = server.get("/ruozhibench-gen/stage/filter?outcome=dropped&reason=too_short").body;
    assert!(
        dropped.contains("The text is shorter than the settings allow.") && dropped.contains("3 records")
    );
    let found = server.get(&format!("/ruozhibench-gen/stage/import?q={}", coded("声控燈"))).body;
    assert!(found.contains("声控灯"), "a search finds the other script");
    let record = server.get("/ruozhibench-gen/record/tieba:990001059").body;
    assert!(
        record.contains("tieba:990010923") && record.contains("<ins>") && record.contains("near_duplicate")
    );
    let pairs = server.get("/ruozhibench-gen/duplicates?show=pairs&verdict=borderline&score=0.80").body;
    assert!(pairs.contains("near, not merged") && !pairs.contains("0.917"));
    assert!(server.get("/releases?lang=zh").head.contains("location: /releases\r"));
    let chinese = Browser { cookies: vec![("lang".into(), "zh".into())] }.get(&server, "/");
    assert!(chinese.body.contains("总览") && chinese.body.contains("lang=\"zh-Hans\""));

    // No path leads outside of the pages.
    for path in [
        "/flub/release/..%2f..%2f..%2fpipeline.toml",
        "/flub/release/..",
        "/flub/release/%2e%2e",
        "/..%2f..%2fetc/stage/x",
        "/assets/..%2f/page.css",
        "/flub/stage/..%2f..%2f01_import",
        "/nothing",
        "/flub/record/nobody:1",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    let reference = server.get("/flub/release/candidate?reference=..%2f..%2fpipeline.toml");
    assert!(reference.status == 200 && !reference.body.contains("version = 1"));

    // A foreign host name that points to this server.
    let mut browser = Browser::default();
    let host = browser.send(&server, "GET", "/", &["Host: evil.example"], "").unwrap();
    assert_eq!(host.status, 421);
    assert!(!host.body.contains("ruozhibench"));

    // More than a form's limit.
    let csrf = browser.mark(&server, "/review/ruozhibench-gen/screen/vote?as=annotator-1");
    let long = "x".repeat(300 << 10);
    assert_eq!(browser.post(&server, "/logout", &[("csrf", &csrf), ("a", &long)]).status, 413);
    // More than the limit of a request's head.
    let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(64 << 10));
    assert!(server.raw(head.as_bytes()).is_none_or(|answer| answer.status == 431));
}

#[test]
fn what_posts_hold_does_nothing() {
    let hostile = [
        "<script>document.title='owned'</script>雨伞会不会怕水？",
        "<img src=x onerror=alert(1)>镜子会不会看腻我？",
        "\"><svg/onload=alert(2)>影子会不会累？",
        "\u{202e}gnp.exe\u{202c}反着念会不会头晕？",
        "{{ 7 * 7 }}{% include \"x\" %}模板会不会饿？",
    ];
    let rows: Vec<String> = hostile.iter().zip(1..).map(|(text, n)| title(100 + n, text)).collect();
    let workspace = Workspace::with_dump("leymore-titles", format!("[{}]", rows.join(",")));
    workspace.call(["run", "--offline", "--recipe", "flub"]).expect(0);
    let server = Server::start(&workspace, &[]);
    for path in [
        "/flub/stage/import",
        "/flub/stage/filter",
        "/flub/record/tieba:101",
        "/flub/record/tieba:104",
        "/find?q=%3Cscript%3E",
        "/find?q=%22%3E%3Cscript%3E",
    ] {
        let body = server.get(path).body;
        assert!(!body.contains("<script>") && !body.contains("<svg/onload"), "{path}");
        assert!(!body.contains("<img src=x") && !body.contains('\u{202e}'), "{path}");
    }
    let import = server.get("/flub/stage/import").body;
    assert!(import.contains("&lt;script&gt;") && import.contains("U+202E") && !import.contains("49{%"));
}

#[test]
fn nobody_gets_further_than_their_token() {
    let workspace = made();
    let refused = workspace.call(["serve", "--bind", "0.0.0.0", "--port", "0"]).expect(2);
    assert!(refused.err.contains("no token has been granted"));
    let token = |name: &str, rank: &str| {
        workspace.call(["access", "grant", name, "--rank", rank]).expect(0).out.trim().to_string()
    };
    workspace.call(["access", "grant", "stranger", "--rank", "annotator"]).expect(2);
    let (one, two) = (token("annotator-1", "annotator"), token("annotator-2", "annotator"));
    let (reader, curator) = (token("looker", "reader"), token("boss", "curator"));
    let stored = workspace.read("raw/access.jsonl");
    assert!([&one, &two, &reader, &curator].iter().all(|token| !stored.contains(token.as_str())));

    let server = Server::start(&workspace, &[]);
    let review = "/review/ruozhibench-gen/screen/vote";
    // A cookie that no script can read and no other site can send with a form.
    let mut entering = Browser::default();
    let csrf = entering.mark(&server, "/login");
    let entered = entering.post(&server, "/login", &[("csrf", &csrf), ("token", &one)]);
    let cookie = entered.head.lines().find(|line| line.starts_with("set-cookie: ")).unwrap().to_string();
    assert!(cookie.contains("; httponly") && cookie.contains("; samesite=lax"), "{cookie}");
    for path in READERS.iter().chain(&CURATORS).chain(&["/review", review]) {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.body.contains("tieba:")), (303, false), "{path}");
        assert!(answer.head.contains("location: /login"));
    }
    let mut annotator = Browser::login(&server, &one);
    for path in READERS.iter().chain(&CURATORS) {
        let answer = annotator.get(&server, path);
        assert_eq!(answer.status, 403, "{path}");
        assert!(!answer.body.contains("tieba:"), "{path}");
    }
    let csrf = annotator.mark(&server, "/review");
    let assign = "/curate/ruozhibench-gen/screen/assign";
    assert_eq!(annotator.post(&server, assign, &[("csrf", &csrf)]).status, 403);
    // Rounds that belong to others.
    for round in ["review", "adjudication"] {
        let path = format!("/review/ruozhibench-gen/screen/{round}");
        assert_eq!(annotator.get(&server, &path).status, 403, "{path}");
        assert_eq!(annotator.post(&server, &path, &[("csrf", &csrf)]).status, 403, "{path}");
        let later = format!("{path}/later");
        assert_eq!(annotator.post(&server, &later, &[("csrf", &csrf)]).status, 403, "{later}");
    }
    let mut looker = Browser::login(&server, &reader);
    for path in READERS {
        assert_eq!(looker.get(&server, path).status, 200, "{path}");
    }
    assert!(CURATORS.iter().all(|path| looker.get(&server, path).status == 403));
    assert_eq!(looker.get(&server, review).status, 403, "a reader votes on nothing");
    let mut boss = Browser::login(&server, &curator);
    assert!(READERS.iter().chain(&CURATORS).all(|path| boss.get(&server, path).status == 200));

    // Revoking a token ends its sessions at once; a restart ends none.
    workspace.call(["access", "revoke", "looker"]).expect(0);
    assert_eq!(looker.get(&server, "/").status, 303);

    // Guessing is slow.
    let mut guesser = Browser::default();
    let csrf = guesser.mark(&server, "/login");
    let guess =
        |browser: &mut Browser| browser.post(&server, "/login", &[("csrf", &csrf), ("token", "0123")]).status;
    let tries: Vec<u16> = (0..7).map(|_| guess(&mut guesser)).collect();
    assert_eq!(tries, [401, 401, 401, 401, 401, 429, 429]);
}
