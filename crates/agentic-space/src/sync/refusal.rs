//! Why a remote did not take a push: read from the lines that `git push --porcelain` prints.

use std::fmt;

use agentic_model::guidance::ErrorClass;

/// Why a push was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushRefusal {
    /// The remote has something that is not here yet.
    MovedOn,
    /// A hook of the remote declined.
    Hook,
    /// The remote has one of the branches checked out.
    CheckedOut,
    /// The remote could not store what came: most often its disk is full.
    NotStored,
    /// One side is a shallow clone, and the other does not take its history.
    Shallow,
    /// The remote does not let these refs be changed.
    Protected,
}

/// What the reasons of git contain, each with what it means; the first that fits counts.
const SIGNS: [(&str, PushRefusal); 15] = [
    ("unpacker error", PushRefusal::NotStored),
    ("unpack failed", PushRefusal::NotStored),
    ("No space left", PushRefusal::NotStored),
    ("shallow", PushRefusal::Shallow),
    ("checked out", PushRefusal::CheckedOut),
    ("hook declined", PushRefusal::Hook),
    ("hidden ref", PushRefusal::Protected),
    ("cannot create", PushRefusal::Protected),
    ("prohibited", PushRefusal::Protected),
    ("protected", PushRefusal::Protected),
    ("fetch first", PushRefusal::MovedOn),
    ("non-fast-forward", PushRefusal::MovedOn),
    ("stale info", PushRefusal::MovedOn),
    ("cannot lock ref", PushRefusal::MovedOn),
    ("failed to update ref", PushRefusal::MovedOn),
];
/// What git says of refs that another one of the same push kept back.
const KEPT_BACK: &str = "atomic";

impl PushRefusal {
    /// Returns what kind of refusal it is.
    pub fn class(self) -> ErrorClass {
        match self {
            PushRefusal::MovedOn => ErrorClass::Conflict,
            PushRefusal::Hook
            | PushRefusal::CheckedOut
            | PushRefusal::NotStored
            | PushRefusal::Shallow
            | PushRefusal::Protected => ErrorClass::Refused,
        }
    }

    /// Says what to do next.
    pub fn hint(self) -> &'static str {
        match self {
            PushRefusal::MovedOn => {
                "run `agentic fetch`, then push again; an agent that it calls diverged is reconciled by `agentic merge REMOTE/NAME --into NAME`"
            }
            PushRefusal::Hook => {
                "the reason above is the remote's own; ask whoever runs it, or mend what it names"
            }
            PushRefusal::CheckedOut => {
                "push to a bare repository, or check something else out there"
            }
            PushRefusal::NotStored => "make room on the disk of the remote, then push again",
            PushRefusal::Shallow => {
                "fetch the whole history with `git fetch --unshallow`, then push again"
            }
            PushRefusal::Protected => {
                "choose another name, or ask whoever runs the remote to allow these refs"
            }
        }
    }

    /// Reads why a push failed; nothing if no ref was refused, such as where the remote cannot be
    /// reached. The reasons are those of an untranslated git.
    pub fn read(porcelain: &str) -> Option<PushRefusal> {
        // A line is `!`, the refs and the reason: `[rejected] (fetch first)`.
        let reasons: Vec<&str> = porcelain
            .lines()
            .filter_map(|line| line.strip_prefix("!\t")?.split_once('\t'))
            .map(|(_, reason)| reason)
            .collect();
        let told = reasons.iter().filter(|reason| !reason.contains(KEPT_BACK));
        let mut found = told.map(|reason| PushRefusal::of_reason(reason));
        match found.next() {
            Some(first) => Some(first),
            None => reasons.first().map(|_| PushRefusal::MovedOn),
        }
    }

    fn of_reason(reason: &str) -> PushRefusal {
        let sign = SIGNS.iter().find(|(sign, _)| reason.contains(sign));
        match sign {
            Some((_, refusal)) => *refusal,
            // The remote said so in words of its own, as the hooks of hosts do.
            None if reason.starts_with("[remote rejected]") => PushRefusal::Hook,
            None => PushRefusal::MovedOn,
        }
    }
}

impl fmt::Display for PushRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushRefusal::MovedOn => "it has moved on",
            PushRefusal::Hook => "a hook of it declined",
            PushRefusal::CheckedOut => "it has a branch of them checked out",
            PushRefusal::NotStored => "it could not store what came",
            PushRefusal::Shallow => "a shallow clone is in the way",
            PushRefusal::Protected => "it does not let these refs be changed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PushRefusal::{self, CheckedOut, Hook, MovedOn, NotStored, Protected, Shallow};

    fn check(reason: &str, expected: PushRefusal) {
        let line = format!("!\trefs/heads/agents/a:refs/heads/agents/a\t{reason}");
        let kept = "!\trefs/heads/agents/b:refs/heads/agents/b\t[rejected] (atomic push failed)";
        let report = format!("To ../hub.git\n{kept}\n{line}\nDone\n");
        assert_eq!(PushRefusal::read(&report), Some(expected), "{reason}");
    }

    #[test]
    fn each_reason_of_git_is_told_apart() {
        check("[rejected] (fetch first)", MovedOn);
        check("[rejected] (non-fast-forward)", MovedOn);
        check("[rejected] (stale info)", MovedOn);
        check("[remote rejected] (cannot lock ref 'x': is at 1 but expected 2)", MovedOn);
        check("[remote rejected] (pre-receive hook declined)", Hook);
        check("[remote rejected] (GH013: Repository rule violations)", Hook);
        check("[remote rejected] (branch is currently checked out)", CheckedOut);
        check("[remote rejected] (unpacker error)", NotStored);
        check("[remote rejected] (shallow update not allowed)", Shallow);
        check("[remote rejected] (deny updating a hidden ref)", Protected);
    }

    #[test]
    fn a_ref_of_any_name_is_no_reason() {
        check("[remote rejected] (pre-receive hook declined)", Hook);
        let line = "!\trefs/heads/agents/fetch-first:x\t[remote rejected] (hook declined)\n";
        assert_eq!(PushRefusal::read(line), Some(Hook));
    }

    #[test]
    fn a_remote_that_cannot_be_reached_refuses_nothing() {
        assert_eq!(PushRefusal::read("fatal: '/nowhere' does not appear to be rejected\n"), None);
    }
}
