//! Gates, with the binary: every payload of the corpus that is asked about, and what else may happen.

use serde_json::{Value, json};

use crate::corpus::{corpus, corpus_words, payload};
use crate::effects::is_of_gate;
use crate::stage::{CaptureStage, Ended};

/// The binary.
const AGENTIC: &str = env!("CARGO_BIN_EXE_agentic");

/// Rules as an owner writes them.
fn rules(enforce: &str) -> String {
    format!(
        "[[hold]]\ntool = \"Bash\"\nmatch = '\\b(terraform|kubectl)\\s+apply\\b'\nenforce = \"{enforce}\"\n\n\
         [[hold]]\ntool = \"AskUserQuestion\"\n"
    )
}

/// A stage whose main branch has rules.
pub fn held(enforce: &str) -> CaptureStage {
    let stage = CaptureStage::new();
    rule(&stage, &rules(enforce));
    stage
}

fn rule(stage: &CaptureStage, text: &str) {
    stage.write("shop/agentic.toml", text);
    stage.git("shop", "add agentic.toml");
    stage.git("shop", "commit -q -m Rules");
}

/// Asks with a payload of the corpus.
fn ask(stage: &CaptureStage, name: &str, env: &[(&str, &str)]) -> Ended {
    let (source, event) = name.split_once('/').expect("a source and an event");
    ask_with(stage, source, event, &payload(source, event), env)
}

fn ask_with(
    stage: &CaptureStage,
    source: &str,
    event: &str,
    payload: &str,
    env: &[(&str, &str)],
) -> Ended {
    let mut words = corpus_words(source, event, payload, stage);
    words.push("--gate".to_owned());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stage.hook(&words, payload, env)
}

/// Lists the open holds.
fn open(stage: &CaptureStage) -> Vec<Value> {
    let text = stage.agentic("shop", "pending --json");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    value.as_array().cloned().expect("a list")
}

/// Returns the name by which people know the only hold that is open.
fn request(stage: &CaptureStage) -> String {
    let open = open(stage);
    assert_eq!(open.len(), 1, "{open:?}");
    open[0]["short"].as_str().or(open[0]["request"].as_str()).expect("a name").to_owned()
}

/// Decides the only hold that is open; returns the short name of the commit.
fn decide(stage: &CaptureStage, words: &[&str]) -> String {
    let request = request(stage);
    let words: Vec<&str> =
        ["decide", request.as_str()].iter().chain(words).chain(&["--json"]).copied().collect();
    let ended = stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &words, &[], b"");
    assert_eq!(ended.exit, 0, "{words:?}: {}", ended.stderr);
    let decided: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    decided["commit"].as_str().expect("a commit")[..10].to_owned()
}

