//! Why a remote did not take a push, as git and the hosts of repositories say it.

use agentic_model::guidance::ErrorClass;

use super::PushRefusal;

/// Makes the line that git prints of a ref.
fn line(reason: &str) -> String {
    format!("!\trefs/heads/agents/a:refs/heads/agents/a\t{reason}\n")
}

#[test]
fn each_reason_is_told_from_the_others() {
    for (reason, refusal) in [
        ("[rejected] (fetch first)", PushRefusal::MovedOn),
        ("[rejected] (non-fast-forward)", PushRefusal::MovedOn),
        ("[rejected] (stale info)", PushRefusal::MovedOn),
        ("[remote rejected] (cannot lock ref 'refs/heads/x')", PushRefusal::MovedOn),
        ("[remote rejected] (pre-receive hook declined)", PushRefusal::Hook),
        ("[remote rejected] (branch is currently checked out)", PushRefusal::CheckedOut),
        ("[remote rejected] (unpacker error)", PushRefusal::NotStored),
        ("[remote rejected] (unpack failed: No space left on device)", PushRefusal::NotStored),
        ("[remote rejected] (shallow update not allowed)", PushRefusal::Shallow),
        ("[remote rejected] (deny updating a hidden ref)", PushRefusal::Protected),
        ("[remote rejected] (protected branch)", PushRefusal::Protected),
        // Hosts say it in words of their own.
        ("[remote rejected] (the moon is full)", PushRefusal::Hook),
        ("[rejected] (who knows)", PushRefusal::MovedOn),
    ] {
        assert_eq!(PushRefusal::read(&line(reason)), Some(refusal), "{reason}");
    }
}

#[test]
fn a_ref_that_another_one_kept_back_is_not_the_reason() {
    let kept = line("[rejected] (atomic push failed)");
    let hook = line("[remote rejected] (hook declined)");
    assert_eq!(PushRefusal::read(&format!("{kept}{hook}")), Some(PushRefusal::Hook));
    assert_eq!(PushRefusal::read(&kept), Some(PushRefusal::MovedOn), "if nothing else is told");
}

#[test]
fn what_git_says_besides_is_no_refusal() {
    for text in ["", "To /somewhere\n", "=\ta:a\t[up to date]\n", "error: hook declined\n", "!", "!\tx"] {
        assert_eq!(PushRefusal::read(text), None, "{text:?}");
    }
    let done = "To /somewhere\n*\ta:a\t[new branch]\nDone\n";
    assert_eq!(PushRefusal::read(done), None);
}

#[test]
fn only_a_remote_that_moved_on_is_a_conflict() {
    for refusal in [
        PushRefusal::MovedOn,
        PushRefusal::Hook,
        PushRefusal::CheckedOut,
        PushRefusal::NotStored,
        PushRefusal::Shallow,
        PushRefusal::Protected,
    ] {
        let is_conflict = refusal.class() == ErrorClass::Conflict;
        assert_eq!(is_conflict, refusal == PushRefusal::MovedOn, "{refusal}");
        assert!(!refusal.hint().is_empty() && !refusal.to_string().is_empty());
    }
}
