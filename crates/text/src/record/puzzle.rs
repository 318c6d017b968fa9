//! A puzzle of BrainTeaser on its way through drafts and reviews, and the questions that it becomes.

use super::cell::record;

record! {
    /// A lateral puzzle (Jiang et al., 3.1): from the riddle to the group of three. What a step drafts, what
    /// is decided on it, how sure that is and what it rests on stand side by side, as in [`super::Question`].
    pub struct Puzzle {
        /// The riddle's id: `riddle:<number of the site>` or `text:<hash>`.
        id: String,
        /// What is asked.
        question: String,
        /// What resolves it.
        answer: String,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line, item or archived page in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
        /// How sure the texts are as people wrote them; null where nobody looked.
        text_status: Option<String>,
        /// What that rests on.
        text_basis: Vec<String>,
        /// Words that are probably misspelt, `wrong -> right`.
        corrections: Vec<String>,
        /// The question with these corrections; null where there are none.
        question_draft: Option<String>,
        /// The answer with them.
        answer_draft: Option<String>,
        /// How sure the corrections are; null where none was proposed.
        spelling_status: Option<String>,
        /// What they rest on.
        spelling_basis: Vec<String>,
        /// The drafted kind: `sentence`, `word` or `neither`.
        kind_draft: Option<String>,
        /// `sentence` or `word`.
        kind: Option<String>,
        /// How sure it is.
        kind_status: Option<String>,
        /// What it rests on.
        kind_basis: Vec<String>,
        /// Drafted premises, stated and silently added ones.
        premises_draft: Vec<String>,
        /// The one of them that the answer overturns.
        stumper_draft: Option<String>,
        /// The premises; none of a word puzzle.
        premises: Vec<String>,
        /// The one that the answer overturns.
        stumper: Option<String>,
        /// How sure they are; null of a word puzzle.
        premises_status: Option<String>,
        /// What they rest on.
        premises_basis: Vec<String>,
        /// What a file in raw/premises says may follow from the puzzle or hinder it, `relation: text`.
        inferences: Vec<String>,
        /// Three drafted distractors.
        distractors_draft: Vec<String>,
        /// What each does or where it is from: the premise it overturns, or its place in WordNet.
        distractors_from: Vec<String>,
        /// The three distractors.
        distractors: Vec<String>,
        /// How sure they are.
        distractors_status: Option<String>,
        /// What they rest on; `wordnet:<hash>` where the database gave them.
        distractors_basis: Vec<String>,
        /// Drafted distractors of which people found none sensible; others are drafted then.
        distractors_rejected: Vec<String>,
        /// The drafted rephrasing.
        semantic_draft: Option<String>,
        /// The rephrased question: same answer, same distractors.
        semantic_question: Option<String>,
        /// How sure it is.
        semantic_status: Option<String>,
        /// What it rests on.
        semantic_basis: Vec<String>,
        /// The drafted new situation: question, answer.
        context_draft: Vec<String>,
        /// Its drafted premises; none of a word puzzle.
        context_premises_draft: Vec<String>,
        /// The one of them that its answer overturns.
        context_stumper_draft: Option<String>,
        /// The question in a new situation.
        context_question: Option<String>,
        /// Its answer.
        context_answer: Option<String>,
        /// Its premises.
        context_premises: Vec<String>,
        /// The one that its answer overturns.
        context_stumper: Option<String>,
        /// How sure question, answer and premises are.
        context_status: Option<String>,
        /// What they rest on.
        context_basis: Vec<String>,
        /// Its three drafted distractors.
        context_distractors_draft: Vec<String>,
        /// What each does or where it is from.
        context_distractors_from: Vec<String>,
        /// Its three distractors.
        context_distractors: Vec<String>,
        /// Drafted ones of which people found none sensible.
        context_distractors_rejected: Vec<String>,
        /// How sure they are.
        context_distractors_status: Option<String>,
        /// What they rest on.
        context_distractors_basis: Vec<String>,
        /// How sure it is that the three make a sound group; null where nobody was asked.
        validity_status: Option<String>,
        /// What that rests on.
        validity_basis: Vec<String>,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

record! {
    /// One of the three questions of a puzzle's group, with its options (3.3, 3.4).
    pub struct Variant {
        /// The puzzle's id, with `_SR` or `_CR` behind it where it is reconstructed.
        id: String,
        /// The puzzle.
        group: String,
        /// `sentence` or `word`.
        kind: String,
        /// `original`, `semantic` or `context`.
        role: String,
        /// The question.
        question: String,
        /// The right answer: the puzzle's, or `None of above.`
        answer: String,
        /// Three wrong ones, the third `None of above.` where the answer is the puzzle's.
        distractors: Vec<String>,
        /// For each place shown: `0` the answer, `1` to `3` the distractors.
        order: Vec<String>,
        /// The puzzle's answer where `None of above.` is right.
        original_answer: Option<String>,
        /// `train` or `test`, where the set is split; null where it is not.
        split: Option<String>,
        /// As sure as the least sure of what it is made of.
        standing: String,
        /// The drafted topic (appendix A.1); null where no model was asked.
        topic: Option<String>,
        /// What the topic rests on.
        topic_basis: Vec<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line, item or archived page in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

impl Puzzle {
    /// Whether the answer looks at letters instead of meaning.
    pub fn is_word(&self) -> bool {
        self.kind.as_deref() == Some("word")
    }
}

impl Variant {
    /// The order as numbers; `None` if it is not an order of four.
    pub fn places(&self) -> Option<[u64; 4]> {
        let places: Option<Vec<u64>> = self.order.iter().map(|place| place.parse().ok()).collect();
        places?.try_into().ok()
    }
}
