//! The panes.

use super::*;
use crate::line::LineTarget;
use crate::state::PaneName;
use agentic_api::view::{EntryView, SearchHitView, SearchView, TraceView};

#[test]
fn three_panes_stand_beside_each_other() {
    check(&asked(100, 18), "three-panes");
}

#[test]
fn a_narrow_screen_shows_the_pane_where_keys_go() {
    let mut state = asked(50, 10);
    check(&state, "narrow-inbox");
    press(&mut state, "<tab>");
    check(&state, "narrow-agents");
}

#[test]
fn empty_panes_say_how_something_comes_there() {
    let mut state = screen(100, 18);
    state.hear(UiTold::Inbox(Ok(inbox(Vec::new()))));
    state.hear(UiTold::Agents(Ok(agents(&[]))));
    check(&state, "empty");
}

#[test]
fn a_screen_without_room_says_so() {
    check(&asked(20, 4), "too-small");
}

/// Says what is asked for after keys, of which the last one counts.
fn wished(keys: &str) -> String {
    let mut state = asked(100, 18);
    let wishes = press(&mut state, keys);
    let wish = |wish: &UiWish| match wish {
        UiWish::ReadDetail(subject) => format!("{subject:?}"),
        UiWish::ReadLists(narrowed) => format!("lists {narrowed}"),
        UiWish::ReadHold(request) => format!("hold {request}"),
        UiWish::Decide(_) => "decide".to_owned(),
        UiWish::Quit => "quit".to_owned(),
        UiWish::Suspend => "suspend".to_owned(),
        UiWish::Redraw => "redraw".to_owned(),
    };
    wishes.iter().map(wish).collect::<Vec<String>>().join(", ")
}

#[test]
fn keys_lead_around() {
    let cases = [
        ("j", "Log(\"bob\")"),
        ("jk", "Log(\"alice\")"),
        ("k", ""),
        ("2", "Trace(\"alice\")"),
        ("3", "Session(\"0123456789ab\")"),
        ("ga", "Log(\"alice\")"),
        ("gaG", "Log(\"carol\")"),
        ("ga3", "Sessions(\"alice\")"),
        ("gaj<enter>", "Log(\"bob\")"),
        ("<tab><tab>jo", "Commit(\"3571b3f000aa\")"),
        ("<tab><tab>jo<esc>", "Log(\"alice\")"),
        ("gt", "Statistics"),
        ("/two words<enter>", "Found(\"two words\")"),
        ("/<enter>", ""),
        ("gsx<enter>", "Found(\"x\")"),
        ("nal<enter>", "lists al"),
        ("q", "quit"),
        ("?q", ""),
        ("o", "hold alice56789ab.0123456789ab"),
        ("r", "hold alice56789ab.0123456789ab"),
        ("gar", ""),
    ];
    for (keys, expected) in cases {
        assert_eq!(wished(keys), expected, "{keys}");
    }
}

#[test]
fn what_is_selected_stays_so_when_others_come_and_go() {
    let mut state = asked(100, 18);
    press(&mut state, "j");
    let holds = vec![hold("zoe", "New?"), hold("alice", "Deploy?"), hold("bob", "Delete?")];
    state.hear(UiTold::Inbox(Ok(inbox(holds))));
    assert_eq!(state.inbox.selected().map(|row| row.agent.as_str()), Some("bob"));
    // Whoever is looked at goes: another is looked at.
    let wishes = state.hear(UiTold::Inbox(Ok(inbox(vec![hold("zoe", "New?")]))));
    assert_eq!(state.inbox.selected().map(|row| row.agent.as_str()), Some("zoe"));
    let looks = |wish: &UiWish| matches!(wish, UiWish::ReadDetail(DetailSubject::Log(agent)) if agent == "zoe");
    assert!(wishes.iter().any(looks), "{wishes:?}");
    // An answer to what nobody looks at any more is not shown.
    let late = DetailSubject::Log("bob".to_owned());
    state.hear(UiTold::Detail(late, Ok(lines(&["too late"]))));
    assert!(!picture(&state).contains("too late"));
}

#[test]
fn where_nobody_waits_the_first_agent_is_looked_at() {
    let mut state = screen(100, 18);
    state.hear(UiTold::Inbox(Ok(inbox(Vec::new()))));
    let wishes = state.hear(UiTold::Agents(Ok(agents(&[(0, "carol", "idle", "Begin")]))));
    let looks = |wish: &UiWish| matches!(wish, UiWish::ReadDetail(DetailSubject::Log(agent)) if agent == "carol");
    assert!(wishes.iter().any(looks), "{wishes:?}");
    assert_eq!(state.focus, PaneName::Inbox, "keys go where they went");
}

