//! Signing: what people commit, and what sessions do.

use agentic_space::commit::{Asker, commit};
use agentic_space::spawn::SpawnOrigin;

use crate::place::{Place, draft, name};

/// Makes alice in a place where a program signs what people commit. It notes each time.
fn signed_by(script: &str) -> Place {
    let mut place = Place::with(&["alice"]);
    sign_with(&mut place, script);
    place
}

/// Lets a program sign what people commit.
pub fn sign_with(place: &mut Place, script: &str) {
    let program = place.beside("sign");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writable");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("ours");
    place.configure("gpg.program", &program.to_string_lossy());
    place.configure("user.signingkey", "ada");
    place.configure("agentic.sign", "true");
}

/// Signs anything, and counts how often.
pub const SIGNS: &str = r#"echo x >> "$(dirname "$0")/signed"; cat > /dev/null
printf '[GNUPG:] SIG_CREATED \n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n'"#;

fn is_signed(place: &Place, commit: &str) -> bool {
    place.git(&["cat-file", "commit", commit]).contains("gpgsig")
}

#[test]
fn people_sign_if_that_is_set_and_sessions_never_do() {
    let place = signed_by(SIGNS);
    place.commit("alice", &[("a", Some("1"))]).expect("it is signed");
    assert!(is_signed(&place, "agents/alice"));
    let mut asked = draft("Asked", &[("b", Some("1"))]);
    asked.asker =
        Some(Asker { behaviour: None, session: "s".to_owned(), request: Some("r".to_owned()) });
    commit(&place.space, &name("alice"), &asked).expect("nobody signs");
    assert!(!is_signed(&place, "agents/alice"), "it must be possible to make it again");
    place.spawn("bob", &SpawnOrigin::Root).expect("it is signed");
    assert!(is_signed(&place, "agents/bob"));
}

#[test]
fn what_cannot_be_signed_is_not_written() {
    let place = signed_by("cat > /dev/null; exit 1");
    let before = place.head("alice");
    assert!(place.commit("alice", &[("a", Some("1"))]).is_err());
    assert!(place.spawn("bob", &SpawnOrigin::Root).is_err());
    assert_eq!(place.head("alice"), before);
    assert!(place.space.head(&name("bob")).is_err());
}

#[test]
fn nobody_is_asked_to_sign_for_a_name_that_is_taken() {
    let place = signed_by(SIGNS);
    assert!(place.spawn("alice", &SpawnOrigin::Root).is_err());
    assert!(!place.beside("signed").exists());
}
