//! Dumps that strangers try first: what `init` proposes of a file is what `run` reads of it, and what neither reads is named with what
//! to do.

use encoding_rs::{BIG5, GB18030};
use serde_json::{Value, json};

use crate::harness::{CallResult, Workspace};

const POSTS: [&str; 3] =
    ["把月亮关掉，海水会不会失业？", "影子欠了光的钱，会不会被拉长？", "如果时间停了，钟表算不算下班？"];

/// What `init` proposes of a file.
struct Proposed {
    ws: Workspace,
    init: CallResult,
}

fn proposed(name: &str, bytes: impl AsRef<[u8]>) -> Proposed {
    let ws = Workspace::folder();
    ws.call(["init", "--empty"]).expect(0);
    ws.write(name, bytes);
    let init = ws.call(["init", ".", name, "--write"]);
    Proposed { ws, init }
}

impl Proposed {
    /// The records of the import, and how it ended.
    #[track_caller]
    fn imported(&self) -> (Vec<Value>, CallResult) {
        assert_eq!(self.init.code, 0, "{} {}", self.init.out, self.init.err);
        let run = self.ws.call(["run", "--recipe", "chumor", "--to", "import", "--offline"]);
        let shown = self.ws.call(["show", "import", "--recipe", "chumor", "--json"]).expect(0);
        let shown: Value = serde_json::from_str(&shown.out).unwrap();
        let rows = shown.as_array().map_or(&shown["rows"], |stages| &stages[0]["rows"]);
        (rows.as_array().cloned().unwrap_or_default(), run)
    }

    /// All three posts, without a word.
    #[track_caller]
    fn reads_all(&self) {
        let (rows, run) = self.imported();
        assert_eq!(run.code, 0, "{}", run.err);
        let texts: Vec<&str> = rows.iter().filter_map(|row| row["text"].as_str()).collect();
        for post in POSTS {
            assert!(texts.iter().any(|text| text.contains(post)), "{post}: {texts:?}");
        }
        assert_eq!(texts.len(), POSTS.len(), "{texts:?}");
    }

    /// No source, and why.
    #[track_caller]
    fn is_refused(&self, says: &str) {
        assert_eq!(self.init.code, 3, "{}", self.init.out);
        assert!(self.init.out.contains(says), "{says:?} is not in {}", self.init.out);
    }
}

fn rows() -> Vec<Value> {
    POSTS.iter().zip(1..).map(|(title, id)| json!({ "id": id, "title": title })).collect()
}

#[test]
fn an_object_beside_its_rows_is_read_as_init_proposes_and_is_a_question_without() {
    let archive = json!({ "title": "archive", "id": 5, "data": rows() }).to_string();
    let found = proposed("a.json", &archive);
    assert!(found.ws.read("pipeline.toml").contains("at = \"/data\""), "{}", found.init.out);
    found.reads_all();
    let page =
        |n: usize| json!({ "page": n, "title": "p", "data": { "items": [rows()[n]] } }).to_string() + "\n";
    let pages = page(0) + &page(1) + &page(2);
    proposed("p.jsonl", &pages).reads_all();
    proposed("q.jsonl", pages.replace("\"title\":\"p\",", "")).reads_all();
    proposed("r.jsonl", rows().iter().map(|row| format!("[{row}]\n")).collect::<String>()).reads_all();
    for (file, at) in [(&archive, "/data"), (&pages, "/data/items")] {
        for optional in ["", "optional = [\"id\"]"] {
            let ws = Workspace::with(&format!(
                "[[source]]\nname = \"d\"\nkind = \"table\"\npath = \"a\"\nfields = {{ id = \"id\", title = \"title\" }}\n{optional}\n"
            ));
            ws.write("a", file);
            let run = ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
            assert!(run.err.contains(&format!("at = \"{at}\"")), "{}", run.err);
            // What the hint says helps.
            let settings = ws.read("pipeline.toml");
            ws.write("pipeline.toml", format!("{settings}at = \"{at}\"\n"));
            ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(0);
            ws.audit_clean();
        }
    }
}

