//! Translates sentences of the libraries: why a stage is stale, what keeps records back.

use super::{Language, stage_name, text_of_key, translate_sentence};
use crate::audit::chinese::fill_placeholders;
use crate::pipeline::{Cause, CauseState, Change, KeyedSentence, Remedy};
use crate::review::ballot::Round;
use crate::text::group_digits;

/// A text with its placeholders filled in.
pub(crate) fn fill_text(language: Language, key: &str, given: &[&str]) -> String {
    fill_placeholders(text_of_key(language, key).unwrap_or_default(), given)
}

/// Why a stage is stale.
pub(crate) fn explain_stale(language: Language, why: &[Change]) -> String {
    let describe = |change: &Change| match language {
        Language::En => change.to_string(),
        Language::Zh => change_in_chinese(change),
    };
    why.iter().map(describe).collect::<Vec<_>>().join(text_of_key(language, "comma").unwrap_or("; "))
}

fn change_in_chinese(change: &Change) -> String {
    match change {
        Change::Code { before, now } => format!("程序版本 {before} → {now}"),
        Change::Setting { key, before, now } => format!("{key} {before} → {now}"),
        Change::Input { stage: name } => {
            let (of, name) = name.split_once('/').map_or(("", name.as_str()), |(of, name)| (of, name));
            format!(
                "输入“{of}{}{}”有变",
                if of.is_empty() { "" } else { "/" },
                stage_name(Language::Zh, name)
            )
        }
        Change::New { key, count } => match key.as_str() {
            "votes" => format!("新增 {count} 票"),
            "decisions" => format!("新增 {count} 条裁定"),
            "withdrawn" => format!("新撤回 {count} 条"),
            _ => format!("新增 {count} 条回复"),
        },
        Change::Otherwise { key } => format!("{} 有变", input_name(key)),
        Change::Gone { key } if key == "decisions" => "裁定已撤回".to_string(),
        Change::Gone { key } => format!("不再有 {}", input_name(key)),
        Change::Added { key } => format!("新增 {}", input_name(key)),
        Change::Missing { key, count } if key == "embeddings" => format!("缺 {count} 个向量"),
        Change::Missing { count, .. } => format!("缺 {count} 条回复"),
        Change::Layout => "由另一种文件格式生成".to_string(),
    }
}

/// What a stage uses, from the evidence's key.
fn input_name(key: &str) -> &str {
    match key {
        "votes" => "投票",
        "replies" => "回复",
        "decisions" => "裁定",
        "withdrawn" => "撤回",
        key => key,
    }
}

/// What keeps records back, and how to fix it. Commands, settings and an endpoint's messages are not
/// translated.
pub(crate) fn explain_cause(language: Language, cause: &Cause) -> String {
    if language == Language::En {
        return cause.to_string();
    }
    let what = match cause.state {
        CauseState::Model => "条等待模型",
        CauseState::Failed => "条失败",
        CauseState::Votes(Round::Adjudication) => "条等待仲裁",
        CauseState::Votes(_) => "条等待投票",
        CauseState::Provisional(_) => "条暂以草稿为准，等待投票",
        CauseState::Person => "条等待人工查看",
        CauseState::Other => "条等待",
        CauseState::Undrafted => "条没有草稿即继续",
        CauseState::Unembedded => "条没有向量即继续",
        CauseState::Unjudged => "条未经判断即继续",
        CauseState::HalfDrafted => "条以半截回复继续",
    };
    let remedy = match &cause.remedy {
        Remedy::Command(command) => format!("请运行 {command}"),
        Remedy::Run => format!("请运行 {}", Remedy::Run.english_text().unwrap_or_default()),
        Remedy::First(what) => pipeline_sentence(language, what),
        Remedy::Nothing => String::new(),
    };
    let kept = pipeline_sentence(language, &cause.what);
    let more: Vec<&str> = [kept.as_str(), &remedy].into_iter().filter(|more| !more.is_empty()).collect();
    let records = group_digits(i64::try_from(cause.records).unwrap_or(i64::MAX));
    match more.is_empty() {
        true => format!("{records} {what}"),
        false => format!("{records} {what}：{}", more.join("；")),
    }
}

/// A sentence of the pipeline. Words that are nobody's sentence there may be one of a library.
pub(crate) fn pipeline_sentence(language: Language, said: &KeyedSentence) -> String {
    match (language, said.as_verbatim()) {
        (Language::En, _) => said.in_english(),
        (Language::Zh, None) => said.in_chinese(),
        (Language::Zh, Some(text)) => translate_sentence(language, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::describe_fact;
    use crate::record;

    #[test]
    fn why_a_stage_is_stale_is_reported_in_the_language_of_the_page() {
        let why = [
            Change::New { key: "votes".into(), count: 11 },
            Change::Setting { key: "threshold".into(), before: "0.8".into(), now: "0.85".into() },
            Change::Input { stage: "review:screen".into() },
        ];
        assert_eq!(
            explain_stale(Language::En, &why),
            "11 new votes; threshold 0.8 -> 0.85; input review:screen changed"
        );
        assert_eq!(
            explain_stale(Language::Zh, &why),
            "新增 11 票；threshold 0.8 → 0.85；输入“评审：初筛”有变"
        );
    }

    #[test]
    fn what_keeps_records_back_is_listed_with_its_command() {
        let waits = Cause {
            stage: "review:type",
            state: CauseState::Votes(Round::Vote),
            records: 1200,
            what: KeyedSentence::default(),
            remedy: Remedy::Command("riddlemill review assign type".into()),
            failed: false,
            blocks: true,
        };
        assert_eq!(
            explain_cause(Language::Zh, &waits),
            "1,200 条等待投票：请运行 riddlemill review assign type"
        );
        assert!(explain_cause(Language::En, &waits).starts_with("1,200 wait for votes"));
    }

    #[test]
    fn missing_votes_and_caps_are_said_in_the_language_of_the_page() {
        let votes =
            record::Cause::Votes { review: false, votes: 1, roles: vec!["junior".into(), "senior".into()] };
        assert_eq!(
            pipeline_sentence(Language::Zh, &describe_fact(&votes)),
            "还需 1 票（投票）：junior / senior"
        );
        let cap = record::Cause::Budget {
            scope: record::Scope::Endpoint("mine".into()),
            spent: "$1".into(),
            cap: "$2".into(),
        };
        assert_eq!(
            pipeline_sentence(Language::Zh, &describe_fact(&cap)),
            "mine 的上限所余不够下一个请求：已花 $1，上限 $2"
        );
        // What a server says has no translation.
        assert_eq!(
            pipeline_sentence(Language::Zh, &KeyedSentence::verbatim("500 from mine")),
            "500 from mine"
        );
        assert_eq!(
            pipeline_sentence(Language::Zh, &KeyedSentence::verbatim("no item has two votes")),
            "没有一条有两票"
        );
    }
}
