use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentic_api::roster::LedgerState;
use agentic_api::verb::{
    BriefingSource, CheckoutPlace, EntryBody, ListCommits, SearchTexts, Spawn, SpawnBeginning,
    TraceAdd, TraceAttach, TracePending, TraceShow, Tree,
};
use agentic_api::view::SearchView;
use agentic_api::{Caller, Verb as _};
use agentic_index::LedgerRows;
use agentic_model::AgentName;
use agentic_session::{SessionOptions, SessionSpace};
use agentic_testkit::{Sandbox, Setup};

use super::{AgentToRead, IndexDesk, IndexLimits, IndexState};
use crate::event::EventHub;

/// How long something may take that happens soon.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository with agents, and indexes of it.
struct IndexedPlace {
    sandbox: Sandbox,
    space: Arc<SessionSpace>,
    events: Arc<EventHub>,
    n_agents: usize,
}

impl IndexedPlace {
    fn new() -> IndexedPlace {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let options = SessionOptions::default();
        let space = SessionSpace::open(sandbox.start(), options).expect("a repository");
        let events = Arc::new(EventHub::new("e".to_owned()));
        let mut place = IndexedPlace { sandbox, space: Arc::new(space), events, n_agents: 0 };
        (0..3).for_each(|_| drop(place.spawn()));
        place
    }

    fn spawn(&mut self) -> AgentName {
        let name = format!("a{}", self.n_agents);
        self.n_agents += 1;
        let briefing = BriefingSource::Text(format!("Mend the token of {name}"));
        let (beginning, worktree) = (SpawnBeginning::Empty, CheckoutPlace::Nowhere);
        let spawn = Spawn {
            behaviour: None,
            private: false,
            name: name.clone(),
            briefing,
            beginning,
            worktree,
        };
        spawn.run(&self.caller()).expect("the name is free");
        AgentName::parse(&name).expect("valid")
    }

    fn caller(&self) -> Caller<'_> {
        Caller::new(&self.space, self.sandbox.start())
    }

    fn folder(&self) -> PathBuf {
        self.space.repository().layout().index()
    }

    fn begin(&self, limits: IndexLimits) -> IndexDesk {
        IndexDesk::begin(&self.space, &self.events, limits).expect("threads")
    }

    /// Compares what is answered with what reading everything gives.
    fn check(&self, desk: &IndexDesk) {
        self.check_agents(desk);
        let caller = self.caller();
        let search = SearchTexts { query: "token".to_owned(), limit: Some(500) };
        let scanned: SearchView = search.clone().run(&caller).expect("readable").answer;
        let found = search.among(&caller, &|scope, most| desk.find(scope, most));
        assert_eq!(found.expect("readable").answer().expect("a query"), scanned);
        assert!(!scanned.partial);
    }

    /// Compares the list of agents.
    fn check_agents(&self, desk: &IndexDesk) {
        let caller = self.caller();
        let shown =
            |tree: &Vec<agentic_api::view::FamilyView>| serde_json::to_value(tree).expect("data");
        let tree = Tree {}.run(&caller).expect("readable").answer;
        assert_eq!(tree.len(), self.n_agents);
        let among = Tree {}.among(&caller, &desk.ledger()).expect("readable").answer;
        assert_eq!(shown(&among), shown(&tree));
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_ready(desk: &IndexDesk) -> bool {
    desk.main.state() == IndexState::Ready && desk.text.state() == IndexState::Ready
}

fn is_absent(desk: &IndexDesk, why: &str) -> bool {
    [desk.main.state(), desk.text.state()].iter().all(|state| match state {
        IndexState::Absent { why: said } => said.contains(why),
        IndexState::Building { .. } | IndexState::Ready => false,
    })
}

#[test]
fn an_index_that_another_process_has_is_had_later() {
    let place = IndexedPlace::new();
    let limits = IndexLimits { retry: Duration::from_millis(50), ..IndexLimits::default() };
    let desk = place.begin(limits);
    wait_until("it is made", || is_ready(&desk));
    place.check(&desk);
    desk.end();
    drop(desk);
    let lock = |name: &str| {
        let file = File::open(place.folder().join(name).join("db")).expect("its file");
        file.lock().expect("it is closed");
        file
    };
    let held = [lock("main"), lock("text")];
    let desk = place.begin(limits);
    wait_until("it is held", || is_absent(&desk, "another process"));
    place.check(&desk);
    assert_eq!(desk.ledger().state, LedgerState::Absent);
    drop(held);
    wait_until("it is free", || is_ready(&desk));
    place.check(&desk);
    desk.end();
}

#[test]
fn a_full_disk_is_gone_without_an_index() {
    let mut place = IndexedPlace::new();
    let full = IndexLimits { free_bytes_min: u64::MAX, ..IndexLimits::default() };
    let desk = place.begin(full);
    wait_until("it is full", || is_absent(&desk, "too little room"));
    place.spawn();
    place.check(&desk);
    assert!(!place.folder().join("main").exists(), "nothing was written");
    desk.end();
}

#[test]
fn a_folder_that_nobody_can_make_is_gone_without() {
    let place = IndexedPlace::new();
    // Not even root makes a folder of a file.
    std::fs::create_dir_all(place.folder().parent().expect("it has one")).expect("writable");
    std::fs::write(place.folder(), "").expect("writable");
    let desk =
        place.begin(IndexLimits { retry: Duration::from_millis(50), ..IndexLimits::default() });
    wait_until("it is no folder", || is_absent(&desk, ""));
    place.check(&desk);
    std::fs::remove_file(place.folder()).expect("it is there");
    wait_until("there is room again", || is_ready(&desk));
    place.check(&desk);
    desk.end();
}

#[test]
fn an_index_that_has_grown_is_copied_and_answers_meanwhile() {
    let mut place = IndexedPlace::new();
    // Whatever it takes is too much: it is copied again and again.
    let limits = IndexLimits { growth_max: 0, growth_bytes_min: 0, ..IndexLimits::default() };
    let desk = place.begin(limits);
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(place.folder().join(name)).map_or(0, |found| found.ino())
    };
    wait_until("it is made", || is_ready(&desk));
    let (main, text) = (inode("main"), inode("text"));
    wait_until("both are others", || inode("main") != main && inode("text") != text);
    for _ in 0..5 {
        let agent = place.spawn();
        desk.follow_agents(vec![AgentToRead::Named(agent.to_string())]);
        place.check(&desk);
    }
    desk.end();
    drop(desk);
    // What was written while it was copied is in the copy.
    let desk = place.begin(IndexLimits::default());
    wait_until("it is read", || is_ready(&desk));
    assert_eq!(desk.ledger().rows.rows().agents.len(), place.n_agents);
    place.check(&desk);
    desk.end();
}

