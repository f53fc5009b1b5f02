//! Two clones that take in the same conversations, and push to each other.

use std::fs;

use serde_json::Value;

use crate::stage::CaptureStage;
use crate::talk::Talk;

/// What the agent of the conversation is called.
const AGENT: &str = "claude-00000001";

/// Makes a stage with a remote, and another clone of it that captures too.
fn two_clones() -> CaptureStage {
    let stage = CaptureStage::new();
    stage.git("elsewhere", "clone -q --bare ../shop hub");
    stage.git("shop", "remote add origin ../elsewhere/hub");
    stage.git(".", "clone -q elsewhere/hub other-shop");
    stage.git("other-shop", "config agentic.capture on");
    stage.git("other-shop", "remote set-url origin ../elsewhere/hub");
    stage
}

/// Has something done in another clone, at the place that the conversation names.
fn in_place_of_shop<T>(stage: &CaptureStage, clone: &str, work: impl FnOnce() -> T) -> T {
    let path = |name: &str| stage.folder.join(name);
    fs::rename(path("shop"), path("shop-away")).expect("it is there");
    fs::rename(path(clone), path("shop")).expect("it is there");
    let done = work();
    fs::rename(path("shop"), path(clone)).expect("it is there");
    fs::rename(path("shop-away"), path("shop")).expect("it is there");
    done
}

fn say(stage: &CaptureStage, talk: &Talk<'_>, text: &str) {
    talk.say(text);
    // The conversation took place where the clones are.
    let lines = fs::read_to_string(talk.transcript()).expect("just written");
    let shop = stage.folder.join("shop").display().to_string();
    let lines = lines.lines().map(|line| match line.contains("\"cwd\"") {
        true => format!("{line}\n"),
        false => line.replacen('{', &format!("{{\"cwd\":\"{shop}\","), 1) + "\n",
    });
    fs::write(talk.transcript(), lines.collect::<String>()).expect("writable");
}

/// Lists the entries of the conversation: kind and text.
fn kept(stage: &CaptureStage, agent: &str) -> Vec<(String, String)> {
    let shown = stage.agentic("shop", &format!("trace show {agent} --json"));
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let entries = shown["entries"].as_array().expect("a list").iter();
    entries.map(|it| (text(&it["kind"]), text(&it["text"]))).collect()
}

fn genesis(stage: &CaptureStage) -> String {
    stage.agentic("shop", "archive --list --json")
}

#[test]
fn clones_that_import_into_an_agent_that_both_have_keep_one_set_of_entries() {
    let stage = two_clones();
    stage.agentic("shop", "push fix-cart");
    let talk = Talk::new(&stage, 1);
    let import = || {
        stage.agentic("shop", "import claude --all --agent fix-cart");
        kept(&stage, "fix-cart")
    };
    say(&stage, &talk, "one");
    in_place_of_shop(&stage, "other-shop", || {
        stage.agentic("shop", "fetch --adopt fix-cart");
        import();
        say(&stage, &talk, "two");
        import();
        stage.agentic("shop", "push fix-cart");
    });
    let words = |kept: Vec<(String, String)>| -> Vec<String> {
        kept.into_iter().map(|(_, text)| text).collect()
    };
    // What is here already is no less for what comes.
    assert_eq!(words(import()), ["one", "two"]);
    say(&stage, &talk, "three");
    stage.agentic("shop", "fetch");
    assert_eq!(words(import()), ["one", "two", "three"]);
    stage.agentic("shop", "push fix-cart");
    in_place_of_shop(&stage, "other-shop", || {
        stage.agentic("shop", "fetch");
        assert_eq!(words(import()), ["one", "two", "three"]);
        stage.check();
    });
    stage.check();
}

#[test]
fn clones_that_import_the_same_have_one_genesis_and_one_set_of_entries() {
    let stage = two_clones();
    let talk = Talk::new(&stage, 1);
    say(&stage, &talk, "one");
    say(&stage, &talk, "two");
    stage.agentic("shop", "import claude --all");
    stage.agentic("shop", &format!("agent public {AGENT}"));
    // The other has heard more of it.
    say(&stage, &talk, "three");
    let theirs = in_place_of_shop(&stage, "other-shop", || {
        stage.agentic("shop", "import claude --all");
        stage.agentic("shop", &format!("agent public {AGENT}"));
        kept(&stage, AGENT)
    });
    assert_eq!(theirs.len(), 3);

    stage.agentic("shop", "push");
    in_place_of_shop(&stage, "other-shop", || {
        stage.agentic("shop", "fetch");
        stage.agentic("shop", "push");
        stage.check();
    });
    stage.agentic("shop", "fetch");
    stage.agentic("shop", "import claude --all");
    assert_eq!(kept(&stage, AGENT), theirs);
    let here = genesis(&stage);
    let there = in_place_of_shop(&stage, "other-shop", || {
        stage.agentic("shop", "import claude --all");
        assert_eq!(kept(&stage, AGENT), theirs);
        genesis(&stage)
    });
    let head = |text: &str| {
        let listed: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        (listed[0]["agent"].clone(), listed[0]["head"].clone())
    };
    assert_eq!(head(&here), head(&there));
    stage.check();
}
