//! The benchmarks, each as a list of stages: a recipe contains choices and no logic.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::config::{self, Config, FILE, Kind, PAPER, Problem, Problems, Source, TABLE, unknown};
use crate::stages::{
    DraftStep, Embedding, Embeds, Judging, ReviewStep, Stage, StageRows, declared_stage,
    has_records_of_its_own, same_joke,
};
use riddlemill_benchmarks::{Benchmark, Derived, Paper};
use riddlemill_tables::{Error, Manifest, Workspace};

mod checks;

/// How one benchmark is built.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Its name, everywhere.
    pub name: &'static str,
    /// A description, in one sentence.
    pub about: &'static str,
    /// The same in Chinese.
    pub about_zh: &'static str,
    /// Its steps as its folder declares them.
    declared: &'static [Step],
    /// The same with steps before dedup that ask a model, by [`Before::variant_index`]; `None` if it has no dedup.
    asking: Option<[&'static [Step]; 4]>,
    /// Whether the settings name a model for the step that embeds posts.
    embeds: &'static AtomicBool,
    /// Whether they name one for the step that judges pairs.
    judges: &'static AtomicBool,
    /// Defaults that the benchmark's paper changes: `stage.key` and TOML.
    pub choices: &'static [(&'static str, &'static str)],
    /// Further changes under `run.profile = "paper"`.
    pub profile: &'static [(&'static str, &'static str)],
    /// Renamed steps: old and new name. Stages under the old name are remade.
    pub renamed: &'static [(&'static str, &'static str)],
    /// The published set that it rebuilds.
    pub paper: &'static Paper,
}

/// A stage in a recipe.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its name in the recipe: that of its folder, and the argument of `--from`.
    pub name: &'static str,
    /// The number of its folder, from 1: its place among the declared steps. Those that settings put before dedup
    /// have that of dedup, so that the folders of all others are the same with and without them.
    pub number: usize,
    /// What it does.
    pub stage: &'static dyn Stage,
    /// The steps whose rows it reads; those of another recipe as `recipe/step`.
    pub inputs: &'static [&'static str],
}

/// Every recipe, from the benchmarks' folders.
pub static RECIPES: Derived<Vec<Recipe>> = Derived::new(|| {
    checks::order_by_inputs(riddlemill_benchmarks::all_benchmarks().iter().map(recipe_of_benchmark).collect())
});

/// Adds the benchmarks of a workspace's own folder to the built-in ones. Folders with problems, and with steps that cannot
/// be made, are set aside ([`riddlemill_benchmarks::set_aside_folders`]): nothing else has to wait until they are mended.
///
/// # Errors
/// Problems that belong to no folder.
pub fn load_own_benchmarks(root: &std::path::Path) -> Result<(), Problems> {
    riddlemill_benchmarks::open(&root.join("benchmarks"))?;
    let mut problems = Vec::new();
    for benchmark in riddlemill_benchmarks::all_benchmarks() {
        problems.extend(checks::choices_of(benchmark));
        problems.extend(checks::shadowed_settings(benchmark));
        problems.extend(checks::reserved_step(benchmark));
        problems.extend(crate::stages::draft::find_problems(benchmark));
        problems.extend(crate::stages::native::check::find_problems(benchmark));
        problems.extend(benchmark.impossible_answers());
        if !has_records_of_its_own(benchmark) {
            problems.extend(benchmark.unknown_names(crate::stages::native::fields_left_by_step));
            problems.extend(checks::prompts_of(benchmark));
        }
        problems.extend(checks::behind_records(benchmark));
        problems.extend(checks::rows_of_posts(benchmark));
        let unmade = |step: &&riddlemill_benchmarks::Step| {
            let native = matches!(step.kind, riddlemill_benchmarks::StepKind::Native(_));
            !native && declared_stage(benchmark, step).is_none()
        };
        for step in benchmark.steps.iter().filter(unmade) {
            let what = crate::stages::find_step_problem(step).unwrap_or_else(|| {
                format!("the step {:?} has no `[step]` table that says what it does", step.name)
            });
            let place = format!("{}/benchmark.toml", benchmark.name);
            problems.push(Problem { place, what });
        }
    }
    problems
        .extend(checks::circular_inputs(&riddlemill_benchmarks::all_benchmarks().iter().collect::<Vec<_>>()));
    riddlemill_benchmarks::set_aside_for(problems)
}

