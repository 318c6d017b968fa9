//! The layers of settings, and their resolution.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use riddlemill_schema::Table as _;
use riddlemill_schema::json::toml_value;

use super::check::check_settings;
use super::sections::{Run, RunProfile, SECTIONS};
use super::text::decode_utf8;
use super::{
    FILE, Layer, Problem, Problems, Profiles, Source, ValueOrigin, near_miss, places, set_endpoint, unknown,
};
use riddlemill_files::{Trust, Wish};
use riddlemill_harvest::crawl;
use riddlemill_llm::Endpoint;
use riddlemill_llm::prices::{PRICES, Prices};
use riddlemill_record::Language;
use riddlemill_review::{Annotator, grades};

/// A resolved setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// `dedup.metric`, or `recipe.flub.dedup.metric` if a recipe differs.
    pub key: String,
    pub value: Value,
    pub origin: ValueOrigin,
}

/// A setting given explicitly: in pipeline.toml, in the environment or as a flag.
#[derive(Clone, Debug)]
pub struct ExplicitSetting<'c> {
    /// The recipe, if it is for one.
    pub recipe: Option<&'c str>,
    /// Its table.
    pub section: &'c str,
    /// Its name in the table.
    pub key: &'c str,
    pub value: &'c Value,
    pub origin: &'c ValueOrigin,
}

/// What overrides pipeline.toml.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Environment variables, name and value; those of other programs are ignored.
    pub env: Vec<(String, String)>,
    /// `--set key=value`, already split.
    pub flags: Vec<(String, String)>,
    /// `--trust`: what this call agrees to.
    pub trust: Vec<String>,
    /// Asks a person at this machine a yes-or-no question; `None` if there is no way to ask.
    pub ask: Option<fn(&str) -> Option<bool>>,
    /// Reads the settings without asking about the places that they name: for listing those.
    pub unasked: bool,
}

impl Overrides {
    /// The process's own environment, and these flags.
    pub fn new(flags: Vec<(String, String)>) -> Overrides {
        let env =
            // `vars` would panic at a variable that is not Unicode.
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Overrides { env: env.collect(), flags, ..Overrides::default() }
    }
}

/// The settings of a workspace, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    /// The workspace folder.
    pub root: PathBuf,
    /// Its sources, in the order of the file.
    pub sources: Vec<Source>,
    pub endpoints: Vec<Endpoint>,
    /// Who votes.
    pub annotators: Vec<Annotator>,
    /// What `crawl` fetches.
    pub crawls: Vec<crawl::settings::Source>,
    /// What this machine's user agreed to.
    pub trust: Trust,
    layers: Vec<Layer>,
    recipes: Vec<String>,
}

/// The stages that read texts in a language.
const LANGUAGE_OF: [&str; 4] = ["clean", "anonymise", "filter", "dedup"];

