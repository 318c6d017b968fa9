//! Problems in a file of votes, with their places.

use std::fmt;

use crate::answers::Fault;
use crate::ballot::Role;
use riddlemill_files::reading::RowFault;
use riddlemill_text::text::count_with_noun;

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The file as the caller named it.
    pub file: String,
    /// The cell, line or task: `sheet type, C17`; `line 17, type`; `task 12, type`. Empty for the whole
    /// file.
    pub place: String,
    /// What is wrong.
    pub trouble: VoteProblem,
}

/// `votes.xlsx: sheet type, C17: unknown choice …`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.is_empty() {
            true => write!(f, "{}: {}", self.file, self.trouble),
            false => write!(f, "{}: {}: {}", self.file, self.place, self.trouble),
        }
    }
}

/// Kinds of problems in a file of votes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VoteProblem {
    /// The whole file is unusable.
    #[error("{what}{}", hint.map(|hint| format!(" ({hint})")).unwrap_or_default())]
    Unreadable {
        /// The error.
        what: String,
        /// What may help.
        hint: Option<&'static str>,
    },
    /// The file was read, but not saved as it should be.
    #[error("{0}")]
    Odd(&'static str),
    /// A row that is left out.
    #[error("line {line}: {what}")]
    Row {
        /// Where it begins, from 1.
        line: u64,
        /// What is wrong with it.
        what: RowFault,
    },
    /// The same header twice, so neither column is certain.
    #[error("the header `{0}` occurs a second time; this column is not read")]
    DoubledHeader(String),
    /// A required column is missing.
    #[error("no column `{name}`; {}", match columns.is_empty() {
        true => "it has none of a ballot's".to_owned(),
        false => format!("its columns are {}", columns.join(", ")),
    })]
    NoColumn {
        name: &'static str,
        /// Those that are there.
        columns: Vec<String>,
    },
    /// A key of a line, or of its answers, has two values, and nobody knows which is meant.
    #[error("the line gives the key `{0}` two different values; it was not imported")]
    RepeatedKey(String),
    /// Something that people wrote where no ballot has a question.
    #[error("{part} is not read, and {} something in it: {}", row_count(*.count), match asked.is_empty() {
        true => "it is no question of the ballot, so nothing of it is kept".to_owned(),
        false => format!("the ballot asks for {}, so these answers were not imported", asked.join(", ")),
    })]
    Unread {
        /// Such as "column `comment`".
        part: String,
        /// Rows that have it.
        count: usize,
        /// The questions of the ballot if it looks like the answer to one of them.
        asked: Vec<&'static str>,
    },
    /// The row ends before its last columns.
    #[error("the row has {given} of {wanted} columns; was the file saved completely?")]
    Short {
        /// Cells there are.
        given: usize,
        /// Columns of the header.
        wanted: usize,
    },
    /// The order of the sides is unknown.
    #[error(
        "the ballot of {0} was written with another raw/blinding, so the order of the sides is unknown; restore that file, or export the ballot again"
    )]
    OtherOrder(String),
    /// Filled in, but without an item's id.
    #[error("answers without an item id")]
    NoItem,
    /// Not an item of this step.
    #[error("`{0}` is not an item of this step")]
    UnknownItem(String),
    /// A ballot of another recipe, step or round.
    #[error("a vote on {what} `{found}`, not `{wanted}`")]
    Elsewhere {
        /// Recipe, step or round.
        what: &'static str,
        /// The value found.
        found: String,
        /// The value expected.
        wanted: String,
    },
    /// There is no annotator of that name.
    #[error(
        "unknown annotator `{0}`: it is nobody's account, so the vote was not imported; whoever it belongs to needs the line `accounts = [{line}]` under their [[annotator]] in pipeline.toml",
        line = serde_json::Value::from(.0.as_str())
    )]
    UnknownAnnotator(String),
    /// Answers that nobody is said to have given.
    #[error("answers without an annotator; write whose they are into the column `annotator`")]
    NoAnnotator,
    /// A platform's answers without an account.
    #[error(
        "answers of no account, so nobody knows whose they are, and the vote was not imported; write the account that gave them into `completed_by` (in JSON-MIN: `annotator`)"
    )]
    NoAccount,
    /// The same account in the settings of several people.
    #[error(
        "`{account}` is the account of {}, so the vote was not imported; an account belongs to one person: take it from the `accounts` of the others in pipeline.toml",
        people.join(" and of ")
    )]
    SharedAccount {
        /// As the file names it.
        account: String,
        /// Whose settings name it.
        people: Vec<String>,
    },
    /// A known annotator who may not vote here.
    #[error("{name} ({}) may not vote here: {}", role.name(), who_may_vote(*.unqualified, .roles, .people))]
    NotEntitled {
        /// Who.
        name: String,
        role: Role,
        /// Whether the role would allow it, but the trial was not passed.
        unqualified: bool,
        /// The roles that vote in this round.
        roles: Vec<Role>,
        /// Everybody who may.
        people: Vec<String>,
    },
    /// The bookkeeping cell was cut or edited.
    #[error("`{0}` is not a hash of 32 hex digits; was the file saved completely?")]
    NoHash(String),
    /// An answer is invalid.
    #[error(transparent)]
    Answer(#[from] Fault),
    /// Two rows of one annotator on one item with different answers. Neither is imported.
    #[error("{annotator} answers {item} differently here and at {other}; neither answer was imported")]
    Conflict {
        /// Who.
        annotator: String,
        item: String,
        /// The other row.
        other: String,
    },
    /// The cell is part of a merged range, so its answer is not its own.
    #[error("merged into {0}; only the first row of a merged range is read")]
    Merged(String),
    /// The item changed since the ballot was exported. Imported and shown, but not counted.
    #[error(
        "the hash is not that of today's {0}, which has changed since this was exported, unless the cell was edited: the vote is outdated and will not count (`riddlemill review carry` lists it)"
    )]
    Stale(String),
    /// The hash is that of another item, so the columns do not belong together.
    #[error(
        "this is the hash of {other}, not of {item}: the vote would not count, and was not imported; was one column sorted or pasted without the others?"
    )]
    OtherItem {
        /// The item of the row.
        item: String,
        /// Whose hash it is.
        other: String,
    },
    /// Likewise, but the answer is meaningless without the older text.
    #[error(
        "{0} has changed since this was exported, and the answer refers to the earlier content; it was not imported"
    )]
    StaleUnread(String),
    /// The vote is imported, but its choice lets the right option be guessed.
    #[error("{0}; the vote was saved, but another choice gives less away")]
    GivesAway(&'static str),
    /// The annotator is the author of what is judged.
    #[error("{name} wrote the text that is judged here, so the vote was not imported")]
    OwnText {
        /// Who.
        name: String,
    },
    /// The annotator is not said to read the language of the item.
    #[error(
        "{name} is not said to read {language}, the language of this item, so the vote was not imported; if they do, add it to the `languages` of their [[annotator]] in pipeline.toml"
    )]
    NotRead {
        /// Who.
        name: String,
        /// The item's.
        language: String,
    },
    /// Assigned rows that are not in the file.
    #[error(
        "{} assigned to {annotator} but not in the file, the first is {first}; what is not there stays open", count_with_noun(*count as u64, "item")
    )]
    RowsMissing {
        /// Whose.
        annotator: String,
        /// How many.
        count: usize,
        /// The first, by id.
        first: String,
    },
}

