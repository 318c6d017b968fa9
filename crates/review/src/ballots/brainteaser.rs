//! BrainTeaser: sections 3.1 to 3.5 and appendix A.5 of its paper.

use super::super::ballot::{Adjudication, Drafts, Field, Kind, Label, Role, Step, choice, label};
use super::{verdict, yes_no};

const ANYBODY: [Role; 3] = [Role::Annotator, Role::Junior, Role::Senior];

pub(super) fn steps() -> Vec<Step> {
    vec![spelling(), kind(), premises(), distractors(), semantic(), context(), validity()]
}

/// What the steps have in common: one vote, drafts shown, a meta annotator for disputes. The paper
/// says that people verify and refine, not how many.
fn step(name: &'static str, title: Label, guideline: Label, paper: &'static str) -> Step {
    Step {
        recipe: "brainteaser",
        name,
        title,
        guideline,
        paper,
        shows: Vec::new(),
        fields: Vec::new(),
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: true,
        qualification: None,
    }
}

fn text(name: &'static str, label: Label) -> Field {
    Field::new(name, label, Kind::Text).when("verdict", &["rewrite"], &["accept"])
}

fn spelling() -> Step {
    Step {
        shows: vec![
            ("question", label("Question", "问题")),
            ("answer", label("Answer", "答案")),
            ("corrections", label("Proposed corrections", "建议的更正")),
        ],
        fields: vec![
            verdict(),
            text("question", label("Question, corrected", "更正后的问题")),
            text("answer", label("Answer, corrected", "更正后的答案")),
        ],
        ..step(
            "spelling",
            label("Is every correction right?", "更正是否都正确？"),
            label(
                "Accept the draft when it repairs typing errors only. Names, numbers and play with letters must stay as they are, \
                 such as a word that reads as another word backwards. Rewrite when a correction spoils the puzzle or one is missing.",
                "草稿只改了笔误时接受。人名、数字和字母游戏（例如倒着读是另一个词）必须保持原样。更正破坏了谜题或有遗漏时请改写。",
            ),
            "BrainTeaser, section 3.2",
        )
    }
}

fn kind() -> Step {
    let kinds = vec![
        choice(
            "sentence",
            label("sentence puzzle", "句子谜题"),
            label(
                "What the sentence makes one take for granted is wrong: a horse that is called Wednesday.",
                "句子让人想当然的前提是错的。",
            ),
        ),
        choice(
            "word",
            label("word puzzle", "文字谜题"),
            label(
                "The answer looks at the letters of a word and not at its meaning: a letter that London and France share.",
                "答案看的是单词的字母而不是含义。",
            ),
        ),
        choice(
            "neither",
            label("neither", "都不是"),
            label("Nothing has to be unlearned to find the answer.", "不需要打破任何默认前提。"),
        ),
    ];
    let others = vec![
        choice(
            "pun",
            label("pun", "双关"),
            label("Two meanings or sounds of a word, and no more.", "仅靠词的两个意思或读音。"),
        ),
        choice(
            "dad_joke",
            label("joke", "冷笑话"),
            label("It wants a laugh, not a solution.", "为了好笑，而不是要人解答。"),
        ),
        choice(
            "riddle",
            label("riddle", "谜语"),
            label("A thing is described in pictures and to be named.", "用比喻描述事物，让人猜名称。"),
        ),
        choice(
            "arithmetic",
            label("arithmetic or logic", "算术或逻辑"),
            label("Vertical thinking solves it, step by step.", "逐步推算即可解答。"),
        ),
        choice(
            "unsound",
            label("unsound", "不成立"),
            label("The answer does not fit the question.", "答案与问题不符。"),
        ),
    ];
    let other = Field::new("other", label("What is it then?", "那它是什么？"), Kind::Choice(others)).when(
        "kind",
        &["neither"],
        &[],
    );
    Step {
        shows: vec![("question", label("Question", "问题")), ("answer", label("Answer", "答案"))],
        fields: vec![Field::new("kind", label("Which kind?", "属于哪一种？"), Kind::Choice(kinds)), other],
        draft_ahead: false,
        ..step(
            "kind",
            label("Is it a lateral puzzle, and of which kind?", "这是横向思维谜题吗？是哪一种？"),
            label(
                "A lateral puzzle looks impossible until one drops something that was never said. Ask what that is: if it is in the \
                 situation, it is a sentence puzzle; if it is that words mean something, a word puzzle; if nothing, neither.",
                "横向思维谜题看似无解，直到放弃某个从未说出的前提。想一想这个前提：在情境里，是句子谜题；在词义里，是文字谜题；没有，就都不是。",
            ),
            "BrainTeaser, sections 3.1 and 3.2",
        )
    }
}

fn premises() -> Step {
    Step {
        shows: vec![("question", label("Question", "问题")), ("answer", label("Answer", "答案"))],
        fields: vec![
            verdict(),
            text("premises", label("Premises, one a line", "前提（每行一个）")),
            text("stumper", label("The premise that the answer overturns", "答案所推翻的前提")),
        ],
        ..step(
            "premises",
            label("What does the puzzle make one believe?", "这个谜题让人默认了什么？"),
            label(
                "List what is said and what everybody silently adds, one short sentence a line, at least four. Then copy the one \
                 that the answer shows to be wrong.",
                "列出题目说出的以及人人默认的前提，每行一个短句，至少四个。然后抄出被答案证明为错的那一个。",
            ),
            "BrainTeaser, sections 3.1 and 3.3; table 1",
        )
    }
}

