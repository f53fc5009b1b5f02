//! The same programs on both engines, under a clock that moves only as far as they wait.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use agentic_testkit::ProgramEnding;
use serde_json::Value as Json;

use crate::stage::{Stage, errors};

/// At least so many programs are compared, of all four languages.
const N_PROGRAMS: usize = 60;
/// How many public programs of AgentLang and of the context language are taken.
const N_PUBLIC: [usize; 2] = [30, 16];
/// How many are compared at once.
const N_AT_ONCE: usize = 3;

/// Scripts.
const SCRIPTS: [&str; 12] = [
    "let n = 0; for i in 0..20 { n += exec(\"exit \" + i).status; } n",
    "all([|| exec(\"echo 1\").stdout, || exec(\"echo 2\").stdout, || exec(\"echo 3\").status])",
    "any([|| { sleep(40); \"late\" }, || { sleep(5); \"soon\" }])",
    "commit(#{message: \"One\", files: #{\"a.txt\": \"1\"}}); commit(#{message: \"Two\"}).parent",
    "sleep(10); let at = now(); sleep(10); commit(#{message: \"After \" + (now() - at)}); now() - at",
    "try { commit(#{}) } catch (e) { e.message }",
    "spawn(#{name: \"kid\", briefing: \"b\", flow: \"commit(#{message: \\\"Kid\\\"}); input * 2\", input: 21})",
    "map([1, 2, 3, 4], |n| exec(\"echo \" + n).stdout)",
    "[random(), random()]",
    "hold(\"Which?\", #{choices: [\"a\", \"b\"]})",
    "let n = if input == () { 0 } else { input }; if n > 2 { return n; } continue_with(n + 1)",
    "throw \"it fails\"",
];

/// Pipelines.
const PIPELINES: [&str; 6] = [
    "temporal static ( echo \"a\" >=> upper )\n",
    "temporal static ( (echo \"a\" <*> echo \"b\") >=> upper )\n",
    "temporal static ( echo \"a\" >=> hold \"go?\" >=> upper )\n",
    "temporal static ( echo \"one\" >=> upper )\ntemporal static ( echo \"two\" )\n",
    "temporal static ( (echo \"a\" <*> (echo \"b\" >=> upper) <*> echo \"c\") )\n",
    "temporal static ( echo \"a\" >=> upper >=> upper >=> upper )\n",
];

/// A program, and what is said beside its file.
struct CheckedProgram {
    file: PathBuf,
    arguments: String,
}

/// Reads a file of JSON.
fn json_of(path: &Path) -> Json {
    let text = std::fs::read_to_string(path).expect("the suites of conformance are here");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Lists what a folder has, in order.
fn entries(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let read = std::fs::read_dir(root.join(folder)).expect("the suites of conformance are here");
    let mut entries: Vec<PathBuf> = read.map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    entries
}

/// Lists the programs that are compared.
fn programs(stage: &Stage) -> Vec<CheckedProgram> {
    let mut programs = Vec::new();
    let sources = SCRIPTS.iter().map(|text| ("rhai", text));
    let sources = sources.chain(PIPELINES.iter().map(|text| ("as", text)));
    for (n, (extension, text)) in sources.enumerate() {
        let file = stage.sandbox.start().join(format!("own-{n}.{extension}"));
        std::fs::write(&file, text).expect("the sandbox is writable");
        programs.push(CheckedProgram { file, arguments: String::new() });
    }
    let agents = entries("agentlang/public").into_iter().filter_map(|file| {
        let is_right = !file.file_name()?.to_string_lossy().starts_with("err_");
        if !is_right || file.extension()? != "agent" {
            return None;
        }
        let asked = json_of(&file.with_extension("args.json"));
        let pipeline = asked["pipeline"].as_str().filter(|_| asked["mode"] == "run")?.to_owned();
        let arguments = format!("{pipeline} --input '{}'", asked["inputs"]);
        (!arguments[..arguments.len() - 1].contains("''"))
            .then_some(CheckedProgram { file, arguments })
    });
    programs.extend(agents.take(N_PUBLIC[0]));
    let contexts = entries("context/public").into_iter().filter_map(|folder| {
        let case = folder.join("case.json");
        let asked = case.exists().then(|| json_of(&case))?;
        let is_plain = asked["llm"] == "mock" && asked["expect"].get("error").is_none();
        let arguments = format!("--input '{}'", asked["input"]);
        is_plain.then(|| CheckedProgram { file: folder.join("main.as"), arguments })
    });
    programs.extend(contexts.take(N_PUBLIC[1]));
    programs
}

#[test]
fn programs_of_four_languages_ask_and_give_the_same_on_both_engines() {
    let stage = Stage::new();
    let programs = programs(&stage);
    assert!(programs.len() >= N_PROGRAMS, "{}", programs.len());
    let left = Mutex::new(programs.iter());
    let failed: Mutex<Vec<String>> = Mutex::default();
    let check = || {
        loop {
            let next = left.lock().expect("nobody panics").next();
            let Some(CheckedProgram { file, arguments }) = next else { return };
            let file = file.display();
            let line = format!("agentic flow crosscheck {file} {arguments} --sibyl-addr $S");
            let said = stage.say(&line);
            if said.ending != ProgramEnding::Exit(0) {
                let told = String::from_utf8_lossy(&said.stdout).into_owned();
                let mut failed = failed.lock().expect("nobody panics");
                failed.push(format!("{line}\n{told}{}", errors(&said)));
            }
        }
    };
    std::thread::scope(|scope| (0..N_AT_ONCE).for_each(|_| drop(scope.spawn(check))));
    let failed = failed.into_inner().expect("nobody panics");
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), programs.len(), failed.join("\n"));
}
