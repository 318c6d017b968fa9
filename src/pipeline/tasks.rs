//! Who was given what to vote on: raw/votes/assigned/<recipe>.<step>.jsonl, only ever appended to.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use rustc_hash::FxHashSet;

use crate::pages::time;
use crate::review::Task;
use crate::review::ballot::Round;
use crate::store::{Error, Lock, Workspace, durable};

/// The tasks of one review step, in the order they were given.
#[derive(Debug)]
pub struct Tasks {
    folder: PathBuf,
    path: PathBuf,
    tasks: Vec<Task>,
}

impl Tasks {
    /// Reads a step's tasks; none where nothing was assigned. A line that a killed process left without
    /// its end is passed over.
    ///
    /// # Errors
    /// [`Error`] where the file cannot be read, or holds what is no task.
    pub fn open(workspace: &Workspace, recipe: &str, step: &str) -> Result<Tasks, Error> {
        let folder = workspace.raw().join("votes").join("assigned");
        let path = folder.join(format!("{recipe}.{step}.jsonl"));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(Error::io("read", &path)(e)),
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut tasks = Vec::new();
        for (at, line) in whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let task = serde_json::from_str(line).map_err(|e| Error::Damaged {
                path: path.clone(),
                what: format!("line {} is no task: {e}", at + 1),
                hint: "bring it back from a backup, or remove the line".into(),
            })?;
            tasks.push(task);
        }
        Ok(Tasks { folder, path, tasks })
    }

    /// Every task, those that somebody else took over among them.
    pub fn all(&self) -> &[Task] {
        &self.tasks
    }

    /// The tasks of a round that nobody else took over.
    pub fn current(&self, round: Round) -> Vec<&Task> {
        let in_round = || self.tasks.iter().filter(|task| task.round == round);
        let over: FxHashSet<(&str, &str)> =
            in_round().filter_map(|task| Some((task.item.as_str(), task.instead_of.as_deref()?))).collect();
        in_round().filter(|task| !over.contains(&(task.item.as_str(), task.annotator.as_str()))).collect()
    }

    /// Adds tasks, on disk when it returns.
    ///
    /// # Errors
    /// [`Error`] where the file cannot be written, or another process writes it.
    pub fn append(&self, new: &[Task]) -> Result<(), Error> {
        if new.is_empty() {
            return Ok(());
        }
        durable::create_folder(&self.folder)?;
        let _lock = Lock::take(&self.folder)?;
        let mut lines = Vec::new();
        // A torn last line ends here, so that it spoils nothing.
        if fs::read(&self.path).is_ok_and(|bytes| bytes.last().is_some_and(|&byte| byte != b'\n')) {
            let text = fs::read(&self.path).map_err(Error::io("read", &self.path))?;
            let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let file =
                OpenOptions::new().write(true).open(&self.path).map_err(Error::io("open", &self.path))?;
            file.set_len(end as u64).map_err(Error::io("cut", &self.path))?;
        }
        for task in new {
            lines.extend(serde_json::to_vec(task).unwrap_or_default());
            lines.push(b'\n');
        }
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        let mut file = file.map_err(Error::io("open", &self.path))?;
        file.write_all(&lines).and_then(|()| file.sync_data()).map_err(Error::io("write", &self.path))?;
        durable::sync_folder(&self.folder)
    }
}

/// The time as votes record it: RFC 3339, in UTC.
pub fn now() -> String {
    time::utc(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_added_and_a_torn_line_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let open = || Tasks::open(&workspace, "r", "s").unwrap();
        let task = |item: &str, annotator: &str, instead_of: Option<&str>| Task {
            item: item.into(),
            annotator: annotator.into(),
            round: Round::Vote,
            gold: false,
            instead_of: instead_of.map(Into::into),
        };
        open().append(&[task("1", "a", None)]).unwrap();
        let path = dir.path().join("raw/votes/assigned/r.s.jsonl");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"item\":\"2\"").unwrap();
        assert_eq!(open().all().len(), 1);
        open().append(&[task("1", "b", Some("a"))]).unwrap();
        let tasks = open();
        assert_eq!(tasks.all().len(), 2);
        assert_eq!(tasks.current(Round::Vote), [&task("1", "b", Some("a"))]);
    }
}
