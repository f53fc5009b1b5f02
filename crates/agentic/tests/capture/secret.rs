//! No secret reaches the store, wherever it stood and however long what was around it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::corpus::{corpus, corpus_words, payload};
use crate::effects::is_of_gate;
use crate::stage::{CaptureStage, files};
use crate::talk::{Talk, prompts};

/// Where the transcripts with secrets lie.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/capture");
/// The mark that breaks the secrets of the corpus.
const BREAK: char = '¦';
/// The fewest bytes of a secret that are looked for.
const BYTES_MIN: usize = 8;

/// Finds what the corpus has broken: the words around its marks.
fn broken_words(text: &str) -> BTreeSet<String> {
    let is_around =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, BREAK | '_' | '-' | '+' | '/');
    let words = text.split(|c: char| !is_around(c)).filter(|word| word.contains(BREAK));
    words.map(|word| word.replace(BREAK, "")).filter(|word| word.len() >= BYTES_MIN).collect()
}

/// Writes a value in the forms in which it could have got somewhere.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let encoded = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let url: String = value.bytes().map(encoded).collect();
    let escaped = serde_json::to_string(value).expect("a text").trim_matches('"').to_owned();
    let mut forms = vec![value.to_owned(), url, hex.to_uppercase(), hex, escaped];
    for shift in 0..3 {
        // What the bytes around it decide is left out.
        let padded = STANDARD.encode([&vec![0; shift], value.as_bytes()].concat());
        let (from, to) = ([0, 2, 3][shift], padded.trim_end_matches('=').len() - 2);
        forms.push(padded[from..to].to_owned());
    }
    forms.into_iter().map(String::into_bytes).collect()
}

fn holds(bytes: &[u8], form: &[u8]) -> bool {
    bytes.windows(form.len()).any(|window| window == form)
}

/// Names the places below the git directory that hold one of the values.
fn places_of(stage: &CaptureStage, values: &BTreeSet<String>) -> Vec<String> {
    let all = ["cat-file", "--batch-all-objects", "--batch", "--unordered"];
    let objects = stage.program("git", "shop", &all, &[], b"");
    assert_eq!(objects.exit, 0, "{}", objects.stderr);
    let mut texts: Vec<(PathBuf, Vec<u8>)> = files(&stage.folder.join("shop/.git"))
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).expect("readable")))
        .collect();
    texts.push((PathBuf::from("objects"), objects.stdout.into_bytes()));
    let mut found = Vec::new();
    for value in values {
        let forms = forms(value);
        for (path, bytes) in &texts {
            if forms.iter().any(|form| holds(bytes, form)) {
                found.push(format!("{value} in {}", path.display()));
            }
        }
    }
    found
}

fn copy_corpus(stage: &CaptureStage, case: &str, to: &str) -> BTreeSet<String> {
    let from = Path::new(CORPUS).join(case);
    let mut secrets = BTreeSet::new();
    for path in files(&from) {
        let below = path.strip_prefix(&from).expect("below");
        if below == Path::new("expected.json") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("the corpus");
        secrets.extend(broken_words(&text));
        let text = text.replace(BREAK, "");
        stage.write(&format!("{to}/{}", below.display()), &text);
    }
    secrets
}

/// Sends every payload of the corpus with a secret put into it, to a gate where it asks one.
fn hook_all(stage: &CaptureStage, key: &str) {
    let expected = corpus();
    for (name, case) in expected["hooks"].as_object().expect("a map") {
        let (source, event) = name.split_once('/').expect("a source and an event");
        if source == "git" {
            continue;
        }
        let mut payload = payload(source, event);
        if let Ok(mut value) = serde_json::from_str::<Value>(&payload) {
            plant(&mut value, key);
            payload = value.to_string();
        }
        let mut words = corpus_words(source, event, &payload, stage);
        words.extend(is_of_gate(case).then(|| "--gate".to_owned()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = stage.hook(&words, &payload, &[]);
        assert!(!format!("{ended:?}").contains(key), "{name}: {ended:?}");
    }
}

/// Puts a secret into every map of a payload.
fn plant(value: &mut Value, key: &str) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| plant(item, key));
    } else if let Value::Object(map) = value {
        map.values_mut().for_each(|item| plant(item, key));
        map.insert("planted".to_owned(), json!(format!("Bearer {key}")));
        map.insert(key.to_owned(), json!(key));
    }
}

