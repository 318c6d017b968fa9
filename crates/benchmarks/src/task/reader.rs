//! Parses `[[task]]`.

use std::collections::BTreeMap;

use crate::choice::{Choice, Lists};
use crate::data::Data;
use crate::expression::{Expression, Language};
use crate::reader::{Keys, leak_text};
use crate::script;
use crate::task::{
    AnswerJudging, AnswerParsing, Asks, Confidence, Conversation, PackKey, People, PromptForm,
    ReleasedAnswers, SOLVED, Shots, Task, UNSOLVED, With,
};
use crate::template::Template;

/// The prompts of all folders: by a folder's name the benchmark's name in replies, and the names of its
/// files.
pub(crate) type Folders = BTreeMap<&'static str, (String, Vec<String>)>;

/// What a benchmark's tasks may reference.
pub(crate) struct TaskReferences<'a> {
    /// The folder.
    pub benchmark: &'a str,
    /// The prompts of all folders, including this one.
    pub folders: &'a Folders,
    /// Whether these are all folders: otherwise prompts of others are accepted unchecked.
    pub whole: bool,
    /// The lists of ballots.toml.
    pub lists: &'a Lists,
    /// The released columns.
    pub data: Option<&'a Data>,
    /// The language of its expressions.
    pub language: Language,
}

/// The answer's name among a judge's prompt values.
const SAID: &str = "said";

