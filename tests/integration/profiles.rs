//! Profiles through the real command: the result of each for pages written for the project, how one is copied
//! and changed, how mistakes are reported, and how pages of every format become posts.

use std::fs;
use std::path::Path;

use riddlemill::config::Profiles;
use riddlemill::pages::{Site, charset, parse_page, tieba};
use riddlemill::record::Post;
use riddlemill::store::StageReader;

use crate::harness::Workspace;

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path).display().to_string()
}

/// The output of `crawl --try` for a page, without its path.
fn tried(profile: &str, page: &str, url: &str) -> String {
    let ws = Workspace::folder();
    let page = fixture(page);
    let mut args = vec!["crawl", "--try", &page, "--profile", profile, "--posts", "9"];
    if !url.is_empty() {
        args.extend(["--url", url]);
    }
    ws.call(args).expect(0).out
}

#[test]
fn each_profile_reads_its_pages() {
    for (profile, page, url) in [
        ("discuz", "sites/discuz/list.html", "https://forum.example/forum-2-1.html"),
        ("discuz", "sites/discuz/thread.html", ""),
        ("nga", "sites/nga/list.html", "https://bbs.nga.cn/thread.php?fid=7"),
        ("nga", "sites/nga/thread.html", ""),
        ("reddit", "sites/reddit/listing.json", "https://www.reddit.com/r/x/new.json?limit=100"),
        (
            "stack-exchange",
            "sites/stack-exchange/questions.json",
            "https://api.stackexchange.com/2.3/questions?site=puzzling",
        ),
        ("stack-exchange-dump", "sites/stack-exchange-dump/Posts.xml", ""),
        ("articles", "sites/articles/blog.html", "https://blog.example/"),
        ("riddles-com", "pages/riddles-list.html", "https://www.riddles.com/brain-teasers"),
        ("riddles-com", "pages/riddles-strong.html", "https://www.riddles.com/new-riddles"),
        ("rd", "pages/rd-article.html", ""),
        ("tieba", "pages/list-2024.html", "https://tieba.baidu.com/f?kw=x&ie=utf-8"),
        ("tieba", "pages/thread-p1.html", "https://tieba.baidu.com/p/7700000001"),
        ("tieba", "pages/thread-old.html", "https://tieba.baidu.com/p/7700000003"),
    ] {
        let name = page.rsplit('/').next().unwrap().replace('.', "_");
        insta::assert_snapshot!(format!("{profile}__{name}"), tried(profile, page, url));
    }
}

/// The profile of Tieba gives the same as the program's own reader.
#[test]
fn tieba_as_data_is_tieba_as_code() {
    let profile = Profiles::default().load_profile("tieba").unwrap().unwrap();
    for (page, url) in [
        ("list-2024.html", "https://tieba.baidu.com/f?kw=x"),
        ("list-2020.html", "https://tieba.baidu.com/f?kw=x"),
        ("thread-p1.html", "https://tieba.baidu.com/p/7700000001"),
        ("thread-p3.html", "https://tieba.baidu.com/p/7700000001?pn=3"),
    ] {
        let bytes = fs::read(fixture(&format!("pages/{page}"))).unwrap();
        let text = charset::decode_page(&bytes, None, &Site::Tieba).text;
        let captured = Some("2024-03-06T02:00:00Z");
        let code = parse_page(&Site::Tieba, url, 200, &text, captured);
        let data = parse_page(&Site::Profile(profile.clone()), url, 200, &text, captured);
        assert_eq!(data.entries.len(), code.posts.len(), "{page}");
        for (entry, post) in data.entries.iter().zip(&code.posts) {
            let tid = post.tid.unwrap();
            let id = match (post.pid, post.floor) {
                (Some(pid), Some(floor)) if floor > 1 => format!("tieba:{tid}:{pid}"),
                _ => format!("tieba:{tid}"),
            };
            assert_eq!(entry.id.as_deref(), Some(id.as_str()), "{page}");
            assert_eq!(
                entry.body.as_deref().unwrap_or_default(),
                post.text.as_deref().unwrap_or_default(),
                "{page} {id}"
            );
            assert_eq!(entry.author, post.author, "{page} {id}");
            assert_eq!(entry.time, post.time, "{page} {id}");
            assert_eq!(entry.images, post.images.len() as u64, "{page} {id}");
            if entry.first {
                assert_eq!(entry.title, post.title, "{page} {id}");
            }
        }
    }
    assert!(
        tieba::Address::parse_address(&url::Url::parse("https://tieba.baidu.com/p/7").unwrap()).is_some()
    );
}

