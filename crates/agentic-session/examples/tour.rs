//! A tour of the library: an agent, its trace, a commit, and what the log says about it.
//!
//! Run it inside any git repository that knows who you are:
//! `cargo run -p agentic-session --example tour -- PATH`

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_git::FileMode;
use agentic_session::{SessionOptions, SessionSpace};
use agentic_space::AgentBranch;
use agentic_space::commit::{CommitDraft, Edit, Emptiness, TraceBinding, TreeSource, commit};
use agentic_space::model::{AgentName, Briefing, Kind, Map};
use agentic_space::spawn::{SpawnOrigin, spawn};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let space = SessionSpace::open(&path, SessionOptions::default())?;

    // An agent is a branch, seeded by a stored briefing.
    let name = AgentName::parse(&format!("tour-{}", space.now().millis()))?;
    let briefing = Briefing::of_text("Look around").to_object()?;
    let spawned = spawn(&space, &name, &briefing, &SpawnOrigin::Root)?;
    println!("{name} begins at {}", spawned.genesis);

    // What it sees is durable at once, and bound to the commit that it leads to.
    space.add_trace(&name, &Kind::parse("log")?, b"nothing here yet")?;
    let write = Edit::Write { content: b"hello\n".to_vec(), mode: FileMode::Plain };
    let draft = CommitDraft {
        behaviour: None,
        message: "Say hello".to_owned(),
        kind: Some(Kind::parse("finding")?),
        fields: Map::new(),
        source: TreeSource::Edits(BTreeMap::from([("hello.txt".to_owned(), write)])),
        capture: TraceBinding::WithTrace,
        expect: None,
        emptiness: Emptiness::Refused,
        asker: None,
    };
    let done = commit(&space, &name, &draft)?;
    println!("commit {} changes {:?}", done.commit, done.changed);

    for logged in space.log(&AgentBranch::here(name.clone()), None)? {
        let logged = logged?;
        println!("{} {} {}", logged.info.oid.short(), logged.kind, logged.subject);
    }
    Ok(())
}
