//! Signatures of OpenPGP, with the `gpg` that is there. Those of SSH are cases of the conformance
//! suite.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_model::commit::CommitData;
use agentic_model::{Instant, Oid, Person, Signature};
use tempfile::TempDir;

use crate::{Repository, run_git};
use agentic_store::journal::{GitKind, GitObject};

/// A repository whose `gpg` has a key ring of its own, which goes with it.
struct Stage {
    folder: TempDir,
    repository: Repository,
    /// The fingerprints of the primary key and of the key below it that signs.
    fingerprints: Vec<String>,
}

/// A decision of what keys count, and whether they should.
type Case<'a> = (&'a str, Vec<String>, bool);

impl Stage {
    /// Makes one; nothing where there is no `gpg`.
    fn new() -> Option<Stage> {
        Command::new("gpg").arg("--version").output().ok().filter(|told| told.status.success())?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().join("ring");
        std::fs::create_dir(&home).expect("writable");
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).expect("ours");
        let gpg = |arguments: &[&str]| {
            let told = Command::new("gpg").arg("--homedir").arg(&home).args(arguments).output();
            let told = told.expect("it was there before");
            assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
            String::from_utf8(told.stdout).expect("gpg prints text")
        };
        let quiet = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""];
        let made = ["--quick-gen-key", "Ada <ada@example.com>", "ed25519", "cert", "never"];
        gpg(&[&quiet[..], &made[..]].concat());
        let primary = fingerprints_in(&gpg(&["--with-colons", "--list-secret-keys"])).remove(0);
        gpg(&[&quiet[..], &["--quick-add-key", &primary, "ed25519", "sign", "never"]].concat());
        let fingerprints = fingerprints_in(&gpg(&["--with-colons", "--list-secret-keys"]));
        let program = write_program(folder.path(), &home);
        let path = program.to_string_lossy();
        for arguments in [
            &["init", "-q"][..],
            &["config", "gpg.program", &path],
            &["config", "user.name", "Ada"],
            &["config", "user.email", "ada@example.com"],
        ] {
            run_git(folder.path(), arguments)
                .and_then(|told| told.checked(arguments))
                .expect("git");
        }
        let repository = Repository::open(folder.path()).expect("it is one");
        Some(Stage { folder, repository, fingerprints })
    }

    /// Signs a commit and stores it.
    fn commit(&self) -> Oid {
        let person = Person::new("Ada", "ada@example.com");
        let signed_at = Signature { person, at: Instant::from_millis(0), offset_minutes: 0 };
        let tree = GitObject { kind: GitKind::Tree, bytes: Vec::new() };
        let data = CommitData {
            tree: self.repository.name_object(&tree),
            parents: Vec::new(),
            author: signed_at.clone(),
            committer: signed_at,
            message: "Words\n".to_owned(),
        };
        let bytes = self.repository.signer().expect("a key").sign(&data).expect("it signs");
        let commit = GitObject { kind: GitKind::Commit, bytes };
        self.repository.write_loose(&[tree, commit]).expect("writable")[1]
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The agent that gpg has started for this key ring.
        let home = self.folder.path().join("ring");
        let _gone =
            Command::new("gpgconf").arg("--homedir").arg(home).args(["--kill", "all"]).status();
    }
}

fn fingerprints_in(listed: &str) -> Vec<String> {
    let lines = listed.lines().filter(|line| line.starts_with("fpr:"));
    lines.filter_map(|line| line.split(':').nth(9).map(str::to_owned)).collect()
}

/// Writes a program that is `gpg` with that key ring.
fn write_program(folder: &Path, home: &Path) -> PathBuf {
    let path = folder.join("gpg-here");
    let script = format!("#!/bin/sh\nexec gpg --homedir '{}' \"$@\"\n", home.display());
    std::fs::write(&path, script).expect("writable");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("ours");
    path
}

#[test]
fn a_signature_of_openpgp_counts_for_the_keys_that_are_named_by_their_whole_fingerprint() {
    let Some(stage) = Stage::new() else {
        eprintln!("SKIPPED 8 signatures of OpenPGP: there is no `gpg` here");
        return;
    };
    let [primary, signing] = &stage.fingerprints[..] else { panic!("two keys were made") };
    let key = |text: &str| vec![format!("gpg:{text}")];
    let spaced: Vec<&str> = (0..4).map(|part| &primary[part * 10..part * 10 + 10]).collect();
    let ssh = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMVrQ1bVdwQx0sVxUqXh4bWb4yTq6O9lQm5Q0r7xJX3q";
    let cases: [Case<'_>; 8] = [
        ("the primary key", key(primary), true),
        ("the key that signed", key(signing), true),
        ("small letters and blanks", key(&spaced.join(" ").to_lowercase()), true),
        (
            "one of several",
            vec![ssh.to_owned(), key(&"A".repeat(40)).remove(0), key(signing).remove(0)],
            true,
        ),
        ("another key", key(&"A".repeat(40)), false),
        ("a short id", key(&primary[24..]), false),
        ("a key of SSH", vec![ssh.to_owned()], false),
        ("nobody", Vec::new(), false),
    ];
    let commit = stage.commit();
    for (what, keys, counts) in cases {
        let message = stage.repository.message_signed_by(commit, &keys).expect("git runs");
        assert_eq!(message.as_deref(), counts.then_some("Words\n"), "{what}");
    }
    assert_eq!(stage.repository.signer().expect("a key").name(), format!("gpg:{primary}"));
    let text = stage.repository.raw_commit(&commit.to_string()).expect("it is there");
    let bytes = text.replace("Words", "Other").into_bytes();
    let altered = GitObject { kind: GitKind::Commit, bytes };
    let altered = stage.repository.write_loose(&[altered]).expect("writable")[0];
    let found = stage.repository.message_signed_by(altered, &key(signing)).expect("git runs");
    assert_eq!(found, None, "another message under the same signature");
}
