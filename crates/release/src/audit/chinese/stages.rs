//! Chinese words for what the code names in English: stages and steps, charts and tables, the rules that distinguish questions
//! from statements, and, as the folder of the benchmark names them, the categories in charts.

use riddlemill_benchmarks::ballot::Choice;
use riddlemill_benchmarks::{Benchmark, Derived};

use super::{stage_names, translate_text};

/// Names of stages.
pub(super) const STAGES: &[(&str, &str, &str)] = &[
    ("import", "Import", "导入"),
    ("clean", "Clean", "清洗"),
    ("anonymise", "Anonymise", "匿名化"),
    ("filter", "Filter", "筛选"),
    ("embeddings", "Embeddings", "向量"),
    ("same_joke", "Same joke", "是否同一笑话"),
    ("dedup", "Dedup", "去重"),
    ("[data] when", "What the set takes", "收录条件"),
    ("[data] requires", "What the set requires", "收录要求"),
    ("screen", "Screening", "初筛"),
    ("suitability", "Suitability", "适宜性"),
    ("translate", "Translate", "翻译"),
    ("translation", "Translation", "译文"),
    ("irrationality", "Irrationality", "不合理之处"),
    ("category", "Category", "类别"),
    ("pair", "Normal pair", "正常问题"),
    ("respond", "Answers", "模型作答"),
    ("judge", "Judges", "评分"),
    ("final", "Final look", "终审"),
    ("options", "Options", "选项"),
    ("type", "Type", "类型"),
    ("explanation", "Explanation", "解释"),
    ("wrong", "Wrong answers", "错误答案"),
    ("wrong-candidates", "Wrong answers, written", "错误答案撰写"),
    ("opponents", "Models' explanations", "模型解释"),
    ("preference", "Preference", "偏好"),
    ("errors", "Errors", "错误类型"),
    ("strip", "Strip", "提取"),
    ("text", "Text", "文本"),
    ("spelling", "Spelling", "拼写"),
    ("kind", "Kind", "种类"),
    ("premises", "Premises", "前提"),
    ("from-files", "Premises from files", "文件中的前提"),
    ("word-neighbours", "Neighbours", "相近词"),
    ("distractors", "Distractors", "干扰项"),
    ("again", "Distractors, again", "干扰项（重拟）"),
    ("semantic", "Semantic variant", "语义变体"),
    ("context", "Context variant", "情境变体"),
    ("context-word-neighbours", "Neighbours in context", "情境相近词"),
    ("context-distractors", "Distractors in context", "情境干扰项"),
    ("context-again", "Distractors in context, again", "情境干扰项（重拟）"),
    ("validity", "Validity", "有效性"),
    ("group", "Groups", "分组"),
    ("topic", "Topic", "主题"),
];

/// The Chinese of a title, an axis, a series or the name of a row; `None` if there is none.
pub fn chart_word(text: &str) -> Option<String> {
    translate_text(WORDS, text).or_else(|| stage_name(text))
}

/// The Chinese of a text of a figure that a benchmark's folder has in both languages.
pub fn translate_declared(text: &str) -> Option<String> {
    static WORDS: Derived<Vec<(&str, &str)>> = Derived::new(|| {
        let figures = |of: &'static Benchmark| of.evaluation.iter().chain(&of.report.figures);
        let all = riddlemill_benchmarks::all_benchmarks().iter().flat_map(figures);
        all.flat_map(|figure| figure.words.iter().copied()).collect()
    });
    translate_text(&WORDS, text)
}

/// The Chinese of a text of a benchmark's figure: a title behind the set's name, a heading, an axis, the name of a row.
pub fn translate_figure(text: &str) -> Option<String> {
    let alone = |text: &str| {
        chart_word(text).or_else(|| translate_declared(text)).or_else(|| translate_category("", text))
    };
    // One of several tables of a figure says which.
    let titled = |title: &str| match title.strip_suffix(')').and_then(|title| title.rsplit_once(" (")) {
        Some((title, which)) => Some(format!("{}（{}）", alone(title)?, alone(which)?)),
        None => alone(title),
    };
    alone(text).or_else(|| {
        let (set, title) = text.split_once(": ")?;
        Some(format!("{set}：{}", titled(title)?))
    })
}

/// A stage, or the step of its review.
fn stage_name(text: &str) -> Option<String> {
    let (prefix, name) = text.strip_prefix("review:").map_or(("", text), |name| ("评审：", name));
    stage_names(name).map(|(_, zh)| format!("{prefix}{zh}"))
}

