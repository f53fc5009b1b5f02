//! Effects that may happen once only and whose worker died: their programs are waited for and their probes
//! asked, before people are.

use serde_json::json;

use crate::stage::Stage;

/// Three effects beside each other, which wait for a file: the probe of the first says that it happened, that
/// of the second that it has not, and nobody can tell of the third.
fn program(folder: &str) -> String {
    let effect = |name: &str, probe: &str| {
        let waits = format!("until test -e {folder}/go || ! test -d {folder}; do sleep 0.02; done");
        let command =
            format!("echo x >>{folder}/{name}; {waits}; echo d >>{folder}/{name}.done; printf ran");
        format!("exec(#{{command: \"{command}\"{probe}}}).stdout")
    };
    let happened = format!(", probe: \"test -s {folder}/one.done && printf probed\"");
    let (one, two) = (effect("one", &happened), effect("two", ", probe: \"exit 1\""));
    format!("all([|| {one}, || {two}, || {}])", effect("three", ""))
}

#[test]
fn a_probe_is_asked_before_people_are() {
    let mut stage = Stage::new();
    stage.ends("agentic spawn alice -m x", 0);
    let folder = stage.sandbox.start().display().to_string();
    stage.write(&[("probed.rhai", &program(&folder))]);
    let start =
        "agentic session start alice --flow probed.rhai --key k --allow exec --sibyl-addr $S";
    let mut starting = stage.start(start);
    let effects = ["one", "two", "three"];
    stage.until("all are under way", |stage| effects.iter().all(|it| stage.n_lines(it) == 1));
    stage.kill_worker();
    stage.work();
    // They are lost, but their programs live: nobody is asked and nothing is done again.
    stage.until("they are looked after", |stage| {
        let described = stage.server_says(&["workflow", "list", "-o", "json"]);
        let listed: serde_json::Value = serde_json::from_str(&described).expect("it is JSON");
        let workflow = listed[0]["execution"]["workflowId"].as_str().expect("it runs").to_owned();
        stage
            .server_says(&["workflow", "show", "-w", &workflow, "-o", "json"])
            .contains("agentic.probe")
    });
    assert!(stage.ends("agentic pending", 0).is_empty());
    stage.write(&[("go", "")]);
    starting.wait().expect("it is ours");
    let pending = stage.json("agentic pending --json");
    assert_eq!(pending.as_array().map(Vec::len), Some(1), "{pending:#}");
    assert_eq!(pending[0]["reason"], "in-doubt");
    let request = pending[0]["request"].as_str().expect("it has an id");
    let gives = "'{\"status\":0,\"stdout\":\"told\",\"stderr\":\"\"}'";
    stage.ends(&format!("agentic decide {request} respond --value {gives} --as user:ada"), 0);
    stage.ends(start, 0);
    let shown = stage.json("agentic session show alice --json");
    assert_eq!(shown["result"], json!(["probed", "ran", "told"]), "{shown:#}");
    assert_eq!(effects.map(|it| stage.n_lines(it)), [1, 2, 1]);
    stage.ends("agentic session verify alice --rebuild", 0);
}
