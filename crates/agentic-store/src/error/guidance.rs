//! What class each error of the store is, and what to do about it.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::Error;
use crate::git::Occupation;

impl Guidance for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Error::NotARepository { .. }
            | Error::RefStorage { .. }
            | Error::PartialClone
            | Error::Io { .. }
            | Error::Git { .. }
            | Error::GitProgram { .. }
            | Error::NotSigned { .. }
            | Error::NoSwitch { .. }
            | Error::RefLocked { .. }
            | Error::WorktreeHeld { .. }
            | Error::UnknownRevision { .. }
            | Error::Ambiguous { .. }
            | Error::UnsafePath { .. }
            | Error::NoIdentity
            | Error::Injected { .. } => ErrorClass::Refused,
            Error::LeftBehind { .. }
            | Error::Unstable { .. }
            | Error::Unmerged { .. }
            | Error::UnderWay { .. }
            | Error::BranchOccupied { .. }
            | Error::RefInTheWay { .. }
            | Error::SymbolicRef { .. } => ErrorClass::Conflict,
            Error::Corrupt { .. } => ErrorClass::Corrupt,
        }
    }

    // size: an arm for each variant, so that none is forgotten.
    fn hint(&self) -> Cow<'static, str> {
        match self {
        Error::NotARepository { .. } => "run this inside a git repository, name one with `-C DIR`, or make one with `git init`".into(),
        Error::RefStorage { .. } => {
            "convert it with `git refs migrate --ref-format=files`".into()
        }
        Error::PartialClone => "`git fetch --refetch --no-filter REMOTE`; once `git rev-list --objects --all --missing=print` has no line \
             with `?`, take `remote.REMOTE.promisor`, `remote.REMOTE.partialclonefilter` and `extensions.partialClone` \
             out with `git config --unset`; or clone without `--filter`".into(),
        Error::Io { doing, source, .. }
            if doing.starts_with("run ") && source.kind() == std::io::ErrorKind::NotFound =>
        {
            "install git, or name its folder in `PATH`, for what the `git` program does".into()
        }
        Error::Io { source, .. } => io_hint(source.kind()).into(),
        Error::Git { .. } => {
            "`agentic doctor` mends what a journal has, and tells what else is not sound".into()
        }
        Error::GitProgram { .. } => {
            "this is what git said; run the same command by hand to see more".into()
        }
        Error::NotSigned { .. } => "look at `gpg.format` and `user.signingKey` in git's configuration; without `agentic.sign` nothing is signed".into(),
        Error::NoSwitch { .. } => "say `git config NAME true` or `false`".into(),
        Error::Corrupt { .. } => "run `agentic doctor`, then `agentic doctor --replay`; restore from a clone or backup what they cannot mend".into(),
        Error::RefLocked { .. } => "wait until the other program is done; if none is running, `agentic doctor --break-locks`".into(),
        Error::LeftBehind { .. } => "mend what stands in the way; then `agentic worktree sync`, or `git restore .` where no agent works".into(),
        Error::WorktreeHeld { .. } => "a filter or hook cannot move the branch whose files it is run for; let it use another agent".into(),
        Error::UnknownRevision { .. } => {
            "`agentic log AGENT` lists commits; git's own names for revisions work too".into()
        }
        Error::Ambiguous { .. } => "give more characters of the id".into(),
        Error::UnsafePath { .. } => {
            "use a path inside the repository, relative to its top folder".into()
        }
        Error::Unstable { .. } => "try again when nothing writes to the file".into(),
        Error::Unmerged { .. } => {
            "finish the merge with git, or give it up with `git merge --abort`".into()
        }
        Error::UnderWay { what, .. } => {
            format!("conclude it with git, or give it up with `git {what} --abort`").into()
        }
        Error::BranchOccupied { occupation, .. } => {
            let give_up = match occupation {
                Occupation::Rebase => "git rebase --continue` or `git rebase --abort",
                Occupation::Bisection => "git bisect reset",
            };
            format!("conclude it there with `{give_up}`, then try again").into()
        }
        Error::RefInTheWay { .. } => "take another name, or rename what is in the way with `git branch -m OLD NEW` or `git update-ref`".into(),
        Error::SymbolicRef { .. } => "`git symbolic-ref --delete REF` removes it; an agent has a branch of its own".into(),
        Error::NoIdentity => "run `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`".into(),
        Error::Injected { .. } => {
            "this is a test; the next command finishes or undoes the write".into()
        }

        }
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