#[test]
fn a_long_list_is_walked_with_the_selected_row_in_sight() {
    let mut state = screen(100, 18);
    let holds = (0..300).map(|n| hold(&format!("agent-{n}"), "Go on?")).collect();
    state.hear(UiTold::Inbox(Ok(inbox(holds))));
    for keys in ["G", "kkkkk", "<down>", " ", "gg"] {
        press(&mut state, keys);
        let selected = state.inbox.selected().expect("there are some").agent.clone();
        assert!(picture(&state).contains(&format!(" {selected} ")), "{keys}\n{}", picture(&state));
    }
}

/// Shows lines in the pane of details, and looks for what could steer the screen.
fn shown(made: Vec<PaneLine>) {
    let mut state = asked(100, 30);
    let subject = DetailSubject::Log("alice".to_owned());
    state.hear(UiTold::Detail(subject, Ok(made)));
    is_harmless(&state);
}

#[test]
fn nothing_that_is_stored_steers_the_screen() {
    let commit = LogView {
        body: HOSTILE.to_owned(),
        author: HOSTILE.to_owned(),
        fields: json!({ "a": HOSTILE }),
        ..logged("3571b3f000aa", HOSTILE, HOSTILE)
    };
    shown(page::log(HOSTILE, &[commit], 200, now()));
    let entry = || EntryView {
        kind: HOSTILE.to_owned(),
        at: HOSTILE.to_owned(),
        text: Some(format!("{HOSTILE}\n{HOSTILE}")),
        base64: None,
        meta: Default::default(),
        from: None,
    };
    shown(page::pending("alice", &[entry()], now()));
    let trace = TraceView {
        commit: None,
        how: None,
        cid: "bafyr4iaaaaaaaaaaaaaa".to_owned(),
        agent: HOSTILE.to_owned(),
        entries: vec![entry()],
    };
    shown(page::trace(&trace, now()));
    let hit = SearchHitView {
        id: HOSTILE.to_owned(),
        place: "trace".to_owned(),
        n: None,
        commit: None,
        pending: false,
        agent: HOSTILE.to_owned(),
        kind: HOSTILE.to_owned(),
        by: HOSTILE.to_owned(),
        at: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
        marks: vec![[0, 2]],
    };
    let found = SearchView { items: vec![hit], more: false, partial: false };
    shown(page::found(HOSTILE, &found, now()));
}

#[test]
fn nothing_that_is_named_or_typed_steers_the_screen() {
    let mut state = asked(100, 18);
    state.hear(UiTold::Agents(Ok(agents(&[(0, "alice", "held", HOSTILE)]))));
    is_harmless(&state);
    let mut state = screen(100, 18);
    state.repository = HOSTILE.to_owned();
    is_harmless(&state);
    press(&mut state, "/");
    state.paste(HOSTILE);
    is_harmless(&state);
    press(&mut state, "<enter>");
    let refusal = agentic_api::Refusal::usage(HOSTILE, HOSTILE);
    state.hear(UiTold::Inbox(Err(refusal)));
    is_harmless(&state);
}

#[test]
fn a_hold_that_is_selected_among_the_details_is_answered_there() {
    let details = || {
        let mut state = asked(100, 18);
        press(&mut state, "3");
        let subject = DetailSubject::Session("0123456789ab".to_owned());
        let lines = vec![
            PaneLine::of("Session"),
            PaneLine::of("waits").to(LineTarget::Hold("carol.cafe".to_owned())),
        ];
        state.hear(UiTold::Detail(subject, Ok(lines)));
        press(&mut state, "<back>");
        state
    };
    for key in ["a", "r", "e", "p", "o"] {
        let mut state = details();
        assert!(press(&mut state, key).is_empty(), "no hold is selected yet");
        press(&mut state, "j");
        let wishes = press(&mut state, key);
        assert!(
            matches!(wishes.as_slice(), [UiWish::ReadHold(request)] if request == "carol.cafe"),
            "{key}: {wishes:?}"
        );
    }
    let mut state = details();
    press(&mut state, "a");
    assert!(picture(&state).contains("g i leads to the inbox"), "{}", picture(&state));
}
