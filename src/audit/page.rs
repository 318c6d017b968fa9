//! The report as one self-contained page, readable for years, from a mail or a disk.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use super::charts::{Bar, Figures};
use super::chinese;
use super::figures::{Limits, charts};
use crate::figures::Chart;
use crate::text::grouped;

const TEMPLATE: &str = include_str!("templates/report.html");

/// The page of these recipes.
///
/// # Errors
/// If the template does not match the figures.
pub fn page(figures: &[Figures]) -> Result<String, minijinja::Error> {
    let mut env = Environment::new();
    env.add_filter("count", grouped);
    env.add_function("tallest", |bars: Value| -> Result<u64, minijinja::Error> {
        let mut tallest = 1;
        for bar in bars.try_iter()? {
            let part = |name: &str| bar.get_attr(name).ok().and_then(|v| u64::try_from(v).ok()).unwrap_or(0);
            tallest = tallest.max(part("value")).max(part("other"));
        }
        Ok(tallest)
    });
    env.add_function("stage_zh", |name: &str| {
        let (prefix, name) = name.strip_prefix("review:").map_or(("", name), |name| ("评审：", name));
        // Steps of a workspace's own benchmark have no Chinese name.
        format!("{prefix}{}", chinese::stage(name).map_or(name, |(_, zh)| zh))
    });
    env.add_function("reason_zh", |code: &str| {
        let (short, definition) = chinese::reason(code).unwrap_or((code, ""));
        Value::from(vec![short.to_owned(), definition.to_owned()])
    });
    env.add_function("state_zh", |code: &str| chinese::state(code).unwrap_or(code).to_owned());
    env.add_template("report.html", TEMPLATE)?;
    let empty = |bars: &[Bar]| bars.iter().all(|bar| bar.value == 0 && bar.other == 0);
    let pairs: Vec<bool> = figures.iter().map(|f| !empty(&f.likeness)).collect();
    let files: Vec<Vec<[[String; 3]; 2]>> =
        figures.iter().map(|of| charts(of, &Limits::default()).iter().map(Chart::links).collect()).collect();
    let files = Value::from(Serde(files));
    env.get_template("report.html")?
        .render(context! { figures => Value::from(Serde(figures)), pairs, files, version => crate::VERSION })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::funnel::FunnelStage;
    use crate::record::Counts;

    fn figures() -> Figures {
        let counts = Counts { records_in: 12_345, records_out: 12_000, ..Counts::default() };
        let bar = |label: &str| Bar { label: label.into(), value: 3, other: 1 };
        Figures {
            recipe: "flub".into(),
            about: "a <b>bold</b> claim".into(),
            about_zh: "说明".into(),
            stages: vec![FunnelStage { stage: "import".into(), counts, names: None }],
            reasons: Vec::new(),
            lengths: vec![bar("0"), bar("10")],
            likeness: vec![bar("0.50")],
            sweep: vec![bar("0.50")],
            merged: 7,
        }
    }

    #[test]
    fn a_page_holds_no_script_and_asks_nothing_of_the_network() {
        let html = page(&[figures()]).unwrap();
        for banned in ["<script", "http://", "https://", "<link", "@import", "url("] {
            let known = html.replace("http://www.w3.org/2000/svg", "");
            assert!(!known.contains(banned), "{banned}");
        }
        assert!(html.contains("12,345"));
        for landmark in ["<header>", "<main>", "<footer"] {
            assert_eq!(html.matches(landmark).count(), 1, "{landmark}");
        }
        assert!(html.contains("导入") && html.contains("漏斗"), "both languages");
        assert!(html.contains("a &lt;b&gt;bold"), "texts are escaped");
    }
}
