//! What no purge of this repository reaches.

/// What has to be done first of all.
pub const REVOKE: &str = "Revoke the secret: whoever has seen it has it.";

/// Where else it may be.
pub const ELSEWHERE: [&str; 9] = [
    "other clones, and forks on a forge: each purges for itself, or follows the tombstone",
    "objects that nothing names on a forge or another remote, until it collects them",
    "what was announced: `agentic push` replaces it on remotes, and each peer keeps what it has until it purges, too",
    "refs of pull requests, and what a forge has in its caches",
    "logs of CI",
    "backups",
    "histories on a Temporal server",
    "the coding agent's own transcript, which is changed only with `--sources`",
    "files in worktrees; and a remote, until `agentic push --purge --remote R`",
];
