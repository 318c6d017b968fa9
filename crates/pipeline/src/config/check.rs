//! Checks pipeline.toml against the list of settings and reports every problem at once, each with its place.

mod sites;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml_edit::{Document, Item, Table};

use super::layer::{Layer, Origin, item_json};
use super::mismatch::Mismatch;
use super::near_miss;
use super::own;
use super::profile::Profiles;
use super::reference;
use super::schema::{Key, Kind, Section};
use super::sections::SECTIONS;
use super::source::{PUBLISHED, SOURCE, Source, SourceKind, TABLE, Take};
use super::{FILE, VERSION};
use riddlemill_harvest::crawl;
use riddlemill_llm::Endpoint;
use riddlemill_review::Annotator;
use riddlemill_text::problem::{Found, Problem, position, syntax_error};
use riddlemill_text::record::Language;

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
pub(super) fn check(text: &str, recipes: &[&str], profiles: &Profiles) -> Checked {
    let mut reader = Reader {
        text,
        recipes,
        profiles,
        checked: Checked::default(),
        found: Found::new(FILE, text),
        elsewhere: Vec::new(),
        of_crawls: Vec::new(),
    };
    match Document::parse(text) {
        Ok(document) => reader.root(document.as_table()),
        Err(e) => {
            let mut what = syntax_error(text, e.span().map_or(0, |span| span.start), e.message());
            if let Some(span) = e.span().filter(|_| what == "duplicate key")
                && let Some(twice) = twice(text, span)
            {
                what = twice;
            }
            reader.problem(e.span(), what);
        }
    }
    // Tables come in the order in which their names are first used, keys before missing ones.
    let mut problems = reader.found.in_order();
    problems.extend(reader.elsewhere);
    Checked { problems, ..reader.checked }
}

struct Reader<'a> {
    text: &'a str,
    recipes: &'a [&'a str],
    profiles: &'a Profiles,
    checked: Checked,
    found: Found<'a>,
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

