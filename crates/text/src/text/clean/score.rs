//! The score at the end of a post of an annual thread.
//!
//! What: `评分：3.68` at the end is removed from the text and becomes a number.
//!
//! Why: the judges' mean is a property of the joke and worth a column; in the text it would make two copies
//! of the joke differ.
//!
//! Known problems: only `评分` and `得分` are known.

/// The text before the score, and the score; `None` if there is no score at the end.
///
/// ```
/// # use riddlemill_text::text::clean::score::split;
/// assert_eq!(split("雨伞怕雨吗？\n评分：3.68"), Some(("雨伞怕雨吗？", 3.68)));
/// assert_eq!(split("老师给我的评分：不及格"), None);
/// ```
pub fn split(text: &str) -> Option<(&str, f64)> {
    let end = text.trim_end();
    let end = end.strip_suffix('分').unwrap_or(end);
    let head = end.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let value = &end[head.len()..];
    if value.is_empty() || value.len() > 6 || value.starts_with('.') || value.ends_with('.') {
        return None;
    }
    let head = head.trim_end();
    let head = head.strip_suffix(['：', ':']).unwrap_or(head).trim_end();
    let text = head.strip_suffix("评分").or_else(|| head.strip_suffix("得分"))?;
    Some((text.trim_end(), value.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn takes_glued_scores_and_leaves_prices() {
        assert_eq!(split("他问道。评分：3.9"), Some(("他问道。", 3.9)));
        assert_eq!(split("他问道。评分:4分"), Some(("他问道。", 4.0)));
        for text in ["一共3.68", "评分：3..", "评分：", "", "3.68", "我考了 3.68 分"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
