//! The server killed at any moment, under writers: no command notices, and the next start is whole.

use std::collections::BTreeMap;

use super::decision::with;
use super::*;

/// How many processes write at the same time.
const N_WRITERS: usize = 16;
/// How often the server is killed, unless `AGENTIC_TEST_KILLS` asks for more.
const KILLS: usize = 8;
/// How long a server lives at most, in milliseconds.
const LIFE_MS: u64 = 600;
/// What a writer does: each commit that was acknowledged is a line of its ledger, and each command that
/// failed is one too.
const WORK: &str = r#"
round=0
while [ ! -e "$STOP" ]; do
    round=$((round + 1))
    agentic trace add "word-$AGENTIC_AGENT-$round" || echo "failed trace add" >> "$LEDGER"
    oid=$(agentic commit -m "A $round" --allow-empty --trace) || echo "failed commit" >> "$LEDGER"
    echo "$AGENTIC_AGENT $oid" >> "$LEDGER"
done
"#;

#[test]
fn a_server_killed_at_any_moment_is_missed_by_no_command_and_comes_back_whole() {
    let kills = std::env::var("AGENTIC_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let start = sandbox.start().to_owned();
    let (stop, ledger) = (sandbox.root().join("stop"), sandbox.root().join("ledger"));
    let agents: Vec<String> = (0..N_WRITERS).map(|number| format!("w{number}")).collect();
    for agent in &agents {
        ok(&sandbox, &start, &["spawn", agent, "-m", "x"]);
    }
    let mut writers: Vec<Child> = agents
        .iter()
        .map(|agent| {
            let mut writer = sandbox.command("bash", &start);
            writer.args(["-c", WORK]).env("STOP", &stop).env("LEDGER", &ledger);
            writer.env("AGENTIC_AGENT", agent);
            writer.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            writer.spawn().expect("it starts")
        })
        .collect();
    let mut random = 7_u64;
    for _ in 0..kills.unwrap_or(KILLS) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut serve = sandbox.command("agentic", &start);
        serve.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = serve.spawn().expect("it starts");
        // In its start or long after it.
        std::thread::sleep(Duration::from_millis((random >> 33) % LIFE_MS));
        server.kill().expect("it runs");
        assert_eq!(server.wait().expect("a child").signal(), Some(9), "it did not end by itself");
    }
    std::fs::write(&stop, "").expect("writable");
    for writer in &mut writers {
        writer.wait().expect("a child");
    }
    let server = begin(&sandbox, &start, &[]);
    let served = Served::of(sandbox, server);
    let ledger = std::fs::read_to_string(&ledger).expect("they wrote");
    assert!(!ledger.contains("failed"), "a command noticed");
    let mut acknowledged: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in ledger.lines() {
        let (agent, oid) = line.split_once(' ').expect("two words");
        acknowledged.entry(agent).or_default().push(oid);
    }
    println!("{} commits were acknowledged", acknowledged.values().map(Vec::len).sum::<usize>());
    let cookie = served.log_in();
    for (agent, oids) in acknowledged {
        let path = format!("/api/v1/agents/{agent}/log?limit=500");
        let shown = served.ask("GET", &path, &[("Cookie", &cookie)], "").body;
        let shown: Json = serde_json::from_str(&shown).expect("JSON");
        let log: Json = serde_json::from_str(&served.ok(&["log", agent, "--json"])).expect("JSON");
        assert_eq!(shown["items"], log, "{agent}");
        let log = log.as_array().expect("commits");
        assert!(oids.iter().all(|oid| log.iter().any(|one| one["commit"] == *oid)), "{agent}");
        await_hit(&served, &cookie, agent);
    }
    let fsck = ["fsck", "--strict", "--no-dangling", "--no-progress"];
    assert_eq!(served.sandbox.git(&start, &fsck).expect("it is sound"), "");
}

/// Waits until the index has an agent's first words.
fn await_hit(served: &Served, cookie: &str, agent: &str) {
    let begun = Instant::now();
    let path = format!("/api/v1/search?q=word-{agent}-1");
    while !served.ask("GET", &path, &[("Cookie", cookie)], "").body.contains("\"in\":\"trace\"") {
        assert!(begun.elapsed() < PATIENCE, "{agent} is not found");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the processes whose parent a process was, by their numbers.
fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task");
    let tasks = std::fs::read_dir(path).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split(' ').filter_map(|one| one.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

#[test]
fn a_worker_does_not_outlive_the_server_that_keeps_it() {
    let mut served = Served::with(&["--drive"]);
    let begun = Instant::now();
    let worker = loop {
        if let [worker, ..] = children(served.process.id())[..] {
            break worker;
        }
        assert!(begun.elapsed() < PATIENCE, "nobody drives");
        std::thread::sleep(Duration::from_millis(20));
    };
    served.process.kill().expect("it runs");
    served.process.wait().expect("a child");
    let is_there = || {
        let status = std::fs::read_to_string(format!("/proc/{worker}/status"));
        status.is_ok_and(|status| !status.contains("State:\tZ"))
    };
    let killed = Instant::now();
    while is_there() {
        assert!(killed.elapsed() < Duration::from_secs(10), "process {worker} drives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_session_goes_on_after_a_decision_although_the_server_is_killed_at_once() {
    let mut served = Served::new();
    let flow = "let said = hold(\"Go?\").action; for n in 0..20 { now(); } said";
    let request = served.ask_by("alice", flow);
    let cookie = served.log_in();
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let decided = served.send_form(&cookie, &request, &with(&form, &[("action", "approve")]));
    served.process.kill().expect("it runs");
    served.process.wait().expect("a child");
    assert_eq!(decided.status, 303, "{}", decided.body);
    let begun = Instant::now();
    // Nobody drives it but the process that the server began before it answered.
    while !served.ok(&["session", "list"]).contains("done") {
        assert!(begun.elapsed() < PATIENCE, "nobody went on with it");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(served.decisions("alice").len(), 1);
}
