//! The bounds of a flow. Hitting one ends the run with the code [`LIMIT`], whatever the script
//! catches. They are part of the meaning of the language: changing one raises [`SEMANTICS`].

/// The version of the meaning of flows, recorded in every session.
pub const SEMANTICS: u32 = 3;

/// The oldest version that sessions can still go on with.
pub const SEMANTICS_OLDEST: u32 = 1;

/// The code of the failure of a run that hit a bound.
pub const LIMIT: &str = "limit";

/// How much work a script may do between two answers: one for each operation, and more for
/// touching long values, so that this bounds time and memory too.
pub const WORK_MAX: u64 = 200_000;
/// How many items of an array or a map, or how many blocks of text, count as one unit of work.
pub const ITEMS_PER_WORK: usize = 16;
/// How many bytes of text count as one unit of work.
pub const BYTES_PER_WORK: usize = 4 << 10;
/// How deep function calls may nest.
pub const CALLS_MAX: usize = 64;
/// How deep expressions may nest in the script, and in a function of it.
pub const EXPRESSION_DEPTH_MAX: usize = 64;
/// How deep values may nest in a variable, closures and what they capture included.
pub const DEPTH_MAX: usize = 128;
/// How long texts may be, in bytes; those inside one value count together.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// How many items arrays may have; those inside one value count together.
pub const ITEMS_MAX: usize = 4_096;
/// How many variables may be in scope.
pub const VARIABLES_MAX: usize = 256;
/// How many functions a script may define.
pub const FUNCTIONS_MAX: usize = 512;
/// How many modules a run may import.
pub const MODULES_MAX: usize = 64;
/// How deep modules may import modules.
pub const MODULE_DEPTH_MAX: usize = 16;
/// How many branches may be under way at once, the main one included.
pub const BRANCHES_MAX: usize = 1_024;
/// How long a script may be, in bytes.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// How many things a script may say between two answers.
pub const EVENTS_MAX: usize = 4_096;
/// The stack of a branch, in bytes of address space; only what is touched takes memory.
pub const STACK_BYTES: usize = 8 << 20;
