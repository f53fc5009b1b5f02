//! The words for what a decision does, and for how long.

use super::{Action, ApprovalScope};

/// All actions: those of people, and those of the engine.
const BY_PEOPLE: [Action; 4] = [Action::Approve, Action::Reject, Action::Edit, Action::Respond];
const BY_ENGINE: [Action; 2] = [Action::Expire, Action::Withdrawn];

#[test]
fn every_action_is_read_by_its_name() {
    for action in BY_PEOPLE.into_iter().chain(BY_ENGINE) {
        assert_eq!(Action::parse_any(action.name()), Some(action));
    }
}

#[test]
fn nobody_takes_an_action_of_the_engine() {
    for action in BY_PEOPLE {
        assert_eq!(Action::parse(action.name()), Some(action));
    }
    for word in BY_ENGINE.map(Action::name) {
        assert_eq!(Action::parse(word), None, "{word}");
    }
}

#[test]
fn other_words_are_no_action() {
    for word in ["", "Approve", "approve ", "accept", "EXPIRE", "with-drawn"] {
        assert_eq!(Action::parse_any(word), None, "{word:?}");
    }
}

#[test]
fn a_scope_is_read_by_its_name_alone() {
    for scope in [ApprovalScope::Once, ApprovalScope::RestOfSession] {
        assert_eq!(ApprovalScope::parse(scope.name()), Some(scope));
    }
    for word in ["", "Once", "session", "rest_of_session", "for ever"] {
        assert_eq!(ApprovalScope::parse(word), None, "{word:?}");
    }
    assert_eq!(ApprovalScope::default(), ApprovalScope::Once, "nothing counts longer unasked");
}
