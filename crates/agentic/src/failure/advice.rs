//! What class of failure each error is, and what to do next.

use agentic_model::AgentName;
use agentic_session::Error as SessionError;
use agentic_space::Error;
use agentic_space::sync::PushRefusal;
use agentic_store::Error as StoreError;
use agentic_store::git::Occupation;

/// An exit code and its name.
pub(super) type Class = (u8, &'static str);

pub(super) const REFUSED: (u8, &str) = (1, "refused");
pub(super) const USAGE: (u8, &str) = (2, "usage");
pub(super) const CONFLICT: (u8, &str) = (3, "conflict");
pub(super) const CORRUPT: (u8, &str) = (6, "corrupt");
pub(super) const DIVERGED: (u8, &str) = (5, "diverged");
pub(super) const SCHEMA: (u8, &str) = (7, "schema");
pub(super) const DECIDED: (u8, &str) = (8, "already-decided");
pub(super) const NOT_ALLOWED: (u8, &str) = (9, "not-allowed");
pub(super) const UNREACHABLE: (u8, &str) = (11, "unreachable");
pub(super) const EXPIRED: (u8, &str) = (12, "expired");

/// Says what an error of a verb is and what to do about it.
// size: an arm for each variant, so that none is forgotten.
pub(super) fn of_verb(error: &Error) -> (Class, String) {
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
        Error::NothingToCommit { .. } => {
            (REFUSED, "change something first, or use `--allow-empty`")
        }
        Error::NotInBatch => (REFUSED, "commit it by itself"),
        Error::UnknownDurability { .. } => (
            REFUSED,
            "say `git config agentic.durability full` or `git`, or name one with `--durability`",
        ),
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
        // Worktrees.
        Error::StaleWorktree { agent, .. } => {
            let hint = "look at the result, then commit again";
            return (CONFLICT, format!("run `agentic worktree sync {agent}`, {hint}"));
        }
        Error::WorktreeGone { agent, .. } => {
            let hint = "forgets it; then make another, or commit with `--stdin`";
            return (REFUSED, format!("`agentic worktree remove {agent}` {hint}"));
        }
        Error::WorktreeEmpty { agent, .. } => {
            let hint = format!("or forget it with `agentic worktree remove {agent}`");
            return (REFUSED, format!("make it anew with `agentic worktree add {agent}`, {hint}"));
        }
        Error::WorktreeUnlinked { path, .. } => {
            let path = path.display();
            return (REFUSED, format!("`git worktree repair {path}` links it again"));
        }
        Error::CheckedOut { agent, .. } => {
            let hint = "or check something else out there";
            return (REFUSED, format!("`agentic worktree remove {agent}`, {hint}"));
        }
        Error::WorktreeBusy { .. } => {
            (CONFLICT, "commit or stash the work in that folder, then try again")
        }
        Error::NoWorktree { .. } => (
            REFUSED,
            "make one with `agentic worktree add`, or commit with `--stdin`, `--path` or `--tree`",
        ),
        Error::UncommittedWork { .. } => {
            (REFUSED, "commit the work, or throw it away with `--force`")
        }
        Error::SyncConflict { .. } => (
            CONFLICT,
            "commit with `--stdin` or `--path`, or put the changes aside with `git stash` and sync again",
        ),
        Error::Bare => (REFUSED, "commit with `--stdin` or `--tree`"),
        Error::PathTaken { .. } => (REFUSED, "name a folder that does not exist yet"),
        // The archive.
        Error::NameArchived { name } => return (CONFLICT, restore_hint(name)),
        Error::AgentArchived { name } => return (REFUSED, restore_hint(name)),
        Error::NotArchived { .. } => (REFUSED, "`agentic archive --list` lists what is archived"),
        Error::SessionOpen { session, .. } => {
            let hint = format!("let it end, or end it with `agentic session cancel {session}`");
            return (REFUSED, hint);
        }
        Error::TracePending { agent } => {
            let hint = format!("bind them with `agentic trace attach COMMIT --agent {agent}`");
            return (REFUSED, hint);
        }
        // Objects, relations, merges and remotes.
        Error::BranchRenamed { name, earlier } => {
            let hint = format!("`git branch -m agents/{name} agents/{earlier}`");
            return (REFUSED, format!("{hint} brings its briefing and its traces back"));
        }
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
        Error::PushRefused { why, .. } => of_push(*why),
        Error::UnknownRemote { .. } => (REFUSED, "`git remote -v` lists the remotes"),
        Error::NotEmpty { .. } => (REFUSED, "name a folder that is empty or does not exist"),
    };
    (class, hint.to_owned())
}

