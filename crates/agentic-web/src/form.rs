//! The seal of a form: it comes back from the login and for the purpose it was made for.

use std::time::Duration;

use agentic_resident::random_bytes;
use serde::{Deserialize, Serialize};

use crate::age::AgingInstant;

/// How long a form may be filled in.
const FORM_LIFE: Duration = Duration::from_secs(3600);

/// Who seals forms: a key that lives as long as the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct FormSealer {
    key: [u8; 32],
    /// What ages count from: the clock of the system may be set.
    begun: AgingInstant,
}

impl FormSealer {
    /// Makes one.
    ///
    /// # Errors
    /// Fails when the system gives no random bytes.
    pub fn new() -> std::io::Result<FormSealer> {
        Ok(FormSealer { key: random_bytes()?, begun: AgingInstant::now() })
    }

    /// Seals a form: for a login, and for what its fields say that may not be changed.
    pub fn seal(&self, login: &str, fields: &[&str]) -> String {
        let at = self.seconds();
        format!("{at}-{}", self.mac(at, login, fields).to_hex())
    }

    /// Tells whether a seal is that of a form which was made within the last hour.
    pub fn is_sealed(&self, seal: &str, login: &str, fields: &[&str]) -> bool {
        self.is_sealed_at(self.seconds(), seal, login, fields)
    }

    fn is_sealed_at(&self, now: u64, seal: &str, login: &str, fields: &[&str]) -> bool {
        let Some((at, mac)) = seal.split_once('-') else { return false };
        let (Ok(at), Ok(mac)) = (at.parse::<u64>(), blake3::Hash::from_hex(mac)) else {
            return false;
        };
        // A comparison of hashes takes the same time wherever they differ.
        let is_ours = self.mac(at, login, fields) == mac;
        is_ours && now.checked_sub(at).is_some_and(|age| age <= FORM_LIFE.as_secs())
    }

    /// Counts from one, for how long this has sealed.
    fn seconds(&self) -> u64 {
        1 + self.begun.elapsed().as_secs()
    }

    fn mac(&self, at: u64, login: &str, fields: &[&str]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        let at = at.to_string();
        for part in [at.as_str(), login].iter().chain(fields) {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::{FORM_LIFE, FormSealer};

    #[test]
    fn a_seal_of_more_than_an_hour_ago_is_none() {
        let sealer = FormSealer::new().expect("random bytes");
        let seal = sealer.seal("ada", &["decide"]);
        let (at, _) = seal.split_once('-').expect("it says when");
        let at: u64 = at.parse().expect("in seconds");
        let hour = FORM_LIFE.as_secs();
        assert!(sealer.is_sealed_at(at + hour, &seal, "ada", &["decide"]));
        assert!(!sealer.is_sealed_at(at + hour + 1, &seal, "ada", &["decide"]));
        assert!(!sealer.is_sealed_at(at - 1, &seal, "ada", &["decide"]), "one that is to come");
    }

    #[test]
    fn a_seal_outlives_the_program_and_grows_old() {
        let sealer = FormSealer::new().expect("random bytes");
        let seal = sealer.seal("ada", &["decide"]);
        let written = serde_json::to_value(&sealer).expect("text keys");
        let heir: FormSealer = serde_json::from_value(written).expect("it reads as it is written");
        assert!(heir.is_sealed(&seal, "ada", &["decide"]));
        assert!(heir.seconds() >= sealer.seconds(), "what was sealed stays in the past");
    }

    #[test]
    fn a_seal_is_good_for_its_login_and_its_fields() {
        let sealer = FormSealer::new().expect("random bytes");
        let seal = sealer.seal("ada", &["decide", "r1", "h"]);
        assert!(sealer.is_sealed(&seal, "ada", &["decide", "r1", "h"]));
        for (login, fields) in [
            ("eve", vec!["decide", "r1", "h"]),
            ("ada", vec!["decide", "r2", "h"]),
            ("ada", vec!["decide", "r1h", ""]),
            ("ada", vec!["decider", "1", "h"]),
        ] {
            assert!(!sealer.is_sealed(&seal, login, &fields), "{login} {fields:?}");
        }
        let other = FormSealer::new().expect("random bytes");
        assert!(!other.is_sealed(&seal, "ada", &["decide", "r1", "h"]));
        let earlier = seal.replacen(|first: char| first.is_ascii_digit(), "0", 1);
        for wrong in ["", "-", "1-", "x-00", &earlier] {
            assert!(!sealer.is_sealed(wrong, "ada", &["decide", "r1", "h"]), "{wrong}");
        }
    }
}
