//! Gates: what is asked, what a decision lets run, and how often.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_capture::gate::{
    CallingAgent, Deferral, Gate, GateError, GateOutcome, GateQuestion, GateRequest, GateVerdict,
    GatedCall, HoldRules, LeafRedaction, gate_reply, note_passed_by,
};
use agentic_capture::{ConversationId, Source};
use agentic_model::{AgentName, Briefing, Instant, Value, json};
use agentic_session::decide::{Action, ApprovalScope, COMMAND_LINE, DecisionDraft, decide};
use agentic_session::hold::{Filter, PendingHold, pending};
use agentic_session::{Clock, SessionOptions, SessionSpace};
use agentic_space::Options;
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_testkit::{Sandbox, Setup};
use serde_json::json as made;

const RULES: &str = "[[hold]]\ntool = \"Bash\"\nmatch = '\\bterraform\\s+apply\\b'\n";
const KEY: [u8; 32] = [7; 32];

struct Held {
    sandbox: Sandbox,
    space: SessionSpace,
    agent: AgentName,
    conversation: ConversationId,
    timeout: Duration,
    deferral: Deferral,
}

fn redactor(_: &str, text: &str) -> LeafRedaction {
    let hidden: Vec<_> = text
        .match_indices("hunter2")
        .map(|(at, word)| (at..at + word.len(), "[redacted:test:0]".to_owned()))
        .collect();
    LeafRedaction { text: text.replace("hunter2", "[redacted:test:0]"), hidden }
}

fn opened(sandbox: &Sandbox, clock: Clock) -> SessionSpace {
    let space = Options { clock, durability: None };
    let options = SessionOptions { space, ..SessionOptions::default() };
    SessionSpace::open(sandbox.start(), options).expect("a repository")
}

impl Held {
    fn new(rules: &str) -> Held {
        Held::at(rules, Clock::System)
    }

    fn at(rules: &str, clock: Clock) -> Held {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
            sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
        }
        std::fs::write(sandbox.start().join("agentic.toml"), rules).expect("writable");
        let space = opened(&sandbox, clock);
        let agent = AgentName::parse("fix-cart").expect("valid");
        let briefing = Briefing::of_text("Mend the cart").to_object().expect("short");
        spawn(&space, &agent, &briefing, &SpawnOrigin::Root).expect("the name is free");
        let conversation = ConversationId { source: Source::Claude, native: "3f2a91c0".to_owned() };
        let (timeout, deferral) = (Duration::from_secs(600), Deferral::None);
        Held { sandbox, space, agent, conversation, timeout, deferral }
    }

    fn call(&self, input: &str) -> GatedCall {
        GatedCall {
            source: Source::Claude,
            question: GateQuestion::Call,
            tool: "Bash".to_owned(),
            input: json::from_text(input).expect("JSON"),
            folder: self.sandbox.start().to_owned(),
            caller: CallingAgent::Conversation,
            mode: Some("acceptEdits".to_owned()),
        }
    }

    fn rules(&self) -> Result<HoldRules, GateError> {
        Ok(HoldRules::of(self.space.repository(), self.sandbox.start(), None)?)
    }

    fn try_ask(&self, call: &GatedCall) -> Result<GateOutcome, GateError> {
        let rules = self.rules()?;
        let gate = Gate {
            space: &self.space,
            agent: &self.agent,
            conversation: &self.conversation,
            call,
            rules: &rules,
            key: &KEY,
            redactor: &redactor,
            deferral: self.deferral,
            timeout: self.timeout,
        };
        gate.answer()
    }

    fn ask_call(&self, call: &GatedCall) -> GateVerdict {
        self.try_ask(call).expect("answered").verdict
    }

    fn ask(&self, input: &str) -> GateVerdict {
        self.ask_call(&self.call(input))
    }

    fn held(&self, input: &str) -> String {
        let verdict = self.ask(input);
        let GateVerdict::Held { request } = verdict else { panic!("{verdict:?}") };
        request
    }

    fn open(&self) -> Vec<PendingHold> {
        pending(&self.space, &Filter::default()).expect("listed")
    }

    fn decide(&self, action: Action, value: Option<Value>, scope: ApprovalScope) {
        let open = self.open();
        let [hold] = open.as_slice() else { panic!("{} are open", open.len()) };
        let draft = DecisionDraft {
            action,
            value,
            scope,
            rationale: "not today".to_owned(),
            expect: None,
            principal: "user:ada".to_owned(),
            client: COMMAND_LINE,
            authn: None,
            shown: None,
            accepts: None,
        };
        decide(&self.space, hold, &draft).expect("admitted");
    }

    fn answered(&self, action: Action, value: Option<&str>) {
        let value = value.map(|value| json::from_text(value).expect("JSON"));
        self.decide(action, value, ApprovalScope::Once);
    }
}

