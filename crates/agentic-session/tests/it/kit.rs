//! A space in a temporary folder, and the sessions that run in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_model::{AgentName, Briefing, Instant, Object, Oid, Value};
use agentic_replay::SessionId;
use agentic_session::decide::{Action, ApprovalScope, DecisionDraft, DecisionOutcome, decide};
use agentic_session::hold::{Filter, PendingHold, pending};
use agentic_session::{
    Begin, Clock, KeySource, Result, SessionOptions, SessionSpace, SessionState, flow_object,
};
use agentic_space::commit::{
    CommitDraft, Edit, Emptiness, FileMode, TraceBinding, TreeSource, commit,
};
use agentic_space::spawn::{SpawnOrigin, spawn, spawn_past};
use agentic_store::fault::failing_at;
use tempfile::TempDir;

/// Where Linux keeps files in memory, so that no test waits for a disk.
const MEMORY_FOLDER: &str = "/dev/shm";
/// Who the user of the repository is.
const IDENTITY: &str = "[user]\n\tname = Alice\n\temail = alice@example.com\n[gc]\n\tauto = 0\n";
/// How many steps a verb may take that is broken off at each of them.
const STEPS_MAX: u64 = 400;

/// What stands for the flow of trials, on a stage of trials.
pub const TRIAL_FLOW: &str = "#{blocks: input.blocks, out_of_budget: false}";

/// What a trial says of itself.
pub struct ToldTrial<'t> {
    /// The flow that runs it, and its key.
    pub flow: &'t str,
    pub key: &'t str,
    /// What was fixed before, and what it is said to have come to.
    pub fixed: &'t Value,
    pub blocks: Value,
    pub verdict: &'t str,
}

/// A space with an agent.
pub struct Stage {
    folder: TempDir,
    pub space: SessionSpace,
    pub agent: AgentName,
    options: SessionOptions,
}

/// Makes a folder that goes with its handle, in memory where there is such.
pub fn temporary_folder() -> TempDir {
    tempfile::tempdir_in(MEMORY_FOLDER)
        .or_else(|_| tempfile::tempdir())
        .expect("a temporary folder")
}

/// Returns the name of an agent.
pub fn name(text: &str) -> AgentName {
    AgentName::parse(text).expect("a valid name")
}