#[test]
fn a_rebuild_that_is_broken_off_ends_as_one_made_at_once() {
    let mut place = IndexedPlace::new();
    (0..20).for_each(|_| drop(place.spawn()));
    for n_pieces in 1..=5 {
        let desk = place.begin(IndexLimits::default());
        let is_begun = || desk.ledger().rows.rows().agents.len() >= n_pieces * 3;
        wait_until("some are read", || is_begun() || is_ready(&desk));
        desk.end();
    }
    let desk = place.begin(IndexLimits::default());
    wait_until("it is made", || is_ready(&desk));
    let pieced = desk.ledger().rows.rows().clone();
    place.check(&desk);
    // What lies in the folders of before goes with them, however soon others are there.
    let marks = ["main", "text"].map(|name| place.folder().join(name).join("mark"));
    marks.iter().for_each(|mark| std::fs::write(mark, "x").expect("writable"));
    desk.rebuild();
    wait_until("it begins anew", || marks.iter().all(|mark| !mark.exists()));
    wait_until("it is made at once", || is_ready(&desk));
    // They were not compared equally often.
    let alike = |rows: LedgerRows| LedgerRows { swept: None, ..rows };
    assert_eq!(alike(desk.ledger().rows.rows().clone()), alike(pieced));
    place.check(&desk);
    desk.end();
}

#[test]
fn agents_are_believed_to_be_where_they_are_as_long_as_refs_are_the_same() {
    let place = IndexedPlace::new();
    let git = |arguments: &[&str]| {
        place.sandbox.try_git(place.sandbox.start(), arguments).expect("git works");
    };
    let is_swept = |desk: &IndexDesk| desk.ledger().rows.rows().swept.is_some();
    let sweep = |desk: &IndexDesk| {
        wait_until("all are compared", || {
            desk.sweep();
            is_swept(desk)
        });
    };
    let desk = place.begin(IndexLimits::default());
    wait_until("it is made", || is_ready(&desk));
    sweep(&desk);
    place.check_agents(&desk);
    // Nobody tells of these.
    let (branch, other) = ("refs/heads/agents/a0", "refs/heads/agents/a1");
    let before = place.space.repository().find_ref(branch).expect("readable").expect("there");
    git(&["update-ref", branch, other]);
    place.check_agents(&desk);
    wait_until("it is compared", || {
        desk.sweep();
        let now = desk.ledger().rows.rows().agents.get("a0").map(|row| row.seen().head);
        is_swept(&desk) && now.is_some_and(|now| now != before)
    });
    place.check_agents(&desk);
    git(&["update-ref", branch, &before.to_string()]);
    place.check_agents(&desk);
    sweep(&desk);
    place.check_agents(&desk);
    desk.end();
    drop(desk);
    // The next process believes what this one knew, and nothing that came behind it.
    let desk = place.begin(IndexLimits::default());
    sweep(&desk);
    place.check_agents(&desk);
    desk.end();
    drop(desk);
    git(&["update-ref", branch, other]);
    let desk = place.begin(IndexLimits::default());
    place.check_agents(&desk);
    sweep(&desk);
    place.check_agents(&desk);
    desk.end();
}