#[test]
fn rows_that_a_table_cannot_hold_are_set_aside_with_their_lines_and_the_others_are_read() {
    let table = format!(
        "id,title,author\n1,\"{},kim\n2,{},lee\n3,one, two or three,ann\n4,{},bob\n",
        POSTS[0], POSTS[1], POSTS[2]
    );
    let (rows, run) = proposed("t.csv", table).imported();
    assert_eq!(run.code, 3);
    let of = |line: &str| {
        let row = rows.iter().find(|row| row["id"].as_str().unwrap().ends_with(line));
        row.map(|row| (row["outcome"].as_str().unwrap().to_owned(), row["evidence"].to_string())).unwrap()
    };
    assert!(
        of(":2").1.contains("quotation mark") && of(":4").1.contains("4 cells under 3 columns"),
        "{rows:?}"
    );
    assert_eq!((of(":3").0.as_str(), of(":5").0.as_str()), ("kept", "kept"));
    let tabs = format!("id\ttitle\n1\t\"{}\n2\t\"{}\" 吗\n3\t{}\n", POSTS[0], POSTS[1], POSTS[2]);
    proposed("t.tsv", tabs).reads_all();
}

#[test]
fn tables_are_read_below_a_title_in_big5_and_with_html_in_their_texts() {
    let titled =
        format!("合集,,\n编号,标题,用户昵称\n1,{},甲\n2,{},乙\n3,{},丙\n", POSTS[0], POSTS[1], POSTS[2]);
    let found = proposed("t.csv", titled);
    assert!(found.ws.read("pipeline.toml").contains("author = \"用户昵称\""), "{}", found.init.out);
    found.reads_all();
    let text = "編號,標題\n1,為什麼冰箱不會感冒？\n2,雨傘自己會不會淋濕？\n";
    let (rows, run) = proposed("b.csv", &*BIG5.encode(text).0).imported();
    assert_eq!((run.code, rows[0]["text"].as_str()), (0, Some("為什麼冰箱不會感冒？")));
    let (rows, _) = proposed("h.csv", "id,content\n1,<p>云会&nbsp;恐高吗</p>会\n").imported();
    assert_eq!(
        (rows[0]["text"].as_str(), rows[0]["reason"].as_str()),
        (Some("云会 恐高吗\n会"), Some("mended"))
    );
}

#[test]
fn what_holds_no_posts_is_named_with_what_to_do() {
    let lines = POSTS.join("\n");
    proposed("a.txt", &lines).is_refused("no row with the names of its columns");
    proposed("a.csv", format!("1,{},甲\n2,{},乙\n", POSTS[0], POSTS[1])).is_refused("sed '1i id,content");
    proposed("a.js", "window.YTD.tweets.part0 = [ {\"tweet\": {}} ]").is_refused("a script with JSON");
    proposed("a.yaml", "- title: x\n  id: 1\n- title: y\n").is_refused("YAML");
    proposed("a.json", "{\"error\": {\"code\": 403, \"message\": \"no\"}}").is_refused("about an error");
    proposed("b.json", json!({ "t1": POSTS[0], "t2": POSTS[1] }).to_string()).is_refused("to_entries");
    proposed("a.dat", format!("id::title\n1::{}\n", POSTS[0])).is_refused("parted by `::`");
    proposed("c.json", json!(POSTS).to_string()).is_refused("{content: .}");
    proposed("d.jsonl", "{\"_index\": \"posts\", \"take\": \"main\", \"url\": \"https://x.example/a\"}\n")
        .is_refused("none of its columns");
}

#[test]
fn a_folder_is_its_files_and_what_is_not_read_is_listed() {
    let ws = Workspace::folder();
    ws.call(["init", "w", "--empty"]).expect(0);
    ws.write(
        "dumps/a.json",
        json!([{ "title": POSTS[0], "who": "kim", "reply_user": "lee", "views": 3 }]).to_string(),
    );
    ws.write(
        "dumps/more/b.jsonl",
        json!({ "data": { "text": POSTS[1] }, "id": 7, "score": null }).to_string(),
    );
    ws.write("dumps/.hidden", "x");
    let init = ws.call(["init", "w", "dumps"]).expect(0);
    for says in
        ["author = \"who\"", "# not read: reply_user, views", "people: reply_user", "content = \"data.text\""]
    {
        assert!(init.out.contains(says), "{says}: {}", init.out);
    }
}

