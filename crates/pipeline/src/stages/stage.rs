//! The closed list of stages, and what they have in common.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::native::Native;
use super::unusable::Unusable;
use super::{Draft, Review};
use riddlemill_benchmarks::arranged::{Marked, Options};
use riddlemill_benchmarks::elements::Elements;
use riddlemill_benchmarks::record_kind::RecordKind;
use riddlemill_benchmarks::selecting::Select;
use riddlemill_review::decisions::Verdict;
use riddlemill_tables as store;
use riddlemill_text::join::Watch;
use riddlemill_text::record::{Column, Declared, Post, Typed};

/// Every kind of stage. A recipe lists those that it uses, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Dumps to posts.
    Import,
    /// The text of a post without the forum's additions.
    Clean,
    /// Personal data out of the texts.
    Anonymise,
    /// Posts of the recipe's kind.
    Filter,
    /// What a model embeds, for dedup: only where the settings name one.
    Embed,
    /// What a model says of borderline pairs, for dedup: only where the settings name one.
    SameJoke,
    /// One record a joke.
    Dedup,
    /// What a model proposes.
    Draft(Draft),
    /// What people decided.
    Review(Review),
    /// The options of a multiple choice of records with columns (FLUB 2.1).
    Options(Rows),
    /// A named operation.
    Native(Native),
    /// Personal data out of the texts of a declared record.
    Mark(&'static Marked),
    /// The options of a declared multiple choice.
    Choose(&'static Options),
    /// Records dropped or held by an expression.
    Select(&'static Select),
    /// A record of every element of a list.
    Elements(&'static Elements),
}

/// What a stage's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// [`riddlemill_text::record::Post`].
    Posts,
    /// Records of a kind that a folder declares, whose columns steps fill.
    Kind(&'static RecordKind),
    /// Records with a group for each step: [`riddlemill_text::record::Declared`].
    Groups,
}

impl Rows {
    /// Every kind of rows: posts, the kinds that folders declare, and records in groups.
    pub fn all() -> Vec<Rows> {
        let kinds = riddlemill_benchmarks::all().iter().flat_map(|benchmark| &benchmark.kinds);
        let mut all = vec![Rows::Posts];
        all.extend(kinds.map(|kind| Rows::Kind(kind)));
        all.push(Rows::Groups);
        all
    }

    /// The rows of a kind; without one, records in groups.
    pub fn of_kind(kind: Option<&'static RecordKind>) -> Rows {
        kind.map_or(Rows::Groups, Rows::Kind)
    }

    /// The rows of a benchmark's records.
    pub fn of_benchmark(benchmark: &str) -> Rows {
        Rows::of_kind(riddlemill_benchmarks::find(benchmark).and_then(|benchmark| benchmark.records))
    }

    /// The columns of such rows, in the order of the file.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Rows::Posts => Post::COLUMNS,
            Rows::Kind(kind) => kind.columns,
            Rows::Groups => Declared::COLUMNS,
        }
    }

    /// Whether they have a column.
    pub fn has(self, name: &str) -> bool {
        self.columns().iter().any(|column| column.name == name)
    }

    /// Their name in the reference.
    pub fn name(self) -> &'static str {
        match self {
            Rows::Posts => "posts",
            Rows::Kind(kind) => kind.name,
            Rows::Groups => "declared records",
        }
    }
}

