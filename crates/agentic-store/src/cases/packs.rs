//! Cases of packs.

use super::*;
use crate::layout::Stream;

/// What is kept in a pack can be read at once, and still when the log has given it up.
fn check<G: Packs + ObjectStore>(ground: G) {
    let blob = |text: &str| GitObject { kind: GitKind::Blob, bytes: text.as_bytes().to_vec() };
    let objects = [blob("one\n"), blob("two\n")];
    let are_there = || {
        for object in &objects {
            let found = ground.verify_object(ground.name_object(object)).expect("it is kept");
            assert_eq!(found, *object);
        }
    };
    ground.link_packs(&Stream::Space).expect("a log without packs is sound");
    ground.keep_as_pack(&Stream::Space, &objects).expect("there is room");
    are_there();
    ground.link_packs(&Stream::Space).expect("they are there already");
    ground.release_packs(&Stream::Space).expect("nothing is in the way");
    ground.release_packs(&Stream::Space).expect("there is nothing left to do");
    are_there();
}

/// Packs are kept alike.
pub fn packs_are_kept_alike<G: GroundStore>(make: impl Fn(&Path) -> G) {
    on(&make, check);
}
