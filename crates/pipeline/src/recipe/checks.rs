//! What is wrong with a benchmark's folder that only its steps, settings and prompts together show.

use super::{EMBEDDINGS, Recipe, SAME_JOKE};
use crate::config::sections::SECTIONS;
use crate::config::{Problem, unknown};
use crate::stages::{StageRows, declared_stage};
use riddlemill_benchmarks::Benchmark;
use riddlemill_benchmarks::task::Task;
use riddlemill_schema::json::toml_value;

/// Problems of a benchmark's prompts: missing values, and texts sent without delimiters.
pub(super) fn prompts_of(benchmark: &Benchmark) -> Vec<Problem> {
    let mut problems = Vec::new();
    for prompt in &benchmark.prompts {
        let file = prompt.name.split_once('/').map_or(prompt.name, |(_, name)| name);
        let mut problem = |place: String, what: String| problems.push(Problem { place, what });
        let place = format!("{}/prompts/{file}.jinja", benchmark.name);
        let examined = match riddlemill_llm::prompt::examine_prompt(prompt.text) {
            Ok(examined) => examined,
            Err(error) => {
                problem(place, error.to_string());
                continue;
            }
        };
        for bare in &examined.bare {
            let what = format!(
                "`{bare}` is sent without delimiters, so a post could pass for instructions\n  hint: {{{{ {bare} | inside(\"tag\") }}}} puts it \
                 between tags that it cannot close; `alone` sends a question that is the whole message"
            );
            problem(place.clone(), what);
        }
        let asks = |template: &&str| *template == prompt.name;
        let of_steps = benchmark.drafts.iter().flat_map(|draft| {
            let cases = draft.cases.iter().filter(|case| asks(&case.template));
            cases.map(|case| (format!("[step.{}]", draft.name), &case.with, None))
        });
        // A player is told what was asked before.
        let told = |task: &Task| task.conversation.as_ref().map(|_| "turns");
        // Examples come with `--shots` alone, and not every prompt of the task shows them.
        let has_shots =
            benchmark.tasks.iter().any(|task| task.shots.is_some() && task.template.has_prompt(prompt.name));
        let tasks = benchmark.tasks.iter().filter(|task| task.template.has_prompt(prompt.name));
        let of_tasks = tasks.map(|task| (format!("[task.{}]", task.title), &task.with, told(task)));
        let spoken = benchmark.tasks.iter().filter_map(|task| Some((task, task.conversation.as_ref()?)));
        let hosts = spoken.filter(|(_, conversation)| conversation.host.has_prompt(prompt.name));
        let of_hosts = hosts.map(|(task, conversation)| {
            (format!("[task.{}.conversation]", task.title), &conversation.with, None)
        });
        for (table, with, more) in of_steps.chain(of_tasks).chain(of_hosts) {
            let place = format!("{}/benchmark.toml {table}", benchmark.name);
            let given: Vec<&str> = with.iter().map(|(name, _)| *name).chain(more).collect();
            let is_given = |name: &str| given.contains(&name) || has_shots && name == "shots";
            for name in examined.variables.iter().filter(|name| !is_given(name)) {
                problem(
                    place.clone(),
                    format!("`with` does not give {name:?}, which the prompt {file:?} asks for"),
                );
            }
            for name in given.iter().filter(|name| !examined.variables.iter().any(|asked| asked == *name)) {
                let asked = examined.variables.iter().map(String::as_str);
                problem(place.clone(), unknown(&format!("value of the prompt {file:?}"), name, asked));
            }
        }
    }
    problems
}

/// A release of records whose steps leave posts alone.
pub(super) fn rows_of_posts(benchmark: &'static Benchmark) -> Option<Problem> {
    benchmark.data.as_ref()?;
    let makes = |step| declared_stage(benchmark, step).is_none_or(|stage| stage.rows() != StageRows::Posts);
    (!benchmark.steps.is_empty() && !benchmark.steps.iter().any(makes)).then(|| Problem {
        place: format!("{}/benchmark.toml [data]", benchmark.name),
        what: "every step reads and leaves posts, so there are no records to release these columns of\n  hint: a draft, a ballot, \
               a step with `drop_if` or one with `record_for_each` makes records of posts; without [data] the posts are released"
            .to_owned(),
    })
}

/// In the same order, but each behind those whose rows it reads. Where two read each other's, as they are: their folders are
/// set aside.
pub(super) fn order_by_inputs(mut left: Vec<Recipe>) -> Vec<Recipe> {
    let mut ordered: Vec<Recipe> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits = |recipe: &Recipe| {
            let inputs = recipe.declared.iter().flat_map(|step| step.inputs);
            inputs
                .filter_map(|input| input.split_once('/'))
                .any(|(name, _)| name != recipe.name && left.iter().any(|other| other.name == name))
        };
        let next = left.iter().position(|recipe| !waits(recipe)).unwrap_or(0);
        ordered.push(left.remove(next));
    }
    ordered
}

