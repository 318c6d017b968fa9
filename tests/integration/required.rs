//! What a folder requires of a reply is told to the model in the language that it was asked in, and to people in English.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::generate::{Guard, Server};
use crate::harness::{Workspace, source};

const NAME: &str = "why-funny";

/// An explanation that is too long until its length is told, in whichever language.
fn explain(prompt: &str) -> (&'static str, String) {
    let is_told = ["at most five characters", "至多五个字"].iter().any(|told| prompt.contains(told));
    ("explain", if is_told { "双关。" } else { "这个解释实在是太长太长了。" }.to_owned())
}

/// A workspace with an English post that is asked about with this prompt, and what the server was sent.
fn asked(prompt: &str) -> (Workspace, Arc<Mutex<Vec<String>>>, Server) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let sent = seen.clone();
    let listens: Guard = Arc::new(move |sent_now: &str, _: u32| {
        sent.lock().unwrap().push(sent_now.to_owned());
        None
    });
    let server = Server::guarded(explain, None, Duration::ZERO, listens);
    let fields = format!("fields = {{ id = \"p:{{no}}\", title = \"text\" }}\nrecipes = [{NAME:?}]\n");
    let settings = source("own", "table", "raw/dumps/own.csv") + &fields + "[draft]\nendpoint = \"loop\"\n";
    let ws = Workspace::with(&(settings + &server.settings()));
    ws.write("raw/dumps/own.csv", "no,text\n1,Do clouds fear heights or do heights fear clouds?\n");
    let folder = format!("benchmarks/{NAME}");
    ws.write(
        &format!("{folder}/benchmark.toml"),
        "about = \"posts with a short explanation\"\nsteps = [\"import\", \"explain\"]\n\n[step.explain]\n\
         prompt = \"explain\"\nwith = { post = \"text\" }\n\
         reply = { text = [\"Explanation\"], gives = { explanation = \"text\" } }\n\
         requires = [[\"drafted.explanation | length <= 5\", \"Write at most five characters.\"]]\n",
    );
    ws.write(&format!("{folder}/benchmark.zh.toml"), "[step.explain]\nrequires = [\"至多五个字。\"]\n");
    let text = format!(
        "{{# It asks why.\n   output: text #}}\n=== user ===\n{prompt}\n{{{{ post | inside(\"post\") }}}}\n"
    );
    ws.write(&format!("{folder}/prompts/explain.jinja"), text);
    (ws, seen, server)
}

#[test]
fn a_model_is_asked_again_in_the_language_of_its_prompt() {
    let chinese = ("请解释下面的句子为什么好笑。", "至多五个字。请重新回答", "Your reply could not be read");
    let english = ("Explain why this is funny.", "Write at most five characters.", "至多五个字");
    for (prompt, says, never) in [chinese, english] {
        let (ws, seen, server) = asked(prompt);
        ws.call(["run", "--recipe", NAME, "--set", "draft.max_reasks=0"]).expect(3);
        let failed = ws.call(["show", "explain", "--recipe", NAME, "--outcome", "failed"]).expect(0).out;
        assert!(
            failed.contains("because  Write at most five characters."),
            "the ledger is English: {failed}"
        );
        ws.call(["run", "--recipe", NAME, "--retry-failed"]).expect(0);
        let sent = seen.lock().unwrap().clone();
        let again = sent.last().unwrap();
        assert!(again.contains(says) && !again.contains(never), "{again}");
        assert!(sent[..sent.len() - 1].iter().all(|first| !first.contains(says)), "{sent:?}");
        assert_eq!(server.count() as usize, sent.len());
        ws.call(["audit", "--recipe", NAME]).expect(0);
    }
}
