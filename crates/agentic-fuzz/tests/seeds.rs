//! Every target holds for its seeds, and for seeds that were changed a little.

use std::path::Path;

use agentic_fuzz::{FuzzSeed, TARGETS, seeds};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn all_seeds() -> Vec<FuzzSeed> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    seeds(&suite).expect("the suite can be read")
}

#[test]
fn every_target_has_seeds_and_holds_for_them() {
    let seeds = all_seeds();
    for (name, check) in TARGETS {
        let own: Vec<&FuzzSeed> = seeds.iter().filter(|seed| seed.target == name).collect();
        assert!(!own.is_empty(), "{name} has no seed");
        own.iter().for_each(|seed| check(&seed.bytes));
    }
    let is_target = |seed: &FuzzSeed| TARGETS.iter().any(|(name, _)| *name == seed.target);
    assert!(seeds.iter().all(is_target), "a seed is for no target");
}

#[test]
fn every_target_is_fed_by_a_file_of_its_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("it has a manifest");
    for (name, _) in TARGETS {
        let source = std::fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs")));
        let source = source.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(source.contains(&format!("agentic_fuzz::{name}::check(data)")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not built");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn targets_hold_for_changed_seeds(
        seed in select(all_seeds()),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        end in any::<Index>(),
    ) {
        let mut bytes = seed.bytes;
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes.truncate(end.index(bytes.len() + 1).max(bytes.len() / 2));
        let (_, check) = TARGETS.iter().find(|(name, _)| *name == seed.target).expect("it has one");
        check(&bytes);
    }
}
