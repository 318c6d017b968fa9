//! Chumor: sections 2 to 4 and appendices C to E of its paper.

use super::super::ballot::{Adjudication, Combine, Drafts, Field, Kind, Role, Step, choice, label};
use super::note;

const ANYBODY: [Role; 3] = [Role::Annotator, Role::Junior, Role::Senior];

pub(super) fn steps() -> Vec<Step> {
    vec![screen(), explanation(), preference(), errors()]
}

/// One of the authors does this alone.
fn screen() -> Step {
    let reasons = vec![
        choice(
            "not_funny",
            label("not funny", "不好笑"),
            label(
                "Nothing in it is meant to amuse, or nobody could be amused.",
                "没有逗笑的意图，或不可能让人发笑。",
            ),
        ),
        choice(
            "forum",
            label("forum rules", "吧务"),
            label(
                "It speaks of running the forum: rules, votes, notices, moderators.",
                "关于贴吧管理：规则、投票、公告、吧主。",
            ),
        ),
        choice(
            "offensive",
            label("too offensive", "过于冒犯"),
            label("It demeans or attacks beyond what a joke can carry.", "贬低或攻击超出了玩笑的范围。"),
        ),
        choice(
            "incomplete",
            label("incomplete", "不完整"),
            label(
                "A part is cut off, or it needs a picture or another post.",
                "内容被截断，或依赖图片、其他帖子。",
            ),
        ),
        choice(
            "philosophical",
            label("philosophical", "偏哲理"),
            label("It offers an insight more than a joke.", "更像感悟而不是笑话。"),
        ),
    ];
    Step {
        recipe: "chumor",
        name: "screen",
        title: label("Is it a joke to explain?", "这是值得解释的笑话吗？"),
        guideline: label(
            "Keep a text that is complete, means to be funny and can be printed. Otherwise mark every reason against it.",
            "文本完整、意在逗笑、可以刊登，就保留。否则请标出所有不保留的理由。",
        ),
        paper: "Chumor, section 2, data annotation",
        shows: vec![("joke", label("Joke", "笑话")), note()],
        fields: vec![Field::new("screen", label("Keep it?", "是否保留？"), Kind::Keep { reasons })],
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Hidden,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}

/// Written by hand, one author for all of them; the LLM's explanations are opponents, not drafts.
fn explanation() -> Step {
    Step {
        recipe: "chumor",
        name: "explanation",
        title: label("Why is it funny?", "它好笑在哪里？"),
        guideline: label(
            "Explain in two sentences, about 80 characters in all: what one expects, and what turns it round. Name the pun, the \
             sound, the character or the piece of culture that the joke hangs on. Write in Chinese.",
            "用两句话（共约80字）说明：读者原本会怎么理解，笑点又如何反转。指出笑话所依赖的双关、谐音、字形或文化背景。请用中文书写。",
        ),
        paper: "Chumor, section 2, data annotation; section 3, experiment setup",
        shows: vec![("joke", label("Joke", "笑话")), note()],
        fields: vec![Field::new("explanation", label("Explanation", "解释"), Kind::Text)],
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Hidden,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}

/// Three votes for each joke and opponent; a majority, or `undecided` where all differ.
fn preference() -> Step {
    let tie = choice(
        "equal",
        label("equally good", "一样好"),
        label("You would give either to a friend who did not get the joke.", "给没看懂的朋友看哪一个都行。"),
    );
    let better = Field::new(
        "preference",
        label("Which explanation is better?", "哪个解释更好？"),
        Kind::Preference { sides: ["human", "llm"], tie },
    )
    .combine(Combine::MajorityOr("undecided"));
    Step {
        recipe: "chumor",
        name: "preference",
        title: label("Which explanation says better why it is funny?", "哪个解释更好地说明了它为什么好笑？"),
        guideline: label(
            "You see a joke and two explanations of its humour. Choose the one that explains better why it is funny: 1, 2, or \
             equally good. Length and style do not matter; an explanation that misses the point or invents facts loses.",
            "您将看到一个笑话和对其幽默之处的两个解释。请选择哪个更好地解释了它为什么好笑：1、2或一样好。\
             长短和文风不重要；没抓住笑点或编造事实的解释为差。",
        ),
        paper: "Chumor, section 3, evaluation setup; appendices C and D",
        shows: vec![
            ("joke", label("Joke", "笑话")),
            note(),
            ("explanation_1", label("Explanation 1", "解释1")),
            ("explanation_2", label("Explanation 2", "解释2")),
        ],
        fields: vec![better],
        voters: ANYBODY.to_vec(),
        votes_needed: 3,
        drafts: Drafts::Hidden,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}

/// An explanation may show several kinds of error. The paper looks at 200 and does not say how many
/// people do; here it is one.
fn errors() -> Step {
    let options = vec![
        choice(
            "none",
            label("no error", "没有错误"),
            label("The explanation gets the joke.", "解释抓住了笑点。"),
        ),
        choice(
            "cultural",
            label("cultural unawareness", "不了解文化"),
            label(
                "A custom, a saying or slang behind the joke is not known.",
                "不了解笑话背后的习俗、俗语或流行语。",
            ),
        ),
        choice(
            "homophone",
            label("homophone missed", "未识别谐音"),
            label("Words that sound alike are not heard.", "没有听出同音或近音。"),
        ),
        choice(
            "character",
            label("character missed", "未识别字形"),
            label("The look or the parts of a character are not seen.", "没有看出字形或部件上的玩笑。"),
        ),
        choice(
            "context",
            label("context missed", "未理解语境"),
            label(
                "The situation, or the plain meaning of the words in it, is overlooked.",
                "忽略了情境或词语在其中的字面意思。",
            ),
        ),
        choice(
            "hallucination",
            label("hallucination", "编造"),
            label("A fact or detail is made up.", "编造了事实或细节。"),
        ),
        choice(
            "pun",
            label("pun missed", "未识别双关"),
            label("Another meaning of a word is not found.", "没有发现词语的另一层意思。"),
        ),
        choice(
            "parsing",
            label("parsing missed", "未识别断句"),
            label("The sentence can be cut another way, which is not seen.", "没有看出句子的另一种断法。"),
        ),
        choice(
            "cross_language",
            label("other language missed", "未识别外语"),
            label("A word or sound of another language is not recognised.", "没有认出其他语言的词或读音。"),
        ),
        choice(
            "sensitivity",
            label("excessive sensitivity", "过度敏感"),
            label("It refuses or lectures where nothing is harmful.", "内容无害却拒绝回答或说教。"),
        ),
    ];
    let kind = Kind::Choices { options, min: 1, max: 10 };
    Step {
        recipe: "chumor",
        name: "errors",
        title: label("What does the explanation get wrong?", "这个解释错在哪里？"),
        guideline: label(
            "Compare the explanation with the one a person wrote and mark every kind of error it shows, or that it has none.",
            "与人写的解释对照，标出它的所有错误类型；没有错误也请标明。",
        ),
        paper: "Chumor, section 4 and appendix E; figure 3",
        shows: vec![
            ("joke", label("Joke", "笑话")),
            note(),
            ("reference", label("Explanation by a person", "人写的解释")),
            ("explanation", label("Explanation to judge", "待判断的解释")),
        ],
        fields: vec![Field::new("errors", label("Errors", "错误类型"), kind).combine(Combine::Union)],
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Hidden,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: true,
        qualification: None,
    }
}
