//! The sites of `[[crawl]]` and `[[source]]`: profiles by name, inline, or of a crawl.

use std::ops::Range;

use riddlemill_harvest::crawl;
use riddlemill_harvest::pages::{Profile, Site};
use toml_edit::{Item, Table};

use super::super::near_miss;
use super::super::profile;
use super::super::source::SourceKind;
use super::{OfCrawl, SettingsFile};

impl SettingsFile<'_> {
    /// `[[crawl]]` tables, with inline profiles parsed.
    pub(super) fn read_crawls(&mut self, item: &Item) -> Vec<crawl::settings::Source> {
        let Some(tables) = item.as_array_of_tables() else {
            self.report_problem(item.span(), "expected [[crawl]]");
            return Vec::new();
        };
        let mut crawls = Vec::new();
        for table in tables {
            let before = self.count_problems();
            let site = table.get("site").and_then(|site| self.read_site(site));
            let given = match site {
                Some(site) => Some(serde_json::to_value(site).unwrap_or_default()),
                // What is wrong with it is reported at its place.
                None => (self.count_problems() > before).then(|| "plain".into()),
            };
            let typed = self.read_typed_table(table, given.map(|site| ("site", site)), &super::section_hint);
            crawls.extend(typed.filter(|_| self.count_problems() == before));
        }
        crawls
    }

    /// How many problems there are so far, in profiles too.
    fn count_problems(&self) -> usize {
        self.reader.count_problems() + self.elsewhere.len()
    }

    /// A site with a profile: by name or inline.
    fn read_site(&mut self, item: &Item) -> Option<Site> {
        const OWN: [&str; 2] = ["tieba", "plain"];
        let inner = item.as_table_like().and_then(|table| table.get("profile"));
        // Without a profile the whole is refused.
        if let Some(table) = item.as_table_like().filter(|_| inner.is_some()) {
            for (key, _) in table.iter().filter(|(key, _)| *key != "profile") {
                self.reader.unknown_key(table, key, ["profile"], None);
            }
        }
        if let Some(table) = inner.and_then(Item::as_table_like) {
            return match profile::of_table(table) {
                Ok(profile) => Some(Site::Profile(profile)),
                Err(mistakes) => {
                    mistakes
                        .into_iter()
                        .for_each(|(span, what)| self.report_problem(span.or(item.span()), what));
                    None
                }
            };
        }
        let name = item.as_str().or_else(|| inner.and_then(Item::as_str))?;
        // The site's former name.
        let former = name == "riddles" && !self.profiles.is_own(name);
        let name = if former { "riddles-com".to_owned() } else { name.to_owned() };
        if OWN.contains(&name.as_str()) && !self.profiles.is_own(&name) {
            return None;
        }
        self.find_profile(&name, item.span(), &OWN).map(Site::Profile)
    }

    /// A profile by its name.
    fn find_profile(&mut self, name: &str, span: Option<Range<usize>>, others: &[&str]) -> Option<Profile> {
        match self.profiles.load_profile(name) {
            Ok(Some(profile)) => Some(profile),
            Ok(None) => {
                let names = self.profiles.profile_names();
                let known = names.iter().map(String::as_str).chain(others.iter().copied());
                let hint = match near_miss(name, known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => {
                        format!("`riddlemill profiles list` shows all; your own are in {}/", profile::FOLDER)
                    }
                };
                self.report_problem(span, format!("unknown profile {name:?}\n  hint: {hint}"));
                None
            }
            Err(problems) => {
                self.elsewhere
                    .extend(problems.into_iter().filter(|p| !self.elsewhere.contains(p)).collect::<Vec<_>>());
                None
            }
        }
    }

    /// Gives sources of a crawl's pages its profile.
    pub(super) fn sources_of_crawls(&mut self) {
        for OfCrawl { at, crawl: name, span, namespace } in std::mem::take(&mut self.of_crawls) {
            let site =
                self.checked.crawls.iter().find(|crawl| crawl.name == name).map(|crawl| crawl.site.clone());
            let what = match site {
                Some(Site::Profile(profile)) => {
                    if let Some(source) =
                        self.checked.sources.get_mut(at).filter(|source| source.profile.is_none())
                    {
                        source.profile =
                            Some(namespace.map_or(profile.clone(), |name| profile.in_namespace(&name)));
                    }
                    continue;
                }
                Some(Site::Plain) => format!(
                    "[[crawl]] {name:?} does not say how the pages of its site are read\n  hint: give it a `site`, or this source a `profile`"
                ),
                Some(Site::Tieba) => format!(
                    "the pages of [[crawl]] {name:?} are read by a source of kind \"warc\", or by a `profile`"
                ),
                // The table's problems are reported already.
                None if self.count_problems() > 0 => continue,
                None => {
                    let known: Vec<String> =
                        self.checked.crawls.iter().map(|crawl| crawl.name.clone()).collect();
                    super::super::unknown("crawl", &name, known.iter().map(String::as_str))
                }
            };
            if self.checked.sources.get(at).is_some_and(|source| source.profile.is_none()) {
                self.report_problem(span, what);
            }
        }
    }

    /// The profile named by a source, which only some kinds of sources use.
    pub(super) fn profile_of(
        &mut self,
        table: &Table,
        text: &impl Fn(&str) -> Option<String>,
    ) -> Option<Profile> {
        let span = |key: &str| table.get(key).and_then(Item::span);
        let of_kind = text("kind").and_then(|kind| SourceKind::profile_of(&kind));
        if text("kind").as_deref() != Some("profile") {
            for key in ["profile", "crawl", "namespace"] {
                if table.contains_key(key) {
                    self.report_problem(span(key), format!("only a source of kind \"profile\" has `{key}`"));
                }
            }
            return self.find_profile(of_kind?, span("kind"), &[]);
        }
        let Some(name) = text("profile") else {
            if !table.contains_key("crawl") && !table.contains_key("profile") {
                let what = "a source of kind \"profile\" lacks `profile`, the name of one, or `crawl`, whose pages these are\n  \
                            hint: `riddlemill profiles list` shows what there is";
                self.report_problem(table.span(), what);
            }
            return None;
        };
        let found = self.find_profile(&name, span("profile"), &[])?;
        Some(text("namespace").map_or(found.clone(), |name| found.in_namespace(&name)))
    }
}
