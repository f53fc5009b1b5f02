//! What is kept of a conversation: every line once, whatever dies in between and whoever else is there.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use crate::stage::CaptureStage;
use crate::talk::{Talk, prompts};

/// How many conversations go on at once, and how many events each has.
const CONVERSATIONS: usize = 64;
const EVENTS: usize = 4;
/// How many lines are more than one event takes.
const LONG_LINES: usize = 400;
/// How often what was not taken is asked for again: a loaded machine takes a line or none each time.
const ROUNDS_MAX: usize = 20;

#[test]
fn what_is_new_is_kept_and_nothing_twice() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    talk.event("UserPromptSubmit", &[]);
    talk.say("two");
    talk.event("Stop", &[]);
    talk.event("Stop", &[]);
    assert_eq!(prompts(&stage, "fix-cart"), ["one", "two"]);
    // A line without its end waits.
    let mut file = OpenOptions::new().append(true).open(talk.transcript()).expect("there");
    file.write_all(b"{\"type\":\"user\",").expect("writable");
    talk.event("Stop", &[]);
    assert_eq!(prompts(&stage, "fix-cart"), ["one", "two"]);
    // What is remembered may go: the lines are known by their ids.
    fs::remove_dir_all(stage.capture("cursor")).expect("there");
    talk.event("Stop", &[]);
    assert_eq!(prompts(&stage, "fix-cart"), ["one", "two"]);
    stage.check();
}

#[test]
fn a_cursor_that_is_lost_in_the_middle_doubles_nothing() {
    for is_whole in [false, true] {
        let stage = CaptureStage::new();
        let talk = Talk::new(&stage, 1);
        let words: Vec<String> = (0..LONG_LINES).map(|number| format!("word {number}")).collect();
        words.iter().for_each(|word| talk.say(word));
        let catch_up = || {
            for _ in 0..LONG_LINES {
                talk.event("Stop", &[]);
                let status = stage.agentic("shop", "capture status --json");
                let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
                let sources = status["sources"].as_array().expect("a list").iter();
                if sources.filter_map(|source| source["unread"].as_u64()).sum::<u64>() == 0 {
                    return;
                }
            }
            panic!("it is never read to its end");
        };
        catch_up();
        assert_eq!(prompts(&stage, "fix-cart"), words);
        if is_whole {
            fs::write(stage.capture("conversation/whole"), "").expect("writable");
        }
        fs::remove_dir_all(stage.capture("cursor")).expect("there");
        talk.event("Stop", &[]);
        talk.event("Stop", &[]);
        catch_up();
        assert_eq!(prompts(&stage, "fix-cart"), words, "whole: {is_whole}");
        // The same, once a commit has the entries.
        stage.agentic(
            "shop",
            "commit --agent fix-cart --path README.md -m Done --trace --allow-empty",
        );
        fs::remove_dir_all(stage.capture("cursor")).expect("there");
        talk.say("last");
        talk.event("Stop", &[]);
        catch_up();
        assert_eq!(prompts(&stage, "fix-cart"), ["last"], "whole: {is_whole}");
        stage.check();
    }
}

#[test]
fn a_hook_that_dies_at_any_step_loses_nothing_and_doubles_nothing() {
    for step in 1..60 {
        let stage = CaptureStage::new();
        let talk = Talk::new(&stage, 1);
        talk.say("one");
        talk.event("UserPromptSubmit", &[]);
        talk.say("two");
        let at = format!("*:{step}");
        let exit = talk.event("Stop", &[("AGENTIC_CRASH_AT", &at)]);
        talk.event("Stop", &[]);
        assert_eq!(prompts(&stage, "fix-cart"), ["one", "two"], "after a crash at step {step}");
        if exit == 0 {
            assert!(step > 3, "the points are armed");
            return;
        }
    }
    panic!("a hook has fewer steps");
}

#[test]
fn a_secret_never_gets_into_the_store() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    talk.say(&format!("use {secret} for that"));
    talk.event("UserPromptSubmit", &[]);
    let found = prompts(&stage, "fix-cart");
    assert_eq!(found.len(), 1);
    assert!(!found[0].contains(&secret) && found[0].contains("[redacted:"), "{found:?}");
}

#[test]
fn many_conversations_at_once_lose_nothing_and_double_nothing() {
    let stage = CaptureStage::new();
    let talks: Vec<Talk<'_>> = (0..CONVERSATIONS).map(|number| Talk::new(&stage, number)).collect();
    std::thread::scope(|scope| {
        for talk in &talks {
            scope.spawn(|| {
                for number in 0..EVENTS {
                    talk.say(&format!("{} {number}", talk.id));
                    assert_eq!(talk.event("UserPromptSubmit", &[]), 0);
                }
            });
        }
    });
    // What somebody was too busy for, or had no time for, is taken by a later event.
    let mut found = Vec::new();
    for _ in 0..ROUNDS_MAX {
        for talk in &talks {
            talk.event("Stop", &[]);
        }
        found = prompts(&stage, "fix-cart");
        if found.len() >= CONVERSATIONS * EVENTS {
            break;
        }
    }
    assert_eq!(found.len(), CONVERSATIONS * EVENTS);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), CONVERSATIONS * EVENTS);
    stage.check();
}
