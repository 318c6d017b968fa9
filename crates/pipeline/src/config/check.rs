//! Checks pipeline.toml against the list of settings and reports every problem at once, each with its place.

mod sites;

use std::collections::BTreeMap;
use std::ops::Range;

use riddlemill_schema::{Key, Kind, Reader, Table as _, key_span};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml_edit::{Item, Table};

use super::profile::Profiles;
use super::sections::{Run, SECTIONS};
use super::source::{PUBLISHED, SOURCE, Source, SourceKind, TABLE, TABLE_FORMATS, Take};
use super::{FILE, Layer, Problem, VERSION, ValueOrigin, unknown};
use riddlemill_harvest::crawl;
use riddlemill_llm::Endpoint;
use riddlemill_record::Language;
use riddlemill_review::Annotator;

/// The contents of a settings file, and its problems.
#[derive(Default)]
pub(super) struct Checked {
    pub layer: Layer,
    pub sources: Vec<Source>,
    pub endpoints: Vec<Endpoint>,
    pub annotators: Vec<Annotator>,
    pub crawls: Vec<crawl::settings::Source>,
    pub problems: Vec<Problem>,
}

/// Reads the text of a settings file.
pub(super) fn check_settings(text: &str, recipes: &[&str], profiles: &Profiles) -> Checked {
    let reader = Reader::new(FILE, text);
    let mut file = SettingsFile {
        reader: &reader,
        recipes,
        profiles,
        checked: Checked::default(),
        elsewhere: Vec::new(),
        of_crawls: Vec::new(),
    };
    reader.read_document(|root| file.check_root(root));
    let SettingsFile { checked, elsewhere, .. } = file;
    // Tables come in the order in which their names are first used, keys before missing ones.
    let mut problems = reader.in_order();
    problems.extend(elsewhere);
    Checked { problems, ..checked }
}

struct SettingsFile<'a> {
    reader: &'a Reader<'a>,
    recipes: &'a [&'a str],
    profiles: &'a Profiles,
    checked: Checked,
    /// Problems in the profiles used.
    elsewhere: Vec<Problem>,
    /// Sources of the pages of a crawl.
    of_crawls: Vec<OfCrawl>,
}

/// A source of the pages of a crawl, which may come later in the file.
struct OfCrawl {
    /// Index of the source.
    at: usize,
    crawl: String,
    span: Option<Range<usize>>,
    namespace: Option<String>,
}

