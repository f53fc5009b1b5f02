//! Who performs what: the queue of the repository, and those that need none.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agentic_testkit::{ProgramEnding, run};
use serde_json::Value as Json;

use crate::endpoint::MeetingEndpoint;
use crate::stage::{Stage, errors};

/// How long is waited for what comes by itself.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is planted as keys.
const KEYS: [&str; 2] = ["planted-8d1f-one", "planted-8d1f-two"];

/// A worker, which ends with its test.
struct ApartWorker(Child);

impl ApartWorker {
    /// Starts one in a folder without a repository.
    fn begin(stage: &Stage, folder: &Path, key: &str) -> ApartWorker {
        ApartWorker::of(stage, folder, &["--concurrency", "1"], key)
    }

    /// Starts one with these arguments.
    fn of(stage: &Stage, folder: &Path, arguments: &[&str], key: &str) -> ApartWorker {
        std::fs::create_dir_all(folder).expect("the sandbox is writable");
        let mut command = stage.sandbox.command("agentic", folder);
        let address = stage.server.address();
        command.args(["flow", "worker", "--sibyl-addr", &address]).args(arguments);
        let silent = command.env("TOKEN", key).stdin(Stdio::null()).stdout(Stdio::null());
        ApartWorker(silent.stderr(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for ApartWorker {
    fn drop(&mut self) {
        let _it_may_have_ended = self.0.kill();
        let _it_may_have_ended = self.0.wait();
    }
}

/// Writes the agents `one` and `two`, who are an endpoint that wants a key.
fn write_agents(stage: &Stage, endpoint: &MeetingEndpoint) {
    let url = endpoint.url();
    let agent = |name: &str| {
        format!(
            r#"{{"name":"{name}","agent":"t/{name}","backends":["temporal"],"retry":{{"max_attempts":1}},"auth":{{"kind":"env","var":"TOKEN"}},"run":{{"http":"{url}"}}}}"#
        )
    };
    let text = format!("{{\"builtins\":[{},{}]}}", agent("one"), agent("two"));
    std::fs::write(stage.sandbox.start().join("r.json"), text).expect("writable");
    let program = "temporal static ( ( one <*> two ) >=> concat \"-\" >=> upper )\n";
    std::fs::write(stage.sandbox.start().join("both.as"), program).expect("writable");
}

/// Starts a run that nobody works on yet, and returns the id of the repository.
fn begin(stage: &Stage) -> String {
    let run = "agentic flow run both.as --registry r.json --sibyl-addr $S --run-id k --detach";
    stage.ends(run, 0);
    let space = std::fs::read(stage.sandbox.start().join(".git/agentic/space"));
    let space: Json = serde_json::from_slice(&space.expect("it is made")).expect("it is JSON");
    space["id"].as_str().expect("it has an id").to_owned()
}

/// Looks through everything that the server has kept, and what it exports of a run.
fn kept(stage: &Stage, session: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = stage.sandbox.root().join("server");
    let mut command = Command::new(Stage::program());
    let address = stage.server.address();
    command.args(["workflow", "show", "--address", &address, "-w", session, "--output", "json"]);
    command.env("HOME", &folder).args(["--disable-config-file", "--disable-config-env"]);
    let shown = run(command, b"", PATIENCE).expect("it runs");
    assert!(!shown.stdout.is_empty(), "{}", errors(&shown));
    let mut all = vec![(PathBuf::from("history"), shown.stdout)];
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it is readable").path();
        if path.is_file() {
            all.push((path.clone(), std::fs::read(path).expect("it is readable")));
        }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn two_workers_without_a_repository_and_its_owner_do_one_run_together() {
    let mut stage = Stage::without_worker();
    // Each performs one thing at a time: that both calls are there at once takes both workers.
    let endpoint = MeetingEndpoint::of(2, "200 OK", "\"said KEY\"");
    write_agents(&stage, &endpoint);
    let queue = format!("agentic/{}", begin(&stage));
    let address = stage.server.address();
    stage.work_with(&["--sibyl-addr", &address, "--queue", &queue], &[]);
    let apart = stage.sandbox.root().join("apart");
    let _workers = KEYS.map(|key| ApartWorker::begin(&stage, &apart.join(key), key));
    let run = "agentic flow run both.as --registry r.json --sibyl-addr $S --run-id k";
    let said = stage.ends(run, 0);
    assert_eq!(said.matches("SAID").count(), 2, "{said}");
    assert_eq!(endpoint.keys(), KEYS);
    stage.ends("agentic session verify run-k", 0);

    // No key stands in what the server keeps, and the search does find what stands there.
    let session = stage.json("agentic session show run-k --json")["session"].clone();
    let kept = kept(&stage, session.as_str().expect("it has an id"));
    assert!(kept.iter().any(|(path, _)| path.ends_with("temporal.db-wal")));
    assert!(kept.iter().any(|(_, bytes)| holds(bytes, "t/one")));
    for (path, bytes) in &kept {
        assert!(!holds(bytes, "planted-8d1f"), "{}", path.display());
        assert!(!holds(bytes, "PLANTED-8D1F"), "{}", path.display());
    }
}

#[test]
fn what_fails_with_a_key_in_its_words_keeps_none() {
    let mut stage = Stage::without_worker();
    let endpoint = MeetingEndpoint::of(1, "500 Broken", "the key KEY is bad");
    write_agents(&stage, &endpoint);
    stage.work_with(&["--sibyl-addr", &stage.server.address()], &[("TOKEN", KEYS[0])]);
    let run = "agentic flow run both.as --registry r.json --sibyl-addr $S --run-id k";
    let said = stage.say(run);
    assert_eq!(said.ending, ProgramEnding::Exit(1), "{}", errors(&said));
    assert!(!errors(&said).contains(KEYS[0]), "{}", errors(&said));
    let session = stage.json("agentic session show run-k --json")["session"].clone();
    for (path, bytes) in kept(&stage, session.as_str().expect("it has an id")) {
        assert!(!holds(&bytes, KEYS[0]), "{}", path.display());
    }
}

#[test]
fn a_queue_that_needs_a_repository_is_served_in_that_alone() {
    let stage = Stage::without_worker();
    let worker = "agentic flow worker --sibyl-addr $S --queue";
    for folder in [".", "/tmp"] {
        let finished = stage.say(&format!("cd {folder} && {worker} agentic/other"));
        assert_eq!(finished.ending, ProgramEnding::Exit(1), "{}", errors(&finished));
        assert!(errors(&finished).contains("needs the repository"), "{}", errors(&finished));
    }
    stage.ends("agentic flow worker --queue mine", 2);
}

#[test]
fn a_worker_that_is_missing_is_named() {
    let mut stage = Stage::without_worker();
    let endpoint = MeetingEndpoint::of(2, "200 OK", "\"x\"");
    write_agents(&stage, &endpoint);
    let queue = format!("agentic/{}", begin(&stage));
    await_status(&stage, &format!("waiting for a worker of queue {queue}"));
    stage.work_with(&["--sibyl-addr", &stage.server.address(), "--queue", &queue], &[]);
    await_status(&stage, "waiting for a worker of queue agentic\n");
}

#[test]
fn an_agent_may_have_a_queue_of_its_own() {
    let mut stage = Stage::without_worker();
    let endpoint = MeetingEndpoint::of(1, "200 OK", "\"x\"");
    write_agents(&stage, &endpoint);
    let address = stage.server.address();
    let table = format!(
        "[temporal]\naddress = \"{address}\"\nweb = \"https://web.example\"\n[temporal.queues]\n\"t/one\" = \"gpu\"\n"
    );
    std::fs::write(stage.sandbox.start().join("agentic.toml"), table).expect("writable");
    let started =
        stage.json("agentic flow run both.as --registry r.json --run-id k --detach --json");
    let session = started["session"].as_str().expect("it has an id");
    let page = format!("https://web.example/namespaces/default/workflows/{session}");
    assert_eq!(started["page"], page);
    stage.work_with(&[], &[("TOKEN", KEYS[0])]);
    await_status(&stage, "waiting for a worker of queue gpu\n");
    let apart = stage.sandbox.root().join("apart");
    let _worker = ApartWorker::of(&stage, &apart, &["--queue", "gpu"], KEYS[1]);
    stage.ends("agentic flow run both.as --registry r.json --run-id k", 0);
    assert_eq!(endpoint.keys(), KEYS, "each was called by its own worker");
}

/// Waits until the status of the run has these words.
fn await_status(stage: &Stage, words: &str) {
    let begun = Instant::now();
    loop {
        let said = stage.ends("agentic flow status k", 0);
        if said.contains(words) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{said}");
    }
}

#[test]
fn a_worker_that_is_told_to_stop_lets_end_what_is_under_way() {
    let mut stage = Stage::new();
    let start = stage.sandbox.start().to_owned();
    let write = |name: &str, text: &str| std::fs::write(start.join(name), text).expect("writable");
    write(
        "slow",
        "#!/bin/sh\necho x >>ran\nwhile ! test -e go; do sleep 0.05; done\necho '\"did\"'\n",
    );
    write("slow.as", "temporal static ( slow >=> upper )\n");
    write(
        "r.json",
        r#"{"builtins":[{"name":"slow","agent":"t/slow","backends":["temporal"],"run":{"exec":["./slow"]}}]}"#,
    );
    stage.ends("chmod +x slow && git add slow && git commit -qm slow", 0);
    let run = "agentic flow run slow.as --registry r.json --run-id k --sibyl-addr $S";
    stage.ends(&format!("{run} --detach"), 0);
    let folder = worked_in(&stage);
    let pid = stage.worker.as_ref().expect("one works").id();
    stage.ends(&format!("kill -TERM {pid}"), 0);
    std::fs::write(folder.join("go"), "").expect("writable");
    let ended = stage.worker.take().expect("one worked").wait().expect("it is ours");
    assert_eq!(ended.code(), Some(0));
    stage.work();
    assert_eq!(stage.ends(run, 0), "DID\n");
    assert_eq!(std::fs::read(folder.join("ran")).expect("it ran"), b"x\n");
}

/// Waits until the slow program runs somewhere in the sandbox, and returns where.
fn worked_in(stage: &Stage) -> PathBuf {
    let begun = Instant::now();
    loop {
        let found = stage.ends("find \"$HOME/..\" -name ran | head -1", 0);
        if let Some(folder) = Path::new(found.trim()).parent().filter(|_| !found.trim().is_empty())
        {
            return folder.to_owned();
        }
        assert!(begun.elapsed() < PATIENCE, "it does not begin");
    }
}

#[test]
fn a_worker_that_is_told_to_stop_ends_cleanly_and_the_next_goes_on() {
    let mut stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    let pid = stage.worker.as_ref().expect("one works").id();
    stage.ends(&format!("kill -TERM {pid}"), 0);
    let ended = stage.worker.take().expect("one worked").wait().expect("it is ours");
    assert_eq!(ended.code(), Some(0));
    stage.work();
    stage.ends("agentic decide k --choice accept --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k", 0), "A\n");
}
