//! Pictures of the screen, and what keys make of them, played without a terminal.

mod dialog;
mod panes;

use std::collections::BTreeMap;
use std::path::Path;

use agentic_api::roster::{RosterPage, RosterRow};
use agentic_api::view::{
    AgentView, DeciderView, FamilyView, HoldFateView, InboxHoldView, InboxView, LogView,
    PendingView, QuestionView,
};
use agentic_model::Instant;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use serde_json::json;

use crate::dialog::HoldSight;
use crate::key::UiKey;
use crate::line::PaneLine;
use crate::page;
use crate::paint::{UiColours, paint};
use crate::state::UiState;
use crate::wish::{DetailSubject, UiTold, UiWish};

/// The variable that lets tests write the pictures that they would compare.
const WRITE: &str = "AGENTIC_WRITE_PICTURES";
/// A minute after everything here was written.
const NOW: &str = "2026-11-21T22:01:00.000Z";
const THEN: &str = "2026-11-21T22:00:00.000Z";
/// Text that would steer a screen, or hide something on it.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;t\u{7}\r\u{9b}31m\u{202e}y\u{200b}";

fn now() -> Instant {
    Instant::parse(NOW).expect("an instant")
}

fn hold(agent: &str, question: &str) -> PendingView {
    PendingView {
        waiting: Vec::new(),
        request: format!("{agent}56789ab.0123456789ab"),
        session: "0123456789ab".to_owned(),
        agent: agent.to_owned(),
        path: "0".to_owned(),
        kind: "hold".to_owned(),
        reason: "asked".to_owned(),
        warning: None,
        question: Some(question.to_owned()),
        payload: json!({"payload": {"env": "prod"}}),
        schema: None,
        actions: ["approve", "reject", "edit", "respond"].map(str::to_owned).to_vec(),
        assignees: Vec::new(),
        role: None,
        choices: Vec::new(),
        escalated: 0,
        rest_of_session: None,
        means: BTreeMap::new(),
        on_expiry: None,
        asked_at: THEN.to_owned(),
        deadline: None,
        overdue: false,
        age_ms: 0,
        request_hash: "hash".to_owned(),
        votes: None,
        voted: Vec::new(),
        unverified: Vec::new(),
        replies: Vec::new(),
    }
}

fn decider() -> DeciderView {
    DeciderView {
        principal: "user:ada".to_owned(),
        address: "ada@example.invalid".to_owned(),
        key: None,
        login: None,
    }
}

fn inbox(holds: Vec<PendingView>) -> InboxView {
    let waiting = holds.len();
    let overdue = holds.iter().filter(|hold| hold.overdue).count();
    InboxView {
        decider: Some(decider()),
        holds: holds.into_iter().map(|hold| InboxHoldView { hold, mine: true }).collect(),
        next: None,
        waiting,
        mine: waiting,
        overdue,
        agents: Vec::new(),
        kinds: Vec::new(),
        reasons: Vec::new(),
        left_out: Vec::new(),
    }
}

fn agents(rows: &[(usize, &str, &str, &str)]) -> RosterPage {
    let row = |(depth, name, state, subject): &(usize, &str, &str, &str)| RosterRow {
        depth: *depth,
        family: FamilyView {
            agent: (*name).to_owned(),
            head: String::new(),
            state: (*state).to_owned(),
            commits: 3,
            kinds: BTreeMap::new(),
            merges: Vec::new(),
            merged_into: Vec::new(),
            children: Vec::new(),
        },
        newest: AgentView {
            agent: (*name).to_owned(),
            head: String::new(),
            genesis: None,
            parent: None,
            briefing: None,
            commits: 3,
            subject: (*subject).to_owned(),
            at: THEN.to_owned(),
        },
    };
    RosterPage {
        rows: rows.iter().map(row).collect(),
        n_rows: rows.len(),
        n_agents: rows.len(),
        kinds: Vec::new(),
        reviews: Vec::new(),
        left_out: Vec::new(),
        is_checking: false,
    }
}