/// All problems of the folder of this name, if it is set aside.
pub fn problems_of(name: &str) -> Option<Problems> {
    let aside = riddlemill_benchmarks::set_aside_folders().iter().find(|aside| aside.name == name)?;
    Some(Problems(aside.problems.clone()))
}

/// The name of the step that embeds posts. No folder declares it: the settings put it before dedup.
pub const EMBEDDINGS: &str = "embeddings";

/// The name of the step that judges pairs. No folder declares it: the settings put it before dedup.
pub const SAME_JOKE: &str = "same_joke";

/// Which steps settings put before dedup.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    embeds: bool,
    judges: bool,
}

impl Before {
    /// Its place among the four.
    fn variant_index(self) -> usize {
        usize::from(self.embeds) + 2 * usize::from(self.judges)
    }
}

/// The steps without and with each of those before dedup that ask a model; `None` if there is no dedup.
fn step_variants(declared: &'static [Step]) -> Option<[&'static [Step]; 4]> {
    let at = declared.iter().position(|step| step.stage.merges_posts())?;
    let with = |names: &[(&'static str, &'static dyn Stage)]| -> &'static [Step] {
        let mut steps = declared.to_vec();
        let mut inputs = declared[at].inputs;
        for (place, &(name, stage)) in (at..).zip(names) {
            steps.insert(place, Step { name, stage, inputs, ..declared[at] });
            inputs = vec![name].leak();
        }
        steps[at + names.len()].inputs = inputs;
        steps.leak()
    };
    let embeds: (&str, &dyn Stage) = (EMBEDDINGS, &Embedding);
    let judges: (&str, &dyn Stage) = (SAME_JOKE, &Judging);
    Some([declared, with(&[embeds]), with(&[judges]), with(&[embeds, judges])])
}

fn recipe_of_benchmark(benchmark: &'static Benchmark) -> Recipe {
    let step = |(number, step): (usize, &'static riddlemill_benchmarks::Step)| Step {
        name: step.name,
        number,
        // [`open`] refuses steps that cannot be made, and a test makes every step of the built-in ones.
        stage: Box::leak(
            declared_stage(benchmark, step)
                .unwrap_or_else(|| unreachable!("{}/{} cannot be built", benchmark.name, step.name)),
        ),
        inputs: &step.from,
    };
    let declared: &'static [Step] = (1..).zip(&benchmark.steps).map(step).collect::<Vec<_>>().leak();
    Recipe {
        name: benchmark.name,
        about: benchmark.about.en,
        about_zh: benchmark.about.zh,
        declared,
        asking: step_variants(declared),
        embeds: Box::leak(Box::default()),
        judges: Box::leak(Box::default()),
        choices: &benchmark.settings,
        profile: &benchmark.profile,
        renamed: &benchmark.renamed,
        paper: &benchmark.paper,
    }
}

/// Steps named in settings that no recipe has, or not the one that they are for.
pub fn unknown_steps(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for written in config.written_settings() {
        let key = config::find_section(written.section)
            .and_then(|table| table.keys.iter().find(|key| key.name == written.key));
        if !key.is_some_and(|key| matches!(key.kind, Kind::Steps)) {
            continue;
        }
        let known: Vec<&str> = RECIPES
            .iter()
            .filter(|recipe| written.recipe.is_none_or(|name| name == recipe.name))
            .flat_map(Recipe::draft_and_review_names)
            .collect();
        for name in written.value.as_array().into_iter().flatten().filter_map(|name| name.as_str()) {
            if !known.contains(&name) {
                let what = unknown(
                    &format!("step of {}.{}", written.section, written.key),
                    name,
                    sort_names(&known),
                );
                problems.push(Problem { place: written.origin.to_string(), what });
            }
        }
    }
    problems
}

