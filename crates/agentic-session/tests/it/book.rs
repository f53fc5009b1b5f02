//! What a process that stays knows of open holds: what one has written down spares another the reading,
//! and counts only as long as it is so.

use agentic_model::{Instant, Value};
use agentic_replay::SessionId;
use agentic_session::decide::{Action, decide};
use agentic_session::hold::book::{BookedHold, HoldBook};
use agentic_session::hold::{Filter, pending};
use agentic_session::{Clock, SessionSpace};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{EPOCH_MS, Stage, draft, name, second};

/// What was written down of sessions.
type BookNews = Vec<(SessionId, Option<Value>)>;

/// More than there are sessions.
const ALL: usize = 100;

/// Makes three agents that wait for people.
fn three() -> Stage {
    let stage = Stage::at(second(0));
    let bob = stage.spawn("bob", &SpawnOrigin::Agent(stage.agent.clone()));
    let carol = stage.spawn("carol", &SpawnOrigin::Root);
    let policy = "#{assignees: [\"user:ada\"], payload: 7}";
    stage.start_as(&stage.agent, "a", &format!("hold(\"One?\", {policy})"));
    let deadline = EPOCH_MS + 5000;
    stage.start_as(&bob, "b", &format!("hold(\"Two?\", #{{deadline: {deadline}}})"));
    stage.start_as(&carol, "c", "suspend(\"go\")");
    stage
}

fn listed(space: &SessionSpace, book: &HoldBook) -> Vec<BookedHold> {
    let outlook = book.outlook(space, &Filter::default()).expect("readable");
    let read = pending(space, &Filter::default()).expect("readable");
    let ids = read.iter().map(|hold| hold.hold.id);
    assert!(outlook.holds.iter().map(|hold| hold.id).eq(ids), "it is the list of everything");
    outlook.holds
}

/// Opens the space as a later process does that knows what an earlier one has written down, lists the
/// holds, and says of which sessions it has read records.
fn recalled(stage: &Stage, clock: Clock, news: &BookNews) -> (Vec<BookedHold>, Vec<SessionId>) {
    let (space, book) = (stage.beside_at(clock), HoldBook::default());
    for (session, written) in news {
        let written = written.as_ref().expect("it is open");
        assert!(book.recall(session, written), "{written:?}");
    }
    let holds = listed(&space, &book);
    let read = book.take_news(ALL);
    (holds, read.into_iter().map(|(session, _)| session).collect())
}

/// Lists the holds, and returns what is to be written down.
fn first(stage: &Stage) -> (Vec<BookedHold>, BookNews) {
    let book = HoldBook::default();
    let holds = listed(&stage.space, &book);
    let news = book.take_news(ALL);
    assert_eq!((holds.len(), news.len()), (3, 3));
    assert!(news.iter().all(|(_, written)| written.is_some()), "{news:?}");
    assert!(book.take_news(ALL).is_empty(), "it is told once");
    (holds, news)
}

fn session_of(holds: &[BookedHold], agent: &str) -> SessionId {
    holds.iter().find(|hold| hold.agent == name(agent)).expect("it waits").session
}

#[test]
fn what_was_written_down_spares_the_reading() {
    let stage = three();
    let (holds, news) = first(&stage);
    assert_eq!(recalled(&stage, second(0), &news), (holds, Vec::new()));
}

#[test]
fn what_moved_since_is_read_again() {
    let stage = three();
    let (holds, news) = first(&stage);
    stage.commit(&stage.agent, "a", "moved");
    let (now, read) = recalled(&stage, second(0), &news);
    assert_eq!((now, read), (holds.clone(), vec![session_of(&holds, "alice")]));
    let carol = pending(&stage.space, &Filter { agent: Some(name("carol")), ..Filter::default() });
    decide(&stage.space, &carol.expect("readable")[0], &draft(Action::Approve)).expect("it may");
    let (now, read) = recalled(&stage, second(0), &news);
    assert_eq!(now.len(), 2, "one is answered");
    assert!(read.contains(&session_of(&holds, "carol")));
    assert!(!read.contains(&session_of(&holds, "bob")));
}

#[test]
fn what_time_changes_is_read_again() {
    let stage = three();
    let (holds, news) = first(&stage);
    let (now, read) = recalled(&stage, second(6), &news);
    let overdue: Vec<String> =
        now.iter().filter(|hold| hold.overdue).map(|hold| hold.agent.to_string()).collect();
    assert_eq!((overdue, read), (vec!["bob".to_owned()], vec![session_of(&holds, "bob")]));
    // Nor does a clock that was set back tell of what comes.
    let (_, read) = recalled(&stage, second(-6), &news);
    assert!(read.contains(&session_of(&holds, "bob")));
}

#[test]
fn another_configuration_may_name_other_people() {
    let stage = three();
    let (holds, news) = first(&stage);
    stage.git(&["config", "agentic.deciders", "user:eve ssh-ed25519 AAAA"]);
    let (now, read) = recalled(&stage, second(0), &news);
    assert_eq!((now, read.len()), (holds, 3));
}

#[test]
fn what_says_nothing_is_not_recalled() {
    let stage = three();
    let (holds, news) = first(&stage);
    let (session, written) = &news[0];
    let whole = written.as_ref().and_then(Value::as_map).expect("a map");
    let (space, book) = (stage.beside_at(second(0)), HoldBook::default());
    for key in whole.keys() {
        let mut part = whole.clone();
        part.remove(key);
        assert!(!book.recall(session, &Value::Map(part.clone())), "without {key}");
        part.insert(key.clone(), Value::Float(0.5));
        assert!(!book.recall(session, &Value::Map(part)), "{key} is a fraction");
    }
    assert!(!book.recall(session, &Value::Null));
    assert_eq!(listed(&space, &book), holds);
    assert!(holds.iter().all(|hold| hold.asked_at >= Instant::from_millis(EPOCH_MS)));
}
