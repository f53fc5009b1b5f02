//! From errors to exit codes, with what to do next.

use std::error::Error as _;

use agentic_providers::Error as ProviderError;
use agentic_space::Error;
use agentic_store::Error as StoreError;
use agentic_view::{ErrorView, FailureView};

use crate::output::talk;

/// A command that was refused or failed.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    kind: &'static str,
    message: String,
    because: Option<String>,
    hint: String,
}

const REFUSED: (u8, &str) = (1, "refused");
const USAGE: (u8, &str) = (2, "usage");
const CONFLICT: (u8, &str) = (3, "conflict");
const CORRUPT: (u8, &str) = (6, "corrupt");
const DIVERGED: (u8, &str) = (5, "diverged");
const SCHEMA: (u8, &str) = (7, "schema");
const DECIDED: (u8, &str) = (8, "already-decided");
const NOT_ALLOWED: (u8, &str) = (9, "not-allowed");
const UNREACHABLE: (u8, &str) = (11, "unreachable");
const EXPIRED: (u8, &str) = (12, "expired");

impl Failure {
    /// Makes the failure of wrong usage.
    pub fn usage(message: &str, hint: &str) -> Failure {
        Failure::new(USAGE, message, hint)
    }

    /// Makes the failure of something that was refused.
    pub fn refused(message: &str, hint: &str) -> Failure {
        Failure::new(REFUSED, message, hint)
    }

    /// Makes the failure of a value that does not fit.
    pub fn schema(message: &str, hint: &str) -> Failure {
        Failure::new(SCHEMA, message, hint)
    }

    /// Makes the failure of something that the caller may not do.
    pub fn not_allowed(message: &str, hint: &str) -> Failure {
        Failure::new(NOT_ALLOWED, message, hint)
    }

    /// Makes the failure of an engine that cannot be reached.
    pub fn unreachable(message: &str, hint: &str) -> Failure {
        Failure::new(UNREACHABLE, message, hint)
    }

    /// Makes the failure of two runs that should agree and do not.
    pub fn diverged(message: &str, hint: &str) -> Failure {
        Failure::new(DIVERGED, message, hint)
    }

    /// Makes the failure that a program ended with.
    pub fn program(code: &str, message: &str, hint: &str) -> Failure {
        let because = Some(format!("the program ended with `{code}`"));
        Failure { because, ..Failure::new(REFUSED, message, hint) }
    }

    /// Makes the failure of a file operation.
    pub fn io(doing: &str, error: &std::io::Error) -> Failure {
        let mut failure = Failure::new(
            REFUSED,
            &format!("cannot {doing}"),
            "check that the file exists and may be read",
        );
        failure.because = Some(error.to_string());
        failure
    }