impl Config {
    /// Reads a workspace's settings. `choices` are the recipes' own, as (recipe, `stage.key`, TOML).
    ///
    /// # Errors
    /// [`Problems`]: everything that is wrong, in the order of file, environment, flags.
    pub fn load(
        root: &Path,
        recipes: &[&str],
        choices: &[(&str, &str, &str)],
        overrides: &Overrides,
    ) -> Result<Config, Problems> {
        let path = root.join(FILE);
        let text = fs::read(&path).map_err(|e| {
            let hint = match e.kind() {
                std::io::ErrorKind::NotFound => {
                    "no workspace here\n  hint: `riddlemill init` creates one; `-C DIR` selects one elsewhere"
                        .to_string()
                }
                _ => format!("{e}{}", riddlemill_files::hint_for(&path, &e)),
            };
            Problems(vec![Problem { place: path.display().to_string(), what: hint }])
        })?;
        let text = decode_utf8(text)
            .map_err(|e| Problems(vec![Problem { place: FILE.into(), what: e.to_string() }]))?;
        // Some editors on Windows begin a file with a byte order mark.
        let mut file = check_settings(text.trim_start_matches('\u{feff}'), recipes, &Profiles::open(root));
        let mut problems = file.problems;
        let env = environment_layer(&overrides.env, recipes, &mut file.endpoints, &mut problems);
        let flags = flag_layer(&overrides.flags, recipes, &mut file.endpoints, &mut problems);
        let mut layers = vec![default_layer(), choice_layer(choices), file.layer, env, flags];
        let profile = layers.iter().rev().find_map(|layer| layer.get("run.profile"));
        if profile.is_some_and(|(profile, _)| profile == RunProfile::Paper.name()) {
            // Over the recipes' own defaults, and under everything that people write.
            layers.insert(2, paper_layer(choices));
        }
        let recipes = recipes.iter().map(|r| r.to_string()).collect();
        let mut config = Config {
            root: root.into(),
            sources: file.sources,
            endpoints: file.endpoints,
            annotators: file.annotators,
            crawls: file.crawls.into_iter().map(|crawl| crawl.with_root(root)).collect(),
            trust: Trust::for_workspace(root, overrides.trust.iter().cloned()),
            layers,
            recipes,
        };
        match Prices::read_prices(root) {
            Ok(prices) => config.endpoints.iter_mut().for_each(|endpoint| prices.fill_prices(endpoint)),
            Err(error) => problems.push(Problem { place: PRICES.into(), what: error.to_string() }),
        }
        // Who may vote depends on the settings and the trials.
        grades::fill_trials(&root.join("raw"), &mut config.annotators);
        config.check_consistency(&mut problems);
        if !overrides.unasked {
            places::ask_about_places(&config.trust, config.named_places(), overrides.ask, &mut problems);
        }
        if problems.is_empty() { Ok(config) } else { Err(Problems(problems)) }
    }

    /// The built-in settings alone, without sources.
    pub fn defaults() -> Config {
        Config {
            root: PathBuf::new(),
            sources: Vec::new(),
            endpoints: Vec::new(),
            annotators: Vec::new(),
            crawls: Vec::new(),
            trust: Trust::default(),
            layers: vec![default_layer()],
            recipes: Vec::new(),
        }
    }

    /// A stage's settings in a recipe, as JSON by key, for its manifest.
    pub fn stage_settings(&self, recipe: Option<&str>, section: &str) -> BTreeMap<String, Value> {
        let Some(section) = SECTIONS.iter().find(|s| s.name == section) else { return BTreeMap::new() };
        let value = |key: &str| self.find_setting(recipe, section.name, key).map(|(v, _)| v.clone());
        let mut values: BTreeMap<String, Value> =
            section.keys.iter().filter_map(|k| Some((k.name.to_string(), value(k.name)?))).collect();
        // Only included where it is set: otherwise the language is that of each record.
        if LANGUAGE_OF.contains(&section.name)
            && let Some((language, _)) =
                self.find_setting(recipe, "text", "language").filter(|(l, _)| *l != "auto")
        {
            values.insert("language".to_owned(), language.clone());
        }
        values
    }

    /// A setting in a recipe, including a benchmark's own.
    pub fn setting_value(&self, recipe: &str, section: &str, key: &str) -> Option<&Value> {
        self.find_setting(Some(recipe), section, key).map(|(value, _)| value)
    }

    /// The places outside of the workspace that pipeline.toml names.
    fn named_places(&self) -> Vec<places::NamedPlace> {
        let named = |at: String, text: &str| places::find_outside_place(&self.root, &self.trust, at, text);
        let source = |s: &Source| named(format!("{FILE}:{} (source {:?})", s.line, s.name), &s.path);
        let pack =
            |e: &Endpoint| named(format!("{FILE} (llm.{})", e.name), &e.pack.as_ref()?.to_string_lossy());
        let mut all: Vec<_> = self.sources.iter().filter_map(source).collect();
        all.extend(self.endpoints.iter().filter_map(pack));
        for written in self.written_settings() {
            let texts = places::written_paths(written.section, written.key, written.value, written.origin);
            let at = format!("{} ({}.{})", written.origin, written.section, written.key);
            all.extend(texts.into_iter().filter_map(|text| named(at.clone(), text)));
        }
        all
    }