const WORDS: &[(&str, &str)] = &[
    ("{}: records after each stage", "{}：各阶段之后的记录数"),
    ("{}: length of a text", "{}：文本长度"),
    ("{}: similarity of pairs", "{}：成对相似度"),
    (
        "{}: records merged if the score alone decided; now {}",
        "{}：如果只凭分数判断，会合并的记录数；现在 {}",
    ),
    ("{}: numbers", "{}：数值"),
    ("Figure", "项目"),
    ("Value", "数值"),
    ("stage", "阶段"),
    ("records", "记录"),
    ("characters", "字符"),
    ("score", "分数"),
    ("pairs", "记录对"),
    ("threshold", "阈值"),
    ("read", "读入"),
    ("at the end", "最终"),
    ("after import", "导入后"),
    ("merged", "合并"),
    ("near, not merged", "相近但未合并"),
    ("numbers", "数值"),
    ("What can be guessed without the question", "不看题目能猜中多少"),
    ("What became of the drafts", "草稿的去向"),
    ("Agreement of the voters", "投票者的一致性"),
    ("Agreement over all questions", "各问题合计的一致性"),
    ("Agreement of judges", "评委的一致性"),
    ("Ratings by judge and model", "各评委对各模型的评分"),
    ("Mean ratings by part, 0 to 100", "各部分的平均评分，0 至 100"),
    ("Winning rates by opponent", "对各模型的胜率"),
    ("Categories", "类别"),
    ("Topics", "主题"),
    ("Drawn", "抽取"),
    ("Gaps", "分差"),
    ("agreement", "一致性"),
    ("marks", "标记"),
    ("places", "位置"),
    ("value", "值"),
    ("count", "条数"),
    ("percent", "百分比"),
    ("range", "区间"),
    ("opponent", "对手"),
    ("model", "模型"),
    ("Model", "模型"),
    ("Count", "条数"),
    ("Range", "区间"),
    ("Chinese", "中文"),
    ("Votes", "投票"),
    ("Votes, %", "投票占比（%）"),
    ("sample", "示例"),
    ("Column", "列"),
    ("Items", "条目"),
    ("Mean", "均值"),
    ("Most", "最大"),
    ("Least", "最小"),
    ("Step", "步骤"),
    ("Field", "字段"),
    ("Question", "问题"),
    ("Questions", "问题"),
    ("Pairs that agree", "一致的投票对"),
    ("Pairs that agree, %", "一致的投票对（%）"),
    ("Fleiss' kappa of these together", "以上各问题合计的 Fleiss κ"),
    ("Rated {}", "评为 {}"),
    ("Confirmed", "确认"),
    ("Rewritten", "改写"),
    ("Confirmed by the sample", "由示例投票确认"),
    ("Rewritten by the sample", "由示例投票改写"),
    ("Provisional", "待确认"),
    ("Rejected", "拒绝"),
    ("Held", "搁置"),
    ("Opponent", "对手"),
    ("Marked", "已标记"),
    ("Mark", "标记"),
    ("Of those marked, %", "占已标记的百分比"),
    ("Rule", "规则"),
    ("Right, %", "正确率（%）"),
    ("By chance, %", "随机正确率（%）"),
    ("Right options", "正确选项"),
    ("by place", "按位置"),
    ("by length, longest first", "按长度，最长在前"),
    ("the longest", "选最长的"),
    ("the shortest", "选最短的"),
    ("most of the question", "选与题目重合最多的"),
    ("least of the question", "选与题目重合最少的"),
    ("options-only classifier", "只看选项的分类器"),
    ("Judge", "评委"),
    ("Judges", "评委"),
    ("all models", "全部模型"),
    ("All", "全部"),
];

/// The meaning of a rule.
pub(super) fn find_rule_meaning(code: &str) -> Option<&'static str> {
    QUESTIONS.iter().chain(SAMENESS).find(|(known, _)| *known == code).map(|(_, means)| *means)
}

const SAMENESS: &[(&str, &str)] = &[
    ("identical", "除标点、全半角、简繁和大小写外，两条文本相同。"),
    ("opening", "一条文本是另一条的开头。"),
    ("near", "除少数几处外，两条文本用字相同、次序相同。"),
    ("sound", "读音相近：除少数几处外，两条文本音节相同、次序相同。"),
    ("reworded", "换了说法：分量最重的字词两条都有。"),
];

