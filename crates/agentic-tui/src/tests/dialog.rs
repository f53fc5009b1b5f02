//! The dialog of a decision.

use super::*;
use crate::state::UiOverlay;
use agentic_api::Refusal;
use agentic_api::verb::{AfterDecision, Decide, HoldAnswer};
use agentic_api::view::{ClosedHoldView, PeerReplyView, UnverifiedView};
use agentic_model::{Value, json as codec};
use agentic_session::decide::{Action, ApprovalScope};

/// Opens the dialog of the first hold, and reads it.
fn opened(rows: u16, hold: PendingView) -> UiState {
    let mut state = screen(80, rows);
    state.hear(UiTold::Inbox(Ok(inbox(vec![hold]))));
    let wishes = press(&mut state, "o");
    assert!(matches!(wishes.as_slice(), [UiWish::ReadHold(_)]), "{wishes:?}");
    read_hold(&mut state, self::hold("alice", "Deploy?"));
    state
}

fn decided(wishes: Vec<UiWish>) -> Option<Decide> {
    wishes.into_iter().find_map(|wish| match wish {
        UiWish::Decide(wanted) => Some(wanted.verb),
        UiWish::ReadLists(_)
        | UiWish::ReadDetail(_)
        | UiWish::ReadHold(_)
        | UiWish::Quit
        | UiWish::Suspend
        | UiWish::Redraw => None,
    })
}

/// Presses keys in the dialog of a hold; what is to be decided, and what is said.
fn answered(keys: &str) -> String {
    let mut state = opened(24, hold("alice", "Deploy?"));
    match decided(press(&mut state, keys)) {
        Some(Decide { answer: HoldAnswer::Act { action, value, scope }, why, .. }) => {
            let value = value.as_ref().map(codec::to_text).unwrap_or_default();
            format!("{} {value} {} {why}", action.name(), scope.name())
        }
        Some(other) => panic!("{other:?}"),
        None => said(&state),
    }
}

fn said(state: &UiState) -> String {
    let UiOverlay::Dialog(dialog) = &state.overlay else { return "closed".to_owned() };
    let line = dialog.said.clone().unwrap_or_default();
    line.pieces().iter().map(|piece| piece.text.as_str()).collect()
}

#[test]
fn the_text_of_every_surface_is_shown_and_nothing_is_chosen() {
    let mut state = opened(24, hold("alice", "Deploy?"));
    check(&state, "dialog");
    press(&mut state, "e<tab>");
    check(&state, "dialog-edit");
}

#[test]
fn keys_choose_and_only_a_chord_sends() {
    assert_eq!(answered("<send>"), "no action is chosen: a, r, e or p chooses one");
    assert_eq!(answered("a<enter>"), "");
    assert_eq!(answered("a<send>"), "approve  once ");
    assert_eq!(answered("arcnot today<send>"), "reject  once not today");
    assert_eq!(answered("ac two words <esc><send>"), "approve  once two words");
    assert_eq!(answered("pv\"x\"<tab>y<send>"), "respond \"x\" once y");
    assert_eq!(answered("pv5<back><send>"), "respond 5 once ");
    assert_eq!(answered("p<send>"), "a value is missing: v leads to it");
    assert!(answered("pvyes<send>").starts_with("a value is JSON"));
    assert_eq!(answered("q"), "closed");
    assert_eq!(answered("ac<esc><esc>"), "closed");
    // Letters in a field are letters.
    assert_eq!(answered("acraq<send>"), "approve  once raq");
}

#[test]
fn what_is_decided_is_what_was_shown() {
    let mut state = opened(24, hold("alice", "Deploy?"));
    let shown = QuestionView::new(hold("alice", "Deploy?"), now());
    let verb = decided(press(&mut state, "a<send>")).expect("it is sent");
    assert_eq!(verb.request, shown.hold.request);
    assert_eq!(verb.expect.as_deref(), Some("hash"));
    assert_eq!(verb.then, AfterDecision::Leave);
    let seen = verb.seen.expect("it says what was shown");
    assert_eq!((seen.shown, seen.at), (shown.shown, now()));
    // It is not sent twice, and nothing ends before it is recorded.
    assert!(decided(press(&mut state, "<send>")).is_none());
    assert!(press(&mut state, "<quit>").is_empty());
    let made =
        crate::wish::MadeDecision { action: "approve".to_owned(), commit: "c0ffee".to_owned() };
    state.hear(UiTold::Decided(Ok(made)));
    assert!(picture(&state).contains("approve c0ffee"), "{}", picture(&state));
    assert!(matches!(press(&mut state, "<quit>").as_slice(), [UiWish::Quit]));
}

