//! Why a record is in or out: a closed list, each with its definition.

macro_rules! reasons {
    ($($(#[doc = $definition:literal])+ $name:ident = $code:literal,)+) => {
        /// Why a record left a stage the way it did. The code is in ledgers and is stable;
        /// the definition is what `explain` and `report` print.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[doc = $definition])+ $name,)+
            /// What a benchmark's folder says.
            Own(&'static OwnReason),
        }

        impl Reason {
            /// Every reason of the program, in the order of the stages that give it.
            pub const ALL: &[Reason] = &[$(Reason::$name,)+];

            /// The stable name in ledgers, `apply` output and reports.
            pub fn code(self) -> &'static str {
                match self {
                    $(Reason::$name => $code,)+
                    Reason::Own(own) => own.code,
                }
            }

            /// One sentence a reader of a ledger understands without the source.
            pub fn definition(self) -> &'static str {
                match self {
                    $(Reason::$name => concat!($($definition),+).trim_ascii(),)+
                    Reason::Own(own) => own.definition,
                }
            }

            /// The program's reason of a code, or `None` where a ledger was written by another version, or a benchmark's
            /// folder says it.
            pub fn from_code(code: &str) -> Option<Reason> {
                match code { $($code => Some(Reason::$name),)+ _ => None }
            }
        }
    };
}

/// A reason that a benchmark's folder gives in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnReason {
    /// The name in ledgers.
    pub code: &'static str,
    /// The folder's sentence.
    pub definition: &'static str,
    /// The same in Chinese; in English where there is none.
    pub definition_zh: &'static str,
}

