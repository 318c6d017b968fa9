//! Texts and ids as dumps have them: debris, other encodings, entities, notices of forums, personal data, ids of spreadsheets.

use crate::harness::{Workspace, source};

fn texts(ws: &Workspace) -> Vec<String> {
    let mut rows: Vec<(u64, String)> = ws
        .posts("flub")
        .iter()
        .map(|row| (row["position"].as_u64().unwrap(), row["text"].as_str().unwrap().to_string()))
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, text)| text).collect()
}

/// A workspace with a table of posts, and further settings.
fn table(file: &str, bytes: &str, fields: &str, settings: &str) -> Workspace {
    let path = format!("raw/dumps/{file}");
    let ws = Workspace::with(&format!("{}fields = {fields}\n{settings}", source("posts", "table", &path)));
    ws.write(&path, bytes);
    ws
}

/// What `show` prints of the records of a stage with a reason.
fn shown(ws: &Workspace, stage: &str, reason: &str) -> String {
    ws.call(["show", stage, "--recipe", "flub", "--reason", reason, "--limit", "0"]).expect(0).out
}

const JOKES: [&str; 5] = [
    "把月亮关掉，海水会不会失业？",
    "影子欠了光的钱，会不会被拉长？",
    "蚊子吸了熬夜的人的血，会不会也睡不着？",
    "我把时间存进银行，利息是几点？",
    "电梯里的镜子会不会晕？",
];

#[test]
fn a_whole_number_with_a_point_is_that_number() {
    let csv = format!("tid,subject,body\n9100000001.0,{},\n\"9,100,000,002\",{},\n", JOKES[0], JOKES[1]);
    let ws = table("a.csv", &csv, r#"{ id = "tieba:{tid}", title = "subject", content = "body" }"#, "");
    let again = format!(
        "{{\"tid\": 9100000001.0, \"subject\": \"{}\"}}\n{{\"tid\": \"9.100000002E9\", \"subject\": \"{}\"}}\n",
        JOKES[0], JOKES[1]
    );
    ws.write("raw/dumps/b.jsonl", again);
    let settings = ws.read("pipeline.toml")
        + &source("zz", "table", "raw/dumps/b.jsonl")
        + "fields = { id = \"tieba:{tid}\", title = \"subject\" }\n";
    ws.write("pipeline.toml", settings);
    let run = ws.run();
    assert!(!run.err.contains("names no post"), "{}", run.err);
    let ids: Vec<_> = ws.posts("flub").iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["tieba:9100000001", "tieba:9100000002"]);
    assert_eq!(ws.reasons("flub").get("merged/same_id"), Some(&2));
    ws.audit_clean();
}