/// Further columns that a benchmark uses and no table of the workspace provides.
pub fn unknown_columns(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in
        config.sources.iter().filter(|source| source.fields.keys().any(|name| name.starts_with(TABLE)))
    {
        for name in
            source.recipes.iter().filter(|name| find_recipe(name).is_some_and(|recipe| !recipe.is_declared()))
        {
            let what = format!("{name} has no place for columns: its records are not declared by its folder");
            problems.push(Problem { place: format!("{FILE}:{}", source.line), what });
        }
    }
    for recipe in used_recipes(config) {
        let Some(benchmark) = riddlemill_benchmarks::find_benchmark(recipe.name) else { continue };
        let given =
            config.sources.iter().filter(|source| source.is_for_recipe(recipe.name, recipe.is_of_riddles()));
        let columns =
            given.flat_map(|source| source.fields.keys()).filter_map(|name| name.strip_prefix(TABLE));
        let known = sort_names(&columns.collect::<Vec<_>>());
        for (name, place) in benchmark.asked_columns() {
            if !known.contains(&name.as_str()) {
                let asked = unknown("column of its tables", &name, known.iter().copied());
                let what =
                    format!("{asked}\n  hint: `columns = {{ {name} = \"…\" }}` in the [[source]] names it");
                problems.push(Problem { place, what });
            }
        }
    }
    problems
}

fn sort_names<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}

/// The recipe with a name.
pub fn find_recipe(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().find(|r| r.name == name)
}

/// The recipes with sources in a workspace; one that continues another has that one's sources.
pub fn used_recipes(config: &Config) -> impl Iterator<Item = &'static Recipe> {
    let names = |source: &Source, recipe: &'static Recipe| {
        let origin = recipe.origin_recipe();
        source.is_for_recipe(origin.name, origin.is_of_riddles())
    };
    RECIPES.iter().filter(move |recipe| config.sources.iter().any(|source| names(source, recipe)))
}

/// All names.
pub fn recipe_names() -> Vec<&'static str> {
    RECIPES.iter().map(|r| r.name).collect()
}

/// All changed defaults, for the settings; those of the papers with the prefix [`PAPER`].
pub fn changed_defaults() -> Vec<(&'static str, &'static str, &'static str)> {
    let own = RECIPES.iter().flat_map(|r| r.choices.iter().map(|(key, toml)| (r.name, *key, *toml)));
    let declared = DECLARED.iter().map(|(recipe, key, toml)| (*recipe, key.as_str(), *toml));
    own.chain(declared)
        .chain(PAPERS.iter().map(|(recipe, key, toml)| (*recipe, key.as_str(), *toml)))
        .collect()
}

/// The settings declared by benchmarks, with their defaults.
static DECLARED: Derived<Vec<(&'static str, String, &'static str)>> = Derived::new(|| {
    let of = |benchmark: &'static Benchmark| {
        let own = benchmark.own.declared.iter();
        own.map(|own| (benchmark.name, format!("{}.{}", own.section, own.key.name), own.key.default))
    };
    riddlemill_benchmarks::all_benchmarks().iter().flat_map(of).collect()
});

/// Sets the values of benchmarks' own settings, before their expressions are computed, and which recipes have steps that
/// embed posts or judge pairs.
pub fn give_settings(config: &Config) {
    for benchmark in riddlemill_benchmarks::all_benchmarks() {
        benchmark.own.set_values(&config.own_settings(benchmark.name));
    }
    for recipe in RECIPES.iter() {
        let embeds = Embeds::Posts.near_cosine(config, recipe.name).is_some();
        recipe.embeds.store(embeds, Ordering::Relaxed);
        recipe.judges.store(same_joke::is_on(config, Some(recipe.name)), Ordering::Relaxed);
    }
}

/// The papers' changed defaults, marked as such.
static PAPERS: Derived<Vec<(&'static str, String, &'static str)>> = Derived::new(|| {
    let of =
        |r: &'static Recipe| r.profile.iter().map(|(key, toml)| (r.name, format!("{PAPER}{key}"), *toml));
    RECIPES.iter().flat_map(of).collect()
});

/// A review step, and the steps whose rows are voted on.
#[derive(Clone)]
pub struct ReviewInput {
    pub review: ReviewStep,
    /// The steps before, each with its recipe and its number there, from 1.
    pub inputs: Vec<(&'static Recipe, usize, &'static Step)>,
}

