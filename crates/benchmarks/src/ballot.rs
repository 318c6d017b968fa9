//! What a ballot asks, whom, how often, and how the answers combine.

use serde::{Deserialize, Serialize};

pub use crate::asked::{BallotSource, Compares, Over, Passes, Rejection};
pub use crate::choice::{Choice, Label, choice, label};

/// An annotator's standing. FLUB has juniors and seniors (section 2.1), RuozhiBench annotators and a
/// meta annotator (section 2.3), the others annotators alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Anybody who votes.
    Annotator,
    /// Votes first where a senior looks over the votes.
    Junior,
    /// Looks over juniors' votes.
    Senior,
    /// Decides what the voters could not.
    Meta,
}

impl Role {
    /// The name in votes and settings.
    pub fn name(self) -> &'static str {
        match self {
            Role::Annotator => "annotator",
            Role::Junior => "junior",
            Role::Senior => "senior",
            Role::Meta => "meta",
        }
    }
}

/// In which capacity a vote is cast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Round {
    /// The first look, blind to the other voters.
    #[default]
    Vote,
    /// A senior's look at the item and its votes.
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

    /// The round of a name.
    pub fn from_name(name: &str) -> Option<Round> {
        Round::ALL.into_iter().find(|round| round.name() == name)
    }
}

/// What an answer is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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
    /// Exactly `k` of the texts in the item's content list `from`, by their number from 1; or as many as apply.
    Pick {
        /// How many.
        k: usize,
        /// Whether it may be any number, from one on.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        any: bool,
        /// The content key that holds the candidates.
        from: &'static str,
        /// The content key of the text that they are to be beside as options, where there is one: a choice that
        /// gives it away is warned of.
        beside: Option<&'static str>,
    },
    /// The candidate picked in the field `pick`, as it is where nothing is written here, or edited.
    Edited {
        /// The field that picks one candidate.
        pick: &'static str,
    },
    /// A whole number from `min` to `max`.
    Score {
        /// Lowest.
        min: i32,
        /// Highest.
        max: i32,
    },
    /// Which of two texts is better. Annotators see them numbered 1 and 2 in an order drawn per item;
    /// votes hold the code of the side.
    Preference {
        /// Codes of the two sides, in canonical order.
        sides: [&'static str; 2],
        /// Where neither is better.
        tie: Choice,
    },
    /// `keep`, or the reasons of a rejection (at least one).
    Keep {
        /// Why an item may be rejected.
        reasons: Vec<Choice>,
    },
}

/// The code of an item that is kept, in [`Kind::Keep`].
pub const KEEP: &str = "keep";

/// When a field has to be filled in, by the answer to an earlier choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct When {
    /// The earlier choice.
    pub field: &'static str,
    /// Answers that ask for this field.
    pub write: &'static [&'static str],
    /// Answers that take the item's draft for this field. Any other answer leaves it out.
    pub draft: &'static [&'static str],
}

/// How several answers to one field become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// What more than half of the voters said; otherwise a dispute.
    Majority,
    /// What more than half of the voters said; otherwise this code. (Chumor's `Undecided`, section 3.)
    MajorityOr(&'static str),
    /// What all said; otherwise a dispute.
    Unanimity,
    /// Everything anybody marked.
    Union,
    /// The mean of scores.
    Mean,
    /// Every voter's answer, one list, ordered by voter; for texts that a later look chooses from.
    Collect,
}

/// One question of a ballot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// The stable name in votes and column headers.
    pub name: &'static str,
    /// The question as annotators read it.
    pub label: Label,
    /// What an answer is made of.
    pub kind: Kind,
    /// Whether a ballot without an answer is refused.
    pub required: bool,
    /// Asked only after a certain answer to an earlier field.
    pub when: Option<When>,
    /// How answers combine.
    pub combine: Combine,
    /// Whether a text must say something else than the ballot's other such texts, and than what the item says that none
    /// may repeat.
    pub distinct: bool,
    /// The content key whose text is there to be edited; left as it is, it is no answer.
    pub edits: Option<&'static str>,
}

impl Field {
    /// A required field whose answers combine by majority.
    pub fn new(name: &'static str, label: Label, kind: Kind) -> Field {
        let combine = Combine::Majority;
        Field { name, label, kind, required: true, when: None, combine, distinct: false, edits: None }
    }

    /// May stay empty.
    pub fn optional(self) -> Field {
        Field { required: false, ..self }
    }

    /// Asked after an answer in `write`; takes the draft after one in `draft`.
    pub fn when(
        self,
        field: &'static str,
        write: &'static [&'static str],
        draft: &'static [&'static str],
    ) -> Field {
        Field { when: Some(When { field, write, draft }), ..self }
    }

    /// Combines otherwise than by majority.
    pub fn combine(self, combine: Combine) -> Field {
        Field { combine, ..self }
    }
}