/// Returns how a case was decided before, if it was.
fn decision_of(event: &str) -> Option<Vec<&'static str>> {
    let edited = r#"{"command":"terraform apply -auto-approve --dry-run"}"#;
    let of = |what: &str| event.ends_with(what);
    match () {
        () if of("approved") => Some(vec!["approve"]),
        () if of("edited") => Some(vec!["edit", "--value", edited]),
        () if of("rejected") => Some(vec!["reject", "-m", "not today"]),
        () if of("question") => Some(vec!["respond", "--value", r#""redb""#]),
        () => None,
    }
}

#[test]
fn every_payload_that_is_asked_about_is_answered_as_the_corpus_says() {
    let expected = corpus();
    let (mut wrongs, mut n_checked) = (Vec::new(), 0);
    for (name, case) in expected["hooks"].as_object().expect("a map") {
        if is_of_gate(case) && !name.starts_with("git/") {
            n_checked += 1;
            if let Err(wrong) = check_case(name, case) {
                wrongs.push(format!("{name}: {wrong}"));
            }
        }
    }
    assert!(n_checked >= 24, "{n_checked}");
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
}

fn check_case(name: &str, case: &Value) -> Result<(), String> {
    let note = case["note"].as_str().unwrap_or_default();
    let enforce =
        ["defer", "ask"].into_iter().find(|way| note.contains(&format!("enforce = {way}")));
    let stage = held(enforce.unwrap_or("strict"));
    let env: Vec<(&str, &str)> = case["env"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .collect();
    let mut decision = String::new();
    if let Some(words) = decision_of(name) {
        ask(&stage, name, &env);
        decision = decide(&stage, &words);
    }
    if name.ends_with("reworded") {
        ask(&stage, "claude/PreToolUse.held.strict", &env);
    }
    let ended = ask(&stage, name, &env);
    if Some(i64::from(ended.exit)) != case["exit"].as_i64() {
        return Err(format!("it ended with {}: {}", ended.exit, ended.stderr));
    }
    let is_open = case["does"].to_string().contains("hold opened") || name.ends_with("reworded");
    let request = if is_open { request(&stage) } else { String::new() };
    let filled = |text: &str| text.replace("@REQUEST@", &request).replace("@DECISION@", &decision);
    let is_same = match case["stdout"].as_str() {
        Some(text) => ended.stdout.trim_end() == filled(text),
        None => {
            let answer = filled(&case["stdout"].to_string());
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            serde_json::from_str::<Value>(&ended.stdout).is_ok_and(|out| out == answer)
        }
    };
    if !is_same {
        return Err(format!("it printed {:?}", ended.stdout));
    }
    if !is_open && !open(&stage).is_empty() {
        return Err(format!("a hold is open: {:?}", open(&stage)));
    }
    let agent = case["agent"].as_str().expect("an agent");
    let noted = match case["does"][0].as_str().expect("text") {
        "entry event hold asked" => Some("hold asked".to_owned()),
        used if used.starts_with("hold used") => Some(filled(used)),
        _ => None,
    };
    let entries = stage.entries(agent);
    if let Some(noted) = noted
        && !entries.iter().any(|entry| entry["kind"] == "event" && entry["text"] == noted)
    {
        return Err(format!("the trace has no {noted:?}: {entries:?}"));
    }
    stage.check();
    Ok(())
}

fn says(ended: &Ended) -> String {
    let said: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

const ASKED: &str = "claude/PreToolUse.held.strict";

#[test]
fn a_decision_counts_once_and_for_this_command_alone() {
    let stage = held("strict");
    assert_eq!(says(&ask(&stage, ASKED, &[])), "deny");
    let first = request(&stage);
    // Other words about it are the same question, another command is not.
    assert_eq!(says(&ask(&stage, "claude/PreToolUse.held.reworded", &[])), "deny");
    assert_eq!(request(&stage), first);
    let other =
        payload("claude", "PreToolUse.held.strict").replace("-auto-approve", "-auto-approvE");
    assert_eq!(says(&ask_with(&stage, "claude", "PreToolUse", &other, &[])), "deny");
    assert_eq!(open(&stage).len(), 2);
    stage.agentic("shop", &format!("decide {first} approve"));
    assert_eq!(says(&ask(&stage, ASKED, &[])), "allow");
    assert_eq!(says(&ask(&stage, ASKED, &[])), "deny", "it was used");
    assert_eq!(open(&stage).len(), 2, "a new question");
}

#[test]
fn an_approval_for_the_rest_of_a_conversation_lasts_as_long() {
    let stage = held("strict");
    ask(&stage, ASKED, &[]);
    decide(&stage, &["approve", "--scope", "rest-of-session"]);
    for _ in 0..3 {
        assert_eq!(says(&ask(&stage, ASKED, &[])), "allow");
    }
    let other = payload("claude", "PreToolUse.held.strict").replace("0000000000aa", "0000000000ab");
    assert_eq!(says(&ask_with(&stage, "claude", "PreToolUse", &other, &[])), "deny");
}

#[test]
fn a_hold_that_nobody_answers_in_time_is_decided_as_its_rule_says() {
    let stage = CaptureStage::new();
    let rule_text = rules("strict").replace(
        "enforce = \"strict\"\n",
        "enforce = \"strict\"\ndeadline = \"1h\"\non_expiry = \"reject\"\n",
    );
    rule(&stage, &rule_text);
    let at = |hour: &'static str| [("AGENTIC_NOW", hour)];
    let begun = ask(&stage, ASKED, &at("2026-11-20T10:00:00Z"));
    assert_eq!(says(&begun), "deny");
    let named = |ended: &Ended, name: &str| ended.stdout.contains(name);
    let listed = |hour| {
        let ended = stage.program(AGENTIC, "shop", &["pending", "--json"], &at(hour), b"");
        serde_json::from_str::<Value>(&ended.stdout).expect("JSON")
    };
    let open = listed("2026-11-20T10:30:00Z");
    let request = open[0]["request"].as_str().expect("one is open").to_owned();
    assert_eq!(open[0]["deadline"], "2026-11-20T11:00:00.000Z", "{open}");
    assert!(named(&begun, &request), "{begun:?} {request}");
    // Until then it is the same question.
    let again = ask(&stage, ASKED, &at("2026-11-20T10:59:59Z"));
    assert!(says(&again) == "deny" && named(&again, &request), "{again:?}");

    // Whoever comes too late is told so, and lets nothing run.
    let late = at("2026-11-20T11:00:01Z");
    let decide = ["decide", request.as_str(), "approve"];
    let ended = stage.program(AGENTIC, "shop", &decide, &late, b"");
    assert_eq!(ended.exit, 12, "{}", ended.stderr);
    let expired = ask(&stage, ASKED, &late);
    assert_eq!(says(&expired), "deny");
    assert!(named(&expired, "Expired by system:expiry in "), "{expired:?}");
    // What was decided so counts once: then it is asked anew.
    let anew = ask(&stage, ASKED, &at("2026-11-20T11:00:02Z"));
    assert!(says(&anew) == "deny" && !named(&anew, &request), "{anew:?}");
    let open = listed("2026-11-20T11:00:03Z");
    assert_eq!(open.as_array().map(Vec::len), Some(1), "{open}");
    assert_ne!(open[0]["request"], request.as_str());
    stage.check();
}

#[test]
fn many_calls_at_once_are_one_question_and_one_decision_lets_one_run() {
    let stage = held("strict");
    let all = |stage: &CaptureStage| -> Vec<String> {
        std::thread::scope(|scope| {
            let asking: Vec<_> =
                (0..8).map(|_| scope.spawn(|| says(&ask(stage, ASKED, &[])))).collect();
            asking.into_iter().map(|it| it.join().expect("it ends")).collect()
        })
    };
    assert_eq!(all(&stage), ["deny"; 8]);
    decide(&stage, &["approve"]);
    let said = all(&stage);
    let n_allowed = said.iter().filter(|said| *said == "allow").count();
    assert_eq!(n_allowed, 1, "{said:?}");
    assert!(said.iter().all(|said| said == "allow" || said == "deny"), "{said:?}");
}

#[test]
fn what_cannot_be_checked_is_stopped() {
    // Rules that nobody can read.
    let stage = held("strict");
    stage.write("shop.agents/fix-cart/agentic.toml", "[[hold]\n");
    let ended = ask(&stage, ASKED, &[]);
    assert_eq!((ended.exit, says(&ended).as_str()), (0, "deny"), "{ended:?}");
    assert!(ended.stdout.contains("agentic.toml"), "{ended:?}");
    // A store that is damaged.
    let stage = held("strict");
    ask(&stage, ASKED, &[]);
    for file in crate::stage::files(&stage.capture("gate")) {
        std::fs::write(file, "no ledger\n{}\n").expect("writable");
    }
    assert_eq!(ask(&stage, ASKED, &[]).exit, 2);
    // No repository that can be opened.
    let stage = held("strict");
    stage.write("shop/.git/config", "[agentic]\n\tcapture = on\n[broken\n");
    assert_eq!(ask(&stage, ASKED, &[]).exit, 2);
    // A binary that is gone, as the line in the settings has it.
    let line = "agentic-that-is-gone hook claude --gate || exit 2";
    let ended = stage.program("sh", "elsewhere", &["-c", line], &[], b"{}");
    assert_eq!(ended.exit, 2);
}

#[test]
fn a_full_disk_stops_the_call() {
    let stage = held("strict");
    // No file of this process may grow: the same as a disk that is full.
    let hook =
        format!("trap '' XFSZ; ulimit -f 0; {} hook claude --gate", env!("CARGO_BIN_EXE_agentic"));
    let payload = stage.filled(&payload("claude", "PreToolUse.held.strict"));
    let ended = stage.program("sh", "elsewhere", &["-c", &hook], &[], payload.as_bytes());
    assert!(ended.exit == 2 || says(&ended) == "deny", "{ended:?}");
    assert!(open(&stage).is_empty());
    // With room again it is asked as if nothing had been.
    assert_eq!(says(&ask(&stage, ASKED, &[])), "deny");
    request(&stage);
}

#[test]
fn an_agent_does_not_decide_and_does_not_edit_its_rules_away() {
    let stage = held("strict");
    ask(&stage, ASKED, &[]);
    let request = request(&stage);
    let decide = ["decide", request.as_str(), "approve"];
    let agent = [("AGENTIC_AGENT", "fix-cart")];
    let ended = stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &decide, &agent, b"");
    assert_eq!(ended.exit, 9, "{}", ended.stderr);
    let here = "shop.agents/fix-cart";
    let ended = stage.program(env!("CARGO_BIN_EXE_agentic"), here, &decide, &[], b"");
    assert_eq!(ended.exit, 9, "{}", ended.stderr);
    // The worktree's own file is empty now; what main has counts all the same.
    stage.write("shop.agents/fix-cart/agentic.toml", "");
    assert_eq!(says(&ask(&stage, ASKED, &[])), "deny");
}

#[test]
fn a_conversation_that_nobody_captures_is_stopped_where_a_rule_names_its_call() {
    let stage = held("strict");
    stage.git("shop", "config agentic.captureUnbound skip");
    let elsewhere =
        payload("claude", "PreToolUse.held.strict").replace("shop.agents/fix-cart", "shop");
    let ended = ask_with(&stage, "claude", "PreToolUse", &elsewhere, &[]);
    assert_eq!(ended.exit, 2, "{ended:?}");
    let free = elsewhere.replace("terraform apply", "terraform plan");
    let ended = ask_with(&stage, "claude", "PreToolUse", &free, &[]);
    assert_eq!((ended.exit, ended.stdout.as_str()), (0, ""), "{ended:?}");
}

#[test]
fn a_call_that_ran_although_nobody_had_decided_is_noted() {
    let stage = held("strict");
    ask(&stage, ASKED, &[]);
    let mut ran: Value =
        serde_json::from_str(&payload("claude", "PreToolUse.held.strict")).expect("JSON");
    ran["hook_event_name"] = json!("PostToolUse");
    ran["tool_response"] = json!({"stdout": "Apply complete!"});
    stage.hook(&["claude"], &ran.to_string(), &[]);
    let entries = stage.entries("fix-cart");
    let is_noted = |entry: &Value| entry["text"].as_str().is_some_and(|it| it == "hold-passed");
    assert_eq!(entries.iter().filter(|entry| is_noted(entry)).count(), 1, "{entries:?}");
    let doctor = stage.agentic("shop", "doctor");
    assert!(doctor.contains(": 1 call ran undecided\n"), "{doctor}");
}
