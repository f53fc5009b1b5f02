//! The shapes that `--json` prints: one type for each answer, one schema for each type.
//!
//! Ids are text, instants RFC 3339 in UTC. A field that has nothing to say is left out.

mod agent;
mod allowance;
mod archive;
mod behaviour;
mod blame;
mod case;
mod commit;
mod detail;
mod diff;
pub mod difference;
mod doctor;
mod event;
mod export;
mod failure;
mod flow;
pub mod hold;
mod import;
mod improve;
mod inbox;
pub mod interop;
mod kind;
mod object;
mod object_schema;
mod page;
mod peer;
mod peer_reply;
mod peer_schema;
mod privacy;
mod program;
mod provider;
mod purge;
mod query;
pub mod question;
mod relation;
mod rule;
mod run;
mod schema;
mod search;
mod secret;
mod serve;
mod session;
mod statistics;
mod sync;
mod trace;
mod trial;
mod visible;
mod wiring;
mod worktree;

pub use crate::view::agent::{AgentView, FamilyView, ForkPointView, RemoteAgentView, SpawnView};
pub use crate::view::allowance::{AllowanceView, OpenedView};
pub use crate::view::archive::ArchivedView;
pub use crate::view::behaviour::{
    AdoptView, AdoptionView, BehaviourAddView, BehaviourDiffView, BehaviourNodeView,
    BehaviourShowView, BehaviourUseView, BehaviourVersionView, BehaviourView, FieldChangeView,
    WordChangeView,
};
pub use crate::view::blame::BlameView;
pub use crate::view::case::{
    AdoptedTrialView, CaseGroupView, CaseRateView, CaseStatisticsView, CaseSurvivalView,
    CaseTimeView, CaseUsageView, CaseVolumeView, ComparedMetricView, ComparedSideView,
    ComparisonView, HoldPlaceView, SinceAdoptionView, StratumView,
};
pub use crate::view::commit::{CommitView, ConflictView, LogView, MergeView, ShowView};
pub use crate::view::detail::{CommitDetailView, CommitRequestView};
pub(crate) use crate::view::diff::DiffWindow;
pub use crate::view::diff::{CommitDiffView, DiffHunkView, DiffLineView, FileDiffView};
pub use crate::view::doctor::{DoctorView, MendedView};
pub use crate::view::event::{EventName, EventView};
pub use crate::view::export::ExportView;
pub use crate::view::failure::{ErrorView, FailureView};
pub use crate::view::flow::{
    CredentialView, CrosscheckAnswer, CrosscheckView, FlowAskedView, FlowEventView, FlowHoldView,
    FlowStatusView, FlowToldView, FlowVerdictView,
};
pub use crate::view::hold::{
    AnsweredView, AskedView, ClosedHoldView, DecideView, HoldFateView, HoldFormView, PendingView,
    ServedHoldView, UnverifiedView, VoteView, VotesView,
};
pub use crate::view::import::ImportedView;
pub use crate::view::improve::ImproveView;
pub use crate::view::inbox::{DeciderView, InboxHoldView, InboxView};
pub use crate::view::kind::{KindActivityView, KindOriginView, KindShowView, KindView};
pub use crate::view::object::{CidView, InitView, ObjectView, PutView};
pub use crate::view::page::{EventPlaceView, ListPageView, PendingRequestView};
pub use crate::view::peer::{
    AllowedBecause, AllowedView, AnnounceView, AnnouncedView, DisownedView, FederationVerifyView,
    GrantView, HeldAgentView, PeerChangeView, PeerFetchView, PeerGrantView, PeerIdentityView,
    PeerInitView, PeerSpaceView, PeerView, RefusalView, RevokeView,
};
pub use crate::view::peer_reply::PeerReplyView;
pub use crate::view::privacy::PrivacyView;
pub use crate::view::program::{
    ExplainAnswer, ExplanationView, LayoutAnswer, LayoutView, LoweredView, PipelineFindingView,
    PlanAnswer, PlanView, TranslateAnswer, TranslateView,
};
pub use crate::view::provider::{ProbeView, ProviderView};
pub use crate::view::purge::{
    ProofSignatureView, PurgeHitView, PurgeProofView, PurgeView, PurgedRefView, TombstoneView,
};
pub use crate::view::query::{
    AnswerColumnView, AnswerView, PredicateColumnView, PredicateView, QueryView,
};
pub use crate::view::question::QuestionView;
pub use crate::view::relation::{EdgeView, RelationView};
pub use crate::view::rule::{
    RuleChangeView, RuleMoveView, RuleParamView, RuleShowView, RuleVersionView, RuleView,
};
pub use crate::view::run::{RunAnswer, RunResultView, TestsView};
pub use crate::view::schema::schemas;
pub use crate::view::search::{SearchHitView, SearchView};
pub use crate::view::secret::SecretView;
pub use crate::view::serve::{
    IndexStateView, IndexesView, ServeAddressView, ServeDetachView, ServeDoneView, ServeRevokeView,
    ServeStatusView, ServeStopView, ServeTokenView,
};
pub use crate::view::session::{
    AttemptView, AttendanceView, ComparedRequestView, ComparedView, DiffView, ForkView, GivenView,
    OvertakenView, RecordView, ReplayedSessionView, RequestView, SessionComparisonView,
    SessionErrorView, SessionPageView, SessionView, VerdictView, VerifyView,
};
pub use crate::view::statistics::{
    CommitCountView, OutcomeView, StatisticsTable, StatisticsView, WaitBucketView, WaitView,
};
pub use crate::view::sync::{FetchView, PushView};
pub use crate::view::trace::{
    AttachView, BindingView, EntryView, RewritesView, TraceAddView, TraceBindingView, TraceView,
};
pub use crate::view::trial::{
    TrialArmView, TrialFiguresView, TrialLookView, TrialPlanView, TrialPresentView,
    TrialStepOutcome, TrialStepView, TrialView, TriedView,
};
pub use crate::view::visible::{visible, visible_line};
pub use crate::view::wiring::{
    AmbiguousCommitView, CaptureStatusView, PassedHoldView, SourceStatusView, UnwiredView,
    WiredPlaceView, WiredView,
};
pub use crate::view::worktree::{
    WorktreeAddView, WorktreeRemoveView, WorktreeSyncView, WorktreeView,
};

/// Writes a list of ids or names as text.
pub(crate) fn texts<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(T::to_string).collect()
}