impl TaskReferences<'_> {
    fn column_names(&self) -> Vec<&'static str> {
        let of = |data: &Data| -> Vec<_> {
            data.columns.iter().chain(&data.sometimes).map(|column| column.name).collect()
        };
        self.data.map(of).unwrap_or_default()
    }

    /// An expression over the columns and `beside`.
    fn parse_expression(&self, keys: &Keys<'_>, key: &str, beside: &[&str]) -> Option<Expression> {
        let place = keys.place_of_key(key)?;
        let read = Expression::parse(self.language, place, keys.read_text(key)?)
            .map_err(|what| keys.report_problem(key, what))
            .ok()?;
        let columns = self.column_names();
        if let Some(problem) = read.find_unknown_name("column", columns.iter().chain(beside).copied()) {
            keys.report_problem(key, problem);
        }
        Some(read)
    }

    /// A list of expressions over the columns.
    fn parse_expressions(&self, keys: &Keys<'_>, key: &str) -> Vec<Expression> {
        let place = keys.place_of_key(key).unwrap_or_default();
        let columns = self.column_names();
        let read = |source| {
            let read = Expression::parse(self.language, place.clone(), source);
            let read = read.map_err(|what| keys.report_problem(key, what)).ok()?;
            if let Some(problem) = read.find_unknown_name("column", columns.iter().copied()) {
                keys.report_problem(key, problem);
            }
            Some(read)
        };
        keys.read_texts(key).unwrap_or_default().into_iter().filter_map(read).collect()
    }

    fn require_expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        if !keys.has_key(key) {
            keys.require_text(key);
            return None;
        }
        self.parse_expression(keys, key, &[])
    }

    fn parse_named_expressions(&self, keys: &Keys<'_>, key: &str, beside: &[&str]) -> With {
        let each = |keys: &Keys<'_>| -> Vec<_> {
            let one = |name| Some((name, self.parse_expression(keys, name, beside)?));
            keys.key_names().into_iter().filter_map(one).collect()
        };
        keys.read_table(key, each).unwrap_or_default()
    }

    /// A prompt, or several by conditions, of which one has none.
    fn parse_template(&self, keys: &Keys<'_>, key: &str) -> Option<Template> {
        if !keys.is_tables(key) {
            return Some(Template::new(Vec::new(), self.resolve_prompt(keys, key)?));
        }
        let case = |keys: &Keys<'_>| {
            if !keys.has_key("prompt") {
                keys.require_text("prompt");
            }
            let when = keys.has_key("when").then(|| self.parse_expression(keys, "when", &[]));
            Some((when, self.resolve_prompt(keys, "prompt")?))
        };
        let (mut cases, mut usual) = (Vec::new(), None);
        for (when, prompt) in keys.read_tables(key, case)?.into_iter().collect::<Option<Vec<_>>>()? {
            match when {
                Some(when) => cases.push((when?, prompt)),
                None => usual = usual.or(Some(prompt)),
            }
        }
        if usual.is_none() {
            keys.report_problem(key, "one of the prompts has no `when`: the one for all other rows");
        }
        Some(Template::new(cases, usual?))
    }

    /// A prompt of this folder, or `FOLDER/NAME` of another, by its name in replies.
    fn resolve_prompt(&self, keys: &Keys<'_>, key: &str) -> Option<&'static str> {
        let named = keys.read_text(key)?;
        let (folder, name) = named.split_once('/').unwrap_or((self.benchmark, named));
        let Some((of, files)) = self.folders.get(folder) else {
            if self.whole {
                let known = self.folders.keys().copied();
                keys.report_problem(key, riddlemill_text::hint::unknown("benchmark", folder, known));
            }
            return Some(named);
        };
        // Some only exist in the paper's wording.
        let paper = format!("{name}_paper");
        if !files.iter().any(|file| *file == name || *file == paper) {
            let known = files.iter().map(String::as_str);
            keys.report_problem(key, riddlemill_text::hint::unknown("prompt", name, known));
        }
        Some(leak_text(&format!("{of}/{name}")))
    }

    fn parse_labels(&self, keys: &Keys<'_>) -> Option<AnswerParsing> {
        let name = keys.require_text("list");
        let without = keys.read_texts("without").unwrap_or_default();
        let many = keys.read_flag("many").unwrap_or(false);
        let behind = keys.read_texts("behind").unwrap_or_default();
        let language = keys.one_of("in", &[("en", true), ("zh", false)]);
        let gold = self.require_expression(keys, "gold");
        let Some(list) = self.lists.get(name) else {
            keys.report_problem(
                "list",
                riddlemill_text::hint::unknown("list", name, self.lists.keys().copied()),
            );
            return None;
        };
        for code in without.iter().filter(|code| !list.iter().any(|option| option.code == **code)) {
            let known = list.iter().map(|option| option.code);
            keys.report_problem("without", riddlemill_text::hint::unknown("code", code, known));
        }
        let named = |offered: bool, en: Option<bool>| -> Vec<&'static str> {
            let name = |option: &Choice| match en {
                None => option.code,
                Some(true) => option.label.en,
                Some(false) => option.label.zh,
            };
            list.iter().filter(|option| without.contains(&option.code) != offered).map(name).collect()
        };
        let others = language.map_or_else(Vec::new, |en| named(true, Some(!en)));
        let (codes, left_out) = (named(true, language), named(false, language));
        Some(AnswerParsing::Labels { codes, others, left_out, many, gold: gold?, behind })
    }

    /// A conversation; `None` if there is a problem, which is reported.
    fn parse_conversation(&self, keys: &Keys<'_>) -> Option<Conversation> {
        for key in ["turns", "host"].into_iter().filter(|key| !keys.has_key(key)) {
            keys.require_text(key);
        }
        let turns = keys.read_count("turns").filter(|turns| (1..=100).contains(turns));
        if turns.is_none() && keys.has_key("turns") {
            keys.report_problem("turns", "`turns` is between 1 and 100 questions of the player");
        }
        let replies = keys.read_texts("replies").unwrap_or_else(|| vec!["yes", "no", "irrelevant", SOLVED]);
        if !replies.contains(&SOLVED) {
            keys.report_problem(
                "replies",
                format!("{SOLVED:?} is missing: the reply that ends a conversation"),
            );
        }
        let (host, with) =
            (self.parse_template(keys, "host"), self.parse_named_expressions(keys, "with", &[SAID]));
        Some(Conversation { turns: u32::try_from(turns?).ok()?, host: host?, with, replies })
    }

    /// Whether a conversation ended in the solution: one of two labels.
    fn parse_solved(&self, keys: &Keys<'_>) -> Option<AnswerParsing> {
        let place = keys.place_of_key("conversation").unwrap_or_default();
        let gold = Expression::parse(self.language, place, leak_text(&format!("'{SOLVED}'")));
        let gold = gold.map_err(|what| keys.report_problem("conversation", what)).ok()?;
        let codes = vec![SOLVED, UNSOLVED];
        Some(AnswerParsing::Labels {
            codes,
            others: Vec::new(),
            left_out: Vec::new(),
            many: false,
            gold,
            behind: Vec::new(),
        })
    }

    fn parse_wants(&self, keys: &Keys<'_>) -> Option<AnswerParsing> {
        let solved = keys.has_key("conversation").then(|| self.parse_solved(keys));
        let choose = keys.read_table("choose", |keys| {
            let words = keys.read_flag("words").unwrap_or(false);
            let (options, gold) =
                (self.require_expression(keys, "options"), self.require_expression(keys, "gold"));
            Some(AnswerParsing::Choice { options: options?, gold: gold?, words })
        });
        let tag = keys.read_table("tag", |keys| {
            let names = keys.read_texts("names").unwrap_or_default();
            let gold = keys.require_text("gold");
            if !names.contains(&gold) {
                keys.report_problem(
                    "gold",
                    riddlemill_text::hint::unknown("name", gold, names.iter().copied()),
                );
            }
            Some(AnswerParsing::Tag { names, options: self.require_expression(keys, "options")?, gold })
        });
        let label = keys.read_table("label", |keys| self.parse_labels(keys));
        let rate = keys.read_table("rate", |keys| {
            let ends = keys.read_integers("scale").unwrap_or_default();
            let [min, max] = ends[..] else {
                keys.report_problem("scale", "`scale` is the lowest and the highest: [1, 5]");
                return None;
            };
            Some(AnswerParsing::Rating { min, max, gold: self.require_expression(keys, "gold")? })
        });
        let words =
            keys.read_table("words", |keys| Some(AnswerParsing::Words { blank: keys.read_text("blank") }));
        let all: Vec<Option<AnswerParsing>> =
            [choose, tag, label, rate, words, solved].into_iter().flatten().collect();
        if all.len() != 1 {
            let kinds = "`choose`, `tag`, `label`, `rate`, `words`, `conversation`";
            keys.report_problem("name", format!("a task has one of {kinds}: how an answer is read"));
        }
        all.into_iter().next().flatten()
    }

    fn parse_judged(&self, keys: &Keys<'_>) -> Option<AnswerJudging> {
        let with = self.parse_named_expressions(keys, "with", &[SAID]);
        let people = keys.read_flag("people").unwrap_or(false);
        let role = keys.read_text("role");
        if !keys.has_key("prompt") {
            keys.require_text("prompt");
        }
        let template = self.parse_template(keys, "prompt");
        let better = keys.read_table("better", |keys| {
            let sides = <[&str; 2]>::try_from(keys.read_texts("sides").unwrap_or_default());
            if sides.is_err() {
                keys.report_problem("sides", "`sides` names the two texts as the prompt asks for them");
            }
            Some(Asks::Better { person: self.require_expression(keys, "person")?, sides: sides.ok()? })
        });
        let asks = match better {
            Some(better) => better,
            None => {
                let json = keys.one_of("reply", &[("json", true), ("brackets", false)]).unwrap_or(false);
                parse_scale(keys).map(|[min, max]| Asks::Rating { min, max, json })
            }
        };
        Some(AnswerJudging { template: template?, with, asks: asks?, people, role })
    }

    fn parse_people(&self, keys: &Keys<'_>) -> Option<People> {
        let write = keys.read_flag("write").unwrap_or(false);
        let sheet = match write && !keys.has_key("sheet") {
            true => "",
            false => keys.require_text("sheet"),
        };
        if let Some(key) = ["scale", "times"].into_iter().find(|key| sheet.is_empty() && keys.has_key(key)) {
            keys.report_problem(
                key,
                format!("`{key}` is of ratings, and `sheet`, on which people rate, is missing"),
            );
        }
        Some(People {
            sheet,
            shows: self.parse_named_expressions(keys, "shows", &[]),
            times: keys.read_number("times").unwrap_or(1.0),
            write,
            scale: if keys.has_key("scale") { Some(parse_scale(keys)?) } else { None },
        })
    }

    fn parse_released(&self, keys: &Keys<'_>) -> Option<ReleasedAnswers> {
        let columns = self.column_names();
        let column = |name: &str| {
            if !columns.contains(&name) {
                let known = columns.iter().copied();
                keys.report_problem("models", riddlemill_text::hint::unknown("column", name, known));
            }
        };
        // Folders made earlier call the answers `said`.
        let key = if keys.has_key("said") { "said" } else { "answers" };
        let (models, answers) = (keys.require_text("models"), keys.require_text(key));
        let votes = keys.read_texts("votes").unwrap_or_default();
        [models, answers].iter().chain(&votes).for_each(|name| column(name));
        let votes = <[&str; 3]>::try_from(votes);
        if votes.is_err() {
            keys.report_problem(
                "votes",
                "`votes` names three columns: for the person's text, the model's, neither",
            );
        }
        Some(ReleasedAnswers { models, answers, votes: votes.ok()? })
    }
}