impl SettingsFile<'_> {
    fn check_root(&mut self, root: &Table) {
        if let Some(version) = root.get("version") {
            match version.as_integer() {
                Some(v) if v <= VERSION => {}
                Some(v) => {
                    let what = format!(
                        "this file is for version {v} of the settings, this program reads version {VERSION}\n  \
                         hint: update riddlemill, or set `version = {VERSION}` and see what it reports"
                    );
                    // Everything else may be valid for a newer version.
                    return self.report_problem(version.span(), what);
                }
                None => self.report_problem(version.span(), "version: expected a whole number"),
            }
        }
        for (name, item) in root.iter() {
            match name {
                "version" => {}
                "source" | "published" => self.read_sources(name, item),
                "recipe" => self.recipe_tables(item),
                "llm" => self.read_endpoints(item),
                "annotator" => self.checked.annotators = self.read_annotators(item),
                "crawl" => self.checked.crawls = self.read_crawls(item),
                _ => match SECTIONS.iter().find(|s| s.name == name) {
                    Some(section) => self.read_section(section.name, "", section.keys, item),
                    None if !item.is_table() && section_hint(name).is_some() => {
                        self.reader.unknown_key(root, name, [], section_hint(name));
                    }
                    None => {
                        let others =
                            ["source", "published", "recipe", "version", "llm", "annotator", "crawl"];
                        let known = SECTIONS.iter().map(|s| s.name).chain(others);
                        self.report_problem(key_span(root, name), unknown("table", name, known));
                    }
                },
            }
        }
        self.sources_of_crawls();
    }

    /// A table of settings; `of_recipe` begins their names in the layer where they are one recipe's.
    fn read_section(&mut self, section: &str, of_recipe: &str, keys: &[Key], item: &Item) {
        let Some(table) = item.as_table() else {
            return self.report_problem(item.span(), format!("expected a table, [{of_recipe}{section}]"));
        };
        for (name, value) in self.reader.valid_values("", keys, table, item.span(), &section_hint) {
            let origin = self.origin_of_item(table.get(&name));
            self.checked.layer.insert(format!("{of_recipe}{section}.{name}"), (value, origin));
        }
    }

    fn recipe_tables(&mut self, item: &Item) {
        let Some(table) = item.as_table() else {
            return self.report_problem(item.span(), "expected tables, [recipe.<name>.<stage>]");
        };
        for (recipe, item) in table.iter() {
            // What a folder that is set aside declares is not known.
            if riddlemill_benchmarks::is_aside(recipe) {
                continue;
            }
            if !self.recipes.contains(&recipe) {
                let what = unknown("recipe", recipe, self.recipes.iter().copied());
                self.report_problem(key_span(table, recipe), what);
                continue;
            }
            let Some(stages) = item.as_table() else {
                self.report_problem(item.span(), format!("expected tables, [recipe.{recipe}.<stage>]"));
                continue;
            };
            for (stage, item) in stages.iter() {
                // A recipe cannot set what concerns a run as a whole.
                let known = SECTIONS.iter().filter(|section| section.name != Run::SECTION.name);
                let of_all = known.clone().find(|section| section.name == stage);
                let keys: Vec<Key> = of_all
                    .into_iter()
                    .flat_map(|s| s.keys)
                    .copied()
                    .chain(super::own_keys(recipe, stage))
                    .collect();
                if keys.is_empty() {
                    let names = known.map(|section| section.name).chain(super::own_sections(recipe));
                    self.report_problem(key_span(stages, stage), unknown("stage", stage, names));
                    continue;
                }
                self.read_section(stage, &format!("recipe.{recipe}."), &keys, item);
            }
        }
    }

    fn read_endpoints(&mut self, item: &Item) {
        let Some(table) = item.as_table() else {
            return self.report_problem(item.span(), "expected tables, [llm.<name>]");
        };
        for (name, item) in table.iter() {
            let Some(one) = item.as_table() else {
                self.report_problem(item.span(), format!("expected a table, [llm.{name}]"));
                continue;
            };
            let of_header = |key: &str| match key {
                "name" => Some(format!("its name is the one in [llm.{name}]; leave this line out")),
                _ => section_hint(key),
            };
            if let Some(mut endpoint) = self.read_typed_table::<Endpoint>(one, None, &of_header) {
                endpoint.name = name.into();
                self.checked.endpoints.push(endpoint);
            }
        }
    }

    fn read_annotators(&mut self, item: &Item) -> Vec<Annotator> {
        let Some(tables) = item.as_array_of_tables() else {
            self.report_problem(item.span(), "expected [[annotator]]");
            return Vec::new();
        };
        let mut found: Vec<Annotator> = Vec::new();
        for table in tables {
            let Some(person): Option<Annotator> = self.read_typed_table(table, None, &section_hint) else {
                continue;
            };
            if found.iter().any(|other| other.name == person.name) {
                let span = table.get("name").and_then(Item::span);
                self.report_problem(span, format!("two annotators are named {:?}", person.name));
            }
            // A name of a language would match no item, so that its annotator was given none.
            for language in person.languages.iter().filter(|language| !is_language_code(language)) {
                let what = format!(
                    "languages: {language:?} is no code of a language; write its two or three letters, as \"zh\" or \"en\""
                );
                self.report_problem(table.get("languages").and_then(Item::span), what);
            }
            found.push(person);
        }
        found
    }

    /// A table as the type that declares it. A value in `given` was read already; `elsewhere` says of a key that it does not
    /// have where it would be one.
    fn read_typed_table<T: DeserializeOwned + riddlemill_schema::Table>(
        &mut self,
        table: &Table,
        given: Option<(&str, Value)>,
        elsewhere: &dyn Fn(&str) -> Option<String>,
    ) -> Option<T> {
        let (before, called) = (self.reader.count_problems(), format!("[[{}]]", T::SECTION.name));
        let mut values = self.reader.valid_values(&called, T::SECTION.keys, table, table.span(), elsewhere);
        values.extend(given.map(|(name, value)| (name.to_owned(), value)));
        if self.reader.count_problems() > before {
            return None;
        }
        match serde_json::from_value(Value::Object(values)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.report_problem(table.span(), error.to_string());
                None
            }
        }
    }

    fn read_sources(&mut self, name: &str, item: &Item) {
        let Some(tables) = item.as_array_of_tables() else {
            return self.report_problem(item.span(), format!("expected [[{name}]]"));
        };
        for table in tables {
            let source = if name == "source" { self.source(table) } else { self.read_published(table) };
            if let Some(source) = source {
                if self.checked.sources.iter().any(|s| s.name == source.name) {
                    self.report_problem(table.span(), format!("two sources are named {:?}", source.name));
                }
                self.checked.sources.push(source);
            }
        }
    }

    fn source(&mut self, table: &Table) -> Option<Source> {
        let before = self.reader.count_problems();
        let format = table.get("kind").and_then(Item::as_str).filter(|kind| TABLE_FORMATS.contains(kind));
        if let Some(format) = format {
            let what = format!(
                "kind: {format:?} is a format, which the content shows\n  hint: did you mean \"table\"?"
            );
            self.report_problem(table.get("kind").and_then(Item::span), what);
        }
        // That problem is told; what else is wrong is told as of a table.
        let of_format = |key: &Key| match key.name {
            "kind" if format.is_some() => Key { kind: Kind::Text, ..*key },
            _ => *key,
        };
        let keys: Vec<Key> = SOURCE.keys.iter().map(of_format).collect();
        let values = self.reader.valid_values("[[source]]", &keys, table, table.span(), &section_hint);
        let text = |name: &str| text_of(&values, name);
        let list = |name: &str| -> Vec<String> {
            let list = values.get(name).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(|v| v.as_str().map(str::to_string)).collect()
        };
        if let Some(name) = text("name").filter(|n| !plain_name(n)) {
            let what = format!("a source's name is made of letters, digits, `-`, `_` and `.`, not {name:?}");
            self.report_problem(table.get("name").and_then(Item::span), what);
        }
        let profile = self.profile_of(table, &text);
        let crawled = || text("crawl").map(|crawl| format!("raw/warc/{crawl}/*.warc.gz"));
        let path = match (text("path"), text("url")) {
            (None, None) if crawled().is_some() => crawled().unwrap_or_default(),
            (path, url) => self.path_of_source(table, path, url, "source"),
        };
        let recipes = list("recipes");
        let is_known = |name: &str| self.recipes.contains(&name) || riddlemill_benchmarks::is_aside(name);
        let strange: Vec<&String> = recipes.iter().filter(|name| !is_known(name)).collect();
        for recipe in strange {
            let span = table.get("recipes").and_then(Item::span);
            self.report_problem(span, unknown("recipe", recipe, self.recipes.iter().copied()));
        }
        self.check_sha256(table, text("sha256").as_deref());
        let map = |name: &str, before: &str| -> BTreeMap<String, String> {
            let map = values.get(name).and_then(Value::as_object).into_iter().flatten();
            map.filter_map(|(field, column)| Some((format!("{before}{field}"), column.as_str()?.to_string())))
                .collect()
        };
        let mut fields = map("fields", "");
        let table_kind = format.is_some() || text("kind").as_deref() == Some("table");
        let is_known_kind = table_kind || text("kind").is_some();
        if table_kind && !fields.contains_key("title") && !fields.contains_key("content") {
            self.report_problem(
                table.span(),
                "a table needs `fields` with a title or a content\n  hint: fields = { content = \"COLUMN\" }",
            );
        } else if is_known_kind && !table_kind && !fields.is_empty() {
            self.report_problem(
                table.get("fields").and_then(Item::span),
                "only a source of kind \"table\" has fields",
            );
        }
        let columns = map("columns", TABLE);
        if is_known_kind && !columns.is_empty() {
            self.columns_of_declared(table, table_kind, &recipes);
        }
        fields.extend(columns);
        if self.reader.count_problems() > before {
            return None;
        }
        if let Some(crawl) = text("crawl").filter(|_| profile.is_none()) {
            let span = table.get("crawl").and_then(Item::span);
            self.of_crawls.push(OfCrawl {
                at: self.checked.sources.len(),
                crawl,
                span,
                namespace: text("namespace"),
            });
        }
        let optional = list("optional");
        self.optional_columns(table, &optional, &fields);
        if self.reader.count_problems() > before {
            return None;
        }
        Some(Source {
            optional,
            at: text("at"),
            profile,
            profile_name: text("profile")
                .or_else(|| Some(SourceKind::profile_of(&text("kind")?)?.to_owned())),
            crawl: text("crawl"),
            name: text("name")?,
            kind: SourceKind::from_name(&text("kind")?)?,
            path,
            url: text("url"),
            sha256: text("sha256").map(|h| h.to_ascii_lowercase()),
            licence: text("licence"),
            recipes,
            language: text("language").as_deref().and_then(Language::from_code),
            take: text("take").and_then(|name| Take::from_name(&name)).unwrap_or_default(),
            published: None,
            fields,
            line: self.reader.line_of_span(table.span()),
        })
    }

    /// Further columns are only allowed for tables and named recipes, because not all recipes can use them.
    fn columns_of_declared(&mut self, table: &Table, is_table: bool, recipes: &[String]) {
        let span = table.get("columns").and_then(Item::span);
        if !is_table {
            return self.report_problem(span, "only a source of kind \"table\" has columns");
        }
        if recipes.is_empty() {
            let what = "columns are for benchmarks that a folder declares: name them in `recipes`";
            self.report_problem(span, what);
        }
    }

    fn read_published(&mut self, table: &Table) -> Option<Source> {
        let before = self.reader.count_problems();
        let values =
            self.reader.valid_values("[[published]]", PUBLISHED.keys, table, table.span(), &section_hint);
        let text = |name: &str| text_of(&values, name);
        let known: Vec<&'static str> = riddlemill_benchmarks::all_benchmarks()
            .iter()
            .filter(|benchmark| benchmark.published.is_some())
            .map(|benchmark| benchmark.name)
            .collect();
        let written = text("benchmark").unwrap_or_default();
        let benchmark = known.iter().copied().find(|name| *name == written);
        if benchmark.is_none() && values.contains_key("benchmark") {
            let span = table.get("benchmark").and_then(Item::span);
            self.report_problem(span, unknown("benchmark", &written, known.iter().copied()));
        }
        let path = self.path_of_source(table, text("path"), text("url"), "published");
        self.check_sha256(table, text("sha256").as_deref());
        let name = text("name").unwrap_or_else(|| format!("published-{written}"));
        if !plain_name(&name) {
            let what = format!("a source's name is made of letters, digits, `-`, `_` and `.`, not {name:?}");
            self.report_problem(table.get("name").and_then(Item::span), what);
        }
        if self.reader.count_problems() > before {
            return None;
        }
        Some(Source {
            name,
            kind: SourceKind::Published,
            path,
            url: text("url"),
            sha256: text("sha256").map(|h| h.to_ascii_lowercase()),
            licence: text("licence"),
            recipes: Vec::new(),
            language: None,
            take: Take::Jokes,
            published: benchmark,
            crawl: None,
            profile: None,
            profile_name: None,
            fields: BTreeMap::new(),
            optional: Vec::new(),
            at: None,
            line: self.reader.line_of_span(table.span()),
        })
    }

    /// Columns that may be missing must be columns of the source.
    fn optional_columns(&mut self, table: &Table, optional: &[String], fields: &BTreeMap<String, String>) {
        let in_braces = |pattern: &str| -> Vec<String> {
            let inner = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
            inner.map(|(name, _)| name.to_owned()).chain([pattern.to_owned()]).collect()
        };
        let known: Vec<String> = fields.values().flat_map(|pattern| in_braces(pattern)).collect();
        for column in optional.iter().filter(|column| !known.contains(column)) {
            let span = table.get("optional").and_then(Item::span);
            let what = unknown("column in `optional`:", column, known.iter().map(String::as_str));
            self.report_problem(span, what);
        }
    }

    /// The path of a source's files: as given, or where `fetch` stores them.
    fn path_of_source(
        &mut self,
        table: &Table,
        path: Option<String>,
        url: Option<String>,
        named: &str,
    ) -> String {
        match (path, url) {
            (Some(path), _) => path,
            (None, Some(url)) => format!("raw/dumps/{}", url.rsplit('/').next().unwrap_or_default()),
            (None, None) => {
                self.report_problem(table.span(), format!("[[{named}]] lacks `path` (or `url`)"));
                String::new()
            }
        }
    }

    fn check_sha256(&mut self, table: &Table, sha256: Option<&str>) {
        if let Some(sha256) = sha256.filter(|h| h.len() != 64 || !h.bytes().all(|b| b.is_ascii_hexdigit())) {
            let what = format!("a SHA-256 has 64 hex digits, {sha256:?} does not");
            self.report_problem(table.get("sha256").and_then(Item::span), what);
        }
    }

    fn report_problem(&mut self, span: Option<Range<usize>>, what: impl Into<String>) {
        self.reader.report_problem(span, what);
    }

    fn origin_of_item(&self, item: Option<&Item>) -> ValueOrigin {
        ValueOrigin::File(self.reader.line_of_span(item.and_then(Item::span)))
    }
}

/// Where an unknown key would be one: in the file that `init` writes, the tables' headers are commented out too.
fn section_hint(name: &str) -> Option<String> {
    let other = SECTIONS.iter().find(|other| other.find_key(name).is_some())?;
    Some(format!("it is one of [{}]; is that line still a comment?", other.name))
}

fn text_of(values: &Map<String, Value>, name: &str) -> Option<String> {
    values.get(name).and_then(Value::as_str).map(str::to_string)
}

fn plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

/// Whether a text is formed as the code of a language, perhaps with a region or script: `zh`, `yue`, `pt-BR`.
fn is_language_code(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_code = |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_lowercase());
    parts.next().is_some_and(is_code) && parts.all(|part| part.bytes().all(|b| b.is_ascii_alphanumeric()))
}
