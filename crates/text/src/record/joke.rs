//! A joke on its way through Chumor's reviews.

use super::PostKind;
use super::cell::record;
use super::post::from_post;

record! {
    /// A joke of Chumor (He et al., 2 and 3). The lists of opponents and of what is said on each of them
    /// have one entry an opponent, in the order of the settings.
    pub struct Joke {
        /// The post's id.
        id: String,
        /// The joke.
        text: String,
        /// What part of a forum it was: numbered in an annual thread, or a recommended thread.
        kind: PostKind,
        /// The score its readers gave it.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// What the thread's owner notes under it.
        note: Option<String>,
        /// When it was written, as the source says.
        time: Option<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line or item in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
        /// How sure it is that the joke stays.
        screen_status: Option<String>,
        /// What that rests on.
        screen_basis: Vec<String>,
        /// Why it is funny, written by a person.
        explanation: Option<String>,
        /// How sure the explanation is.
        explanation_status: Option<String>,
        /// What it rests on.
        explanation_basis: Vec<String>,
        /// The models that explained it too.
        opponents: Vec<String>,
        /// Their explanations.
        opponent_explanations: Vec<String>,
        /// The replies these rest on.
        opponent_basis: Vec<String>,
        /// The votes on each opponent, as codes with a blank between: `human human equal`.
        votes: Vec<String>,
        /// What most voters prefer: `human`, `llm`, `equal`, or `undecided` where all differ.
        verdicts: Vec<String>,
        /// How sure the verdicts are.
        preference_status: Option<String>,
        /// What they rest on.
        preference_basis: Vec<String>,
        /// The kinds of error each opponent shows, as codes with a blank between.
        errors: Vec<String>,
        /// How sure these are; null where nobody looked.
        errors_status: Option<String>,
        /// What they rest on.
        errors_basis: Vec<String>,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

from_post!(Joke);