const QUESTIONS: &[(&str, &str)] = &[
    ("no-cue", "没有任何提问的迹象。"),
    ("request", "布置任务（“简述……”“请解释……”），或恳求解答（“请问……”）。"),
    ("dialogue", "全文是对话，是其中的人物在互相提问。"),
    ("reported", "叙述中说有人在问：“……，导游问道”。"),
    ("opener", "问句只是引出陈述：“谁能想到……”“你知道吗？……”。"),
    ("final-mark", "引文之外的最后一句带有问号。"),
    ("self-answer", "自问自答：“为什么……？因为……”。"),
    ("heading", "问句是一段说明的标题：“生活妙招：如何……”。"),
    ("embedded", "问句是某个动词的宾语：“我知道他为什么来”。"),
    ("echo-mark", "问号前的话并没有问什么，后面接着说下去：“早起？我还没睡呢”。"),
    ("indefinite", "疑问词表示任指、虚指或感叹：“谁都可以”。"),
    ("quoted-question", "只有引用的话在提问。"),
    ("passing-remark", "有疑问词而没有问号，后面接着说下去。"),
    ("no-open-question", "看似提问的地方其实没有问什么。"),
    ("mark-within", "中间有问号，其后没有回答。"),
    ("help", "发帖人不知如何是好：“……怎么办”。"),
    ("why", "发帖人在问原因：“为什么……”。"),
    ("alternative", "让读者二选一：“A 还是 B”。"),
    ("a-not-a", "动词后接自身的否定：“是不是”“会不会”。"),
    ("polar", "语气助词使句子成为问句：“……吗”。"),
    ("question-word", "最后一句有表示提问的疑问词。"),
];

/// Values that every benchmark may have: standings, yes and no, and what most voters prefer.
const VALUES: &[(&str, &str)] = &[
    ("confirmed", "已确认"),
    ("published", "已发表"),
    ("provisional", "待确认"),
    ("synthetic", "虚构投票"),
    ("true", "是"),
    ("false", "否"),
    ("undecided", "未定"),
    ("annual", "年度帖"),
    ("recommended", "吧主推荐"),
    ("unknown", "不详"),
];

/// A value in Chinese; `None` for one that no folder names, as of models, sources and licences.
pub fn translate_category(benchmark: &str, value: &str) -> Option<String> {
    let fixed = VALUES.iter().find(|(known, _)| *known == value).map(|(_, zh)| *zh);
    let own = || {
        riddlemill_benchmarks::find_benchmark(benchmark)
            .into_iter()
            .flat_map(|own| own.ballots.lists.values())
    };
    // Lists share codes such as `none`, which then say nothing by themselves.
    let by_code = || {
        let mut of_code = own().flatten().filter(|choice| choice.code == value && !is_number(value));
        of_code.next().filter(|_| of_code.next().is_none())
    };
    let named = |choice: &&Choice| choice.label.en == value;
    // A set may have columns of another one, from which it is made.
    let all =
        || riddlemill_benchmarks::all_benchmarks().iter().flat_map(|other| other.ballots.lists.values());
    let of_folder = || own().flatten().find(named).or_else(by_code).or_else(|| all().flatten().find(named));
    fixed.or_else(|| of_folder().map(|choice| choice.label.zh)).map(str::to_owned)
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::interrogative::Rule;
    use crate::text::sameness::Predicate;

    #[test]
    fn every_word_has_as_many_holes_in_both_languages() {
        for (en, zh) in WORDS {
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{en}");
            assert_eq!(chart_word(&en.replace("{}", "x1")), Some(zh.replace("{}", "x1")), "{en}");
        }
        assert_eq!(chart_word("import").as_deref(), Some("导入"));
        assert_eq!(chart_word("review:screen").map(|zh| zh.starts_with("评审：")), Some(true));
        assert_eq!(chart_word("flub"), None);
    }

    #[test]
    fn every_rule_has_its_meaning_and_every_meaning_its_rule() {
        assert_eq!(QUESTIONS.len(), Rule::ALL.len());
        let same = Predicate::ALL.map(|predicate| find_rule_meaning(predicate.name()).is_some());
        assert_eq!(same, [true; 5]);
        let without: Vec<_> =
            Rule::ALL.iter().filter(|rule| find_rule_meaning(rule.code()).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    #[test]
    fn values_are_named_as_their_folder_names_them() {
        let zh = |benchmark: &str, value: &str| translate_category(benchmark, value);
        assert_eq!(zh("ruozhibench-gen", "Absurd Imagination").as_deref(), Some("荒诞想象"));
        assert_eq!(zh("ruozhibench-mc", "Absurd Imagination").as_deref(), Some("荒诞想象"), "made from gen");
        assert_eq!(zh("flub", "synthetic").as_deref(), Some("虚构投票"));
        assert_eq!((zh("flub", "sample-model-a"), zh("ruozhibench-gen", "1")), (None, None));
    }
}
