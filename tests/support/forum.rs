//! A whole forum of a few pages.

use super::{Asked, Reply};

/// 2 list pages, 100 threads of 2 pages, 98 pages of nested replies: 300.
pub fn forum_page(asked: &Asked) -> Reply {
    let url = url::Url::parse(&format!("http://x{}", asked.path)).unwrap();
    let number =
        |name: &str| url.query_pairs().find(|(k, _)| k == name).and_then(|(_, v)| v.parse::<u64>().ok());
    let pn = number("pn");
    if url.path() == "/f" {
        let from = pn.unwrap_or(0);
        let row = |n: u64| {
            format!(
                "<li class=\"j_thread_list\" data-field='{{&quot;id&quot;:{0},&quot;reply_num&quot;:2}}'><a class=j_th_tit href=/p/{0} title=第{0}问>x</a><div class=threadlist_abs>正文{0}</div></li>",
                5000 + n
            )
        };
        let rows: String = (from..from + 50).map(row).collect();
        let next = if from == 0 {
            "<a class='next pagination-item' href='/f?kw=x&ie=utf-8&pn=50'>n</a>"
        } else {
            ""
        };
        return Reply::html(format!("<ul id=thread_list>{rows}</ul>{next}"));
    }
    if url.path() == "/p/totalComment" {
        let tid = number("tid").unwrap();
        return Reply::html(format!(
            r#"{{"errno":0,"data":{{"comment_list":{{"{0}":{{"comment_num":1,"comment_info":[{{"thread_id":{tid},"comment_id":{1},"content":"回{tid}","now_time":1700000000}}]}}}}}}}}"#,
            tid * 100,
            tid * 100 + 50
        ));
    }
    let tid: u64 = url.path().strip_prefix("/p/").unwrap().parse().unwrap();
    let page = pn.unwrap_or(1);
    let replies = u64::from(page == 1 && tid >= 5002);
    let post = |n: u64| {
        let pid = tid * 100 + (page - 1) * 2 + n;
        let field = format!(
            "{{&quot;content&quot;:{{&quot;post_id&quot;:{pid},&quot;post_no&quot;:{n},&quot;thread_id&quot;:{tid},&quot;forum_id&quot;:7,&quot;comment_num&quot;:{0}}}}}",
            if n == 0 { replies } else { 0 }
        );
        format!(
            "<div class=l_post data-field=\"{field}\"><div id=post_content_{pid} class=d_post_content>第{pid}句</div></div>"
        )
    };
    Reply::html(format!(
        "<h3 class=core_title_txt title=题{tid}></h3><input max-page=2>{}{}",
        post(0),
        post(1)
    ))
}
