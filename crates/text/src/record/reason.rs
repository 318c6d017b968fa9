//! Why a record is in or out: a closed list, each with its definition.

macro_rules! reasons {
    ($($(#[doc = $definition:literal])+ $name:ident = $code:literal,)+) => {
        /// Why a record left a stage the way it did. The code is in ledgers and is stable;
        /// the definition is what `explain` and `report` print.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[doc = $definition])+ $name,)+
        }

        impl Reason {
            /// Every reason, in the order of the stages that give it.
            pub const ALL: &[Reason] = &[$(Reason::$name,)+];

            /// The stable name in ledgers, `apply` output and reports.
            pub fn code(self) -> &'static str {
                match self { $(Reason::$name => $code,)+ }
            }

            /// One sentence a reader of a ledger understands without the source.
            pub fn definition(self) -> &'static str {
                match self { $(Reason::$name => concat!($($definition),+).trim_ascii(),)+ }
            }

            /// The reason of a code, or `None` where a ledger was written by another version.
            pub fn from_code(code: &str) -> Option<Reason> {
                match code { $($code => Some(Reason::$name),)+ _ => None }
            }
        }
    };
}

reasons! {
    // import
    /// The line or page could not be read as its source's format.
    Unreadable = "unreadable",
    /// The line is longer than the limit in the settings and was not read.
    Oversize = "oversize",
    /// The text is not UTF-8, or it was read in another encoding than it was written in.
    Encoding = "encoding",
    /// The file ends in the middle, or its compression is damaged: what is behind is not there.
    Truncated = "truncated",
    /// A record with this id was read before, from this source or from another.
    SameId = "same_id",
    /// Somebody asked for its removal: raw/ holds a tombstone with the date and the reason, and the text is nowhere.
    Withdrawn = "withdrawn",
    /// A post of an annual thread that the thread's owner did not write.
    NotOwner = "not_owner",
    /// A post of a thread that is no candidate: an answer to a post, a reply behind the first floor, or what the owner of an annual thread says between the ranked jokes.
    Chatter = "chatter",
    /// A note that the owner of an annual thread wrote under one of the jokes: it goes with that joke, whose id is the evidence.
    Note = "note",
    /// The forum gave the item the number 0 or none: an advertisement or a notice between the posts.
    NoNumber = "no_number",
    /// The author or a moderator took the text away before it was archived; what is left is a mark.
    TakenAway = "taken_away",
    /// The archived page is no list, thread or answer of the forum.
    PageOther = "page_other",
    /// The site demanded a captcha or turned away whoever asked.
    PageBlocked = "page_blocked",
    /// The page is not for visitors.
    PageForbidden = "page_forbidden",
    /// The page is a script's empty frame: its content came by other requests.
    PageShell = "page_shell",
    /// The page says that the thread was taken down.
    PageDeleted = "page_deleted",
    /// The page says that the thread is hidden from visitors.
    PageHidden = "page_hidden",
    /// The page says that the forum was merged into another.
    PageMerged = "page_merged",
    /// The page has the right structure and no post in it.
    PageEmpty = "page_empty",
    /// The page has no structure that this version knows: another layout, a server's error, a cut page.
    PageUnparsed = "page_unparsed",

    // puzzles
    /// The riddle's answer is not known, and the puzzle waits for whoever knows it.
    AnswerMissing = "answer_missing",
    /// A site's own talk stood behind what the riddle says; the evidence is what was taken off.
    Promotion = "promotion",
    /// Entities were decoded, line breaks and runs of spaces became one space.
    Tidied = "tidied",
    /// A dictionary knows another spelling of the words in the evidence; the text waits for people.
    Misspelt = "misspelt",
    /// A file in raw/premises has premises of the puzzle, or says what follows from it; no model is asked for those.
    PremisesGiven = "premises_given",
    /// A file or WordNet has three words beside the answer: they are the drafted distractors.
    BesideAnswer = "beside_answer",
    /// A question, answer or distractor of the group of three is missing, or two options read the same.
    GroupIncomplete = "group_incomplete",

    // clean
    /// The content is a placeholder that the forum demanded (`.`, `RT`, a client signature).
    Placeholder = "placeholder",

    // anonymise
    /// The text holds personal data of a kind that the settings do not let pass even when it is marked.
    PersonalData = "personal_data",
    /// Personal data in the text was replaced by marks; the evidence says kinds and counts.
    PersonalDataMarked = "personal_data_marked",

    // policy
    /// A term of a word list is in the text, and a person has to look at it.
    ListedTerm = "listed_term",

    // filter
    /// Nothing is left to read: no text, or no letter and no digit in it.
    Empty = "empty",
    /// The text is shorter than the settings allow.
    TooShort = "too_short",
    /// The text is longer than the settings allow.
    TooLong = "too_long",
    /// The post runs the forum instead of joking in it: rules, notices, recruiting, events, yearly lists, pointers to other threads.
    Management = "management",
    /// The post is a link or an image and says nothing itself.
    LinkOnly = "link_only",
    /// The text promises what is not there: an image that is gone, a story on another floor.
    PromisedElsewhere = "promised_elsewhere",

    /// The text asks nothing, and the recipe takes questions only.
    NotAQuestion = "not_a_question",

    // embeddings
    /// A model's embedding of the text is stored; dedup compares it with those of the others.
    Embedded = "embedded",
    /// No embedding of the text could be had: dedup compares its words alone.
    NotEmbedded = "not_embedded",
    /// No embedding of the text can be had from this model: dedup compares its words alone.
    Unembeddable = "unembeddable",

    // dedup
    /// After folding, the text is that of the record it went into.
    ExactDuplicate = "exact_duplicate",
    /// The text is nearly that of the record it went into, which is itself kept and directly similar.
    NearDuplicate = "near_duplicate",

    // llm
    /// What a step asks about one by one is no list of the record, or cannot be computed.
    NotAList = "not_a_list",
    /// The reply is not stored and nothing may be sent, or the sample pack holds none.
    ReplyMissing = "reply_missing",
    /// Sending could pass the cap of the run, the recipe or the endpoint.
    BudgetReached = "budget_reached",
    /// The endpoint has neither prices nor `free = true`, so that no cap could be kept.
    NoPrice = "no_price",
    /// The environment variable with the endpoint's key is not set.
    KeyMissing = "key_missing",
    /// The run was interrupted before this was asked.
    Interrupted = "interrupted",
    /// The endpoint refused the request, or every attempt failed.
    RequestFailed = "request_failed",
    /// The answer was cut at the largest limit of tokens before it began; what it thought until then is kept.
    AnswerCut = "answer_cut",
    /// The endpoint had failed in the same way several times in a row, and was left alone for the rest of the run.
    EndpointLeft = "endpoint_left",
    /// The endpoint refuses this very request, or answers nothing to it however often it is asked: it is asked again with another prompt or `--retry-failed` only.
    RequestRefused = "request_refused",
    /// The reply does not say what was asked for, re-asks included.
    ReplyUnparseable = "reply_unparseable",

    // drafts
    /// A model's draft is on the record now; a person has to look at it.
    Drafted = "drafted",
    /// No draft could be had, and the settings let the record go on without one.
    NotDrafted = "not_drafted",
    /// No draft can be had with this model and prompt, and the settings let the record go on without one.
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
    /// The draft stands for the time being: votes are missing, and the settings let drafts go ahead.
    Provisional = "provisional",
    /// The votes reject the record.
    Rejected = "rejected",
    // options
    /// Options cannot be made yet: the explanation or a wrong answer is missing, or two are the same.
    OptionsMissing = "options_missing",
    /// The answers of models to a question are missing.
    ResponsesMissing = "responses_missing",
    /// Fewer judges may rate a response than the settings ask for.
    JudgesMissing = "judges_missing",
    /// Judges rated the response.
    Rated = "rated",
    /// The response answers the paired normal question: it is rated to compare, and no option is made of it.
    ToNormalQuestion = "to_normal_question",
    /// The options are in the order that was drawn for the record.
    Ordered = "ordered",

    // decisions
    /// A person decided that the record goes on, whatever the rule, draft or votes say; the evidence names both.
    DecidedKeep = "decided_keep",
    /// A person decided that the record goes out; the evidence names the decision.
    DecidedDrop = "decided_drop",
    /// A person decided that the record waits; the evidence names the decision.
    DecidedHold = "decided_hold",
    /// A person decided how the text reads; the text before is the one that was imported.
    DecidedText = "decided_text",
    /// A person decided that the two are one joke.
    DecidedOne = "decided_one",
    /// A person decided that the two are not one joke, whatever the rule says; both go on.
    DecidedTwo = "decided_two",

    // published sets
    /// The record is a row of a published set, or has its annotation from there; the evidence names the row, and what the stage would have done otherwise.
    Published = "published",
    /// The row belongs to a group of a published set, and goes on as a part of the record that it went into.
    GroupMember = "group_member",

    // review, undecided
    /// The record waits for votes.
    VotesMissing = "votes_missing",
    /// The votes do not decide, and the record waits for whoever settles disputes.
    Disputed = "disputed",
}