/// Asks git.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output();
    let output = output.expect("git is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

impl Stage {
    /// Makes a repository with an agent in it.
    pub fn new() -> Stage {
        Stage::at(Clock::System)
    }

    /// Makes one whose clock stands still.
    pub fn at(clock: Clock) -> Stage {
        Stage::with(clock, SessionOptions::default())
    }

    /// Makes one whose space is opened in a way of its own.
    pub fn with(clock: Clock, options: SessionOptions) -> Stage {
        let folder = temporary_folder();
        git(folder.path(), &["init", "--quiet", "--initial-branch=main", "--template=", "."]);
        let config = folder.path().join(".git/config");
        let text = std::fs::read_to_string(&config).expect("it was just made");
        std::fs::write(&config, text + IDENTITY).expect("writable");
        let space = open(&folder, clock, options.clone());
        let stage = Stage { folder, space, agent: name("alice"), options };
        stage.spawn("alice", &SpawnOrigin::Root);
        stage
    }

    /// Opens the space once more, as another process would, at another time.
    pub fn reopened_at(self, clock: Clock) -> Stage {
        let Stage { folder, space, agent, options } = self;
        drop(space);
        let space = open(&folder, clock, options.clone());
        Stage { folder, space, agent, options }
    }

    /// Opens the space once more, as another process would.
    pub fn reopened(self) -> Stage {
        self.reopened_at(Clock::System)
    }

    /// Opens the space beside this handle, as another process does.
    pub fn beside(&self) -> SessionSpace {
        self.beside_at(Clock::System)
    }

    /// Opens the space beside this handle, with a clock of one's own.
    pub fn beside_at(&self, clock: Clock) -> SessionSpace {
        open(&self.folder, clock, self.options.clone())
    }

    /// Returns the folder of the repository.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a file in the folder where programs run.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Counts the lines of a file that programs append to; none if there is no such file.
    pub fn n_lines(&self, file: &str) -> usize {
        std::fs::read_to_string(self.path(file)).map_or(0, |text| text.lines().count())
    }

    /// Asks git.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(self.root(), arguments)
    }

    /// Makes an agent.
    pub fn spawn(&self, agent: &str, origin: &SpawnOrigin) -> AgentName {
        let agent = name(agent);
        let briefing = Briefing::of_text("x").to_object().expect("it is short");
        spawn(&self.space, &agent, &briefing, origin).expect("the name is free");
        agent
    }

    /// Makes one on which a flow of few words stands for that of trials.
    pub fn of_trials() -> Stage {
        let trial_flows = vec![flow_object(TRIAL_FLOW).expect("it is short").cid()];
        Stage::with(Clock::System, SessionOptions { trial_flows, ..SessionOptions::default() })
    }

    /// Runs a trial as an agent of its own, and returns what says that it happened.
    pub fn told_trial(&self, told: ToldTrial<'_>) -> (AgentName, Object) {
        let trial = self.spawn_trial("trial-t", told.fixed);
        let begin = Begin {
            agent: trial.clone(),
            key: told.key.to_owned(),
            input: told.fixed.clone(),
            ..self.begin(told.flow)
        };
        let session = agentic_session::start(&self.space, begin).expect("it starts");
        let fields = [
            ("type", Value::text("trial")),
            ("input", told.fixed.clone()),
            ("session", Value::text(session.to_string())),
            ("blocks", told.blocks),
            ("out_of_budget", Value::Bool(false)),
            ("verdict", Value::text(told.verdict)),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        (trial, Object::new(fields.into()).expect("it is short"))
    }

    /// Makes the agent of a trial, whose briefing says what was fixed.
    pub fn spawn_trial(&self, agent: &str, fixed: &Value) -> AgentName {
        self.spawn_trial_at(agent, fixed, self.space.now())
    }

    /// Makes one at another time.
    pub fn spawn_trial_at(&self, agent: &str, fixed: &Value, at: Instant) -> AgentName {
        let agent = name(agent);
        let fields = [
            ("type", Value::text("briefing")),
            ("text", Value::text("A trial")),
            ("arms", fixed.get("arms").cloned().unwrap_or(Value::Null)),
            ("trial", fixed.clone()),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let briefing = Object::new(fields.into()).expect("it is short");
        let origin = SpawnOrigin::Root;
        spawn_past(&self.space, &agent, &briefing, &origin, at).expect("the name is free");
        agent
    }

    /// Commits a file on the branch of an agent, as somebody does who is no session.
    pub fn commit(&self, agent: &AgentName, file: &str, text: &str) -> Oid {
        let edit = Edit::Write { content: text.as_bytes().to_vec(), mode: FileMode::Plain };
        let draft = CommitDraft {
            behaviour: None,
            message: format!("Write {file}"),
            kind: None,
            fields: agentic_model::Map::new(),
            source: TreeSource::Edits([(file.to_owned(), edit)].into()),
            capture: TraceBinding::Nothing,
            expect: None,
            emptiness: Emptiness::Allowed,
            asker: None,
        };
        commit(&self.space, agent, &draft).expect("there is room").commit
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

    /// Starts a script under a key, as an agent.
    pub fn start_as(&self, agent: &AgentName, key: &str, source: &str) -> SessionId {
        let begin = Begin { agent: agent.clone(), key: key.to_owned(), ..self.begin(source) };
        agentic_session::start(&self.space, begin).expect("it starts")
    }

    /// Starts a script that may perform nothing unasked.
    pub fn start_asking(&self, source: &str) -> SessionId {
        let begin = Begin { allow: Vec::new(), ..self.begin(source) };
        agentic_session::start(&self.space, begin).expect("it starts")
    }

    /// Goes on with a session.
    pub fn resume(&self, id: &SessionId) {
        agentic_session::resume(&self.space, id).expect("it goes on");
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
        self.resume(&hold.hold.session);
        Ok(decided)
    }

    /// Decides the only hold, and goes on with its session as far as nothing fails.
    pub fn answer_or_fail(&self, draft: &DecisionDraft) -> Result<DecisionOutcome> {
        let hold = self.only_hold();
        let decided = decide(&self.space, &hold, draft)?;
        agentic_session::resume(&self.space, &hold.hold.session)?;
        Ok(decided)
    }

    /// Returns the only session of an agent.
    pub fn session_of(&self, agent: &str) -> SessionId {
        let ids = self.space.sessions().expect("they can be listed");
        let is_its = |id: &&SessionId| {
            self.space.session(id).is_ok_and(|found| found.agent.as_str() == agent)
        };
        *ids.iter().find(is_its).expect("it has a session")
    }

    /// Copies the repository as it is, as a clone that has everything.
    pub fn copied(&self) -> Stage {
        let folder = temporary_folder();
        let all = format!("{}/.", self.root().display());
        let done = Command::new("cp").args(["-a", &all]).arg(folder.path()).status();
        assert!(done.is_ok_and(|status| status.success()), "a folder is copied");
        let options = self.options.clone();
        let space = open(&folder, Clock::System, options.clone());
        Stage { folder, space, agent: self.agent.clone(), options }
    }

    /// Takes the branch of the agent over from another repository, as a push would bring it.
    pub fn take_branch_of(&self, other: &Stage) {
        let from = other.root().display().to_string();
        self.git(&["fetch", "--quiet", &from, "+agents/alice:agents/alice"]);
    }

    /// Makes a pipe with a name, at which tests and programs wait for each other.
    pub fn pipe(&self, file: &str) -> PathBuf {
        let path = self.path(file);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe is made");
        path
    }

    /// Lists the texts that wait in the trace of the agent.
    pub fn told(&self) -> Vec<String> {
        let entries = self.space.pending_trace(&self.agent).expect("it can be read");
        entries.iter().filter_map(|entry| entry.body.as_text().map(str::to_owned)).collect()
    }

    /// Returns the file of the log of a session, while it is not over.
    pub fn log_file(&self, id: &SessionId) -> PathBuf {
        let id = id.to_string();
        let folder = self.path(".git/agentic/session/open").join(&id[..2]).join(&id);
        folder.join("log/00000000.log")
    }
}

/// Breaks something off at its first step, at its second and so on, each time on a stage of its own,
/// until it comes through; then looks at what is left as another process finds it.
pub fn walk(prepare: impl Fn() -> Stage, act: impl Fn(&Stage), look: impl Fn(&Stage, u64)) {
    for step in 1..=STEPS_MAX {
        let stage = prepare();
        let ((), is_broken_off) = failing_at("*", step, || act(&stage));
        look(&stage.reopened(), step);
        if !is_broken_off {
            assert!(step > 1, "no step is marked: the walk would prove nothing");
            return;
        }
    }
    panic!("it never comes through");
}

fn open(folder: &TempDir, clock: Clock, options: SessionOptions) -> SessionSpace {
    let space = agentic_space::Options { clock, durability: None };
    SessionSpace::open(folder.path(), SessionOptions { space, ..options })
        .expect("it is a repository")
}

/// A clock that stands at a number of seconds after some moment.
pub fn second(seconds: i64) -> Clock {
    Clock::Fixed(Instant::from_millis(EPOCH_MS + seconds * 1000))
}

/// The moment from which [`second`] counts, in milliseconds.
pub const EPOCH_MS: i64 = 1_800_000_000_000;

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
        authn: None,
        shown: None,
        accepts: None,
    }
}

/// Makes one by somebody else.
pub fn by(principal: &str, action: Action) -> DecisionDraft {
    DecisionDraft { principal: principal.to_owned(), ..draft(action) }
}

/// Makes one with a value.
pub fn with(value: Value, action: Action) -> DecisionDraft {
    DecisionDraft { value: Some(value), ..draft(action) }
}
