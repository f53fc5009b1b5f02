//! A space in a temporary folder, and the sessions that run in it.

use agentic_git::run_git;
use agentic_model::{AgentName, Briefing, Instant, Value};
use agentic_replay::SessionId;
use agentic_session::decide::{Action, ApprovalScope, DecisionDraft, DecisionOutcome, decide};
use agentic_session::hold::{Filter, PendingHold, pending};
use agentic_session::{
    Begin, Clock, KeySource, Result, SessionOptions, SessionSpace, SessionState, flow_object,
};
use agentic_space::spawn::{SpawnOrigin, spawn};
use tempfile::TempDir;

/// A space with an agent.
pub struct Stage {
    folder: TempDir,
    pub space: SessionSpace,
    pub agent: AgentName,
}

impl Stage {
    /// Makes a repository with an agent in it.
    pub fn new() -> Stage {
        Stage::at(Clock::System)
    }

    /// Makes one whose clock stands still.
    pub fn at(clock: Clock) -> Stage {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for arguments in [
            &["init", "--quiet", "."][..],
            &["config", "user.name", "Alice"],
            &["config", "user.email", "alice@example.com"],
        ] {
            let ran = run_git(folder.path(), arguments).expect("git runs");
            ran.checked(arguments).expect("it works");
        }
        let space = open(&folder, clock);
        let agent = AgentName::parse("alice").expect("a valid name");
        let briefing = Briefing::of_text("x").to_object().expect("it is short");
        spawn(&space, &agent, &briefing, &SpawnOrigin::Root).expect("the name is free");
        Stage { folder, space, agent }
    }

    /// Opens the space once more, as another process would, at another time.
    pub fn reopened_at(self, clock: Clock) -> Stage {
        let Stage { folder, space, agent } = self;
        drop(space);
        let space = open(&folder, clock);
        Stage { folder, space, agent }
    }

    /// Returns the path of a file in the folder where programs run.
    pub fn path(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join(file)
    }

    /// Says what a session of a script begins with, which may perform everything unasked.
    pub fn begin(&self, source: &str) -> Begin {
        Begin {
            agent: self.agent.clone(),
            flow: flow_object(source).expect("it is short"),
            parts: Vec::new(),
            input: Value::Null,
            key: "key".to_owned(),
            key_source: KeySource::Named,
            allow: vec!["*".to_owned()],
        }
    }

    /// Starts a script.
    pub fn start(&self, source: &str) -> SessionId {
        agentic_session::start(&self.space, self.begin(source)).expect("it starts")
    }

    /// Returns how a session stands.
    pub fn state(&self, id: &SessionId) -> SessionState {
        self.space.session(id).expect("its records are sound").state
    }

    /// Returns what a session came to.
    pub fn result(&self, id: &SessionId) -> Option<Value> {
        self.space.session(id).expect("its records are sound").result
    }

    /// Returns the only hold of all sessions.
    pub fn only_hold(&self) -> PendingHold {
        let mut open = self.holds();
        assert_eq!(open.len(), 1, "{open:?}");
        open.remove(0)
    }

    /// Lists what waits for people.
    pub fn holds(&self) -> Vec<PendingHold> {
        pending(&self.space, &Filter::default()).expect("the sessions can be read")
    }

    /// Decides the only hold, and goes on with its session.
    pub fn answer(&self, draft: &DecisionDraft) -> Result<DecisionOutcome> {
        let hold = self.only_hold();
        let decided = decide(&self.space, &hold, draft)?;
        agentic_session::resume(&self.space, &hold.hold.session).expect("it goes on");
        Ok(decided)
    }
}

fn open(folder: &TempDir, clock: Clock) -> SessionSpace {
    let space = agentic_space::Options { clock, durability: None };
    let options = SessionOptions { space, ..SessionOptions::default() };
    SessionSpace::open(folder.path(), options).expect("it is a repository")
}

/// A clock that stands at a number of seconds after some moment.
pub fn second(seconds: i64) -> Clock {
    Clock::Fixed(Instant::from_millis(1_800_000_000_000 + seconds * 1000))
}

/// Makes the draft of a decision by Alice that says nothing else.
pub fn draft(action: Action) -> DecisionDraft {
    DecisionDraft {
        action,
        value: None,
        scope: ApprovalScope::Once,
        rationale: String::new(),
        expect: None,
        principal: "user:alice".to_owned(),
        client: "test",
        shown: None,
        accepts: None,
    }
}