/// Whether the LLM's drafts are on the ballot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drafts {
    /// A blind ballot.
    Hidden,
    /// Shown, to be confirmed or corrected.
    Shown,
}

/// A second look at the item and the votes it got.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecondPass {
    /// Who looks.
    pub by: Role,
    /// What is asked. A field named as one of the voters' replaces their answer.
    pub fields: Vec<Field>,
}

/// Who decides disputes, and which answers ask for that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adjudication {
    /// Who decides.
    pub by: Role,
    /// Answers that send an item there even where the votes agree: `(field, code)`.
    pub asked_by: Vec<(&'static str, &'static str)>,
}

/// The shares of gold items an annotator must get right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Qualification {
    /// Above this share an annotator may vote. FLUB, section 2.1: 0.80.
    pub formal: f64,
    /// Above this share an annotator may be a senior. FLUB, section 2.1: 0.95.
    pub senior: f64,
}

impl Qualification {
    /// FLUB, section 2.1; for steps whose own paper asks for no trial, too.
    pub const FLUB: Qualification = Qualification { formal: 0.80, senior: 0.95 };
}

/// A review step of a recipe: `review:<name>`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ballot {
    /// The recipe it belongs to.
    pub recipe: &'static str,
    /// Its name in the recipe.
    pub name: &'static str,
    /// What annotators read above an item.
    pub title: Label,
    /// How to decide, in the project's words.
    pub guideline: Label,
    /// What the guideline means, by example.
    #[serde(skip)]
    pub examples: Vec<Label>,
    /// Languages that whoever votes must read.
    #[serde(skip)]
    pub languages: Vec<&'static str>,
    /// Where the paper describes it.
    pub paper: &'static str,
    /// Content keys shown, in order, with what annotators read before each.
    pub shows: Vec<(&'static str, Label)>,
    /// What voters are asked.
    pub fields: Vec<Field>,
    /// Who may vote.
    pub voters: Vec<Role>,
    /// How many votes an item needs.
    pub votes_needed: usize,
    /// Whether drafts are shown to voters.
    pub drafts: Drafts,
    /// The second look, where there is one.
    pub review: Option<SecondPass>,
    /// What becomes of disputes.
    pub adjudication: Adjudication,
    /// Whether later stages may go on with drafts while votes are missing; a recipe's settings may
    /// say otherwise.
    pub draft_ahead: bool,
    /// Which answers drop a record, where no field does so by itself.
    #[serde(skip)]
    pub drop: Option<&'static Rejection>,
    /// What it takes of a record, where its benchmark's records are declared.
    #[serde(skip)]
    pub asked: Option<&'static BallotSource>,
    /// Gold items, where annotators have to qualify.
    pub qualification: Option<Qualification>,
    /// Whether nobody is asked unless the settings want it: then every record passes.
    pub on_demand: bool,
    /// The ballot on whose text this one judges: whoever wrote what was taken there does not vote here.
    pub not_by: Option<&'static str>,
}

/// The field in which an adjudicator says why.
pub const REASON: &str = "reason";

impl Ballot {
    /// What is asked in `round`: the voters' fields, the reviewer's, or the voters' with those of the
    /// reviewer in place of their namesakes and a reason.
    pub fn form(&self, round: Round) -> Vec<Field> {
        let review = || self.review.iter().flat_map(|review| &review.fields);
        match round {
            Round::Vote => self.fields.clone(),
            Round::Review => review().cloned().collect(),
            Round::Adjudication => {
                // An answer that asked for the adjudicator is no question to the adjudicator.
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
                fields.push(Field::new(REASON, label("Why?", "理由"), Kind::Text));
                fields
            }
        }
    }

    /// Whether what is shown is in an order that is drawn for each item by the recipe's seed.
    pub fn is_drawn(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, Kind::Preference { .. }))
    }

    /// Who may vote in `round`.
    pub fn roles(&self, round: Round) -> Vec<Role> {
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

    /// Whether drafts are on the ballot of `round`. Whoever looks at votes may see the draft too.
    pub fn shows_drafts(&self, round: Round) -> bool {
        round != Round::Vote || self.drafts == Drafts::Shown
    }
}

/// Column headers that are not fields.
pub const RESERVED: &[&str] = &["item", "recipe", "step", "round", "annotator", "vote", "content_hash"];

impl Field {
    /// The options of a choice, the reasons of a rejection, or nothing.
    pub fn options(&self) -> &[Choice] {
        match &self.kind {
            Kind::Choice(options) | Kind::Choices { options, .. } => options,
            Kind::Keep { reasons } => reasons,
            Kind::Preference { tie, .. } => std::slice::from_ref(tie),
            Kind::Text | Kind::Edited { .. } | Kind::Pick { .. } | Kind::Score { .. } => &[],
        }
    }
}