reasons! {
    // import
    /// The line or page could not be read as its source's format.
    Unreadable = "unreadable",
    /// The line is longer than the limit in the settings and was not read.
    Oversize = "oversize",
    /// The text is not UTF-8, or it was read in another encoding than it was written in.
    Encoding = "encoding",
    /// The file ends in the middle, or its compression is damaged: everything after this point is missing.
    Truncated = "truncated",
    /// The file is something else than its source reads, or its records are not where they are looked for; the evidence says what it is and what to do.
    ForeignFile = "foreign_file",
    /// A column that the source needs is in no row of the file; the evidence names those that are there.
    ColumnMissing = "column_missing",
    /// The files of the source gave no post; the evidence says what is in them.
    NothingRead = "nothing_read",
    /// A part of the record is no valid JSON or no value and was read as absent, or is HTML and was read as the text that it shows; the evidence says what it was.
    Mended = "mended",
    /// A record with this id was read before, from this source or from another.
    SameId = "same_id",
    /// A record with this id was read before, with an unlike text: one of the two ids is wrong, and the later post has the id with a piece of its text's hash.
    IdTaken = "id_taken",
    /// A spreadsheet or a program rounded or replaced the id, so that it names no post: the id is made from the text instead.
    DamagedId = "damaged_id",
    /// Somebody asked for its removal: raw/ holds a tombstone with the date and the reason, and the text is not stored.
    Withdrawn = "withdrawn",
    /// A post of an annual thread that the thread's owner did not write.
    NotOwner = "not_owner",
    /// A post of a thread that is not a candidate: an answer to a post, a reply after the first floor, or what the owner of an annual thread writes between the ranked jokes.
    Chatter = "chatter",
    /// A note that the owner of an annual thread wrote under one of the jokes: it is stored with that joke, whose id is the evidence.
    Note = "note",
    /// The item has the number 0 or none: an advertisement or a notice between the posts.
    NoNumber = "no_number",
    /// The author or a moderator removed the text before it was archived; only a placeholder is left.
    TakenAway = "taken_away",
    /// The archived page is not a list, thread or reply of the forum.
    PageOther = "page_other",
    /// The site demanded a captcha or refused the request.
    PageBlocked = "page_blocked",
    /// The page is not for visitors.
    PageForbidden = "page_forbidden",
    /// The page has no content of its own: a script would load it with further requests.
    PageShell = "page_shell",
    /// The page says that the thread was taken down.
    PageDeleted = "page_deleted",
    /// The page says that the thread is hidden from visitors.
    PageHidden = "page_hidden",
    /// The page says that the forum was merged into another.
    PageMerged = "page_merged",
    /// The page has the right structure, but contains no post.
    PageEmpty = "page_empty",
    /// The page has no known structure: another layout, a server error, a truncated page.
    PageUnparsed = "page_unparsed",

    // puzzles
    /// The riddle's answer is unknown; the puzzle waits until somebody adds it.
    AnswerMissing = "answer_missing",
    /// The site's own text after the riddle was removed; the evidence is the removed text.
    Promotion = "promotion",
    /// Entities were decoded, line breaks and runs of spaces became one space.
    Tidied = "tidied",
    /// A dictionary knows another spelling of the words in the evidence; the text waits for people.
    Misspelt = "misspelt",
    /// A file in raw/premises has premises or inferences of the puzzle; no model is asked for them.
    PremisesGiven = "premises_given",
    /// A file or WordNet has three words related to the answer: they are the drafted distractors.
    BesideAnswer = "beside_answer",
    /// A question, answer or distractor of the group of three is missing, or two options are equal.
    GroupIncomplete = "group_incomplete",

    // clean
    /// The content is a placeholder that the forum demanded (`.`, `RT`, a client signature).
    Placeholder = "placeholder",

    // anonymise
    /// The text contains personal data of a kind that the settings do not allow, even if it is marked.
    PersonalData = "personal_data",
    /// Personal data in the text was replaced by marks; the evidence lists kinds and counts.
    PersonalDataMarked = "personal_data_marked",

    // policy
    /// The text contains a term of a word list, and a person has to look at it.
    ListedTerm = "listed_term",

    // filter
    /// There is nothing to read: no text, or a text without a letter or digit.
    Empty = "empty",
    /// The text is shorter than the settings allow.
    TooShort = "too_short",
    /// The text is longer than the settings allow.
    TooLong = "too_long",
    /// The post manages the forum and is not a joke: rules, notices, recruiting, events, yearly lists, pointers to other threads.
    Management = "management",
    /// The post is only a link or an image.
    LinkOnly = "link_only",
    /// The text refers to something that is missing: a lost image, a story on another floor.
    PromisedElsewhere = "promised_elsewhere",

    /// The text is not a question, and the recipe keeps only questions.
    NotAQuestion = "not_a_question",

    // embeddings
    /// A model's embedding of the text is stored; dedup compares it with those of the others.
    Embedded = "embedded",
    /// No embedding of the text could be obtained: dedup compares only its words.
    NotEmbedded = "not_embedded",
    /// This model cannot embed the text: dedup compares only its words.
    Unembeddable = "unembeddable",

    // same_joke
    /// A judge said of every borderline pair that the post is in whether the two are one joke.
    PairJudged = "pair_judged",
    /// A borderline pair that the post is in was not judged: only a person, or another rule of dedup, makes the two one.
    NotJudged = "not_judged",
    /// This model cannot judge a pair that the post is in: only a person, or another rule of dedup, makes the two one.
    Unjudgeable = "unjudgeable",

    // dedup
    /// After folding, the text equals that of the record it was merged into.
    ExactDuplicate = "exact_duplicate",
    /// The text is nearly equal to that of the record it was merged into, which is itself kept.
    NearDuplicate = "near_duplicate",

    // llm
    /// The list whose elements a step asks about is not a list in this record, or cannot be computed.
    NotAList = "not_a_list",
    /// Several replies were asked for, and no answer is the most frequent one: another reply decides.
    RepliesTied = "replies_tied",
    /// The reply is not stored and nothing may be sent, or the sample pack does not contain it.
    ReplyMissing = "reply_missing",
    /// Sending could exceed the cap of the run, the recipe or the endpoint.
    BudgetReached = "budget_reached",
    /// The endpoint has neither prices nor `free = true`, so that no cap could be kept.
    NoPrice = "no_price",
    /// The environment variable with the endpoint's key is not set.
    KeyMissing = "key_missing",
    /// The run was interrupted before this was asked.
    Interrupted = "interrupted",
    /// The endpoint refused the request, or every attempt failed.
    RequestFailed = "request_failed",
    /// The reply reached the largest token limit before its answer was whole; what there is of it is kept.
    AnswerCut = "answer_cut",
    /// The endpoint failed in the same way several times in a row, and was not used in the rest of the run.
    EndpointLeft = "endpoint_left",
    /// The endpoint refuses this request, or never answers it: it is sent again only with another prompt or `--retry-failed`.
    RequestRefused = "request_refused",
    /// The reply cannot be parsed, nor can those to the repeated requests.
    ReplyUnparseable = "reply_unparseable",

    // steps of a folder
    /// An expression of the benchmark's folder cannot be computed for the record; the evidence is its place and the error.
    NotComputed = "not_computed",
    /// The list of which every element becomes a record of its own is empty.
    NoElements = "no_elements",
    /// The record does not meet what `requires` in the benchmark's folder demands; the evidence is the folder's sentence.
    RequirementBroken = "requirement_broken",
    /// `when` under [data] in the benchmark's folder does not take the record.
    NotWanted = "not_wanted",

    // drafts
    /// The record now has a model's draft; a person has to look at it.
    Drafted = "drafted",
    /// The draft is of a reply that was cut or refused, taken by an earlier version for whole: it is asked for again only on
    /// request (`riddlemill replies cut --forget`).
    DraftedFromCut = "drafted_from_cut",
    /// No draft could be obtained, and the settings let the record continue without one.
    NotDrafted = "not_drafted",
    /// This model and prompt cannot give a draft, and the settings let the record continue without one.
    Undraftable = "undraftable",

    // review
    /// People confirmed the draft or decided on the answer.
    Confirmed = "confirmed",
    /// People wrote another text than the drafted one.
    Rewritten = "rewritten",
    /// The votes of a sample confirmed it; no person did.
    SampleConfirmed = "sample_confirmed",
    /// The votes of a sample wrote another text than the drafted one; no person did.
    SampleRewritten = "sample_rewritten",
    /// The draft is used provisionally: votes are missing, and the settings let the recipe continue with drafts.
    Provisional = "provisional",
    /// The votes reject the record.
    Rejected = "rejected",
    // options
    /// Options cannot be built yet: the explanation or a wrong answer is missing, or two of them are equal.
    OptionsMissing = "options_missing",
    /// Models' answers to a question are missing.
    ResponsesMissing = "responses_missing",
    /// Fewer judges may rate a response than the settings require.
    JudgesMissing = "judges_missing",
    /// Judges rated the response.
    Rated = "rated",
    /// The response answers the paired normal question: it is rated for comparison and does not become an option.
    ToNormalQuestion = "to_normal_question",
    /// The options are in the random order of the record.
    Ordered = "ordered",

    // decisions
    /// A person decided to keep the record, overruling the rule, draft or votes; the evidence names both.
    DecidedKeep = "decided_keep",
    /// A person decided to drop the record; the evidence names the decision.
    DecidedDrop = "decided_drop",
    /// A person decided to hold the record; the evidence names the decision.
    DecidedHold = "decided_hold",
    /// A person changed the text; the text before is the one that was imported.
    DecidedText = "decided_text",
    /// A person decided that the two are one joke.
    DecidedOne = "decided_one",
    /// A person decided that the two are not one joke, overruling the rule; both are kept.
    DecidedTwo = "decided_two",

    // published sets
    /// The record is a row of a published set, or has its annotation from there; the evidence names the row, and what the stage would have done without it.
    Published = "published",
    /// The row belongs to a group of a published set, and continues as a part of the record of its group.
    GroupMember = "group_member",

    // review, undecided
    /// The record waits for votes.
    VotesMissing = "votes_missing",
    /// The votes differ, and the record waits for an adjudicator.
    Disputed = "disputed",
}
