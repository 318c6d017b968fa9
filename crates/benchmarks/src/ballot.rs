//! Ballots: what they show and the lists to pick from, questions, voters, number of votes, and how answers are combined.

pub mod reader;

use serde::{Deserialize, Serialize};

pub use crate::ballot_source::{BallotSource, Compares, ElementList, Passes, Rejection};
pub use crate::choice::{Choice, Label, make_choice, make_label};

riddlemill_schema::choice! {
    /// An annotator's role. FLUB has juniors and seniors (section 2.1), RuozhiBench annotators and a meta
    /// annotator (section 2.3), the others only annotators.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Role {
        /// A voter.
        Annotator = "annotator",
        /// A voter whose votes a senior reviews.
        Junior = "junior",
        /// Reviews juniors' votes.
        Senior = "senior",
        /// Decides disputes.
        Meta = "meta",
    }
}

/// The round in which a vote is cast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Round {
    /// The first round, without seeing the other votes.
    #[default]
    Vote,
    /// A senior's review of the item and its votes.
    Review,
    /// The decision of a dispute, with a reason.
    Adjudication,
}

impl Round {
    /// Every round, in order.
    pub const ALL: [Round; 3] = [Round::Vote, Round::Review, Round::Adjudication];

    /// The name in votes and files.
    pub fn name(self) -> &'static str {
        match self {
            Round::Vote => "vote",
            Round::Review => "review",
            Round::Adjudication => "adjudication",
        }
    }

    /// The round with a name.
    pub fn from_name(name: &str) -> Option<Round> {
        Round::ALL.into_iter().find(|round| round.name() == name)
    }
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// One of the options.
    Choice(Vec<Choice>),
    /// Between `min` and `max` of the options.
    Choices {
        /// In ballot order.
        options: Vec<Choice>,
        /// Fewest to mark.
        min: usize,
        /// Most to mark.
        max: usize,
    },
    /// A text, new or edited from the item's draft of the same field.
    Text,
    /// Exactly `k` of the texts in the item's content list `from`, by number from 1; or any number of them.
    Pick {
        /// How many.
        k: usize,
        /// Whether it may be any number, at least one.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        any: bool,
        /// The content key of the candidates.
        from: &'static str,
        /// The content key of the text with which they will be shown as options, if there is one: choices
        /// that give it away cause a warning.
        right_answer: Option<&'static str>,
    },
    /// The candidate picked in the field `pick`, unchanged if nothing is written here, or edited.
    Edited {
        /// The field with the pick.
        pick: &'static str,
    },
    /// A whole number from `min` to `max`.
    Score {
        /// Lowest.
        min: i32,
        /// Highest.
        max: i32,
    },
    /// Which of two texts is better. Annotators see them numbered 1 and 2 in an order drawn per item; votes
    /// contain the code of the side.
    Preference {
        /// Codes of the two sides, in canonical order.
        sides: [&'static str; 2],
        /// The option that neither is better.
        tie: Choice,
    },
    /// `keep`, or the reasons for a rejection (at least one).
    Keep {
        /// Why an item may be rejected.
        reasons: Vec<Choice>,
    },
}

/// The code of an item that is kept, in [`AnswerKind::Keep`].
pub const KEEP: &str = "keep";

/// When a field has to be filled in, depending on an earlier choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FillCondition {
    /// The earlier choice.
    pub field: &'static str,
    /// Answers that require this field.
    pub write: &'static [&'static str],
    /// Answers for which the draft of this field is used. Any other answer leaves it out.
    pub draft: &'static [&'static str],
}

/// How several answers to one field are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// The answer of more than half of the voters; otherwise a dispute.
    Majority,
    /// The answer of more than half of the voters; otherwise this code. (Chumor's `Undecided`, section 3.)
    MajorityOr(&'static str),
    /// The common answer of all; otherwise a dispute.
    Unanimity,
    /// Everything that anybody marked.
    Union,
    /// The mean of scores.
    Mean,
    /// All answers in one list, ordered by voter; for texts from which a later step chooses.
    Collect,
}

