//! The last check of a case: what stock git and an independent decoder say about the repositories.
//!
//! `serde_cbor` accepts more than the canonical form and is no longer maintained, so it may not
//! decide anything; but it shares no code with our codec, and that makes it a good witness.

use std::path::Path;

use agentic_model::{Cid, Value, canonical};
use agentic_testkit::{GroundState, ProgramEnding, Sandbox};
use serde_cbor::Value as Cbor;

/// The CBOR tag of a content id.
const CID_TAG: u64 = 42;
/// The refs whose trees hold objects.
const NOTES_REFS: [&str; 2] = ["refs/notes/agentic/", "refs/agentic/"];

/// Checks every repository of a sandbox.
pub(crate) fn check(sandbox: &Sandbox) -> Result<(), String> {
    let folders = GroundState::git_folders(sandbox).map_err(|error| error.to_string())?;
    for folder in folders {
        let place =
            folder.strip_prefix(sandbox.repositories()).unwrap_or(&folder).display().to_string();
        check_fsck(sandbox, &folder)
            .and_then(|()| check_objects(sandbox, &folder))
            .map_err(|wrong| format!("at the end, in {place}: {wrong}"))?;
    }
    Ok(())
}

fn check_fsck(sandbox: &Sandbox, folder: &Path) -> Result<(), String> {
    let arguments = ["fsck", "--strict", "--no-progress", "--no-dangling"];
    let finished = sandbox.try_git(folder, &arguments).map_err(|error| error.to_string())?;
    if finished.ending == ProgramEnding::Exit(0) {
        return Ok(());
    }
    let said = [finished.stdout, finished.stderr].concat();
    Err(format!("git fsck --strict finds:\n{}", String::from_utf8_lossy(&said)))
}

fn check_objects(sandbox: &Sandbox, folder: &Path) -> Result<(), String> {
    let git = |arguments: &[&str]| sandbox.git(folder, arguments).map_err(|e| e.to_string());
    let [notes, ours] = NOTES_REFS;
    let refs = git(&["for-each-ref", "--format=%(refname)", notes, ours])?;
    let mut stored = Vec::new();
    for name in refs.lines() {
        let listing = git(&["ls-tree", "-r", "-z", name])?;
        stored.extend(listing.split('\0').filter_map(object_entry));
    }
    stored.sort();
    stored.dedup();
    let wanted: String = stored.iter().map(|(oid, _)| format!("{oid}\n")).collect();
    let batch = sandbox
        .git_with_input(folder, &["cat-file", "--batch"], wanted.as_bytes())
        .map_err(|error| error.to_string())?;
    let mut rest = batch.stdout.as_slice();
    for (oid, name) in &stored {
        let (bytes, after) = take_blob(rest).ok_or(format!("git cannot read blob {oid}"))?;
        check_object(name, bytes).map_err(|wrong| format!("object {name} (blob {oid}) {wrong}"))?;
        rest = after;
    }
    Ok(())
}

/// Reads a line of `git ls-tree`; returns blob and name if it is an entry under `objects/`.
fn object_entry(line: &str) -> Option<(String, String)> {
    let (entry, path) = line.split_once('\t')?;
    let oid = entry.split(' ').nth(2)?;
    let name = path.strip_prefix("objects/")?;
    Some((oid.to_owned(), name.rsplit('/').next().unwrap_or(name).to_owned()))
}

/// Takes one answer of `git cat-file --batch`: `<oid> blob <size>`, the bytes, a line break.
fn take_blob(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let header = std::str::from_utf8(&answer[..end]).ok()?;
    let size: usize = header.rsplit(' ').next()?.parse().ok()?;
    let body = answer.get(end + 1..)?;
    Some((body.get(..size)?, body.get(size + 1..)?))
}

/// Checks that the bytes have that name, and that both decoders read the same in them.
fn check_object(name: &str, bytes: &[u8]) -> Result<(), String> {
    let cid = Cid::of(bytes).to_string();
    if cid != name {
        return Err(format!("holds the bytes of {cid}"));
    }
    let ours = canonical::decode(bytes).map_err(|error| format!("does not decode: {error}"))?;
    let theirs: Cbor =
        serde_cbor::from_slice(bytes).map_err(|error| format!("is not CBOR: {error}"))?;
    if same(&ours, &theirs) {
        return Ok(());
    }
    Err(format!("is read differently by serde_cbor: {theirs:?} instead of {ours:?}"))
}

fn same(ours: &Value, theirs: &Cbor) -> bool {
    match (ours, theirs) {
        (Value::Null, Cbor::Null) => true,
        (Value::Bool(left), Cbor::Bool(right)) => left == right,
        (Value::Int(left), Cbor::Integer(right)) => i128::from(*left) == *right,
        (Value::Float(left), Cbor::Float(right)) => left.to_bits() == right.to_bits(),
        (Value::Text(left), Cbor::Text(right)) => left == right,
        (Value::Bytes(left), Cbor::Bytes(right)) => left == right,
        (Value::List(left), Cbor::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r))
        }
        (Value::Map(left), Cbor::Map(right)) => {
            let key = |key: &str| Cbor::Text(key.to_owned());
            left.len() == right.len()
                && left.iter().all(|(k, l)| right.get(&key(k)).is_some_and(|r| same(l, r)))
        }
        (Value::Link(cid), Cbor::Tag(CID_TAG, inner)) => {
            // A content id in CBOR has a zero byte before it.
            matches!(&**inner, Cbor::Bytes(bytes) if bytes.split_first() == Some((&0, &cid.to_bytes())))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use agentic_model::{Object, json};

    use super::*;

    #[test]
    fn both_decoders_read_the_same_in_every_shape() {
        let link = Cid::of(b"x").to_string();
        let text = format!(
            r#"{{"type":"x","list":[null,true,-1,9223372036854775807,0.5,"é"],
                "bytes":{{"/":{{"bytes":"AQI"}}}},"link":{{"/":"{link}"}}}}"#
        );
        let value = json::from_text(&text).expect("the case is JSON");
        let object = Object::from_value(value).expect("the case is an object");
        assert_eq!(check_object(&object.cid().to_string(), object.bytes()), Ok(()));
    }

    #[test]
    fn a_wrong_name_and_wrong_bytes_are_found() {
        let loose = [0x18, 0x00];
        assert!(
            check_object(&Cid::of(b"x").to_string(), &loose).is_err_and(|e| e.contains("holds"))
        );
        assert!(check_object(&Cid::of(&loose).to_string(), &loose).is_err());
        assert!(!same(&Value::Int(1), &Cbor::Float(1.0)));
    }

    #[test]
    fn answers_of_git_are_taken_one_by_one() {
        let answer = b"aa blob 3\na\nb\nbb blob 0\n\n";
        let (first, rest) = take_blob(answer).expect("an answer");
        let (second, rest) = take_blob(rest).expect("an answer");
        assert_eq!((first, second, rest), (&b"a\nb"[..], &b""[..], &b""[..]));
        assert!(take_blob(b"aa missing\n").is_none());
    }
}
