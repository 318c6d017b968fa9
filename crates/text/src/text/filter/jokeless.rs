//! Posts without a joke of their own: they manage the forum, or promise something that is not there.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::text::openings::WordOpenings;

/// Words of forum management. A post with three different ones is management.
const WORDS: [&str; 25] = [
    "吧主",
    "吧务",
    "吧规",
    "小吧",
    "发帖",
    "发贴",
    "删帖",
    "删贴",
    "封号",
    "封禁",
    "加精",
    "精品",
    "置顶",
    "申精",
    "水贴",
    "水帖",
    "违规",
    "评委",
    "评选",
    "征稿",
    "截稿",
    "入围",
    "报名",
    "传送门",
    "贴吧管理",
];

/// A decisive phrase contains at least one of these or of [`WORDS`].
const LEADS: [&str; 10] =
    ["公告", "活动", "年度", "必看", "必读", "投诉楼", "汇总", "目录", "神回复", "佳贴"];

static FINDER: LazyLock<Option<(WordOpenings, AhoCorasick)>> = LazyLock::new(|| {
    let patterns = || WORDS.iter().chain(&LEADS);
    Some((WordOpenings::new(patterns().copied()), AhoCorasick::new(patterns()).ok()?))
});

static DECISIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?: 发[帖贴]前? | 阅读前 | 新人 | 入吧 ) 必[看读]
        | \A \s* [【\[{（(] [^】\]})）\n]{0,6} (?: 公告 | 活动 | 吧规 | 吧务 | 置顶 ) [^】\]})）\n]{0,4} [】\]})）]
        | 年度? \s* (?: 总结 [:：] )? [^\n]{0,12} \d+ \s* (?: 佳[贴帖] | 精选 | 大段子 )
        | 年度总结 [:：] [^\n]{0,20} (?: 佳[贴帖] | 精选 | 合集 )
        | (?: 误删 | 申诉 | 举报 ) (?: 投诉 )? 楼
        | (?: 吧务 | 小吧主? | 吧主 ) (?: 团队 )? (?: 招募 | 招聘 | 竞选 | 报名 | 考核 | 任免 | 公示 )
        | (?: 招募 | 招聘 | 竞选 ) [^\n，。]{0,4} (?: 吧务 | 小吧主 | 吧主 )
        | 对 [^\n，。]{0,4} 吧务 [^\n，。]{0,2} 工作
        | (?: 作品 | 名单 | 入围 ) [^\n，。]{0,4} 公示
        | (?: 原创 | 精[品华] (?: [贴帖] )? | 历年 ) (?: 汇总 | 目录 | 合集 | 索引 )
        | 神回复第 .{1,3} 期
        | 传送门 \s* [:：]? \s* https?://
        ",
    )
    .ok()
});

/// The phrase or the words that mark a post as management, or `None`.
///
/// Posts that manage the forum instead of joking in it.
///
/// What: rules and notices of the moderators, recruiting, events and their results, complaint threads,
/// yearly lists, pointers to other threads.
///
/// Why: they are long, they are pinned and recommended, and no reader of a benchmark knows the forum.
///
/// How: one decisive phrase is enough (`发帖必看`, `年度…佳贴`, `传送门：http`); of the words that jokes use too (`加精`,
/// `吧主`, `置顶`) it takes three different ones.
///
/// Known problems: jokes in the form of a notice (`通知：等通知`) pass, and so do notices without any of the
/// phrases.
///
/// ```
/// # use riddlemill_text::text::filter::jokeless::find_management;
/// assert_eq!(find_management("【发帖必看】本吧吧规第三版").as_deref(), Some("发帖必看"));
/// assert_eq!(find_management("如果给云加精，它会不会下雨"), None);
/// ```
pub fn find_management(text: &str) -> Option<String> {
    let (openings, finder) = FINDER.as_ref()?;
    if !openings.may_match(text.chars()) {
        return None;
    }
    let mut seen = 0_u64;
    // No word contains another, so a search without overlaps finds them all.
    for found in finder.find_iter(text) {
        seen |= 1 << found.pattern().as_usize();
    }
    if seen == 0 {
        return None;
    }
    if let Some(found) = DECISIVE.as_ref()?.find(text) {
        return Some(found.as_str().trim().to_owned());
    }
    let found_words: Vec<&str> =
        WORDS.iter().enumerate().filter(|(i, _)| seen & (1 << i) != 0).map(|(_, word)| *word).collect();
    (found_words.len() >= 3).then(|| found_words.join(", "))
}