/// One question of a ballot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// The stable name in votes and column headers.
    pub name: &'static str,
    /// The question for annotators.
    pub label: Label,
    /// The form of an answer.
    pub kind: AnswerKind,
    /// Whether an answer is required.
    pub required: bool,
    /// Asked only after a certain answer to an earlier field.
    pub when: Option<FillCondition>,
    /// How answers combine.
    pub combine: Combine,
    /// Whether a text must differ from the ballot's other such texts, and from the item's texts that must not
    /// be repeated.
    pub distinct: bool,
    /// The content key of the text to edit; unchanged, it is not an answer.
    pub edits: Option<&'static str>,
    /// How far a score may be from the known one and still be right in a trial; none of its own means equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<usize>,
}

impl Field {
    /// A required field whose answers combine by majority.
    pub fn new(name: &'static str, label: Label, kind: AnswerKind) -> Field {
        let combine = Combine::Majority;
        let (when, edits, tolerance) = (None, None, None);
        Field { name, label, kind, required: true, when, combine, distinct: false, edits, tolerance }
    }

    /// Makes the field optional.
    pub fn make_optional(self) -> Field {
        Field { required: false, ..self }
    }

    /// Requires the field after an answer in `write`; uses the draft after one in `draft`.
    pub fn require_when(
        self,
        field: &'static str,
        write: &'static [&'static str],
        draft: &'static [&'static str],
    ) -> Field {
        Field { when: Some(FillCondition { field, write, draft }), ..self }
    }

    /// Sets another combination than majority.
    pub fn set_combination(self, combine: Combine) -> Field {
        Field { combine, ..self }
    }
}

/// Whether the model's drafts are on the ballot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drafts {
    /// A blind ballot.
    Hidden,
    /// Shown, to be confirmed or corrected.
    Shown,
}

/// A review of the item and its votes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecondPass {
    /// The reviewer's role.
    pub by: Role,
    /// The questions. A field with the name of a voters' field replaces their answer.
    pub fields: Vec<Field>,
}

/// Who decides disputes, and which answers request that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adjudication {
    /// The deciding role.
    pub by: Role,
    /// Answers that send an item to adjudication even if the votes agree: `(field, code)`.
    pub asked_by: Vec<(&'static str, &'static str)>,
}

/// The shares of gold items that an annotator has to answer correctly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Qualification {
    /// Above this share an annotator may vote. FLUB, section 2.1: 0.80.
    pub formal: f64,
    /// Above this share an annotator may be a senior. FLUB, section 2.1: 0.95.
    pub senior: f64,
}

impl Qualification {
    /// The shares of FLUB, section 2.1: the only paper with a trial, so also for ballots that state none.
    pub const USUAL: Qualification = Qualification { formal: 0.80, senior: 0.95 };
}

/// A review step of a recipe: `review:<name>`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ballot {
    /// The recipe it belongs to.
    pub recipe: &'static str,
    /// Its name in the recipe.
    pub name: &'static str,
    /// The title above an item.
    pub title: Label,
    /// How to decide, in this project's words.
    pub guideline: Label,
    /// Examples of the guideline.
    #[serde(skip)]
    pub examples: Vec<Label>,
    /// Languages that voters must read.
    #[serde(skip)]
    pub languages: Vec<&'static str>,
    /// Whether they must read the language of the record.
    #[serde(skip)]
    pub of_its_language: bool,
    /// Where the paper describes it.
    pub paper: &'static str,
    /// Content keys shown, in order, with their labels.
    pub shows: Vec<(&'static str, Label)>,
    /// The questions for voters.
    pub fields: Vec<Field>,
    /// Who may vote.
    pub voters: Vec<Role>,
    /// How many votes an item needs.
    pub votes_needed: usize,
    /// Whether drafts are shown to voters.
    pub drafts: Drafts,
    /// The review, if there is one.
    pub review: Option<SecondPass>,
    /// How disputes are settled.
    pub adjudication: Adjudication,
    /// Whether later stages may continue with drafts while votes are missing; a recipe's settings can
    /// override it.
    pub draft_ahead: bool,
    /// Which answers drop a record, if no field does so by itself.
    #[serde(skip)]
    pub drop: Option<&'static Rejection>,
    /// Its inputs from a record, if the benchmark's records are declared.
    #[serde(skip)]
    pub asked: Option<&'static BallotSource>,
    /// The required shares of gold items, if annotators have to qualify.
    pub qualification: Option<Qualification>,
    /// Whether voting is only enabled by the settings: otherwise every record passes.
    pub on_demand: bool,
    /// The ballot whose text this one judges: the authors of the text do not vote here.
    pub not_by: Option<&'static str>,
}

