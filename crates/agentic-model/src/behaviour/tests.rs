use super::*;
use crate::LibraryName;
use crate::edge::Party;

fn object(pairs: &[(&str, Value)]) -> Object {
    let pair = |(name, value): &(&str, Value)| ((*name).to_owned(), value.clone());
    Object::new(pairs.iter().map(pair).collect()).expect("the case is an object")
}

fn fields(pairs: &[(&str, &str)]) -> Map {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::text(*value))).collect()
}

#[test]
fn what_a_session_pins_is_a_behaviour() {
    let text = Value::text;
    let pinned =
        object(&[("type", text("behaviour")), ("language", text("rhai")), ("source", text("1"))]);
    let read = StoredBehaviour::from_object(&pinned).expect("it is one");
    assert_eq!((read.form, read.language.as_deref()), (BehaviourForm::Flow, Some("rhai")));
    let long = object(&[("type", text("behaviour")), ("source", Value::List(Vec::new()))]);
    assert_eq!(StoredBehaviour::from_object(&long).expect("in pieces").source, None);
}

#[test]
fn what_is_no_behaviour_is_refused() {
    let text = Value::text;
    for pairs in [
        vec![("type", text("rules")), ("source", text("1"))],
        vec![("type", text("behaviour")), ("kind", text("skill")), ("source", text("1"))],
        vec![("type", text("behaviour")), ("kind", text("prompt"))],
        vec![("type", text("behaviour")), ("source", Value::Int(1))],
        vec![("type", text("behaviour")), ("allow", text("exec"))],
        vec![("type", text("behaviour")), ("modules", Value::map([("a", text("b"))]))],
    ] {
        assert!(StoredBehaviour::from_object(&object(&pairs)).is_err(), "{pairs:?}");
    }
}

#[test]
fn nothing_is_granted_beyond_what_it_allows_but_commit_and_spawn() {
    let allow = |kinds: &[&str]| Value::List(kinds.iter().map(|kind| Value::text(*kind)).collect());
    let granted = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    for (allowed, wanted, expected) in [
        (Some(allow(&["http"])), vec!["commit", "spawn", "http"], None),
        (Some(allow(&["http"])), vec!["http", "exec"], Some("exec")),
        (Some(allow(&[])), vec!["*"], Some("*")),
        (Some(allow(&["*"])), vec!["exec", "*"], None),
        (None, vec!["*"], None),
    ] {
        let mut pairs = vec![("type", Value::text("behaviour")), ("source", Value::text("1"))];
        pairs.extend(allowed.map(|kinds| ("allow", kinds)));
        let behaviour = StoredBehaviour::from_object(&object(&pairs)).expect("it is one");
        assert_eq!(behaviour.beyond(&granted(&wanted)), expected, "{pairs:?} {wanted:?}");
    }
}

#[test]
fn a_prompt_is_filled_in_one_pass() {
    let given = fields(&[("task", "{name} {{"), ("name", "Eve"), ("a-b", "x")]);
    for (source, expected) in [
        ("Do {task}.", "Do {name} {{."),
        ("{name}{name}", "EveEve"),
        ("a {{ b } {a-b}", "a { b } x"),
        ("{{name}", "{name}"),
        ("{{{name}", "{Eve"),
        ("", ""),
    ] {
        assert_eq!(fill_prompt(source, &given).as_deref(), Ok(expected), "{source}");
    }
    let missing = PromptFault::MissingField { name: "who".to_owned() };
    assert_eq!(fill_prompt("{name} {who}", &given), Err(missing));
    for source in ["a\n{", "\n{ x }", "\n{}", "\n{na{me}}"] {
        assert_eq!(check_prompt(source), Err(PromptFault::StrayBrace { line: 2 }), "{source}");
    }
    assert_eq!(check_prompt("{b} {a} {b}"), Ok(vec!["a".to_owned(), "b".to_owned()]));
}

fn about(note: &str, by: &str, parent: &[u8]) -> AboutBehaviour {
    AboutBehaviour {
        names: [LibraryName::parse("review").expect("a name")].into(),
        parents: [Cid::of(parent)].into(),
        note: note.to_owned(),
        proposed_by: Party::parse(by).ok(),
        evidence: Default::default(),
    }
}

#[test]
fn what_is_told_comes_back_and_unites_alike_on_both_sides() {
    let (left, right) = (about("b", "user:eve", b"1"), about("a", "bob", b"2"));
    let text = left.to_text().expect("it is short");
    assert_eq!(AboutBehaviour::parse(text.as_bytes()), Ok(left.clone()));
    assert_eq!(left.united(&right), right.united(&left));
    assert_eq!(left.united(&right).parents.len(), 2);
    assert_eq!(left.united(&about("", "user:eve", b"1")).note, "b");
    assert_eq!(AboutBehaviour::parse(b"{}"), Ok(AboutBehaviour::default()));
    let long = AboutBehaviour { note: "n".repeat(ABOUT_BYTES_MAX), ..left };
    assert_eq!(long.to_text(), Err(InvalidAbout { field: "note" }));
    for bytes in [&b"[]"[..], b"\xff", b"{\"parents\":[\"x\"]}", b"{\"note\":1}"] {
        assert!(AboutBehaviour::parse(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
    }
}
