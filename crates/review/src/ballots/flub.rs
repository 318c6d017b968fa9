//! FLUB: section 2.1 of its paper.

use super::super::ballot::{
    Adjudication, Choice, Combine, Drafts, Field, Kind, Qualification, Review, Role, Step, choice, label,
};
use super::{note, yes_no};

/// Section 2.1: every annotator above 80 % in the trial, a senior above 95 %.
const TRIAL: Qualification = Qualification::FLUB;

pub(super) fn steps() -> Vec<Step> {
    vec![clean(), kinds(), explanation(), wrong_candidates(), wrong()]
}

/// 9,927 posts to 834. The paper does not say how many look at one post; here it is one.
fn clean() -> Step {
    let verdicts = vec![
        choice(
            "keep",
            label("keep", "保留"),
            label(
                "A cunning text, one complete sentence as it stands.",
                "是弯绕文本，且本身就是完整的句子。",
            ),
        ),
        choice(
            "rewrite",
            label("rewrite", "改写"),
            label(
                "A cunning text with something around it, or cut in pieces: write its fallacy as one complete sentence.",
                "是弯绕文本，但混有无关内容或不连贯：请把其中的谬误写成完整的句子。",
            ),
        ),
        choice(
            "reject",
            label("reject", "拒绝"),
            label("Not a cunning text, or not one that may be published.", "不是弯绕文本，或不宜发布。"),
        ),
    ];
    let reasons = vec![
        choice(
            "irrelevant",
            label("not cunning", "不是弯绕文本"),
            label("A greeting, news, an advertisement, forum talk.", "问候、新闻、广告、吧务闲谈。"),
        ),
        choice(
            "incomplete",
            label("cannot be completed", "无法补全"),
            label(
                "It needs a picture, a link or another post that is not there.",
                "依赖缺失的图片、链接或其他帖子。",
            ),
        ),
        choice(
            "impolite",
            label("impolite", "不礼貌"),
            label("It insults, threatens or is obscene.", "含有侮辱、威胁或淫秽内容。"),
        ),
        choice(
            "sensitive",
            label("sensitive", "敏感信息"),
            label(
                "It touches a private person's life or health, or a matter that may not be published.",
                "涉及个人隐私、健康，或不宜公开的事项。",
            ),
        ),
        choice(
            "duplicate",
            label("duplicate", "重复"),
            label("The same joke in other words is already kept.", "同一个段子换了说法，已保留过。"),
        ),
    ];
    let text = Field::new("text", label("The text as one complete sentence", "完整的句子"), Kind::Text).when(
        "verdict",
        &["rewrite"],
        &["keep"],
    );
    let question = Field::new(
        "is_question",
        label("Is it a question?", "是疑问句吗？"),
        Kind::Choice(yes_no(
            "It asks something, with or without a question mark.",
            "在提问，无论是否带问号。",
            "It states something.",
            "是陈述。",
        )),
    )
    .when("verdict", &["keep", "rewrite"], &[]);
    let why = Field::new(
        "reasons",
        label("Why not?", "拒绝的理由"),
        Kind::Choices { options: reasons, min: 1, max: 5 },
    )
    .when("verdict", &["reject"], &[])
    .combine(Combine::Union);
    Step {
        recipe: "flub",
        name: "clean",
        title: label("Is it a cunning text?", "这是弯绕文本吗？"),
        guideline: label(
            "Keep texts that look sensible and hide a fallacy, a play on words or a contradiction. Take out links, pictures and \
             whatever does not belong to the fallacy, and leave one complete sentence in its author's words. Remove what names a \
             user or a private person. Reject what is impolite or sensitive.",
            "保留看似合理却暗含谬误、文字游戏或矛盾的文本。去掉链接、图片以及与谬误无关的内容，用作者自己的话留下完整的句子。\
             删除涉及用户或个人身份的内容。拒绝不礼貌或敏感的内容。",
        ),
        paper: "FLUB, section 2.1, data cleaning",
        shows: vec![("text", label("Post", "帖子")), note()],
        fields: vec![
            Field::new("verdict", label("Keep it?", "是否保留？"), Kind::Choice(verdicts)),
            text,
            question,
            why,
        ],
        voters: vec![Role::Junior, Role::Annotator, Role::Senior],
        votes_needed: 1,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: Some(TRIAL),
    }
}