#[test]
fn a_profile_is_listed_copied_changed_and_taken_back() {
    let ws = Workspace::with("");
    let list = ws.call(["profiles", "list"]).expect(0).out;
    for name in ["articles", "discuz", "nga", "rd", "reddit", "riddles-com", "stack-exchange", "tieba"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    assert!(!list.contains("<-"), "{list}");
    let result = ws.call(["profiles", "copy", "discuz"]).expect(0).out;
    assert!(
        result.contains("profiles/discuz.toml") && result.contains("delete the file to get that back"),
        "{result}"
    );
    assert_eq!(ws.read("profiles/discuz.toml"), ws.call(["profiles", "show", "discuz"]).expect(0).out);
    // Existing files are not overwritten.
    ws.write(
        "profiles/discuz.toml",
        ws.read("profiles/discuz.toml").replace("jokes = \"first\"", "jokes = \"all\""),
    );
    let result = ws.call(["profiles", "copy", "discuz"]).expect(2).err;
    assert!(
        result.contains("already exists") && ws.read("profiles/discuz.toml").contains("jokes = \"all\""),
        "{result}"
    );
    assert!(ws.call(["profiles", "list"]).expect(0).out.contains("instead of the built-in one"));
    let page = fixture("sites/discuz/thread.html");
    let try_it = || ws.call(["crawl", "--try", &page, "--profile", "discuz"]).expect(0).out;
    assert!(!try_it().contains("left out"), "the changed copy counts");
    ws.remove("profiles/discuz.toml");
    assert!(try_it().contains("left out: `jokes` asks for the first"), "the program's is back");
    ws.call(["profiles", "copy", "articles", "--as", "mine"]).expect(0);
    ws.call(["profiles", "check"]).expect(0);
    let actual = ws.call(["profiles", "copy", "articels"]).expect(2).err;
    assert!(actual.contains("did you mean \"articles\"?"), "{actual}");
    ws.call(["profiles", "copy", "articles", "--as", "../x"]).expect(2);
    assert!(ws.call(["profiles", "keys"]).expect(0).out.contains("strip_text"));
}

#[test]
fn mistakes_are_reported_with_file_line_column_and_near_miss() {
    let ws = Workspace::with(
        "[[source]]\nname = \"a\"\nkind = \"profile\"\nprofile = \"mine\"\npath = \"raw/dumps/*\"\n\n\
         [[crawl]]\nname = \"b\"\nseeds = [{ url = \"https://a.example/\" }]\ncontact = \"a@example.invalid\"\n\
         [crawl.site.profile]\nitem = \"p\"\nauther = \"b\"\ntime = { from = \"i[\" }\n",
    );
    ws.write("profiles/mine.toml", "item = \"p\"\njokes = \"frist\"\n");
    let actual = ws.call(["status"]).expect(2).err;
    for part in [
        "profiles/mine.toml:2:1: jokes: expected one of all, first, numbered; did you mean \"first\"?",
        "pipeline.toml:13:1: unknown key \"auther\"",
        "did you mean \"author\"?",
        "pipeline.toml:14:10: time: \"i[\" is not a CSS selector",
    ] {
        assert!(actual.contains(part), "{part} is not in\n{actual}");
    }
    let actual = ws.call(["profiles", "check"]).expect(2).out;
    assert!(actual.contains("profiles/mine.toml:2:1"), "{actual}");
    for (settings, part) in [
        ("kind = \"profile\"\npath = \"x\"", "lacks `profile`"),
        ("kind = \"profile\"\npath = \"x\"\nprofile = \"discus\"", "did you mean \"discuz\"?"),
        ("kind = \"warc\"\npath = \"x\"\nprofile = \"discuz\"", "only a source of kind \"profile\""),
        ("kind = \"profile\"\ncrawl = \"nowhere\"", "unknown crawl \"nowhere\""),
    ] {
        let ws = Workspace::with(&format!("[[source]]\nname = \"a\"\n{settings}\n"));
        let actual = ws.call(["status"]).expect(2).err;
        assert!(actual.contains(part) && actual.contains("pipeline.toml:"), "{part} is not in\n{actual}");
    }
    let of_tieba = "[[source]]\nname = \"a\"\nkind = \"profile\"\ncrawl = \"f\"\n\n[[crawl]]\nname = \"f\"\nsite = \"tieba\"\nseeds = [{ thread = 1 }]\ncontact = \"a@example.invalid\"\n";
    let actual = Workspace::with(of_tieba).call(["status"]).expect(2).err;
    assert!(actual.contains("kind \"warc\""), "{actual}");
}

#[test]
fn what_a_page_lacks_is_reported_with_what_it_has() {
    let ws = Workspace::with("");
    ws.write("profiles/mine.toml", "item = \"table[id^=pid]\"\ntitle = \"#thread_subjct\"\nbody = \"td.t_f div.text\"\nnext = \"a.nxx\"\nfloor = \"em\"\n");
    let page = fixture("sites/discuz/thread.html");
    let result = ws.call(["crawl", "--try", &page, "--profile", "mine"]).expect(0).out;
    for part in [
        "`#thread_subjct` is not on the page; did you mean `#thread_subject`?",
        "`td.t_f` finds 2; the rest of the selector finds nothing inside",
        "`.nxx` is not on the page; did you mean `.nxt`?",
    ] {
        assert!(result.contains(part), "{part} is not in\n{result}");
    }
    // A page without results is a failure.
    ws.write("profiles/none.toml", "item = \".nothing\"\n");
    let result = ws.call(["crawl", "--try", &page, "--profile", "none"]).expect(3).out;
    assert!(result.contains("not found") && result.contains("`.nothing` is not on the page"), "{result}");
    let actual = ws.call(["crawl", "--try", "https://a.example/1", "--profile", "none"]).expect(2).err;
    assert!(actual.contains("no [[crawl]] allows requests to a.example"), "{actual}");
    ws.call(["crawl", "--try", "no-such-file.html", "--profile", "none"]).expect(4);
}

/// The posts that import reads from the workspace's sources.
fn imported(ws: &Workspace, recipe: &str) -> Vec<Post> {
    ws.call(["run", "--recipe", recipe, "--to", "import"]).expect(0);
    ws.audit_clean();
    let stage = StageReader::open(&ws.path(&format!("staged/{recipe}/01_import"))).unwrap().unwrap();
    let mut posts: Vec<Post> = stage.read_table("rows").unwrap();
    posts.sort_by(|a, b| a.id.cmp(&b.id));
    posts
}

#[test]
fn saved_pages_of_every_format_end_as_posts() {
    let source = |name: &str, profile: &str, path: &str| {
        format!(
            "[[source]]\nname = {name:?}\nkind = \"profile\"\nprofile = {profile:?}\npath = \"raw/dumps/{path}\"\n"
        )
    };
    let ws = Workspace::with(
        &(source("forum", "discuz", "forum/*.html")
            + &source("blog", "articles", "blog/*")
            + &source("reddit", "reddit", "reddit/*")),
    );
    for (to, from) in [
        ("forum/thread.html", "sites/discuz/thread.html"),
        ("blog/page", "sites/articles/blog.html"),
        ("reddit/new.json", "sites/reddit/listing.json"),
    ] {
        ws.write(&format!("raw/dumps/{to}"), fs::read(fixture(from)).unwrap());
    }
    // One page per line works, too; duplicates become one post.
    let line = fs::read_to_string(fixture("sites/reddit/listing.json")).unwrap().replace('\n', " ");
    ws.write("raw/dumps/reddit/pages.jsonl", format!("{line}\n{}\n", line.replace("zz1", "zz7")));
    let posts = imported(&ws, "flub");
    let ids: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
    for id in ["forum.example:3001", "reddit:zz1", "reddit:zz7", "reddit:zz9"] {
        assert!(ids.contains(&id), "{id} is not in {ids:?}");
    }
    let first = posts.iter().find(|post| post.id == "forum.example:3001").unwrap();
    assert_eq!(first.text, "电梯里的镜子会不会晕\n它一天要上下两百趟\n从来没见它吐过");
    assert_eq!(first.time.as_deref(), Some("2024-03-05T08:00:12+08:00"));
    assert!(first.author.as_ref().is_some_and(|author| author != "镜子"), "authors are hashed");
    let reasons = ws.reasons("flub");
    assert_eq!((reasons["dropped/chatter"], reasons["dropped/taken_away"]), (1, 4), "{reasons:?}");
    // Another profile gives another import.
    ws.call(["profiles", "copy", "discuz"]).expect(0);
    ws.write(
        "profiles/discuz.toml",
        ws.read("profiles/discuz.toml").replace("jokes = \"first\"", "jokes = \"all\""),
    );
    assert!(ws.call(["status", "--recipe", "flub"]).expect(0).out.contains("stale"));
    assert_eq!(imported(&ws, "flub").len(), posts.len() + 1);
}

#[test]
fn a_dump_of_questions_ends_as_riddles_with_their_answers() {
    let ws = Workspace::with(
        "[[source]]\nname = \"dump\"\nkind = \"profile\"\nprofile = \"stack-exchange-dump\"\nnamespace = \"puzzling.stackexchange.com\"\npath = \"raw/dumps/Posts.xml\"\n\
         [[source]]\nname = \"api\"\nkind = \"profile\"\nprofile = \"stack-exchange\"\npath = \"raw/dumps/questions.json\"\n",
    );
    ws.write("raw/dumps/Posts.xml", fs::read(fixture("sites/stack-exchange-dump/Posts.xml")).unwrap());
    ws.write("raw/dumps/questions.json", fs::read(fixture("sites/stack-exchange/questions.json")).unwrap());
    let posts = imported(&ws, "brainteaser");
    let ids: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
    assert!(
        ids.contains(&"puzzling.stackexchange.com:501") && ids.contains(&"puzzling.stackexchange.com:603"),
        "{ids:?}"
    );
    let first = posts.iter().find(|post| post.id.ends_with(":501")).unwrap();
    assert_eq!(first.title.as_deref(), Some("I am beaten every morning and nobody hears it.\nWhat am I?"));
    assert_eq!(first.content.as_deref(), Some("An egg."));
    // A torn dump gives its intact part, and the message says so.
    let dump = ws.read("raw/dumps/Posts.xml");
    ws.write("raw/dumps/Posts.xml", &dump[..dump.find("<row Id=\"603\"").unwrap() + 30]);
    ws.call(["run", "--recipe", "brainteaser", "--to", "import"]).expect(3);
    assert_eq!(ws.reasons("brainteaser")["failed/truncated"], 1);
    // The contents of a record can be looked up again.
    let result =
        ws.call(["explain", "puzzling.stackexchange.com:501", "--recipe", "brainteaser"]).expect(0).out;
    assert!(result.contains("beaten every morning"), "{result}");
}

/// In a thread whose owner numbers jokes, these are kept, the notes below them are dropped with them, and the
/// rest is chatter; of any other thread the first post is kept.
#[test]
fn numbered_posts_of_a_threads_owner_are_jokes() {
    let ws = Workspace::with(
        "[[source]]\nname = \"forum\"\nkind = \"profile\"\nprofile = \"mine\"\nnamespace = \"mine\"\npath = \"raw/dumps/*.html\"\n\n[import]\nannual_posts = 3\n",
    );
    ws.write(
        "profiles/mine.toml",
        "item = \".p\"\nid = \"@id\"\nthread = { from = \"h1@id\", in = \"page\" }\ntitle = \"h1\"\nbody = \".b\"\nauthor = \".a\"\nfloor = \".f\"\njokes = \"numbered\"\n",
    );
    let page = |thread: &str, posts: &[(u32, &str, &str)]| {
        let post = |(floor, who, text): &(u32, &str, &str)| {
            format!(
                "<div class=p id={thread}{floor}><b class=a>{who}</b><i class=f>{floor}楼</i><div class=b>{text}</div></div>"
            )
        };
        format!("<h1 id=t{thread}>年度盘点</h1>{}", posts.iter().map(post).collect::<String>())
    };
    let annual = page(
        "1",
        &[
            (1, "楼主甲", "今年的都在这里了"),
            (2, "楼主甲", "1.冰箱里的灯怕不怕黑"),
            (3, "路人乙", "2.我也来一个"),
            (4, "楼主甲", "2.雨伞淋雨会不会感冒"),
            (5, "楼主甲", "3.电梯坐久了会不会晕"),
            (6, "路人丙", "哈哈哈哈"),
        ],
    );
    let other = page("2", &[(1, "路人乙", "闹钟起床靠谁叫"), (2, "楼主甲", "靠它自己")]);
    ws.write("raw/dumps/annual.html", annual);
    ws.write("raw/dumps/other.html", other);
    let posts = imported(&ws, "flub");
    let ids: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
    assert_eq!(ids, ["mine:12", "mine:14", "mine:15", "mine:21"]);
    assert!(posts[3].text.contains("闹钟起床靠谁叫"));
}