/// Words of which none is a part of another.
const WORDS: [&str; 8] = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"];

/// Numbers that look like chance and are always the same.
struct WordDice(u64);

impl WordDice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % most
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }
}

/// Says whether a text is meant.
type TextTest = Box<dyn Fn(&str) -> bool>;

/// Reads the entries of all traces, as `trace show` and `trace pending` print them.
fn entries(place: &IndexedPlace) -> Vec<String> {
    let caller = place.caller();
    let mut texts = Vec::new();
    for number in 0..place.n_agents {
        let agent = Some(format!("a{number}"));
        let log = ListCommits { agent: agent.clone(), ..ListCommits::default() };
        for commit in log.run(&caller).expect("readable").answer {
            let Some(id) = commit.trace else { continue };
            let shown = TraceShow { id }.run(&caller).expect("readable").answer;
            texts.push(serde_json::to_value(shown).expect("data")["entries"].clone());
        }
        let pending = TracePending { agent }.run(&caller).expect("readable").answer;
        texts.push(serde_json::to_value(pending).expect("data"));
    }
    let entries = texts.iter().flat_map(|texts| texts.as_array().expect("a list"));
    entries.map(|entry| entry["text"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn a_search_finds_what_traces_say_and_scanning_finds_the_same() {
    let place = IndexedPlace::new();
    let mut dice = WordDice(7);
    for number in 0..60 {
        let agent = format!("a{}", dice.below(place.n_agents));
        let words: Vec<&str> = (0..1 + dice.below(5)).map(|_| dice.word()).collect();
        let body = EntryBody::Text(words.join(" "));
        let add = TraceAdd { agent: Some(agent.clone()), kind: None, body };
        add.run(&place.caller()).expect("writable");
        if number % 4 == 0 {
            let commit = format!("agents/{agent}");
            let attach = TraceAttach { commit, agent: Some(agent) };
            attach.run(&place.caller()).expect("it is its own");
        }
    }
    let entries = entries(&place);
    // Of a commit that is bound again, the newest trace counts.
    assert!(entries.len() >= 20, "{entries:?}");
    let desk = place.begin(IndexLimits::default());
    wait_until("it is made", || is_ready(&desk));
    for _ in 0..500 {
        let (one, other) = (dice.word(), dice.word());
        let (query, says): (String, TextTest) = match dice.below(5) {
            0 => (one.to_owned(), Box::new(move |text: &str| text.contains(one))),
            1 => {
                let both = move |text: &str| text.contains(one) && text.contains(other);
                (format!("{one} {other}"), Box::new(both))
            }
            2 => {
                let phrase = format!("{one} {other}");
                (format!("\"{phrase}\""), Box::new(move |text: &str| text.contains(&phrase)))
            }
            3 => {
                let without = move |text: &str| text.contains(one) && !text.contains(other);
                (format!("{one} -{other}"), Box::new(without))
            }
            _ => {
                let begin = &one[..2];
                (format!("{begin}*"), Box::new(move |text: &str| text.contains(begin)))
            }
        };
        let query = format!("{query} in:trace");
        let search = SearchTexts { query: query.clone(), limit: Some(500) };
        let scanned = search.clone().run(&place.caller()).expect("a query").answer;
        let found = search.among(&place.caller(), &|scope, most| desk.find(scope, most));
        assert_eq!(found.expect("a query").answer().expect("a query"), scanned, "{query}");
        let mut said: Vec<&String> = entries.iter().filter(|text| says(text)).collect();
        let mut hits: Vec<&String> = scanned.items.iter().map(|hit| &hit.text).collect();
        said.sort();
        hits.sort();
        assert_eq!(hits, said, "{query}");
    }
    desk.end();
}
