//! Posts that promise something that is not there.
//!
//! What: a short text that ends or begins with `如图`, `看图`, `见图`, and a text that says that the story begins
//! on another floor (`2楼开始`).
//!
//! Why: the image is gone and the other floor is another record; the joke was there.
//!
//! Known problems: a text that reads whole without its image keeps `(图)` at its end and passes.

use std::sync::LazyLock;

use regex::Regex;

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
/// ```
/// # use riddlemill_text::text::filter::promise::find;
/// assert_eq!(find("我家的云长这样，如图").as_deref(), Some("如图"));
/// assert_eq!(find("画家说他的心情如图所示"), None);
/// ```
pub fn find(text: &str) -> Option<String> {
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
    use super::find;

    #[test]
    fn promises_are_found() {
        assert!(super::IMAGE.is_some() && super::FLOOR.is_some());
        for text in
            ["这是什么云？看图", "如图，云掉下来了", "我要讲一个云的故事，2楼开始", "不多说了，二楼开讲！"]
        {
            assert!(find(text).is_some(), "{text}");
        }
    }

    #[test]
    fn whole_texts_pass() {
        for text in
            ["老虎逃出动物园买票(图)", "我从二楼跳到楼下开始后悔", "为什么图书馆不卖图片", "孔子宏图大展"]
        {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
