//! Content that was written only because the forum demands some.
//!
//! What: punctuation, symbols or emoji alone; one letter or digit (`J`, `6`); an emoticon (`o_O`, `T.T`);
//! `如题`, `RT` and the like; a bare claim of the first floor (`一楼`, `占楼`); what a program says in the place of something that is
//! gone (`[deleted by user]`, `该内容已被删除`, `<Media omitted>`). Links, images and client signatures
//! have been removed before this rule.
//!
//! Why: a third of the threads have such content; joined to the title it would spoil the text.
//!
//! Known problems: one Chinese character counts as content only after a title that fills the forum's field,
//! where it may be the sentence's last; an interjection meant seriously (`哼`) after a short title is lost.

use std::sync::LazyLock;

use regex::Regex;

use super::title;
use crate::text::is_letter;

/// Words that mean "read the title", compared after folding case and dropping non-letters.
const SEE_TITLE: [&str; 41] = [
    "如题",
    "题如",
    "如題",
    "如我题",
    "如标题",
    "见标题",
    "同标题",
    "看标题",
    "如题如题",
    "题目",
    "标题",
    "同题",
    "rt",
    "rtrt",
    "如题所示",
    "如题目",
    "内容同标题",
    "内容如题",
    "标题党",
    "正如标题",
    "就是标题",
    "如题啊",
    "title",
    "thetitle",
    "seetitle",
    "seethetitle",
    "seesubject",
    "readthetitle",
    "astitle",
    "asthetitlesays",
    "astitlesays",
    "whatthetitlesays",
    "titlesaysitall",
    "thetitlesaysitall",
    "nocontent",
    "notext",
    "无内容",
    "無內容",
    "内容为空",
    "无正文",
    "見標題",
];

/// Titles of those who were asked for one, compared likewise.
const NO_TITLE: [&str; 8] = ["如题", "如題", "无标题", "無標題", "标题", "rt", "untitled", "notitle"];

/// What programs put in the place of something that is not there, compared likewise.
const STANDINS: [&str; 12] = [
    "转发微博",
    "轉發微博",
    "分享图片",
    "分享視頻",
    "分享视频",
    "deleted",
    "removed",
    "deletedbyuser",
    "removedbyreddit",
    "removedbymoderator",
    "messagedeleted",
    "thismessagewasdeleted",
];

/// What programs say of what was deleted, hidden or left out, in letters alone. A sentence that goes on is somebody's own.
static NOTICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        ^ (?: 抱歉 | 很抱歉 | 对不起 | 提示 )? (?: 您访问的 | 您查看的 )?
          (?: 该 | 此 | 本 | 这 | 這 | 該 )? 条? (?: 内容 | 內容 | [帖贴]子? | 楼层? | 樓層 | 微博 | 评论 | 評論 | 回复 | 回覆 | 主题 | 主題 | 消息 | 文章 | 视频 | 图片 | 动态 | 回答 | 问题 )
          (?: 疑似 | 因 | 涉嫌 )? (?: 违规 | 違規 | 违反.{2,12} )? 已? 经? (?: 被 | 由 )? (?: 系统 | 系統 | 作者 | 楼主 | 发布者 | 原作者 | 管理员 | 吧务 | 版主 | 本人 | 用户 )?
          (?: 自行 )? (?: 删除 | 刪除 | 屏蔽 | 折叠 | 摺疊 | 隐藏 | 隱藏 | 移除 | 撤回 )
          (?: 了 )? (?: 隐藏此楼 | 查看此楼 | 查看帮助 | 网页链接 | 展开 )* $
        | ^ (?: sorry )? (?: this | the | your )? (?: post | comment | thread | message | content | tweet | submission | reply | answer )
          (?: has | was | is )? (?: been )? (?: removed | deleted | hidden | withdrawn )
          (?: by (?: the | a | its | an )? (?: original )? (?: moderators? | mods? | moderation | moderatorteam | users? | authors? | admins? | administrators? | reddit | owner | poster | system ) )? $
        | ^ (?: media | image | video | audio | sticker | gif | document | photo | contactcard ) omitted $",
    )
    .ok()
});

/// Whether letters, folded, are a program's and nobody's.
fn is_standin(bare: &str) -> bool {
    STANDINS.contains(&bare) || NOTICE.as_ref().is_some_and(|notice| notice.is_match(bare))
}

/// The letters of a text, folded.
fn bare_letters(text: &str) -> String {
    text.chars().filter(|c| is_letter(*c)).flat_map(char::to_lowercase).collect()
}

/// Most bytes of a placeholder with decoration.
const LONGEST: usize = 120;

/// Words that only claim a floor.
const CLAIM: [&str; 16] = [
    "一楼",
    "1楼",
    "1l",
    "占楼",
    "占坑",
    "镇楼",
    "度娘",
    "一楼度娘",
    "一楼喂度娘",
    "一楼给度娘",
    "喂度娘",
    "防吞",
    "凑字数",
    "内容不能为空",
    "字数",
    "水贴专用",
];

/// Interjections that fill the field if they are the whole content.
const FILLERS: &str = "啊哦嗯呃额噢喔呀哎诶欸顶";