#[test]
fn a_kind_that_reads_no_authors_of_a_file_says_so() {
    let ws = Workspace::with("[[source]]\nname = \"d\"\nkind = \"leymore-titles\"\npath = \"a.csv\"\n");
    ws.write("a.csv", format!("title,author\n{},kimkim\n", POSTS[0]));
    let run = ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
    assert!(run.err.contains("`lz`") && run.err.contains("author = \"author\""), "{}", run.err);
    let ws = Workspace::with("[[source]]\nname = \"d\"\nkind = \"leymore-annual\"\npath = \"a.jsonl\"\n");
    ws.write(
        "a.jsonl",
        json!({ "author": "kimkim", "content": POSTS[0], "ctime": "x", "title": "q" }).to_string(),
    );
    let run = ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
    assert!(run.err.contains("kind = \"table\"") && run.err.contains("title = \"title\""), "{}", run.err);
}

#[test]
fn authors_as_sites_write_them_are_one_name() {
    let told = |name: &str, bytes: String| {
        let proposed = proposed(name, bytes);
        let (_, run) = proposed.imported();
        assert_eq!(run.code, 0, "{}", run.err);
        proposed.ws.call(["run", "--recipe", "chumor", "--to", "anonymise", "--offline"]).expect(0);
        proposed.ws.call(["show", "anonymise", "--recipe", "chumor", "--outcome", "changed"]).expect(0).out
    };
    let lines = |author: Value, other: Value| {
        let row =
            |id: u32, text: &str, author: &Value| json!({ "id": id, "content": text, "author": author });
        let rows = [row(1, POSTS[0], &author), row(2, "夜航船客人说冰箱会感冒吗？", &other)];
        rows.map(|row| format!("{row}\n")).concat()
    };
    for (author, other) in [
        (json!(["夜航船客人"]), json!(["风中追风者"])),
        (json!({ "name": "夜航船客人" }), json!({ "name": "风中追风者" })),
        (json!("@夜航船客人"), json!("风中追风者")),
        (json!("<a href=\"/u/1\">夜航船客人</a>"), json!("<a href=\"/u/2\">风中追风者</a>")),
    ] {
        let shown = told("posts.jsonl", lines(author.clone(), other));
        assert!(shown.contains("[人名]说冰箱会感冒吗？"), "{author}: {shown}");
    }
}

#[test]
fn two_columns_of_one_name_are_told() {
    let csv = format!("id,text,author,text\n1,{},a,ok\n2,{},b,ok\n3,{},c,ok\n", POSTS[0], POSTS[1], POSTS[2]);
    let (_, run) = proposed("posts.csv", csv).imported();
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("several columns are called \"text\""), "{}", run.err);
}

#[test]
fn a_text_in_utf_32_and_lines_that_are_lists_are_named() {
    let wide: Vec<u8> = "\u{feff}id,text\n".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
    proposed("posts.csv", wide).is_refused("a text in UTF-32");
    let downloaded =
        json!([[2, { "tweet_id": 1, "content": POSTS[0] }], [3, "https://x.example/a", { "tweet_id": 1 }]]);
    proposed("posts.json", downloaded.to_string()).is_refused("jq -c '.[] | .[-1]");
    let lists = format!("[\"id\",\"content\"]\n[\"1\",\"{}\"]\n", POSTS[0]);
    proposed("posts.jsonl", lists).is_refused("every line is a list and no object");
}

/// A table of the three posts, with authors.
fn table() -> String {
    let rows: String = POSTS.iter().zip(1..).map(|(title, id)| format!("{id},{title},甲甲{id}\n")).collect();
    format!("id,title,author\n{rows}")
}

