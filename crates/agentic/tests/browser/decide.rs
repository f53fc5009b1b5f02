//! Answering what waits for a person: the commit is that of the command, and says what was shown.

use agentic_api::view::question::text_hash;
use agentic_testkit::{Browser, ENTER_KEY, SPACE_KEY};
use serde_json::{Value as Json, json};

use crate::stage::{ServedRepository, beside, is_silent};

/// A flow that asks.
const FLOW: &str = r#"
hold("Deploy build 91 to staging?", #{
  payload: #{ before: "name: web\nreplicas: 2\n", after: "name: web\nreplicas: 5\n" }
}).action
"#;

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
    is_silent(&browser, "the inbox and the hold");
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
    is_silent(&browser, "the inbox and the hold");
}

/// A flow that asks for a value.
const VALUE_FLOW: &str = r#"
hold("Deploy build 91 to staging?", #{
  payload: #{ name: "web", replicas: 2 },
  schema: #{ type: "object", required: ["name", "replicas"], properties: #{
    name: #{ type: "string" }, replicas: #{ type: "integer" } } }
}).action
"#;

/// How a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerWay {
    Mouse,
    Keyboard,
}

impl AnswerWay {
    /// Comes to an element, and uses it.
    fn take(self, browser: &Browser, selector: &str, key: &str) {
        match self {
            AnswerWay::Mouse => browser.click(selector).expect("it can be clicked"),
            AnswerWay::Keyboard => {
                browser.tab_to(selector).expect("the focus comes to it");
                browser.press(key).expect("it can be pressed");
            }
        }
    }

    fn choose(self, browser: &Browser, action: &str) {
        match self {
            AnswerWay::Mouse => {
                browser.click(&format!("input[value={action}]")).expect("it can be chosen");
            }
            AnswerWay::Keyboard => {
                browser.tab_to("input[name=action]").expect("the focus comes to the actions");
                // With none chosen yet the focus stands on the first or on the last one.
                for _ in 0..4 {
                    let script = "return document.activeElement.value";
                    if browser.run(script, &[]).expect("a script runs") == *action {
                        break;
                    }
                    browser.press("\u{e015}").expect("the arrow goes on");
                }
                browser.press(SPACE_KEY).expect("the space bar chooses");
            }
        }
    }

    /// Writes into a field, in place of what stands there.
    fn write(self, browser: &Browser, selector: &str, text: &str) {
        match self {
            AnswerWay::Mouse => browser.click(selector).expect("it can be clicked"),
            AnswerWay::Keyboard => browser.tab_to(selector).expect("the focus comes to it"),
        }
        browser.press_with_control("a").expect("all of it can be selected");
        browser.press(text).expect("it can be typed into");
    }
}

/// Answers four holds in the four ways that there are, and checks the four commits.
fn answer_all(served: &ServedRepository, browser: &Browser, way: AnswerWay) {
    let send = "#decision button[type=submit]";
    for action in ["approve", "reject", "edit", "respond"] {
        let request = served.ask(action, VALUE_FLOW);
        browser.go(&beside(browser, "/")).expect("the page opens");
        way.take(browser, &format!(".holds h2 a[href='/holds/{request}']"), ENTER_KEY);
        let shown = shown(browser);
        way.choose(browser, action);
        let has_value = ["edit", "respond"].contains(&action);
        if has_value {
            way.write(browser, "[name='value.replicas']", "5");
        }
        let reason = format!("to {action} \"it\"");
        way.write(browser, "#reason", &reason);
        way.take(browser, send, ENTER_KEY);
        if action == "edit" {
            browser.wait_for("#changes", "+   \"replicas\": 5").expect("it is shown first");
            way.take(browser, send, ENTER_KEY);
        }
        has_decided(browser, action);
        let fields = served.decision(action);
        is_decision(&fields, action, &shown);
        // Who approves says yes to what was offered.
        let value = match action {
            "approve" => json!({ "name": "web", "replicas": 2 }),
            "reject" => Json::Null,
            _ => json!({ "name": "web", "replicas": 5 }),
        };
        assert_eq!(fields["value"], value, "{fields}");
        let log = served.json(&["log", action, "--kind", "decision"]);
        assert_eq!(log[0]["subject"], reason, "{log}");
    }
}

#[test]
fn holds_are_approved_rejected_edited_and_responded_to_by_mouse() {
    let served = ServedRepository::begin();
    let browser = served.visit();
    answer_all(&served, &browser, AnswerWay::Mouse);
    is_silent(&browser, "all holds");
}

#[test]
fn holds_are_approved_rejected_edited_and_responded_to_by_keyboard() {
    let served = ServedRepository::begin();
    let browser = served.visit();
    answer_all(&served, &browser, AnswerWay::Keyboard);
    is_silent(&browser, "all holds");
}

#[test]
fn holds_are_approved_rejected_edited_and_responded_to_without_a_script() {
    let served = ServedRepository::begin();
    let browser = served.visit_without_script();
    answer_all(&served, &browser, AnswerWay::Mouse);
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
    is_silent(&browser, "the inbox and the hold");
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
