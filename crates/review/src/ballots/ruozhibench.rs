//! RuozhiBench-Gen: sections 2.2 and 2.3 of its paper.

use super::super::ballot::{Adjudication, Combine, Drafts, Field, Kind, Role, Step, choice, label};
use super::{note, verdict, yes_no};

const ANYBODY: [Role; 3] = [Role::Annotator, Role::Junior, Role::Senior];

pub(super) fn steps() -> Vec<Step> {
    vec![screen(), translation(), irrationality(), category(), pair()]
}

/// 8,000 questions to 820 to 677. The paper has three annotators filter and then discuss; here three
/// vote, and a majority decides.
fn screen() -> Step {
    let reasons = vec![
        choice(
            "culture_bound",
            label("bound to a culture", "依赖特定文化"),
            label(
                "Only somebody who knows a custom, a person, a brand or a saying of China can see the trap.",
                "只有了解中国的某个习俗、人物、品牌或俗语的人才能看出其中的陷阱。",
            ),
        ),
        choice(
            "harmful",
            label("harmful", "有害"),
            label(
                "It demeans a group, encourages crime or self-harm, or would hurt somebody it speaks of.",
                "贬低某个群体、鼓励犯罪或自残，或会伤害被提及的人。",
            ),
        ),
        choice(
            "untranslatable",
            label("the trap is lost in English", "译成英文后陷阱消失"),
            label(
                "The trap hangs on characters, sounds or a double meaning that English does not have.",
                "陷阱依赖于汉字、读音或英文中不存在的双关。",
            ),
        ),
        choice(
            "no_trap",
            label("no trap", "没有陷阱"),
            label("A plain question, or a statement that asks nothing.", "普通问题，或并未提问的陈述。"),
        ),
    ];
    Step {
        recipe: "ruozhibench-gen",
        name: "screen",
        title: label("Does this question belong in the benchmark?", "这个问题适合收入基准吗？"),
        guideline: label(
            "Keep a question when a reader of English, anywhere, could be taken in by it and could also see through it. \
             Otherwise mark every reason against it. Judge the question, not whether you find it funny.",
            "如果任何地方的英文读者都可能上当、也都可能识破，就保留。否则请标出所有不保留的理由。请判断问题本身，而不是它是否好笑。",
        ),
        paper: "RuozhiBench, section 2.2",
        shows: vec![("question_zh", label("Question", "问题")), note()],
        fields: vec![Field::new("screen", label("Keep it?", "是否保留？"), Kind::Keep { reasons })],
        voters: ANYBODY.to_vec(),
        votes_needed: 3,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}

/// A machine's translation, read by one person; the share that was rewritten is reported (319 of 677).
fn translation() -> Step {
    let text = Field::new("question_en", label("English question", "英文问题"), Kind::Text).when(
        "verdict",
        &["rewrite"],
        &["accept"],
    );
    Step {
        recipe: "ruozhibench-gen",
        name: "translation",
        title: label("Is the translation faithful, trap included?", "译文是否忠实，并保留了陷阱？"),
        guideline: label(
            "Two things must survive: what is said (numbers, names, who does what) and the trap, as well hidden as before. \
             Do not explain the trap and do not repair it. If either is lost, write the whole question anew.",
            "必须保留两点：原意（数字、名称、谁做了什么）以及同样隐蔽的陷阱。不要解释陷阱，也不要修正它。任何一点丢失，请重写整个问题。",
        ),
        paper: "RuozhiBench, section 2.3, translation review",
        shows: vec![
            ("question_zh", label("Question", "问题")),
            note(),
            ("flags", label("Self-check of the draft", "草稿自检")),
        ],
        fields: vec![verdict(), text],
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}

fn irrationality() -> Step {
    let text = Field::new("irrationality", label("Analysis", "不合理之处"), Kind::Text).when(
        "verdict",
        &["rewrite"],
        &["accept"],
    );
    Step {
        recipe: "ruozhibench-gen",
        name: "irrationality",
        title: label("Does the analysis name the trap?", "分析是否指出了陷阱？"),
        guideline: label(
            "The analysis says what is wrong with the question, from facts, in one sentence where that is enough and in at most \
             100 words. It does not answer the question and does not begin with \"the irrationality of this question\". \
             Rewrite it where it names another flaw, states something false or answers.",
            "分析应依据事实指出问题错在哪里，尽量一句话，最多100个英文单词。不回答问题，也不以“这个问题的不合理之处是”开头。\
             如果指错了、陈述有误或回答了问题，请改写。",
        ),
        paper: "RuozhiBench, section 2.3, irrationality analysis; figure 10",
        shows: vec![
            ("question_en", label("Question in English", "英文问题")),
            ("question_zh", label("Question", "问题")),
            note(),
            ("flags", label("Self-check of the draft", "草稿自检")),
        ],
        fields: vec![verdict(), text],
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}

/// The final set of categories. Where annotators disagree or one is unsure, the meta annotator
/// decides. The paper has two annotators (appendix C).
fn category() -> Step {
    let options = vec![
        choice(
            "1",
            label("Logical Error", "逻辑错误"),
            label(
                "The reasoning contradicts itself or a conclusion does not follow, like muting a laptop and wondering about its fan.",
                "推理自相矛盾，或结论不成立。",
            ),
        ),
        choice(
            "2",
            label("Commonsense Misunderstanding", "常识误解"),
            label("Everyday knowledge that everybody shares is got wrong.", "误解了人所共知的日常常识。"),
        ),
        choice(
            "3",
            label("Erroneous Assumption", "错误假设"),
            label("The question takes for granted something that is not so.", "问题建立在不成立的前提之上。"),
        ),
        choice(
            "4",
            label("Scientific Misconception", "科学误解"),
            label(
                "A principle, result or method of science is got wrong or misapplied.",
                "误解或误用了科学原理、结论或方法。",
            ),
        ),
        choice(
            "5",
            label("Absurd Imagination", "荒诞想象"),
            label("The situation cannot happen: it is against reality.", "设定的情境违背现实，不可能发生。"),
        ),
        choice("6", label("Others", "其他"), label("None of the five others fits.", "以上五类均不符合。")),
    ];
    let categories = Field::new(
        "categories",
        label("Categories that fit", "符合的类别"),
        Kind::Choices { options, min: 1, max: 6 },
    )
    .combine(Combine::Unanimity);
    let sure = Field::new(
        "sure",
        label("Are you sure?", "是否确定？"),
        Kind::Choice(yes_no(
            "You would choose the same tomorrow.",
            "明天再选，您仍会这样选。",
            "Somebody else should decide.",
            "应由其他人决定。",
        )),
    )
    .combine(Combine::Collect);
    Step {
        recipe: "ruozhibench-gen",
        name: "category",
        title: label("In which ways does the question deceive?", "这个问题以哪些方式误导人？"),
        guideline: label(
            "Read the question and the analysis of its flaw, then mark every category that fits, usually one to three. The draft \
             lists three by closeness; drop those that do not fit. Say that you are not sure rather than guess.",
            "阅读问题及其不合理之处的分析，然后标出所有符合的类别，通常一到三个。草稿按接近程度列出三个；去掉不符合的。不确定时请说明，不要猜。",
        ),
        paper: "RuozhiBench, section 2.3, question type annotation; table 1; figure 11",
        shows: vec![
            ("question_en", label("Question in English", "英文问题")),
            ("question_zh", label("Question", "问题")),
            note(),
            ("irrationality", label("Analysis", "不合理之处")),
            ("flags", label("Self-check of the draft", "草稿自检")),
        ],
        fields: vec![categories, sure],
        voters: ANYBODY.to_vec(),
        votes_needed: 2,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: vec![("sure", "no")] },
        draft_ahead: false,
        qualification: None,
    }
}

/// In the paper people choose the questions and write the pairs (342 of 677); a draft may stand in
/// and is then accepted or rewritten.
fn pair() -> Step {
    let options = vec![
        choice(
            "accept",
            label("the draft", "采用草稿"),
            label(
                "The drafted question is normal and changes as little as possible.",
                "草稿中的问题正常，且改动最小。",
            ),
        ),
        choice(
            "write",
            label("write one", "自己写"),
            label("A normal question is close by; write it.", "存在相近的正常问题；请写出。"),
        ),
        choice(
            "none",
            label("none fits", "没有合适的"),
            label("Without its trap nothing natural is left to ask.", "去掉陷阱后没有自然的问题可问。"),
        ),
    ];
    let text = Field::new("pair", label("Normal question", "正常问题"), Kind::Text).when(
        "pairing",
        &["write"],
        &["accept"],
    );
    Step {
        recipe: "ruozhibench-gen",
        name: "pair",
        title: label("Is there a normal question next to it?", "有没有与之对应的正常问题？"),
        guideline: label(
            "A pair is the same question without the trap: the same form, as few words changed as possible, and something a \
             person might really ask. Where that cannot be had, say that none fits.",
            "配对问题是去掉陷阱的同一问题：形式相同，改动的词尽量少，并且是人们真的会问的。做不到时请选择“没有合适的”。",
        ),
        paper: "RuozhiBench, section 2.3, paired question generation; figure 3",
        shows: vec![
            ("question_en", label("Question in English", "英文问题")),
            ("question_zh", label("Question", "问题")),
            note(),
            ("irrationality", label("Analysis", "不合理之处")),
            ("flags", label("Self-check of the draft", "草稿自检")),
        ],
        fields: vec![Field::new("pairing", label("Which pair?", "如何配对？"), Kind::Choice(options)), text],
        voters: ANYBODY.to_vec(),
        votes_needed: 1,
        drafts: Drafts::Shown,
        review: None,
        adjudication: Adjudication { by: Role::Meta, asked_by: Vec::new() },
        draft_ahead: false,
        qualification: None,
    }
}