#[test]
fn nothing_below_the_git_directory_has_a_secret_in_any_form() {
    let stage = CaptureStage::new();
    let mut secrets = copy_corpus(&stage, "claude/secret", "home/.claude");
    secrets.extend(copy_corpus(&stage, "codex/odd", "home/.codex"));
    assert!(secrets.len() >= 4, "{secrets:?}");
    // What only the worktree says is a secret.
    let expected = fs::read_to_string(Path::new(CORPUS).join("claude/secret/expected.json"));
    let expected: Value = serde_json::from_str(&expected.expect("the corpus")).expect("JSON");
    let mut variables = String::new();
    for (number, value) in expected["known"].as_array().into_iter().flatten().enumerate() {
        let value = value.as_str().expect("text").replace(BREAK, "");
        variables.push_str(&format!("VALUE_{number}={value}\n"));
        secrets.insert(value);
    }
    for place in ["shop", "shop.agents/fix-cart"] {
        stage.write(&format!("{place}/.env"), &variables);
    }
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    secrets.insert(key.clone());
    stage.write("shop/agentic.toml", "[[hold]]\ntool = \"Bash\"\nmatch = 'terraform'\n");
    stage.git("shop", "add agentic.toml");
    stage.git("shop", "commit -q -m Rules");
    let payload = json!({
        "session_id": "3f2a91c0-0000-4000-8000-0000000000aa",
        "cwd": stage.folder.join("shop.agents/fix-cart"),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "tool_input": {"command": format!("terraform apply -var t={key}"), &key: key, "list": [[key]]},
        "something_new": {&key: format!("Bearer {key}")},
    });
    let ended = stage.hook(&["claude", "--gate"], &payload.to_string(), &[]);
    assert!(ended.stdout.contains("deny") && !ended.stdout.contains(&key), "{ended:?}");
    let pending = stage.agentic("shop", "pending --json");
    assert!(pending.contains("[redacted:") && !pending.contains(&key), "{pending}");
    stage.hook(&["claude"], &payload.to_string(), &[]);
    let mut unknown = payload.clone();
    unknown["hook_event_name"] = json!(format!("Brand {key}"));
    stage.hook(&["claude"], &unknown.to_string(), &[]);
    let bad = stage.hook(&["claude"], &format!("not JSON {key}"), &[]);
    assert_eq!((bad.exit, bad.stdout.as_str()), (0, ""));
    hook_all(&stage, &key);
    stage.agentic("shop", "import --all --agent fix-cart");
    stage.agentic("shop", "trace attach agents/fix-cart --agent fix-cart");
    let shown = stage.agentic("shop", "trace show fix-cart");
    assert!(shown.contains("[redacted:"), "something was there to redact: {shown}");
    // The scan finds what is there.
    let known = BTreeSet::from(["3f2a91c0-0000-4000-8000-0000000000aa".to_owned()]);
    assert!(!places_of(&stage, &known).is_empty(), "the scan looks at what is kept");
    assert_eq!(places_of(&stage, &secrets), Vec::<String>::new());
    stage.check();
}

#[test]
fn a_secret_is_found_where_an_entry_is_split_in_a_key_and_in_a_briefing() {
    let stage = CaptureStage::new();
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let talk = Talk::new(&stage, 1);
    // It lies across the place where a body is split.
    for before in [20, 1] {
        let filler = "word ".repeat((256 << 10) / 5 + 1);
        talk.say(&format!("{} {key} and on", &filler[..(256 << 10) - before]));
    }
    talk.event("SessionEnd", &[]);
    stage.agentic("shop", "import claude --all --agent fix-cart");
    let found = stage.entries("fix-cart");
    let marks = found.iter().filter(|it| it.to_string().contains("[redacted:")).count();
    assert!(marks >= 2, "both are there");
    let briefing = format!("Deploy with {key}");
    let words = ["spawn", "deploy", "-m", &briefing];
    stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &words, &[], b"");
    assert_eq!(places_of(&stage, &BTreeSet::from([key])), Vec::<String>::new());
}

#[test]
fn broken_rules_capture_nothing_and_lose_nothing() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    talk.event("UserPromptSubmit", &[]);
    let broken = "[[redact.rule]]\nid = \"broken\"\nregex = '('\nkeywords = [\"broken\"]\n";
    stage.write("shop.agents/fix-cart/agentic.toml", broken);
    talk.say("two");
    for event in ["Stop", "SessionEnd"] {
        assert_eq!(talk.event(event, &[]), 0);
    }
    let codes: BTreeSet<String> = stage.errors().into_iter().collect();
    assert_eq!(codes, BTreeSet::from(["no-redaction".to_owned()]));
    let pending = stage.agentic("shop", "trace pending --agent fix-cart --json");
    assert!(pending.contains("\"one\"") && !pending.contains("\"two\""), "{pending}");
    let program = env!("CARGO_BIN_EXE_agentic");
    let refused = stage.program(program, "shop.agents/fix-cart", &["import", "--all"], &[], b"");
    assert_eq!(refused.exit, 1, "{}", refused.stdout);
    fs::remove_file(stage.folder.join("shop.agents/fix-cart/agentic.toml")).expect("there");
    talk.event("Stop", &[]);
    assert_eq!(prompts(&stage, "fix-cart"), ["one", "two"]);
}
