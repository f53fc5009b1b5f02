//! Steps that a space may not take: signed by its own key, and silent about what they change.

use agentic_federation::announce::AnnounceRequest;
use agentic_federation::announcement::SpaceAnnouncement;
use agentic_federation::peer_log;
use agentic_federation::receive::SpaceResult;
use agentic_model::Oid;

use super::{ForgedPlace, ForgeryEnd, write_object, write_tree};
use crate::git;

/// Signs anew what `ada` has signed and nobody has seen, after an edit; returns the commit.
fn sign_again(forged: &ForgedPlace, edit: impl FnOnce(&mut SpaceAnnouncement)) -> String {
    let request = AnnounceRequest { rewind: Some("forged".to_owned()), ..Default::default() };
    let made = forged.place.sign_at("ada", &request).expect("nothing fails");
    let mut said = made.wrapped.signed.announcement;
    edit(&mut said);
    forged.wrap(&said, &forged.key())
}

/// Sets the agent `x` of `ada` back to where it began.
fn set_back(forged: &ForgedPlace) {
    git(&forged.ada(), "update-ref refs/heads/agents/x main");
}

#[test]
fn a_head_that_was_set_back_in_silence_is_refused() {
    let forged = ForgedPlace::new();
    set_back(&forged);
    let commit = sign_again(&forged, |said| said.rewinds.clear());
    forged.check("silent", &commit, ForgeryEnd::Refused("`x` was set back without a rewind"));
}

#[test]
fn a_rewind_that_names_something_else_is_none() {
    let edits: [fn(&mut SpaceAnnouncement); 2] = [
        |said| said.rewinds[0].from = said.rewinds[0].to,
        |said| said.rewinds[0].to = said.rewinds[0].from,
    ];
    for edit in edits {
        let forged = ForgedPlace::new();
        set_back(&forged);
        let commit = sign_again(&forged, edit);
        forged.check("another", &commit, ForgeryEnd::Refused("was set back without a rewind"));
    }
}

#[test]
fn an_agent_that_vanishes_in_silence_is_refused() {
    let forged = ForgedPlace::new();
    git(&forged.ada(), "update-ref -d refs/heads/agents/x");
    let commit = sign_again(&forged, |said| said.removed.clear());
    forged.check("silent", &commit, ForgeryEnd::Refused("`x` vanished without being removed"));
}

#[test]
fn a_head_that_does_not_come_along_is_refused() {
    let forged = ForgedPlace::new();
    forged.place.work();
    let commit = sign_again(&forged, |said| said.parents.truncate(1));
    forged.check("left out", &commit, ForgeryEnd::Refused("`x` is not among its parents"));
    // That it is reached in another way is not enough, either.
    let forged = ForgedPlace::new();
    forged.place.work();
    let head = git(&forged.ada(), "rev-parse agents/x");
    let tree = git(&forged.ada(), "rev-parse main^{tree}");
    let above = git(&forged.ada(), &format!("commit-tree -m above -p {head} {tree}"));
    let commit = sign_again(&forged, |said| said.parents[1] = Oid::parse(&above).expect("an id"));
    forged.check("below", &commit, ForgeryEnd::Refused("`x` is not among its parents"));
}

#[test]
fn of_three_that_were_missed_the_middle_one_is_refused_and_named() {
    let forged = ForgedPlace::new();
    forged.place.work();
    forged.place.announce().expect("nothing fails");
    set_back(&forged);
    let middle = sign_again(&forged, |said| said.rewinds.clear());
    let last = forged.wrap(&forged.next(&middle), &forged.key());
    forged.check("three behind", &last, ForgeryEnd::Refused("announcement 2: the head of `x`"));
    let lines = peer_log::read(&forged.place.open("bob")).expect("it is text");
    let [line] = lines.as_slice() else { panic!("one line: {lines:?}") };
    assert!(line.reason.contains("announcement 2"), "{line:?}");
    assert_eq!(line.oid.to_string(), last);
}

