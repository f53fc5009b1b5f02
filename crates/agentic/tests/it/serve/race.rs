//! A command, the page and expiry answer the same request at the same time, again and again.

use super::decision::{DecisionFields, with};
use super::*;

/// How many requests are answered so.
const HOLDS: usize = 20;
/// How long until all of them are too late, in milliseconds: until then they have been asked.
const ASKED_MS: i64 = 25_000;
/// How far apart the answers to one and the next are.
const STEP: Duration = Duration::from_millis(60);
/// How much earlier some commands begin.
const COMMAND_AHEAD: Duration = Duration::from_millis(400);

/// Returns the milliseconds since 1970.
fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_millis()).expect("this age")
}

/// What somebody who answered was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerFate {
    Won,
    Lost,
}

/// Waits for the moment of one of the requests: from a while before they are too late to a while after.
fn await_turn(number: usize, late_ms: i64, ahead: Duration) {
    let early = STEP * u32::try_from(HOLDS / 2).expect("few");
    let wait = u64::try_from(late_ms - now_ms()).unwrap_or_default();
    let at = Duration::from_millis(wait) + STEP * u32::try_from(number).expect("few");
    std::thread::sleep(at.saturating_sub(early + ahead));
}

fn approve_by_command(served: &Served, request: &str) -> AnswerFate {
    let decide = run(&served.sandbox, served.sandbox.start(), &["decide", request, "approve"]);
    match decide.status.code() {
        Some(0) => AnswerFate::Won,
        Some(3 | 8 | 12) => AnswerFate::Lost,
        other => panic!("{other:?}: {}", String::from_utf8_lossy(&decide.stderr)),
    }
}

fn reject_by_page(
    served: &Served,
    cookie: &str,
    request: &str,
    form: &DecisionFields,
) -> AnswerFate {
    let answered = served.send_form(cookie, request, &with(form, &[("action", "reject")]));
    match answered.status {
        303 => AnswerFate::Won,
        409 | 410 => AnswerFate::Lost,
        other => panic!("{other}: {}", answered.body),
    }
}

/// Looks at a session, which expires what is too late.
fn expire(served: &Served, request: &str) {
    let (session, _) = request.split_once('.').expect("a session's");
    run(&served.sandbox, served.sandbox.start(), &["session", "resume", session]);
}

/// Says who won, once that agrees with what everybody was told.
fn winner(served: &Served, agent: &str, told: (AnswerFate, AnswerFate)) -> usize {
    let decisions = served.decisions(agent);
    assert_eq!(decisions.len(), 1, "{agent}: {decisions:?}");
    let fields = &decisions[0]["fields"];
    let by = (fields["principal"].as_str(), fields["action"].as_str());
    let (place, expected) = match by {
        (Some("user:ada"), Some("approve")) => (0, (AnswerFate::Won, AnswerFate::Lost)),
        (Some("user:ada"), Some("reject")) => (1, (AnswerFate::Lost, AnswerFate::Won)),
        (Some("system:expiry"), _) => (2, (AnswerFate::Lost, AnswerFate::Lost)),
        other => panic!("{agent}: {other:?}"),
    };
    assert_eq!(told, expected, "{agent}: {by:?}");
    place
}

#[test]
fn a_command_the_page_and_expiry_make_one_decision() {
    let served = Served::new();
    let late_ms = now_ms() + ASKED_MS;
    let deadline = agentic_model::Instant::from_millis(late_ms);
    let flow =
        format!("hold(\"Deploy?\", #{{deadline: \"{deadline}\", on_expiry: \"late\"}}).value");
    let cookie = served.log_in();
    let holds: Vec<_> = (0..HOLDS)
        .map(|number| {
            let agent = format!("a{number}");
            let request = served.ask_by(&agent, &flow);
            let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
            (agent, request, form)
        })
        .collect();
    assert!(now_ms() < late_ms, "this machine is too slow for the test");
    let fates: Vec<_> = std::thread::scope(|scope| {
        let answers = holds.iter().enumerate().map(|(number, (_, request, form))| {
            let (served, cookie) = (&served, &cookie);
            let command = scope.spawn(move || {
                // It takes some time until it answers: half of them begin before the page does.
                let ahead = COMMAND_AHEAD * u32::from(number.is_multiple_of(2));
                await_turn(number, late_ms, ahead);
                approve_by_command(served, request)
            });
            let page = scope.spawn(move || {
                await_turn(number, late_ms, Duration::ZERO);
                reject_by_page(served, cookie, request, form)
            });
            scope.spawn(move || {
                await_turn(number, late_ms, Duration::ZERO);
                expire(served, request);
            });
            (command, page)
        });
        let answers: Vec<_> = answers.collect();
        let ended = answers.into_iter();
        let ended = ended.map(|(one, two)| (one.join().expect("ends"), two.join().expect("ends")));
        ended.collect()
    });
    let mut winners = [0; 3];
    for ((agent, request, _), told) in holds.iter().zip(fates) {
        // What nobody answered in time is expired by whoever looks next.
        expire(&served, request);
        winners[winner(&served, agent, told)] += 1;
    }
    println!("commands, page and expiry won {winners:?}");
    assert!(winners[2] > 0 && winners[0] + winners[1] > 0, "nobody raced: {winners:?}");
}
