//! Translations from a server that accepts texts and no prompts.

use std::collections::BTreeMap;

use crate::generate::{AHEAD, GEN, LOOP, Server, run, served};

#[test]
fn a_server_that_takes_no_prompts_translates() {
    let server = Server::start(None);
    let ws = served(&server);
    let libre = format!(
        "\n[llm.libre]\nprovider = \"libretranslate\"\nbase_url = \"http://127.0.0.1:{}\"\nmodel = \"argos\"\nfree = true\n",
        server.port
    );
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &libre);
    let translator = [&LOOP[..], &["--set", "draft.translator=libre"]].concat();
    run(&ws, &translator).expect(0);
    ws.audit_clean_with(&translator);
    let rows = ws.candidates(GEN);
    let seen = server.take();
    assert_eq!(seen["libretranslate"], u32::try_from(rows.len()).unwrap());
    assert!(!seen.contains_key("translate") && seen.contains_key("irrationality"), "{seen:?}");
    assert!(rows.iter().all(|row| row["question_en"].as_str().unwrap().starts_with("Is it ")));
    run(&ws, &translator).expect(0);
    assert_eq!(server.take(), BTreeMap::new(), "its replies are stored");
    let id = rows[0]["id"].as_str().unwrap();
    let actual = ws.call(["explain", id, "--full", "--recipe", GEN].iter().chain(&translator)).expect(0).out;
    assert!(actual.contains("| Is it ") && actual.contains("reply:"), "{actual}");
    let card = ws.read(&format!("output/{GEN}/candidate/README.md"));
    assert!(card.contains(&format!("argos: {}", rows.len())), "{card}");
    let result = run(&ws, &["--set", "draft.endpoint=libre", "--set", AHEAD]).expect(2);
    assert!(result.err.contains("only translates"), "{}", result.err);
}
