//! A comparison as a self-contained page: drifted texts, differences, and missing items, side by side.

use minijinja::value::Serde;
use minijinja::{Environment, Value as TemplateValue, context};

use super::Comparison;

const TEMPLATE: &str = include_str!("../templates/compare.html");

impl Comparison {
    /// The page. `set` and `reference` are the names of the two sides.
    ///
    /// # Errors
    /// If the template does not match.
    pub fn html(&self, set: &str, reference: &str) -> Result<String, minijinja::Error> {
        let mut env = Environment::new();
        env.add_template("compare.html", TEMPLATE)?;
        let found = TemplateValue::from(Serde(self));
        env.get_template("compare.html")?
            .render(context! { found, set, reference, version => crate::VERSION })
    }
}
