//! The Chinese meanings of the rules that distinguish questions from statements: code, meaning. The English
//! ones are in the code.

/// The meaning of a rule.
pub(super) fn find(code: &str) -> Option<&'static str> {
    QUESTIONS.iter().find(|(known, _)| *known == code).map(|(_, means)| *means)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::interrogative::Rule;

    #[test]
    fn every_rule_has_its_meaning_and_every_meaning_its_rule() {
        assert_eq!(QUESTIONS.len(), Rule::ALL.len());
        let without: Vec<_> = Rule::ALL.iter().filter(|rule| find(rule.code()).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
    }
}
