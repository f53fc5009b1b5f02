//! Typed objects.

use agentic_api::verb::{ObjectCid, ObjectGet, ObjectPut, ObjectSource, Show};
use agentic_api::view::ShowView;
use agentic_api::{LocalVerb, Surroundings, Verb};
use agentic_model::guidance::ErrorClass;
use serde_json::{from_value, json};

use crate::place::{as_agent, named, place, refusal};

fn plan() -> ObjectSource {
    ObjectSource::of_json(br#"{"type":"plan","steps":[]}"#).expect("it is JSON")
}

#[test]
fn an_object_is_stored_read_and_named_without_being_stored() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let known = ObjectCid { object: plan() }.run_here(&Surroundings::default());
    let known = known.expect("it is an object").answer;
    let get = || ObjectGet { cid: known.cid.clone() };
    assert_eq!(refusal(get().run(&caller)).class, ErrorClass::Refused);

    let put = ObjectPut { object: plan(), agent: None }.run(&caller).expect("writable").answer;
    assert_eq!((&put.cid, put.bytes, put.r#type.as_str()), (&known.cid, known.bytes, "plan"));
    assert_eq!(
        get().run(&caller).expect("it is there").answer.0,
        json!({"type": "plan", "steps": []})
    );
    let bytes = get().read(&caller).expect("it is there").bytes().to_vec();
    let canonical = ObjectCid { object: ObjectSource::Canonical(bytes) };
    assert_eq!(canonical.run(&caller).expect("they are canonical").answer.cid, known.cid);
    let shown = Show { id: known.cid[..20].to_owned() }.run(&caller).expect("readable").answer;
    assert!(matches!(shown, ShowView::Object { id, .. } if id == known.cid));
    let short = ObjectGet { cid: known.cid[..5].to_owned() };
    assert!(short.run(&caller).is_err());
}

#[test]
fn what_is_no_object_is_refused_as_a_value_that_does_not_fit() {
    let here = Surroundings::default();
    for bytes in [&b"\xff"[..], b"{", b"", br#"{"a":1,"a":2}"#] {
        let refused = ObjectSource::of_json(bytes).expect_err("no JSON");
        assert_eq!(refused.class, ErrorClass::Schema, "{bytes:?}");
    }
    for text in ["[]", "1", "{}", r#"{"type":1}"#, r#"{"type":"No Kind"}"#] {
        let object = ObjectSource::of_json(text.as_bytes()).expect("it is JSON");
        let refused = ObjectCid { object }.run_here(&here).expect_err("no object");
        assert_eq!(refused.class, ErrorClass::Schema, "{text}: {refused:?}");
    }
    let broken = ObjectCid { object: ObjectSource::Canonical(vec![0xa1]) };
    assert!(broken.run_here(&here).is_err());
    let verb: ObjectPut =
        from_value(json!({"object": {"data": {"type": "plan"}}})).expect("a verb");
    assert_eq!(verb.agent, None);
    assert!(from_value::<ObjectPut>(json!({"object": {"canonical": [1]}})).is_err());
}
