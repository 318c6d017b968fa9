//! Parsers on pages with real structure and invented text.

use super::tieba::{parse_comments, parse_list, parse_thread};
use super::*;

macro_rules! page {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/fixtures/pages/", $name))
    };
}

const CAPTURED: Option<&str> = Some("2024-03-06T02:00:00Z");
const THREAD: &str = "https://tieba.baidu.com/p/7700000001";
const LIST: &str = "https://tieba.baidu.com/f?kw=x";

fn tids(posts: &[Post]) -> Vec<u64> {
    posts.iter().filter_map(|post| post.tid).collect()
}

#[test]
fn a_list_inside_a_comment_is_read_without_its_decoys() {
    let found = parse_list(page!("list-2024.html"), CAPTURED).unwrap();
    assert_eq!(tids(&found.threads), [8800000001, 8900000002, 8900000003, 8900000004]);
    assert!(found.next.unwrap().starts_with("//tieba.baidu.com/f?kw="));

    let pinned = &found.threads[0];
    assert!(pinned.pinned && pinned.text.is_none());
    assert_eq!(pinned.title.as_deref(), Some("发帖前请先看这里：怎样提一个好的问题"));
    assert_eq!(pinned.author.as_deref(), Some("吧主甲"));
    assert_eq!((pinned.author_id, pinned.replies), (Some(1001), Some(321)));
    assert_eq!(pinned.time.as_deref(), Some("2021-07"));

    let good = &found.threads[1];
    assert!(good.good && !good.pinned);
    assert_eq!(good.title.as_deref(), Some("闹钟响之前就醒了，那闹钟算不算白干了一晚上班"));
    assert_eq!(good.text.as_deref(), Some("它明明一分钟都没有响过"));
    assert_eq!((good.pid, good.time.as_deref()), (Some(149000000002), Some("2024-03-06T21:07+08:00")));

    let tagged = &found.threads[2];
    assert_eq!(tagged.title.as_deref(), Some("<左脚先进电梯>算不算插队"));
    assert_eq!(tagged.text.as_deref(), Some("毕竟右脚还在后面排着"));
    assert_eq!((tagged.replies, tagged.time.as_deref()), (Some(7), Some("2024-03-05")));
    assert_eq!(tagged.images, ["http://pic.example.invalid/a-big.jpg"]);

    assert_eq!(found.threads[3].text.as_deref(), Some(""));
}

#[test]
fn the_older_list_is_read_too() {
    let found = parse_list(page!("list-2020.html"), None).unwrap();
    assert_eq!(tids(&found.threads), [6000000001, 6000000002, 6000000003]);
    assert!(found.threads[0].pinned);
    assert_eq!(found.threads[2].text.as_deref(), Some("我问了，它只吐泡泡"));
    let last = parse_list(page!("list-2020-p2.html"), None).unwrap();
    assert_eq!((tids(&last.threads), last.next), (vec![6000000001, 6000000003, 6000000004], None));
}

#[test]
fn floors_keep_gaps_text_and_pictures_and_nothing_hidden() {
    let found = parse_thread(page!("thread-p1.html")).unwrap();
    assert_eq!(
        (found.tid, found.fid, found.pages, found.replies),
        (Some(7700000001), Some(55001), Some(3), Some(64))
    );
    assert_eq!(found.title.as_deref(), Some("闹钟为什么从来不迟到"));
    assert_eq!(found.forum.as_deref(), Some("脑筋打结吧"));
    assert_eq!(found.page, Some(1));
    let floors: Vec<Option<u32>> = found.floors.iter().map(|post| post.floor).collect();
    assert_eq!(floors, [1, 3, 4, 6, 7].map(Some));
    let texts: Vec<&str> = found.floors.iter().map(|post| post.text.as_deref().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "它每天六点准时上班\n可是没有人给它发工资\n\n  这合理吗？",
            "因为它睡在床头",
            "",
            "图里的闹钟迟到过 <真的> 1 < 2",
            "前半句后半句"
        ]
    );
    assert_eq!(found.floors[3].images, ["http://pic.example.invalid/clock.jpg"]);
    assert!(found.floors[2].images.is_empty());
    let first = &found.floors[0];
    assert_eq!((first.author.as_deref(), first.author_id), (Some("甲甲"), Some(2001)));
    assert_eq!(first.time_raw.as_deref(), Some("2023-03-02 12:31"));
    assert_eq!(first.time.as_deref(), Some("2023-03-02T12:31+08:00"));
    assert_eq!(found.floors[1].replies, Some(12));
}

#[test]
fn personal_data_beside_a_post_is_not_read() {
    for posts in [
        parse_thread(page!("thread-p1.html")).unwrap().floors,
        parse_list(page!("list-2024.html"), CAPTURED).unwrap().threads,
        parse_comments(page!("comment-1.html")).unwrap().posts,
        parse_comments(page!("total-comment.json")).unwrap().posts,
    ] {
        let rows = serde_json::to_string(&posts).unwrap();
        for secret in ["火星", "IP属地", "tb.1.", "手机客户端", "portrait", "himg"] {
            assert!(!rows.contains(secret), "{secret}");
        }
    }
}

