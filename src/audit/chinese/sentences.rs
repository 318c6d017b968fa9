//! Chinese translations of the libraries' English sentences. Other sentences are unchanged; names, figures,
//! settings and commands are never translated.

/// English with `{}` for values of the workspace, and the Chinese, with as many in the same order.
const SENTENCES: &[(&str, &str)] = &[
    // What would make a release refuse.
    (
        "{}: {}; `riddlemill explain {} --recipe {}` shows who decided it",
        "{}：{}；`riddlemill explain {} --recipe {}` 可查看由谁决定",
    ),
    (
        "{} and {} became one row{}: both have the id {}; `riddlemill decide drop {} --recipe {} --by NAME --why TEXT` leaves one",
        "{} 与 {} 成为同一行{}：编号同为 {}；`riddlemill decide drop {} --recipe {} --by NAME --why TEXT` 可只留其一",
    ),
    (
        "{} and {} became one row{}: both have the id {}; a vote that rejects one of them leaves the other, or a step \
         `dedup` in the benchmark's folder",
        "{} 与 {} 成为同一行{}：编号同为 {}；投票否决其一即可保留另一条，或在基准文件夹中增加步骤 `dedup`",
    ),
    ("and {} more like these", "另有 {} 条同类问题"),
    // What keeps records back.
    ("the text contains a listed term", "文本含有词表中的词"),
    (
        "the id `{}` names no post: a spreadsheet or a program made it; save the column as text, and import the file again",
        "编号 `{}` 不指向任何帖子：由电子表格或程序写成；请将该列存为文本后重新导入文件",
    ),
    (
        "another post has the id {}, with an unlike text: one of the two ids is wrong",
        "另一帖已有编号 {}，但文本完全不同：两个编号必有一错",
    ),
    (
        "`{}` was read in another encoding than it was written in; save the source as UTF-8",
        "`{}` 读取时所用的编码与写入时不同；请将来源存为 UTF-8",
    ),
    ("no item has two votes", "没有一条有两票"),
    (
        "every vote gives the same answer, so there is no agreement beyond chance to measure",
        "所有投票的答案相同，无从衡量超出偶然的一致",
    ),
    (
        "Fleiss' kappa needs items with as many votes each as the ballot asks for",
        "计算 Fleiss κ 需要票数达到要求的条目",
    ),
    (
        "Cohen's kappa needs two people whose answers to the same items vary",
        "计算 Cohen κ 需要两人对相同条目的答案有变化",
    ),
    ("somebody decided so", "有人如此裁定"),
    ("the run was interrupted", "运行被中断"),
    ("an earlier version took what was cut or refused for whole", "旧版本把被截断或拒绝的回复当作完整的"),
    ("the answer was cut at {} tokens", "回答在 {} 个 token 处被截断"),
    ("the answer of {} was cut at {} tokens", "{} 的回答在 {} 个 token 处被截断"),
    ("check base_url of [llm.{}] in pipeline.toml", "请检查 pipeline.toml 中 [llm.{}] 的 base_url"),
    (
        "change what the server names, under [llm.{}] in pipeline.toml or at the server",
        "请按服务器所指，修改 pipeline.toml 中的 [llm.{}] 或服务器本身",
    ),
    (
        "lower sampling.max_tokens under [llm.{}] in pipeline.toml",
        "请调低 pipeline.toml 中 [llm.{}] 的 sampling.max_tokens",
    ),
    ("the run was offline", "运行时离线"),
    ("nothing was asked yet", "尚未询问任何模型"),
    ("the sample contains no replies for them", "示例回复中没有对应的回复"),
    (
        "no endpoint to ask: {} names none that pipeline.toml has",
        "没有可询问的端点：{} 未指明 pipeline.toml 中的端点",
    ),
    ("no endpoint to ask: {} names none", "没有可询问的端点：{} 未指明任何端点"),
    ("the cap of {} leaves too little for the next request: {}", "{} 的上限所余不够下一个请求：{}"),
    ("the run's cap leaves too little for the next request: {}", "本次运行的上限所余不够下一个请求：{}"),
    (
        "nobody answered the question about the money, so nothing was asked of an endpoint; start the run again \
         and answer it",
        "费用问题无人回答，因此没有询问任何端点；请重新启动运行并作答",
    ),
    ("the reply cannot be read: {}", "回复无法解析：{}"),
    ("{} is not set", "未设置 {}"),
    ("no model has answered", "尚无模型作答"),
    ("{} of at least {} models have answered: {}", "已有 {} 个模型作答（至少需要 {} 个）：{}"),
    ("{} rated answers, but two are needed", "已评分的回答有 {} 个，需要两个"),
    ("all {} answers are rated alike", "全部 {} 个回答评分相同"),
    ("{} first-round vote still needed from {}", "还需 {} 票（投票）：{}"),
    ("{} first-round votes still needed from {}", "还需 {} 票（投票）：{}"),
    ("{} review vote still needed from {}", "还需 {} 票（复核）：{}"),
    ("{} review votes still needed from {}", "还需 {} 票（复核）：{}"),
    // Of ledgers and releases that earlier versions wrote.
    ("no model has answered it", "尚无模型作答"),
    ("{} of at least {} models have answered it: {}", "已有 {} 个模型作答（至少需要 {} 个）：{}"),
    ("nobody was asked yet", "尚未询问任何模型"),
    ("{} rated answers, and two are needed", "已评分的回答有 {} 个，需要两个"),
    (
        "{} rows of {} are provisional: people have still to confirm them",
        "{} 行（{}）暂以草稿为准，尚待人工确认",
    ),
    (
        "{} rows of {} are synthetic: people have still to confirm them",
        "{} 行（{}）来自合成投票，尚待人工确认",
    ),
    ("made before this reached it: {}", "生成于此变动之前：{}"),
    ("waits for {} vote (vote) of {}", "还需 {} 票（投票）：{}"),
    ("waits for {} votes (vote) of {}", "还需 {} 票（投票）：{}"),
    ("waits for {} vote (review) of {}", "还需 {} 票（复核）：{}"),
    ("waits for {} votes (review) of {}", "还需 {} 票（复核）：{}"),
    // How to fix it.
    (
        "add [[annotator]]s to pipeline.toml: {} needs {} who may vote on an item, there is {}",
        "请在 pipeline.toml 中增加 [[annotator]]：{} 的每个条目需要 {} 人投票，目前有 {} 人",
    ),
    (
        "add [[annotator]]s to pipeline.toml: {} needs {} who may vote on an item, there are {}",
        "请在 pipeline.toml 中增加 [[annotator]]：{} 的每个条目需要 {} 人投票，目前有 {} 人",
    ),
    (
        "add [[annotator]]s to pipeline.toml: the author of what {} judges may not vote on it",
        "请在 pipeline.toml 中增加 [[annotator]]：{} 所评内容的作者不得对其投票",
    ),
    (
        "name an [llm.<name>] of yours as {} in pipeline.toml",
        "请在 pipeline.toml 中把您的 [llm.<name>] 填入 {}",
    ),
    (
        "name models as respond.endpoints, or put answers into raw/responses",
        "请在 respond.endpoints 中指定模型，或把回答放入 raw/responses",
    ),
    ("name judges as judge.endpoints in pipeline.toml", "请在 pipeline.toml 的 judge.endpoints 中指定评委"),
    (
        "set usd_per_million_in and usd_per_million_out, or free = true, under [llm.{}] in pipeline.toml",
        "请在 pipeline.toml 的 [llm.{}] 下设置 usd_per_million_in 和 usd_per_million_out，或 free = true",
    ),
    ("raise {} under [llm.{}] in pipeline.toml", "请调高 {}（pipeline.toml 的 [llm.{}]）"),
    ("raise {} in pipeline.toml", "请在 pipeline.toml 中调高 {}"),
    ("set {} under [llm.{}] in pipeline.toml", "请设置 {}（pipeline.toml 的 [llm.{}]）"),
    ("take {} out under [llm.{}] in pipeline.toml", "请删去 {}（pipeline.toml 的 [llm.{}]）"),
    ("check the key in {}", "请检查 {} 中的密钥"),
    (
        "name the key's variable as key_env under [llm.{}] in pipeline.toml",
        "请在 pipeline.toml 的 [llm.{}] 下用 key_env 指明密钥的环境变量",
    ),
    (
        "check base_url and model of [llm.{}] in pipeline.toml",
        "请检查 pipeline.toml 中 [llm.{}] 的 base_url 和 model",
    ),
    (
        "check base_url, api_version and model of [llm.{}] in pipeline.toml",
        "请检查 pipeline.toml 中 [llm.{}] 的 base_url、api_version 和 model",
    ),
    ("check what the key_command of [llm.{}] prints", "请检查 [llm.{}] 的 key_command 输出什么"),
    ("run the key_command of [llm.{}] by hand", "请手动运行 [llm.{}] 的 key_command"),
    ("check that {} answers, the base_url of [llm.{}]", "请检查 {} 能否访问，它是 [llm.{}] 的 base_url"),
    ("check `kind` of [[source]] {} in pipeline.toml", "请检查 `kind`：pipeline.toml 中的 [[source]] {}"),
    ("get the file again: what is behind this place is missing", "请重新获取该文件：此处之后的内容缺失"),
    ("no row has the column {}; the columns are {}", "没有任何一行有列 {}；现有的列是 {}"),
    ("check `benchmark` and `path` of [[published]] {}", "请检查 `benchmark` 与 `path`：[[published]] {}"),
    ("pay for {}", "请为 {} 付费"),
    // Questions of a run before it pays, and its messages.
    (
        "about {} for {} request to {}, at most {} for up to {} requests until this run ends; continue?",
        "大约 {}：{} 个请求，发往 {}；到本次运行结束，最多 {}，至多 {} 个请求。要继续吗？",
    ),
    (
        "about {} for {} request to {}, and up to {} requests until this run ends, some without a price or of dumps that \
         were not read yet; continue?",
        "大约 {}：{} 个请求，发往 {}；到本次运行结束至多 {} 个请求，其中有的没有标价，或其数据尚未读入。要继续吗？",
    ),
    ("about {} for {} request to {}; continue?", "大约 {}：{} 个请求，发往 {}。要继续吗？"),
    (
        "about {} for {} request to {}: not agreed, and nothing was sent",
        "大约 {}：{} 个请求，发往 {}。未获同意，什么都没有发送。",
    ),
    (
        "about {} for {} requests to {}, at most {} for up to {} requests until this run ends; continue?",
        "大约 {}：{} 个请求，发往 {}；到本次运行结束，最多 {}，至多 {} 个请求。要继续吗？",
    ),
    (
        "about {} for {} requests to {}, and up to {} requests until this run ends, some without a price or of dumps that \
         were not read yet; continue?",
        "大约 {}：{} 个请求，发往 {}；到本次运行结束至多 {} 个请求，其中有的没有标价，或其数据尚未读入。要继续吗？",
    ),
    ("about {} for {} requests to {}; continue?", "大约 {}：{} 个请求，发往 {}。要继续吗？"),
    (
        "about {} for {} requests to {}: not agreed, and nothing was sent",
        "大约 {}：{} 个请求，发往 {}。未获同意，什么都没有发送。",
    ),
    (
        "llm.{} would send requests to {}, {} requests now, which nobody on this machine agreed to for this workspace; \
         continue?",
        "llm.{} 将向 {} 发送请求，现有 {} 个请求；本机尚无人为此工作区同意过。要继续吗？",
    ),
    (
        "llm.{} would send requests to {}, {} request now, which nobody on this machine agreed to for this workspace; \
         continue?",
        "llm.{} 将向 {} 发送请求，现有 {} 个请求；本机尚无人为此工作区同意过。要继续吗？",
    ),
    (
        "llm.{} would send requests to {}, {} requests now, which nobody on this machine agreed to for this workspace: not \
         agreed, and nothing was sent",
        "llm.{} 将向 {} 发送请求，现有 {} 个请求；本机尚无人为此工作区同意过。未获同意，什么都没有发送。",
    ),
    (
        "{} states a cost that no request has; it was charged {}, which was reserved for it",
        "{} 所报的费用不可能属实；按为该请求预留的 {} 记账",
    ),
    (
        "a request to {} cost {}, more than the {} reserved for it: it counts {} tokens of an answer where {} were allowed; \
         set sampling.max_tokens under [llm.{}] to what it keeps to",
        "发往 {} 的一个请求花费 {}，超过为它预留的 {}：它计了 {} 个回答 token，而只允许 {} 个；请在 [llm.{}] 下把 \
         sampling.max_tokens 设为它所遵守的值",
    ),
    (
        "a request to {} cost {} by its own statement, more than the {} reserved for it; set the prices under [llm.{}] to \
         what it charges",
        "发往 {} 的一个请求据其自报花费 {}，超过为它预留的 {}；请在 [llm.{}] 下按其收费设置价格",
    ),
    (
        "a request to {} cost {} by its own statement, though [llm.{}] says free = true; set its prices instead",
        "发往 {} 的一个请求据其自报花费 {}，而 [llm.{}] 写的是 free = true；请改为设置其价格",
    ),
    (
        "{} asked, {} stored, {} failed, {} in flight, {} tokens, {}",
        "已问 {}，已有 {}，失败 {}，进行中 {}，{} 个 token，{}",
    ),
    ("{} gets no more requests in this run: {}", "本次运行不再询问 {}：{}"),
    ("nothing more is sent, and no request is in flight", "不再发送请求，也没有进行中的请求"),
    (
        "nothing more is sent; waiting for {} request in flight, {} s at most; once more leaves it, counted as spent",
        "不再发送请求；正在等待 {} 个进行中的请求，最多 {} 秒；再停一次则放弃它，费用照记",
    ),
    (
        "nothing more is sent; waiting for {} requests in flight, {} s at most; once more leaves them, counted as spent",
        "不再发送请求；正在等待 {} 个进行中的请求，最多 {} 秒；再停一次则放弃它们，费用照记",
    ),
    // What is not possible on a page, and why.
    ("a run needs at least one recipe", "请至少选择一个配方"),
    ("an invitation needs a name", "请填写被邀请者的名称"),
    ("{} is not an [[annotator]] of pipeline.toml", "pipeline.toml 中没有名为 {} 的 [[annotator]]"),
    ("the day by which answers are wanted is written YYYY-MM-DD", "截止日期须写作 YYYY-MM-DD"),
    (
        "choose what the link opens; the first person becomes the manager only if that is chosen",
        "请选择链接开放的权限；只有明确选择后，第一个人才会成为管理者",
    ),
    (
        "the first invitation must be for a curator, because it closes the pages to everybody else",
        "第一个用链接进入的人必须是管理者：此后没有令牌的人都不能进入",
    ),
    ("you cannot revoke your own access; another curator can", "不能取消自己的权限；可由另一位管理者取消"),
    (
        "a guideline is needed in both languages, because annotators may read either",
        "标注规范须有中英两种文本：标注者各看其一",
    ),
    ("the overlap is a share of 0 to 100 %", "多投一票的比例须在 0 到 100 % 之间"),
    ("a decision needs a reason\n  hint: --why \"…\"", "裁定须写明理由"),
    (
        "{} may not decide: {}\n  hint: an [[annotator]] whose role is senior or meta may",
        "{} 无权裁定：{}\n角色为 senior 或 meta 的 [[annotator]] 可以裁定",
    ),
    ("{} needs the new text, which must not be empty", "{} 须写明文本应当如何，不能为空"),
    ("{} is about two different records", "{} 针对的是两条不同的记录"),
    (
        "{} is neither held nor dropped\n  hint: `riddlemill explain` shows its history",
        "{}：没有阶段搁置或剔除它；处理过程见 `riddlemill explain`",
    ),
    // Why a stage is remade.
    ("layout {}, a run writes layout {}", "文件格式为 {}，运行会写成格式 {}"),
    // Why a set is a draft.
    ("built from the synthetic sample ({})", "由合成示例生成（{}）"),
    (
        "{} rows of {} are provisional: people still have to confirm them",
        "{} 行（{}）暂以草稿为准，尚待人工确认",
    ),
    (
        "{} rows of {} are synthetic: people still have to confirm them",
        "{} 行（{}）来自合成投票，尚待人工确认",
    ),
    ("{} ends at candidate posts: no person has looked at them", "{} 止于候选帖子，尚无人看过"),
    ("{} ends at candidates: no person has looked at them", "{} 止于候选，尚无人看过"),
    ("{} items of {} are provisional or decided by synthetic votes", "{} 条（{}）是暂定的，或由合成投票决定"),
    ("built before this change: {}", "生成于此变动之前：{}"),
    ("asked for as a draft", "按要求作为草稿"),
    // What a set lacks.
    ("a field that every row has is missing", "缺少每行都有的字段"),
    ("`when` under [data] of the benchmark leaves it out", "基准 [data] 中的 `when` 将其排除"),
];

