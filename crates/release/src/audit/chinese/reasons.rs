//! Reasons and rules in Chinese: code, short name, definition. The English ones are in the code.

/// The entry of a code.
pub(super) fn find_reason(code: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    REASONS.iter().find(|(known, ..)| *known == code)
}

const REASONS: &[(&str, &str, &str)] = &[
    ("unreadable", "无法读取", "该行或页面不符合来源的格式。"),
    ("oversize", "超长未读", "该行超过设置的上限，未读取。"),
    ("encoding", "编码错误", "文本不是 UTF-8，或读取时所用的编码与写入时不同。"),
    ("truncated", "文件残缺", "文件中途结束或压缩受损，其后内容缺失。"),
    ("foreign_file", "文件不符", "文件并非来源所读的格式，或记录不在所找之处；依据说明它是什么、该怎么办。"),
    ("column_missing", "缺少列", "来源所需的列在文件的任何一行中都没有；依据列出现有的列。"),
    ("nothing_read", "一无所获", "来源的文件没有给出任何帖子；依据说明其中有什么。"),
    (
        "mended",
        "已补正",
        "记录的某一部分不是合法的 JSON 或不是值，按缺失读取，或为 HTML，按其显示的文字读取；依据说明原来是什么。",
    ),
    ("same_id", "编号重复", "同一编号的记录已从本来源或其他来源读过。"),
    (
        "id_taken",
        "编号被占用",
        "此前读过同一编号的记录，但文本完全不同：两个编号必有一错，后一帖的编号加上其文本哈希的一段。",
    ),
    ("damaged_id", "编号损坏", "电子表格或程序改写了编号，使其不指向任何帖子：改用由文本得出的编号。"),
    ("withdrawn", "已撤回", "有人要求删除：raw/ 中有一条注明日期与理由的记录，正文不再出现。"),
    ("not_owner", "非楼主", "年度帖中并非楼主所发的楼层。"),
    ("note", "楼主注", "年度帖楼主在某条笑话下的注：随该笑话一同保留，证据为其编号。"),
    ("chatter", "闲话", "主题帖中不作为候选的楼层：楼中楼、首楼之后的回复，或年度帖楼主在各名次之间的插话。"),
    ("no_number", "无编号", "论坛给的编号为 0 或没有编号：帖间的广告或公告。"),
    ("taken_away", "已被删除", "存档之前作者或吧务已删除正文，只剩标记。"),
    ("page_other", "其他页面", "存档页不是该论坛的列表、主题或回复。"),
    ("page_blocked", "页面受阻", "网站要求验证码或拒绝访问。"),
    ("page_forbidden", "页面不公开", "网站不向访客开放这一页。"),
    ("page_shell", "空壳页面", "页面只是脚本的空框，内容来自其他请求。"),
    ("page_deleted", "主题已删", "页面提示主题已被删除。"),
    ("page_hidden", "主题被隐藏", "页面提示主题对访客隐藏。"),
    ("page_merged", "贴吧已合并", "页面提示该吧已并入其他吧。"),
    ("page_empty", "页面无帖", "页面结构正确，但没有帖子。"),
    ("page_unparsed", "结构未知", "本版本不认识页面的结构：版式不同、服务器错误或页面残缺。"),
    ("placeholder", "占位内容", "去掉只是因为论坛要求填写才写的占位内容（“.”“RT”、客户端签名等）。"),
    ("personal_data", "个人信息", "文本含有设置不允许通过的个人信息，即使已作标记。"),
    ("personal_data_marked", "已标记个人信息", "文本中的个人信息已替换为标记；依据列出种类和数量。"),
    ("listed_term", "命中词表", "文本含有词表中的词，需要人工查看。"),
    ("empty", "空文本", "没有可读内容：无文字，或没有字母与数字。"),
    ("too_short", "过短", "文本短于设置允许的长度。"),
    ("too_long", "过长", "文本长于设置允许的长度。"),
    ("management", "吧务", "帖子用于管理而非说笑：规则、公告、招募、活动、年度汇总、指向他帖。"),
    ("link_only", "仅有链接", "帖子只是链接或图片，本身没有说什么。"),
    ("promised_elsewhere", "内容在别处", "文本所指的内容不在此处：图片已失，或故事在其他楼层。"),
    ("not_a_question", "不是问句", "文本没有提问，而该配方只收问句。"),
    ("exact_duplicate", "完全重复", "归一化之后，文本与其并入的记录相同。"),
    ("near_duplicate", "近似重复", "文本与其并入的记录十分相近；后者自身被保留且直接相似。"),
    ("replies_tied", "回复不分多寡", "向模型要了多份回复，没有一个答案出现得最多：由另一份回复决定。"),
    ("not_a_list", "不是列表", "步骤要逐项询问的内容在该记录中不是列表，或无法计算。"),
    ("reply_missing", "缺少回复", "回复未存储且不得发送，或示例包中没有。"),
    ("budget_reached", "预算已到", "再发送可能超过本次运行、配方或端点的上限。"),
    ("no_price", "未标价格", "端点既无价格也未声明免费，无法控制上限。"),
    ("key_missing", "缺少密钥", "存放端点密钥的环境变量未设置。"),
    ("interrupted", "已中断", "在询问之前运行已被中断。"),
    ("request_failed", "请求失败", "端点拒绝了请求，或所有尝试均失败。"),
    ("answer_cut", "回答被截断", "在允许的最大 token 数内没有答完；已有的部分已保存。"),
    ("endpoint_left", "端点已搁置", "端点连续多次同样失败，本次运行不再询问。"),
    (
        "request_refused",
        "请求被拒",
        "端点拒绝这一请求，或者无论怎么问都没有内容；只有换提示词或用 --retry-failed 才会再问。",
    ),
    ("reply_unparseable", "回复无法解析", "包括重问在内，回复都没有给出所要的内容。"),
    ("embedded", "已有向量", "已存有模型给出的文本向量，去重时会与其他文本的向量比较。"),
    ("not_embedded", "没有向量", "没有得到文本的向量，去重时只比较用词。"),
    ("unembeddable", "无法得到向量", "该模型给不出这一文本的向量，去重时只比较用词。"),
    ("pair_judged", "已判断", "该帖所在的每个临界对是否为同一笑话，模型都已作出判断。"),
    ("not_judged", "未判断", "该帖所在的某个临界对未得到判断，只有人工裁定或去重的其他规则才会把两帖合并。"),
    (
        "unjudgeable",
        "无法判断",
        "该模型无法判断该帖所在的某个临界对，只有人工裁定或去重的其他规则才会把两帖合并。",
    ),
    ("drafted", "已有草稿", "记录带有模型草稿，需要人工查看。"),
    (
        "drafted_from_cut",
        "草稿不完整",
        "草稿来自被截断或拒绝的回复，旧版本把它当作完整的；只有用 replies cut --forget 才会再问。",
    ),
    ("not_drafted", "没有草稿", "没有得到草稿，而设置允许记录继续。"),
    ("undraftable", "无法起草", "该模型与提示词得不到草稿，而设置允许记录继续。"),
    ("confirmed", "已确认", "人工确认了草稿或决定了答案。"),
    ("rewritten", "已改写", "人工写下了与草稿不同的文本。"),
    ("sample_confirmed", "示例确认", "由示例投票确认，并非真人。"),
    ("sample_rewritten", "示例改写", "示例投票写下了与草稿不同的文本，并非真人。"),
    ("provisional", "暂用草稿", "暂以草稿为准：还缺投票，而设置允许先用草稿。"),
    ("rejected", "被否决", "投票否决了该记录。"),
    ("decided_keep", "人工放行", "有人裁定该记录继续，不论规则、草稿或投票如何；依据写明双方。"),
    ("decided_drop", "人工剔除", "有人裁定剔除该记录；依据写明该裁定。"),
    ("decided_hold", "人工搁置", "有人裁定搁置该记录；依据写明该裁定。"),
    ("decided_text", "人工改定", "有人裁定文本应当如此；改动前是导入时的文本。"),
    ("decided_one", "人工合并", "有人裁定两条是同一个笑话。"),
    ("decided_two", "人工分开", "有人裁定两条不是同一个笑话，不论规则如何；两条都继续。"),
    (
        "published",
        "已发表",
        "记录来自已发表的数据集，或其标注出自那里；依据写明所在行，以及该步骤原本会如何处理。",
    ),
    ("group_member", "同组", "该行属于已发表数据集中的一组，作为该组记录的一部分继续。"),
    ("votes_missing", "缺少投票", "记录在等待投票。"),
    ("disputed", "有争议", "投票未能得出结果，等待仲裁者。"),
    ("answer_missing", "缺少谜底", "谜底未知，等待知道的人补上。"),
    ("promotion", "网站宣传", "谜面或谜底之后附有网站自己的话，已去掉；依据为去掉的内容。"),
    ("tidied", "已整理", "解码了字符实体，换行与连续空格合为一个空格。"),
    ("misspelt", "疑似拼写错误", "词典中有依据所列词语的另一种拼法；文本等待人工查看。"),
    ("premises_given", "前提已给定", "raw/premises 中的文件给出了谜题的前提或推论，不再询问模型。"),
    ("beside_answer", "答案的近邻", "文件或 WordNet 中有三个与答案并列的词，作为草拟的干扰项。"),
    ("group_incomplete", "一组不全", "三则一组中缺少问题、答案或干扰项，或两个选项相同。"),
    ("options_missing", "缺少选项", "尚不能生成选项：缺少解释或错误答案，或其中两个相同。"),
    ("responses_missing", "缺少回答", "缺少模型对该问题的回答。"),
    ("judges_missing", "评委不足", "可为该回答评分的评委少于设置的要求。"),
    ("rated", "已评分", "评委已为该回答评分。"),
    ("to_normal_question", "答正常问题", "该回答针对配对的正常问题：评分以供比较，不作选项。"),
    ("not_computed", "无法计算", "基准文件夹中的表达式无法对该记录求值；依据为其位置与错误。"),
    ("no_elements", "没有元素", "每个元素各成一条记录的列表为空。"),
    ("requirement_broken", "不合要求", "记录不满足基准文件夹中 `requires` 的要求；依据为该文件夹的说明。"),
    ("not_wanted", "不予收录", "基准文件夹中 [data] 的 `when` 不收录该记录。"),
    ("ordered", "已排序", "选项按为该记录抽取的次序排列。"),
    // Rules of cleaning.
    ("score", "评分", "年度帖末尾的评分移出文本，成为数值。"),
    ("number", "编号", "去掉年度帖正文前的名次与星号。"),
    ("debris", "残渣", "去掉控制字符、零宽字符与首尾空白。"),
    ("bar", "竖线", "去掉字间用来躲避检查的竖线。"),
    ("image", "图片标记", "去掉图片标记。"),
    ("link", "链接", "去掉链接。"),
    ("signature", "签名", "去掉客户端签名。"),
    ("see_title", "如题", "去掉正文前的“如题，”。"),
    ("empty_title", "空标题", "去掉没有文字的标题。"),
    ("repeated", "重复标题", "正文重复标题或已含其中，只留一份。"),
    ("cut_title", "标题被截", "标题被论坛截断或有误，以含其全文的正文代替。"),
    ("joined", "标题接正文", "标题与正文各说一事，以换行相连。"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::REASONS;
    use crate::record::Reason;
    use crate::text::clean::Rule;

    #[test]
    fn a_chinese_name_stands_for_one_reason() {
        let reasons = Reason::ALL.iter().map(|reason| reason.code());
        let codes: BTreeSet<&str> = reasons.chain(Rule::ALL.iter().map(|rule| rule.code())).collect();
        let named: Vec<&str> = REASONS.iter().map(|(code, ..)| *code).collect();
        let unknown: Vec<_> = named.iter().filter(|code| !codes.contains(**code)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "a code occurs twice");
    }
}
