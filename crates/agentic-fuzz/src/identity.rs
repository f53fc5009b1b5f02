//! Documents of identities.
//!
//! - One that is read is canonical, and says the same when it is written and read again.
//! - No chain begins with one that nobody signed.

use agentic_federation::identity::{IdentityChain, IdentityDocument, SignedDocument};
use agentic_model::canonical;

/// Checks one input.
pub fn check(data: &[u8]) {
    let Ok(read) = IdentityDocument::decode(data) else { return };
    let value = canonical::decode(data).expect("what is read is canonical");
    assert_eq!(canonical::encode(&value).expect("it was decoded"), data, "one value, one form");
    let again = IdentityDocument::decode(&read.to_bytes()).expect("what is written is read");
    assert_eq!(again, read);
    let unsigned = SignedDocument::read(data.to_vec(), Vec::new()).expect("it was read before");
    assert!(IdentityChain::begin(unsigned).is_err(), "nobody signed it");
}