#[test]
fn a_cell_too_many_is_told_though_the_last_one_is_empty() {
    let text = format!("id,title,author\n1,{},甲\n2,云,会恐高吗,\n3,{},乙\n", POSTS[0], POSTS[1]);
    let (rows, run) = proposed("t.csv", &text).imported();
    assert_eq!(run.code, 3);
    assert!(run.err.contains("first in t-2/t.csv") || run.err.contains("first in t/t.csv"), "{}", run.err);
    assert!(rows.iter().all(|row| row["text"] != "云"), "{rows:?}");
    assert!(
        rows.iter().any(|row| row["evidence"].to_string().contains("4 cells under 3 columns")),
        "{rows:?}"
    );
    // A program that ends each row with what parts columns moves none.
    let ended =
        table().replace("甲甲1\n", "甲甲1,\n").replace("甲甲2\n", "甲甲2,\n").replace("甲甲3\n", "甲甲3,\n");
    proposed("t.csv", ended).reads_all();
}

#[test]
fn what_stands_above_the_names_is_passed_over() {
    for above in [
        "# exported 2024-01-02\n",
        "# exported, by hand, v2\n\n",
        "合集, 2024 年\n",
        "导出\n时间,2024-01-02\n来源,论坛\n",
        "a\nb\nc\nd\ne\nf\ng\n",
    ] {
        proposed("t.csv", format!("{above}{}", table())).reads_all();
        proposed("t.tsv", format!("{above}{}", table().replace(',', "\t"))).reads_all();
    }
}

#[test]
fn names_of_columns_among_the_rows_are_no_post() {
    let parts: Vec<String> = table().lines().map(str::to_owned).collect();
    proposed(
        "t.csv",
        [&parts[0], &parts[1], &parts[0], &parts[2], &parts[3]].map(|l| format!("{l}\n")).concat(),
    )
    .reads_all();
    let other =
        format!("{}\n{}\nauthor,id,title\n乙,2,{}\n丙,3,{}\n", parts[0], parts[1], POSTS[1], POSTS[2]);
    let (rows, run) = proposed("t.csv", other).imported();
    assert!(run.code == 3 && run.err.contains("other names of columns"), "{}", run.err);
    let texts: Vec<&str> = rows.iter().filter_map(|row| row["text"].as_str()).collect();
    assert_eq!(texts, POSTS);
}

#[test]
fn a_damaged_byte_costs_its_row_and_a_cut_file_is_not_called_gbk() {
    let text = table() + "4,海水会不会失业，这是一个问题？,丁\n";
    let mut gbk = GB18030.encode(&text).0.into_owned();
    let at = gbk.len() - 12;
    gbk[at] = 0xff;
    let (rows, run) = proposed("t.csv", &gbk).imported();
    assert!(run.code == 3 && run.err.contains("none of the file's encoding"), "{}", run.err);
    assert_eq!(rows.iter().filter(|row| row["text"].is_string()).count(), 3, "{rows:?}");
    let cut = format!("id,title\n1,{}\n2,{}", POSTS[0], POSTS[1].trim_end_matches('？'));
    for name in ["t.csv", "u.csv"] {
        let (rows, run) = proposed(name, &cut.as_bytes()[..cut.len() - 1]).imported();
        assert!(run.code == 3 && run.err.contains("ends within a character"), "{}", run.err);
        assert_eq!(rows[0]["text"], POSTS[0]);
    }
    let only = "id,title\n1,云会恐高吗，这是一个问题".as_bytes();
    proposed("t.csv", &only[..only.len() - 2]).is_refused("ends within a character");
}

#[test]
fn sequences_of_json_and_exports_of_databases_are_read_or_named() {
    let sequence: String = rows().iter().map(|row| format!("\u{1e}{row}\n")).collect();
    proposed("s.json", &sequence).reads_all();
    let export = json!([
        { "type": "header", "version": "5.2.1", "comment": "Export to JSON plugin" },
        { "type": "database", "name": "forum" },
        { "type": "table", "name": "posts", "database": "forum", "data": rows() },
    ]);
    proposed("posts.json", export.to_string()).reads_all();
    proposed("posts.json", serde_json::to_string_pretty(&export).unwrap()).reads_all();
    proposed("a.sql", "-- Adminer 4.8.1 MySQL 8.0 dump\n\nSET NAMES utf8;\n").is_refused("in SQL");
    proposed("a.sql", "--\n-- PostgreSQL database dump\n--\n\nSET x = 0;\n").is_refused("in SQL");
    proposed(
        "a.xml",
        "<?xml version=\"1.0\"?>\n<pma_xml_export version=\"1.0\"><database/></pma_xml_export>",
    )
    .is_refused("a table of a database as XML");
}