    /// Files and folders that somebody named, that are not there, and that nothing else would miss.
    pub fn absent_places(&self) -> Vec<Problem> {
        let is_used = |written: &ExplicitSetting<'_>| {
            self.find_setting(written.recipe, written.section, written.key)
                .is_some_and(|(value, origin)| (value, origin) == (written.value, written.origin))
        };
        let of_written = |written: ExplicitSetting<'_>| {
            let ExplicitSetting { recipe, section, key, value, origin } = written;
            let what = places::find_absent(&self.root, &self.trust, (section, key), value)?;
            let of = recipe.map(|recipe| format!("recipe.{recipe}.")).unwrap_or_default();
            Some(Problem { place: format!("{origin} ({of}{section}.{key})"), what })
        };
        self.written_settings().filter(is_used).filter_map(of_written).collect()
    }

    /// Endpoints that nothing can be asked of, each with what it lacks.
    pub fn lacking_endpoints(&self) -> Vec<Problem> {
        set_endpoint::list_lacking(&self.root, &self.endpoints)
    }

    /// What pipeline.toml wants to read outside of the workspace, agreed to or not.
    pub fn wished_places(&self) -> Vec<Wish> {
        self.named_places().into_iter().map(|place| place.wish).collect()
    }

    /// Where the value of a setting in a recipe comes from.
    pub fn setting_origin(&self, recipe: Option<&str>, section: &str, key: &str) -> Option<&ValueOrigin> {
        self.find_setting(recipe, section, key).map(|(_, origin)| origin)
    }

    /// The language of posts whose sources state none, where the settings name it.
    pub fn stated_language(&self, recipe: Option<&str>) -> Option<Language> {
        let (stated, _) = self.find_setting(recipe, "text", "language")?;
        Language::from_code(stated.as_str()?)
    }

    /// A stage's settings in a recipe, typed.
    ///
    /// # Panics
    /// If the type and the list of settings disagree, which a test excludes.
    pub fn typed_settings<T: DeserializeOwned>(&self, recipe: Option<&str>, section: &str) -> T {
        let values = self.stage_settings(recipe, section).into_iter().collect();
        match serde_json::from_value(Value::Object(values)) {
            Ok(settings) => settings,
            Err(e) => unreachable!("the keys of [{section}] do not fit its type: {e}"),
        }
    }

    /// Every setting with its origin; a recipe's own value only if it differs from the general one.
    pub fn resolved_settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for section in SECTIONS {
            for key in section.keys {
                let general = self.find_setting(None, section.name, key.name);
                let Some((value, origin)) = general else { continue };
                let dotted = format!("{}.{}", section.name, key.name);
                settings.push(Setting { key: dotted.clone(), value: value.clone(), origin: origin.clone() });
                for recipe in &self.recipes {
                    let Some((own, origin)) = self.find_setting(Some(recipe), section.name, key.name) else {
                        continue;
                    };
                    if own != value {
                        let key = format!("recipe.{recipe}.{dotted}");
                        settings.push(Setting { key, value: own.clone(), origin: origin.clone() });
                    }
                }
            }
        }
        for recipe in &self.recipes {
            for own in super::settings_of(recipe) {
                let Some((value, origin)) = self.find_setting(Some(recipe), own.section, own.key.name) else {
                    continue;
                };
                let key = format!("recipe.{recipe}.{}.{}", own.section, own.key.name);
                settings.push(Setting { key, value: value.clone(), origin: origin.clone() });
            }
        }
        settings
    }

    /// The workspace's values for the settings that a recipe's benchmark declares, by section and name.
    pub fn own_settings(&self, recipe: &str) -> BTreeMap<(&'static str, &'static str), Value> {
        let value = |own: &riddlemill_benchmarks::setting::Setting| {
            Some((
                (own.section, own.key.name),
                self.find_setting(Some(recipe), own.section, own.key.name)?.0.clone(),
            ))
        };
        super::settings_of(recipe).iter().filter_map(value).collect()
    }

    /// Every setting given explicitly, including those overridden by a later layer.
    pub fn written_settings(&self) -> impl Iterator<Item = ExplicitSetting<'_>> {
        let entries = self.layers.iter().flatten();
        let by_somebody = |origin: &ValueOrigin| {
            !matches!(origin, ValueOrigin::Default | ValueOrigin::Recipe | ValueOrigin::Profile)
        };
        entries.filter(move |(_, (_, origin))| by_somebody(origin)).filter_map(|(dotted, (value, origin))| {
            let (recipe, rest) = match dotted.strip_prefix("recipe.") {
                Some(rest) => rest.split_once('.').map(|(recipe, rest)| (Some(recipe), rest))?,
                None => (None, dotted.as_str()),
            };
            let (section, key) = rest.split_once('.')?;
            Some(ExplicitSetting { recipe, section, key, value, origin })
        })
    }

    /// A later layer wins; within one, the value for the recipe.
    fn find_setting(&self, recipe: Option<&str>, section: &str, key: &str) -> Option<&(Value, ValueOrigin)> {
        let general = format!("{section}.{key}");
        let own = recipe.map(|r| format!("recipe.{r}.{general}"));
        self.layers
            .iter()
            .rev()
            .find_map(|layer| own.as_ref().and_then(|own| layer.get(own)).or_else(|| layer.get(&general)))
    }

    /// Reports values that are valid alone but not together.
    fn check_consistency(&self, problems: &mut Vec<Problem>) {
        let scopes = std::iter::once(None).chain(self.recipes.iter().map(|r| Some(r.as_str())));
        for recipe in scopes {
            let number = |key: &str| self.find_setting(recipe, "filter", key).and_then(|(v, _)| v.as_i64());
            if let (Some(min), Some(max)) = (number("min_chars"), number("max_chars"))
                && min > max
            {
                let origin = self.find_setting(recipe, "filter", "min_chars").map(|(_, o)| o.to_string());
                let what =
                    format!("filter.min_chars ({min}) is over filter.max_chars ({max}): nothing could pass");
                let problem = Problem { place: origin.unwrap_or_default(), what };
                // Recipes without a value of their own would repeat the general problem.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        let known = self.find_setting(None, Run::SECTION.name, "recipes");
        for name in known.and_then(|(v, _)| v.as_array()).into_iter().flatten().filter_map(Value::as_str) {
            if !self.recipes.iter().any(|r| r == name) && !riddlemill_benchmarks::is_aside(name) {
                let what = unknown("recipe", name, self.recipes.iter().map(String::as_str));
                problems.push(Problem { place: "run.recipes".into(), what });
            }
        }
    }
}

fn default_layer() -> Layer {
    let keys = SECTIONS.iter().flat_map(|s| s.keys.iter().map(move |k| (s.name, k)));
    keys.filter_map(|(section, key)| {
        Some((format!("{section}.{}", key.name), (key.default_value()?, ValueOrigin::Default)))
    })
    .collect()
}

fn choice_layer(choices: &[(&str, &str, &str)]) -> Layer {
    let value = |toml: &str| Some((toml_value(toml)?, ValueOrigin::Recipe));
    choices
        .iter()
        .filter(|(_, key, _)| !key.starts_with(PAPER))
        .filter_map(|(recipe, key, toml)| Some((format!("recipe.{recipe}.{key}"), value(toml)?)))
        .collect()
}

/// Prefix of recipe defaults that are the paper's, and only apply with its profile.
pub const PAPER: &str = "paper:";

/// The papers' defaults, and their prompts for every recipe.
fn paper_layer(choices: &[(&str, &str, &str)]) -> Layer {
    let of = |(recipe, key, toml): &(&str, &str, &str)| {
        let key = format!("recipe.{recipe}.{}", key.strip_prefix(PAPER)?);
        Some((key, (toml_value(toml)?, ValueOrigin::Profile)))
    };
    let prompts = ("draft.prompts".to_owned(), (Value::from("paper"), ValueOrigin::Profile));
    choices.iter().filter_map(of).chain([prompts]).collect()
}

/// `RIDDLEMILL_DEDUP__METRIC`, `RIDDLEMILL_RECIPE__FLUB__DEDUP__METRIC`: two underscores between
/// levels, dashes as underscores.
fn environment_layer(
    env: &[(String, String)],
    recipes: &[&str],
    endpoints: &mut [Endpoint],
    problems: &mut Vec<Problem>,
) -> Layer {
    let mut layer = Layer::new();
    let mut env: Vec<_> =
        // Other variables of the program, such as RIDDLEMILL_REFERENCE, are not settings.
        env.iter().filter(|(name, _)| name.starts_with("RIDDLEMILL_") && name.contains("__")).collect();
    // Sorted, so that problems come in the same order every time.
    env.sort();
    for (name, text) in env {
        let levels: Vec<String> = name["RIDDLEMILL_".len()..].split("__").map(str::to_lowercase).collect();
        let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
        let dotted = match levels.as_slice() {
            ["recipe", recipe, section, key] => {
                let aside = riddlemill_benchmarks::set_aside_folders().iter().map(|aside| aside.name);
                let mut known = recipes.iter().copied().chain(aside);
                let recipe = known.find(|known| known.replace('-', "_") == **recipe).unwrap_or(recipe);
                format!("recipe.{recipe}.{section}.{key}")
            }
            levels => levels.join("."),
        };
        if set_endpoint::is_of_endpoint(&dotted) {
            let written = |name: &str| name.to_lowercase().replace('-', "_");
            set_endpoint::override_setting(endpoints, &dotted, text, name, problems, written);
            continue;
        }
        insert_setting(&mut layer, &dotted, text, ValueOrigin::Env(name.clone()), name, recipes, problems);
    }
    layer
}

fn flag_layer(
    flags: &[(String, String)],
    recipes: &[&str],
    endpoints: &mut [Endpoint],
    problems: &mut Vec<Problem>,
) -> Layer {
    let mut layer = Layer::new();
    for (dotted, text) in flags {
        if set_endpoint::is_of_endpoint(dotted) {
            set_endpoint::override_setting(
                endpoints,
                dotted,
                text,
                &format!("--set {dotted}"),
                problems,
                str::to_owned,
            );
            continue;
        }
        insert_setting(
            &mut layer,
            dotted,
            text,
            ValueOrigin::Flag,
            &format!("--set {dotted}"),
            recipes,
            problems,
        );
    }
    layer
}

fn insert_setting(
    layer: &mut Layer,
    dotted: &str,
    text: &str,
    origin: ValueOrigin,
    place: &str,
    recipes: &[&str],
    problems: &mut Vec<Problem>,
) {
    let mut problem = |what: String| problems.push(Problem { place: place.into(), what });
    let levels: Vec<&str> = dotted.split('.').collect();
    let (recipe, section, key) = match levels.as_slice() {
        ["recipe", recipe, section, key] => (Some(*recipe), *section, *key),
        [section, key] => (None, *section, *key),
        _ => return problem(format!("{dotted:?} is not a setting; settings are written table.key")),
    };
    if recipe.is_some_and(riddlemill_benchmarks::is_aside) {
        return;
    }
    if let Some(recipe) = recipe.filter(|r| !recipes.contains(r)) {
        return problem(unknown("recipe", recipe, recipes.iter().copied()));
    }
    let of_all =
        SECTIONS.iter().find(|known| known.name == section).and_then(|known| known.find_key(key)).copied();
    let own = recipe.and_then(|recipe| super::own_keys(recipe, section).find(|own| own.name == key));
    let Some(kind) = own.or(of_all).map(|key| key.kind) else {
        let of_all = SECTIONS.iter().flat_map(|known| known.keys.iter().map(|key| (known.name, key.name)));
        let own = recipe.map(super::settings_of).unwrap_or_default();
        let all: Vec<String> = of_all
            .chain(own.iter().map(|own| (own.section, own.key.name)))
            .map(|(section, key)| format!("{section}.{key}"))
            .collect();
        let near = near_miss(&format!("{section}.{key}"), all.iter().map(String::as_str));
        let hint = near.map(|n| format!("\n  hint: did you mean {n:?}?")).unwrap_or_default();
        return problem(format!("unknown setting {dotted:?}{hint}"));
    };
    // A bare word is a string, because quoting twice in a shell is inconvenient.
    let value = toml_value(text).filter(|value| !kind.is_word() || value.is_string());
    let value = value.unwrap_or_else(|| text.into());
    match kind.check_value(&value) {
        Ok(()) => {
            layer.insert(dotted.into(), (value, origin));
        }
        Err(mismatch) => problem(format!("{mismatch}, not {text:?}")),
    }
}
