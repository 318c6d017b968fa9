//! The profile language, on pages in all three formats.

use scraper::Html;
use serde_json::{Value, json};

use super::super::{Class, Site, charset, parse_page};
use super::*;

fn profile(rules: Value) -> Profile {
    Profile::from_json(&rules).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn html(rules: Value, page: &str, url: &str) -> Reading {
    profile(rules).read_html(&Html::parse_document(page), url, Some("2024-03-05T10:00:00Z"))
}

fn faults(rules: Value) -> Vec<Fault> {
    Profile::from_json(&rules).err().unwrap_or_default()
}

#[test]
fn a_page_in_the_place_of_a_post_says_why_in_words() {
    let rules = profile(json!({ "item": "div.reply", "title": "h1", "body": ".text" }));
    let site = Site::Profile(rules);
    let parsed = |body: &str| parse_page(&site, "https://forum.example/t/1", 200, body, None);
    let notice = |text: &str| {
        format!(
            "<title>提示信息 - 论坛</title><script>x()</script><div id=messagetext><p>{text}</p></div>{}",
            "<li>版块</li>".repeat(200)
        )
    };
    for (page, class) in [
        (notice("抱歉，指定的主题不存在或已被删除或正在被审核"), Class::Deleted),
        (notice("您需要登录后才能继续本操作"), Class::Forbidden),
        (notice("抱歉，您没有权限访问该版块"), Class::Forbidden),
        (notice("該帖正在審核"), Class::Hidden),
        (notice("您沒有登錄或者沒有權限訪問此頁面"), Class::Forbidden),
        (notice("You must be logged-in to do that."), Class::Forbidden),
        (notice("Oops! That page doesn’t exist or is private."), Class::Deleted),
        ("<title>Just a moment...</title><p>Checking your browser".into(), Class::Blocked),
        ("<title>Log in | Forum</title><form><input name=user></form>".into(), Class::Forbidden),
        ("<title>Forum</title><p>You must be logged in to see this.".into(), Class::Forbidden),
        ("<title>Page not found - Forum</title><p>Sorry".into(), Class::Deleted),
        ("<title>Forum</title><p>The requested thread could not be found.".into(), Class::Deleted),
        (
            format!(
                "<title>How do I log in to a page that does not exist?</title><p>{}",
                "word ".repeat(100)
            ),
            Class::Unparsed,
        ),
    ] {
        assert_eq!(parsed(&page).class, class, "{page}");
    }
    let error =
        parsed("<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1>nginx");
    assert_eq!(error.class, Class::Unparsed);
    assert_eq!(error.why.as_deref(), Some("it is a server's error (502 Bad Gateway), to be fetched again"));
    assert!(parsed(&notice("别的话")).why.unwrap().contains("finds nothing"));
}

#[test]
fn a_forum_is_read_by_selectors_alone() {
    let rules = json!({
        "list": "ul.topics a", "item": "div.reply", "title": "h1", "body": ".text", "author": "img.face@alt",
        "time": "time", "next": "a.more",
    });
    let page = "<h1>题</h1><ul class=topics><a href=/t/1>x</a></ul>
        <div class=reply><img class=face alt=甲><div class=text>一<br>二</div><time>2024-01-02 03:04</time></div>
        <div class=reply><div class=text>三</div></div><a class=more href='?p=2'>more</a>";
    let read = html(rules, page, "");
    assert_eq!((read.links.as_slice(), read.next.as_deref()), (&["/t/1".to_owned()][..], Some("?p=2")));
    let first = &read.entries[0];
    assert_eq!((first.title.as_deref(), first.body.as_deref()), (Some("题"), Some("一\n二")));
    assert_eq!(
        (first.author.as_deref(), first.time.as_deref()),
        (Some("甲"), Some("2024-01-02T03:04+08:00"))
    );
    let second = &read.entries[1];
    assert_eq!((second.author.as_deref(), second.title.as_deref(), second.first), (None, None, false));
    assert_eq!(first.id, None, "without an id the text is its name");
}

#[test]
fn fields_have_patterns_places_templates_and_ways() {
    let rules = json!({
        "threads": "/t/*", "lists": ["/l/*"],
        "item": ".post", "id": { "from": "@id", "match": "p([0-9]+)" },
        "thread": { "in": "address", "match": "/t/([0-9]+)" },
        "page": { "from": ".pager b", "in": "page" },
        "floor": [".nothing", ".no"], "title": "h1",
        "body": ".b", "score": ".s", "images": "img:not(.smile)", "author": "@data-who#/user/name",
        "list": { "from": "a@href", "template": "{}?all=1" },
        "strip": [".quote", ".edit"], "strip_text": "(?s)\\[q\\].*?\\[/q\\]",
        "gone": "^\\[removed\\]$", "jokes": "first",
    });
    let page = "<h1>T</h1><a href=/x>x</a><p class=pager><b>1</b>
        <div class=post id=p77 data-who='{\"user\":{\"name\":\"乙\"}}'><i class=no>楼主</i><div class=b>
          <div class=quote>he rules</div>[q]x[/q]mine <img><img class=smile><i class=edit>edited</i></div><b class=s>1.2万</b></div>
        <div class=post id=p78><i class=no>#2</i><div class=b>[removed]</div></div>";
    let read = html(rules.clone(), page, "http://f.example:81/t/5?x=1");
    assert!(read.thread && !read.list && read.links.is_empty(), "a page of posts is no list");
    let [first, second] = read.entries.as_slice() else { panic!("{read:?}") };
    assert_eq!((first.id.as_deref(), first.thread.as_deref()), (Some("f.example:81:77"), Some("5")));
    assert_eq!((first.body.as_deref(), first.score, first.images), (Some("mine"), Some(12_000.0), 1));
    assert_eq!((first.author.as_deref(), first.floor, first.first), (Some("乙"), Some(1), true));
    assert_eq!((second.removed.as_deref(), second.first), (Some("[removed]"), false));
    let list = html(rules.clone(), page, "http://f.example/l/5");
    assert_eq!((list.links.as_slice(), list.entries.len()), (&["/x?all=1".to_owned()][..], 0));
    let other = html(rules.clone(), page, "http://f.example/about");
    assert!(!other.list && !other.thread);
    let url = |path: &str| Url::parse(&format!("http://f.example{path}")).unwrap();
    assert!(profile(rules.clone()).describes(&url("/t/5")) && !profile(rules).describes(&url("/about")));
}

#[test]
fn rows_of_a_list_say_whether_a_thread_changed() {
    let rules = json!({ "row": "tr", "list": "a.t", "changed": ".n", "next": "a.n" });
    let page = |n: u32| {
        format!(
            "<table><tr><td><a class=t href=/1>x</a><td class=n>{n}<tr><td><a class=t href=/2>y</a><td class=n>5</table>"
        )
    };
    let (before, after) = (html(rules.clone(), &page(3), ""), html(rules, &page(4), ""));
    assert_eq!(before.links, ["/1", "/2"]);
    assert!(before.marks[0] != after.marks[0] && before.marks[1] == after.marks[1]);
}

#[test]
fn the_text_of_an_article_is_cut_by_a_pattern() {
    let rules =
        json!({ "item": "article", "each": "(?m)^(?<body>[^\\n]*\\?)\\s*Answer: (?<answer>[^\\n]+)$" });
    let page = "<article><h2>Ten riddles</h2><p>What has keys?</p><p>Answer: A piano.</p><p>What is wet?<br>Answer: A towel.</article>";
    let read = html(rules.clone(), page, "");
    let found: Vec<_> =
        read.entries.iter().map(|e| (e.body.clone().unwrap(), e.answer.clone().unwrap())).collect();
    assert_eq!(
        found,
        [("What has keys?".into(), "A piano.".into()), ("What is wet?".into(), "A towel.".into())]
    );
    assert!(profile(rules).holds_riddles());
}

#[test]
fn json_is_read_by_pointers() {
    let rules = json!({
        "format": "json", "item": "/data/children/*/data", "id": "/id", "namespace": "reddit", "title": { "from": "/title", "as": "entities" },
        "body": { "from": "/selftext", "as": "html" }, "time": "/created", "time_formats": "unix", "score": "/score",
        "next": { "param": "after", "from": "/data/after" },
    });
    let page = r#"{"data": {"after": "t3_z", "children": [{"data": {"id": "a1", "title": "A &amp; B", "selftext": "<p>x</p><p>y</p>", "created": 1546300800.0, "score": -3}}]}}"#;
    let url = "https://r.example/new.json?limit=5&after=t3_a";
    let site = Site::Profile(profile(rules.clone()));
    let parsed = parse_page(&site, url, 200, page, None);
    assert_eq!(
        (parsed.class, parsed.facts.next.as_deref()),
        (Class::Ok, Some("https://r.example/new.json?limit=5&after=t3_z"))
    );
    let entry = &parsed.entries[0];
    assert_eq!((entry.id.as_deref(), entry.title.as_deref()), (Some("reddit:a1"), Some("A & B")));
    assert_eq!((entry.body.as_deref(), entry.score), (Some("x\ny"), Some(-3.0)));
    assert_eq!(entry.time.as_deref(), Some("2019-01-01T08:00:00+08:00"));
    let last = page.replace("\"t3_z\"", "null");
    assert_eq!(parse_page(&site, url, 200, &last, None).facts.next, None);
    assert_eq!(parse_page(&site, url, 200, "{\"data\": {\"children\": []}}", None).class, Class::Empty);
    // An answer that is not JSON is treated as an HTML page.
    let challenge = "<title>Just a moment</title><form action=/captcha></form>";
    assert_eq!(parse_page(&site, url, 403, challenge, None).class, Class::Blocked);
    assert_eq!(parse_page(&site, url, 200, "<script>x</script>", None).class, Class::Shell);
}

#[test]
fn pages_are_counted_while_there_are_more() {
    let rules = json!({ "format": "json", "item": "/items/*", "body": "/t", "next": { "param": "page", "while": "/has_more" } });
    let next = |more: bool, url: &str| {
        let page = json!({ "items": [{ "t": "x" }], "has_more": more }).to_string();
        profile(rules.clone()).read_text(&page, url, None).unwrap().next
    };
    assert_eq!(next(true, "https://a.example/q").as_deref(), Some("https://a.example/q?page=2"));
    assert_eq!(
        next(true, "https://a.example/q?page=9&b=1").as_deref(),
        Some("https://a.example/q?page=10&b=1")
    );
    assert_eq!(next(false, "https://a.example/q"), None);
}

#[test]
fn answers_are_joined_by_their_id() {
    let rules = json!({
        "format": "xml", "item": "/posts/row[@T=1]", "id": "/@Id", "title": "/@Title", "body": { "from": "/@Body", "as": "html" },
        "answer": { "from": "/@Body", "of": "/@Ok", "as": "html" }, "namespace": "p",
    });
    let dump = "<posts><row Id='1' T='1' Ok='3' Title='Q' Body='&lt;p&gt;Why?&lt;/p&gt;'/><row Id='2' T='2' Body='no'/><row Id='3' T='2' Body='&lt;b&gt;So.&lt;/b&gt;'/></posts>";
    let entries = profile(rules).read_text(dump, "", None).unwrap().entries;
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    assert_eq!(
        (entry.id.as_deref(), entry.body.as_deref(), entry.answer.as_deref()),
        (Some("p:1"), Some("Why?"), Some("So."))
    );
}

#[test]
fn markup_in_comments_is_unwrapped() {
    let rules = json!({ "item": "li", "unwrap": "code" });
    let read = html(rules, "<code><!--<ul><li>one<li>two</ul>--></code><p>x", "");
    assert_eq!(read.entries.len(), 2);
}

#[test]
fn every_mistake_is_reported_with_its_key() {
    let rules = json!({
        "itm": "x", "format": "htm", "title": "p[", "zone": "Berlin", "time_formats": ["%Y", "%Q%"], "lists": "forum",
        "next": { "form": "a", "match": "(" }, "each": "(?<boddy>x)", "time": { "from": "b", "while": "c" }, "list": [],
        "images": 5, "jokes": "numbered", "changed": "b", "score": "b#/x",
    });
    let paths: Vec<String> = faults(rules).iter().map(|fault| fault.path.join(".")).collect();
    for path in [
        "itm",
        "format",
        "title",
        "zone",
        "time_formats.1",
        "lists.0",
        "next.form",
        "next.match",
        "each.boddy",
        "time.while",
        "list",
        "images",
        "jokes",
        "changed",
        "score",
    ] {
        assert!(paths.iter().any(|found| found == path), "{path} is not in {paths:?}");
    }
    assert!(faults(json!({ "title": "h1" }))[0].what.contains("`item`"));
    let first = faults(json!({ "item": "p", "next": "a", "jokes": "first" }));
    assert_eq!(first[0].path, ["jokes"]);
    assert!(faults(json!({ "item": "p", "next": "a", "jokes": "first", "floor": "b" })).is_empty());
    assert!(serde_json::from_value::<Profile>(json!({ "item": "p[" })).is_err());
}

#[test]
fn what_is_not_found_is_reported_with_the_part_that_is() {
    let rules = json!({ "item": "table.post", "title": "#subjct", "body": "td.t_f div.none", "answer": ".a", "next": "a.nx" });
    let page = "<p id=subject>x</p><table class=post><tr><td class=t_f>one</table><a class=nxt href=/2>n</a>";
    let seen = profile(rules).inspect_page(page, "http://a.example/1", None).unwrap();
    let missing = |key: &str| seen.missing.iter().find(|missing| missing.key == key).unwrap();
    assert_eq!(missing("title").strangers, ["#subjct"]);
    assert_eq!(missing("body").part, Some(("td.t_f".into(), 1)));
    assert_eq!((missing("answer").posts, missing("next").posts), (Some((1, 0)), None));
    assert!(seen.element_names.contains("#subject") && seen.element_names.contains(".nxt"));
    assert!(seen.thread && seen.items[0].joke == Some(true));
    let json = json!({ "format": "json", "item": "/itms/*", "body": "/b" });
    let seen = profile(json).inspect_page("{\"items\": []}", "", None).unwrap();
    assert_eq!(seen.missing[0].key, "item");
}

#[test]
fn undeclared_bytes_are_seen_for_what_they_are() {
    let site = |rules: Value| Site::Profile(profile(rules));
    let plain = site(json!({ "item": "p" }));
    let english = encoding_rs::WINDOWS_1252.encode("<p>Why don’t fish drown? – “They can’t.”").0.into_owned();
    assert_eq!(charset::decode_page(&english, None, &plain).encoding, "windows-1252");
    let chinese = encoding_rs::GB18030.encode("<p>冰箱为什么要发光？它怕黑吗").0.into_owned();
    assert_eq!(charset::decode_page(&chinese, None, &plain).encoding, "gb18030");
    let site_of_big5 = site(json!({ "item": "p", "encoding": "big5" }));
    let big5 = encoding_rs::BIG5.encode("<p>冰箱為什麼要發光").0.into_owned();
    assert_eq!(charset::decode_page(&big5, None, &site_of_big5).text, "<p>冰箱為什麼要發光");
}

#[test]
fn hostile_patterns_and_pages_end() {
    let rules = json!({ "item": "p", "body": { "from": "b", "match": "(a+)+$" }, "author": "b@x#/a" });
    let page = format!("<p><b x='{}'>{}b</b></p>", "[".repeat(5000), "a".repeat(100_000));
    let read = html(rules, &page, "not an address");
    assert_eq!(read.entries.len(), 1);
}

#[test]
fn words_in_the_text_name_the_parts_of_a_post() {
    let rules = json!({
        "labels": { "body": ["Riddle", "Q"], "answer": "Answer" }, "namespace": "r", "strip": ".ad",
        "id": { "from": "a@href", "match": "/r/([0-9]+)" }, "own_id": { "in": "address", "match": "/r/([0-9]+)" },
    });
    let page = "<h2><a href=/r/4>Door</a></h2><div><b>Riddle:</b> What is a door? <i class=ad>Buy!</i><br>
        <b>ANSWER</b>: <a href=/x>Not</a> a jar.</div>aside<p><strong>Q：</strong>Two?<p>Or three?</p><hr><p>rest</p>
        <footer><b>Riddle</b> of the day</footer>";
    let read = |url: &str| html(rules.clone(), page, url).entries;
    let entries = read("http://a.example/list");
    let found: Vec<_> =
        entries.iter().map(|e| (e.id.as_deref(), e.body.as_deref(), e.answer.as_deref())).collect();
    assert_eq!(
        found,
        [(Some("r:4"), Some("What is a door?"), Some("Not a jar.")), (None, Some("Two?\nOr three?"), None)]
    );
    assert_eq!(
        (entries[0].title.as_deref(), entries[0].links.as_slice()),
        (Some("Door"), &["Not".to_owned()][..])
    );
    // The page's own post is the first, unless another one has its id.
    assert_eq!(read("http://a.example/r/9")[0].id.as_deref(), Some("r:9"));
    assert_eq!(read("http://a.example/r/4")[0].id.as_deref(), Some("r:4"));
    assert!(profile(rules).holds_riddles());
}

#[test]
fn an_answers_label_is_behind_what_it_answers() {
    let rules = json!({ "labels": { "answer": "Answer" } });
    let read = |page: &str| -> Vec<(Option<String>, Option<String>, Option<String>)> {
        let entries = html(rules.clone(), page, "").entries;
        entries.into_iter().map(|entry| (entry.title, entry.body, entry.answer)).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    let page = "<h1>Ten</h1><p>Hello.<p>A man walks.<br>Why?<p><b>Answer:</b> To go.<p>Or not.<p>Who?";
    assert_eq!(
        read(page),
        [(None, some("A man walks.\nWhy?"), some("To go.\nOr not.")), (None, some("Who?"), None)]
    );
    let page = "<h2>One</h2><p>Why?<p>Answer: So.<p>More.<h2>What?</h2><h2>End</h2><p>Bye.";
    assert_eq!(read(page), [(some("One"), some("Why?"), some("So.\nMore.")), (None, some("What?"), None)]);
    assert!(read("<p>Why? Because.").is_empty());
}

#[test]
fn pages_that_must_have_posts_are_known_by_their_address() {
    let rules = json!({ "item": "p", "pages": ["/r/*", "https://riddles.example/*"] });
    let (profile, url) = (profile(rules), |url: &str| Url::parse(url).unwrap());
    assert!(
        profile.describes(&url("http://a.example/r/1"))
            && profile.describes(&url("https://riddles.example/x"))
    );
    assert!(
        !profile.describes(&url("http://a.example/about")) && profile.is_other(&url("http://a.example/"))
    );
}
