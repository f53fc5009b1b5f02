//! Verbs that tell something while they are under way.

use agentic_api::{Surroundings, VerbEvent, VerbWatcher};
use agentic_providers::host::CancelFlag;

use crate::context::Context;
use crate::output::warn_of;

/// Does something where this command stands, until the flag stops it; shows meanwhile what is told.
/// All of it is shown when this returns.
pub fn followed<T>(
    context: &Context,
    stop: &CancelFlag,
    mut show: impl FnMut(VerbEvent) + Send,
    act: impl FnOnce(Surroundings) -> T,
) -> T {
    let (watcher, told) = VerbWatcher::channel(stop.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || told.into_iter().for_each(&mut show));
        act(Surroundings { watcher, ..context.surroundings() })
    })
}

/// Shows what every verb may tell.
pub fn show_notice(event: &VerbEvent) {
    match event {
        VerbEvent::Notice(notice) => warn_of(std::slice::from_ref(notice)),
        VerbEvent::Record(_) | VerbEvent::Run(_) => {}
    }
}