#[test]
fn the_old_generation_in_gbk_is_read() {
    let bytes = include_bytes!("../../../../tests/fixtures/pages/thread-old.html");
    let text = charset::decode_page(bytes, None, &Site::Tieba);
    assert_eq!(text.encoding, "gb18030");
    let found = parse_thread(&text.text).unwrap();
    assert_eq!((found.tid, found.fid, found.pages), (Some(1600000001), Some(42), Some(1)));
    assert_eq!(found.title.as_deref(), Some("蜗牛搬家要不要请搬家公司"));
    let first = &found.floors[0];
    assert_eq!((first.pid, first.tid, first.floor), (Some(21000000001), Some(1600000001), Some(1)));
    assert_eq!(first.time.as_deref(), Some("2012-06-03T09:05+08:00"));
    assert_eq!(first.text.as_deref(), Some("它把房子背在身上，是不是怕涨价"));
}

#[test]
fn nested_replies_are_read_from_json_and_from_both_kinds_of_html() {
    let total = parse_comments(page!("total-comment.json")).unwrap();
    assert_eq!(total.floors, [(1490003, 12, 10), (1490006, 1, 1)]);
    let reply = total.posts.last().unwrap();
    assert_eq!(reply.text.as_deref(), Some("回复 @乙乙 :表针是画上去的"));
    assert_eq!((reply.parent_pid, reply.pid, reply.tid), (Some(1490006), Some(15900050), Some(7700000001)));
    assert_eq!(reply.time.as_deref(), Some("2023-03-05T15:08:20+08:00"));
    assert!(reply.images.is_empty());
    let none = parse_comments(page!("total-comment-empty.json")).unwrap();
    assert!(none.recognised && none.posts.is_empty());

    let first = parse_comments(page!("comment-1.html")).unwrap();
    assert_eq!((first.posts.len(), first.total, first.pages), (10, Some(12), Some(2)));
    assert_eq!(first.posts[0].text.as_deref(), Some("第1条：床头也会迟到"));
    assert_eq!(first.posts[0].time.as_deref(), Some("2023-03-05T15:01+08:00"));
    let second = parse_comments(page!("comment-2.html")).unwrap();
    assert_eq!((second.posts.len(), second.pages), (2, Some(2)));
    assert_eq!(second.posts[0].author.as_deref(), Some("it's u11"));
    assert!(parse_comments(r#"{"errno": 110003}"#).is_err());
}

#[test]
fn pages_are_classified_by_address_title_and_structure() {
    let deep = "<div>".repeat(100_000);
    let cases: &[(&str, u16, &str, Class)] = &[
        (THREAD, 200, page!("thread-p1.html"), Class::Ok),
        (THREAD, 200, page!("thread-p2.html"), Class::Empty),
        (THREAD, 200, page!("thread-quoting.html"), Class::Ok),
        (LIST, 200, page!("list-2024.html"), Class::Ok),
        (THREAD, 200, page!("block-challenge.html"), Class::Blocked),
        (THREAD, 403, page!("block-challenge.html"), Class::Blocked),
        (THREAD, 403, "<form action=/Captcha/check><input name=code></form>", Class::Blocked),
        (THREAD, 403, "<title>Just a moment...</title><p>x", Class::Blocked),
        (THREAD, 429, "", Class::Blocked),
        (THREAD, 403, "", Class::Forbidden),
        (THREAD, 401, "<h1>members only</h1>", Class::Forbidden),
        (THREAD, 403, "<p>this board forbids every captcha</p>", Class::Forbidden),
        ("https://wappass.baidu.com/static/captcha/tuxing.html?ak=x", 302, "", Class::Blocked),
        (
            "https://wappass.baidu.com/static/captcha/tuxing.html?ak=x",
            200,
            page!("thread-p1.html"),
            Class::Blocked,
        ),
        (LIST, 200, page!("shell.html"), Class::Shell),
        (THREAD, 200, page!("shell.html"), Class::Shell),
        (THREAD, 200, page!("gone-deleted.html"), Class::Deleted),
        (THREAD, 404, page!("gone-deleted.html"), Class::Deleted),
        (THREAD, 200, page!("gone-system.html"), Class::Deleted),
        (THREAD, 404, page!("gone-hidden.html"), Class::Hidden),
        (THREAD, 200, page!("gone-hidden.html"), Class::Hidden),
        (THREAD, 200, page!("gone-merged.html"), Class::Merged),
        (THREAD, 404, page!("gone-merged.html"), Class::Merged),
        (THREAD, 502, "<h1>bad gateway</h1>", Class::Unparsed),
        (THREAD, 200, &deep, Class::Unparsed),
        (THREAD, 200, "", Class::Unparsed),
        (
            "https://tieba.baidu.com/p/totalComment?tid=7700000001&fid=1",
            200,
            page!("total-comment.json"),
            Class::Ok,
        ),
        (
            "https://tieba.baidu.com/p/totalComment?tid=7700000001&fid=1",
            200,
            page!("total-comment-empty.json"),
            Class::Empty,
        ),
        ("https://tieba.baidu.com/p/totalComment?tid=7700000001&fid=1", 200, "{", Class::Unparsed),
        ("https://tieba.baidu.com/p/comment?tid=1&pid=2", 200, page!("comment-1.html"), Class::Ok),
    ];
    for (url, status, body, want) in cases {
        let start: String = body.chars().take(60).collect();
        assert_eq!(classify_page(&Site::Tieba, url, *status, body), *want, "{url} {status} {start}");
    }
}

#[test]
fn a_blocked_page_yields_no_rows_whatever_it_holds() {
    for (status, class) in [(403, Class::Forbidden), (429, Class::Blocked)] {
        let parsed = parse_page(&Site::Tieba, THREAD, status, page!("thread-p1.html"), None);
        assert_eq!((parsed.class, parsed.posts.len()), (class, 0));
    }
}