/// A sentence of the libraries in Chinese; `None` without a translation.
pub(crate) fn sentence(text: &str) -> Option<String> {
    translated(SENTENCES, text)
}

/// Translates a text by a list of patterns, English and Chinese, with `{}` for values that are translated
/// themselves.
pub(crate) fn translated(known: &[(&str, &str)], text: &str) -> Option<String> {
    let (zh, given) = known.iter().find_map(|(en, zh)| Some((*zh, holes(en, text)?)))?;
    Some(fill(zh, &given))
}

/// The values in a pattern's `{}`; `None` if the text is another sentence.
fn holes<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = text.strip_prefix(pieces.next()?)?;
    let mut found = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        // The last piece has to end the text, because the value before it may contain the same words.
        let end =
            if pieces.peek().is_some() { rest.find(piece)? } else { rest.len().checked_sub(piece.len())? };
        if rest.get(end..end + piece.len())? != piece {
            return None;
        }
        found.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    rest.is_empty().then_some(found)
}

/// A text with its placeholders filled in.
pub(crate) fn fill(text: &str, given: &[&str]) -> String {
    let mut pieces = text.split("{}");
    let mut text = pieces.next().unwrap_or_default().to_string();
    for (given, piece) in given.iter().zip(pieces) {
        text.push_str(given);
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_their_names_and_figures() {
        let zh = |text: &str| sentence(text).unwrap_or_else(|| text.to_string());
        assert_eq!(zh("the text contains a listed term"), "文本含有词表中的词");
        assert_eq!(
            zh("24 rows of flub are synthetic: people still have to confirm them"),
            "24 行（flub）来自合成投票，尚待人工确认"
        );
        assert_eq!(
            zh("raise max_usd under [llm.mine] in pipeline.toml"),
            "请调高 max_usd（pipeline.toml 的 [llm.mine]）"
        );
        assert_eq!(zh("raise draft.max_usd in pipeline.toml"), "请在 pipeline.toml 中调高 draft.max_usd");
        assert_eq!(
            zh("no endpoint to ask: draft.endpoint names none that pipeline.toml has"),
            "没有可询问的端点：draft.endpoint 未指明 pipeline.toml 中的端点"
        );
        assert_eq!(zh("500 from mine"), "500 from mine");
        assert_eq!(
            zh(
                "d:1 and d:2 became one row (\"x\"): both have the id ab; `riddlemill decide drop d:2 --recipe flub --by NAME --why \
                 TEXT` leaves one"
            ),
            "d:1 与 d:2 成为同一行 (\"x\")：编号同为 ab；`riddlemill decide drop d:2 --recipe flub --by NAME --why TEXT` 可只留其一"
        );
    }

    #[test]
    fn every_sentence_has_as_many_holes_in_both_languages() {
        for (en, zh) in SENTENCES {
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{en}");
            let filled = en.replace("{}", "x1");
            assert_eq!(sentence(&filled), Some(zh.replace("{}", "x1")), "{en}: another one takes it");
        }
    }
}
