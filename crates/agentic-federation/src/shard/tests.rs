//! Tests of shards.

use agentic_store::memory::MemoryRepository;

use super::*;
use crate::folder::Drafts;

fn name(text: &str) -> AgentName {
    AgentName::parse(text).expect("a name")
}

fn entry(digit: char) -> HeadEntry {
    let oid = |digit: char| Oid::parse(&digit.to_string().repeat(40)).expect("an id");
    HeadEntry { head: oid(digit), notes: Some(oid('e')), from: None }
}

fn shard(entries: &[(&str, Value)]) -> Vec<u8> {
    encode(&Value::map(entries.iter().map(|(name, value)| (*name, value.clone()))))
}

#[test]
fn the_place_of_a_name_is_twelve_bits_of_its_hash() {
    // `b3sum` of `x` begins with 3ae7: 0x3a & 0x3f and 0xe7 & 0x3f.
    assert_eq!(shard_of(&name("x")), ["3a", "27"].map(str::to_owned));
}

#[test]
fn an_entry_is_two_ids_and_little_more() {
    let [first, second] = shard_of(&name("alice"));
    let bytes = shard(&[("alice", entry('a').to_value())]);
    // A map of one, `alice`, a map of two, and two fields of 2 + 21 bytes.
    assert_eq!(bytes.len(), 1 + 6 + 1 + 2 * 23);
    let heads = decode_shard(&bytes, [&first, &second], 20).expect("as it is made");
    assert_eq!(heads, Heads::from([(name("alice"), entry('a'))]));
}

#[test]
fn what_is_not_as_it_would_be_made_is_no_shard() {
    let [first, second] = shard_of(&name("alice"));
    let place = [first.as_str(), second.as_str()];
    let good = entry('a').to_value();
    let without = |field: &str| {
        let mut map = good.as_map().expect("a map").clone();
        map.remove(field);
        Value::Map(map)
    };
    let with = |field: &str, value: Value| {
        let mut map = good.as_map().expect("a map").clone();
        map.insert(field.to_owned(), value);
        Value::Map(map)
    };
    assert!(decode_shard(&shard(&[("alice", without("n"))]), place, 20).is_ok());
    assert!(decode_shard(&shard(&[("alice", with("z", Value::Int(1)))]), place, 20).is_ok());
    let padded = [shard(&[("alice", good.clone())]), vec![0]].concat();
    for (what, bytes, oid_bytes) in [
        ("another's", shard(&[("bob", good.clone())]), 20),
        ("no name", shard(&[("../x", good.clone())]), 20),
        ("no head", shard(&[("alice", without("h"))]), 20),
        ("null notes", shard(&[("alice", with("n", Value::Null))]), 20),
        ("short id", shard(&[("alice", with("h", Value::Bytes(vec![1; 19])))]), 20),
        ("null id", shard(&[("alice", with("h", Value::Bytes(vec![0; 20])))]), 20),
        ("another hash", shard(&[("alice", good.clone())]), 32),
        ("empty", shard(&[]), 20),
        ("more bytes", padded, 20),
        ("no map", encode(&Value::Int(1)), 20),
    ] {
        assert!(decode_shard(&bytes, place, oid_bytes).is_err(), "{what}");
    }
}

/// Makes the folder of some agents from nothing.
fn folder_of(store: &MemoryRepository, heads: &Heads) -> (Oid, TreeFolder) {
    let mut folder = FolderDraft::default();
    put_heads(heads, "heads", &mut folder);
    let tree = write(store, folder);
    let whole = read_folder(store, tree).expect("just made");
    (tree, read_subfolder(store, &whole, "heads").expect("just made"))
}

fn write(store: &MemoryRepository, folder: FolderDraft) -> Oid {
    let mut drafts = Drafts::default();
    let tree = folder.finish(store, &mut drafts);
    let _written = store.write_objects(&drafts.objects).expect("there is room");
    tree
}

#[test]
fn a_folder_that_is_changed_is_the_one_that_is_made_anew() {
    let store = MemoryRepository::new(std::path::Path::new("/nowhere"));
    let agents = |numbers: std::ops::Range<u32>, digit: char| -> Heads {
        numbers.map(|number| (name(&format!("a{number}")), entry(digit))).collect()
    };
    let many = agents(0..300, 'a');
    let mut moved = many.clone();
    moved.extend(agents(7..9, 'b'));
    for (before, after) in [
        (Heads::new(), many.clone()),
        (many.clone(), moved),
        (many.clone(), agents(0..301, 'a')),
        (many.clone(), agents(1..300, 'a')),
        (agents(0..1, 'a'), agents(1..2, 'a')),
        (many.clone(), many.clone()),
        (many, Heads::new()),
    ] {
        let (_, old) = folder_of(&store, &before);
        let (tree, new) = folder_of(&store, &after);
        let changes = changed_heads(&store, &old, &new).expect("just made");
        let by_name = |mut changes: Vec<HeadChange>| {
            changes.sort_by(|left, right| left.agent.cmp(&right.agent));
            changes
        };
        assert_eq!(by_name(changes.clone()), by_name(differences(&before, &after)));
        let mut applied = before;
        apply(&changes, &mut applied);
        assert_eq!(applied, after);
        let mut changed = FolderDraft::default();
        changed.put_folder("heads", changed_folder(&store, &old, &changes).expect("just made"));
        assert_eq!(write(&store, changed), tree, "{} agents", after.len());
    }
}
