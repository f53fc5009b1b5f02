//! How a server is found and spoken to, and what keeps it from that.

use std::net::TcpListener;

use agentic_testkit::ProgramEnding;

use crate::guarded::{GuardedServer, KEY};
use crate::stage::{Stage, errors};

/// Runs a line that must end so; returns what it complained of.
fn complaint(stage: &Stage, line: &str, code: i32) -> String {
    let finished = stage.say(line);
    assert_eq!(finished.ending, ProgramEnding::Exit(code), "{line}: {}", errors(&finished));
    errors(&finished)
}

/// Says of which engine the sessions of the repository are.
fn n_sessions(stage: &Stage) -> usize {
    stage.json("agentic session list --json").as_array().map_or(0, Vec::len)
}

#[test]
fn a_run_goes_through_tls_with_a_key_and_a_certificate() {
    let mut stage = Stage::without_worker();
    let guarded = GuardedServer::before(&stage.server, &stage.sandbox.root().join("tls"));
    let file = stage.sandbox.start().join("agentic.toml");
    let write = |text: String| std::fs::write(&file, text).expect("the sandbox is writable");
    write(guarded.table("ca", &guarded.identity()));
    stage.work_with(&[], &[("KEY", KEY)]);
    let with_key = format!("KEY={KEY} agentic");
    let run = "flow run plain.as --run-id k";
    assert_eq!(stage.ends(&format!("{with_key} {run}"), 0), "A\n");
    assert!(stage.ends(&format!("{with_key} flow status k"), 0).contains("done"));

    // Without the right key, a certificate of ours, or a certificate that we trust nothing begins.
    let run = "flow run plain.as --run-id other";
    let said = complaint(&stage, &format!("agentic {run}"), 2);
    assert!(said.contains("`KEY`, which is not set"), "{said}");
    let said = complaint(&stage, &format!("KEY=nosecret agentic {run}"), 9);
    assert!(said.contains("does not accept the key") && !said.contains("nosecret"), "{said}");
    write(guarded.table("ca", ""));
    let said = complaint(&stage, &format!("{with_key} {run}"), 11);
    // What the server says of that may be lost, for it breaks off as soon as it has said so.
    let is_told = ["wants a certificate of ours", "broke the connection off"];
    assert!(is_told.iter().any(|told| said.contains(told)), "{said}");
    write(guarded.table("other", &guarded.identity()));
    let said = complaint(&stage, &format!("{with_key} {run}"), 11);
    assert!(said.contains("from nobody who is trusted"), "{said}");
    assert_eq!(n_sessions(&stage), 1);
}

#[test]
fn the_variables_of_the_tools_of_temporal_count() {
    let mut stage = Stage::without_worker();
    let guarded = GuardedServer::before(&stage.server, &stage.sandbox.root().join("tls"));
    let (address, folder) = (guarded.address(), stage.sandbox.root().join("tls"));
    let folder = folder.display();
    let variables = format!(
        "TEMPORAL_ADDRESS={address} TEMPORAL_API_KEY={KEY} TEMPORAL_TLS_SERVER_NAME={} \
         TEMPORAL_TLS_SERVER_CA_CERT_PATH={folder}/ca.pem \
         TEMPORAL_TLS_CLIENT_CERT_PATH={folder}/client.pem \
         TEMPORAL_TLS_CLIENT_KEY_DATA=\"$(cat {folder}/client.key)\"",
        crate::guarded::NAME
    );
    let direct = stage.server.address();
    stage.work_with(&["--sibyl-addr", &direct], &[]);
    assert_eq!(stage.ends(&format!("{variables} agentic flow run plain.as --run-id k"), 0), "A\n");
    // The embedded engine is still there for whoever asks for it.
    let here = "agentic flow run plain.as --run-id here --sibyl-addr local:";
    assert_eq!(stage.ends(&format!("{variables} {here}"), 0), "A\n");
    let said = complaint(
        &stage,
        &format!(
            "{variables} TEMPORAL_TLS_DISABLE_HOST_VERIFICATION=true agentic flow run plain.as"
        ),
        2,
    );
    assert!(said.contains("DISABLE_HOST_VERIFICATION"), "{said}");
}

#[test]
fn a_committed_file_sends_nothing_anywhere() {
    let stage = Stage::without_worker();
    let guarded = GuardedServer::before(&stage.server, &stage.sandbox.root().join("tls"));
    let file = stage.sandbox.start().join("agentic.toml");
    std::fs::write(&file, guarded.table("ca", &guarded.identity())).expect("writable");
    stage.ends("git add agentic.toml && git commit -qm configuration", 0);
    // Its address is not the user's: the run stays here.
    let run = format!("KEY={KEY} agentic flow run plain.as --run-id");
    assert_eq!(stage.ends(&format!("{run} here"), 0), "A\n");
    // Where the user names the same one, the keys and the trust are still not the file's.
    let address = guarded.address();
    let said = complaint(&stage, &format!("{run} there --sibyl-addr {address}"), 11);
    assert!(said.contains("no server answers"), "{said}");
    assert_eq!(n_sessions(&stage), 1);
}

#[test]
fn what_keeps_a_server_from_being_reached_is_told_and_leaves_nothing() {
    let stage = Stage::without_worker();
    let run = "agentic flow run plain.as --run-id k --sibyl-addr";
    let said = complaint(&stage, &format!("{run} 127.0.0.1:1"), 11);
    assert!(said.contains("nobody listens there"), "{said}");
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
    let address = silent.local_addr().expect("it listens");
    let said = complaint(&stage, &format!("{run} {address}"), 11);
    assert!(said.contains("it does not answer"), "{said}");
    let there = format!("temporal://{}/nowhere", stage.server.address());
    let said = complaint(&stage, &format!("{run} {there}"), 11);
    assert!(said.contains("has no namespace `nowhere`"), "{said}");
    assert_eq!(n_sessions(&stage), 0);
    assert_eq!(stage.ends("agentic agents", 0), "");
}

#[test]
fn what_a_key_may_not_do_is_told_and_the_same_succeeds_once_it_may() {
    let mut stage = Stage::new();
    let folder = stage.sandbox.root().join("tls");
    let file = stage.sandbox.start().join("agentic.toml");
    let write = |guarded: &GuardedServer| {
        let text = guarded.table("ca", &guarded.identity());
        std::fs::write(&file, text).expect("the sandbox is writable");
    };
    let with_key = format!("KEY={KEY} agentic");
    let guarded = GuardedServer::without(&stage.server, &folder, "StartWorkflowExecution");
    write(&guarded);
    let run = format!("{with_key} flow run asking.as --run-id k");
    let said = complaint(&stage, &run, 9);
    assert!(said.contains("does not let us start the run"), "{said}");
    assert_eq!(n_sessions(&stage), 0, "nothing is left of it");
    drop(guarded);

    // It has another port now: the same server, of which another key may do more.
    let guarded = GuardedServer::without(&stage.server, &folder, "UpdateWorkflowExecution");
    write(&guarded);
    stage.ends(&run, 4);
    let decide = format!("{with_key} decide k --choice accept --as user:ada");
    let said = complaint(&stage, &decide, 9);
    assert!(said.contains("does not let us take the decision"), "{said}");
    assert_eq!(stage.json("agentic pending --json").as_array().map(Vec::len), Some(1));
    assert_eq!(stage.ends("git log --format=%s agents/run-k | grep -c Approve || true", 0), "0\n");
    stage.kill_worker();
}