#[test]
fn every_nickname_is_found_in_what_others_write() {
    let person = json!({ "user_id": 7, "user_name": "", "nick_name_new": "夜航船客人", "nick_name_old": "风中追风者" });
    let row = |pid: u32, text: &str, user: &Value| {
        let post =
            json!({ "tid": 42, "pid": pid, "floor": pid, "contents": [{ "text": text }], "user": user });
        format!("{post}\n")
    };
    let lines =
        row(1, "请问夜航船客人和风中追风者说冰箱会感冒吗？", &json!({ "user_id": 8, "user_name": "路人丙" }))
            + &row(2, POSTS[0], &person);
    let ws = Workspace::with(
        "[[source]]\nname = \"d\"\nkind = \"aiotieba\"\npath = \"a.jsonl\"\ntake = \"main\"\n",
    );
    ws.write("a.jsonl", lines);
    ws.call(["run", "--recipe", "chumor", "--to", "anonymise", "--offline"]).expect(0);
    let shown = ws.call(["show", "anonymise", "--recipe", "chumor", "--json"]).expect(0).out;
    assert!(shown.contains("[人名]") && !shown.contains("夜航船") && !shown.contains("风中追风"), "{shown}");
}

#[test]
fn a_table_without_names_is_told_and_what_is_advised_reads_it() {
    for (name, text) in [
        ("two.txt", "为什么蚊子不睡觉\n为什么月亮是圆的\n"),
        ("two.csv", "q1,没有表头的第一行为什么\nq2,没有表头的第二行为啥呢\n"),
    ] {
        let found = proposed(name, text);
        found.is_refused("no row with the names of its columns");
        found.is_refused("sed '1i ");
    }
    let named = proposed("named.csv", "id,content\nq1,没有表头的第一行为什么\nq2,没有表头的第二行为啥呢\n");
    assert_eq!(named.imported().0.len(), 2);
}

#[test]
fn of_two_files_that_number_their_own_rows_no_post_is_lost() {
    let ws = Workspace::folder();
    ws.call(["init", "--empty"]).expect(0);
    ws.write("x.csv", "id,text\n1,为什么鱼不会口渴？\n2,云会恐高吗？\n");
    ws.write("y.csv", "id,text\n1,为什么鱼不会口渴呢，它在水里？\n2,影子有没有重量？\n");
    let init = ws.call(["init", ".", "x.csv", "y.csv", "--write"]).expect(0);
    assert!(init.out.contains("id = \"y:{id}\""), "{}", init.out);
    ws.call(["run", "--recipe", "chumor", "--to", "import", "--offline"]).expect(0);
    let shown = ws.call(["show", "import", "--recipe", "chumor", "--json"]).expect(0);
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    let rows = shown.as_array().map_or(&shown["rows"], |stages| &stages[0]["rows"]);
    let kept = rows.as_array().unwrap().iter().filter(|row| row["outcome"] == "kept").count();
    assert_eq!(kept, 4, "{rows}");
}

#[test]
fn values_that_are_not_read_are_counted() {
    let rows = "{\"id\": 1, \"text\": \"云会恐高吗？\", \"text\": \"鱼会口渴吗？\", \"score\": \"many\", \"date\": \"3/4/2023\"}\n\
                {\"id\": 2, \"text\": \"月亮会失业吗？\", \"score\": \"1,204\", \"date\": \"15/12/2023\"}\n";
    let (_, run) = proposed("r.jsonl", rows).imported();
    for says in [
        "1 post with a key twice",
        "1 post with a score that is no number",
        "1 post with a time that says no day",
    ] {
        assert!(run.err.contains(says), "{says}: {}", run.err);
    }
}
