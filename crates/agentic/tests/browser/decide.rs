//! Answering what waits for a person: the commit is that of the command, and says what was shown.

use agentic_api::view::question::text_hash;
use agentic_testkit::{Browser, ENTER_KEY, SPACE_KEY};
use serde_json::Value as Json;

use crate::stage::ServedRepository;

/// A flow that asks.
const FLOW: &str = r#"
hold("Deploy build 91 to staging?", #{
  payload: #{ before: "name: web\nreplicas: 2\n", after: "name: web\nreplicas: 5\n" }
}).action
"#;

#[test]
fn a_hold_is_approved_by_mouse() {
    let served = ServedRepository::begin();
    served.ask("alice", FLOW);
    let browser = served.visit();
    browser.click(".holds a").expect("the inbox leads to the hold");
    let shown = shown(&browser);
    browser.click("input[value=approve]").expect("an action can be chosen");
    browser.type_into("#reason", "staging is free").expect("a reason can be typed");
    browser.click("#decision button[type=submit]").expect("there is a button");
    has_decided(&browser, "approve");
    let fields = served.decision("alice");
    is_decision(&fields, "approve", &shown);
    assert_eq!(browser.console().expect("the console can be read"), Vec::<String>::new());
}

#[test]
fn a_hold_is_approved_in_its_row_of_the_inbox() {
    let served = ServedRepository::begin();
    served.ask("alice", FLOW);
    let browser = served.visit();
    browser.wait_for(".holds .shown", "Deploy build 91").expect("the hold is in the inbox");
    let script = "return document.querySelector('.holds .shown').textContent";
    let shown = browser.run(script, &[]).expect("a script runs");
    browser.tab_to(".holds a").expect("the focus comes to the hold");
    browser.press("ac").expect("keys choose and lead to the reason");
    browser.press("from the list").expect("it can be typed into");
    browser.press_with_control(ENTER_KEY).expect("keys send");
    has_decided(&browser, "approve");
    is_decision(&served.decision("alice"), "approve", shown.as_str().expect("a text"));
    assert_eq!(browser.console().expect("the console can be read"), Vec::<String>::new());
}

#[test]
fn a_hold_that_is_decided_stays_in_the_list() {
    let served = ServedRepository::begin();
    served.ask("alice", FLOW);
    let browser = served.visit();
    browser.wait_for("#live", "live").expect("the page listens");
    served.agentic(&["decide", "alice", "reject"]);
    browser.wait_for(".hold.gone", "This is answered").expect("it is put out");
    let script = "return document.querySelector('.gone button').disabled";
    assert_eq!(browser.run(script, &[]).expect("a script runs"), true);
    assert_eq!(browser.console().expect("the console can be read"), Vec::<String>::new());
}

#[test]
fn a_hold_is_rejected_by_keyboard() {
    let served = ServedRepository::begin();
    served.ask("alice", FLOW);
    let browser = served.visit();
    browser.tab_to(".holds a").expect("the focus comes to the hold");
    browser.press(ENTER_KEY).expect("the link opens");
    let shown = shown(&browser);
    browser.tab_to("input[name=action]").expect("the focus comes to the actions");
    // With none chosen yet the focus stands on the first or on the last one.
    for _ in 0..4 {
        let script = "return document.activeElement.value";
        if browser.run(script, &[]).expect("a script runs") == *"reject" {
            break;
        }
        browser.press("\u{e015}").expect("the arrow goes on");
    }
    browser.press(SPACE_KEY).expect("the space bar chooses");
    browser.tab_to("#reason").expect("the focus comes to the reason");
    browser.press("not today").expect("it can be typed into");
    browser.tab_to("#decision button[type=submit]").expect("the focus comes to the button");
    browser.press(ENTER_KEY).expect("the button can be pressed");
    has_decided(&browser, "reject");
    is_decision(&served.decision("alice"), "reject", &shown);
    assert_eq!(browser.console().expect("the console can be read"), Vec::<String>::new());
}

#[test]
fn a_hold_is_approved_without_a_script() {
    let served = ServedRepository::begin();
    served.ask("alice", FLOW);
    let browser = served.visit_without_script();
    browser.click(".holds a").expect("the inbox leads to the hold");
    let shown = shown(&browser);
    browser.click("input[value=approve]").expect("an action can be chosen");
    browser.click("#decision button[type=submit]").expect("there is a button");
    has_decided(&browser, "approve");
    is_decision(&served.decision("alice"), "approve", &shown);
}

#[test]
fn what_was_typed_is_kept_when_another_person_decides() {
    let served = ServedRepository::begin();
    served.ask("alice", FLOW);
    let browser = served.visit();
    browser.click(".holds a").expect("the inbox leads to the hold");
    shown(&browser);
    browser.wait_for("#live", "live").expect("the page listens");
    browser.press("c").expect("a key leads to the reason");
    browser.press("half a thought").expect("it can be typed into");
    served.agentic(&["decide", "alice", "reject"]);
    browser.wait_for(".changed", "user:ada has decided this: reject").expect("the page says so");
    let typed = browser.run("return document.querySelector('#reason').value", &[]);
    assert_eq!(typed.expect("a script runs"), "half a thought");
    assert_eq!(browser.console().expect("the console can be read"), Vec::<String>::new());
}

#[test]
fn a_new_hold_comes_into_the_inbox_and_is_approved_by_keys() {
    let served = ServedRepository::begin();
    let browser = served.visit();
    browser.wait_for("#live", "live").expect("the page listens");
    served.ask("alice", FLOW);
    browser.wait_for(".holds", "Deploy build 91").expect("it comes by itself");
    browser.tab_to(".holds a").expect("the focus comes to the hold");
    browser.press("o").expect("a key opens it");
    let shown = shown(&browser);
    browser.press("ac").expect("keys choose and lead to the reason");
    browser.press("by keys").expect("it can be typed into");
    browser.press_with_control(ENTER_KEY).expect("keys send");
    has_decided(&browser, "approve");
    is_decision(&served.decision("alice"), "approve", &shown);
    assert_eq!(browser.console().expect("the console can be read"), Vec::<String>::new());
}

/// Returns the text that is shown, after it has come.
fn shown(browser: &Browser) -> String {
    browser.wait_for("#shown", "Deploy build 91").expect("the hold is shown");
    browser.text("#shown").expect("the hold is shown")
}

/// Waits until the page of the hold says that it was decided.
fn has_decided(browser: &Browser, action: &str) {
    browser.wait_for("main", "Decided").expect("the page says that it is decided");
    browser.wait_for("#decided", action).expect("the page says what was decided");
    let said = browser.text("#decided").expect("the page says it");
    assert!(said.contains("user:ada"), "{said}");
}

fn is_decision(fields: &Json, action: &str, shown: &str) {
    assert_eq!(fields["action"], action, "{fields}");
    assert_eq!(fields["principal"], "user:ada", "{fields}");
    assert_eq!(fields["client"], "web", "{fields}");
    assert_eq!(fields["shown"], text_hash(shown), "the text that was shown: {shown}");
}
