//! Assignments of review items: raw/votes/assigned/<recipe>.<step>.jsonl, append-only.

use std::path::PathBuf;
use std::time::SystemTime;

use rustc_hash::{FxHashMap, FxHashSet};

use riddlemill_files::log::Log;
use riddlemill_harvest::pages::time;
use riddlemill_review::Task;
use riddlemill_review::ballot::Round;
use riddlemill_tables::{Error, Workspace};

/// The tasks of one review step, in the order they were assigned.
#[derive(Debug)]
pub struct Tasks {
    log: Log,
    tasks: Vec<Task>,
}

impl Tasks {
    /// The file of a step's tasks.
    pub fn path_of_step(workspace: &Workspace, recipe: &str, step: &str) -> PathBuf {
        workspace.raw_folder().join("votes").join("assigned").join(format!("{recipe}.{step}.jsonl"))
    }

    /// Reads a step's tasks; empty if nothing was assigned. An incomplete last line of a killed process is
    /// ignored.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read, was changed, or has a line that is not a task.
    pub fn open(workspace: &Workspace, recipe: &str, step: &str) -> Result<Tasks, Error> {
        let log = Log::in_file(Tasks::path_of_step(workspace, recipe, step));
        // Tasks assigned under an earlier name of the benchmark count.
        let was = riddlemill_benchmarks::find_benchmark(recipe).map(|b| b.was.as_slice()).unwrap_or_default();
        let before = was.iter().map(|was| Log::in_file(Tasks::path_of_step(workspace, was, step)));
        let mut tasks = Vec::new();
        for log in before.chain([log.clone()]) {
            tasks.append(&mut log.read_entries()?);
        }
        Ok(Tasks { log, tasks: drop_taken_back(tasks) })
    }

    /// Every task, including those taken over by somebody else.
    pub fn all_tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The tasks of a round that were not taken over.
    pub fn current_tasks(&self, round: Round) -> Vec<&Task> {
        let in_round = || self.tasks.iter().filter(|task| task.round == round);
        let over: FxHashSet<(&str, &str)> =
            in_round().filter_map(|task| Some((task.item.as_str(), task.instead_of.as_deref()?))).collect();
        in_round().filter(|task| !over.contains(&(task.item.as_str(), task.annotator.as_str()))).collect()
    }

    /// Appends tasks, which are on disk when this returns.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written, or was changed.
    pub fn append_tasks(&self, new: &[Task]) -> Result<(), Error> {
        Ok(self.log.add(new)?)
    }
}

/// The tasks that were not taken back.
fn drop_taken_back(lines: Vec<Task>) -> Vec<Task> {
    if !lines.iter().any(|task| task.back) {
        return lines;
    }
    let mut places: FxHashMap<(String, String, Round), Vec<usize>> = FxHashMap::default();
    let mut tasks: Vec<Option<Task>> = Vec::new();
    for task in lines {
        let given = places.entry((task.item.clone(), task.annotator.clone(), task.round)).or_default();
        if task.back {
            // An item may be assigned again after it was taken back: the line ends the newest assignment.
            if let Some(place) = given.pop() {
                tasks[place] = None;
            }
        } else {
            given.push(tasks.len());
            tasks.push(Some(task));
        }
    }
    tasks.into_iter().flatten().collect()
}

/// Why a day by which answers are wanted is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DueDayError {
    /// It is no day of the calendar.
    #[error("the day by which answers are wanted is written YYYY-MM-DD, not {0:?}")]
    NoDay(String),
    /// Nobody can answer by then.
    #[error("the day by which answers are wanted, {day}, is past: today is {today}")]
    Past { day: String, today: String },
}

/// The day by which answers are wanted, YYYY-MM-DD, as somebody wrote it at a time of [`current_time`].
///
/// # Errors
/// [`DueDayError`] if it is no day, or past.
pub fn read_due_day(text: &str, now: &str) -> Result<String, DueDayError> {
    let day = time::parse_day(text).ok_or_else(|| DueDayError::NoDay(text.to_owned()))?;
    let today = now.get(..day.len()).unwrap_or(now);
    // Days of one length in ISO 8601 are ordered as texts.
    if day.as_str() < today {
        return Err(DueDayError::Past { today: today.to_owned(), day });
    }
    Ok(day)
}

/// The current time in the format of votes: RFC 3339, in UTC.
pub fn current_time() -> String {
    time::format_utc(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_day_by_which_answers_are_wanted_is_not_past() {
        let now = "2026-11-29T12:00:00Z";
        for day in ["2026-11-29", " 2027-01-01 "] {
            assert_eq!(read_due_day(day, now).as_deref(), Ok(day.trim()));
        }
        assert!(matches!(read_due_day("2026-11-28", now), Err(DueDayError::Past { .. })));
        for text in ["soon", "2026-02-30", ""] {
            assert!(matches!(read_due_day(text, now), Err(DueDayError::NoDay(_))), "{text}");
        }
    }

    #[test]
    fn tasks_are_added_and_a_torn_line_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let open = || Tasks::open(&workspace, "r", "s").unwrap();
        let task = |item: &str, annotator: &str, instead_of: Option<&str>| Task {
            item: item.into(),
            annotator: annotator.into(),
            round: Round::Vote,
            instead_of: instead_of.map(Into::into),
            ..Task::default()
        };
        open().append_tasks(&[task("1", "a", None)]).unwrap();
        let path = dir.path().join("raw/votes/assigned/r.s.jsonl");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"item\":\"2\"").unwrap();
        assert_eq!(open().all_tasks().len(), 1);
        open().append_tasks(&[task("1", "b", Some("a"))]).unwrap();
        let tasks = open();
        assert_eq!(tasks.all_tasks().len(), 2);
        assert_eq!(tasks.current_tasks(Round::Vote), [&task("1", "b", Some("a"))]);
        // A task assigned by mistake is taken back, and may be assigned again.
        let back = |task: Task| Task { back: true, ..task };
        open().append_tasks(&[back(task("1", "b", None)), task("2", "b", None)]).unwrap();
        assert_eq!(open().all_tasks(), [task("1", "a", None), task("2", "b", None)]);
        assert_eq!(open().current_tasks(Round::Vote).len(), 2, "whoever had it before has it again");
        open().append_tasks(&[back(task("2", "b", None)), back(task("2", "b", None))]).unwrap();
        open().append_tasks(&[task("2", "b", None)]).unwrap();
        assert_eq!(open().all_tasks().len(), 2);
    }
}
