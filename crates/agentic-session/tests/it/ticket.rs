//! Tickets: what a client of another protocol sends back, honest or not.

use agentic_session::decide::Action;
use agentic_session::error::{DecisionError, RequestError};
use agentic_session::ticket::{Ticket, TicketTerms, hand_out, take_back};
use agentic_session::{Error, Result};

use crate::kit::{Stage, draft, second};

const ADA: &str = "user:ada";

/// Says in a word why a ticket is refused; nothing if it is taken.
fn refusal(taken: Result<Ticket>) -> Option<String> {
    match taken {
        Ok(_) => None,
        Err(Error::Decision(DecisionError::NotAllowed { reason, .. })) => Some(reason),
        Err(other) => panic!("{other}"),
    }
}

/// Makes a hold at a moment, and a ticket for it.
fn handed_out() -> (Stage, String) {
    let stage = Stage::at(second(0));
    stage.start("hold(\"Go on?\").action");
    let terms = TicketTerms { principal: ADA, minutes: 10 };
    let ticket = hand_out(&stage.space, &stage.holds(), terms, |_| None).expect("readable");
    (stage, ticket)
}

#[test]
fn a_ticket_serves_whoever_it_was_made_for_as_long_as_it_says() {
    let (stage, ticket) = handed_out();
    let taken = take_back(&stage.space, &ticket, ADA).expect("it is ours");
    taken.check(&stage.space, &stage.only_hold()).expect("it stands as it stood");
    let other = refusal(take_back(&stage.space, &ticket, "user:eve"));
    assert!(other.is_some_and(|reason| reason.contains("somebody else")));
    let stage = stage.reopened_at(second(599));
    assert_eq!(refusal(take_back(&stage.space, &ticket, ADA)), None);
    let stage = stage.reopened_at(second(600));
    let late = refusal(take_back(&stage.space, &ticket, ADA));
    assert_eq!(late.as_deref(), Some("it is older than 10 minutes"));
}

#[test]
fn a_ticket_that_was_changed_anywhere_was_not_made_here() {
    let (stage, ticket) = handed_out();
    for at in (0..ticket.len()).step_by(5) {
        let mut changed = ticket.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(changed).expect("digits");
        assert!(refusal(take_back(&stage.space, &changed, ADA)).is_some(), "{at}");
    }
    let (seal, digits) = ticket.split_at(64);
    let spelled = [format!("{seal}{}", digits.to_uppercase()), ticket.to_uppercase()];
    assert!(spelled.iter().all(|text| refusal(take_back(&stage.space, text, ADA)).is_some()));
    for text in
        ["", ".", "x", &ticket[..64], &ticket[..ticket.len() - 2], &format!("{ticket}00"), "é"]
    {
        assert!(refusal(take_back(&stage.space, text, ADA)).is_some(), "{text}");
    }
    let (other, _) = handed_out();
    assert!(refusal(take_back(&other.space, &ticket, ADA)).is_some(), "of another space");
}

#[test]
fn a_ticket_serves_once_and_for_what_was_on_it() {
    let (stage, ticket) = handed_out();
    let taken = take_back(&stage.space, &ticket, ADA).expect("it is ours");
    let hold = stage.only_hold();
    stage.answer(&draft(Action::Approve)).expect("it may");
    let stale = taken.check(&stage.space, &hold);
    assert!(matches!(stale, Err(Error::Request(RequestError::Stale { .. }))), "{stale:?}");
    stage.start_as(&stage.agent, "another", "hold(\"Really?\")");
    let foreign = taken.check(&stage.space, &stage.only_hold());
    let is_refused = matches!(foreign, Err(Error::Decision(DecisionError::NotAllowed { .. })));
    assert!(is_refused, "{foreign:?}");
}

#[test]
fn an_answer_comes_back_with_a_ticket_once_whoever_looks() {
    let (stage, ticket) = handed_out();
    let hold = stage.only_hold();
    let request = hold.hold.session.short_request(&hold.hold.id);
    let taken = take_back(&stage.space, &ticket, ADA).expect("it is ours");
    taken.spend(&stage.space, &request).expect("it is the first");
    let stage = stage.reopened_at(second(60));
    let again = take_back(&stage.space, &ticket, ADA).expect("it is ours");
    let refused = again.spend(&stage.space, &request);
    let is_refused = matches!(refused, Err(Error::Decision(DecisionError::NotAllowed { .. })));
    assert!(is_refused, "{refused:?}");
    again.spend(&stage.space, "another").expect("it is another request's");
}
