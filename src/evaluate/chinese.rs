//! What the page of an evaluation says in Chinese. The English is with the code; names of models, settings and papers
//! stay as they are.

use crate::audit::chinese;

/// A title, a heading or a sentence of the page in Chinese; `None` where it has none.
pub(super) fn said(text: &str) -> Option<String> {
    chinese::translated(WORDS, text).or_else(|| chinese::sentence(text))
}

const WORDS: &[(&str, &str)] = &[
    // What the page is about.
    (
        "{} items, {} answers, {} of them not in the form that was asked for; {} replies missing, {} lines set aside. \
         Intervals hold the middle {} % of {} bootstrap resamples (seed {}).",
        "{} 道题，{} 个回答，其中 {} 个不符合要求的格式；缺 {} 条回复，另有 {} 行未采用。区间为自助抽样中间 {} % 的范围，共抽样 {} 次（种子 {}）。",
    ),
    ("{} rows were withdrawn since and are left out", "此后有 {} 行被撤回，未计入"),
    ("1 row was withdrawn since and is left out", "此后有 1 行被撤回，未计入"),
    // RuozhiBench-Gen.
    ("Scores, the mean of all judges", "得分（全部评委的均值）"),
    ("Scores by {}", "{} 的评分"),
    (
        "The mean rating of answers to tricky questions, 0 to 4, times 25; of several judges the mean of their means. A \
         question counts in each of its categories; the micro average counts it once.{}",
        "对弱智问题回答的平均评分（0 至 4）乘以 25；多位评委时取各自均值的均值。一个问题计入其每个类别；微平均只计一次。{}",
    ),
    ("Tricky against normal questions", "弱智问题与正常问题对比"),
    (
        "Mean ratings times 25 of the answers to tricky questions and to the normal questions of the same form, and how much \
         higher the normal ones are.",
        "对弱智问题及同形式正常问题回答的平均评分乘以 25，以及后者高出多少。",
    ),
    ("Ratings of answers to tricky questions", "对弱智问题回答的评分分布"),
    ("Ratings of answers to normal questions", "对正常问题回答的评分分布"),
    ("Ratings of answers to tricky questions, percent ({})", "对弱智问题回答的评分分布，百分比（{}）"),
    ("Ratings of answers to normal questions, percent ({})", "对正常问题回答的评分分布，百分比（{}）"),
    (
        "Percent of answers that a judge gave each rating; n is how many.",
        "评委给出各评分的回答所占百分比；n 为回答数。",
    ),
    ("How far judges agree", "评委的一致程度"),
    (
        "On single ratings, and on the means of each judge's ratings of all answers to one question. A large disagreement is 2 \
         points or more; shares are percent throughout.",
        "按单个评分，以及按每位评委对同一问题全部回答的均值。分歧达 2 分及以上为较大分歧；比例均为百分比。",
    ),
    ("{} and {}: mean rating by question, r = {} ({})", "{} 与 {}：逐题平均评分，r = {}（{}）"),
    // RuozhiBench-MC.
    ("Both orders of the two answers", "两个回答的两种顺序"),
    (
        "Percent of right choices among the answers in the right form, where the good answer stands first and where it stands \
         second; their mean (chance is 50), their difference (a bias to the first answer), and the percent of answers in the \
         right form.",
        "格式正确的回答中选对的百分比：好回答在前、在后；两者均值（随机为 50）、两者之差（偏向第一个回答），以及格式正确的百分比。",
    ),
    ("By category", "按类别"),
    (
        "The mean of both orders set against chance: 2 (x - 0.5), in percent. 0 is chance, 100 is all right. A question counts \
         in each of its categories; the micro average counts it once.",
        "两种顺序的均值相对随机水平：2 (x - 0.5)，百分比。0 为随机，100 为全对。一个问题计入其每个类别；微平均只计一次。",
    ),
    ("Good First, Bad First and their mean, percent", "好回答在前、坏回答在前及其均值，百分比"),
    ("Generation against multiple choice", "生成与选择题对比"),
    ("Generation against multiple choice ({})", "生成与选择题对比（{}）"),
    ("{} score against size", "{} 得分与模型规模"),
    ("{} score against size ({})", "{} 得分与模型规模（{}）"),
    (
        "Each model by both figures, and over the models their correlation; its interval resamples models, and points on a line \
         have none. p counts all orders of up to {} models, and is Student's beyond.",
        "各模型的两项数值，以及它们在模型间的相关；区间对模型重抽样，共线的点没有区间。模型不超过 {} 个时 p 值枚举全部排列，更多时用 t 分布。",
    ),
    // FLUB.
    ("The three tasks", "三项任务"),
    ("The three tasks on questions", "三项任务：疑问句"),
    ("The three tasks on statements", "三项任务：陈述句"),
    (
        "Accuracy of answer selection and macro F1 of type classification in percent, the judges' mean score from 1 to 10, and \
         the geometric mean of the three. A format error is wrong; a text without a type is not classified.",
        "答案选择的准确率与类型分类的宏平均 F1（百分比）、评委的平均分（1 至 10），以及三者的几何均值。格式错误按答错计；没有类型的文本不参与分类。",
    ),
    ("Selection and classification, percent", "选择与分类，百分比"),
    (
        "With 0, 1, 2 and 5 solved examples ({}): selection accuracy, percent",
        "给出 0、1、2、5 个示例（{}）：选择准确率，百分比",
    ),
    ("People and judges", "人与评委"),
    (
        "The mean of people's ratings from 1 to 5 times two, the mean of the judges' from 1 to 10, and how far they go together \
         over the explanations: Spearman's rank correlation, as in the paper, and Pearson's.",
        "人的平均评分（1 至 5）乘以二、评委的平均评分（1 至 10），以及两者在各解释上的相关：论文所用的 Spearman 秩相关，以及 Pearson 相关。",
    ),
    // Chumor.
    ("Whose explanation wins", "谁的解释胜出"),
    ("Whose explanation wins, percent of jokes ({})", "谁的解释胜出，占笑话的百分比（{}）"),
    (
        "Percent of jokes for which more than half prefer the person's explanation, the model's, or neither; undecided where no \
         answer has so many votes. Who judges does not see whose explanation is whose.",
        "过半数偏好人写解释、模型解释或认为相当的笑话所占百分比；没有选项过半的为未定。评判者看不到解释出自谁。",
    ),
    ("How far preferences agree", "偏好的一致程度"),
    (
        "Percent of pairs of verdicts on one explanation that agree, and Fleiss' kappa where each was judged equally often. n is \
         how many explanations were judged twice or more.",
        "对同一解释的两两判断中一致的百分比；各解释判断次数相同时另列 Fleiss κ。n 为判断过两次及以上的解释数。",
    ),
    // BrainTeaser.
    ("Sentence puzzles", "句子谜题"),
    ("Word puzzles", "词语谜题"),
    ("All puzzles", "全部谜题"),
    (
        "Percent of puzzles solved, by variant; of groups in which the original and its semantic reconstruction are solved, and \
         in which all three are; of all puzzles. A format error is wrong; intervals resample whole groups.",
        "解出的谜题百分比：按变体；原题与语义改写均解出的组；三者均解出的组；全部谜题。格式错误按答错计；区间按整组重抽样。",
    ),
    ("Puzzles and groups solved, percent", "解出的谜题与组，百分比"),
    ("Puzzles answered freely", "自由作答的谜题"),
    (
        "The mean score from 0 to 5 that experts and that judges gave to answers to new situations, and the percent that gave no \
         answer, which scores 0.",
        "专家与评委对新情境作答给出的平均分（0 至 5），以及未作答（计 0 分）的百分比。",
    ),
    // Any benchmark.
    ("Tasks, percent", "各任务，百分比"),
    ("{} A format error is wrong.", "{} 格式错误按答错计。"),
    ("The built-in models", "内置模型"),
    (
        "What models that choose at random, or always the first option, must come to, and what they came to. Where the expected \
         figure lies far outside of the interval, something is wrong with the set or with this program.",
        "随机选择或总选第一项的模型理应得到的数值，以及实际得到的数值。若期望值远在区间之外，则数据集或本程序有误。",
    ),
    // Over the columns, and before the rows.
    ("Model", "模型"),
    ("Model and setting", "模型与设置"),
    ("Model and judge", "模型与评委"),
    ("Model and who judges", "模型与评判者"),
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
    ("Format, selection", "格式正确（选择）"),
    ("Format, classification", "格式正确（分类）"),
    ("Selection accuracy", "选择准确率"),
    ("Classification F1", "分类 F1"),
    ("Explanation score", "解释得分"),
    ("Tricky", "弱智问题"),
    ("Normal", "正常问题"),
    ("Difference", "差"),
    ("Person wins", "人胜出"),
    ("Model wins", "模型胜出"),
    ("Equal", "相当"),
    ("Undecided", "未定"),
    ("Agreement %", "一致 %"),
    ("Fleiss' kappa", "Fleiss κ 系数"),
    ("Original", "原题"),
    ("Semantic", "语义改写"),
    ("Context", "情境改写"),
    ("Ori & Sem", "原题与语义"),
    ("Ori & Sem & Con", "三者"),
    ("Experts", "专家"),
    ("Given up", "未作答"),
    ("Mean difference, individual", "平均差（单个）"),
    ("Mean difference, mean", "平均差（均值）"),
    ("Large disagreement %, individual", "较大分歧 %（单个）"),
    ("Large disagreement %, mean", "较大分歧 %（均值）"),
    ("Pearson, individual", "Pearson（单个）"),
    ("Pearson, mean", "Pearson（均值）"),
    ("Pearson, and its p", "Pearson 及其 p"),
    ("Spearman, and its p", "Spearman 及其 p"),
    ("{} exact", "{}（完全一致）"),
    ("{} macro F1", "{}（宏平均 F1）"),
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
            assert_eq!(said(&filled), Some(zh.replace("{}", "x1")), "{en}: another one takes it");
        }
        assert_eq!(said("Scores by mine").as_deref(), Some("mine 的评分"));
        assert_eq!(said("some-model"), None);
    }
}
