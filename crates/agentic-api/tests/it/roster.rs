//! Lists of agents and sessions from rows that are known: the same as from everything, however old the
//! rows are.

use agentic_api::roster::{
    AgentRoster, KnownLedger, LedgerState, RosterDemand, RosterFilter, agents_now, read_agent,
    read_session,
};
use agentic_api::verb::{
    Archive, EdgeChange, ListAgents, ListRelations, Merge, RecentSessions, Relate, SessionCancel,
    SessionSignal, Tree,
};
use agentic_api::view::FamilyView;
use agentic_api::{Caller, Verb as _};
use agentic_index::{MainIndex, MemoryTables, ReadAgent, SharedLedger};
use agentic_model::{AgentName, Value};
use agentic_session::SessionSpace;
use agentic_testkit::Sandbox;
use serde_json::{Value as Json, json, to_value};

use crate::place::{from, named, place, start, write};

/// How often something is done to a repository.
const ACTS: usize = 24;

/// Numbers that look like chance and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % most
    }
}

fn shown<T: serde::Serialize>(value: &T) -> Json {
    to_value(value).expect("data")
}

/// Writes families one below the other, as a page has them.
fn rows(
    families: &[FamilyView],
    depth: usize,
    is_meant: &dyn Fn(&FamilyView) -> bool,
) -> Vec<Json> {
    let mut found = Vec::new();
    for family in families {
        let mut alone = shown(family);
        alone["children"] = json!([]);
        found.extend(is_meant(family).then(|| json!([depth, alone])));
        found.extend(rows(&family.children, depth + 1, is_meant));
    }
    found
}

/// Compares all lists.
fn check(space: &SessionSpace, sandbox: &Sandbox, rows_known: &SharedLedger) {
    let caller = Caller::new(space, sandbox.start());
    let tree = Tree {}.run(&caller).expect("readable").answer;
    let agents = ListAgents {}.run(&caller).expect("readable").answer;
    for state in [LedgerState::Absent, LedgerState::Checking, LedgerState::Ready] {
        let known = KnownLedger { rows: rows_known.clone(), state };
        let among = Tree {}.among(&caller, &known).expect("readable").answer;
        assert_eq!(shown(&among), shown(&tree), "{state:?}");
        let among: Vec<_> =
            ListAgents {}.among(&caller, &known).expect("readable").answer.collect();
        assert_eq!(shown(&among), shown(&agents), "{state:?}");
        let roster = AgentRoster::read(space, &known, RosterDemand::Soon).expect("readable");
        assert!(!roster.is_checking, "there are few");
        for (state, kind, name) in [
            ("", "", ""),
            ("held", "", ""),
            ("idle", "", ""),
            ("", "session-merge", ""),
            ("", "", "2"),
        ] {
            let wanted = |family: &FamilyView| {
                (state.is_empty() || family.state == state)
                    && (kind.is_empty() || family.kinds.contains_key(kind))
                    && family.agent.contains(name)
            };
            let mut filter = RosterFilter {
                state: state.to_owned(),
                kind: kind.to_owned(),
                name: name.to_owned(),
                limit: 3,
                ..RosterFilter::default()
            };
            let mut found = Vec::new();
            loop {
                let page = roster.page(&filter);
                found.extend(page.rows.iter().map(|row| json!([row.depth, shown(&row.family)])));
                filter.after += page.rows.len();
                if page.rows.is_empty() {
                    assert_eq!(page.n_rows, found.len());
                    break;
                }
            }
            assert_eq!(found, rows(&tree, 0, &wanted), "{state} {kind} {name}");
            // In a drawing whoever is above stays.
            filter = RosterFilter { with_ancestors: true, after: 0, limit: 99, ..filter };
            let found: Vec<String> =
                roster.page(&filter).rows.into_iter().map(|row| row.family.agent).collect();
            fn holds(family: &FamilyView, wanted: &dyn Fn(&FamilyView) -> bool) -> bool {
                wanted(family) || family.children.iter().any(|child| holds(child, wanted))
            }
            let drawn = rows(&tree, 0, &|family| holds(family, &wanted));
            let drawn: Vec<&str> =
                drawn.iter().filter_map(|row| row[1]["agent"].as_str()).collect();
            assert_eq!(found, drawn, "{state} {kind} {name}");
        }
        check_reviews(&caller, &roster);
        check_sessions(&caller, &known);
    }
}

/// Compares who reviews the agents that are drawn.
fn check_reviews(caller: &Caller<'_>, roster: &AgentRoster) {
    let drawn = |name: &str| RosterFilter {
        name: name.to_owned(),
        with_ancestors: true,
        limit: 99,
        ..RosterFilter::default()
    };
    let kind = Some("reviews".to_owned());
    let all = ListRelations { kind, ..ListRelations::default() }.run(caller).expect("readable");
    for name in ["", "2"] {
        let page = roster.page(&drawn(name));
        let is_drawn = |agent: &String| page.rows.iter().any(|row| row.family.agent == *agent);
        let mut wanted: Vec<(String, String)> = all
            .answer
            .iter()
            .filter(|one| is_drawn(&one.target))
            .map(|one| (one.source.clone(), one.target.clone()))
            .collect();
        wanted.sort();
        let found: Vec<(String, String)> =
            page.reviews.iter().map(|one| (one.who.clone(), one.agent.clone())).collect();
        assert_eq!(found, wanted, "{name}");
    }
    assert!(roster.page(&RosterFilter { limit: 99, ..RosterFilter::default() }).reviews.is_empty());
}