#[test]
fn an_agent_whose_name_is_none_is_no_agent() {
    let forged = ForgedPlace::new();
    let folder = forged.ada();
    git(&folder, "update-ref refs/heads/agents/aaaa main");
    let (good, bad) = ("aaaa", "../x");
    let place = |name: &str| {
        let hash = blake3::hash(name.as_bytes());
        let [first, second] = [0, 1].map(|at| format!("{:02x}", hash.as_bytes()[at] & 0x3f));
        format!("{first}/{second}")
    };
    let commit = sign_again(&forged, |said| {
        // Its entry stands under the other name, where that name belongs.
        let shard = format!("{}:heads/{}", said.tree, place(good));
        let bytes = super::git_reading(&folder, &["cat-file", "blob", &shard], b"");
        let at = bytes.windows(4).position(|part| part == good.as_bytes()).expect("it is there");
        let mut forged_bytes = bytes;
        forged_bytes[at..at + 4].copy_from_slice(bad.as_bytes());
        let files = [
            (place("x"), git(&folder, &format!("rev-parse {}:heads/{}", said.tree, place("x")))),
            (place(bad), write_object(&folder, "blob", &forged_bytes)),
        ];
        let mut heads: Vec<String> = files
            .map(|(path, blob)| {
                let (above, name) = path.split_once('/').expect("two folders");
                let inner = write_tree(&folder, &format!("100644 blob {blob}\t{name}\n"));
                format!("040000 tree {inner}\t{above}\n")
            })
            .into();
        heads.sort_by_key(|line| line.split('\t').next_back().map(str::to_owned));
        let body = git(&folder, &format!("ls-tree {}", said.tree));
        let heads = write_tree(&folder, &heads.concat());
        let body: String = body
            .lines()
            .map(|line| match line.ends_with("\theads") {
                true => format!("040000 tree {heads}\theads\n"),
                false => format!("{line}\n"),
            })
            .collect();
        said.tree = Oid::parse(&write_tree(&folder, &body)).expect("an id");
    });
    forged.check("a path", &commit, ForgeryEnd::Refused("a name that is none"));
}

#[test]
fn what_was_announced_honestly_is_accepted() {
    let forged = ForgedPlace::new();
    set_back(&forged);
    let commit = sign_again(&forged, |_| {});
    forged.serve(&commit);
    assert_eq!(forged.receive().outcome.result, SpaceResult::Accepted);
}

/// Makes a snapshot again with another tree, or none, in the place of a folder.
fn with_folder(forged: &ForgedPlace, body: Oid, name: &str, tree: Option<&str>) -> Oid {
    let folder = forged.ada();
    let ends = format!("\t{name}");
    let listed = git(&folder, &format!("ls-tree {body}"));
    let mut lines: Vec<String> = listed.lines().map(str::to_owned).collect();
    lines.retain(|line| !line.ends_with(&ends));
    lines.extend(tree.map(|tree| format!("040000 tree {tree}{ends}")));
    lines.sort_by_key(|line| line.split('\t').next_back().map(str::to_owned));
    Oid::parse(&write_tree(&folder, &(lines.join("\n") + "\n"))).expect("an id")
}

#[test]
fn a_snapshot_without_all_documents_of_its_identity_is_refused() {
    let forged = ForgedPlace::new();
    forged.place.work();
    let folder = forged.ada();
    let junk = write_object(&folder, "blob", b"junk");
    let alone = write_tree(&folder, &format!("100644 blob {junk}\t0\n"));
    let none = sign_again(&forged, |said| {
        said.tree = with_folder(&forged, said.tree, "identity", None);
    });
    forged.check("none", &none, ForgeryEnd::Refused("other documents than those of its identity"));
    let other = sign_again(&forged, |said| {
        said.tree = with_folder(&forged, said.tree, "identity", Some(&alone));
    });
    forged.check("another", &other, ForgeryEnd::Frozen);
    let forged = ForgedPlace::new();
    forged.place.work();
    let folder = forged.ada();
    let junk = write_object(&folder, "blob", b"junk");
    let more = sign_again(&forged, |said| {
        let there = git(&folder, &format!("ls-tree {}:identity", said.tree));
        let beside = write_tree(&folder, &format!("{there}\n100644 blob {junk}\tzero\n"));
        said.tree = with_folder(&forged, said.tree, "identity", Some(&beside));
    });
    forged.check("one more", &more, ForgeryEnd::Refused("files that belong to none of it"));
}

#[test]
fn a_snapshot_that_gives_on_what_is_no_capability_is_refused() {
    let forged = ForgedPlace::new();
    forged.place.work();
    let folder = forged.ada();
    let junk = write_object(&folder, "blob", b"junk");
    let caps = write_tree(&folder, &format!("100644 blob {junk}\tjunk\n"));
    let commit = sign_again(&forged, |said| {
        said.tree = with_folder(&forged, said.tree, "caps", Some(&caps));
    });
    forged.check("junk", &commit, ForgeryEnd::Refused("not DAG-CBOR"));
}
