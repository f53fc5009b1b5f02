//! Randomness that replays: a pseudo-random function of seed, path and counter.

use crate::Path;

/// What all randomness of a run derives from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl Seed {
    /// Returns a number in `0.0 .. 1.0` with 53 random bits: the `counter`-th of the context at
    /// `path`. The same arguments give the same number everywhere.
    pub fn unit(&self, path: &Path, counter: u64) -> f64 {
        let bits = self.bits(path, counter) >> 11;
        bits as f64 / (1_u64 << 53) as f64
    }

    /// Returns 64 random bits, as [`Seed::unit`] does.
    pub fn bits(&self, path: &Path, counter: u64) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&counter.to_le_bytes());
        hasher.update(path.as_str().as_bytes());
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}
