//! Shards of the decisions that a snapshot has for agents of others.
//!
//! - Each decision that is read is for an agent of the shard's place, and the shard is canonical.

use agentic_federation::reply::decode_replies;
use agentic_federation::shard::shard_of;
use agentic_model::canonical;

use crate::take_byte;

/// How many places a byte chooses from.
const PLACES: u8 = 64;

/// Checks one input: the place, then the shard.
pub fn check(mut data: &[u8]) {
    let mut part = || format!("{:02x}", take_byte(&mut data) % PLACES);
    let place = [part(), part()];
    let [first, second] = place.each_ref().map(String::as_str);
    let Ok(replies) = decode_replies(data, [first, second]) else { return };
    let value = canonical::decode(data).expect("what is read is canonical");
    assert_eq!(canonical::encode(&value).expect("it was decoded"), data, "one value, one form");
    assert!(!replies.is_empty(), "there is no empty shard");
    for to in replies.values() {
        assert_eq!(shard_of(&to.agent), place, "a reply to {} stands in its place", to.agent);
    }
}
