//! Charts of pages: drawn by the program as those of files are, with the limits of the settings, and without scripts.

use crate::browser::{Browser, Server, made};

#[test]
fn pages_draw_charts_with_their_limits() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let filter = server.get("/flub/figures/filter").body;
    assert_eq!(filter.matches("class=\"drawing\"").count(), 2, "lengths, and what other limits do: {filter}");
    for kind in ["svg", "csv", "tex"] {
        assert_eq!(
            filter.matches(&format!(".{kind}\" href=\"data:")).count(),
            2,
            "beside each chart: {filter}"
        );
    }
    // Named, and across the bars and the lines.
    for shown in ["filter.min_chars ", "stroke-dasharray=\"3 2\"", "<g><title>", ">Records</text>"] {
        assert!(filter.contains(shown), "{shown}: {filter}");
    }
    let mut chinese = Browser { cookies: vec![("lang".into(), "zh".into())] };
    let page = chinese.get(&server, "/flub/figures/filter").body;
    assert!(page.contains(">记录</text>") && !page.contains(">Records</text>"), "{page}");
    for path in ["/flub/figures/dedup", "/flub/stage/filter", "/flub/release/candidate"] {
        let page = server.get(path).body;
        assert!(!page.contains("data-chart") && !page.contains("uplot"), "{path}: {page}");
    }
    assert!(server.get("/flub/release/candidate").body.contains("class=\"drawing\""));
}

/// The names of the values in the lists of bars of a page.
fn bars(page: &str) -> Vec<String> {
    let name =
        regex::Regex::new(r#"<span class="line"><span[^>]*>([^<]*)</span>|<span dir="auto">([^<]*)</span>"#)
            .unwrap();
    let lists =
        page.split("<ul class=\"pick\">").skip(1).map(|rest| rest.split("</ul>").next().unwrap_or_default());
    let names = |list| {
        name.captures_iter(list)
            .filter_map(|found| found.get(1).or(found.get(2)))
            .map(|name| name.as_str().to_owned())
    };
    lists.flat_map(names).collect()
}

#[test]
fn charts_name_categories_in_the_language_of_their_page() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut chinese = Browser { cookies: vec![("lang".into(), "zh".into())] };
    for recipe in ["ruozhibench-gen", "ruozhibench-mc"] {
        for page in [format!("/{recipe}/release/candidate"), format!("/{recipe}/release/candidate/rows")] {
            let has = |bars: &[String], wanted: &str| bars.iter().any(|bar| bar == wanted);
            let english = bars(&server.get(&page).body);
            assert!(has(&english, "Absurd Imagination") && has(&english, "synthetic"), "{page}: {english:?}");
            let found = bars(&chinese.get(&server, &page).body);
            assert!(has(&found, "荒诞想象") && has(&found, "虚构投票"), "{page}: {found:?}");
            assert!(!found.iter().any(|bar| english.contains(bar) && bar.contains(' ')), "{page}: {found:?}");
        }
    }
}