impl Stage {
    /// The stage that a benchmark's folder declares for a step; `None` if there is no code for it.
    pub fn declared(
        benchmark: &'static riddlemill_benchmarks::Benchmark,
        step: &riddlemill_benchmarks::Step,
    ) -> Option<Stage> {
        use riddlemill_benchmarks::Kind;
        let own = !Stage::has_records_of_its_own(benchmark);
        Some(match step.kind {
            Kind::Import => Stage::Import,
            Kind::Clean => Stage::Clean,
            Kind::Anonymise => match benchmark.marked.iter().find(|marked| marked.name == step.name) {
                Some(marked) => Stage::Mark(marked),
                None => Stage::Anonymise,
            },
            Kind::Filter => Stage::Filter,
            Kind::Dedup => Stage::Dedup,
            Kind::Options if own => {
                Stage::Choose(benchmark.options.iter().find(|options| options.name == step.name)?)
            }
            Kind::Options => Stage::Options(Rows::of_kind(step.records)),
            Kind::Draft(_) => Stage::Draft(Draft::find(benchmark, step.name)?),
            Kind::Ballot(name) => Stage::Review(Review::new(benchmark.ballot(name)?)),
            Kind::Select => Stage::Select(benchmark.selects.iter().find(|select| select.name == step.name)?),
            Kind::Elements => {
                Stage::Elements(benchmark.elements.iter().find(|elements| elements.name == step.name)?)
            }
            Kind::Native(_) => Stage::Native(Native::find(
                benchmark.natives.iter().find(|native| native.name == step.name)?,
            )?),
        })
    }

    /// Whether records of a benchmark have a type in Rust, and are not what its folder declares.
    pub(crate) fn has_records_of_its_own(benchmark: &riddlemill_benchmarks::Benchmark) -> bool {
        benchmark.records.is_some()
    }

    /// The table of its settings in pipeline.toml.
    pub fn section(self) -> &'static str {
        match self {
            Stage::Import => "import",
            Stage::Clean => "clean",
            Stage::Anonymise => "anonymise",
            Stage::Filter => "filter",
            Stage::Embed => "embeddings",
            Stage::SameJoke => "same_joke",
            Stage::Dedup => "dedup",
            Stage::Draft(_) => "draft",
            Stage::Review(_) => "review",
            Stage::Options(_) | Stage::Choose(_) => "options",
            Stage::Mark(_) => "anonymise",
            Stage::Native(native) => native.section(),
            // What they do is in the benchmark's folder alone.
            Stage::Select(_) | Stage::Elements(_) => "",
        }
    }

    /// What it writes.
    pub fn rows(self) -> Rows {
        match self {
            Stage::Import
            | Stage::Clean
            | Stage::Anonymise
            | Stage::Filter
            | Stage::Embed
            | Stage::SameJoke
            | Stage::Dedup => Rows::Posts,
            Stage::Draft(draft) => draft.rows(),
            Stage::Review(review) => review.subjects(),
            Stage::Options(rows) => rows,
            Stage::Native(native) => native.rows(),
            Stage::Select(select) => Rows::of_kind(select.records),
            Stage::Mark(_) | Stage::Choose(_) | Stage::Elements(_) => Rows::Groups,
        }
    }

    /// Whether a person may overrule it so.
    pub fn takes(self, verdict: Verdict) -> bool {
        match self {
            Stage::Clean => !verdict.is_of_pair(),
            Stage::Anonymise | Stage::Filter | Stage::Select(_) => {
                matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
            }
            Stage::Dedup => verdict.is_of_pair(),
            Stage::Review(_) => verdict == Verdict::Keep,
            Stage::Native(native) => native.takes(verdict),
            Stage::Import
            | Stage::Embed
            | Stage::SameJoke
            | Stage::Draft(_)
            | Stage::Options(_)
            | Stage::Mark(_)
            | Stage::Choose(_)
            | Stage::Elements(_) => false,
        }
    }

    /// Whether it compares every record with the others, merges those that are one, and writes a table of pairs.
    pub fn compares_pairs(self) -> bool {
        match self {
            Stage::Dedup => true,
            Stage::Native(native) => native.compares_pairs(),
            _ => false,
        }
    }

    /// Whether it writes texts by rules alone, before anybody votes on them.
    pub fn writes_texts(self) -> bool {
        match self {
            Stage::Clean | Stage::Anonymise | Stage::Filter => true,
            Stage::Native(native) => native.writes_texts(),
            _ => false,
        }
    }

    /// Grows whenever the stage's code would give another output for the same input, so that what
    /// an older program made is made again.
    pub fn version(self) -> u32 {
        match self {
            // 6 reads English pages without a declaration as windows-1252, and sets mojibake aside. 7 gives each post its language.
            // 8 decodes entities of every kind of source, sets Chinese mojibake aside, too, and takes no damaged id for one.
            Stage::Import => 8,
            // 2 keeps titles that only announce a repost, and bars in names where the heading has one. 3 goes by the language of
            // the record. 4 removes more invisible characters, from English texts, too.
            Stage::Clean => 4,
            // 2 takes the end of one word and the start of the next for no listed term. 3 goes by the language of the record. 4
            // knows personal data in English, and names within other words.
            Stage::Anonymise => 4,
            // 2 takes a question word before a full stop for no question. 3 asks jieba for words; knows tasks with somebody
            // named, premises, and answers with a reason. 4 takes what somebody says after a colon for reported, and advice
            // for an answer. 5 goes by the language of the record, and knows tasks in English.
            Stage::Filter => 5,
            Stage::Embed | Stage::SameJoke => 1,
            // 2 keeps a text in capitals alone where there is no other. 3 wants a third of the pairs of neighbours. 4 takes
            // more retellings for the same, and the forum's names for no likeness. 5 takes what over 256 posts hold for no
            // likeness of two. 6 goes by the language of the record, and lists exchanged words, other numbers and other subjects as
            // borderline. 7 compares texts over 4,000 units as copies and beginnings alone.
            Stage::Dedup => 7,
            // 2 reads no reasoning as an answer. 3 takes no reply that was cut or refused for one, and reads more forms.
            Stage::Draft(_) => 3,
            Stage::Review(_) => 1,
            Stage::Options(_) => 1,
            Stage::Mark(_) | Stage::Choose(_) | Stage::Select(_) | Stage::Elements(_) => 1,
            Stage::Native(native) => native.version(),
        }
    }
}