const APPLY: &str = r#"{"command": "terraform apply -auto-approve", "description": "Roll out"}"#;

fn is_allowed(verdict: &GateVerdict) -> bool {
    matches!(verdict, GateVerdict::Allow { input: None, .. })
}

#[test]
fn what_no_rule_names_is_not_spoken_of() {
    let held = Held::new(RULES);
    assert_eq!(held.ask(r#"{"command": "terraform plan"}"#), GateVerdict::Silent);
    assert!(held.open().is_empty());
}

#[test]
fn a_decision_lets_one_call_run() {
    let held = Held::new(RULES);
    let first = held.held(APPLY);
    assert_eq!(held.held(APPLY), first, "asking again is the same question");
    assert_eq!(held.open().len(), 1);
    held.answered(Action::Approve, None);
    let outcome = held.try_ask(&held.call(APPLY)).expect("answered");
    assert!(is_allowed(&outcome.verdict), "{outcome:?}");
    let reason = outcome.verdict.reason();
    assert!(reason.starts_with("Approved by user:ada in "), "{reason}");
    assert!(outcome.noted.is_some_and(|note| note.starts_with("hold used ")));
    assert_ne!(held.held(APPLY), first, "a third time it is a new question");
}

#[test]
fn other_words_are_the_same_question_and_another_command_is_not() {
    let held = Held::new(RULES);
    let first = held.held(APPLY);
    let reworded = r#"{"command": "terraform apply -auto-approve", "description": "Apply",
        "timeout": 60000}"#;
    assert_eq!(held.held(reworded), first);
    assert_ne!(held.held(r#"{"command": "terraform apply -auto-approve "}"#), first);
}

#[test]
fn a_rejection_is_told_with_its_reason() {
    let held = Held::new(RULES);
    held.held(APPLY);
    held.answered(Action::Reject, None);
    let GateVerdict::Deny { reason } = held.ask(APPLY) else { panic!("it is denied") };
    assert!(reason.starts_with("Rejected by user:ada in "), "{reason}");
    assert!(reason.ends_with(": not today"), "{reason}");
}

#[test]
fn an_edited_input_keeps_its_secrets() {
    let held = Held::new(RULES);
    let call = r#"{"command": "terraform apply -var p=hunter2", "description": "Roll out"}"#;
    held.held(call);
    let shown = json::to_text(&held.open()[0].hold.payload);
    assert!(!shown.contains("hunter2") && shown.contains("[redacted:test:0]"), "{shown}");
    held.answered(Action::Edit, Some(r#"{"command": "terraform plan -var p=[redacted:test:0]"}"#));
    let GateVerdict::Allow { input: Some(input), .. } = held.ask(call) else {
        panic!("it is allowed")
    };
    let wanted = made!({"command": "terraform plan -var p=hunter2", "description": "Roll out"});
    assert_eq!(input, wanted);

    held.held(call);
    held.answered(Action::Edit, Some(r#"{"command": "echo [redacted:other:1]"}"#));
    let GateVerdict::Deny { reason } = held.ask(call) else { panic!("it is denied") };
    assert!(reason.contains("cannot be placed"), "{reason}");
}

#[test]
fn a_question_of_the_model_is_answered() {
    let held = Held::new("[[hold]]\ntool = \"AskUserQuestion\"\n");
    let input = r#"{"questions": [{"question": "Which store?", "options": []}]}"#;
    let call = GatedCall { tool: "AskUserQuestion".to_owned(), ..held.call(input) };
    assert!(matches!(held.ask_call(&call), GateVerdict::Held { .. }));
    held.answered(Action::Respond, Some(r#""redb""#));
    let GateVerdict::Allow { input: Some(input), .. } = held.ask_call(&call) else {
        panic!("it is allowed")
    };
    assert_eq!(input["answers"], made!({"Which store?": "redb"}));
    assert_eq!(input["questions"][0]["question"], "Which store?");
}

#[test]
fn an_approval_for_the_rest_of_the_conversation_asks_no_more() {
    let held = Held::new(RULES);
    held.held(APPLY);
    held.decide(Action::Approve, None, ApprovalScope::RestOfSession);
    for _ in 0..3 {
        assert!(is_allowed(&held.ask(APPLY)));
    }
    held.held(r#"{"command": "terraform apply x"}"#);
    let other = ConversationId { source: Source::Claude, native: "other".to_owned() };
    let elsewhere = Held { conversation: other, ..held };
    elsewhere.held(APPLY);
}

#[test]
fn a_request_for_leave_belongs_to_its_call() {
    let held = Held::new(RULES);
    held.held(APPLY);
    held.answered(Action::Approve, None);
    let leave = GatedCall { question: GateQuestion::Leave, ..held.call(APPLY) };
    assert!(is_allowed(&held.ask(APPLY)));
    assert!(is_allowed(&held.ask_call(&leave)), "the same call");
    assert!(matches!(held.ask_call(&leave), GateVerdict::Held { .. }), "another one");
}

#[test]
fn a_question_that_nobody_answers_in_time_is_denied() {
    let rules = format!("{RULES}deadline = \"8h\"\non_expiry = \"reject\"\n");
    let begun = Instant::from_millis(1_763_800_000_000);
    let held = Held::at(&rules, Clock::Fixed(begun));
    held.held(APPLY);
    let later = opened(&held.sandbox, Clock::Fixed(begun.plus_millis(9 * 3_600_000)));
    let held = Held { space: later, ..held };
    let GateVerdict::Deny { reason } = held.ask(APPLY) else { panic!("it is denied") };
    assert!(reason.starts_with("Expired by system:expiry in "), "{reason}");
}

#[test]
fn a_gate_that_waits_hears_the_decision() {
    let held = Held::new(&format!("{RULES}enforce = \"wait\"\n"));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| held.ask(APPLY));
        while held.open().is_empty() {
            std::thread::yield_now();
        }
        held.answered(Action::Approve, None);
        assert!(is_allowed(&asking.join().expect("no panic")));
    });
    let held = Held { timeout: Duration::from_secs(30), ..held };
    assert!(matches!(held.ask(APPLY), GateVerdict::Held { .. }), "its time is over at once");
}

#[test]
fn a_run_is_put_down_only_where_somebody_goes_on_with_it() {
    let held = Held::new(&format!("{RULES}enforce = \"defer\"\n"));
    assert!(matches!(held.ask(APPLY), GateVerdict::Held { .. }));
    let held = Held { deferral: Deferral::Offered, ..held };
    assert!(matches!(held.ask(APPLY), GateVerdict::Defer { .. }));
    let below = GatedCall { caller: CallingAgent::Subagent, ..held.call(APPLY) };
    assert!(matches!(held.ask_call(&below), GateVerdict::Held { .. }));
    let codex = GatedCall { source: Source::Codex, ..held.call(APPLY) };
    assert!(matches!(held.ask_call(&codex), GateVerdict::Held { .. }));
    held.held_resume();
}

impl Held {
    fn held_resume(&self) {
        let other = r#"{"command": "terraform apply other"}"#;
        assert!(matches!(self.ask(other), GateVerdict::Defer { .. }));
        let resume = "AGENTIC_HOLD=defer claude -p --resume 3f2a91c0 --permission-mode acceptEdits";
        let shown = self.open().iter().any(|it| json::to_text(&it.hold.payload).contains(resume));
        assert!(shown);
    }
}

#[test]
fn asking_needs_no_hold_where_the_vendor_asks() {
    let held = Held::new(&format!("{RULES}enforce = \"ask\"\n"));
    let outcome = held.try_ask(&held.call(APPLY)).expect("answered");
    assert_eq!(outcome.verdict, GateVerdict::Ask { number: 1 });
    assert_eq!(outcome.noted.as_deref(), Some("hold asked"));
    assert!(held.open().is_empty());
}

#[test]
fn the_strictest_of_all_rules_counts_and_committed_ones_stay() {
    let held = Held::new(RULES);
    let start = held.sandbox.start();
    held.sandbox.git(start, &["add", "agentic.toml"]).expect("there");
    held.sandbox.git(start, &["commit", "-m", "Hold"]).expect("changed");
    let mild = format!("{RULES}enforce = \"ask\"\n");
    for text in [mild.as_str(), ""] {
        std::fs::write(start.join("agentic.toml"), text).expect("writable");
        assert!(matches!(held.ask(APPLY), GateVerdict::Held { .. }), "{text}");
    }
    std::fs::remove_file(start.join("agentic.toml")).expect("there");
    held.held(APPLY);
}

#[test]
fn the_vendor_reads_the_answer_and_the_trace_has_it_first() {
    let held = Held::new(RULES);
    let call = held.call(APPLY);
    let request = GateRequest {
        space: &held.space,
        agent: &held.agent,
        conversation: &held.conversation,
        call: &call,
        homes: None,
        key: &KEY,
        redactor: &redactor,
        deferral: Deferral::None,
    };
    let reply =
        || gate_reply(&request).expect("answered").map(|it| it["hookSpecificOutput"].clone());
    let first = reply().expect("denied");
    assert_eq!(first["permissionDecision"], "deny");
    let open = held.open();
    let asked = open[0].hold.session.short_request(&open[0].hold.id);
    let told = format!(
        "Held for a human as {asked}. Go on with other work; ask again when it was decided (agentic \
         pending)."
    );
    assert_eq!(first["permissionDecisionReason"], told);
    held.answered(Action::Approve, None);
    assert_eq!(reply().expect("allowed")["permissionDecision"], "allow");
    let trace = held.space.pending_trace(&held.agent).expect("readable");
    let texts: Vec<&str> = trace.iter().filter_map(|entry| entry.body.as_text()).collect();
    assert!(texts.iter().any(|text| text.starts_with("hold used ")), "{texts:?}");

    std::fs::write(held.sandbox.start().join("agentic.toml"), "hold = 1\n").expect("writable");
    let broken = reply().expect("denied");
    assert!(broken["permissionDecisionReason"].to_string().contains("agentic.toml"), "{broken}");
}

#[test]
fn files_of_ours_are_not_written_unasked() {
    let held = Held::new("");
    let start: PathBuf = held.sandbox.start().to_owned();
    let write = |tool: &str, path: &Path| {
        let input = made!({"file_path": path.to_str().expect("plain")}).to_string();
        held.ask_call(&GatedCall { tool: tool.to_owned(), ..held.call(&input) })
    };
    let own = start.join("agentic.toml");
    assert!(matches!(write("Write", &own), GateVerdict::Held { .. }));
    assert!(matches!(write("Edit", &start.join("x/../agentic.toml")), GateVerdict::Held { .. }));
    assert_eq!(write("Read", &own), GateVerdict::Silent);
    assert_eq!(write("Write", &start.join("src/agentic.rs")), GateVerdict::Silent);
    // What stands in other checkouts counts there, and git's settings everywhere.
    let below = start.with_file_name("below");
    let path = below.to_str().expect("plain");
    held.sandbox.git(&start, &["commit", "--allow-empty", "-m", "x"]).expect("changed");
    held.sandbox.git(&start, &["worktree", "add", path]).expect("free");
    for name in ["agentic.toml", ".claude/settings.local.json", ".codex/hooks.json"] {
        assert!(matches!(write("Write", &below.join(name)), GateVerdict::Held { .. }), "{name}");
    }
    assert_eq!(write("Write", &below.join("src/agentic.toml")), GateVerdict::Silent);
    for name in [".git/config", ".git/worktrees/below/config.worktree"] {
        assert!(matches!(write("Edit", &start.join(name)), GateVerdict::Held { .. }), "{name}");
    }
    assert!(matches!(
        held.ask(r#"{"command": "git config agentic.capture off"}"#),
        GateVerdict::Held { .. }
    ));
    assert_eq!(held.ask(r#"{"command": "git config user.name Ada"}"#), GateVerdict::Silent);
    let rule = "[[hold]]\npath = \"agentic.toml\"\nenforce = \"ask\"\n";
    std::fs::write(&own, rule).expect("writable");
    assert_eq!(write("Write", &own), GateVerdict::Ask { number: 1 });
}

#[test]
fn what_cannot_be_checked_is_stopped() {
    let held = Held::new("[[hold]\n");
    let error = held.try_ask(&held.call(APPLY)).expect_err("no rules");
    assert!(error.to_string().contains("line 1"), "{error}");

    let held = Held::new(RULES);
    held.held(APPLY);
    let gates = held.space.repository().common_dir().join("agentic/capture/gate");
    let ledger = std::fs::read_dir(&gates).expect("there").next().expect("one").expect("readable");
    std::fs::write(ledger.path(), "{}\n").expect("writable");
    assert!(held.try_ask(&held.call(APPLY)).is_err());
    std::fs::remove_file(ledger.path()).expect("there");
    std::fs::create_dir(ledger.path()).expect("free");
    let error = held.try_ask(&held.call(APPLY)).expect_err("it cannot be written");
    assert_eq!(error.to_string(), "cannot record the question");
}

#[test]
fn a_crash_between_the_record_and_the_session_is_asked_again() {
    let held = Held::new(RULES);
    let first = held.held(APPLY);
    let sessions = held.space.repository().common_dir().join("agentic/session");
    std::fs::remove_dir_all(&sessions).expect("there");
    let again = Held { space: opened(&held.sandbox, Clock::System), ..held };
    assert_eq!(again.held(APPLY), first, "the same question under the same number");
}

#[test]
fn two_calls_at_once_are_one_question() {
    let held = Held::new(RULES);
    let asked: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| held.held(APPLY))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(asked.iter().all(|request| *request == asked[0]), "{asked:?}");
    assert_eq!(held.open().len(), 1);
    held.answered(Action::Approve, None);
    let allowed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| held.ask(APPLY))).collect();
        threads.into_iter().map(|it| it.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert_eq!(allowed.iter().filter(|verdict| is_allowed(verdict)).count(), 1, "{allowed:?}");
}

#[test]
fn a_call_that_ran_although_its_hold_is_open_is_noticed() {
    let held = Held::new(RULES);
    let call = held.call(APPLY);
    let passed = |call: &GatedCall| {
        note_passed_by(&held.space, &held.conversation, call, || Ok(KEY)).expect("readable")
    };
    assert!(!passed(&call));
    held.held(APPLY);
    assert!(passed(&call));
    held.answered(Action::Approve, None);
    assert!(is_allowed(&held.ask(APPLY)));
    assert!(!passed(&call));
}
