//! Kinds of commits and objects.

use agentic_api::verb::{KindAdd, KindList, KindShow};
use agentic_api::{Caller, Verb};
use agentic_model::Value;
use agentic_model::guidance::ErrorClass;
use serde_json::{from_value, json};

use crate::place::{place, refusal};

fn bug() -> KindAdd {
    KindAdd {
        name: "bug".to_owned(),
        parent: Some("finding".to_owned()),
        description: "Something that is broken".to_owned(),
        schema: Some(KindAdd::read_schema(br#"{"type":"object"}"#).expect("it is JSON")),
    }
}

#[test]
fn a_kind_is_registered_once_and_shown_with_those_above_it() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let built_in = KindList::default().run(&caller).expect("readable").answer.len();
    let added = bug().run(&caller).expect("the name is free").answer;
    assert_eq!((added.built_in, added.schema), (false, Some(json!({"type": "object"}))));
    let shown = KindShow { name: "bug".to_owned() }.run(&caller).expect("it is there").answer;
    assert_eq!(shown.ancestors[..2], ["bug", "finding"]);
    assert_eq!(KindList::default().run(&caller).expect("readable").answer.len(), built_in + 1);
    let other = KindAdd { description: "Other".to_owned(), ..bug() };
    assert!(other.run(&caller).is_err());
}

#[test]
fn a_kind_that_cannot_be_is_refused() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let cases = [
        (KindAdd { name: "No Kind".to_owned(), ..bug() }, ErrorClass::Usage),
        (KindAdd { parent: Some("No Kind".to_owned()), ..bug() }, ErrorClass::Usage),
        (KindAdd { parent: Some("nothing".to_owned()), ..bug() }, ErrorClass::Refused),
        (KindAdd { schema: Some(Value::Int(1)), ..bug() }, ErrorClass::Schema),
    ];
    for (verb, class) in cases {
        let name = format!("{verb:?}");
        assert_eq!(refusal(verb.run(&caller)).class, class, "{name}");
    }
    let unknown = KindShow { name: "bug".to_owned() };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
    let refused = KindAdd::read_schema(b"{").expect_err("no JSON");
    assert_eq!(refused.class, ErrorClass::Schema);
    // Without a parent it is a commit.
    let plain: KindAdd = from_value(json!({"name": "bug"})).expect("a verb");
    assert_eq!(
        plain.run(&caller).expect("the name is free").answer.parent.as_deref(),
        Some("agent-commit")
    );
}