#[test]
fn an_edit_is_shown_as_a_difference_before_it_is_sent() {
    let mut state = opened(30, hold("alice", "Deploy?"));
    // What is offered is what an edit begins with.
    press(&mut state, "ev");
    for _ in 0..40 {
        press(&mut state, "<end>");
        state.press(UiKey::Backspace);
        state.press(UiKey::Down);
    }
    let wishes = press(&mut state, "{\"env\": \"staging\"}<send>");
    assert!(decided(wishes).is_none(), "{}", picture(&state));
    check(&state, "dialog-difference");
    let verb = decided(press(&mut state, "<send>")).expect("it was seen");
    let staging = codec::from_text("{\"env\": \"staging\"}").expect("it is JSON");
    let expected =
        HoldAnswer::Act { action: Action::Edit, value: Some(staging), scope: ApprovalScope::Once };
    assert_eq!(verb.answer, expected);
}

#[test]
fn an_edit_that_is_typed_on_is_shown_again() {
    let mut state = opened(30, hold("alice", "Deploy?"));
    assert!(decided(press(&mut state, "e<send>")).is_none());
    assert!(decided(press(&mut state, "v <send>")).is_some(), "a blank changes no value");
    let mut state = opened(30, hold("alice", "Deploy?"));
    press(&mut state, "e<send>v<end>");
    state.press(UiKey::Backspace);
    assert!(decided(press(&mut state, ",\"n\":1}<send>")).is_none());
    assert!(picture(&state).contains("+   \"n\": 1"), "{}", picture(&state));
    let Some(Decide { answer: HoldAnswer::Act { value: Some(Value::Map(map)), .. }, .. }) =
        decided(press(&mut state, "<send>"))
    else {
        panic!("{}", picture(&state));
    };
    assert_eq!(map.get("n"), Some(&Value::Int(1)));
}

#[test]
fn a_text_is_seen_to_its_end_before_anything_is_sent() {
    let long = |n: usize| PendingView {
        payload: json!({ "payload": "line\n".repeat(n) }),
        ..hold("alice", "Deploy?")
    };
    let mut state = screen(80, 24);
    state.hear(UiTold::Inbox(Ok(inbox(vec![long(40)]))));
    press(&mut state, "a");
    read_hold(&mut state, long(40));
    assert!(decided(press(&mut state, "<send>")).is_none());
    assert!(said(&state).contains("read it to its end"), "{}", said(&state));
    press(&mut state, "k");
    assert!(said(&state).contains("read it to its end"), "it is not read yet");
    press(&mut state, "<end>");
    assert_eq!(said(&state), "", "it was read");
    assert!(decided(press(&mut state, "<send>")).is_some());
    // Another text has another end.
    let mut state = screen(80, 24);
    state.hear(UiTold::Inbox(Ok(inbox(vec![long(2)]))));
    press(&mut state, "acbecause");
    read_hold(&mut state, long(2));
    read_hold(&mut state, long(50));
    assert_eq!(said(&state), "what is asked has changed: read it again");
    assert!(decided(press(&mut state, "<send>")).is_none());
    let verb = decided(press(&mut state, "<esc><end><send>")).expect("it was read");
    assert_eq!(verb.why, "because", "what was typed stays");
}

#[test]
fn reading_on_takes_no_other_note_away() {
    let long = PendingView {
        payload: json!({ "payload": "line\n".repeat(40) }),
        ..hold("alice", "Deploy?")
    };
    let mut state = screen(80, 24);
    state.hear(UiTold::Inbox(Ok(inbox(vec![hold("alice", "Deploy?")]))));
    press(&mut state, "o");
    read_hold(&mut state, long);
    assert!(decided(press(&mut state, "<send>")).is_none());
    let missing = said(&state);
    assert!(missing.contains("no action is chosen"), "{missing}");
    press(&mut state, "<end>");
    assert_eq!(said(&state), missing);
}

