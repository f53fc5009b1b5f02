//! Trying out a language piece by piece.

use agentic_api::Surroundings;
use agentic_api::repl::{Repl, ReplNext, ReplOutput, ReplReply, ReplStart};
use agentic_model::guidance::ErrorClass;

fn here() -> Surroundings {
    Surroundings { folder: std::env::temp_dir(), ..Surroundings::default() }
}

fn begin(start: ReplStart) -> Repl {
    start.begin(&here()).expect("there is such a language").0
}

fn take(repl: &mut Repl, piece: &str) -> ReplReply {
    repl.take(&here(), piece).expect("it is right")
}

fn text(reply: &ReplReply) -> String {
    let texts = reply.outputs.iter().filter_map(|output| match output {
        ReplOutput::Text(text) | ReplOutput::Trace(text) | ReplOutput::Said(text) => Some(text),
        ReplOutput::Run(_)
        | ReplOutput::Answer(_)
        | ReplOutput::Findings(_)
        | ReplOutput::Refused(_) => None,
    });
    texts.map(String::as_str).collect()
}

#[test]
fn statements_of_the_context_language_see_what_earlier_ones_left() {
    let mut repl = begin(ReplStart { mock: true, ..ReplStart::default() });
    assert!(
        !repl.is_whole("if (true) {\n") && repl.is_whole("a = 1\n") && repl.is_whole(":help\n")
    );
    take(&mut repl, "a = 20\n");
    assert_eq!(text(&take(&mut repl, "a + 1\n")), "21");
    let faulty = take(&mut repl, "agent {\n");
    assert_eq!(faulty.next, ReplNext::Faulty);
    assert!(matches!(faulty.outputs.as_slice(), [ReplOutput::Findings(_)]));
    assert!(text(&take(&mut repl, ":help")).contains(":reset"));
    take(&mut repl, ":reset");
    assert!(
        repl.take(&here(), "a + 1\n").is_err()
            || take(&mut repl, "a + 1\n").next == ReplNext::Faulty
    );
    assert_eq!(
        repl.take(&here(), ":nothing").map(|_| ()).map_err(|no| no.class),
        Err(ErrorClass::Usage)
    );
    assert_eq!(take(&mut repl, ":exit").next, ReplNext::Leave);
    assert!(!repl.forgives());
}

#[test]
fn a_program_of_agentlang_is_loaded_and_its_pipelines_run() {
    let folder = tempfile();
    let file = folder.join("main.agent");
    std::fs::write(&file, "pipeline main(n: Number) -> Number { return n + 1; }\n")
        .expect("writable");
    let name = file.to_string_lossy().into_owned();
    let start = ReplStart { file: Some(name.clone()), ..ReplStart::default() };
    let (mut repl, reply) = start.begin(&here()).expect("it is one of AgentLang");
    assert!(text(&reply).contains("1 pipeline"), "{reply:?}");
    let ran = take(&mut repl, "run main {\"n\": 1}");
    let [ReplOutput::Run(answer)] = ran.outputs.as_slice() else { panic!("{ran:?}") };
    assert_eq!(serde_json::to_value(answer).expect("data")["result"], 2);
    assert!(repl.take(&here(), "run other").is_err());
    assert!(text(&take(&mut repl, "list")).contains("pipeline main"));
    take(&mut repl, "clear");
    assert!(repl.take(&here(), "test").is_err());
    assert!(repl.forgives());
    assert_eq!(take(&mut repl, "quit").next, ReplNext::Leave);
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn what_means_nothing_to_a_language_is_refused() {
    let refused = |start: ReplStart| start.begin(&here()).err().expect("it is refused").class;
    let language =
        |name: &str| ReplStart { language: Some(name.to_owned()), ..ReplStart::default() };
    assert_eq!(refused(language("none")), ErrorClass::Usage);
    assert_eq!(refused(language("rhai")), ErrorClass::Usage);
    assert_eq!(refused(ReplStart { mock: true, ..language("agentlang") }), ErrorClass::Usage);
    assert_eq!(refused(ReplStart { live: true, ..language("context") }), ErrorClass::Usage);
}

fn tempfile() -> std::path::PathBuf {
    let name = format!("agentic-api-repl-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("writable");
    folder
}
