//! Behaviours: kept by id, adopted by name.

mod add;
mod adopt;
mod change;
mod compare_text;
mod look;
mod tree;

pub use self::add::BehaviourAdd;
pub use self::adopt::BehaviourAdopt;
pub use self::change::BehaviourUse;
pub use self::compare_text::BehaviourDiff;
pub(crate) use self::look::filled;
pub use self::look::{BehaviourList, BehaviourLog, BehaviourShow};
pub use self::tree::BehaviourTree;