#[test]
fn a_screen_on_which_all_is_seen_says_no_more_that_it_goes_on() {
    let long = PendingView {
        payload: json!({ "payload": "line\n".repeat(40) }),
        ..hold("alice", "Deploy?")
    };
    let mut state = screen(80, 24);
    state.hear(UiTold::Inbox(Ok(inbox(vec![hold("alice", "Deploy?")]))));
    press(&mut state, "a");
    read_hold(&mut state, long);
    assert!(decided(press(&mut state, "<send>")).is_none());
    assert!(said(&state).contains("read it to its end"), "{}", said(&state));
    state.resize(80, 200);
    assert_eq!(said(&state), "");
}

#[test]
fn somebody_else_was_faster() {
    let mut state = opened(24, hold("alice", "Deploy?"));
    press(&mut state, "acmy reasons<esc>");
    let request = hold("alice", "").request;
    let closed = ClosedHoldView {
        request: request.clone(),
        session: String::new(),
        action: "reject".to_owned(),
        principal: format!("user:eve{HOSTILE}"),
        commit: None,
        at: None,
        reason: String::new(),
        replies: Vec::new(),
    };
    let sight = HoldSight { fate: HoldFateView::Decided(closed), decider: None };
    state.hear(UiTold::Hold(request, Ok(sight)));
    assert!(said(&state).contains("user:evex⟦001B⟧[2J"), "{}", said(&state));
    assert!(picture(&state).contains("my reasons"), "{}", picture(&state));
    is_harmless(&state);
    assert!(decided(press(&mut state, "<send>")).is_none());
}

#[test]
fn a_refusal_keeps_what_was_typed() {
    let mut state = opened(24, hold("alice", "Deploy?"));
    press(&mut state, "pv5<tab>because<send>");
    let refusal = Refusal::schema("the value is no text", "write one");
    let wishes = state.hear(UiTold::Decided(Err(refusal)));
    assert!(wishes.iter().any(|wish| matches!(wish, UiWish::ReadHold(_))), "{wishes:?}");
    assert_eq!(said(&state), "the value is no text · write one");
    let verb = decided(press(&mut state, "<send>")).expect("it can be sent again");
    assert_eq!(verb.why, "because");
}

#[test]
fn what_is_for_somebody_else_or_for_persons_alone_is_not_sent() {
    let mut state = screen(80, 24);
    let theirs = PendingView { assignees: vec!["user:eve".to_owned()], ..hold("alice", "Deploy?") };
    state.hear(UiTold::Inbox(Ok(inbox(vec![hold("alice", "Deploy?")]))));
    press(&mut state, "a");
    let fate = HoldFateView::Open(Box::new(QuestionView::new(theirs, now())));
    let request = hold("alice", "").request;
    state.hear(UiTold::Hold(request, Ok(HoldSight { fate, decider: None })));
    assert!(decided(press(&mut state, "<send>")).is_none());
    assert_eq!(said(&state), "this is for user:eve to decide");

    let why = Some("an agent may not decide: AGENTIC_AGENT is set".to_owned());
    let mut state = UiState::new("store", why, Rect::new(0, 0, 80, 24), now());
    state.hear(UiTold::Inbox(Ok(inbox(vec![hold("alice", "Deploy?")]))));
    assert!(press(&mut state, "a").is_empty(), "no dialog");
    assert!(picture(&state).contains("nothing is decided here: an agent may not"));
    press(&mut state, "o");
    read_hold(&mut state, hold("alice", "Deploy?"));
    assert!(decided(press(&mut state, "a<send>")).is_none());
    assert!(said(&state).contains("an agent may not decide"), "{}", said(&state));
    assert!(picture(&state).contains("read-only"), "{}", picture(&state));
}

#[test]
fn what_is_pasted_neither_chooses_nor_sends() {
    let mut state = opened(24, hold("alice", "Deploy?"));
    state.paste("a\u{13}\n");
    assert_eq!(said(&state), "");
    assert!(decided(press(&mut state, "<send>")).is_none(), "nothing is chosen");
    press(&mut state, "ac");
    state.paste("one\r\ntwo\u{1b}[2J\u{13}");
    let verb = decided(press(&mut state, "<send>")).expect("a person sends it");
    assert_eq!(verb.why, "one\ntwo[2J");
}