/// Why a stage ended early.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The user asked to stop. What was finished before is kept.
    #[error("stopped")]
    Stopped,
    /// The reply store could not be read or written.
    #[error(transparent)]
    Replies(#[from] riddlemill_llm::store::StoreError),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] riddlemill_files::log::LogError),
    /// Nobody agreed to pay, and no cap is set.
    #[error("{0}")]
    NotAgreed(String),
    /// A setting, a file that settings name, or what somebody asked for cannot be used.
    #[error(transparent)]
    Settings(#[from] Unusable),
    /// A prompt cannot be read or filled in.
    #[error(transparent)]
    Prompt(#[from] riddlemill_llm::prompt::PromptError),
    /// An endpoint cannot be asked.
    #[error(transparent)]
    Engine(#[from] riddlemill_llm::EngineError),
    /// A pack of replies cannot be read.
    #[error(transparent)]
    Pack(#[from] riddlemill_llm::PackError),
    /// The disk has no room for what the stage would write.
    #[error("{0}")]
    NoRoom(String),
}

/// Set when the user wants to stop; stages check it between parts.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    awaited: AtomicUsize,
}

/// While it is held, a stop waits for what it was taken for.
#[derive(Debug)]
pub struct Awaited<'a>(&'a Stop);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.awaited.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Stop {
    /// Asks to stop.
    pub fn set(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Begins something that is paid for and must not be cut off: requests to endpoints, whose replies are stored.
    pub fn awaited(&self) -> Awaited<'_> {
        self.awaited.fetch_add(1, Ordering::SeqCst);
        Awaited(self)
    }

    /// Whether a process may end without losing anything but the stage it is in: computing can be repeated.
    pub fn may_end(&self) -> bool {
        self.awaited.load(Ordering::SeqCst) == 0
    }

    /// An error where a stop was asked for.
    ///
    /// # Errors
    /// [`StageError::Stopped`].
    pub fn check(&self) -> Result<(), StageError> {
        if self.asked() { Err(StageError::Stopped) } else { Ok(()) }
    }
}

/// Receives the progress of a stage.
pub trait Pulse: Sync {
    /// This many more records are done.
    fn advance(&self, records: u64);
    /// Another part of the stage begins, with this name and number of records, whose rate does not predict the rest; ""
    /// for the stage itself.
    fn part(&self, _name: &str, _records: u64) {}
    /// Other current information, in one line.
    fn show_status(&self, _words: &str) {}
    /// A message that the user has to see, once.
    fn notify(&self, _words: &str) {}
    /// Asks the user a yes-or-no question; `None` if there is no way to ask.
    fn agrees(&self, _question: &str) -> Option<bool> {
        None
    }
    /// Asks the person at this machine, and nobody elsewhere, a yes-or-no question whose answer is kept; `None` if there is
    /// no way to ask.
    fn trusts(&self, _question: &str) -> Option<bool> {
        None
    }
    /// The most that everything still to be asked would cost, in words, in addition to this many requests that are
    /// mentioned already; `None` if nothing more is known.
    fn outlook(&self, _requests: usize) -> Option<String> {
        None
    }
}

/// A stage that runs a join: its progress is reported in records, and Ctrl-C ends it.
pub struct Waiting<'a> {
    stop: &'a Stop,
    pulse: &'a dyn Pulse,
    records: u64,
    /// The share that is done, and the records that were reported for it.
    done: Mutex<(f64, u64)>,
}

impl<'a> Waiting<'a> {
    /// For a join of this many records.
    pub fn new(stop: &'a Stop, pulse: &'a dyn Pulse, records: u64) -> Self {
        Waiting { stop, pulse, records, done: Mutex::new((0.0, 0)) }
    }
}

impl Watch for Waiting<'_> {
    fn stopped(&self) -> bool {
        self.stop.asked()
    }

    fn advance(&self, share: f64) {
        let new = {
            // A panic in another thread leaves valid numbers, and progress is no reason for a second panic.
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.0 += share;
            // Sums of shares have rounding errors.
            let records = ((done.0 + 1e-9) * self.records as f64).min(self.records as f64) as u64;
            let new = records.saturating_sub(done.1);
            done.1 += new;
            new
        };
        // After the lock is released, so that a slow pulse does not block the join's other threads.
        if new > 0 {
            self.pulse.advance(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use riddlemill_text::join::{Query, Threshold, self_join_watched, similarity_join_watched};

    #[derive(Default)]
    struct Count(AtomicU64);

    impl Pulse for Count {
        fn advance(&self, records: u64) {
            self.0.fetch_add(records, Ordering::Relaxed);
        }
    }

    fn texts() -> Vec<String> {
        (0..600u32).map(|n| format!("第{}只鸟在{}天飞过{}座山", n % 701, n % 53, n / 7)).collect()
    }

    #[test]
    fn a_join_reports_every_record_once() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (stop, all, one) = (Stop::default(), Count::default(), Count::default());
        similarity_join_watched(&texts, &Waiting::new(&stop, &all, 600));
        let counted = all.0.load(Ordering::Relaxed);
        assert!((580..=600).contains(&counted), "{counted}");
        let query = Query { metric: riddlemill_text::join::Metric::Indel, threshold: Threshold::ONE };
        self_join_watched(&texts, &query, &Waiting::new(&stop, &one, 600));
        let counted = one.0.load(Ordering::Relaxed);
        assert!((580..=600).contains(&counted), "{counted}");
    }

    #[test]
    fn a_join_that_is_stopped_compares_nothing_more() {
        let texts = texts();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (stop, count) = (Stop::default(), Count::default());
        let whole = similarity_join_watched(&texts, &Waiting::new(&stop, &count, 600)).effort;
        stop.set();
        let stopped = similarity_join_watched(&texts, &Waiting::new(&stop, &count, 600)).effort;
        assert!(whole.compared > 0 && stopped.compared == 0, "{whole:?} {stopped:?}");
    }
}