/// The field for an adjudicator's reason.
pub const REASON: &str = "reason";

impl Ballot {
    /// The questions in `round`: the voters' fields, the reviewer's, or the voters' with the reviewer's in
    /// place of those with the same name, and a reason.
    pub fn questions_of_round(&self, round: Round) -> Vec<Field> {
        let review = || self.review.iter().flat_map(|review| &review.fields);
        match round {
            Round::Vote => self.fields.clone(),
            Round::Review => review().cloned().collect(),
            Round::Adjudication => {
                // An answer that requests adjudication is not offered to the adjudicator.
                let asks =
                    |field: &&Field| self.adjudication.asked_by.iter().any(|(name, _)| *name == field.name);
                let replaced = |field: &&Field| review().any(|other| other.name == field.name);
                let kept = self.fields.iter().filter(|field| !replaced(field));
                let mut fields: Vec<Field> = kept
                    .filter(|field| self.review.is_none() || field.combine != Combine::Collect)
                    .chain(review())
                    .filter(|field| !asks(field))
                    .cloned()
                    .collect();
                fields.push(Field::new(REASON, make_label("Why?", "理由"), AnswerKind::Text));
                fields
            }
        }
    }

    /// Whether something is shown in an order drawn for each item by the recipe's seed.
    pub fn is_drawn(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, AnswerKind::Preference { .. }))
    }

    /// Who may vote in `round`.
    pub fn roles_of_round(&self, round: Round) -> Vec<Role> {
        match round {
            Round::Vote => self.voters.clone(),
            Round::Review => self.review.iter().map(|review| review.by).collect(),
            Round::Adjudication => vec![self.adjudication.by],
        }
    }

    /// How many votes an item needs in `round`.
    pub fn votes_in(&self, round: Round) -> usize {
        match round {
            Round::Vote => self.votes_needed,
            Round::Review => usize::from(self.review.is_some()),
            Round::Adjudication => 1,
        }
    }

    /// Whether drafts are on the ballot of `round`. People who see votes may see the draft too.
    pub fn shows_drafts(&self, round: Round) -> bool {
        round != Round::Vote || self.drafts == Drafts::Shown
    }
}

/// Column headers that are not fields.
pub const RESERVED: &[&str] = &["item", "recipe", "step", "round", "annotator", "vote", "content_hash"];

impl Field {
    /// The options of a choice, the reasons for a rejection, or nothing.
    pub fn options(&self) -> &[Choice] {
        match &self.kind {
            AnswerKind::Choice(options) | AnswerKind::Choices { options, .. } => options,
            AnswerKind::Keep { reasons } => reasons,
            AnswerKind::Preference { tie, .. } => std::slice::from_ref(tie),
            AnswerKind::Text
            | AnswerKind::Edited { .. }
            | AnswerKind::Pick { .. }
            | AnswerKind::Score { .. } => &[],
        }
    }
}

impl Ballot {
    /// The keys of what it shows, with a label or without. Of compared texts there are only labels.
    pub fn shown_keys(&self) -> impl Iterator<Item = &'static str> + Clone {
        let labelled = self.shows.iter().map(|(key, _)| *key);
        let asked = self.asked.map(|asked| asked.shows.as_slice()).unwrap_or_default();
        let bare = asked.iter().map(|(key, _)| *key);
        labelled.chain(bare.filter(|key| !self.shows.iter().any(|(known, _)| known == key)))
    }

    /// The lists to pick from, which are shown in an order drawn for each item.
    pub fn picked_from(&self) -> impl Iterator<Item = &'static str> {
        let second = self.review.iter().flat_map(|review| &review.fields);
        self.fields.iter().chain(second).filter_map(|field| match field.kind {
            AnswerKind::Pick { from, any: false, .. } if self.shown_keys().any(|key| key == from) => {
                Some(from)
            }
            _ => None,
        })
    }
}
