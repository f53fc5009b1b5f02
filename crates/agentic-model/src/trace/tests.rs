use super::*;

fn trace(bodies: &[&[u8]]) -> ConsoleTrace {
    let kind = Kind::parse("log").expect("valid");
    let at = Instant::from_millis(1_000);
    let entries = bodies.iter().flat_map(|body| split_entry(&kind, at, body)).collect();
    ConsoleTrace::new(AgentName::parse("alice").expect("valid"), entries)
}

fn check_round_trip(trace: &ConsoleTrace) -> usize {
    let objects = trace.to_objects().expect("entries are bounded");
    let root = objects.last().expect("there is always a naming object");
    let read = ConsoleTrace::from_object(root, |cid| {
        let found = objects.iter().find(|object| object.cid() == cid).cloned();
        found.ok_or(ObjectError::NoType)
    });
    assert_eq!(&read.expect("what we write reads back"), trace);
    assert!(objects.iter().all(|object| object.bytes().len() <= OBJECT_BYTES_MAX));
    objects.len()
}

#[test]
fn a_short_trace_is_one_object() {
    assert_eq!(check_round_trip(&trace(&[b"one", b"two"])), 1);
    assert_eq!(check_round_trip(&trace(&[])), 1);
}

#[test]
fn a_long_trace_is_split_into_parts() {
    let long = "é".repeat(3 << 20);
    assert!(check_round_trip(&trace(&[b"first", long.as_bytes()])) > 6);
}

#[test]
fn bytes_that_are_not_text_are_kept() {
    assert_eq!(check_round_trip(&trace(&[&[0xff; 700_000]])), 1);
}

#[test]
fn the_note_names_the_trace_and_cannot_be_forged_by_an_entry() {
    let forged = format!("x\ntrace {}", Cid::of(b"forged"));
    let trace = trace(&[forged.as_bytes()]);
    let note = trace.note_text(Cid::of(b"real"));
    assert_eq!(cid_in_note(&note), Some(Cid::of(b"real")));
}

#[test]
fn a_note_keeps_what_people_wrote_and_replaces_only_our_block() {
    let (first, second) =
        (trace(&[b"one"]).note_text(Cid::of(b"1")), trace(&[b"two"]).note_text(Cid::of(b"2")));
    assert_eq!(replace_in_note(&first, &second), second);
    let edited = format!("looked at it\n\n{first}\nlater remark\n");
    let replaced = replace_in_note(&edited, &second);
    assert_eq!(replaced, format!("looked at it\n\n\nlater remark\n\n{second}"));
    assert_eq!(replace_in_note(&replaced, &second), replaced);
    assert_eq!(replace_in_note("only text\n", &first), format!("only text\n\n{first}"));
}

#[test]
fn line_breaks_that_people_wrote_stay_as_they_are() {
    let (first, second) = (trace(&[b"one"]), trace(&[b"two"]));
    let [first, second] = [first, second].map(|trace| trace.note_text(Cid::of(b"x")));
    let theirs = format!("a\r\n\r\r\nb\r\n\n{first}");
    let united = replace_in_note(&theirs, &second);
    assert_eq!(united, format!("a\r\n\r\r\nb\n\n{second}"));
    assert_eq!(replace_in_note(&united, &second), united);
}

#[test]
fn what_is_known_about_an_entry_and_fields_of_others_come_back() {
    let kind = Kind::parse("prompt").expect("valid");
    let meta = Map::from([("id".to_owned(), Value::text("0a1b"))]);
    let mut entries = split_described_entry(&kind, Instant::from_millis(5), b"hi", &meta);
    entries[0].foreign.insert("later".to_owned(), Value::Int(7));
    let agent = AgentName::parse("alice").expect("valid");
    check_round_trip(&ConsoleTrace::new(agent, entries));
}

#[test]
fn an_entry_that_nobody_captured_says_nothing_of_it() {
    let described = trace(&[b"one"]).entries[0].to_value();
    assert!(described.as_map().is_some_and(|map| !map.contains_key("meta")));
}