impl ReviewInput {
    /// The manifests of the steps before; `None` if one of them was not made.
    ///
    /// # Errors
    /// [`Error`] if one cannot be read.
    pub fn read_input_manifests(&self, workspace: &Workspace) -> Result<Option<Vec<Manifest>>, Error> {
        let read = |(recipe, number, step): &(&Recipe, usize, &Step)| {
            Manifest::read_from_stage(&workspace.stage_folder(recipe.name, *number, step.name))
        };
        self.inputs.iter().map(read).collect()
    }
}

impl Recipe {
    /// Its steps, in order; an input is named by the step that writes it.
    pub fn steps(&self) -> &'static [Step] {
        self.asking.map_or(self.declared, |asking| asking[self.steps_before_dedup().variant_index()])
    }

    /// Which steps the settings put before dedup.
    fn steps_before_dedup(&self) -> Before {
        let is_set = |named: &AtomicBool| named.load(Ordering::Relaxed);
        Before { embeds: is_set(self.embeds), judges: is_set(self.judges) }
    }

    /// Its steps as its folder declares them: without those that settings put before dedup.
    pub fn declared_steps(&self) -> &'static [Step] {
        self.declared
    }

    /// Its steps as those of its stages that exist were made: with those that ask a model before dedup if dedup read their
    /// rows, whatever the settings say now or an earlier version of the program did. [`Recipe::steps`] if there is no dedup yet.
    ///
    /// # Errors
    /// [`riddlemill_tables::Error`] if the manifest of dedup cannot be read.
    pub fn steps_made(&self, workspace: &Workspace) -> Result<&'static [Step], riddlemill_tables::Error> {
        let Some(asking) = self.asking else { return Ok(self.declared) };
        let Some(dedup) = self.declared.iter().find(|step| step.stage.merges_posts()) else {
            return Ok(self.declared);
        };
        let made = |name| Manifest::read_from_stage(&workspace.stage_folder(self.name, dedup.number, name));
        let reads = |made: &Manifest, name| made.inputs.iter().any(|input| input.stage == name);
        let Some(last) = made(dedup.name)? else { return Ok(self.steps()) };
        let judges = reads(&last, SAME_JOKE);
        let embeds = match judges {
            true => made(SAME_JOKE)?.is_some_and(|judged| reads(&judged, EMBEDDINGS)),
            false => reads(&last, EMBEDDINGS),
        };
        Ok(asking[Before { embeds, judges }.variant_index()])
    }

    /// The steps that settings may put before dedup, and have not.
    pub fn unused_steps(&self) -> impl Iterator<Item = &'static Step> {
        let all = self.asking.map(|asking| asking[3]).unwrap_or_default();
        let Before { embeds, judges } = self.steps_before_dedup();
        all.iter().filter(move |step| match step.stage.embedding_task() {
            Some(Embeds::Posts) => !embeds,
            _ => step.stage.is_pair_judge() && !judges,
        })
    }

    /// The kind of its last stage's rows.
    pub fn kind_of_rows(&self) -> StageRows {
        self.steps().last().map_or(StageRows::Posts, |step| step.stage.rows())
    }

    /// The review step of a ballot, and the steps that provide its rows, which may be other recipes'.
    pub fn find_review(&'static self, ballot: &str) -> Option<ReviewInput> {
        self.steps().iter().find_map(|step| {
            let review =
                step.stage.declared_review().filter(|review| review.benchmark_and_ballot().1 == ballot)?;
            let inputs: Option<Vec<_>> = step.inputs.iter().map(|input| self.find_input(input)).collect();
            Some(ReviewInput { review, inputs: inputs.filter(|inputs| !inputs.is_empty())? })
        })
    }

    /// Its review steps, in order.
    pub fn review_steps(&self) -> impl Iterator<Item = ReviewStep> {
        self.steps().iter().filter_map(|step| step.stage.declared_review())
    }

    /// Whether its folder declares its records.
    pub fn is_declared(&self) -> bool {
        riddlemill_benchmarks::find_benchmark(self.name).is_some_and(|found| !has_records_of_its_own(found))
    }

    /// Whether it is made of riddles and their answers instead of a forum's posts.
    pub fn is_of_riddles(&self) -> bool {
        self.steps().iter().any(|step| step.stage.is_of_riddles())
    }

    /// The step that an input names, its number from 1, and its recipe.
    pub fn find_input(&'static self, name: &str) -> Option<(&'static Recipe, usize, &'static Step)> {
        let (recipe, name) = match name.split_once('/') {
            Some((other, name)) => (find_recipe(other)?, name),
            None => (self, name),
        };
        let (number, step) = recipe.find_step(name)?;
        Some((recipe, number, step))
    }

    /// The recipe that imports its records: itself, or the one that it continues.
    pub fn origin_recipe(&'static self) -> &'static Recipe {
        let first = self.steps().first().and_then(|step| step.inputs.first());
        first.and_then(|input| self.find_input(input)).map_or(self, |(recipe, ..)| recipe)
    }

    /// The recipes that import its records, each once: itself if it has dumps of its own, and those whose steps its own read,
    /// directly or through others.
    pub fn origin_recipes(&'static self) -> Vec<&'static Recipe> {
        let mut found: Vec<&'static Recipe> = vec![self];
        let mut at = 0;
        while let Some(recipe) = found.get(at).copied() {
            let inputs = recipe.steps().iter().flat_map(|step| step.inputs);
            for (other, ..) in inputs.filter_map(|input| recipe.find_input(input)) {
                if found.iter().all(|known| known.name != other.name) {
                    found.push(other);
                }
            }
            at += 1;
        }
        found.retain(|recipe| recipe.steps().first().is_some_and(|step| step.stage.is_import()));
        found
    }

    /// A step and the number of its folder; an earlier name of a step works too.
    pub fn find_step(&self, name: &str) -> Option<(usize, &'static Step)> {
        let step = &self.steps()[self.place_of(name)?];
        Some((step.number, step))
    }

    /// The place of a step among [`Recipe::steps`], from 0; an earlier name of a step works too.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        let now = || self.renamed.iter().find(|(then, _)| *then == name).map(|(_, now)| *now);
        let at = |name: &str| self.steps().iter().position(|step| step.name == name);
        at(name).or_else(|| at(now()?))
    }

    /// The names allowed in [`Kind::Steps`]: those of its drafts and its reviews, which share them.
    pub fn draft_and_review_names(&self) -> impl Iterator<Item = &'static str> {
        let review = |step: &Step| step.stage.declared_review().map(|review| review.benchmark_and_ballot().1);
        self.steps()
            .iter()
            .filter_map(move |step| step.stage.declared_draft().map(DraftStep::name).or_else(|| review(step)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::Overrides;

    #[test]
    fn every_input_is_an_earlier_step() {
        for recipe in RECIPES.iter() {
            let mut made = BTreeSet::new();
            for step in recipe.steps() {
                let foreign = |input: &str| input.contains('/') && recipe.find_input(input).is_some();
                let known = |input: &&str| made.contains(*input) || foreign(input);
                assert!(step.inputs.iter().all(known), "{} {}", recipe.name, step.name);
                assert!(made.insert(step.name), "{} has two {}", recipe.name, step.name);
            }
        }
    }

    #[test]
    fn every_review_is_of_its_recipe_and_has_an_input() {
        for recipe in RECIPES.iter() {
            for review in recipe.review_steps() {
                assert_eq!(review.benchmark_and_ballot().0, recipe.name);
                assert!(recipe.find_review(review.benchmark_and_ballot().1).is_some(), "{review:?}");
            }
        }
    }

    #[test]
    fn every_choice_is_a_setting() {
        let all = Config::defaults().resolved_settings();
        for (recipe, key, _) in changed_defaults() {
            let key = key.trim_start_matches(PAPER);
            assert!(all.iter().any(|s| s.key == key), "{recipe}: {key}");
        }
        let flags = changed_defaults()
            .into_iter()
            .map(|(r, k, v)| (format!("recipe.{r}.{}", k.trim_start_matches(PAPER)), v.to_string()))
            .collect();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(crate::config::FILE), "").unwrap();
        let overrides = Overrides { flags, ..Overrides::default() };
        Config::load(dir.path(), &recipe_names(), &changed_defaults(), &overrides).unwrap();
    }
}