/// Whether content says nothing beyond the title above it (`""` if there is none).
///
/// ```
/// # use riddlemill_text::text::clean::placeholder::is_placeholder;
/// for content in ["。", "⊙.⊙", "J", "RT", "如题", "o_O", "－ －", "😂😂"] {
///     assert!(is_placeholder("云会恐高吗？", content), "{content}");
/// }
/// assert!(!is_placeholder("云会恐高吗？", "不会"));
/// ```
pub fn is_placeholder(title: &str, content: &str) -> bool {
    // Longer than any listed word with decoration: compare letters only.
    let mut letters = content.chars().filter(|c| is_letter(*c));
    let Some(first) = letters.next() else { return true };
    let Some(second) = letters.next() else { return is_lone_placeholder(title, first) };
    if content.len() > LONGEST {
        return false;
    }
    let bare = bare_letters(content);
    if SEE_TITLE.contains(&bare.as_str()) || CLAIM.contains(&bare.as_str()) || is_standin(&bare) {
        return true;
    }
    letters.next().is_none() && is_emoticon(content, first, second)
}

fn is_lone_placeholder(title: &str, letter: char) -> bool {
    // After an equals sign a single character is the result.
    if title.ends_with(['=', '＝']) {
        return false;
    }
    let han = ('\u{3400}'..='\u{9fff}').contains(&letter);
    !han || FILLERS.contains(letter) || title.contains(letter) || !title::fills_field(title)
}

/// Two equal eyes around a mouth: `o_O`, `T.T`, `0.0`.
fn is_emoticon(content: &str, left: char, right: char) -> bool {
    let inner = content.trim();
    let eyes = "oO0tTqQxXuUvVmM口〇〒";
    let mut between = inner.chars().skip(1);
    inner.starts_with(left)
        && inner.ends_with(right)
        && eyes.contains(left)
        && left.eq_ignore_ascii_case(&right)
        && between.next().is_some_and(|mouth| !mouth.is_alphanumeric() && !mouth.is_whitespace())
}

/// Whether a title says nothing (`...`, `无标题`, `[deleted by user]`), so that the content alone is the text. Remarks of the poster on the
/// post (`（重发）`, `[转帖]`) are kept, as inside a title or at the end of a content: they are not debris of the
/// forum.
///
/// ```
/// # use riddlemill_text::text::clean::placeholder::is_empty_title;
/// assert!(is_empty_title("..."));
/// assert!(!is_empty_title("（重发）") && !is_empty_title("日记"));
/// ```
pub fn is_empty_title(title: &str) -> bool {
    if title.len() > LONGEST {
        return false;
    }
    let bare = bare_letters(title);
    bare.is_empty() || NO_TITLE.contains(&bare.as_str()) || is_standin(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_placeholders() {
        for content in [
            ".",
            "。",
            "．",
            "J",
            "，",
            "…",
            "……",
            "RT",
            "！",
            "·",
            "如题",
            "题如",
            "－－",
            "o_O",
            "？？？？",
            ":",
            "6",
            "1",
            "`啊",
            "T_T",
            "0.0",
            "(*^ 3^*)",
            "如题。",
            "一楼",
            "[1]",
            "￣▽￣",
            "♥",
        ] {
            assert!(is_placeholder("太阳会不会中暑", content), "{content}");
        }
    }

    #[test]
    fn what_programs_say_is_no_content() {
        for content in [
            "[deleted by user]",
            "[removed]",
            "该内容已被删除",
            "此帖已被屏蔽",
            "该楼层疑似违规已被系统折叠",
            "该楼层疑似违规已被系统折叠 隐藏此楼查看此楼",
            "抱歉，此微博已被作者删除。查看帮助：网页链接",
            "This post has been removed by the moderators",
            "<Media omitted>",
            "转发微博",
            "分享图片",
            "内容为空",
            "(无内容)",
            "see title",
            "title",
            "As the title says",
        ] {
            assert!(is_placeholder("太阳会不会中暑", content), "{content}");
        }
        for content in [
            "该内容已被删除，那我看到的是什么",
            "这帖子已被删除了吗",
            "楼主已被删除，明天上班的是谁",
            "This post has been removed by the postman",
            "分享图片给盲人看",
            "The title says it all wrong",
        ] {
            assert!(!is_placeholder("太阳会不会中暑", content), "{content}");
        }
        for title in ["如题", "无标题", "[deleted by user]", "Untitled"] {
            assert!(is_empty_title(title), "{title}");
        }
        assert!(!is_empty_title("如题目所说") && !is_empty_title("无标题党"));
    }

    #[test]
    fn short_answers_are_content() {
        for content in ["怎么办", "tmd", "谢谢", "是益虫", "好爽", "ok", "3.5", "42", "啊？什么", "同意？"]
        {
            assert!(!is_placeholder("太阳会不会中暑", content), "{content}");
        }
        let full = "我把太阳借给月亮用了一个晚上结果第二天早上它说什么也不肯回家";
        assert!(!is_placeholder(full, "去"), "the last character of a cut sentence");
        assert!(!is_placeholder("一加一=", "3"));
    }
}
