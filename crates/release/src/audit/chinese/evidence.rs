//! Evidence of ledgers in Chinese. It is made of pieces: sentences, codes, names of replies and votes, and words of the post
//! itself, which stay as they are.

use super::{describe_reason, state_name, translate_sentence};
use crate::record::{Overruled, read_other_text};
use crate::text::interrogative::Rule;

/// Codes in evidence that are no reasons: rules of sameness, vetoes, metrics, lists of words, kinds of personal data, verdicts.
const CODES: &[(&str, &str)] = &[
    ("identical", "字面相同"),
    ("opening", "开头相同"),
    ("near", "用字相近"),
    ("sound", "读音相同"),
    ("reworded", "换了说法"),
    ("exact", "完全相同"),
    ("indel", "增删距离"),
    ("jaccard", "用字重合"),
    ("series", "同一系列"),
    ("negation", "一正一反"),
    ("template", "同一句式"),
    ("compilation", "合集"),
    ("place", "地名不同"),
    ("order", "次序不同"),
    ("subject", "所问不同"),
    ("harm", "危害"),
    ("politics", "政治"),
    ("sexual", "色情"),
    ("slurs", "侮辱"),
    ("link", "链接"),
    ("email", "邮箱"),
    ("id_card", "身份证"),
    ("iban", "国际账号"),
    ("card", "银行卡"),
    ("phone", "电话"),
    ("qq", "QQ 号"),
    ("wechat", "微信"),
    ("address", "地址"),
    ("name", "人名"),
    ("keep", "放行"),
    ("drop", "剔除"),
    ("hold", "搁置"),
    ("one", "是同一个笑话"),
    ("two", "不是同一个笑话"),
];

/// Evidence in Chinese.
pub fn translate_evidence(text: &str) -> String {
    if let Some(other) = read_other_text(text) {
        return format!("另一文本：{other}");
    }
    if let Some((_, fragment)) = Rule::of_evidence(text) {
        // What the rule means is said behind it.
        return fragment.to_owned();
    }
    if let Some((before, overruled)) = Overruled::parse_evidence(text) {
        let before = before.trim_end_matches("; ");
        let before = if before.is_empty() { String::new() } else { translate_pieces(before) + "；" };
        return before + &by_rule(&overruled);
    }
    // A sentence may have a semicolon, too, and its values may be anything.
    let known = text.split("; ").map(translate_piece).collect::<Option<Vec<String>>>();
    known
        .map(|known| known.join("；"))
        .or_else(|| translate_sentence(text))
        .unwrap_or_else(|| translate_pieces(text))
}

fn translate_pieces(text: &str) -> String {
    let piece = |text: &str| translate_piece(text).unwrap_or_else(|| text.to_owned());
    text.split("; ").map(piece).collect::<Vec<_>>().join("；")
}

fn by_rule(overruled: &Overruled<'_>) -> String {
    let how = if overruled.by_votes { "按投票" } else { "按规则" };
    let state = state_name(overruled.state).unwrap_or(overruled.state);
    let into = overruled.into.map(|into| format!("入 {into}")).unwrap_or_default();
    let reason = overruled
        .reason
        .map(|code| format!("（{}）", name_of_code(code).unwrap_or(code)))
        .unwrap_or_default();
    let why = if overruled.evidence.is_empty() {
        String::new()
    } else {
        format!("：{}", translate_evidence(overruled.evidence))
    };
    format!("{how}{state}{into}{reason}{why}")
}

/// The Chinese name of a code.
fn name_of_code(code: &str) -> Option<&'static str> {
    // Numbers are a veto of pairs; of cleaning, it is the code of a rule.
    describe_reason(code)
        .map(|(short, _)| short)
        .or_else(|| CODES.iter().find(|(known, _)| *known == code).map(|(_, zh)| *zh))
}

fn translate_piece(text: &str) -> Option<String> {
    let found = translate_code(text)
        .or_else(|| translate_votes(text))
        .or_else(|| translate_reply(text))
        .or_else(|| translate_decision(text));
    found.or_else(|| translate_list(text)).or_else(|| translate_sentence(text))
}

/// A code alone, with a number behind it, or with the words of the post: `phone 2`, `harm: …`.
fn translate_code(text: &str) -> Option<String> {
    if let Some(name) = name_of_code(text) {
        return Some(name.to_owned());
    }
    if let Some(group) = text.strip_prefix("beside it under ").filter(|group| !group.contains(", ")) {
        return Some(format!("同属 {group}"));
    }
    if let Some((code, words)) = text.split_once(": ") {
        let words = translate_sentence(words).unwrap_or_else(|| words.to_owned());
        return name_of_code(code).map(|name| format!("{name}：{words}"));
    }
    let (code, count) = text.split_once(' ')?;
    count.parse::<u64>().ok()?;
    name_of_code(code).map(|name| format!("{name} {count} 处"))
}

