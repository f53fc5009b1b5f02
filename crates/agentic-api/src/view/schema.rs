//! The JSON Schemas of everything that is printed, by file name.

use std::collections::BTreeMap;

use schemars::{Schema, schema_for};

use crate::command::{Answer, Command};
use crate::view::object_schema::object_schemas;
use crate::view::*;

/// Returns all schemas: the name of the file under `schemas/`, and what belongs into it.
pub fn schemas() -> BTreeMap<&'static str, Schema> {
    let mut all = BTreeMap::from([
        ("agents.json", schema_for!(Vec<AgentView>)),
        ("answers.json", Answer::schema()),
        ("archive.json", schema_for!(Vec<ArchivedView>)),
        ("commands.json", schema_for!(Command)),
        ("commit.json", schema_for!(CommitView)),
        ("credentials.json", schema_for!(Vec<CredentialView>)),
        ("decide.json", schema_for!(DecideView)),
        ("decide-from.json", schema_for!(Vec<AnsweredView>)),
        ("doctor.json", schema_for!(DoctorView)),
        ("error.json", schema_for!(FailureView)),
        ("event.json", schema_for!(EventView)),
        ("fetch.json", schema_for!(FetchView)),
        ("flow-ask.json", schema_for!(Vec<FlowAskedView>)),
        ("flow-crosscheck.json", schema_for!(CrosscheckView)),
        ("flow-history.json", schema_for!(Vec<FlowEventView>)),
        ("flow-status.json", schema_for!(FlowStatusView)),
        ("flow-translate.json", schema_for!(TranslateView)),
        ("fork-point.json", schema_for!(ForkPointView)),
        ("init.json", schema_for!(InitView)),
        ("kind.json", schema_for!(KindShowView)),
        ("kinds.json", schema_for!(Vec<KindView>)),
        ("log.json", schema_for!(Vec<LogView>)),
        ("merge.json", schema_for!(MergeView)),
        ("object-cid.json", schema_for!(CidView)),
        ("object-put.json", schema_for!(PutView)),
        ("pending.json", schema_for!(Vec<PendingView>)),
        ("allow.json", schema_for!(Vec<AllowanceView>)),
        ("providers.json", schema_for!(Vec<ProviderView>)),
        ("push.json", schema_for!(PushView)),
        ("query.json", schema_for!(Vec<BTreeMap<String, serde_json::Value>>)),
        ("query-schema.json", schema_for!(Vec<PredicateView>)),
        ("relate.json", schema_for!(EdgeView)),
        ("relations.json", schema_for!(Vec<RelationView>)),
        ("remote-agents.json", schema_for!(Vec<RemoteAgentView>)),
        ("rule.json", schema_for!(RuleShowView)),
        ("rule-log.json", schema_for!(Vec<RuleChangeView>)),
        ("rule-move.json", schema_for!(RuleMoveView)),
        ("rules.json", schema_for!(Vec<RuleView>)),
        ("run-lower.json", schema_for!(LoweredView)),
        ("serve-status.json", schema_for!(ServeStatusView)),
        ("session.json", schema_for!(SessionView)),
        ("session-diff.json", schema_for!(DiffView)),
        ("session-replay.json", schema_for!(Vec<VerdictView>)),
        ("session-verify.json", schema_for!(VerifyView)),
        ("session-watch.json", schema_for!(RecordView)),
        ("sessions.json", schema_for!(Vec<SessionView>)),
        ("show.json", schema_for!(ShowView)),
        ("spawn.json", schema_for!(SpawnView)),
        ("trace-add.json", schema_for!(TraceAddView)),
        ("trace-attach.json", schema_for!(AttachView)),
        ("trace-history.json", schema_for!(Vec<BindingView>)),
        ("trace-pending.json", schema_for!(Vec<EntryView>)),
        ("trace.json", schema_for!(TraceView)),
        ("tree.json", schema_for!(Vec<FamilyView>)),
        ("worktree-add.json", schema_for!(WorktreeAddView)),
        ("worktree-remove.json", schema_for!(WorktreeRemoveView)),
        ("worktree-sync.json", schema_for!(WorktreeSyncView)),
        ("worktrees.json", schema_for!(Vec<WorktreeView>)),
    ]);
    all.extend(object_schemas());
    all
}
