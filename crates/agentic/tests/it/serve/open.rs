//! How somebody is let in: what commands print for people and programs, and what they say where no
//! browser opens.

use super::schema::check_schema;
use super::*;

#[test]
fn a_program_that_fails_to_open_a_browser_is_told_of() {
    let served = Served::new();
    let opener = served.sandbox.root().join("opener");
    for (script, is_told) in [("#!/bin/sh\nexit 3\n", true), ("#!/bin/sh\n", false)] {
        std::fs::write(&opener, script).expect("writable");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&opener, mode).expect("it is ours");
        let mut open = served.sandbox.command("agentic", served.sandbox.start());
        let open = open.args(["serve", "open"]).env("BROWSER", &opener).stdin(Stdio::null());
        let output = open.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.contains("warning: no browser could be opened"), is_told, "{said}");
        assert_eq!(printed.contains("/login#"), is_told, "{printed}");
    }
}

#[test]
fn what_lets_somebody_in_is_printed_as_json_too() {
    let served = Served::new();
    let json = |arguments: &[&str]| -> Json {
        let whole = [arguments, &["--json"]].concat();
        serde_json::from_str(&served.ok(&whole)).expect("JSON")
    };
    let opened = json(&["serve", "open", "--print"]);
    check_schema("serve-address", &opened);
    let address = opened["address"].as_str().expect("text");
    assert!(address.starts_with(&format!("http://{}/login#", served.host)), "{address}");
    served.ok(&["spawn", "alice", "-m", "x"]);
    let token = json(&["serve", "token", "editor", "--agent", "alice", "--read-only"]);
    check_schema("serve-token", &token);
    assert_eq!((&token["name"], &token["agent"]), (&"editor".into(), &"alice".into()));
    assert_eq!(token["read_only"], true);
    assert!(token["token"].as_str().is_some_and(|token| token.starts_with("agentic_")), "{token}");
    let nobodys = json(&["serve", "token", "other"]);
    check_schema("serve-token", &nobodys);
    assert!(nobodys.get("agent").is_none() && nobodys["read_only"] == false, "{nobodys}");
}

#[test]
fn a_process_that_cannot_open_a_browser_says_the_address_that_logs_in() {
    for (script, is_told) in
        [(Some("#!/bin/sh\nexit 3\n"), true), (None, true), (Some("#!/bin/sh\n"), false)]
    {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        // Without a script there is no such program at all.
        let opener = sandbox.root().join("opener");
        if let Some(script) = script {
            std::fs::write(&opener, script).expect("writable");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(&opener, mode).expect("it is ours");
        }
        let told = sandbox.root().join("told");
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(["serve", "--open"]).env("BROWSER", &opener).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&told).expect("writable"));
        let process = command.spawn().expect("it starts");
        let process = await_answer(&sandbox, sandbox.start(), process).expect("it ended");
        let said = || std::fs::read_to_string(&told).expect("readable");
        let begun = Instant::now();
        while is_told && !said().contains("/login#") {
            assert!(begun.elapsed() < PATIENCE, "{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        let served = Served::of(sandbox, process);
        served.ok(&["serve", "stop"]);
        let said = said();
        assert_eq!(said.contains("warning: no browser could be opened"), is_told, "{said}");
        assert_eq!(said.matches("/login#").count(), usize::from(is_told), "{said}");
    }
}

#[test]
fn no_address_that_logs_in_stands_in_a_log() {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(["serve", "--detach", "--open"]).env("BROWSER", "/nowhere/browser");
    assert!(command.stdin(Stdio::null()).output().expect("it runs").status.success());
    let log = sandbox.start().join(".git/agentic/serve/log");
    let begun = Instant::now();
    let said = loop {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        if said.contains("agentic serve open --print") {
            break said;
        }
        assert!(begun.elapsed() < PATIENCE, "{said}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(!said.contains("/login#"), "{said}");
    assert!(run(&sandbox, sandbox.start(), &["serve", "stop"]).status.success());
}
