//! Charts of pages: drawn by the program as those of files are, with the limits of the settings, and without scripts.

use crate::browser::{Browser, Server, made};

#[test]
fn pages_draw_charts_with_their_limits() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let filter = server.get("/flub/figures/filter").body;
    assert_eq!(filter.matches("class=\"drawing\"").count(), 2, "lengths, and what other limits do: {filter}");
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