/// Most answers of a model to one row.
const MOST_SAMPLES: usize = 1000;

/// How many answers a task takes of every model.
fn parse_samples(keys: &Keys<'_>) -> u32 {
    let samples = keys.read_count("samples").unwrap_or(1);
    if !(1..=MOST_SAMPLES).contains(&samples) {
        keys.report_problem(
            "samples",
            format!("`samples` is between 1 and {MOST_SAMPLES} answers of every model"),
        );
    }
    u32::try_from(samples).unwrap_or(1)
}

/// The confidence that answers state.
fn parse_confidence(keys: &Keys<'_>) -> Option<Confidence> {
    let bins = keys.read_count("bins").unwrap_or(10);
    if !(1..=100).contains(&bins) {
        keys.report_problem("bins", "`bins` is between 1 and 100: how many the calibration error has");
    }
    let most = match keys.read_integers("scale").as_deref() {
        Some([0, 1]) => Some(1),
        Some([0, 100]) => Some(100),
        _ => None,
    };
    if most.is_none() {
        keys.report_problem("scale", "`scale` is [0, 1] or [0, 100]: what a confidence may be");
    }
    Some(Confidence { most: most?, bins })
}

fn parse_scale(keys: &Keys<'_>) -> Option<[u32; 2]> {
    let ends = keys.read_integers("scale").unwrap_or_default();
    let ends: Option<Vec<u32>> = ends.into_iter().map(|end| u32::try_from(end).ok()).collect();
    let ends = ends.and_then(|ends| <[u32; 2]>::try_from(ends).ok()).filter(|[min, max]| min < max);
    if ends.is_none() {
        keys.report_problem("scale", "`scale` is the lowest and the highest, from 0: [1, 5]");
    }
    ends
}

