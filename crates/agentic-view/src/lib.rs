//! The shapes that `--json` prints: one type for each answer, one schema for each type.
//!
//! Ids are text, instants RFC 3339 in UTC. A field that has nothing to say is left out.

mod agent;
mod allowance;
mod archive;
mod commit;
pub mod difference;
mod doctor;
mod failure;
mod flow;
pub mod hold;
pub mod interop;
mod kind;
mod object;
mod object_schema;
mod program;
mod provider;
pub mod question;
mod relation;
mod schema;
mod session;
mod sync;
mod trace;
mod visible;
mod worktree;

pub use crate::agent::{AgentView, FamilyView, ForkPointView, RemoteAgentView, SpawnView};
pub use crate::allowance::{AllowanceView, OpenedView};
pub use crate::archive::ArchivedView;
pub use crate::commit::{CommitView, ConflictView, LogView, MergeView, ShowView};
pub use crate::doctor::{DoctorView, MendedView};
pub use crate::failure::{ErrorView, FailureView};
pub use crate::flow::{
    CredentialView, CrosscheckView, FlowAskedView, FlowEventView, FlowHoldView, FlowStatusView,
    FlowToldView, FlowVerdictView, TranslateView,
};
pub use crate::hold::{AnsweredView, DecideView, PendingView, UnverifiedView, VoteView, VotesView};
pub use crate::kind::{KindShowView, KindView};
pub use crate::object::{CidView, InitView, PutView};
pub use crate::program::LoweredView;
pub use crate::provider::{ProbeView, ProviderView};
pub use crate::relation::{EdgeView, RelationView};
pub use crate::schema::schemas;
pub use crate::session::{
    AttemptView, Attendance, ComparedView, DiffView, GivenView, OvertakenView, RecordView,
    RequestView, SessionErrorView, SessionView, VerdictView, VerifyView,
};
pub use crate::sync::{FetchView, PushView};
pub use crate::trace::{AttachView, BindingView, EntryView, TraceAddView, TraceView};
pub use crate::visible::{visible, visible_line};
pub use crate::worktree::{WorktreeAddView, WorktreeRemoveView, WorktreeSyncView, WorktreeView};

/// Writes a list of ids or names as text.
pub(crate) fn texts<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(T::to_string).collect()
}