/// Compares lists of sessions.
fn check_sessions(caller: &Caller<'_>, known: &KnownLedger) {
    for (agent, state) in
        [(None, None), (None, Some("held")), (None, Some("cancelled")), (Some("a1"), None)]
    {
        let verb = || RecentSessions {
            agent: agent.map(str::to_owned),
            state: state.map(str::to_owned),
            after: 0,
        };
        let settled = |mut page: Json| {
            let items = page["items"].as_array_mut().expect("items");
            items.iter_mut().for_each(|item| item["age_ms"] = Json::Null);
            page
        };
        let ground = verb().run(caller).expect("readable").answer;
        let among = verb().among(caller, known).expect("readable");
        assert_eq!(settled(shown(&among)), settled(shown(&ground)));
    }
}

/// Does something to a repository.
fn act(space: &SessionSpace, sandbox: &Sandbox, dice: &mut Dice, number: usize) {
    let caller = Caller::new(space, sandbox.start());
    let one = format!("a{}", dice.below(6));
    let other = format!("a{}", dice.below(6));
    // What is refused changes nothing.
    match dice.below(10) {
        0 | 1 => drop(named(&one).run(&caller)),
        2 | 3 => drop(from(&one, &other).run(&caller)),
        4 if space.head(&AgentName::parse(&one).expect("valid")).is_ok() => {
            write(space, &one, &format!("f{number}"), &number.to_string());
        }
        5 => {
            let verb = Merge { agent: one, into: other, ..Merge::default() };
            drop(verb.run(&caller));
        }
        6 => {
            let relate = Relate {
                source: one,
                relation: "reviews".to_owned(),
                target: other,
                change: EdgeChange::Assert,
            };
            drop(relate.run(&caller));
        }
        7 => drop(start(space, &format!("s{number}"), r#"hold("Dive?").action"#)),
        8 => {
            let held =
                RecentSessions { state: Some("held".to_owned()), ..RecentSessions::default() };
            let held = held.run(&caller).expect("readable").answer.items;
            if let Some(session) = held.first() {
                let (session, why) = (session.session.clone(), "enough".to_owned());
                drop(SessionCancel { session, kill: false, why }.run(&caller));
            }
        }
        9 => {
            let branch = format!("refs/heads/agents/{one}");
            drop(sandbox.try_git(sandbox.start(), &["update-ref", "-d", &branch]));
        }
        _ => drop(Archive { agents: vec![one] }.run(&caller)),
    }
}

/// Brings the rows of some agents and sessions to where they are.
fn follow(space: &SessionSpace, index: &mut MainIndex, dice: &mut Dice) {
    for (name, seen) in agents_now(space).expect("readable") {
        if dice.below(3) == 0 {
            let known = index.rows().agents.get(name.as_str()).map(|known| known.row());
            let row = read_agent(space, &name, seen, known.as_ref()).expect("readable");
            let read = ReadAgent { row, kept: Vec::new() };
            index.put_agents(vec![read]).expect("in memory");
        }
    }
    for id in space.sessions().expect("readable") {
        if dice.below(3) == 0 {
            let row = read_session(space, &id).expect("readable");
            index.put_session(&id.to_string(), row).expect("in memory");
        }
    }
}

#[test]
fn lists_from_old_rows_are_those_from_everything() {
    for seed in 0..4 {
        let (sandbox, space) = place();
        let shared = SharedLedger::default();
        let tables = Box::new(MemoryTables::default());
        let mut index = MainIndex::open(tables, "here", &shared).expect("a new one");
        let mut dice = Dice(seed);
        for number in 0..ACTS {
            act(&space, &sandbox, &mut dice, number);
            if dice.below(3) == 0 {
                follow(&space, &mut index, &mut dice);
            }
            if number % 4 == 3 {
                check(&space, &sandbox, &shared);
            }
        }
        assert!(!shared.rows().agents.is_empty(), "something was known");
    }
}

#[test]
fn a_session_that_was_recorded_more_of_is_another_row() {
    let (sandbox, space) = place();
    let id = start(&space, "alice", r#"suspend("go"); hold("Dive?").action"#);
    let row = read_session(&space, &id).expect("readable");
    assert!(row.n_bytes.is_some(), "it is not over");
    let caller = Caller::new(&space, sandbox.start());
    let (session, name) = (id.to_string(), "go".to_owned());
    let told = SessionSignal { session, name, value: Value::Null };
    told.run(&caller).expect("it waits for that");
    let now = read_session(&space, &id).expect("readable");
    assert!(now.n_bytes > row.n_bytes, "{now:?} after {row:?}");
}

#[test]
fn parents_that_form_a_circle_have_an_end() {
    let (sandbox, space) = place();
    let start = sandbox.start();
    let tree = sandbox.git(start, &["hash-object", "-t", "tree", "-w", "/dev/null"]).expect("git");
    for (agent, parent) in [("x", "y"), ("y", "x"), ("z", "y"), ("self", "self")] {
        let message = format!(
            "By hand\n\nAgentic-Kind: spawn\nAgentic-Agent: {agent}\nAgentic-Parent: {parent}"
        );
        let commit =
            sandbox.git(start, &["commit-tree", tree.trim(), "-m", &message]).expect("git");
        let branch = format!("refs/heads/agents/{agent}");
        sandbox.git(start, &["update-ref", &branch, commit.trim()]).expect("git");
    }
    check(&space, &sandbox, &SharedLedger::default());
}
