//! The words of a release's table, of its card and of two versions side by side: key, English, Chinese.

/// What only these pages say.
pub(super) const WORDS: &[(&str, &str, &str)] = &[
    ("rows_found", "{} of {} rows", "{} / {} 行"),
    ("more_values", "{} more values", "另有 {} 个值"),
    ("without_filter", "without this filter", "取消此筛选"),
    ("found_in", "found in {}", "见于 {}"),
    (
        "no_columns",
        "No column here is called {}: nothing was filtered or sorted by it.",
        "此处没有名为 {} 的列，未据此筛选或排序。",
    ),
    ("download_as", "Download {}", "下载 {}"),
    ("download_found", "Download these rows:", "下载这些行："),
    ("share_view", "Link to this view", "此视图的链接"),
    ("card_contents", "Contents", "目录"),
    ("diff_nothing", "Nothing differs: the same rows with the same values.", "没有差异：行与值都相同。"),
    ("diff_left", "Removed, and why: {}", "移除及原因：{} 行"),
    ("diff_came", "Added: {}", "新增：{} 行"),
    ("diff_changed", "Changed, side by side: {}", "改动对照：{} 行"),
    ("diff_unknown", "The stages as they are now do not say why.", "现在的各阶段没有给出原因。"),
    ("diff_see", "See its record for why.", "原因见其记录。"),
    ("diff_column_added", "is a new column", "是新增的列"),
    ("diff_column_removed", "is no longer a column", "这一列已取消"),
];