#[test]
fn nothing_in_a_hold_steers_the_screen() {
    let hostile = PendingView {
        payload: json!({"payload": HOSTILE}),
        choices: vec![HOSTILE.to_owned()],
        assignees: vec![HOSTILE.to_owned()],
        ..hold("alice", HOSTILE)
    };
    let mut state = screen(80, 24);
    state.hear(UiTold::Inbox(Ok(inbox(vec![hostile]))));
    is_harmless(&state);
    press(&mut state, "e");
    let hostile = PendingView { payload: json!({"payload": HOSTILE}), ..hold("alice", HOSTILE) };
    read_hold(&mut state, hostile);
    press(&mut state, "ev");
    state.paste(HOSTILE);
    is_harmless(&state);
}

/// Opens a dialog of a hold that two commits say is decided, without proof.
fn claimed() -> UiState {
    let claim = |commit: &str, action: &str| UnverifiedView {
        commit: commit.to_owned(),
        action: action.to_owned(),
        principal: format!("user:eve{HOSTILE}"),
    };
    let claims = vec![claim("9f2c000000000000", "approve"), claim("8e1b000000000000", "reject")];
    let mut state = screen(120, 60);
    let asked = PendingView { unverified: claims, ..hold("alice", "Deploy?") };
    let again = PendingView {
        unverified: asked.unverified.iter().map(again).collect(),
        replies: vec![reply("7c3d000000000000", "unverified"), reply("6a4e000000000000", "late")],
        ..hold("alice", "Deploy?")
    };
    state.hear(UiTold::Inbox(Ok(inbox(vec![asked]))));
    press(&mut state, "o");
    read_hold(&mut state, again);
    state
}

/// What a peer decided of the hold.
fn reply(commit: &str, result: &str) -> PeerReplyView {
    PeerReplyView {
        peer: format!("bob{HOSTILE}"),
        result: result.to_owned(),
        commit: commit.to_owned(),
        action: Some("approve".to_owned()),
        principal: Some("user:bob".to_owned()),
        key: Some("ssh-ed25519 AAAA".to_owned()),
        reason: Some("that peer is `user:eve`".to_owned()),
        ..PeerReplyView::default()
    }
}

fn again(claim: &UnverifiedView) -> UnverifiedView {
    let UnverifiedView { commit, action, principal } = claim;
    UnverifiedView { commit: commit.clone(), action: action.clone(), principal: principal.clone() }
}

#[test]
fn a_decision_that_nobody_verified_is_accepted_as_ones_own() {
    let accepted = |keys: &str| {
        let mut state = claimed();
        match decided(press(&mut state, keys)) {
            Some(Decide { answer: HoldAnswer::Accept { commit, .. }, why, .. }) => {
                format!("{commit} {why}")
            }
            Some(Decide { answer: HoldAnswer::Act { action, .. }, .. }) => action.name().to_owned(),
            Some(other) => panic!("{other:?}"),
            None => said(&state),
        }
    };
    assert_eq!(accepted("u<send>"), "9f2c000000000000 ");
    assert_eq!(accepted("uucit is right<send>"), "8e1b000000000000 it is right");
    assert_eq!(accepted("uuu<send>"), "7c3d000000000000 ", "that of a peer likewise");
    assert_eq!(accepted("uuuu<send>"), "no action is chosen: a, r, e or p chooses one");
    // What was chosen last counts alone.
    assert_eq!(accepted("ur<send>"), "reject");
    assert_eq!(accepted("ru<send>"), "9f2c000000000000 ");
    let state = claimed();
    assert!(picture(&state).contains("unverified: 9f2c000000 says approve by user:eve"));
    is_harmless(&state);
    for part in ["unverified: approve by user:bob, bob", "AAAA", "late: "] {
        assert!(picture(&state).contains(part), "{part}: {}", picture(&state));
    }
    assert_eq!(answered("u"), "no decision is unverified here");
}
