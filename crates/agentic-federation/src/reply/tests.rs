//! Shards of replies, as bytes.

use agentic_model::{AgentName, Cid, Map, Oid, Value};

use super::decode_replies;
use crate::fields::encode;
use crate::id::SpaceId;
use crate::shard::{AdoptedFrom, shard_of};

fn to(name: &str) -> AdoptedFrom {
    let agent = AgentName::parse(name).expect("a name");
    AdoptedFrom { peer: Cid::of(b"ada"), space: SpaceId([7; 16]), agent }
}

#[test]
fn a_shard_reads_back_in_its_own_place_alone() {
    let commit = Oid::parse(&"1".repeat(40)).expect("an id");
    let to = to("x");
    let bytes = encode(&Value::map([(commit.to_string().as_str(), to.to_value())]));
    let place = shard_of(&to.agent);
    let read = decode_replies(&bytes, [&place[0], &place[1]]).expect("it is one");
    assert_eq!(read.into_iter().collect::<Vec<_>>(), [(commit, to)]);
    assert!(decode_replies(&bytes, [&place[1], "40"]).is_err());
}

#[test]
fn what_names_no_commit_or_nobody_is_no_shard() {
    let to = to("x");
    let place = shard_of(&to.agent);
    let place = [place[0].as_str(), place[1].as_str()];
    for map in [
        Value::Map(Map::new()),
        Value::map([("x", to.to_value())]),
        Value::map([("1".repeat(40).to_uppercase().replace('1', "A").as_str(), to.to_value())]),
        Value::map([("1".repeat(40).as_str(), Value::Null)]),
    ] {
        assert!(decode_replies(&encode(&map), place).is_err(), "{map:?}");
    }
    assert!(decode_replies(b"", place).is_err());
}