impl Reader<'_> {
    fn root(&mut self, root: &Table) {
        if let Some(version) = root.get("version") {
            match version.as_integer() {
                Some(v) if v <= VERSION => {}
                Some(v) => {
                    let what = format!(
                        "this file is for version {v} of the settings, this program reads version {VERSION}\n  \
                         hint: update riddlemill, or set `version = {VERSION}` and see what it reports"
                    );
                    // Everything else may be valid for a newer version.
                    return self.problem(version.span(), what);
                }
                None => self.problem(version.span(), "expected a whole number".into()),
            }
        }
        for (name, item) in root.iter() {
            match name {
                "version" => {}
                "source" | "published" => self.sources(name, item),
                "recipe" => self.recipe_tables(item),
                "llm" => self.endpoints(item),
                "annotator" => {
                    self.checked.annotators = self.list(item, &reference::ANNOTATOR);
                }
                "crawl" => {
                    self.checked.crawls = self.crawls(item);
                }
                _ => match SECTIONS.iter().find(|s| s.name == name) {
                    Some(section) => self.section(section, None, item),
                    None => {
                        let known = SECTIONS.iter().map(|s| s.name).chain([
                            "source",
                            "published",
                            "recipe",
                            "version",
                            "llm",
                            "annotator",
                            "crawl",
                        ]);
                        self.unknown("table", name, key_span(root, name), near_miss(name, known));
                    }
                },
            }
        }
        self.sources_of_crawls();
    }

    /// A table of settings, possibly of one recipe.
    fn section(&mut self, section: &Section, recipe: Option<&str>, item: &Item) {
        let Some(table) = item.as_table() else {
            return self.problem(item.span(), format!("expected a table, [{}]", section.name));
        };
        for (name, item) in table.iter() {
            let value = match recipe.and_then(|recipe| own::find(recipe, section.name, name)) {
                Some(setting) => self.own(setting, item),
                None => self.value(section, table, name, item),
            };
            if let Some(value) = value {
                let origin = self.origin(item);
                let of_recipe = recipe.map(|recipe| format!("recipe.{recipe}.")).unwrap_or_default();
                self.checked.layer.insert(format!("{of_recipe}{}.{name}", section.name), (value, origin));
            }
        }
    }

    /// A table of a benchmark's own settings only.
    fn own_section(&mut self, recipe: &str, section: &str, item: &Item) {
        let Some(table) = item.as_table() else {
            return self.problem(item.span(), format!("expected a table, [recipe.{recipe}.{section}]"));
        };
        for (name, item) in table.iter() {
            let Some(setting) = own::find(recipe, section, name) else {
                let known =
                    own::settings_of(recipe).iter().filter(|own| own.section == section).map(|own| own.name);
                self.unknown("key", name, key_span(table, name), near_miss(name, known));
                continue;
            };
            if let Some(value) = self.own(setting, item) {
                let origin = self.origin(item);
                self.checked.layer.insert(format!("recipe.{recipe}.{section}.{name}"), (value, origin));
            }
        }
    }

    /// The value of a setting that a benchmark declares.
    fn own(&mut self, setting: &riddlemill_benchmarks::setting::Setting, item: &Item) -> Option<Value> {
        let value = item_json(item).ok_or_else(|| Mismatch::new("a plain value"));
        match value.and_then(|value| own::check(setting, &value)) {
            Ok(value) => Some(value),
            Err(mismatch) => {
                self.problem(item.span(), format!("{}: {mismatch}", setting.name));
                None
            }
        }
    }

    fn recipe_tables(&mut self, item: &Item) {
        let Some(table) = item.as_table() else {
            return self.problem(item.span(), "expected tables, [recipe.<name>.<stage>]".into());
        };
        for (recipe, item) in table.iter() {
            // What a folder that is set aside declares is not known.
            if riddlemill_benchmarks::is_aside(recipe) {
                continue;
            }
            if !self.recipes.contains(&recipe) {
                let near = near_miss(recipe, self.recipes.iter().copied());
                self.unknown("recipe", recipe, key_span(table, recipe), near);
                continue;
            }
            let Some(stages) = item.as_table() else {
                self.problem(item.span(), format!("expected tables, [recipe.{recipe}.<stage>]"));
                continue;
            };
            for (stage, item) in stages.iter() {
                // A recipe cannot set what concerns a run as a whole.
                let known = SECTIONS.iter().filter(|s| s.name != "run");
                match known.clone().find(|s| s.name == stage) {
                    Some(section) => self.section(section, Some(recipe), item),
                    None if own::sections(recipe).contains(&stage) => self.own_section(recipe, stage, item),
                    None => {
                        let own = own::sections(recipe);
                        let near = near_miss(stage, known.map(|s| s.name).chain(own));
                        self.unknown("stage", stage, key_span(stages, stage), near);
                    }
                }
            }
        }
    }

    fn endpoints(&mut self, item: &Item) {
        let Some(table) = item.as_table() else {
            return self.problem(item.span(), "expected tables, [llm.<name>]".into());
        };
        let known = serde_json::to_value(Endpoint::new("", "", "")).unwrap_or_default();
        let known: Vec<&str> = known.as_object().into_iter().flatten().map(|(k, _)| k.as_str()).collect();
        for (name, item) in table.iter() {
            let Some(one) = item.as_table() else {
                self.problem(item.span(), format!("expected a table, [llm.{name}]"));
                continue;
            };
            if let Some(mut endpoint) = self.typed::<Endpoint>(one, &known, &reference::LLM, None) {
                endpoint.name = name.into();
                self.checked.endpoints.push(endpoint);
            }
        }
    }

    /// The keys of a table whose numbers and flags are out of bounds, reported like those of a section. TOML
    /// values without a JSON equivalent (`nan`, a date) would otherwise count as missing.
    fn refused(&mut self, section: &Section, table: &Table) -> Vec<&'static str> {
        let mut refused = Vec::new();
        for key in section.keys {
            if !matches!(key.kind, Kind::Flag | Kind::Whole(..) | Kind::Share | Kind::Amount) {
                continue;
            }
            let (outer, inner) = key.name.split_once('.').map_or((key.name, None), |(a, b)| (a, Some(b)));
            let item = match inner {
                Some(inner) => table.get(outer).and_then(Item::as_table_like).and_then(|t| t.get(inner)),
                None => table.get(outer),
            };
            let Some(item) = item else { continue };
            if item_json(item).and_then(|value| key.kind.check(&value).ok()).is_none() {
                self.problem(item.span(), format!("{}: expected {}", key.name, key.kind.expected()));
                refused.push(outer);
            }
        }
        refused
    }

    /// `[[name]]` tables of a type defined in another module.
    fn list<T: DeserializeOwned>(&mut self, item: &Item, section: &Section) -> Vec<T> {
        let Some(tables) = item.as_array_of_tables() else {
            self.problem(item.span(), format!("expected [[{}]]", section.name));
            return Vec::new();
        };
        let known = reference::keys(section);
        tables.iter().filter_map(|table| self.typed(table, &known, section, None)).collect()
    }

    /// A table as a type with its own fields. Unknown keys are reported one by one with suggestions, numbers
    /// out of bounds by the reference; of other invalid values the type reports the first. Keys in `given`
    /// were read already.
    fn typed<T: DeserializeOwned>(
        &mut self,
        table: &Table,
        known: &[&str],
        section: &Section,
        given: Option<(&str, Value)>,
    ) -> Option<T> {
        let mut values = serde_json::Map::new();
        let before = self.found.count();
        let refused = self.refused(section, table);
        for (name, item) in table.iter().filter(|(name, _)| !refused.contains(name)) {
            if !known.contains(&name) {
                self.unknown("key", name, key_span(table, name), near_miss(name, known.iter().copied()));
            } else if let Some((_, value)) = given.as_ref().filter(|(given, _)| *given == name) {
                values.insert(name.into(), value.clone());
            } else if let Some(value) = item_json(item) {
                values.insert(name.into(), value);
            } else {
                self.problem(item.span(), format!("{name}: expected a plain value, no date and no nan"));
            }
        }
        match serde_json::from_value(Value::Object(values)) {
            Ok(value) => Some(value).filter(|_| self.found.count() == before),
            // Problems of a crawl's site are reported at its place.
            Err(_) if self.found.count() > before || !self.elsewhere.is_empty() => None,
            Err(e) => {
                self.problem(table.span(), e.to_string());
                None
            }
        }
    }

    fn sources(&mut self, name: &str, item: &Item) {
        let Some(tables) = item.as_array_of_tables() else {
            return self.problem(item.span(), format!("expected [[{name}]]"));
        };
        for table in tables {
            let source = if name == "source" { self.source(table) } else { self.published(table) };
            if let Some(source) = source {
                if self.checked.sources.iter().any(|s| s.name == source.name) {
                    self.problem(table.span(), format!("two sources are named {:?}", source.name));
                }
                self.checked.sources.push(source);
            }
        }
    }

    fn source(&mut self, table: &Table) -> Option<Source> {
        let before = self.found.count();
        let mut values = Layer::new();
        for (name, item) in table.iter() {
            if let Some(value) = self.value(&SOURCE, table, name, item) {
                values.insert(name.into(), (value, self.origin(item)));
            }
        }
        let text = |name: &str| values.get(name).and_then(|(v, _)| v.as_str()).map(str::to_string);
        let list = |name: &str| -> Vec<String> {
            let list = values.get(name).and_then(|(v, _)| v.as_array());
            list.into_iter().flatten().filter_map(|v| v.as_str().map(str::to_string)).collect()
        };
        for required in ["name", "kind"] {
            if !table.contains_key(required) {
                self.problem(table.span(), format!("[[source]] lacks `{required}`"));
            }
        }
        if let Some(name) = text("name").filter(|n| !plain_name(n)) {
            let what = format!("a source's name is made of letters, digits, `-`, `_` and `.`, not {name:?}");
            self.problem(table.get("name").and_then(Item::span), what);
        }
        let profile = self.profile_of(table, &text);
        let crawled = || text("crawl").map(|crawl| format!("raw/warc/{crawl}/*.warc.gz"));
        let path = match (text("path"), text("url")) {
            (None, None) if crawled().is_some() => crawled().unwrap_or_default(),
            (path, url) => self.path(table, path, url, "source"),
        };
        let recipes = list("recipes");
        let is_known = |name: &str| self.recipes.contains(&name) || riddlemill_benchmarks::is_aside(name);
        let unknown: Vec<&String> = recipes.iter().filter(|name| !is_known(name)).collect();
        for recipe in unknown {
            let span = table.get("recipes").and_then(Item::span);
            self.unknown("recipe", recipe, span, near_miss(recipe, self.recipes.iter().copied()));
        }
        self.sha256(table, text("sha256").as_deref());
        let map = |name: &str, before: &str| -> BTreeMap<String, String> {
            let map = values.get(name).and_then(|(v, _)| v.as_object()).into_iter().flatten();
            map.filter_map(|(field, column)| Some((format!("{before}{field}"), column.as_str()?.to_string())))
                .collect()
        };
        let mut fields = map("fields", "");
        let table_kind = text("kind").as_deref() == Some("table");
        if table_kind && !fields.contains_key("title") && !fields.contains_key("content") {
            self.problem(
                table.span(),
                "a table needs `fields` with a title or a content\n  hint: fields = { content = \"COLUMN\" }"
                    .into(),
            );
        } else if !table_kind && !fields.is_empty() {
            self.problem(
                table.get("fields").and_then(Item::span),
                "only a source of kind \"table\" has fields".into(),
            );
        }
        let columns = map("columns", TABLE);
        if !columns.is_empty() {
            self.columns_of_declared(table, table_kind, &recipes);
        }
        fields.extend(columns);
        if self.found.count() > before {
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
        if self.found.count() > before {
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
            take: if text("take").as_deref() == Some("main") { Take::Main } else { Take::Jokes },
            published: None,
            fields,
            line: table.span().map_or(0, |s| position(self.text, s.start).0),
        })
    }

    /// Further columns are only allowed for tables and named recipes, because not all recipes can use them.
    fn columns_of_declared(&mut self, table: &Table, is_table: bool, recipes: &[String]) {
        let span = table.get("columns").and_then(Item::span);
        if !is_table {
            return self.problem(span, "only a source of kind \"table\" has columns".into());
        }
        if recipes.is_empty() {
            let what = "columns are for benchmarks that a folder declares: name them in `recipes`";
            self.problem(span, what.into());
        }
    }

    fn published(&mut self, table: &Table) -> Option<Source> {
        let before = self.found.count();
        let mut values = Layer::new();
        for (name, item) in table.iter() {
            if let Some(value) = self.value(&PUBLISHED, table, name, item) {
                values.insert(name.into(), (value, self.origin(item)));
            }
        }
        let text = |name: &str| values.get(name).and_then(|(v, _)| v.as_str()).map(str::to_string);
        let known: Vec<&'static str> = riddlemill_benchmarks::all()
            .iter()
            .filter(|benchmark| benchmark.published.is_some())
            .map(|benchmark| benchmark.name)
            .collect();
        let written = text("benchmark").unwrap_or_default();
        let benchmark = known.iter().copied().find(|name| *name == written);
        if !table.contains_key("benchmark") {
            self.problem(table.span(), "[[published]] lacks `benchmark`".into());
        } else if benchmark.is_none() {
            let span = table.get("benchmark").and_then(Item::span);
            self.unknown("benchmark", &written, span, near_miss(&written, known.iter().copied()));
        }
        let path = self.path(table, text("path"), text("url"), "published");
        self.sha256(table, text("sha256").as_deref());
        let name = text("name").unwrap_or_else(|| format!("published-{written}"));
        if !plain_name(&name) {
            let what = format!("a source's name is made of letters, digits, `-`, `_` and `.`, not {name:?}");
            self.problem(table.get("name").and_then(Item::span), what);
        }
        if self.found.count() > before {
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
            line: table.span().map_or(0, |s| position(self.text, s.start).0),
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
            let near = near_miss(column, known.iter().map(String::as_str));
            self.unknown("column in `optional`:", column, span, near);
        }
    }

    /// The path of a source's files: as given, or where `fetch` stores them.
    fn path(&mut self, table: &Table, path: Option<String>, url: Option<String>, named: &str) -> String {
        match (path, url) {
            (Some(path), _) => path,
            (None, Some(url)) => format!("raw/dumps/{}", url.rsplit('/').next().unwrap_or_default()),
            (None, None) => {
                self.problem(table.span(), format!("[[{named}]] lacks `path` (or `url`)"));
                String::new()
            }
        }
    }

    fn sha256(&mut self, table: &Table, sha256: Option<&str>) {
        if let Some(sha256) = sha256.filter(|h| h.len() != 64 || !h.bytes().all(|b| b.is_ascii_hexdigit())) {
            let what = format!("a SHA-256 has 64 hex digits, {sha256:?} does not");
            self.problem(table.get("sha256").and_then(Item::span), what);
        }
    }

    /// The value of a key of a table.
    fn value(&mut self, section: &Section, table: &Table, name: &str, item: &Item) -> Option<Value> {
        let Some(Key { kind, .. }) = section.keys.iter().find(|k| k.name == name) else {
            let near = near_miss(name, section.keys.iter().map(|k| k.name));
            self.unknown("key", name, key_span(table, name), near);
            return None;
        };
        let value =
            item_json(item).ok_or_else(|| Mismatch::new("a plain value")).and_then(|v| kind.check(&v));
        match value {
            Ok(value) => Some(value),
            Err(mismatch) => {
                self.problem(item.span(), format!("{name}: {mismatch}"));
                None
            }
        }
    }

    fn unknown(&mut self, what: &str, name: &str, span: Option<Range<usize>>, near: Option<&str>) {
        // In the file that `init` writes, the tables' headers are commented out too.
        let other = || SECTIONS.iter().find(|other| other.keys.iter().any(|key| key.name == name));
        let hint = match (near, other().filter(|_| what == "key")) {
            (Some(near), _) => format!("\n  hint: did you mean {near:?}?"),
            (None, Some(other)) => {
                format!("\n  hint: it is one of [{}]; is that line still a comment?", other.name)
            }
            (None, None) => String::new(),
        };
        self.problem(span, format!("unknown {what} {name:?}{hint}"));
    }

    fn problem(&mut self, span: Option<Range<usize>>, what: String) {
        self.found.add(span.map_or(0, |span| span.start), what);
    }

    fn origin(&self, item: &Item) -> Origin {
        Origin::File(item.span().map_or(0, |s| position(self.text, s.start).0))
    }
}

/// The repeated name, and its first place.
fn twice(text: &str, span: Range<usize>) -> Option<String> {
    let name = text.get(span.clone())?.trim().trim_matches(['[', ']']).trim();
    let (line, _) = position(text, span.start);
    let here = text.lines().nth(line - 1)?.trim();
    let is_table = here.starts_with('[');
    let whole = if is_table { here.trim_matches(['[', ']']).trim() } else { name };
    let is_line_of = |other: &str| match is_table {
        true => other.trim().split('#').next().is_some_and(|other| other.trim() == here),
        false => other.trim().split('=').next().is_some_and(|key| key.trim() == name),
    };
    let first = text.lines().take(line - 1).position(is_line_of)? + 1;
    Some(match is_table {
        true => format!(
            "[{whole}] is already in the file, at line {first}\n  hint: put its keys there, and leave this line out"
        ),
        false => format!("`{name}` is set already, at line {first}"),
    })
}

fn plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

fn key_span(table: &Table, name: &str) -> Option<Range<usize>> {
    table.key(name).and_then(|k| k.span())
}
