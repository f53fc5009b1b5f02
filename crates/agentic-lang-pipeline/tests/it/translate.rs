//! Prose to programs, with a scripted completion.

use agentic_lang_pipeline::{TranslateError, grammar, instructions, translate};
use agentic_model::Value;

use crate::kit::suite_registry;

/// Translates with replies in turn; returns the program, or the failure, and what was asked.
fn run(replies: &[&str], repairs_max: usize) -> (Result<String, String>, Vec<String>) {
    let (mut asked, mut replies) = (Vec::new(), replies.iter());
    let mut complete = |_: &str, user: &str| {
        asked.push(user.to_owned());
        replies.next().map(|reply| (*reply).to_owned()).ok_or("no reply")
    };
    let result = translate(&mut complete, &suite_registry(), "say hello", repairs_max);
    let result = result.map_err(|error: TranslateError<&str>| error.to_string());
    (result, asked)
}

fn check(reply: &str, expected: &str) {
    assert_eq!(run(&[reply], 0).0.as_deref(), Ok(expected), "{reply:?}");
}

const HELLO: &str = "memory static ( echo \"hello\" )";

#[test]
fn the_program_is_taken_out_of_the_reply() {
    check(HELLO, HELLO);
    check("```as\nmemory static ( echo \"hello\" )\n```\nI hope it helps :)", HELLO);
    check("Here it is: memory static ( echo \"hello\" ). Enjoy!", HELLO);
    check("From my_memory: memory static ( echo \"hello\" )", HELLO);
}

#[test]
fn what_does_not_compile_is_sent_back_with_its_errors() {
    let (result, asked) = run(&["memory static ( ecko )", HELLO], 1);
    assert_eq!(result.as_deref(), Ok(HELLO));
    assert_eq!(asked[0], "say hello");
    for part in ["say hello", "memory static ( ecko )", "did you mean `echo`?"] {
        assert!(asked[1].contains(part), "{part:?} in {}", asked[1]);
    }
}

#[test]
fn nothing_that_does_not_compile_comes_through() {
    let refused = |replies: &[&str], repairs_max, n_asked, part: &str| {
        let (result, asked) = run(replies, repairs_max);
        assert!(result.is_err_and(|message| message.contains(part)), "{replies:?}");
        assert_eq!(asked.len(), n_asked, "{replies:?}");
    };
    refused(&["memory static ( ecko )", "no", HELLO], 1, 2, "not a program");
    refused(&["sorry :)"], 0, 1, "not a program");
    refused(&[""], 0, 1, "not a program: there is no block");
    refused(&[], 1, 1, "could not be completed");
}

#[test]
fn instructions_and_grammar_name_every_builtin_with_its_arguments() {
    let registry = suite_registry();
    let text = instructions(&registry);
    for part in [
        "repeat times: int [sep: string] (in memory and temporal)",
        "concat sep: string string… (in memory and temporal)",
        "[on_timeout: fail|accept|reject] (in temporal)",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    let grammar = grammar(&registry);
    let n_builtins = grammar.get("builtins").and_then(Value::as_list).map(<[Value]>::len);
    assert_eq!(n_builtins, Some(registry.names().count()));
}
