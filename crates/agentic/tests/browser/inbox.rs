//! What the inbox says of a hold, and what a form says of an answer that it does not take.

use serde_json::json;

use crate::stage::{ServedRepository, deadline_in, go, is_silent};

/// How long the person has for the first hold, in milliseconds: less than a minute is counted by seconds.
const SHORT_MILLIS: i64 = 55_000;

#[test]
fn an_empty_inbox_says_how_holds_come() {
    let served = ServedRepository::begin();
    let browser = served.visit();
    browser.wait_for("main", "Nothing waits for a person").expect("it says so");
    browser.wait_for("main", "hold(\"Deploy?\")").expect("it says how one comes");
    is_silent(&browser, "the inbox");
}

#[test]
fn the_inbox_says_what_is_asked_of_whom_and_counts_the_time_that_is_left() {
    let served = ServedRepository::begin();
    let browser = served.visit();
    browser.wait_for("#live", "live").expect("the page listens");
    let deadline = deadline_in(SHORT_MILLIS);
    let flow = format!(
        r#"hold("Deploy build 91?", #{{
            payload: #{{ region: "north", before: "replicas: 2\n", after: "replicas: 5\n" }},
            quorum: #{{ need: 2 }}, assignees: ["user:ada", "user:bob"], deadline: "{deadline}",
            on_expiry: "nobody answered" }})"#
    );
    let request = served.ask("alice", &flow);
    served.ask("carol", "hold(\"When?\", #{ choices: [\"now\", \"later\"] }).value");
    let row = format!("[id='hold-{request}']");
    let says = |words: &str| browser.wait_for(&row, words).expect("the row says it");
    let said = [
        "Deploy build 91?",
        "your turn",
        "alice asks",
        "for user:ada, user:bob",
        "0 of 2",
        "region: north",
        "- replicas: 2",
        "+ replicas: 5",
    ];
    said.iter().for_each(|words| says(words));
    says(&format!("until {deadline}"));
    browser.wait_for(".holds", "choices: now, later").expect("the other has choices");
    let counts = "
        const [row] = arguments;
        const left = document.querySelector(row + ' time[data-deadline] + .distance').textContent;
        window.left ??= left;
        return / \\(in \\d+ s\\)/.test(left) && left !== window.left;";
    browser.wait_until(counts, &[json!(row)]).expect("the time that is left is counted");

    served.agentic(&["decide", "alice", "approve"]);
    says("1 of 2");
    says("vote: approve by user:ada");
    is_silent(&browser, "the inbox");
}

/// A flow that takes an answer of one form alone.
const FLOW: &str = r#"
hold("How many?", #{
  payload: #{ replicas: 2 },
  schema: #{ type: "object", required: ["replicas"], properties: #{
    replicas: #{ type: "integer", minimum: 1, maximum: 9 } } }
}).value
"#;

#[test]
fn a_form_says_what_is_missing_and_what_does_not_fit_and_keeps_what_was_typed() {
    let served = ServedRepository::begin();
    let request = served.ask("alice", FLOW);
    let browser = served.visit();
    go(&browser, &format!("/holds/{request}"));
    let button = "#decision button[type=submit]";
    browser.wait_for(button, "Decide: choose an answer first").expect("it says what is missing");
    browser.click(button).expect("it can be clicked");
    let is_here =
        "return !!document.querySelector('#decision') && !document.querySelector('#decided')";
    assert_eq!(browser.run(is_here, &[]).expect("a script runs"), true, "nothing was sent");

    browser.click("input[value=respond]").expect("it can be chosen");
    browser.wait_for(button, "Decide").expect("nothing is missing now");
    browser.click("[name='value.replicas']").expect("there is a field");
    browser.press_with_control("a").expect("all of it can be selected");
    browser.press("12").expect("it can be typed into");
    browser.type_into("#reason", "half a thought").expect("a reason can be typed");
    browser.click(button).expect("it can be clicked");
    browser
        .wait_for("#fields [role=alert]", "/replicas")
        .expect("a pointer stands beside the field");
    let kept = "return [document.querySelector('#reason').value,
        document.querySelector('[name=\"value.replicas\"]').value,
        document.querySelector('input[name=action]:checked').value]";
    let kept = browser.run(kept, &[]).expect("a script runs");
    assert_eq!(kept, json!(["half a thought", "12", "respond"]));
    assert_eq!(served.json(&["pending"]).as_array().map(Vec::len), Some(1), "it is still open");
}
