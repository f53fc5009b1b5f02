//! What may be asked: one type for each verb.
//!
//! Names and ids are text here, as they come from outside, and are read when the verb runs. Fields
//! that are left out mean what the command line means without the flag.

mod agents;
mod allow;
mod announce;
mod archive;
mod ask;
mod behaviour;
mod blame;
mod briefing;
mod capture_status;
mod commit;
mod credential;
mod decide;
mod decision_request;
mod detail;
mod diff;
mod doctor;
mod export;
mod flow;
mod foreign_query;
mod form;
mod gate;
mod grant;
mod hold;
mod import;
mod improve;
mod inbox;
mod kind;
mod log;
mod login;
mod long_changes;
mod long_text;
mod merge;
mod noticed_reply;
mod object;
mod peer;
mod peer_reply;
mod pending;
mod privacy;
mod program;
mod provider;
mod purge;
mod query;
mod redact;
mod relate;
mod relations;
mod remote;
mod reply;
mod rule;
pub(crate) mod run;
mod search;
mod session;
mod spawn;
mod statistics;
mod trace;
mod trial;
mod unwiring;
mod value;
mod verify;
mod wiring;
mod worktree;

use agentic_model::guidance::ErrorClass;
use agentic_space::WriteNotices;
use serde::Serialize;

pub use self::agents::{AgentLine, FindForkPoint, ListAgents, ListRemoteAgents, Show, Tree};
pub use self::allow::{
    AllowConfiguration, ExamineConfiguration, ListAllowances, RevokeAllowance, may_say_what_counts,
};
pub use self::announce::Announce;
pub use self::archive::{Archive, ListArchive, Restore};
pub use self::ask::AskHuman;
pub use self::behaviour::{
    BehaviourAdd, BehaviourAdopt, BehaviourDiff, BehaviourList, BehaviourLog, BehaviourShow,
    BehaviourTree, BehaviourUse,
};
pub use self::blame::BlameFile;
pub use self::briefing::{ShowBriefing, StoredBriefing};
pub use self::capture_status::CaptureStatus;
pub use self::commit::{Commit, CommitSource};
pub use self::credential::{AwaitedLogin, CredentialLogin, ForgetCredential, ListCredentials};
pub use self::decide::{
    AfterDecision, Decide, FollowedDecision, HoldAnswer, RecordedDecision, SeenQuestion,
};
pub use self::decision_request::DecisionRequest;
pub use self::detail::CommitDetail;
pub use self::diff::{CommitDiff, DIFF_FILE_LINES_MAX, DIFF_FILES_MAX, DIFF_LINES_MAX};
pub use self::doctor::Doctor;
pub use self::export::Export;
pub use self::flow::{
    FlowAsk, FlowCancel, FlowCheck, FlowCrosscheck, FlowDiagnostics, FlowExplain,
    FlowExplainStored, FlowHistory, FlowPlan, FlowResult, FlowStatus, FlowTranslate, FlowWorker,
    PlanForm, RunPipeline,
};
pub use self::foreign_query::ForeignQueries;
pub use self::form::{AnswerHoldForm, FormAnswer, ShowHoldForm, close_hold_form};
pub use self::grant::{AllowedQuestion, ListGrants, PeerGrant, RevokeGrants};
pub use self::hold::{HoldFate, ShowDecider, why_nobody_decides};
pub use self::import::ImportConversations;
pub use self::improve::BehaviourImprove;
pub use self::inbox::{Inbox, InboxPlace};
pub use self::kind::{KindActivities, KindAdd, KindAdopt, KindList, KindShow};
pub use self::log::{ListCommits, LogTraces, LoggedCommit};
pub use self::login::{LOGIN_NAMESPACE, LoginText};
pub use self::merge::Merge;
pub use self::noticed_reply::{NoticedReplies, NoticedReply};
pub use self::object::{ObjectCid, ObjectGet, ObjectPut, ObjectSource};
pub use self::peer::{
    PeerAdd, PeerInit, PeerList, PeerLog, PeerRemove, PeerResolve, PeerRotate, PeerSpace,
    PeerTrustVerb, settle_named, settle_peers,
};
pub use self::peer_reply::ShownReplies;
pub use self::pending::{HandOutHolds, HandedOut, HoldQuestion, PendingHolds};
pub use self::privacy::{MakePrivate, MakePublic};
pub use self::program::{CheckProgram, FormatProgram, LayoutUse};
pub use self::provider::ListProviders;
pub use self::purge::{IgnoreTombstone, ListTombstones, Purge, PurgeChoice, PurgeVerify};
pub(crate) use self::query::ask_shipped;
pub use self::query::{
    AnsweredQuery, AskQuery, FOREIGN_QUERY_MS_MAX, QueryAllowance, QueryOutcome, QueryPhase,
    QueryTextFindings, query_predicates,
};
pub use self::redact::{FindSecrets, RedactedInput};
pub use self::relate::{EdgeChange, Relate};
pub use self::relations::{ListRelations, MergedAgents, Reviewers, SubAgents};
pub use self::remote::{Fetch, Init, Push};
pub use self::reply::DecideFrom;
pub(crate) use self::rule::check_rules;
pub use self::rule::{RuleAdd, RuleAddOutcome, RuleList, RuleLog, RuleRemove, RuleShow};
pub use self::run::{PreparedRun, Run, RunAct, RunPlace};
pub use self::search::{SEARCH_LIMIT_MAX, SearchOutcome, SearchTeller, SearchTexts, unreadable};
pub use self::session::{
    CompareSessions, FlowSource, ForkedChildren, RecentSessions, ReplaySessions, ReplayedSession,
    SESSIONS_MAX, ScriptOutcome, SessionCancel, SessionDetail, SessionDiff, SessionFork,
    SessionList, SessionResume, SessionShow, SessionSignal, SessionStart, SessionTick,
    SessionUpgrade, SessionVerify, SessionWatch, SetAnswer, session_reply,
};
pub use self::spawn::{BriefingSource, CheckoutPlace, Spawn, SpawnBeginning};
pub use self::statistics::{
    CaseGrouping, CaseStatistics, CompareBehaviours, Statistics, StatisticsStep, TrialCases,
};
pub use self::trace::{
    EntryBody, TraceAdd, TraceAttach, TraceBindings, TraceHistory, TracePending, TraceRewrites,
    TraceShow,
};
pub(crate) use self::trial::tried;
pub use self::trial::{
    BehaviourTrial, TrialDraft, TrialList, TrialLook, TrialPlan, TrialPresent, TrialRun,
    TrialScore, TrialShow, trial_flows,
};
pub use self::unwiring::CaptureOff;
pub use self::value::parse_adapter;
pub use self::verify::VerifyPeers;
pub use self::wiring::{WireAgents, WiringExtra, WiringHost, agents_found};
pub use self::worktree::{WorktreeAdd, WorktreeList, WorktreeRemove, WorktreeSync};
use crate::{Caller, Notice, Refusal, Surroundings};

