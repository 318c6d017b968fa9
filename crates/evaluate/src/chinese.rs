//! The Chinese texts of an evaluation's page. The English ones are in the code; names of models, settings and
//! papers are not translated.

use crate::audit::chinese;

/// The Chinese of a title, heading or sentence of the page; `None` if there is none.
pub(super) fn translate_to_chinese(text: &str) -> Option<String> {
    chinese::translate_declared(text)
        .or_else(|| chinese::translate_text(WORDS, text))
        .or_else(|| chinese::translate_sentence(text))
}

const WORDS: &[(&str, &str)] = &[
    // Introduction.
    (
        "{} items, {} answers, {} of them not in the form that was asked for, {} cut, {} refused; {} replies missing, {} \
         lines set aside. Intervals hold the middle {} % of {} bootstrap resamples (seed {}).",
        "{} 道题，{} 个回答，其中 {} 个不符合要求的格式，{} 个被截断，{} 个被拒绝；缺 {} 条回复，另有 {} 行未采用。区间为自助抽样中间 {} % 的范围，共抽样 {} 次（种子 {}）。",
    ),
    ("{} rows were withdrawn since and are left out", "此后有 {} 行被撤回，未计入"),
    ("1 row was withdrawn since and is left out", "此后有 1 行被撤回，未计入"),
    ("A sample of {} of {} items, drawn by the seed", "样本：{} 道题，共 {} 道，由种子抽取"),
    ("A sample of {} of {} items, in proportion by {}: {}", "样本：{} 道题，共 {} 道，按 {} 的比例抽取：{}"),
    // RuozhiBench-Gen.
    // RuozhiBench-MC.
    ("{} score against size", "{} 得分与模型规模"),
    ("{} score against size ({})", "{} 得分与模型规模（{}）"),
    (
        "Each model by both figures, and their correlation over the models; its interval resamples models, and is left out if all points lie on a line. p is computed over all orders of up to {} models, and with Student's t for more.",
        "各模型的两项数值，以及它们在模型间的相关；区间对模型重抽样，共线的点没有区间。模型不超过 {} 个时 p 值枚举全部排列，更多时用 t 分布。",
    ),
    // FLUB.
    // Chumor.
    // BrainTeaser.
    // Any benchmark.
    ("percent", "百分比"),
    ("Solved examples", "示例数"),
    ("Tasks, percent", "各任务，百分比"),
    (
        "{} A format error is wrong, and so is a reply that was cut or refused.",
        "{} 格式错误按答错计，被截断或拒绝的回复也是。",
    ),
    ("{} A reply that was cut or refused is wrong.", "{} 被截断或拒绝的回复按答错计。"),
    ("Replies, percent", "回复，百分比"),
    (
        "Of the replies that came: read, cut at the limit of tokens, refused by the model or a filter, and not in the form \
         that was asked for. They add up to 100.",
        "已收到的回复中：读出答案的，在 token 上限处被截断的，被模型或过滤器拒绝的，以及不符合要求的格式的。合计 100。",
    ),
    ("Leaderboard, {}", "排行榜，{}"),
    (
        "On the {} of {} items on which every model here has a figure: the rank by the mean, with the ranks in the middle {} % \
         of resamples of these items, and the mean. Models whose ranks overlap are not told apart.",
        "就这里每个模型都有数值的 {} 道题（共 {} 道）：按均值的名次，并附这些题目重抽样中间 {} % 的名次范围，以及均值。名次范围重叠的模型不分高下。",
    ),
    ("Conversations, {}", "对话，{}"),
    (
        "The share that is solved within {} questions, in percent; the mean number of questions of the solved ones, and of all.",
        "在 {} 次提问之内解开的百分比；解开者的平均提问次数，以及全部的平均提问次数。",
    ),
    ("Solved", "解开"),
    ("Questions until solved", "解开前的提问次数"),
    ("Questions", "提问次数"),
    ("Samples, {}", "多次回答，{}"),
    (
        "Of up to {} answers to each item: the mean, the unbiased estimate of some of k answers being right, and the answer \
         that most of them give, in percent. A tie counts as if one of the most frequent answers was drawn. Items with fewer \
         than k answers are not in pass@k.",
        "每题至多 {} 个回答：均值、k 个回答中至少一个正确的无偏估计，以及多数回答，单位为百分比。票数相同时，按从最多者中抽取一个计。回答不足 k 个的题目不计入 pass@k。",
    ),
    ("pass@{}", "pass@{}"),
    ("Majority", "多数"),
    ("Tied", "票数相同"),
    ("Fewest answers", "最少回答数"),
    ("Calibration, {}", "校准，{}"),
    (
        "The share of answers that state a confidence, in percent; of these the mean confidence, the share that is right, the \
         expected calibration error (ECE) over {} bins of equal width, and Brier's score, both times 100.",
        "给出置信度的回答所占百分比；在这些回答中：平均置信度、正确率、{} 个等宽区间上的期望校准误差（ECE），以及 Brier 分数，后两者均乘以 100。",
    ),
    ("Stated", "给出置信度"),
    ("Confidence", "置信度"),
    ("Right", "正确"),
    ("ECE × 100", "ECE × 100"),
    ("Brier × 100", "Brier × 100"),
    (
        "{} gives up to {} answers to an item, at temperature {}, with seeds from {}",
        "{} 对每题至多给出 {} 个回答，温度 {}，种子自 {} 起",
    ),
    (
        "{} gives up to {} answers to an item, at temperature {}, with the server's seeds",
        "{} 对每题至多给出 {} 个回答，温度 {}，种子由服务器决定",
    ),
    (
        "{} gives up to {} answers to an item, at the server's temperature, with seeds from {}",
        "{} 对每题至多给出 {} 个回答，温度由服务器决定，种子自 {} 起",
    ),
    (
        "{} gives up to {} answers to an item, at the server's temperature, with the server's seeds",
        "{} 对每题至多给出 {} 个回答，温度与种子均由服务器决定",
    ),
    (
        "{} is asked for {} answers to an item of {} at temperature 0, where further answers repeat the first: \
         `sampling.temperature` of [llm.{}] makes them differ",
        "向 {} 对每题要求 {} 个回答（任务 {}），温度却为 0，后面的回答只会重复第一个：[llm.{}] 的 `sampling.temperature` 可使其不同",
    ),
    (
        "{} items of {}: no prompt is in its language, {}: the one for {} was asked",
        "{} 道题（任务 {}）没有其语言（{}）的提示词，所问为 {} 的提示词",
    ),
    (
        "1 item of {}: no prompt is in its language, {}: the one for {} was asked",
        "1 道题（任务 {}）没有其语言（{}）的提示词，所问为 {} 的提示词",
    ),
    (
        "{} output without `task` read as of {}, though {} fits, too: {}",
        "{} 条没有 `task` 的输出按 {} 读入，但 {} 也适用：{}",
    ),
    (
        "{} outputs without `task` read as of {}, though {} fits, too: {}",
        "{} 条没有 `task` 的输出按 {} 读入，但 {} 也适用：{}",
    ),
    ("Not read, because their names are not those of outputs: {}", "未读入（文件名不是输出的文件名）：{}"),
    (
        "No `shots` in the folder, so that --shots changes nothing: {}",
        "基准文件夹中没有 `shots`，--shots 不起作用：{}",
    ),
    (
        "No `reasoned` in the folder, so that --cot changes nothing: {}",
        "基准文件夹中没有 `reasoned`，--cot 不起作用：{}",
    ),
    ("No task here has a judge, so that --judge changes nothing", "这里没有需要评委的任务，--judge 不起作用"),
    ("Rank", "名次"),
    ("Mean", "均值"),
    ("{}, ratings of {}", "{}，对 {} 的评分"),
    ("The built-in models", "内置模型"),
    (
        "The figures expected of models that choose at random, or always the first option, and the figures measured. If an expected figure is far outside its interval, something is wrong with the set or with this program.",
        "随机选择或总选第一项的模型理应得到的数值，以及实际得到的数值。若期望值远在区间之外，则数据集或本程序有误。",
    ),
    // Column headers and row names.
    ("Model", "模型"),
    ("Model and setting", "模型与设置"),
    ("Model and judge", "模型与评委"),
    ("Model and who judges", "模型与评委"),
    ("Judge and model", "评委与模型"),
    ("Judges", "评委"),
    ("People", "人"),
    ("Figure", "数值"),
    ("Expected", "期望"),
    ("Measured", "实测"),
    ("Micro average", "微平均"),
    ("Average", "平均"),
    ("Overall", "总体"),
    ("Good First", "好回答在前"),
    ("Bad First", "坏回答在前"),
    ("Avg", "均值"),
    ("Positional Bias", "位置偏差"),
    ("Format", "格式正确"),
    ("Cut", "被截断"),
    ("Cut, selection", "被截断（选择）"),
    ("Cut, classification", "被截断（分类）"),
    ("Refused, selection", "被拒绝（选择）"),
    ("Refused, classification", "被拒绝（分类）"),
    ("Unread, selection", "未读出（选择）"),
    ("Unread, classification", "未读出（分类）"),
    ("Cut, {}", "被截断（{}）"),
    ("Refused", "被拒绝"),
    ("Refused, {}", "被拒绝（{}）"),
    ("Unread", "未读出"),
    ("Unread, {}", "未读出（{}）"),
    ("Model and task", "模型与任务"),
    ("Format, selection", "格式正确（选择）"),
    ("Format, classification", "格式正确（分类）"),
    ("Tricky", "弱智问题"),
    ("Normal", "正常问题"),
    ("Difference", "差"),
    ("Person wins", "人胜出"),
    ("Model wins", "模型胜出"),
    ("Equal", "相当"),
    ("Undecided", "未定"),
    ("Agreement %", "一致 %"),
    ("Fleiss' kappa", "Fleiss κ 系数"),
    ("Experts", "专家"),
    ("Given up", "未作答"),
    ("Mean difference, individual", "平均差（单个）"),
    ("Mean difference, mean", "平均差（均值）"),
    ("Large disagreement %, individual", "较大分歧 %（单个）"),
    ("Large disagreement %, mean", "较大分歧 %（均值）"),
    ("Pearson, individual", "Pearson（单个）"),
    ("Pearson, mean", "Pearson（均值）"),
    ("Pearson", "Pearson 相关"),
    ("Spearman", "Spearman 相关"),
    ("{} exact", "{}（完全一致）"),
    ("{} macro F1", "{}（宏平均 F1）"),
    ("{} solved", "{}（解开）"),
    ("{} score", "{} 得分"),
    ("Size in billions of parameters", "参数量（十亿）"),
    ("Size, log10 of billions", "规模，十亿的 log10"),
    ("{}: judges with people", "{}：评委与人"),
    ("{}: people", "{}：人"),
    ("{}: judges", "{}：评委"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_as_many_holes_in_both_languages() {
        for (en, zh) in WORDS {
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{en}");
            let filled = en.replace("{}", "x1");
            assert_eq!(
                translate_to_chinese(&filled),
                Some(zh.replace("{}", "x1")),
                "{en}: another one takes it"
            );
        }
        assert_eq!(translate_to_chinese("Scores by mine").as_deref(), Some("mine 的评分"));
        assert_eq!(translate_to_chinese("some-model"), None);
    }
}