/// Several of one kind: `score,number`, `phone 1, name 2`.
fn translate_list(text: &str) -> Option<String> {
    let separated = |by: &str| text.split(by).map(translate_code).collect::<Option<Vec<String>>>();
    separated(", ").or_else(|| separated(",")).map(|all| all.join("、"))
}

/// `votes of the sample by a, b: vote:…`
fn translate_votes(text: &str) -> Option<String> {
    let (of, rest) = match text.strip_prefix("votes of the sample by ") {
        Some(rest) => ("示例投票", rest),
        None => ("投票", text.strip_prefix("votes by ")?),
    };
    let (people, basis) = rest.split_once(": ")?;
    Some(format!("{of}（{}）：{basis}", people.replace(", ", "、")))
}

/// `sample:… to ruozhibench/screen 388befea`: a reply, the prompt it answers, and the prompt's hash.
fn translate_reply(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let [reply, "to", prompt, hash] = words[..] else { return None };
    let is_hash = |hash: &str| hash.len() >= 8 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let known = reply.rsplit_once(':').is_some_and(|(_, id)| is_hash(id)) && is_hash(hash);
    known.then(|| format!("{reply} 答 {prompt}（{hash}）"))
}

/// `decision:… by meta-1: keep (why)`
fn translate_decision(text: &str) -> Option<String> {
    let (id, rest) = text.strip_prefix("decision:")?.split_once(" by ")?;
    let (by, rest) = rest.split_once(": ")?;
    let (verdict, why) =
        rest.split_once(" (").map_or((rest, ""), |(verdict, why)| (verdict, why.trim_end_matches(')')));
    Some(format!("裁定 decision:{id}，{by}：{}（{why}）", name_of_code(verdict).unwrap_or(verdict)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::Verdict;
    use crate::text::anonymise::DataKind;
    use crate::text::sameness::{Predicate, Veto};

    const PREDICATES: [Predicate; 5] =
        [Predicate::Identical, Predicate::Opening, Predicate::Near, Predicate::Sound, Predicate::Reworded];
    const VETOES: [Veto; 8] = [
        Veto::Series,
        Veto::Negation,
        Veto::Template,
        Veto::Compilation,
        Veto::Place,
        Veto::Order,
        Veto::Number,
        Veto::Subject,
    ];

    #[test]
    fn each_kind_of_piece_is_put_into_chinese() {
        let reply = format!("sample:{} to flub/type 388befea", "ab".repeat(32));
        let answers = reply.replace(" to ", " 答 ").replace(" 388befea", "（388befea）");
        for (en, zh) in [
            ("2 of at least 4 characters", "2 字，至少须 4 字".to_owned()),
            ("score,number", "评分、编号".to_owned()),
            ("phone 1, name 2", "电话 1 处、人名 2 处".to_owned()),
            ("harm: 自制炸药", "危害：自制炸药".to_owned()),
            ("other text: 云; 会", "另一文本：云; 会".to_owned()),
            ("no-cue", String::new()),
            ("embedded: 他为什么来", "他为什么来".to_owned()),
            (
                "opening; levenshtein 0.8889, jaro-winkler 0.9778, dice 0.3194",
                "开头相同；Levenshtein 0.8889，Jaro–Winkler 0.9778，Dice 0.3194".to_owned(),
            ),
            (
                "culture_bound; votes of the sample by a, b: vote:1 vote:2",
                "culture_bound；示例投票（a、b）：vote:1 vote:2".to_owned(),
            ),
            (reply.as_str(), answers),
            (
                "decision:ab by meta-1: keep (It is short.); by rule dropped (too_short): 2 of at least 4 characters",
                "裁定 decision:ab，meta-1：放行（It is short.）；按规则剔除（过短）：2 字，至少须 4 字"
                    .to_owned(),
            ),
            ("windwo -> window", "windwo -> window".to_owned()),
            ("beside it under bird, beside it under bird", "同属 bird、同属 bird".to_owned()),
        ] {
            assert_eq!(translate_evidence(en), zh, "{en}");
        }
    }

    #[test]
    fn every_code_has_its_name() {
        let codes = DataKind::ALL.iter().map(|kind| kind.code());
        let codes = codes.chain(PREDICATES.into_iter().map(Predicate::name));
        let codes = codes.chain(VETOES.into_iter().map(Veto::name));
        let verdicts = [Verdict::Keep, Verdict::Drop, Verdict::Hold, Verdict::One, Verdict::Two];
        let codes = codes.chain(verdicts.into_iter().map(Verdict::name));
        let nameless: Vec<_> = codes.filter(|code| name_of_code(code).is_none()).collect();
        assert!(nameless.is_empty(), "{nameless:?}");
    }
}