fn logged(oid: &str, kind: &str, subject: &str) -> LogView {
    LogView {
        commit: oid.to_owned(),
        kind: kind.to_owned(),
        subject: subject.to_owned(),
        body: String::new(),
        at: THEN.to_owned(),
        author: "alice".to_owned(),
        agent: None,
        parents: Vec::new(),
        fields: json!({}),
        copied_from: None,
        merged: None,
        trace: None,
        unverified: false,
    }
}

/// Begins a screen of a size, with nothing on it.
fn screen(columns: u16, rows: u16) -> UiState {
    UiState::new("store", None, Rect::new(0, 0, columns, rows), now())
}

/// Begins one on which two agents ask.
fn asked(columns: u16, rows: u16) -> UiState {
    let mut state = screen(columns, rows);
    let late = PendingView {
        overdue: true,
        deadline: Some(THEN.to_owned()),
        ..hold("bob", "Delete the branch?")
    };
    state.hear(UiTold::Inbox(Ok(inbox(vec![hold("alice", "Deploy build 91?"), late]))));
    let rows = [
        (0, "alice", "held", "Add a"),
        (1, "bob", "held", "Try another way"),
        (0, "carol", "idle", "Begin"),
    ];
    state.hear(UiTold::Agents(Ok(agents(&rows))));
    let log =
        [logged("3571b3f000aa", "finding", "Add a"), logged("2694aaaaaaaa", "spawn", "Begin")];
    let lines = page::log("alice", &log, 200, now());
    state.hear(UiTold::Detail(DetailSubject::Log("alice".to_owned()), Ok(lines)));
    state
}

/// Draws the screen; blanks at the ends of lines are left out.
fn picture(state: &UiState) -> String {
    let (columns, rows) = (state.screen.width, state.screen.height);
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("it never fails");
    terminal.draw(|frame| paint(frame, state, UiColours::Off)).expect("it never fails");
    let buffer = terminal.backend().buffer();
    let cell = |x, y| buffer[(x, y)].symbol().to_owned();
    let line = |y| (0..columns).map(|x| cell(x, y)).collect::<String>().trim_end().to_owned();
    (0..rows).map(line).collect::<Vec<String>>().join("\n")
}

/// Compares the screen with a picture in the folder beside this file; makes that anew if [`WRITE`] is set.
fn check(state: &UiState, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/pictures");
    let (path, found) = (folder.join(format!("{name}.txt")), picture(state) + "\n");
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(&folder).expect("it can be written");
        std::fs::write(&path, &found).expect("it can be written");
    }
    let expected = std::fs::read_to_string(&path).expect("there is a picture");
    assert!(found == expected, "{name} is\n{found}\nand was to be\n{expected}");
}

/// Presses keys one after the other: a letter is that letter, and words in angle brackets are other keys.
fn press(state: &mut UiState, keys: &str) -> Vec<UiWish> {
    let mut wishes = Vec::new();
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let (key, left) = match named {
            Some((name, left)) => (named_key(name), left),
            None => (UiKey::Char(c), &rest[c.len_utf8()..]),
        };
        wishes = state.press(key);
        rest = left;
    }
    wishes
}

fn named_key(name: &str) -> UiKey {
    match name {
        "enter" => UiKey::Enter,
        "send" => UiKey::Send,
        "esc" => UiKey::Escape,
        "tab" => UiKey::Tab,
        "back" => UiKey::BackTab,
        "down" => UiKey::Down,
        "quit" => UiKey::Quit,
        "end" => UiKey::End,
        other => panic!("no key is called {other}"),
    }
}

/// Lets the dialog of the selected hold read what it is about.
fn read_hold(state: &mut UiState, hold: PendingView) {
    let (request, question) = (hold.request.clone(), QuestionView::new(hold, now()));
    let fate = HoldFateView::Open(Box::new(question));
    let sight = HoldSight { fate, decider: Some(decider()) };
    state.hear(UiTold::Hold(request, Ok(sight)));
}

/// Says that nothing on the screen is a character that could steer it.
fn is_harmless(state: &UiState) {
    let found = picture(state);
    let steers = |c: char| {
        c != '\n' && c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    assert!(!found.contains(steers), "{found:?}");
    assert!(found.contains("⟦001B⟧"), "it was to be shown:\n{found}");
}

fn lines(texts: &[&str]) -> Vec<PaneLine> {
    texts.iter().map(|text| PaneLine::of(text)).collect()
}
