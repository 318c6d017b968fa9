//! The tables of pipeline.toml that may occur several times.

use riddlemill_schema::{Section, Table};

use super::source::{PUBLISHED, SOURCE};
use riddlemill_harvest::crawl;
use riddlemill_llm::Endpoint;
use riddlemill_review::Annotator;

/// `[llm.<name>]`.
pub const LLM: Section = Endpoint::SECTION;

/// Tables that may occur several times: `[[source]]`, `[llm.<name>]`, `[[annotator]]`, `[[crawl]]`.
pub const TABLES: &[Section] =
    &[SOURCE, PUBLISHED, LLM, Annotator::SECTION, <crawl::settings::Source as Table>::SECTION];

/// A table of settings, or of those that may occur several times, by its name.
pub fn table(name: &str) -> Option<&'static Section> {
    super::sections::SECTIONS.iter().chain(TABLES).find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        for table in TABLES {
            for (name, key) in table.dotted() {
                let default = key.value().filter(|default| key.kind.check(default).is_err());
                assert_eq!(default, None, "[{}] {name}", table.name);
                assert!(!key.is_required || key.default.is_empty(), "[{}] {name}", table.name);
            }
        }
    }
}