    fn new((code, kind): (u8, &'static str), message: &str, hint: &str) -> Failure {
        let (message, hint) = (message.to_owned(), hint.to_owned());
        Failure { code, kind, message, because: None, hint }
    }

    /// Says on standard error what happened, why, and what to do next.
    pub fn report(&self, json: bool) {
        if json {
            let error = ErrorView {
                code: self.code,
                kind: self.kind.to_owned(),
                message: self.message.clone(),
                because: self.because.clone(),
                hint: self.hint.clone(),
            };
            let view = FailureView { error };
            talk(&serde_json::to_string(&view).expect("views have text keys"));
            return;
        }
        talk(&format!("\u{1b}[1;31merror:\u{1b}[0m {}", self.message));
        if let Some(because) = &self.because {
            talk(&format!("because: {because}"));
        }
        talk(&format!("\u{1b}[36mhint:\u{1b}[0m {}", self.hint));
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if let Error::Store(error) = error {
            return Failure::from(error);
        }
        let (class, hint) = class_and_hint(&error);
        let mut failure = Failure::new(class, &error.to_string(), &hint);
        failure.because = because(&error);
        failure
    }
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Failure {
        let hint = match &error {
            ProviderError::Unreadable { .. } => "check that the file may be read",
            ProviderError::Malformed { .. } | ProviderError::BadEntry { .. } => {
                "docs/providers.md shows what the file may hold"
            }
        };
        let mut failure = Failure::new(REFUSED, &error.to_string(), hint);
        failure.because = error.source().map(chain);
        failure
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let (class, hint) = store_class_and_hint(&error);
        let mut failure = Failure::new(class, &error.to_string(), &hint);
        failure.because = error.source().map(chain);
        failure
    }
}

fn class_and_hint(error: &Error) -> ((u8, &'static str), String) {
    let (class, hint) = match error {
        Error::Store(_) => unreachable!("BUG: store errors are handled by their own conversion"),
        Error::Object(_) => {
            (SCHEMA, "an object is a map with a text field `type`; see `agentic kind list`")
        }
        Error::Message(_) => (
            REFUSED,
            "give a message with `-m`, without lines that begin with `Agentic-` at its end",
        ),
        Error::Deferred { .. } => (REFUSED, "the next command finishes it"),
        Error::AgentExists { .. } => {
            (CONFLICT, "choose another name; `agentic agents` lists those that are taken")
        }
        Error::UnknownAgent { .. } => {
            (REFUSED, "`agentic agents` lists the agents; `agentic spawn NAME -m TEXT` makes one")
        }
        Error::UnknownTarget { .. } => {
            (REFUSED, "`agentic agents` lists the agents, `git branch` the branches")
        }
        Error::AmbiguousTarget { .. } => {
            (REFUSED, "say `agents/NAME` for the agent, `heads/NAME` for the branch")
        }
        Error::UnknownKind { .. } => {
            (REFUSED, "`agentic kind list` shows the kinds; `agentic kind add` registers one")
        }
        Error::KindTaken { .. } => {
            (CONFLICT, "choose another name; a registered kind never changes")
        }
        Error::UnknownParent { .. } => {
            (REFUSED, "register the parent first; `agentic kind list` shows the kinds")
        }
        Error::HeadMoved { found, .. } => return (CONFLICT, moved_hint(found.as_ref())),
        Error::StaleWorktree { agent, .. } => {
            return (
                CONFLICT,
                format!(
                    "run `agentic worktree sync {agent}`, look at the result, then commit again"
                ),
            );
        }
        Error::WorktreeBusy { .. } => {
            (CONFLICT, "commit or stash the work in that folder, then try again")
        }
        Error::NoWorktree { .. } => (
            REFUSED,
            "make one with `agentic worktree add`, or commit with `--stdin`, `--path` or `--tree`",
        ),
        Error::WorktreeGone { agent, .. } => {
            let hint = "forgets it; then make another, or commit with `--stdin`";
            return (REFUSED, format!("`agentic worktree remove {agent}` {hint}"));
        }
        Error::WorktreeUnlinked { path, .. } => {
            let path = path.display();
            return (REFUSED, format!("`git worktree repair {path}` links it again"));
        }
        Error::Bare => (REFUSED, "commit with `--stdin` or `--tree`"),
        Error::PathTaken { .. } => (REFUSED, "name a folder that does not exist yet"),
        Error::NothingToCommit { .. } => {
            (REFUSED, "change something first, or use `--allow-empty`")
        }
        Error::NotInBatch => (REFUSED, "commit it by itself"),
        Error::NoSuchPath { .. } => (REFUSED, "paths are relative to the current folder"),
        Error::ForeignCommit { .. } => {
            (REFUSED, "`agentic log AGENT` lists the commits of an agent")
        }
        Error::NoTrace { .. } => (
            REFUSED,
            "add entries with `agentic trace add` and bind them with `agentic commit --trace`",
        ),
        Error::TraceTooLong { .. } => {
            (REFUSED, "commit what is pending first, or keep large output in a file")
        }
        other => return archive_class_and_hint(other),
    };
    (class, hint.to_owned())
}

/// Does the same for the archive.
fn archive_class_and_hint(error: &Error) -> ((u8, &'static str), String) {
    let back = |name| format!("`agentic archive --restore {name}` brings it back");
    match error {
        Error::NameArchived { name } => (CONFLICT, back(name)),
        Error::AgentArchived { name } => (REFUSED, back(name)),
        Error::NotArchived { .. } => {
            (REFUSED, "`agentic archive --list` lists what is archived".to_owned())
        }
        Error::CheckedOut { agent, .. } => (
            REFUSED,
            format!("`agentic worktree remove {agent}`, or check something else out there"),
        ),
        Error::SessionOpen { session, .. } => {
            (REFUSED, format!("let it end, or end it with `agentic session cancel {session}`"))
        }
        Error::TracePending { agent } => {
            (REFUSED, format!("bind them with `agentic trace attach COMMIT --agent {agent}`"))
        }
        other => further_class_and_hint(other),
    }
}

/// Does the same for objects, relations, merges and remotes.
fn further_class_and_hint(error: &Error) -> ((u8, &'static str), String) {
    let (class, hint) = match error {
        Error::UnknownObject { .. } => {
            (REFUSED, "check the id; a prefix needs ten characters or more")
        }
        Error::AmbiguousObject { .. } => (REFUSED, "give more characters of the id"),
        Error::DerivedRelation { .. } => {
            (REFUSED, "spawn with `--from` or merge; the relation then follows by itself")
        }
        Error::NoEdge { .. } => (REFUSED, "`agentic relations` lists what holds"),
        Error::NoForkPoint { .. } => (
            REFUSED,
            "agents have a common commit when one was forked from the other, or both from one commit",
        ),
        Error::SelfMerge { .. } => (REFUSED, "name another agent or branch with `--into`"),
        Error::RemoteMoved { .. } => (CONFLICT, "run `agentic fetch`, then push again"),
        Error::UnknownRemote { .. } => (REFUSED, "`git remote -v` lists the remotes"),
        Error::NotEmpty { .. } => (REFUSED, "name a folder that is empty or does not exist"),
        Error::UncommittedWork { .. } => {
            (REFUSED, "commit the work, or throw it away with `--force`")
        }
        Error::SyncConflict { .. } => (
            CONFLICT,
            "commit with `--stdin` or `--path`, or put the changes aside with `git stash` and sync again",
        ),
        session => return session_class_and_hint(session),
    };
    (class, hint.to_owned())
}

/// Does the same for what can go wrong with sessions and holds.
fn session_class_and_hint(error: &Error) -> ((u8, &'static str), String) {
    let (class, hint) = match error {
        Error::UnknownSession { .. } => (
            REFUSED,
            "`agentic session list` lists the sessions; a prefix needs eight digits or more",
        ),
        Error::AmbiguousSession { .. } => (REFUSED, "give more digits of the id"),
        Error::KeyTaken { .. } => (CONFLICT, "use another key, or the same flow and input"),
        Error::SessionOver { .. } => (
            DECIDED,
            "`agentic session show` shows how it ended; `agentic session fork` goes another way",
        ),
        Error::Diverged { .. } => (
            DIVERGED,
            "keep the pinned program, or fork before that record with `agentic session fork --at N --flow F`",
        ),
        Error::NotAFlow { .. } => {
            (REFUSED, "`agentic session start --flow FILE` stores a flow and pins it")
        }
        Error::BrokenFlow { .. } => (REFUSED, "`agentic flow check FILE` shows where"),
        Error::BadRequest { .. } => (REFUSED, "`docs/commands.md` says what each request takes"),
        Error::UnknownRequest { .. } => (REFUSED, "`agentic pending` lists what is open"),
        Error::AmbiguousRequest { .. } => {
            (REFUSED, "name one of them as `agentic pending` prints it")
        }
        Error::OtherRequest { .. } => (CONFLICT, "look at the request again: `agentic pending`"),
        Error::AlreadyDecided { .. } => {
            (DECIDED, "`agentic log AGENT --kind decision` shows decisions")
        }
        Error::NotADecision { .. } => {
            (REFUSED, "`agentic pending` lists the unverified decisions of each hold")
        }
        Error::StaleState { .. } => {
            (CONFLICT, "list it again with `agentic pending --format` and answer that")
        }
        Error::NotAllowed { .. } => {
            (NOT_ALLOWED, "`agentic pending` shows who may decide what, and how")
        }
        Error::HoldExpired { .. } => {
            (EXPIRED, "the session went on without an answer; `agentic session show` shows how")
        }
        Error::ValueMisfit { .. } => (SCHEMA, "`agentic pending --json` shows the schema"),
        Error::BadScript { .. } => {
            (REFUSED, r#"write {"AGENT":[{"ok":VALUE},{"failed":{"code":…,"message":…}}]}"#)
        }
        Error::NotRebuilt { .. } => (
            DIVERGED,
            "the records and the branch disagree; `agentic session show` and `git log` show both",
        ),
        other => unreachable!("BUG: `{other}` is handled before"),
    };
    (class, hint.to_owned())
}

fn store_class_and_hint(error: &StoreError) -> ((u8, &'static str), String) {
    let (class, hint) = match error {
        StoreError::NotARepository { .. } => (
            REFUSED,
            "run this inside a git repository, name one with `-C DIR`, or make one with `git init`",
        ),
        StoreError::RefStorage { .. } => {
            (REFUSED, "convert it with `git refs migrate --ref-format=files`")
        }
        StoreError::Io { source, .. } => (REFUSED, io_hint(source.kind())),
        StoreError::Git { .. } => {
            (REFUSED, "`git fsck` and `agentic doctor` tell whether the repository is sound")
        }
        StoreError::GitProgram { .. } => {
            (REFUSED, "this is what git said; run the same command by hand to see more")
        }
        StoreError::Corrupt { .. } => (
            CORRUPT,
            "run `agentic doctor`; restore the file from a clone or backup if it cannot mend it",
        ),
        StoreError::RefLocked { .. } => (
            REFUSED,
            "wait until the other program is done; if none is running, `agentic doctor --break-locks`",
        ),
        StoreError::UnknownRevision { .. } => {
            (REFUSED, "`agentic log AGENT` lists commits; git's own names for revisions work too")
        }
        StoreError::Ambiguous { .. } => (REFUSED, "give more characters of the id"),
        StoreError::UnsafePath { .. } => {
            (REFUSED, "use a path inside the repository, relative to its top folder")
        }
        StoreError::Unstable { .. } => (CONFLICT, "try again when nothing writes to the file"),
        StoreError::Unmerged { .. } => {
            (CONFLICT, "finish the merge with git, or give it up with `git merge --abort`")
        }
        StoreError::NoIdentity => (
            REFUSED,
            "run `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`",
        ),
        StoreError::Injected { .. } => {
            (REFUSED, "this is a test; the next command finishes or undoes the write")
        }
    };
    (class, hint.to_owned())
}

fn moved_hint(found: Option<&agentic_model::Oid>) -> String {
    match found {
        Some(found) => format!("it is at {found}; look at what is new, then try again"),
        None => "it does not exist any more; `agentic agents` lists the agents".to_owned(),
    }
}

fn io_hint(kind: std::io::ErrorKind) -> &'static str {
    match kind {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "the disk is full: make room, then try again; nothing was changed"
        }
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            "the repository cannot be written by you; check its permissions"
        }
        _ => "check the path and its permissions",
    }
}

fn because(error: &Error) -> Option<String> {
    match error {
        Error::RemoteMoved { message, .. } => Some(message.trim().to_owned()),
        Error::AmbiguousObject { candidates, .. } => {
            Some(format!("it could be {}", candidates.join(", ")))
        }
        Error::SyncConflict { conflicts, .. } => {
            Some(format!("both changed {}", conflicts.join(", ")))
        }
        Error::Diverged { divergence, .. } => Some(divergence.to_string()),
        Error::AmbiguousSession { candidates, .. } | Error::AmbiguousRequest { candidates, .. } => {
            Some(format!("it could be {}", candidates.join(", ")))
        }
        Error::AlreadyDecided { commit: Some(commit), .. } => {
            Some(format!("the decision is commit {commit}"))
        }
        other => other.source().map(chain),
    }
}

/// Tells an error with everything that led to it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = error.source();
    }
    text
}
