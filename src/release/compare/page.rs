//! A comparison as one page without script or network: what was found with another text, what is otherwise, what is
//! missing, side by side.

use minijinja::value::Serde;
use minijinja::{Environment, Value as TemplateValue, context};

use super::Comparison;

const TEMPLATE: &str = include_str!("../templates/compare.html");

impl Comparison {
    /// The page. `set` and `reference` are what the two sides are called.
    ///
    /// # Errors
    /// Where the template does not fit.
    pub fn html(&self, set: &str, reference: &str) -> Result<String, minijinja::Error> {
        let mut env = Environment::new();
        env.add_template("compare.html", TEMPLATE)?;
        let found = TemplateValue::from(Serde(self));
        env.get_template("compare.html")?
            .render(context! { found, set, reference, version => crate::VERSION })
    }
}