/// The eight types and Undefined, figure 2, in our words. Codes are the published English names.
pub(super) fn types() -> Vec<Choice> {
    vec![
        choice(
            "false_analogy",
            label("False Analogy", "错误类比"),
            label(
                "What holds for one thing is carried over to a similar or opposite one: nobody wonders on coming home whether they \
                 forgot to open the door.",
                "把甲事的性质套到相似或相反的乙事上。",
            ),
        ),
        choice(
            "lame_jokes",
            label("Lame Jokes", "冷笑话"),
            label(
                "A missing piece of common knowledge, so unusual that it makes one laugh.",
                "缺少某种常识，而且缺得离奇，使人发笑。",
            ),
        ),
        choice(
            "phonetic_error",
            label("Phonetic Error", "字音错误"),
            label(
                "A character with several readings is read another way, and the sentence turns on that.",
                "多音字换了读音，句意随之改变。",
            ),
        ),
        choice(
            "ambiguity",
            label("Ambiguity", "歧义"),
            label("A word with several meanings is taken in the wrong one.", "把多义词理解成了另一个意思。"),
        ),
        choice(
            "paradox",
            label("Paradox", "悖论"),
            label("The sentence contradicts itself.", "句子前后矛盾。"),
        ),
        choice(
            "factual_error",
            label("Factual Error", "事实性错误"),
            label("A fact of the world is not known or is twisted.", "不了解或歪曲了某个事实。"),
        ),
        choice(
            "reasoning_error",
            label("Reasoning Error", "推理错误"),
            label(
                "A conclusion does not follow from what happened, or cause and effect are turned round.",
                "由某事推出错误或无意义的结论，或颠倒因果。",
            ),
        ),
        choice(
            "word_game",
            label("Word Game", "文字游戏"),
            label(
                "The meaning of the words themselves is bent, and a question or conclusion is built on that.",
                "曲解文字本身的含义，并以此提问或下结论。",
            ),
        ),
        choice(
            "undefined",
            label("Undefined", "未分类"),
            label(
                "Something is wrong with it, but none of the eight types fits.",
                "确有问题，但不属于以上任何一类。",
            ),
        ),
    ]
}

/// Three juniors vote blind, a senior looks over the result and changes it where needed (19.06 % in
/// the paper); where several types fit, the seniors and the authors settle on the most obvious.
fn kinds() -> Step {
    let kind = || Field::new("type", label("Main type", "主要类型"), Kind::Choice(types()));
    let also = || {
        let kind = Kind::Choices { options: types(), min: 0, max: 8 };
        Field::new("also", label("Other types that fit as well", "同样符合的其他类型"), kind)
            .optional()
            .combine(Combine::Union)
    };
    let main = Field::new(
        "main_type",
        label("Is the main type plain?", "主要类型是否明显？"),
        Kind::Choice(vec![
            choice(
                "clear",
                label("clear", "明显"),
                label("One type fits, or one fits best.", "只有一类符合，或其中一类最明显。"),
            ),
            choice(
                "discuss",
                label("to be discussed", "需讨论"),
                label(
                    "Several fit equally well; the authors should settle it.",
                    "几类同样符合，应由作者讨论决定。",
                ),
            ),
        ]),
    );
    Step {
        recipe: "flub",
        name: "type",
        title: label("By what does the text deceive?", "这段文本靠什么误导人？"),
        guideline: label(
            "Choose the type by which a careful reader would name the fallacy first. Mark others only where they would do as well. \
             Choose Undefined rather than force a type.",
            "选择细心的读者首先会想到的那一类谬误。只有其他类型同样合适时才另外标出。宁可选“未分类”，不要勉强归类。",
        ),
        paper: "FLUB, section 2.1, cunning type annotation; figure 2; section 2.2, annotation quality",
        shows: vec![("text", label("Text", "文本")), note()],
        fields: vec![kind(), also()],
        voters: vec![Role::Junior],
        votes_needed: 3,
        drafts: Drafts::Hidden,
        review: Some(Review { by: Role::Senior, fields: vec![kind(), also(), main] }),
        adjudication: Adjudication { by: Role::Meta, asked_by: vec![("main_type", "discuss")] },
        draft_ahead: true,
        qualification: Some(TRIAL),
    }
}

