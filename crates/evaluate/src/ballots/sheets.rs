//! Sheets being written: which rows are in which, and the instructions for each.

use std::fmt::Write as _;

use riddlemill_benchmarks::task::People;

use crate::options::DrawStream;
use crate::review::exchange::{ExportError, write_sheet};
use crate::task::Task;

/// A sheet, or the instructions for the sheets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Its file name.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// How every file of instructions begins.
const GUIDELINES: &str = include_str!("../templates/ballots.md");

/// The place of a sheet among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SheetPlace {
    Choose,
    Classify,
    /// Items rated on a scale.
    Rating,
    /// Others' answers, rated on a scale.
    Scale,
    Write,
    /// Answers of people and models, rated.
    Score,
    /// The better of two texts.
    Prefer,
}

/// What is said about a sheet: rows whose instructions differ are in different ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SheetHead {
    place: SheetPlace,
    /// Its name without the ending, unless another sheet has it.
    name: String,
    /// Its name if another has the first.
    other_name: String,
    /// The ends of its scale.
    scale: Option<[i64; 2]>,
    text: String,
    /// Whether rows are in a drawn order: answers to one item next to each other would reveal models.
    drawn: bool,
}

impl SheetHead {
    /// A sheet with the task's own rubric, or with this text.
    fn of_choices(place: SheetPlace, task: Task, name: &str, text: &str) -> SheetHead {
        let own = task.task_declaration().rubric.map(|rubric| format!("{}\n", rubric.trim()));
        let text = own.unwrap_or_else(|| text.to_owned());
        // Tasks with the same instructions are in one sheet.
        let (name, other_name) = (name.to_owned(), name.to_owned());
        SheetHead { place, name, other_name, scale: None, text, drawn: false }
    }

    /// One of an item's options.
    pub(super) fn choice_head(task: Task) -> SheetHead {
        let text = "Read the question and its options and give the letter of the option that is right, or better. There is \
                    exactly one.\n";
        SheetHead::of_choices(SheetPlace::Choose, task, "choose", text)
    }

    /// One of a list of labels, or several.
    pub(super) fn labels_head(task: Task, many: bool) -> SheetHead {
        let text = match many {
            true => "Give every label of the list that fits the text, with `;` between them; at least one.\n",
            false => "Give the label of the list that fits the text best.\n",
        };
        SheetHead::of_choices(SheetPlace::Classify, task, "classify", text)
    }

    /// A task whose answer is a number on a scale: a sheet for each.
    pub(super) fn of_rating(task: Task, min: i64, max: i64) -> SheetHead {
        let name = format!("rate-{}", task.task_declaration().title);
        let text = rubric_of_task(task, || format!("Give a whole number from {min} to {max}."));
        let other_name = name.clone();
        SheetHead { place: SheetPlace::Rating, name, other_name, scale: Some([min, max]), text, drawn: false }
    }

    /// Answers in people's own words.
    pub(super) fn own_words_head(task: Task) -> SheetHead {
        // A rubric of a task that people also rate is of the ratings.
        let text = "Write down the answer to each question. Any answer that makes sense is welcome. You may also give up: \
                    write `-`\nin that case.\n";
        let (name, other_name) = ("write".to_owned(), format!("write-{}", task.task_declaration().title));
        SheetHead {
            place: SheetPlace::Write,
            name,
            other_name,
            scale: None,
            text: text.to_owned(),
            drawn: false,
        }
    }

    /// Ratings of answers, or the better of two.
    pub(super) fn of_people(task: Task, people: &People) -> SheetHead {
        let place = match people.scale {
            None => SheetPlace::Prefer,
            Some(_) if people.write => SheetPlace::Score,
            Some(_) => SheetPlace::Scale,
        };
        let text = rubric_of_task(task, || match people.scale {
            Some([min, max]) => format!("Rate the response with a whole number from {min} to {max}."),
            None => "Which of the two is better? `1`, `2`, or `tie`.".to_owned(),
        });
        SheetHead {
            place,
            name: people.sheet.to_owned(),
            other_name: format!("{}-{}", people.sheet, task.task_declaration().title),
            scale: people.scale.map(|ends| ends.map(i64::from)),
            text,
            drawn: true,
        }
    }
}

/// A task's own rubric; without one its sentence and what is to be given.
fn rubric_of_task(task: Task, usual: impl Fn() -> String) -> String {
    let declared = task.task_declaration();
    match declared.rubric {
        Some(rubric) => format!("{}\n", rubric.trim()),
        None if declared.about.is_empty() => format!("{}\n", usual()),
        None => format!("{}\n\n{}\n", declared.about, usual()),
    }
}

/// A sheet being built: its headers and its rows.
struct Filling {
    name: String,
    head: SheetHead,
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// The sheets being built.
#[derive(Default)]
pub(super) struct Sheets(Vec<Filling>);

impl Sheets {
    /// Adds a row to the sheet with this head and these columns.
    pub(super) fn append_row(&mut self, head: SheetHead, heads: &[&'static str], row: Vec<String>) {
        if let Some(found) = self.0.iter_mut().find(|one| one.head == head && one.heads == heads) {
            found.rows.push(row);
            return;
        }
        let is_free = |name: &str| self.0.iter().all(|one| one.name != name);
        let numbered = || (2..).map(|number| format!("{}-{number}", head.other_name));
        let mut names = [head.name.clone(), head.other_name.clone()].into_iter().chain(numbered());
        let name = names.find(|name| is_free(name)).unwrap_or_default();
        self.0.push(Filling { name, head, heads: heads.to_vec(), rows: vec![row] });
    }

    /// The files: the instructions, then choices, own answers, and judgements on others'.
    ///
    /// # Errors
    /// [`ExportError`] if a sheet cannot be created.
    pub(super) fn finish(mut self, seed: u64) -> Result<Vec<Sheet>, ExportError> {
        self.0.sort_by(|one, other| (one.head.place, &one.name).cmp(&(other.head.place, &other.name)));
        let mut guidelines = GUIDELINES.to_owned();
        let mut made = Vec::new();
        for Filling { name, head, heads, mut rows } in self.0 {
            if head.drawn {
                rows.sort_by_key(|row| (DrawStream::new(seed, &name, &row[0]).next_bits(), row[0].clone()));
            }
            let scale = head.scale.map(|[min, max]| format!(" ({min} to {max})")).unwrap_or_default();
            let _ = write!(guidelines, "\n## {name}.csv{scale}\n{}", head.text);
            let bytes = write_sheet(&heads, &rows)?;
            made.push(Sheet { name: format!("{name}.csv"), bytes });
        }
        made.insert(0, Sheet { name: "guidelines.md".to_owned(), bytes: guidelines.into() });
        Ok(made)
    }
}