/// A text of more bytes (40 Chinese characters) is understood without its image.
const SHORT: usize = 120;

static IMAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?: \A | [\s，。,.！!？?；;：:～~（(【\[] )
        (?: 如图 | 如下图 | 看图 | 见图 | 上图 | 请?看下?图片? | 有图有真相 | 图在[一二三12３]楼 ) [一二三\d]?
        [\s，。,.！!？?；;：:～~…）)】\]]* \z
        | \A (?: 如图 | 如下图 | 见图 ) [\s，,：:]
        ",
    )
    .ok()
});

static FLOOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?: [二2２] \s* 楼 | 楼下 ) \s* (?: 正式 )? (?: 开发 | 开始 | 开写 | 放图 | 上图 | 更新 | 继续 | 开讲 )
        [\s，。,.！!～~…]* \z
        ",
    )
    .ok()
});

/// The promise, or `None`.
///
/// Posts that promise something that is not there.
///
/// What: a short text that ends or begins with `如图`, `看图`, `见图`, and a text that says that the story begins
/// on another floor (`2楼开始`).
///
/// Why: the image is gone and the other floor is another record; the joke was there.
///
/// Known problems: a text that reads whole without its image keeps `(图)` at its end and passes.
///
/// ```
/// # use riddlemill_text::text::filter::jokeless::find_promise;
/// assert_eq!(find_promise("我家的云长这样，如图").as_deref(), Some("如图"));
/// assert_eq!(find_promise("画家说他的心情如图所示"), None);
/// ```
pub fn find_promise(text: &str) -> Option<String> {
    let found = if text.contains('图') && text.len() <= SHORT {
        IMAGE.as_ref()?.find(text)
    } else if text.contains('楼') {
        FLOOR.as_ref()?.find(text)
    } else {
        None
    };
    found.map(|found| found.as_str().trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{find_management, find_promise};

    #[test]
    fn notices_are_found() {
        assert!(super::DECISIVE.is_some());
        for text in [
            "年度总结：本吧1999年年度12佳贴",
            "【活动公告】关于举办吃西瓜大赛的通知",
            "误删投诉楼。",
            "本吧神回复第九期",
            "去年传送门：http://example.com/p/1",
            "以前的原创汇总",
            "请对目前吧务的工作作出评价！",
            "本吧竞选小吧主的同学在这里",
            "违规的人会被封号，吧务说了算",
            "{活动}我最喜欢的云朵投票",
        ] {
            assert!(find_management(text).is_some(), "{text}");
        }
    }

    #[test]
    fn jokes_about_the_forum_pass() {
        for text in [
            "通知：等通知",
            "吧主给我加精，我怀孕了",
            "医院送来病危通知书却收快递费",
            "被评为年度最佳睡眠奖的是一只枕头",
            "商场做活动，跑步机也跟着做活动",
            "评委把自己投给了选手",
            "王老汉报名参加不参加大会",
        ] {
            assert_eq!(find_management(text), None, "{text}");
        }
    }

    #[test]
    fn promises_are_found() {
        assert!(super::IMAGE.is_some() && super::FLOOR.is_some());
        for text in
            ["这是什么云？看图", "如图，云掉下来了", "我要讲一个云的故事，2楼开始", "不多说了，二楼开讲！"]
        {
            assert!(find_promise(text).is_some(), "{text}");
        }
    }

    #[test]
    fn whole_texts_pass() {
        for text in
            ["老虎逃出动物园买票(图)", "我从二楼跳到楼下开始后悔", "为什么图书馆不卖图片", "孔子宏图大展"]
        {
            assert_eq!(find_promise(text), None, "{text}");
        }
    }
}
