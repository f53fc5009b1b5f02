//! Programs that are started here, all in one way, so that none is ever without an owner.
//!
//! A program begins in a process group of its own, with its standard input complete. Before its
//! first instruction it is known to this process, and, where a run has a folder for that, to a file
//! that outlives this process: until then a *starter* stands in its place, waits for the word and
//! ends by itself if this process dies. The program inherits a lock on that file. Whoever comes
//! later learns from the lock whether it still lives, and from what the file says whether the group
//! may be signalled ([`OrphanProgram`]). Where the file was made before what the program is for
//! was recorded ([`reserve`]), a full disk shows then, and a file that says no more shows that nothing began.
//!
//! When this process is ended by a signal it ends the groups that it started, if it said by
//! [`serve`] that it is ours.

mod charge;
mod file;
mod group;
mod identity;
mod interrupt;
mod launch;
mod orphan;
mod own;
mod running;
mod starter;
mod system;

pub use self::charge::{AGENT_VARIABLE, Charge, PROGRAM_VARIABLE, REQUEST_VARIABLE};
pub use self::file::reserve;
pub use self::identity::{ProcessIdentity, folder_of, parent_of, variable_of, words_of};
pub use self::interrupt::{InterruptListener, before_interrupt};
pub use self::launch::{Launch, LaunchEnvironment, LaunchInput};
pub use self::orphan::{
    OrphanProgram, ProcessRemains, SignalReach, UnbegunProgram, remains, remains_of,
};
pub use self::own::{OrderlyEnd, set_when_told_to_stop};
pub use self::running::{Leftover, RunningProgram};
pub use self::starter::serve;
pub use self::system::{file_in_memory, own_command, receive_files, send_files};