#[test]
fn ids_that_a_spreadsheet_rounded_lose_no_post() {
    let rows: String = JOKES.iter().map(|joke| format!("8354539603,1.47346E+11,{joke}\n")).collect();
    // A copy of one of them is the same post.
    let csv = format!("tid,pid,body\n{rows}8354539603,1.47346E+11,{}\n", JOKES[2]);
    let ws = table("posts.csv", &csv, r#"{ id = "tieba:{tid}:{pid}", content = "body" }"#, "");
    let run = ws.run();
    assert!(run.err.contains("posts/posts.csv: 6 posts with an id that names no post"), "{}", run.err);
    assert!(run.err.contains("save the column of ids as text"), "{}", run.err);
    assert_eq!(texts(&ws), JOKES);
    assert!(ws.posts("flub").iter().all(|row| row["id"].as_str().unwrap().starts_with("text:")));
    assert_eq!(ws.reasons("flub").get("changed/damaged_id"), Some(&5));
    assert_eq!(ws.reasons("flub").get("merged/same_id"), Some(&1));
    assert!(shown(&ws, "import", "damaged_id").contains("`1.47346E+11`"));
    ws.audit_clean();
    // What the advice says mends the cause.
    let whole: String =
        JOKES.iter().zip(1..).map(|(joke, n)| format!("8354539603,14734600000{n},{joke}\n")).collect();
    ws.write("raw/dumps/posts.csv", format!("tid,pid,body\n{whole}"));
    assert!(!ws.run().err.contains("names no post"));
    assert!(
        ws.posts("flub")
            .iter()
            .all(|row| row["id"].as_str().unwrap().starts_with("tieba:8354539603:14734600000"))
    );
    ws.audit_clean();
}

#[test]
fn an_id_with_an_unlike_text_is_kept_apart() {
    let line = |pid: &str, text: &str| format!("{{\"pid\": \"{pid}\", \"body\": \"{text}\"}}\n");
    let edited = "把月亮关掉，海水会不会失业呢？（编辑）";
    // Rounded to 15 digits, which no longer shows in the ids.
    let dump: String = [
        line("147346000000000000", JOKES[0]),
        line("147346000000000000", JOKES[0]),
        line("147346000000000000", edited),
        line("147346000000000000", JOKES[1]),
        line("147346000000000000", JOKES[1]),
    ]
    .concat();
    let ws = table("p.jsonl", &dump, r#"{ id = "tieba:1:{pid}", content = "body" }"#, "");
    let run = ws.run();
    assert!(
        run.err.contains("posts/p.jsonl: 1 post with the id of an earlier post, but an unlike text"),
        "{}",
        run.err
    );
    assert_eq!(texts(&ws), JOKES[..2]);
    let ids: Vec<_> = ws.posts("flub").iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert!(
        ids[0] == "tieba:1:147346000000000000" && ids[1].starts_with("tieba:1:147346000000000000~"),
        "{ids:?}"
    );
    assert_eq!(ws.reasons("flub").get("changed/id_taken"), Some(&1));
    assert_eq!(ws.reasons("flub").get("merged/same_id"), Some(&3));
    let told = shown(&ws, "import", "id_taken");
    assert!(told.contains("another post has the id tieba:1:147346000000000000"), "{told}");
    ws.audit_clean();
}

#[test]
fn entities_are_decoded_once_in_every_kind_of_source() {
    let reddit = r#"{"id": "aa1", "title": "Why do we park on driveways &amp; drive on parkways?", "selftext": "", "created_utc": 1}
{"id": "aa2", "title": "Why is the word &amp;amp; hard to read?", "selftext": "&gt; quoted", "created_utc": 2}
"#;
    let ws = Workspace::with(&format!(
        "{}{}{}[recipe.flub.text]\nlanguage = \"en\"\n",
        source("a", "reddit", "raw/dumps/a.ndjson"),
        source("b", "table", "raw/dumps/b.csv"),
        "fields = { id = \"reddit:{id}\", title = \"title\" }\n"
    ));
    ws.write("raw/dumps/a.ndjson", reddit);
    ws.write("raw/dumps/b.csv", "id,title\nbb1,Is &quot;2 &lt; 3&quot; true &#x1F600;?\n");
    ws.run();
    let mut found: Vec<_> =
        ws.posts("flub").iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "Is \"2 < 3\" true 😀?",
            "Why do we park on driveways & drive on parkways?",
            "Why is the word &amp; hard to read?\n> quoted",
        ]
    );
    ws.audit_clean();
}

#[test]
fn english_texts_lose_invisible_characters() {
    let dump = "{\"id\":\"aa1\",\"title\":\"Why does the bell\\u0007 ring twice?\",\"created_utc\":1}\n\
        {\"id\":\"aa2\",\"title\":\"Why is \\u202eABC\\u202c reversed?\",\"created_utc\":2}\n\
        {\"id\":\"aa3\",\"title\":\"\\ufeffWhy is zero\\u200bwidth invisible?\\u0000\",\"created_utc\":3}\n";
    let ws = Workspace::with(&format!(
        "{}[recipe.flub.text]\nlanguage = \"en\"\n",
        source("s", "reddit", "raw/dumps/RS.ndjson")
    ));
    ws.write("raw/dumps/RS.ndjson", dump);
    ws.run();
    assert_eq!(
        texts(&ws),
        ["Why does the bell ring twice?", "Why is ABC reversed?", "Why is zerowidth invisible?"]
    );
    assert_eq!(ws.reasons("flub").get("changed/debris"), Some(&3));
}

#[test]
fn posts_read_in_another_encoding_are_set_aside() {
    let titles = [
        "为什么锟斤拷烫烫烫会笑？",
        "涓轰粈涔堢尗涓嶄細椋烇紵",
        "为什么\u{fffd}\u{fffd}不会笑？",
        "Ã¤Â¸ÂºÃ¤Â»â‚¬Ã¤Â¹Ë†Ã§Å’Â«Ã¯Â¼Å¸",
        "ä¸ºä»€ä¹ˆçŒ«ä¸ä¼šé£žï¼Ÿ",
        "Ϊʲô",
    ];
    let lines: String =
        titles.iter().zip(1..).map(|(title, n)| crate::harness::title(n, title) + "\n").collect();
    let ws = Workspace::with_dump("leymore-titles", lines);
    let run = ws.call(["run", "--recipe", "flub"]).expect(3);
    assert_eq!(texts(&ws), titles[..1]);
    assert_eq!(ws.reasons("flub").get("failed/encoding"), Some(&5));
    assert!(run.err.contains("failed"), "{}", run.err);
    assert!(shown(&ws, "import", "encoding").contains("save the source as UTF-8"));
    ws.audit_clean();
}