#[test]
fn entries_with_much_about_them_are_split_into_parts() {
    let kind = Kind::parse("log").expect("valid");
    let meta = Map::from([("more".to_owned(), Value::text("x".repeat(META_BYTES_MAX - 64)))]);
    let one = split_described_entry(&kind, Instant::from_millis(5), b"hi", &meta);
    let entries = std::iter::repeat_n(one, 200).flatten().collect();
    let agent = AgentName::parse("alice").expect("valid");
    assert!(check_round_trip(&ConsoleTrace::new(agent, entries)) > 3);
}

#[test]
fn what_a_trace_continues_and_where_it_comes_from_is_kept() {
    let plain = trace(&[b"one"]);
    let mut told = plain.clone();
    told.previous = Some(Cid::of(b"before"));
    told.captured = vec![Map::from([("source".to_owned(), Value::text("claude"))])];
    told.foreign = Map::from([("later".to_owned(), Value::Int(1))]);
    assert_eq!(check_round_trip(&told), 1);
    assert_ne!(told.to_objects().expect("it fits"), plain.to_objects().expect("it fits"));
    told.entries = trace(&["x".repeat(3 << 20).as_bytes()]).entries;
    assert!(check_round_trip(&told) > 3);
    let note = told.note_text(Cid::of(b"real"));
    assert!(note.ends_with(EARLIER_LINE));
    assert_eq!(ours_in_note(&note).as_deref(), Some(note.as_str()));
}

#[test]
fn a_trace_is_told_anew_where_it_stands_and_once() {
    let [old, new, other] = [b"old", b"new", b"oth"].map(|bytes| Cid::of(bytes));
    let told = |cid: Cid| -> Result<_, ()> {
        Ok((cid == old).then(|| (new, format!("trace {new}\n- 2\n"))))
    };
    let note = format!("hand\n\ntrace {old}\nentries 1\n- 1\n\nmore\ntrace {other}\n- 3\n");
    let expected = format!("hand\n\ntrace {new}\n- 2\n\nmore\ntrace {other}\n- 3\n");
    assert_eq!(retell_in_note(&note, told), Ok(Some(expected)));
    let twice = format!("trace {old}\n- 1\ntrace {new}\n- x\n");
    assert_eq!(retell_in_note(&twice, told), Ok(Some(format!("trace {new}\n- 2\n"))));
    assert_eq!(retell_in_note(&format!("trace {other}\n- 3\n"), told), Ok(None));
}

#[test]
fn traces_of_before_keep_their_ids() {
    let object = Object::new(Map::from([
        ("type".to_owned(), Value::text("console-trace")),
        ("agent".to_owned(), Value::text("alice")),
        ("entries".to_owned(), entries_value(&trace(&[b"one"]).entries)),
    ]));
    let objects = trace(&[b"one"]).to_objects().expect("it fits");
    assert_eq!(objects, vec![object.expect("it is an object")]);
}

#[test]
fn a_joined_trace_names_all_objects_with_entries() {
    let (old, new) = (trace(&[b"old"]), trace(&[b"new"]));
    let old = old.to_objects().expect("it fits").remove(0);
    let joined = new.to_joined_objects(&ConsoleTrace::holders(&old).expect("it is a trace"));
    let joined = joined.expect("it fits");
    let root = joined.last().expect("there is a naming object");
    let read = ConsoleTrace::from_object(root, |cid| {
        let found = joined.iter().chain([&old]).find(|object| object.cid() == cid).cloned();
        found.ok_or(ObjectError::NoType)
    });
    let bodies: Vec<Value> =
        read.expect("it reads back").entries.into_iter().map(|entry| entry.body).collect();
    assert_eq!(bodies, [Value::text("old"), Value::text("new")]);
    assert_eq!(ConsoleTrace::holders(root).expect("it is a trace").len(), 2);
}