/// Why somebody may not vote, and who may: `a vote is for the role junior: j1, j2`.
fn who_may_vote(unqualified: bool, roles: &[Role], people: &[String]) -> String {
    let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    let asked = format!("this is for the role {}", roles.join(" or "));
    let why = if unqualified {
        "not qualified (`riddlemill review qualify` grades trials)".to_owned()
    } else {
        asked
    };
    match people {
        [] => format!("{why}; nobody in pipeline.toml may"),
        people => format!("{why}; who may: {}", people.join(", ")),
    }
}

fn row_count(count: usize) -> String {
    format!("{} {}", count_with_noun(count as u64, "row"), if count == 1 { "has" } else { "have" })
}

impl VoteProblem {
    /// The error for a file whose name ends in none of the known ways.
    pub(super) fn unknown_format() -> VoteProblem {
        VoteProblem::Unreadable {
            what: "not a known kind of file".to_owned(),
            hint: Some("csv, xlsx, jsonl or Label Studio's json"),
        }
    }

    /// Whether nothing is lost by it: the row is imported, or there was none.
    pub fn is_note(&self) -> bool {
        match self {
            VoteProblem::Odd(_) | VoteProblem::GivesAway(_) | VoteProblem::RowsMissing { .. } => true,
            VoteProblem::Unread { asked, .. } => asked.is_empty(),
            _ => false,
        }
    }
}
