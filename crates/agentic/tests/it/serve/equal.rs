//! One decision made from the page and by the command at the same instant: the same commit, but for what
//! says through what it came and what was shown.

use super::decision::with;
use super::*;

/// When everything happens.
const NOW: &str = "2026-11-21T22:40:01Z";
/// What only the page says, or says otherwise.
const OWN_FIELDS: [&str; 5] = ["authn", "client", "renderer", "shown", "shown_at"];

/// A repository in which time stands still.
struct StillPlace {
    sandbox: Sandbox,
}

impl StillPlace {
    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = self.sandbox.command("agentic", self.sandbox.start());
        command.args(arguments).env("AGENTIC_NOW", NOW).stdin(Stdio::null());
        command
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 4)), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn json(&self, arguments: &[&str]) -> Json {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).expect("JSON")
    }

    /// Returns the decision, without what only the page says, and what git has of it.
    fn decision(&self) -> (Json, BTreeMap<String, Json>, String) {
        let mut commit = self.json(&["log", "alice", "--kind", "decision"])[0].take();
        let id = commit["commit"].take();
        let fields = commit["fields"].take();
        let fields = fields.as_object().expect("fields").clone().into_iter();
        let (own, shared): (BTreeMap<_, _>, BTreeMap<_, _>) =
            fields.partition(|(name, _)| OWN_FIELDS.contains(&name.as_str()));
        let format = "--format=%T%n%P%n%an <%ae> %at%n%cn <%ce> %ct%n%s";
        let id = id.as_str().expect("an id");
        let shown = ["show", "--no-patch", format, id];
        let shown = self.sandbox.git(self.sandbox.start(), &shown).expect("git works");
        commit["fields"] = shared.into_iter().collect();
        (commit, own, shown)
    }
}

/// Asks, and answers once from the page and once by the command.
fn check(flow: &str, form: &[(&str, &str)], command: &[&str]) {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let place = StillPlace { sandbox };
    std::fs::write(place.sandbox.start().join("ask.rhai"), flow).expect("writable");
    place.ok(&["spawn", "alice", "-m", "x"]);
    place.ok(&["session", "start", "alice", "--flow", "ask.rhai", "--key", "one"]);
    let request = place.json(&["pending"])[0]["request"].as_str().expect("one").to_owned();
    place.sandbox.save("asked").expect("writable");

    place.ok(&[&["decide", &request], command, &["-m", "looked"]].concat());
    let (by_command, command_says, in_git) = place.decision();
    place.sandbox.restore("asked").expect("writable");

    let mut serve = place.command(&["serve"]);
    let serve = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let process = await_answer(&place.sandbox, place.sandbox.start(), serve).expect("it ended");
    let served = Served::of(place.sandbox, process);
    let cookie = served.log_in();
    let shown = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let sent = with(&with(&shown, form), &[("reason", "looked")]);
    let mut answered = served.send_form(&cookie, &request, &sent);
    if answered.status == 200 {
        // An edit is shown before it decides.
        let confirm = fields(&answered.body).into_iter();
        let confirm = confirm.map(|(name, value)| (name, value.replace("&quot;", "\"")));
        answered = served.send_form(&cookie, &request, &confirm.collect());
    }
    assert_eq!(answered.status, 303, "{}", answered.body);
    served.ok(&["serve", "stop"]);
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    let mut served = served;
    let place = StillPlace { sandbox: std::mem::replace(&mut served.sandbox, sandbox) };
    let (by_page, page_says, in_git_too) = place.decision();
    assert_eq!(by_page, by_command);
    assert_eq!(in_git_too, in_git);
    assert_eq!(
        (&page_says["client"], &page_says["shown"]),
        (&"web".into(), &shown["shown"].as_str().into())
    );
    assert_ne!(page_says.get("client"), command_says.get("client"));
    assert_eq!(page_says.get("authn"), command_says.get("authn"), "the login is this user's own");
}

#[test]
fn an_approval_from_the_page_is_that_of_the_command_but_for_named_fields() {
    check(r#"hold("Deploy?").action"#, &[("action", "approve")], &["approve"]);
}

#[test]
fn an_edit_from_the_page_is_that_of_the_command_but_for_named_fields() {
    let flow = r#"hold("Deploy?", #{ payload: #{ replicas: 2 } }).value"#;
    let form = [("action", "edit"), ("value", "{\"replicas\": 5}")];
    check(flow, &form, &["edit", "--value", "{\"replicas\": 5}"]);
}

#[test]
fn a_rejection_from_the_page_is_that_of_the_command_but_for_named_fields() {
    check(r#"hold("Deploy?").action"#, &[("action", "reject")], &["reject"]);
}
