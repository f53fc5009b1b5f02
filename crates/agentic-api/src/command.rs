//! All verbs: what a surface that speaks JSON sends, and what it gets.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::verb::{self, Reply, Verb};
use crate::{Caller, Refusal};

/// Makes the verbs of one list: what each takes, and how it is called. What each answers, it says
/// itself.
macro_rules! commands {
    ($($(#[$doc:meta])* $verb:ident($takes:ty) = $name:literal,)*) => {
        /// Any verb.
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(tag = "verb")]
        // size: there is one at a time, on its way to whoever does it.
        #[allow(clippy::large_enum_variant)]
        pub enum Command {
            $($(#[$doc])* #[serde(rename = $name)] $verb($takes),)*
        }

        impl Command {
            /// The names of all verbs.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// Returns the schema of what each verb takes, by its name.
            pub fn schemas() -> BTreeMap<&'static str, Schema> {
                BTreeMap::from([$(($name, schema_for!($takes)),)*])
            }
        }

        impl Answer {
            /// Returns the schema of what the verbs answer: an object with a property for each verb.
            pub fn schema() -> Schema {
                let mut generator = SchemaSettings::default().for_serialize().into_generator();
                let verbs = BTreeMap::from([
                    $(($name, generator.subschema_for::<<$takes as Verb>::Answer>()),)*
                ]);
                json_schema!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "title": "Answers",
                    "description": "What each verb answers.",
                    "type": "object",
                    "properties": verbs,
                    "$defs": generator.take_definitions(true),
                })
            }
        }

        /// The answer of any verb.
        #[derive(Debug, Serialize, JsonSchema)]
        #[serde(untagged)]
        // size: there is one at a time, on its way to whoever asked.
        #[allow(clippy::large_enum_variant)]
        pub enum Answer {
            $(#[doc = concat!("Of `", $name, "`.")] $verb(<$takes as Verb>::Answer),)*
        }

        impl Verb for Command {
            type Answer = Answer;

            fn run(self, caller: &Caller<'_>) -> Result<Reply<Answer>, Refusal> {
                Ok(match self {
                    $(Command::$verb(verb) => verb.run(caller)?.map(Answer::$verb),)*
                })
            }
        }
    };
}

commands! {
    /// Set up remotes, so that plain `git fetch` brings notes along.
    Init(verb::Init) = "init",
    /// Make an agent.
    Spawn(verb::Spawn) = "spawn",
    /// Commit what an agent did.
    Commit(verb::Commit) = "commit",
    /// Merge an agent's work.
    Merge(verb::Merge) = "merge",
    /// Append an entry to the pending trace.
    TraceAdd(verb::TraceAdd) = "trace-add",
    /// Show the pending entries.
    TracePending(verb::TracePending) = "trace-pending",
    /// Show a trace.
    TraceShow(verb::TraceShow) = "trace-show",
    /// Bind the pending entries to a commit.
    TraceAttach(verb::TraceAttach) = "trace-attach",
    /// List the traces that a commit has had.
    TraceHistory(verb::TraceHistory) = "trace-history",
    /// Keep which commits a whole history was rewritten to.
    TraceRewrites(verb::TraceRewrites) = "trace-rewrites",
    /// Tell who wrote each line of a file.
    Blame(verb::BlameFile) = "blame",
    /// Tell of commits in the form of another tool.
    Export(verb::Export) = "export",
    /// List an agent's own commits.
    Log(verb::ListCommits) = "log",
    /// Show a commit, an object or an agent.
    Show(verb::Show) = "show",
    /// List the agents.
    Agents(verb::ListAgents) = "agents",
    /// Fold agents away.
    Archive(verb::Archive) = "archive",
    /// Bring agents back.
    Restore(verb::Restore) = "restore",
    /// List archived agents.
    ListArchive(verb::ListArchive) = "list-archive",
    /// Let pushes that name nobody leave agents out.
    AgentPrivate(verb::MakePrivate) = "agent-private",
    /// Let pushes take agents along again.
    AgentPublic(verb::MakePublic) = "agent-public",
    /// Show the family of agents.
    Tree(verb::Tree) = "tree",
    /// Find the best common ancestor of two agents.
    ForkPoint(verb::FindForkPoint) = "fork-point",
    /// Show what an agent was asked to do.
    Briefing(verb::ShowBriefing) = "briefing",
    /// Check an agent's branch out in a folder.
    WorktreeAdd(verb::WorktreeAdd) = "worktree-add",
    /// List the worktrees of agents.
    WorktreeList(verb::WorktreeList) = "worktree-list",
    /// Bring a worktree to its agent's head.
    WorktreeSync(verb::WorktreeSync) = "worktree-sync",
    /// Remove an agent's worktree.
    WorktreeRemove(verb::WorktreeRemove) = "worktree-remove",
    /// Store an object with an agent.
    ObjectPut(verb::ObjectPut) = "object-put",
    /// Read an object.
    ObjectGet(verb::ObjectGet) = "object-get",
    /// Tell the id of an object without storing it.
    ObjectCid(verb::ObjectCid) = "object-cid",
    /// List all kinds.
    KindList(verb::KindList) = "kind-list",
    /// Register a kind.
    KindAdd(verb::KindAdd) = "kind-add",
    /// Show kinds as the activities that defined them.
    KindActivities(verb::KindActivities) = "kind-activities",
    /// Register a kind of a peer here.
    KindAdopt(verb::KindAdopt) = "kind-adopt",
    /// Show one kind.
    KindShow(verb::KindShow) = "kind-show",
    /// Find the secrets in a text.
    FindSecrets(verb::FindSecrets) = "redact",
    /// Assert or retract a relation.
    Relate(verb::Relate) = "relate",
    /// List what holds between agents.
    Relations(verb::ListRelations) = "relations",
    /// Answer a query over all facts.
    Query(verb::AskQuery) = "query",
    /// Find words in what was said.
    Search(verb::SearchTexts) = "search",
    /// Store rules under a name.
    RuleAdd(verb::RuleAdd) = "rule-add",
    /// List the rules that have a name.
    RuleList(verb::RuleList) = "rule-list",
    /// Show rules.
    RuleShow(verb::RuleShow) = "rule-show",
    /// List the changes of a name of rules.
    RuleLog(verb::RuleLog) = "rule-log",
    /// Take a name of rules away.
    RuleRemove(verb::RuleRemove) = "rule-remove",
    /// Keep a behaviour under a name.
    BehaviourAdd(verb::BehaviourAdd) = "behaviour-add",
    /// List the names of behaviours.
    BehaviourList(verb::BehaviourList) = "behaviour-list",
    /// Show a behaviour.
    BehaviourShow(verb::BehaviourShow) = "behaviour-show",
    /// List the adoptions of a name.
    BehaviourLog(verb::BehaviourLog) = "behaviour-log",
    /// Tell how two behaviours differ.
    BehaviourDiff(verb::BehaviourDiff) = "behaviour-diff",
    /// Show the versions of a name.
    BehaviourTree(verb::BehaviourTree) = "behaviour-tree",
    /// Let a name mean a behaviour.
    BehaviourAdopt(verb::BehaviourAdopt) = "behaviour-adopt",
    /// Give an agent another behaviour.
    BehaviourUse(verb::BehaviourUse) = "behaviour-use",
    /// Compare two behaviours.
    BehaviourCompare(verb::CompareBehaviours) = "behaviour-compare",
    /// Have a model propose a better version of a behaviour.
    BehaviourImprove(verb::BehaviourImprove) = "behaviour-improve",
    /// Say what a trial would do.
    TrialPlan(verb::TrialPlan) = "trial-plan",
    /// Try two behaviours on the same tasks.
    BehaviourTrial(verb::BehaviourTrial) = "behaviour-trial",
    /// Show what a trial came to.
    TrialShow(verb::TrialShow) = "trial-show",
    /// List trials.
    TrialList(verb::TrialList) = "trial-list",
    /// Run a task of a trial.
    TrialRun(verb::TrialRun) = "trial-run",
    /// Score a run of a trial.
    TrialScore(verb::TrialScore) = "trial-score",
    /// Lay a run of a trial before a person who scores it.
    TrialPresent(verb::TrialPresent) = "trial-present",
    /// Look at a trial that goes on.
    TrialLook(verb::TrialLook) = "trial-look",
    /// Tell what came of agents and sessions.
    Stats(verb::CaseStatistics) = "stats",
    /// List the agents that were forked from an agent.
    SubAgents(verb::SubAgents) = "sub-agents",
    /// List who reviews an agent.
    Reviewers(verb::Reviewers) = "reviewers",
    /// List the agents whose work was merged into an agent.
    Merged(verb::MergedAgents) = "merged",
    /// Push agents.
    Push(verb::Push) = "push",
    /// Fetch agents.
    Fetch(verb::Fetch) = "fetch",
    /// Sign a snapshot of all agents, and push it.
    Announce(verb::Announce) = "announce",
    /// Begin an identity.
    PeerInit(verb::PeerInit) = "peer-init",
    /// Follow a peer.
    PeerAdd(verb::PeerAdd) = "peer-add",
    /// Say whether a peer is believed.
    PeerTrust(verb::PeerTrustVerb) = "peer-trust",
    /// Stop following a peer.
    PeerRemove(verb::PeerRemove) = "peer-remove",
    /// List the peers that are followed.
    PeerList(verb::PeerList) = "peer-list",
    /// List what of a peer was refused.
    PeerLog(verb::PeerLog) = "peer-log",
    /// Let keys count no more, or others.
    PeerRotate(verb::PeerRotate) = "peer-rotate",
    /// Say which spaces the identity lists.
    PeerSpace(verb::PeerSpace) = "peer-space",
    /// Choose a side of what a peer said twice.
    PeerResolve(verb::PeerResolve) = "peer-resolve",
    /// Check what is kept of peers.
    VerifyPeers(verb::VerifyPeers) = "verify",
    /// Grant a peer something.
    Grant(verb::PeerGrant) = "grant",
    /// Take back what was granted.
    Revoke(verb::RevokeGrants) = "revoke",
    /// List what peers were granted.
    Grants(verb::ListGrants) = "grants",
    /// Say whether a peer may do something.
    Allowed(verb::AllowedQuestion) = "allowed",
    /// List what waits for a human.
    Pending(verb::PendingHolds) = "pending",
    /// Show one open hold whole.
    Question(verb::HoldQuestion) = "question",
    /// Hand out what waits for a human in the form of another protocol.
    HandOut(verb::HandOutHolds) = "hand-out",
    /// Answer a hold.
    Decide(verb::Decide) = "decide",
    /// Decide as a client of another protocol answered.
    DecideFrom(verb::DecideFrom) = "decide-from",
    /// Put a question before people.
    AskHuman(verb::AskHuman) = "ask-human",
    /// Put an open hold before a person as a form.
    HoldForm(verb::ShowHoldForm) = "hold-form",
    /// Decide as a person filled in a form.
    AnswerHoldForm(verb::AnswerHoldForm) = "answer-hold-form",
    /// Start a session.
    SessionStart(verb::SessionStart) = "session-start",
    /// Finish what a crash left of a session.
    SessionResume(verb::SessionResume) = "session-resume",
    /// Show a session with everything it asked.
    SessionShow(verb::SessionShow) = "session-show",
    /// List sessions.
    SessionList(verb::SessionList) = "session-list",
    /// Name the first record in which two sessions differ.
    SessionDiff(verb::SessionDiff) = "session-diff",
    /// Go another way from some point of a session.
    SessionFork(verb::SessionFork) = "session-fork",
    /// Go on with another program.
    SessionUpgrade(verb::SessionUpgrade) = "session-upgrade",
    /// Run sessions again from their records.
    SessionReplay(verb::ReplaySessions) = "session-replay",
    /// Check a session's records.
    SessionVerify(verb::SessionVerify) = "session-verify",
    /// Stop a session.
    SessionCancel(verb::SessionCancel) = "session-cancel",
    /// Follow a session.
    SessionWatch(verb::SessionWatch) = "session-watch",
    /// Send a session what it waits for.
    SessionSignal(verb::SessionSignal) = "session-signal",
    /// Fire timers that are due and expire holds.
    SessionTick(verb::SessionTick) = "session-tick",
    /// Find what is wrong with a program, without running it.
    Check(verb::CheckProgram) = "check",
    /// Lay a program out anew.
    Format(verb::FormatProgram) = "fmt",
    /// Run a program.
    Run(verb::Run) = "run",
    /// Run a pipeline; durably, if a block of it is temporal.
    FlowRun(verb::RunPipeline) = "flow-run",
    /// Find what is wrong with a flow, without running it.
    FlowCheck(verb::FlowCheck) = "flow-check",
    /// Find what is wrong with a pipeline, for other programs.
    FlowDiagnostics(verb::FlowDiagnostics) = "flow-diagnostics",
    /// Show the plans that a pipeline compiles to.
    FlowPlan(verb::FlowPlan) = "flow-plan",
    /// Say in words what a pipeline does, and what it needs.
    FlowExplain(verb::FlowExplain) = "flow-explain",
    /// Check a stored plan, and say in words what it does.
    FlowExplainStored(verb::FlowExplainStored) = "flow-explain-stored",
    /// Turn prose into a pipeline.
    FlowTranslate(verb::FlowTranslate) = "flow-translate",
    /// Run a pipeline in memory and durably, and compare the results.
    FlowCrosscheck(verb::FlowCrosscheck) = "flow-crosscheck",
    /// Show how far a durable run has come.
    FlowStatus(verb::FlowStatus) = "flow-status",
    /// Tell what a durable run came to.
    FlowResult(verb::FlowResult) = "flow-result",
    /// Drive durable runs.
    FlowWorker(verb::FlowWorker) = "flow-worker",
    /// Put what waits for a human before people.
    FlowAsk(verb::FlowAsk) = "flow-ask",
    /// Tell what happened in a durable run.
    FlowHistory(verb::FlowHistory) = "flow-history",
    /// Stop a durable run.
    FlowCancel(verb::FlowCancel) = "flow-cancel",
    /// List the models and servers of tools that programs can use.
    Providers(verb::ListProviders) = "providers",
    /// Look at what configuration opens that came with the repository.
    AllowExamine(verb::ExamineConfiguration) = "allow-examine",
    /// Let a file of configuration count.
    Allow(verb::AllowConfiguration) = "allow",
    /// List what was allowed.
    AllowList(verb::ListAllowances) = "allow-list",
    /// Take back what was allowed.
    AllowRevoke(verb::RevokeAllowance) = "allow-revoke",
    /// Check and repair.
    Doctor(verb::Doctor) = "doctor",
    /// List whose tokens there are.
    CredentialList(verb::ListCredentials) = "credential-list",
    /// Remove somebody's tokens.
    CredentialForget(verb::ForgetCredential) = "credential-forget",
}