/// Two juniors write, a senior takes the better one and edits it where needed.
fn explanation() -> Step {
    let written =
        Field::new("explanation", label("Explanation", "解释"), Kind::Text).combine(Combine::Collect);
    let chosen = Field::new(
        "chosen",
        label("The better explanation", "更好的解释"),
        Kind::Pick { k: 1, from: "votes.explanation" },
    );
    let edited = Field::new(
        "explanation",
        label("Edited, if it needs that", "修改后的解释（如需）"),
        Kind::Edited { pick: "chosen" },
    );
    Step {
        recipe: "flub",
        name: "explanation",
        title: label("What is wrong with the text?", "这段文本错在哪里？"),
        guideline: label(
            "Explain the fallacy, or answer the question as somebody would who has seen through it: in detail, from facts, with \
             one meaning only, and so that a reader who fell for it understands why.",
            "解释其中的谬误，或像识破了它的人那样作答：详细、客观、没有歧义，让上当的读者也能明白原因。",
        ),
        paper: "FLUB, section 2.1, correct explanation annotation",
        shows: vec![("text", label("Text", "文本")), note()],
        fields: vec![written],
        voters: vec![Role::Junior],
        votes_needed: 2,
        drafts: Drafts::Hidden,
        review: Some(Review { by: Role::Senior, fields: vec![chosen, edited] }),
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: true,
        qualification: Some(TRIAL),
    }
}

/// Three wrong answers from each of three juniors: nine candidates.
fn wrong_candidates() -> Step {
    let answer = |name, en, zh| Field::new(name, label(en, zh), Kind::Text).combine(Combine::Collect);
    Step {
        recipe: "flub",
        name: "wrong-candidates",
        title: label("Which wrong answers would a model give?", "模型会给出哪些错误答案？"),
        guideline: label(
            "Write three answers that are wrong and that a language model could well give: taking the text at its word, missing \
             the point, or explaining it by something false. The three must differ in what they get wrong.",
            "写三个错误但语言模型很可能给出的答案：当真作答、没抓住要点，或用错误的理由解释。三个答案错的地方应各不相同。",
        ),
        paper: "FLUB, section 2.1, wrong candidates annotation",
        shows: vec![("text", label("Text", "文本")), note()],
        fields: vec![
            answer("wrong_1", "First wrong answer", "错误答案一"),
            answer("wrong_2", "Second wrong answer", "错误答案二"),
            answer("wrong_3", "Third wrong answer", "错误答案三"),
        ],
        voters: vec![Role::Junior],
        votes_needed: 3,
        drafts: Drafts::Hidden,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: true,
        qualification: Some(TRIAL),
    }
}

/// A senior takes the three most challenging of the nine.
fn wrong() -> Step {
    let picks = Field::new(
        "wrong",
        label("The three most challenging", "最具挑战性的三个"),
        Kind::Pick { k: 3, from: "candidates" },
    );
    Step {
        recipe: "flub",
        name: "wrong",
        title: label("Which three wrong answers are hardest to see through?", "哪三个错误答案最难识破？"),
        guideline: label(
            "All three must be wrong beyond doubt, differ from each other, and tempt a reader who has not seen the fallacy. Leave \
             out an answer that could be defended.",
            "三个答案都必须确定是错的、彼此不同，并且能诱惑没有识破谬误的读者。不要选可以辩护的答案。",
        ),
        paper: "FLUB, section 2.1, wrong candidates annotation",
        shows: vec![
            ("text", label("Text", "文本")),
            note(),
            ("explanation", label("Correct explanation", "正确解释")),
            ("candidates", label("Wrong answers", "错误答案")),
        ],
        fields: vec![picks],
        voters: vec![Role::Senior],
        votes_needed: 1,
        drafts: Drafts::Hidden,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: true,
        qualification: Some(TRIAL),
    }
}