fn distractors() -> Step {
    Step {
        shows: vec![
            ("question", label("Question", "问题")),
            ("answer", label("Answer", "答案")),
            ("premises", label("Premises", "前提")),
            ("flags", label("Self-check of the draft", "草稿自检")),
        ],
        fields: vec![
            verdict(),
            text("distractor_1", label("First distractor", "干扰项一")),
            text("distractor_2", label("Second distractor", "干扰项二")),
            text("distractor_3", label("Third distractor", "干扰项三")),
        ],
        ..step(
            "distractors",
            label("Are the three distractors wrong, and tempting?", "三个干扰项是否都错，且有迷惑性？"),
            label(
                "For a sentence puzzle each distractor overturns another premise than the answer does, and leaves the misleading \
                 one in place. For a word puzzle it is a word close to the answer in meaning. None may be right, none may say the \
                 same as another.",
                "句子谜题的每个干扰项推翻的是另一个前提，误导人的前提保持不变。文字谜题的干扰项是与答案意思相近的词。都不能是对的，也不能彼此同义。",
            ),
            "BrainTeaser, section 3.3",
        )
    }
}

fn variant_fields() -> Vec<Field> {
    vec![
        verdict(),
        text("question", label("Question", "问题")),
        text("answer", label("Answer", "答案")),
        text("distractor_1", label("First distractor", "干扰项一")),
        text("distractor_2", label("Second distractor", "干扰项二")),
        text("distractor_3", label("Third distractor", "干扰项三")),
    ]
}

fn variant_shows() -> Vec<(&'static str, Label)> {
    vec![
        ("question", label("Original question", "原问题")),
        ("answer", label("Original answer", "原答案")),
        ("premises", label("Premises", "前提")),
        ("distractors", label("Original distractors", "原干扰项")),
        ("flags", label("Self-check of the draft", "草稿自检")),
    ]
}

fn semantic() -> Step {
    // A rephrasing keeps answer and distractors, so only the question is written.
    Step {
        shows: variant_shows(),
        fields: variant_fields().into_iter().take(2).collect(),
        ..step(
            "semantic",
            label("Is it the same puzzle in other words?", "是不是换了说法的同一个谜题？"),
            label(
                "The answer, the distractors and every premise must stay true of the new wording. Rewrite where a premise is lost, \
                 the answer is given away, or hardly a word has changed.",
                "换了说法之后，答案、干扰项和每个前提都必须仍然成立。丢了前提、泄露了答案或几乎没有改动时请改写。",
            ),
            "BrainTeaser, section 3.4, semantic reconstruction",
        )
    }
}

fn context() -> Step {
    Step {
        shows: variant_shows(),
        fields: variant_fields(),
        ..step(
            "context",
            label("Does the same trap work in the new situation?", "同样的陷阱在新情境中成立吗？"),
            label(
                "The wrong premise stays, the situation is new: question, answer and distractors are written for it. Rewrite \
                 where the answer needs another turn of thought than the original, or a distractor is right.",
                "误导人的前提不变，情境是新的：问题、答案和干扰项都为它而写。如果需要的思路与原题不同，或某个干扰项是对的，请改写。",
            ),
            "BrainTeaser, section 3.4, context reconstruction",
        )
    }
}

/// Three experts, three yes/no questions a group (section 3.5; instructions in A.5). They see
/// finished puzzles, not drafts.
fn validity() -> Step {
    let ask = |name, question, options| Field::new(name, question, Kind::Choice(options));
    Step {
        shows: vec![
            ("question", label("Original question", "原问题")),
            ("answer", label("Original answer", "原答案")),
            ("semantic_question", label("Rephrased question", "改写的问题")),
            ("context_question", label("Question in a new situation", "新情境的问题")),
            ("context_answer", label("Answer in the new situation", "新情境的答案")),
        ],
        fields: vec![
            ask(
                "original",
                label("Do the original question and its answer make sense?", "原问题和答案合理吗？"),
                yes_no(
                    "The answer resolves the puzzle.",
                    "答案解开了谜题。",
                    "It does not, or the puzzle is no puzzle.",
                    "没有解开，或不成谜题。",
                ),
            ),
            ask(
                "semantic",
                label("Does the second question say the same as the first?", "第二个问题与第一个同义吗？"),
                yes_no(
                    "Same answer, same premises.",
                    "答案和前提都相同。",
                    "Something has changed but the words.",
                    "除措辞外还有改变。",
                ),
            ),
            ask(
                "context",
                label(
                    "Does the third question need the same turn of thought?",
                    "第三个问题需要同样的思路吗？",
                ),
                yes_no(
                    "The same premise has to go.",
                    "要放弃的是同一个前提。",
                    "It is solved in another way.",
                    "解法不同。",
                ),
            ),
        ],
        votes_needed: 3,
        drafts: Drafts::Hidden,
        ..step(
            "validity",
            label("Is this group of three sound?", "这一组三个谜题成立吗？"),
            label(
                "Answer the three questions one by one; a fault in one puzzle says nothing about the others.",
                "逐一回答三个问题；一个谜题有毛病并不说明其他的也有。",
            ),
            "BrainTeaser, section 3.5, human validation; appendix A.5",
        )
    }
}
