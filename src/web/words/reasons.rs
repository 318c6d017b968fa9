//! Reasons and rules in Chinese: code, short name, definition. The English stands with the code.

/// The entry of a code.
pub(super) fn find(code: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    REASONS.iter().find(|(known, ..)| *known == code)
}

/// How many reasons have a Chinese name; others are shown by their code.
#[cfg(test)]
pub(super) const COUNT: usize = REASONS.len();

const REASONS: &[(&str, &str, &str)] = &[
    ("unreadable", "无法读取", "该行或页面不符合来源的格式。"),
    ("oversize", "超长未读", "该行超过设置的上限，未读取。"),
    ("encoding", "编码错误", "文本不是 UTF-8。"),
    ("truncated", "文件残缺", "文件中途结束或压缩受损，其后内容缺失。"),
    ("same_id", "编号重复", "同一编号的记录已从本来源或其他来源读过。"),
    ("not_owner", "非楼主", "年度帖中并非楼主所发的楼层。"),
    ("chatter", "闲话", "年度帖中不属于排名笑话的楼层：楼主的插话或回复。"),
    ("no_number", "无编号", "论坛给的编号为 0 或没有编号：帖间的广告或公告。"),
    ("taken_away", "已被删除", "存档之前作者或吧务已删除正文，只剩标记。"),
    ("page_other", "其他页面", "存档页不是该论坛的列表、主题或回复。"),
    ("page_blocked", "页面受阻", "网站要求验证码或拒绝访问。"),
    ("page_shell", "空壳页面", "页面只是脚本的空框，内容来自其他请求。"),
    ("page_deleted", "主题已删", "页面提示主题已被删除。"),
    ("page_hidden", "主题被隐藏", "页面提示主题对访客隐藏。"),
    ("page_merged", "贴吧已合并", "页面提示该吧已并入其他吧。"),
    ("page_empty", "页面无帖", "页面结构正确，但没有帖子。"),
    ("page_unparsed", "结构未知", "本版本不认识页面的结构：版式不同、服务器错误或页面残缺。"),
    ("placeholder", "占位内容", "去掉只因论坛要求而写的占位内容（“.”“RT”、客户端签名等）。"),
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
    ("reply_missing", "缺少回复", "回复未存储且不得发送，或示例包中没有。"),
    ("budget_reached", "预算已到", "再发送可能超过本次运行、配方或端点的上限。"),
    ("no_price", "未标价格", "端点既无价格也未声明免费，无法控制上限。"),
    ("key_missing", "缺少密钥", "存放端点密钥的环境变量未设置。"),
    ("interrupted", "已中断", "在询问之前运行已被中断。"),
    ("request_failed", "请求失败", "端点拒绝了请求，或所有尝试均失败。"),
    ("reply_unparseable", "回复无法解析", "包括重问在内，回复都没有给出所要的内容。"),
    ("drafted", "已有草稿", "记录带有模型草稿，需要人工查看。"),
    ("not_drafted", "没有草稿", "没有得到草稿，而设置允许记录继续。"),
    ("confirmed", "已确认", "人工确认了草稿或决定了答案。"),
    ("rewritten", "已改写", "人工写下了与草稿不同的文本。"),
    ("sample_confirmed", "示例确认", "由示例投票确认，并非真人。"),
    ("sample_rewritten", "示例改写", "示例投票写下了与草稿不同的文本，并非真人。"),
    ("provisional", "暂用草稿", "暂以草稿为准：尚缺投票，而设置允许草稿先行。"),
    ("rejected", "被否决", "投票否决了该记录。"),
    ("votes_missing", "缺少投票", "记录在等待投票。"),
    ("disputed", "有争议", "投票未能决定，等待裁决者。"),
    // Rules of cleaning.
    ("score", "评分", "年度帖末尾的评分移出文本，成为数值。"),
    ("number", "编号", "去掉年度帖正文前的名次与星号。"),
    ("debris", "残渣", "去掉控制字符、零宽字符与首尾空白。"),
    ("bar", "竖线", "去掉字间用来躲避检查的竖线。"),
    ("image", "图片标记", "去掉图片标记。"),
    ("link", "链接", "去掉链接。"),
    ("signature", "签名", "去掉客户端签名。"),
    ("see_title", "如题", "去掉正文前的“如题，”。"),
    ("title_note", "标题附注", "去掉只作附注的标题。"),
    ("repeated", "重复标题", "正文重复标题或已含其中，只留一份。"),
    ("cut_title", "标题被截", "标题被论坛截断或有误，以含其全文的正文代替。"),
    ("joined", "标题接正文", "标题与正文各说一事，以换行相连。"),
];
