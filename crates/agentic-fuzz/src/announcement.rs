//! The signed object of an announcement.
//!
//! - One that is read is canonical, and says the same when it is written and read again.

use agentic_federation::announcement::SpaceAnnouncement;
use agentic_model::canonical;

/// Checks one input.
pub fn check(data: &[u8]) {
    let Ok(read) = SpaceAnnouncement::decode(data) else { return };
    let value = canonical::decode(data).expect("what is read is canonical");
    assert_eq!(canonical::encode(&value).expect("it was decoded"), data, "one value, one form");
    let again = SpaceAnnouncement::decode(&read.to_bytes()).expect("what is written is read");
    assert_eq!(again, read);
}
