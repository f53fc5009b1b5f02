//! Trailers of commit messages.
//!
//! What is read is what `git interpret-trailers --parse` prints; what is appended is read back behind
//! what was there; what is stripped has none of ours.

use std::io::Write as _;
use std::process::{Command, Stdio};

use agentic_model::trailer::{self, Trailer};

use crate::text_of;

/// Checks one message.
pub fn check(data: &[u8]) {
    let Some(message) = text_of(data).filter(|text| !text.contains('\0')) else { return };
    // Of what stands below a scissors line git reads nothing, and we do.
    if message.contains(" >8 ") {
        return;
    }
    let found = trailer::read(message);

    let ours = [Trailer { key: "Agentic-Kind".to_owned(), value: "test".to_owned() }];
    let appended = trailer::append(message, &ours);
    let read = trailer::read(&appended);
    if !message.trim().is_empty() {
        assert!(read.ends_with(&ours), "{read:?} after an append to {message:?}");
        assert!(read.starts_with(&found), "{read:?} after an append to {message:?}");
        // Who checks a message for forged trailers must not be led round by what is appended.
        let n_ours = |all: &[Trailer]| all.iter().filter(|it| trailer::is_ours(&shown(it))).count();
        assert_eq!(n_ours(&read), n_ours(&found) + 1, "after an append to {message:?}");
    }
    let stripped = trailer::strip(&appended);
    assert!(!trailer::read(&stripped).iter().any(|one| trailer::is_ours(&shown(one))));

    // A message without a colon has no trailers, and git takes a thousand times as long to say so.
    if message.contains(':') {
        let shown: Vec<String> = found.iter().map(shown).collect();
        assert_eq!(shown, by_git(message), "git reads {message:?} otherwise");
    }
}

fn shown(trailer: &Trailer) -> String {
    format!("{}: {}", trailer.key, trailer.value)
}

/// Asks git.
fn by_git(message: &str) -> Vec<String> {
    let mut git = Command::new("git")
        .args(["interpret-trailers", "--parse", "--no-divider"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git is here");
    git.stdin.take().expect("a pipe").write_all(message.as_bytes()).expect("git reads");
    let output = git.wait_with_output().expect("git ends");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("git prints what it got");
    text.split_terminator('\n').map(str::to_owned).collect()
}
