use std::path::Path;

use agentic_model::json;

use super::{Enforcement, HeldCall, read_rules};
use crate::Source;

/// Tells whether the rules of a file hold a call in `/w`.
fn holds(rules: &str, source: Source, tool: &str, input: &str) -> bool {
    let rules = read_rules(rules, "agentic.toml").expect("rules");
    let input = json::from_text(input).expect("JSON");
    let folder = Path::new("/w");
    let call = HeldCall { source, tool, input: &input, folder, checkout: folder, home: None };
    rules.iter().any(|rule| rule.holds(&call, &json::to_text(&input)))
}

const TERRAFORM: &str =
    "[[hold]]\ntool = \"Bash|PowerShell|shell\"\nmatch = '\\bterraform\\s+apply\\b'\n";

#[test]
fn a_command_is_held_whoever_runs_it() {
    let input = r#"{"command": "cd x && terraform  apply"}"#;
    assert!(holds(TERRAFORM, Source::Claude, "Bash", input));
    assert!(holds(TERRAFORM, Source::Cursor, "Shell", input));
    assert!(holds(TERRAFORM, Source::Gemini, "run_shell_command", input));
    assert!(!holds(TERRAFORM, Source::Claude, "Bash", r#"{"command": "terraform plan"}"#));
    assert!(!holds(TERRAFORM, Source::Claude, "BashOutput", input));
    assert!(holds(TERRAFORM, Source::Codex, "shell", r#"{"command": ["terraform", "apply"]}"#));
}

#[test]
fn a_command_is_held_however_it_is_spelt() {
    for input in [
        r#"{"command": "terraform \\\n apply"}"#,
        r#"{"command": "terraform \\\r\n apply"}"#,
        r#"{"command": "terra\"\"form 'apply'"}"#,
        r#"{"command": "t\\erraform apply"}"#,
        r#"{"command": "ls", "cmd": "terraform apply"}"#,
        r#"{"command": null, "cmd": "terraform apply"}"#,
    ] {
        assert!(holds(TERRAFORM, Source::Claude, "Bash", input), "{input}");
    }
    assert!(!holds(TERRAFORM, Source::Claude, "Bash", r#"{"command": "terraform\n\nplan apply"}"#));
}

#[test]
fn a_path_is_held_by_whatever_way_it_is_named() {
    let rule = "[[hold]]\npath = \"migrations/**\"\n";
    for input in [
        r#"{"file_path": "/w/migrations/1.sql"}"#,
        r#"{"file_path": "x/../migrations/a/b.sql"}"#,
        r#"{"edits": [{"path": "./migrations/1.sql"}]}"#,
        r#"{"command": "*** Begin Patch\n*** Add File: migrations/2.sql\n"}"#,
    ] {
        assert!(holds(rule, Source::Claude, "Edit", input), "{input}");
    }
    for input in [r#"{"file_path": "/w/src/migrations.rs"}"#, r#"{"file_path": "/migrations/1"}"#] {
        assert!(!holds(rule, Source::Claude, "Edit", input), "{input}");
    }
}

#[test]
fn what_is_misspelt_is_no_rule() {
    for (text, reason) in [
        ("[[hold]]\nmatcher = \"x\"\n", "rule 1: `matcher` is unknown"),
        ("[[hold]]\n[[hold]]\nenforce = \"maybe\"\n", "rule 2: `enforce` is `maybe`"),
        ("[[hold]]\nmatch = \"(\"\n", "rule 1: `(` is no expression"),
        ("[[hold]]\ndeadline = \"soon\"\n", "rule 1: `deadline`"),
        ("hold = 3\n", "`hold` is no list"),
        ("a = 1\nb = = 2\n", "line 2:"),
    ] {
        let bad = read_rules(text, "agentic.toml").expect_err(text);
        assert!(bad.to_string().contains(reason), "{bad}");
    }
}

#[test]
fn the_strictest_counts_most() {
    assert!(Enforcement::Strict > Enforcement::Wait);
    assert!(Enforcement::Wait > Enforcement::Defer);
    assert!(Enforcement::Defer > Enforcement::Ask);
}
