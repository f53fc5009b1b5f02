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