/// Says what an error of a session, a hold or a decision is and what to do about it.
// size: an arm for each variant, so that none is forgotten.
pub(super) fn of_session(error: &SessionError) -> (Class, String) {
    let (class, hint) = match error {
        SessionError::Space(_) => {
            unreachable!("BUG: errors of verbs are handled by their own conversion")
        }
        SessionError::UnknownSession { .. } => (
            REFUSED,
            "`agentic session list` lists the sessions; a prefix needs eight digits or more",
        ),
        SessionError::AmbiguousSession { .. } => (REFUSED, "give more digits of the id"),
        SessionError::NotAPlan { .. } => (
            REFUSED,
            "`schemas/object-plan.json` says what a plan holds; `agentic flow plan FILE` makes one",
        ),
        SessionError::Unperformed { .. } => (
            REFUSED,
            "say in the registry who does: `\"run\"` of its entry; agents of a space need `--session`",
        ),
        SessionError::NoFlowOf { .. } => {
            (REFUSED, r#"name one: {"run":{"agent":NAME,"flow":CID}}, or run one as that agent"#)
        }
        SessionError::NoHold { .. } => (REFUSED, "`agentic flow status RUN` shows where it waits"),
        SessionError::KeyTaken { .. } => (CONFLICT, "use another key, or the same flow and input"),
        SessionError::InboxFull { .. } => {
            (REFUSED, "it takes more once its flow has asked for some with `suspend`")
        }
        SessionError::SessionOver { .. } => (
            DECIDED,
            "`agentic session show` shows how it ended; `agentic session fork` goes another way",
        ),
        SessionError::Diverged { .. } => (
            DIVERGED,
            "keep the pinned program, or fork before that record with `agentic session fork --at N --flow F`",
        ),
        SessionError::NotAFlow { .. } => {
            (REFUSED, "`agentic session start --flow FILE` stores a flow and pins it")
        }
        SessionError::BrokenFlow { .. } => (REFUSED, "`agentic flow check FILE` shows where"),
        SessionError::BadRequest { .. } => {
            (REFUSED, "`docs/commands.md` says what each request takes")
        }
        SessionError::UnknownRequest { .. } => (REFUSED, "`agentic pending` lists what is open"),
        SessionError::AmbiguousRequest { .. } => {
            (REFUSED, "name one of them as `agentic pending` prints it")
        }
        SessionError::OtherRequest { .. } => {
            (CONFLICT, "look at the request again: `agentic pending`")
        }
        SessionError::AlreadyDecided { .. } => {
            (DECIDED, "`agentic log AGENT --kind decision` shows decisions")
        }
        SessionError::NotADecision { .. } => {
            (REFUSED, "`agentic pending` lists the unverified decisions of each hold")
        }
        SessionError::StaleState { .. } => {
            (CONFLICT, "list it again with `agentic pending --format` and answer that")
        }
        SessionError::NotAllowed { .. } => {
            (NOT_ALLOWED, "`agentic pending` shows who may decide what, and how")
        }
        SessionError::HoldExpired { .. } => {
            (EXPIRED, "the session goes on as the hold said; `agentic session show` shows how")
        }
        SessionError::NotForSession { .. } => {
            (USAGE, "answer it once, without `--scope`; `agentic pending` shows what is asked")
        }
        SessionError::ValueMisfit { .. } => (SCHEMA, "`agentic pending --json` shows the schema"),
        SessionError::BadScript { .. } => {
            (REFUSED, r#"write {"AGENT":[{"ok":VALUE},{"failed":{"code":…,"message":…}}]}"#)
        }
        SessionError::NotRebuilt { .. } => (
            DIVERGED,
            "the records and the branch disagree; `agentic session show` and `git log` show both",
        ),
    };
    (class, hint.to_owned())
}

fn restore_hint(name: &AgentName) -> String {
    format!("`agentic archive --restore {name}` brings it back")
}

/// Says the same of an error of the store.
// size: an arm for each variant, so that none is forgotten.
pub(super) fn of_store(error: &StoreError) -> (Class, String) {
    let (class, hint) = match error {
        StoreError::NotARepository { .. } => (
            REFUSED,
            "run this inside a git repository, name one with `-C DIR`, or make one with `git init`",
        ),
        StoreError::RefStorage { .. } => {
            (REFUSED, "convert it with `git refs migrate --ref-format=files`")
        }
        StoreError::PartialClone => (
            REFUSED,
            "`git fetch --refetch --no-filter REMOTE`; once `git rev-list --objects --all --missing=print` has no line \
             with `?`, take `remote.REMOTE.promisor`, `remote.REMOTE.partialclonefilter` and `extensions.partialClone` \
             out with `git config --unset`; or clone without `--filter`",
        ),
        StoreError::Io { doing, source, .. }
            if doing.starts_with("run ") && source.kind() == std::io::ErrorKind::NotFound =>
        {
            (REFUSED, "install git, or name its folder in `PATH`, for what the `git` program does")
        }
        StoreError::Io { source, .. } => (REFUSED, io_hint(source.kind())),
        StoreError::Git { .. } => {
            (REFUSED, "`agentic doctor` mends what a journal has, and tells what else is not sound")
        }
        StoreError::GitProgram { .. } => {
            (REFUSED, "this is what git said; run the same command by hand to see more")
        }
        StoreError::NotSigned { .. } => (
            REFUSED,
            "look at `gpg.format` and `user.signingKey` in git's configuration; without `agentic.sign` nothing is signed",
        ),
        StoreError::NoSwitch { .. } => (REFUSED, "say `git config NAME true` or `false`"),
        StoreError::Corrupt { .. } => (
            CORRUPT,
            "run `agentic doctor`, then `agentic doctor --replay`; restore from a clone or backup what they cannot mend",
        ),
        StoreError::RefLocked { .. } => (
            REFUSED,
            "wait until the other program is done; if none is running, `agentic doctor --break-locks`",
        ),
        StoreError::LeftBehind { .. } => (
            CONFLICT,
            "mend what stands in the way; then `agentic worktree sync`, or `git restore .` where no agent works",
        ),
        StoreError::WorktreeHeld { .. } => (
            REFUSED,
            "a filter or hook cannot move the branch whose files it is run for; let it use another agent",
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
        StoreError::UnderWay { what, .. } => {
            let hint = format!("conclude it with git, or give it up with `git {what} --abort`");
            return (CONFLICT, hint);
        }
        StoreError::BranchOccupied { occupation, .. } => {
            let give_up = match occupation {
                Occupation::Rebase => "git rebase --continue` or `git rebase --abort",
                Occupation::Bisection => "git bisect reset",
            };
            return (CONFLICT, format!("conclude it there with `{give_up}`, then try again"));
        }
        StoreError::RefInTheWay { .. } => (
            CONFLICT,
            "take another name, or rename what is in the way with `git branch -m OLD NEW` or `git update-ref`",
        ),
        StoreError::SymbolicRef { .. } => (
            CONFLICT,
            "`git symbolic-ref --delete REF` removes it; an agent has a branch of its own",
        ),
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
            "the disk is full: make room, then repeat the command; what is recorded already is not done twice"
        }
        std::io::ErrorKind::FileTooLarge => {
            "raise the limit on the size of files, then repeat the command; what is recorded already is not done twice"
        }
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            "the repository cannot be written by you; check its permissions"
        }
        _ => "check the path and its permissions",
    }
}

/// Says what a refused push is and what to do about it.
fn of_push(why: PushRefusal) -> (Class, &'static str) {
    match why {
        PushRefusal::MovedOn => (
            CONFLICT,
            "run `agentic fetch`, then push again; an agent that it calls diverged is reconciled by `agentic merge REMOTE/NAME --into NAME`",
        ),
        PushRefusal::Hook => (
            REFUSED,
            "the reason above is the remote's own; ask whoever runs it, or mend what it names",
        ),
        PushRefusal::CheckedOut => {
            (REFUSED, "push to a bare repository, or check something else out there")
        }
        PushRefusal::NotStored => (REFUSED, "make room on the disk of the remote, then push again"),
        PushRefusal::Shallow => {
            (REFUSED, "fetch the whole history with `git fetch --unshallow`, then push again")
        }
        PushRefusal::Protected => {
            (REFUSED, "choose another name, or ask whoever runs the remote to allow these refs")
        }
    }
}