/// Benchmarks that read each other's rows, so that none can be made first.
pub(super) fn circular_inputs(benchmarks: &[&'static Benchmark]) -> Vec<Problem> {
    let read = |of: &&'static Benchmark| -> Vec<&'static Benchmark> {
        let inputs = of.steps.iter().flat_map(|step| &step.from).filter_map(|input| input.split_once('/'));
        let names: Vec<&str> = inputs.map(|(name, _)| name).collect();
        benchmarks.iter().copied().filter(|other| names.contains(&other.name)).collect()
    };
    let is_circular = |of: &&'static Benchmark| {
        let (mut seen, mut next) = (Vec::new(), read(of));
        while let Some(one) = next.pop() {
            if one.name == of.name {
                return true;
            }
            if !seen.contains(&one.name) {
                seen.push(one.name);
                next.extend(read(&one));
            }
        }
        false
    };
    let problem = |of: &&'static Benchmark| Problem {
        place: format!("{}/benchmark.toml", of.name),
        what: "from: the rows that it reads are made of its own, so that none can be made first".to_owned(),
    };
    benchmarks.iter().filter(|of| is_circular(of)).map(problem).collect()
}

/// Steps of posts after one that makes records of them.
pub(super) fn behind_records(benchmark: &'static Benchmark) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut made: Option<&str> = None;
    for step in &benchmark.steps {
        match (declared_stage(benchmark, step).map(|stage| stage.rows()), made) {
            (Some(StageRows::Posts), Some(before)) => {
                let texts = "\n  hint: personal data of records is marked by [step.anonymise] with `texts`";
                let what = format!(
                    "{:?} reads posts, and {before:?} turns them into records: put it before that step{}",
                    step.name,
                    if step.records.is_none() { texts } else { "" }
                );
                problems.push(Problem { place: format!("{}/benchmark.toml", benchmark.name), what });
            }
            (Some(StageRows::Groups | StageRows::Kind(_)), None) => made = Some(step.name),
            _ => {}
        }
    }
    problems
}

/// A benchmark's own settings with the name of a general one.
pub(super) fn shadowed_settings(benchmark: &Benchmark) -> Vec<Problem> {
    let known = |own: &&riddlemill_benchmarks::setting::Setting| {
        let section = SECTIONS.iter().find(|section| section.name == own.section);
        own.section == "run"
            || section.is_some_and(|section| section.keys.iter().any(|key| key.name == own.key.name))
    };
    let problem = |own: &riddlemill_benchmarks::setting::Setting| Problem {
        place: format!("{}/benchmark.toml [setting.{}.{}]", benchmark.name, own.section, own.key.name),
        what: format!("{}.{} is already a setting of riddlemill", own.section, own.key.name),
    };
    benchmark.own.declared.iter().filter(known).map(problem).collect()
}

/// A step with the name of the one that settings put before dedup.
pub(super) fn reserved_step(benchmark: &Benchmark) -> Option<Problem> {
    let has = |kind: riddlemill_benchmarks::StepKind| benchmark.steps.iter().any(|step| step.kind == kind);
    let of_settings = [(EMBEDDINGS, "embeddings"), (SAME_JOKE, "same_joke")];
    let named = |(name, _): &&(&str, &str)| benchmark.steps.iter().any(|step| step.name == *name);
    let (name, table) =
        of_settings.iter().find(named).filter(|_| has(riddlemill_benchmarks::StepKind::Dedup))?;
    Some(Problem {
        place: format!("{}/benchmark.toml", benchmark.name),
        what: format!(
            "steps: {name:?} is the name of the step that [{table}] adds before dedup; choose another name"
        ),
    })
}

/// Problems of a benchmark's changed defaults.
pub(super) fn choices_of(benchmark: &Benchmark) -> Vec<Problem> {
    let problem = |(table, (key, toml)): (&str, &(&str, &str))| {
        let (section, name) = key.split_once('.')?;
        let what = match SECTIONS.iter().find(|known| known.name == section) {
            None => unknown("table of settings", section, SECTIONS.iter().map(|known| known.name)),
            Some(known) => match known.keys.iter().find(|known| known.name == name) {
                None => unknown(&format!("key of [{section}]"), name, known.keys.iter().map(|key| key.name)),
                Some(known) => match toml_value(toml) {
                    None => format!("{key}: expected a value of TOML"),
                    Some(value) => format!("{key}: {}", known.kind.check_value(&value).err()?),
                },
            },
        };
        Some(Problem { place: format!("{}/benchmark.toml [{table}.{section}]", benchmark.name), what })
    };
    let settings = benchmark.settings.iter().map(|choice| ("settings", choice));
    settings.chain(benchmark.profile.iter().map(|choice| ("profile", choice))).filter_map(problem).collect()
}
