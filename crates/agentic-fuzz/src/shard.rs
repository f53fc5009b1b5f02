//! Shards of the heads of a snapshot.
//!
//! - Each agent that is read stands in the shard of its name, and the shard is canonical.

use agentic_federation::shard::{decode_shard, shard_of};
use agentic_model::canonical;

use crate::take_byte;

/// How many places a byte chooses from.
const PLACES: u8 = 64;
/// How many bytes ids have.
const OID_BYTES: [usize; 2] = [20, 32];

/// Checks one input: the length of ids and the place, then the shard.
pub fn check(mut data: &[u8]) {
    let oid_bytes = OID_BYTES[usize::from(take_byte(&mut data) % 2)];
    let mut part = || format!("{:02x}", take_byte(&mut data) % PLACES);
    let place = [part(), part()];
    let [first, second] = place.each_ref().map(String::as_str);
    let Ok(heads) = decode_shard(data, [first, second], oid_bytes) else { return };
    let value = canonical::decode(data).expect("what is read is canonical");
    assert_eq!(canonical::encode(&value).expect("it was decoded"), data, "one value, one form");
    assert!(!heads.is_empty(), "there is no empty shard");
    for (agent, entry) in &heads {
        assert_eq!(shard_of(agent), place, "{agent} stands in its place");
        assert!(entry.tips().all(|oid| oid.as_bytes().len() == oid_bytes));
    }
}