/// Parses the tasks of a benchmark.
pub(crate) fn parse_tasks(known: &TaskReferences<'_>, keys: &Keys<'_>) -> Vec<Task> {
    let mut before: Vec<(&str, &'static str)> = Vec::new();
    let task = |keys: &Keys<'_>| {
        let title = keys.require_text("name");
        if before.iter().any(|(other, _)| *other == title) {
            keys.report_problem("name", format!("two tasks are named {title:?}"));
        }
        let name =
            keys.read_text("called").unwrap_or_else(|| leak_text(&format!("{}/{title}", known.benchmark)));
        let other_order_of = keys.read_text("other_order_of").and_then(|other| {
            let found = before.iter().find(|(title, _)| *title == other).map(|(_, name)| *name);
            if found.is_none() {
                let known = before.iter().map(|(title, _)| *title);
                let what = riddlemill_text::hint::unknown("task before it", other, known);
                keys.report_problem("other_order_of", what);
            }
            found
        });
        before.push((title, name));
        if !keys.has_key("prompt") {
            keys.require_text("prompt");
        }
        let forms = keys.read_named_tables("form", |name, keys| {
            let (with, shows) = (
                known.parse_named_expressions(keys, "with", &[]),
                known.parse_named_expressions(keys, "shows", &[]),
            );
            Some(PromptForm { name, template: known.resolve_prompt(keys, "prompt")?, with, shows })
        });
        let shots = keys.read_table("shots", |keys| Shots {
            shows: known.parse_named_expressions(keys, "shows", &[]),
            like: known.parse_expression(keys, "like", &[]),
        });
        let found = keys.one_of("found", &[("record", PackKey::Record), ("task", PackKey::Task)]);
        let found = match (keys.read_text("role"), found) {
            (Some(role), _) => PackKey::Role(role),
            (None, found) => found.unwrap_or(PackKey::Task),
        };
        let (template, reasoned) =
            (known.parse_template(keys, "prompt"), known.parse_template(keys, "reasoned"));
        let with = known.parse_named_expressions(keys, "with", &[]);
        let when = known.parse_expression(keys, "when", &[]);
        let usual = known.parse_expression(keys, "usual", &[]);
        let checks = known.parse_expressions(keys, "checks");
        let about = keys.read_text("about").unwrap_or_default();
        let rubric = keys.read_text("rubric");
        let on_request = keys.read_flag("on_request").unwrap_or(false);
        let judged = keys.read_table("judge", |keys| known.parse_judged(keys)).flatten();
        let people = keys.read_table("people", |keys| known.parse_people(keys)).flatten();
        let released = keys.read_table("released", |keys| known.parse_released(keys)).flatten();
        let scale = judged.as_ref().and_then(AnswerJudging::rating_scale);
        let outputs = keys.read_tables("outputs", |keys| script::parse_script(known.language, scale, keys));
        let rated = judged.as_ref().is_some_and(|judged| judged.people);
        if people.as_ref().is_some_and(|people| !people.is_rating()) && !rated {
            let what = "nobody rates what people answer\n  hint: `people = true` of `judge` has the judges rate it, a `sheet` with a \
                        `scale` has people do it";
            keys.report_problem("people", what);
        }
        let conversation = keys.read_table("conversation", |keys| known.parse_conversation(keys)).flatten();
        let samples = parse_samples(keys);
        let confidence = keys.read_table("confidence", parse_confidence).flatten();
        let wants = known.parse_wants(keys)?;
        if confidence.is_some() && matches!(wants, AnswerParsing::Rating { .. } | AnswerParsing::Words { .. })
        {
            let what = "`confidence` is of answers that are right or wrong: of `choose`, `tag` or `label`";
            keys.report_problem("confidence", what);
        }
        if wants.is_choice() && (judged.is_some() || people.is_some() || released.is_some()) {
            keys.report_problem(
                "name",
                "`judge`, `people` and `released` go with `words`: nobody judges a choice",
            );
        }
        Some(Task {
            name,
            title,
            about,
            rubric,
            template: template?,
            reasoned,
            checks,
            forms: forms.into_iter().flatten().collect(),
            with,
            when,
            shots,
            found,
            on_request,
            other_order_of,
            usual,
            samples,
            confidence,
            conversation,
            wants,
            judged,
            people,
            released,
            outputs: outputs.unwrap_or_default().into_iter().flatten().collect(),
        })
    };
    keys.read_tables("task", task).unwrap_or_default().into_iter().flatten().collect()
}