/// Something that may be asked of a space.
pub trait Verb {
    /// What it answers.
    type Answer: Serialize;

    /// Does it. What it was asked with goes with it.
    ///
    /// # Errors
    /// Fails with why it was refused; what a refusal leaves behind, its own documentation says.
    fn run(self, caller: &Caller<'_>) -> Result<Reply<Self::Answer>, Refusal>;
}

/// Something that may be asked without a space.
pub trait LocalVerb {
    /// What it answers.
    type Answer: Serialize;

    /// Does it, where the caller stands.
    ///
    /// # Errors
    /// Fails with why it was refused.
    fn run_here(self, here: &Surroundings) -> Result<Reply<Self::Answer>, Refusal>;
}

impl<V: LocalVerb> Verb for V {
    type Answer = V::Answer;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<V::Answer>, Refusal> {
        self.run_here(&caller.surroundings)
    }
}

/// An answer, with what its caller should be told besides.
#[derive(Debug)]
pub struct Reply<A> {
    /// The answer.
    pub answer: A,
    /// What did not keep the verb from being done.
    pub notices: Vec<Notice>,
    /// How much of what was asked for is done.
    pub completion: VerbCompletion,
}

/// How much of what was asked for is done, where there is an answer.
#[derive(Debug, Clone)]
pub enum VerbCompletion {
    /// All of it.
    Whole,
    /// It waits for a human, or for somebody who could not be reached.
    Held,
    /// It is over, in another way than was hoped for; the answer says how.
    Over(ErrorClass),
    /// Not all of it: why, and what to do next.
    Short(Refusal),
}

impl VerbCompletion {
    /// Returns the exit code of a command that ends so.
    pub fn exit_code(&self) -> u8 {
        match self {
            VerbCompletion::Whole => 0,
            VerbCompletion::Held => 4,
            VerbCompletion::Over(class) => class.exit_code(),
            VerbCompletion::Short(refusal) => refusal.class.exit_code(),
        }
    }
}

impl<A> Reply<A> {
    /// Answers without anything else to tell.
    pub fn plain(answer: A) -> Reply<A> {
        Reply { answer, notices: Vec::new(), completion: VerbCompletion::Whole }
    }

    /// Answers after a write.
    pub fn written(answer: A, written: &WriteNotices) -> Reply<A> {
        let notices = Notice::of(written).into_iter().collect();
        Reply { answer, notices, completion: VerbCompletion::Whole }
    }

    /// Makes another answer of it.
    pub(crate) fn map<B>(self, convert: impl FnOnce(A) -> B) -> Reply<B> {
        let Reply { answer, notices, completion } = self;
        Reply { answer: convert(answer), notices, completion }
    }
}
