//! The JSON Schemas of everything that is printed, by file name.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, schema_for};

use crate::command::{Answer, Command};
use crate::program::ProgramFindings;
use crate::verb::{AgentLine, DecisionRequest};
use crate::view::object_schema::object_schemas;
use crate::view::*;

/// Returns all schemas: the name of the file under `schemas/`, and what belongs into it.
// size: a table, a line for each file.
pub fn schemas() -> BTreeMap<&'static str, Schema> {
    let mut all = BTreeMap::from([
        ("agent.json", printed::<Vec<PrivacyView>>()),
        ("allowed.json", printed::<AllowedView>()),
        ("announce.json", printed::<AnnounceView>()),
        ("agents.json", printed::<Vec<AgentLine>>()),
        ("answers.json", Answer::schema()),
        ("archive.json", printed::<Vec<ArchivedView>>()),
        ("capture-status.json", printed::<CaptureStatusView>()),
        ("blame.json", printed::<Vec<BlameView>>()),
        ("export.json", printed::<Vec<ExportView>>()),
        ("capture-off.json", printed::<UnwiredView>()),
        ("commit-diff.json", printed::<CommitDiffView>()),
        ("commands.json", schema_for!(Command)),
        ("check.json", printed::<ProgramFindings>()),
        ("commit.json", printed::<CommitView>()),
        ("credentials.json", printed::<Vec<CredentialView>>()),
        ("decide.json", printed::<DecideView>()),
        ("decide-from.json", printed::<Vec<AnsweredView>>()),
        ("doctor.json", printed::<DoctorView>()),
        ("error.json", printed::<FailureView>()),
        ("fetch.json", printed::<FetchView>()),
        ("flow-ask.json", printed::<Vec<FlowAskedView>>()),
        ("flow-crosscheck.json", printed::<CrosscheckView>()),
        ("flow-diagnostics.json", printed::<PipelineFindingView>()),
        ("flow-history.json", printed::<Vec<FlowEventView>>()),
        ("flow-plan.json", printed::<Vec<PlanView>>()),
        ("flow-status.json", printed::<FlowStatusView>()),
        ("flow-translate.json", printed::<TranslateView>()),
        ("fmt.json", printed::<LayoutView>()),
        ("fork-point.json", printed::<ForkPointView>()),
        ("grant.json", printed::<GrantView>()),
        ("grants.json", printed::<Vec<PeerGrantView>>()),
        ("import.json", printed::<Vec<ImportedView>>()),
        ("init.json", printed::<InitView>()),
        ("kind-activities.json", printed::<Vec<KindActivityView>>()),
        ("kind.json", printed::<KindShowView>()),
        ("kinds.json", printed::<Vec<KindView>>()),
        ("log.json", printed::<Vec<LogView>>()),
        ("merge.json", printed::<MergeView>()),
        ("object-cid.json", printed::<CidView>()),
        ("object-put.json", printed::<PutView>()),
        ("peer-change.json", printed::<PeerChangeView>()),
        ("peer-identity.json", printed::<PeerIdentityView>()),
        ("peer-init.json", printed::<PeerInitView>()),
        ("peer-log.json", printed::<Vec<RefusalView>>()),
        ("peers.json", printed::<Vec<PeerView>>()),
        ("pending.json", printed::<Vec<PendingView>>()),
        ("allow.json", printed::<Vec<AllowanceView>>()),
        ("providers.json", printed::<Vec<ProviderView>>()),
        ("purge.json", printed::<PurgeView>()),
        ("purge-verify.json", printed::<PurgeProofView>()),
        ("purge-tombstones.json", printed::<Vec<TombstoneView>>()),
        ("push.json", printed::<PushView>()),
        ("query.json", printed::<Vec<BTreeMap<String, serde_json::Value>>>()),
        ("query-schema.json", printed::<Vec<PredicateView>>()),
        ("redact.json", printed::<Vec<SecretView>>()),
        ("relate.json", printed::<EdgeView>()),
        ("relations.json", printed::<Vec<RelationView>>()),
        ("remote-agents.json", printed::<Vec<RemoteAgentView>>()),
        ("revoke.json", printed::<RevokeView>()),
        ("rule.json", printed::<RuleShowView>()),
        ("rule-log.json", printed::<Vec<RuleChangeView>>()),
        ("rule-move.json", printed::<RuleMoveView>()),
        ("rules.json", printed::<Vec<RuleView>>()),
        ("run-lower.json", printed::<LoweredView>()),
        ("search.json", printed::<SearchView>()),
        ("session.json", printed::<SessionView>()),
        ("session-diff.json", printed::<DiffView>()),
        ("session-replay.json", printed::<Vec<VerdictView>>()),
        ("session-verify.json", printed::<VerifyView>()),
        ("session-watch.json", printed::<RecordView>()),
        ("sessions.json", printed::<Vec<SessionView>>()),
        ("show.json", printed::<ShowView>()),
        ("spawn.json", printed::<SpawnView>()),
        ("statistics.json", printed::<StatisticsView>()),
        ("stats.json", printed::<CaseStatisticsView>()),
        ("behaviour-compare.json", printed::<ComparisonView>()),
        ("trace-add.json", printed::<TraceAddView>()),
        ("trace-attach.json", printed::<AttachView>()),
        ("trace-rewrites.json", printed::<Vec<RewritesView>>()),
        ("trace-history.json", printed::<Vec<BindingView>>()),
        ("trace-pending.json", printed::<Vec<EntryView>>()),
        ("trace.json", printed::<TraceView>()),
        ("tree.json", printed::<Vec<FamilyView>>()),
        ("verify.json", printed::<FederationVerifyView>()),
        ("worktree-add.json", printed::<WorktreeAddView>()),
        ("worktree-remove.json", printed::<WorktreeRemoveView>()),
        ("worktree-sync.json", printed::<WorktreeSyncView>()),
        ("worktrees.json", printed::<Vec<WorktreeView>>()),
    ]);
    all.extend(object_schemas());
    all.extend(resident_schemas());
    all
}

/// Returns the schemas of what a process that stays is sent and says.
fn resident_schemas() -> BTreeMap<&'static str, Schema> {
    BTreeMap::from([
        ("decision-request.json", schema_for!(DecisionRequest)),
        ("event.json", printed::<EventView>()),
        ("list-page.json", printed::<ListPageView>()),
        ("pending-request.json", printed::<PendingRequestView>()),
        ("serve-address.json", printed::<ServeAddressView>()),
        ("serve-detach.json", printed::<ServeDetachView>()),
        ("serve-done.json", printed::<ServeDoneView>()),
        ("serve-revoke.json", printed::<ServeRevokeView>()),
        ("serve-status.json", printed::<ServeStatusView>()),
        ("serve-stop.json", printed::<ServeStopView>()),
        ("serve-token.json", printed::<ServeTokenView>()),
    ])
}

/// Returns the schema of what is printed: what is left out when it has nothing to say is not required.
fn printed<V: JsonSchema>() -> Schema {
    SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<V>()
}