#[test]
fn notices_of_discuz_are_stripped() {
    let post = |tid: u64, title: &str, message: &str| {
        format!(
            r##"<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title><link href="https://forum.example/thread-{tid}-1-1.html" rel="canonical" /></head><body id="nv_forum" class="pg_viewthread">
<div id="postlist" class="pl bm"><h1 class="ts"><span id="thread_subject">{title}</span></h1>
<div id="post_{tid}1"><table id="pid{tid}1" class="plhin"><tr><td class="pls"><div class="authi"><a href="space-uid-1.html" class="xw1">user-a</a></div></td>
<td class="plc"><div class="pi"><strong><a href="#" id="postnum{tid}1"><em>楼主</em></a></strong></div><div class="pcb">{message}</div></td></tr></table></div></div></body></html>"##
        )
    };
    let cell = |tid: u64, message: &str| {
        format!(r#"<table><tr><td class="t_f" id="postmessage_{tid}1">{message}</td></tr></table>"#)
    };
    let settings = source("forum", "profile", "raw/dumps/*.html") + "profile = \"discuz\"\n";
    let ws = Workspace::with(&settings);
    let message = |tid: u64, title: &str, message: &str| {
        ws.write(&format!("raw/dumps/{tid}.html"), post(tid, title, message))
    };
    message(
        3001,
        JOKES[0],
        &cell(
            3001,
            &format!(
                r#"{}<span style="display:none">8 y4</span><font class="jammer">r5#x@</font><span style="color:red; display : none">x9</span><div style="DISPLAY: none">zz</div>"#,
                JOKES[0]
            ),
        ),
    );
    message(
        3002,
        JOKES[1],
        &cell(
            3002,
            &format!(
                r##"<div class="locked">游客，如果您要查看本帖隐藏内容请<a href="#">回复</a></div>{}"##,
                JOKES[1]
            ),
        ),
    );
    message(
        3003,
        JOKES[2],
        &cell(3003, r##"<div class="locked">游客，如果您要查看本帖隐藏内容请<a href="#">回复</a></div>"##),
    );
    message(3004, "通知", r#"<div class="locked"><em>提示: 该帖被管理员或版主屏蔽</em></div>"#);
    message(
        3005,
        JOKES[3],
        &cell(
            3005,
            &format!(
                r#"{}<div class="blockcode"><div><ol><li>code 1</li></ol></div><em>复制代码</em></div><div class="showhide"><h4>本帖隐藏的内容</h4>谜底：会</div>"#,
                JOKES[3]
            ),
        ),
    );
    message(3006, "通知", &cell(3006, r#"<div class="locked"><em>提示: 该帖被管理员或版主屏蔽</em></div>"#));
    ws.run();
    let mut found: Vec<_> =
        ws.posts("flub").iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect();
    found.sort();
    let mut wanted = [
        JOKES[0].to_owned(),
        JOKES[1].to_owned(),
        JOKES[2].to_owned(),
        format!("{}\ncode 1\n谜底：会", JOKES[3]),
    ];
    wanted.sort();
    assert_eq!(found, wanted);
    assert_eq!(ws.reasons("flub").get("dropped/taken_away"), Some(&2));
    ws.audit_clean();
}

#[test]
fn personal_data_in_english_is_marked_and_the_card_says_what_is_not_sought() {
    let csv = "id,title\n\
        a,Why does +1 212 736 5000 ring when the moon calls?\n\
        b,Is (415) 867-5309 or 020 7946 0958 a lonely number?\n\
        c,Is my SSN 219-09-9999 older than my card 4111 1111 1111 1111?\n\
        d,\"If I live at 12 Elm Street, Apt 4B, who lives in the elm?\"\n\
        e,Can GB82 WEST 1234 5698 7654 32 pay for sunshine?\n\
        f,Why did u/cloud_man and /u/rain-man never meet?\n\
        g,Why does 10 Downing Street have a cat and Route 66 none?\n";
    let ws = table(
        "posts.csv",
        csv,
        r#"{ id = "en:{id}", title = "title" }"#,
        "[recipe.flub.text]\nlanguage = \"en\"\n",
    );
    ws.run();
    assert_eq!(
        texts(&ws),
        [
            "Why does [phone] ring when the moon calls?",
            "Is [phone] or [phone] a lonely number?",
            "Is my SSN [identity number] older than my card [card number]?",
            "If I live at [address], who lives in the elm?",
            "Can [account number] pay for sunshine?",
            "Why did u/[name] and /u/[name] never meet?",
            "Why does 10 Downing Street have a cat and Route 66 none?",
        ]
    );
    let told = shown(&ws, "anonymise", "personal_data_marked");
    assert!(told.contains("id_card 1, card 1") && !told.contains("219-09"), "{told}");
    for file in ["README.md", "DATASHEET.md", "croissant.json"] {
        let card = ws.read(&format!("output/flub/candidate/{file}"));
        assert!(
            card.contains("Not looked for: names of people") && card.contains("Rules miss some"),
            "{file}"
        );
        assert!(!card.contains("personal data in texts was replaced"), "{file}");
    }
    // The card follows the settings.
    ws.write("pipeline.toml", ws.read("pipeline.toml") + "[anonymise]\ncontacts = \"keep\"\n");
    ws.run();
    let card = ws.read("output/flub/candidate/README.md");
    assert!(
        card.contains("Not looked for, by the settings of this set: e-mail addresses, telephone numbers"),
        "{card}"
    );
}

#[test]
fn a_users_name_within_other_words_stays() {
    let line = |tid: u64, user: &str, title: &str| {
        format!(
            "{{\"title\": \"{title}\", \"abs\": null, \"href\": \"/p/{tid}\", \"lz\": \"{user}\", \"n_reply\": \"1\"}}\n"
        )
    };
    let dump = [
        line(1, "卖草莓星人", "为什么月亮不会被关掉？"),
        line(2, "路人乙丙丁", "我们卖草莓星人为什么要侵略地球？"),
        line(3, "路人乙丙丁", "我问卖草莓星人：欠我的雨伞什么时候晾干？"),
    ]
    .concat();
    let ws = Workspace::with_dump("leymore-titles", dump);
    ws.run();
    let found = texts(&ws);
    assert!(found.contains(&"我们卖草莓星人为什么要侵略地球？".to_owned()), "{found:?}");
    assert!(found.contains(&"我问[人名]：欠我的雨伞什么时候晾干？".to_owned()), "{found:?}");
}

#[test]
fn a_users_name_is_marked_in_everybodys_posts() {
    let row = |tid: u64, by: &str, title: &str| serde_json::json!({ "title": title, "abs": null, "href": format!("/p/{tid}?fr=good"), "lz": by, "n_reply": "1" });
    let rows = [
        row(1, "云中白鹤生", "雨伞会不会觉得自己怕水"),
        row(2, "路人", "云中白鹤生看着防盗门，门会不会看着他"),
        row(3, "线希望", "风会不会觉得自己很轻"),
        row(6, "路人", "打了热线希望有人接，电话会不会也在等"),
        row(4, "病死鸡", "影子会不会累"),
        row(5, "路人", "问病死鸡会不会变成鸡"),
    ];
    let ws = Workspace::with_dump("leymore-titles", serde_json::to_string(&rows).unwrap());
    let run = || {
        ws.call(["run", "--offline", "--recipe", "flub"]).expect(0);
        ws.posts("flub").iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let texts = run();
    assert!(texts.iter().any(|text| text == "[人名]看着防盗门，门会不会看着他"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("热线希望有人接")), "{texts:?}");
    assert!(texts.iter().any(|text| text == "问[人名]会不会变成鸡"), "{texts:?}");
    let report = ws.call(["report", "--recipe", "flub"]).expect(0).out;
    assert!(report.contains("3 names of users, looked for in every text"), "{report}");

    // A name listed as a common word is not treated as a name; and the list shared by parts contains no name.
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", format!("{settings}\n[import]\ncommon_words = [\"words.txt\"]\n"));
    ws.write("words.txt", "# dishes\n病死鸡\n");
    assert!(run().iter().any(|text| text == "问病死鸡会不会变成鸡"));
    ws.call(["apply", "import", "--recipe", "flub", "--write-names", "names"]).expect(0);
    let names = ws.read("names");
    assert!(names.lines().count() == 4 && !names.contains("云中白鹤生"), "{names}");
    let books = ["apply", "import", "--source", "dump", "--names", "names", "raw/dumps/dump"];
    let booked = ws.call(books).expect(0).out;
    assert!(
        booked.lines().any(|line| line.contains("防盗门") && line.contains("\"mentions\":[\"云中白鹤生\"]"))
    );
}
