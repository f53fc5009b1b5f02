//! Decisions across spaces: those that peers sent for holds here, and ours for holds of theirs.

use agentic_federation::capability::TriggerForce;
use agentic_federation::reply::{
    ArrivedReply, PeerAnswer, PeerHold, ReplyJudge, ReplyVerdict, answer, arrived_replies,
    find_peer_hold, own_replies, peer_holds,
};
use agentic_model::guidance::{ErrorClass, Guidance as _};
use agentic_model::{Instant, Oid};
use agentic_replay::SessionId;
use agentic_session::decide::{Decision, DecisionDraft, DecisionOutcome, ForeignStanding};
use agentic_session::elsewhere::VoiceDelegation;
use agentic_session::hold::PendingHold;
use agentic_session::{OvertakenDecision, go_on};

use crate::verb::hold::known_decider;
use crate::verb::peer::{cid, petname};
use crate::view::{PeerReplyView, PendingView};
use crate::{Caller, HeldRequest, Notice, Refusal};

/// What decisions of peers use as their client.
const CLIENT: &str = "peer";

/// Decisions of peers, with what a fetch made of them.
#[derive(Default)]
pub(super) struct TakenReplies {
    /// What became of each that people should hear of.
    pub views: Vec<PeerReplyView>,
    /// What did not keep them from counting.
    pub notices: Vec<Notice>,
}

/// Lets every decision of a peer decide of which something may run here, and goes on with the sessions. Those
/// that wait are told each time, those that came too late once: when they came.
pub(super) fn take_replies(caller: &Caller<'_>, since: Instant) -> Result<TakenReplies, Refusal> {
    let arrived = arrived_replies(caller.space)?;
    let mut taken = TakenReplies::default();
    if arrived.is_empty() {
        return Ok(taken);
    }
    for reply in &arrived {
        // Each may be the one that closes the hold of the next.
        let judge = ReplyJudge::new(caller.space, caller.principal()?)?;
        let is_new = reply.arrived_at >= since;
        let verdict = match judge.judge(reply) {
            Ok(verdict) => verdict,
            // Records of ours that are damaged keep no other decision from counting.
            Err(error) => {
                let (peer, commit) = (&reply.label, reply.commit);
                let what = format!("the decision {commit} of `{peer}` was left: {error}");
                taken.notices.push(Notice::Remark { what });
                continue;
            }
        };
        let signer = judge.signer(reply).ok().flatten();
        let signed = |view: PeerReplyView| view.signed_by(signer.as_ref());
        match verdict {
            ReplyVerdict::Counts(TriggerForce::Runs, pending) => {
                let counted = CountedReply { judge, reply, pending };
                counted.take(caller, &mut taken)?;
            }
            ReplyVerdict::Counts(TriggerForce::Shown, _) => {
                taken.views.push(signed(PeerReplyView::waiting(reply)));
            }
            ReplyVerdict::Unverified(why, _) => {
                taken.views.push(signed(PeerReplyView::unverified(reply, why)));
            }
            ReplyVerdict::Late if is_new => taken.views.push(signed(PeerReplyView::late(reply))),
            // A crash may have come between the decision and its session.
            ReplyVerdict::Taken { is_waiting: true, .. } => follow(caller, reply, &mut taken),
            ReplyVerdict::Late | ReplyVerdict::Taken { .. } => {}
        }
    }
    Ok(taken)
}

/// A decision of a peer that counts here.
struct CountedReply<'r, 's> {
    judge: ReplyJudge<'s>,
    reply: &'r ArrivedReply,
    pending: Box<PendingHold>,
}

impl CountedReply<'_, '_> {
    /// Lets it decide, and goes on with its session.
    fn take(&self, caller: &Caller<'_>, taken: &mut TakenReplies) -> Result<(), Refusal> {
        let CountedReply { judge, reply, pending } = self;
        let session = pending.hold.session;
        if let Some((host, engines)) = caller.host_of(&session)? {
            let held = HeldRequest { session, request: pending.hold.id };
            let draft = accepting(reply, CLIENT);
            let done = engines.decide(&host, caller.space, held, &draft)?;
            taken.views.push(self.signed(PeerReplyView::decided(reply, done.commit)));
            return Ok(());
        }
        match judge.take(reply, pending) {
            Ok(done) => {
                let view = PeerReplyView::decided(reply, done.commit.to_string());
                taken.views.push(self.signed(view));
                taken.notices.extend(Notice::of(&done.written));
            }
            Err(error) if is_too_late(error.class()) => {
                taken.views.push(self.signed(PeerReplyView::late(reply)));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        follow(caller, reply, taken);
        Ok(())
    }

    fn signed(&self, view: PeerReplyView) -> PeerReplyView {
        view.signed_by(self.judge.signer(self.reply).ok().flatten().as_ref())
    }
}

/// Goes on with the session of a decision that is durable.
fn follow(caller: &Caller<'_>, reply: &ArrivedReply, taken: &mut TakenReplies) {
    let Some(made) = &reply.decision else { return };
    if let Err(error) = go_on(caller.space, &made.session) {
        taken.notices.push(Notice::NotFollowed { why: error.to_string() });
    }
}

fn is_too_late(class: ErrorClass) -> bool {
    [ErrorClass::Decided, ErrorClass::Expired].contains(&class)
}

/// Makes the decision of a peer one of ours, where its own commit cannot be it.
fn accepting(reply: &ArrivedReply, client: &'static str) -> DecisionDraft {
    let made = reply.decision.as_ref().expect("BUG: what counts is a decision");
    let decision = &made.decision;
    DecisionDraft {
        principal: decision.person().to_owned(),
        accepts: Some((reply.commit, decision.principal.clone())),
        ..decision.drafted_again(client)
    }
}

/// What peers decided of holds here, to be shown beside those that are listed.
#[derive(Debug, Default)]
pub struct ShownReplies(Vec<(String, PeerReplyView)>);

/// Which decisions of peers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyScope<'r> {
    /// Those that may still decide something.
    Open,
    /// Those of a request that is decided.
    Of(&'r str),
}

impl ShownReplies {
    /// Reads those that may still decide something.
    ///
    /// # Errors
    /// Fails when the policy or a record is damaged.
    pub fn read(caller: &Caller<'_>) -> Result<ShownReplies, Refusal> {
        ShownReplies::among(caller, ReplyScope::Open)
    }

    /// Reads those to a request that is decided: what came too late, and what decided it.
    pub(super) fn to_decided(
        caller: &Caller<'_>,
        request: &str,
    ) -> Result<Vec<PeerReplyView>, Refusal> {
        let ShownReplies(found) = ShownReplies::among(caller, ReplyScope::Of(request))?;
        Ok(found.into_iter().map(|(_, view)| view).collect())
    }

    fn among(caller: &Caller<'_>, scope: ReplyScope<'_>) -> Result<ShownReplies, Refusal> {
        let arrived = arrived_replies(caller.space)?;
        let mut shown = ShownReplies::default();
        if arrived.is_empty() {
            return Ok(shown);
        }
        // Whoever looks need not be known; in nobody's name nothing counts.
        let person = known_decider(caller)?.map(|decider| decider.principal).unwrap_or_default();
        let judge = ReplyJudge::new(caller.space, person)?;
        for reply in &arrived {
            let Some(made) = &reply.decision else { continue };
            let request = made.session.short_request(&made.decision.request);
            if matches!(scope, ReplyScope::Of(wanted) if wanted != request) {
                continue;
            }
            // What cannot be judged is told by the next fetch.
            let Ok(verdict) = judge.judge(reply) else { continue };
            let is_open = scope == ReplyScope::Open;
            let view = match verdict {
                ReplyVerdict::Counts(..) if is_open => PeerReplyView::waiting(reply),
                ReplyVerdict::Unverified(why, Some(_)) if is_open => {
                    PeerReplyView::unverified(reply, why)
                }
                ReplyVerdict::Taken { by, .. } if !is_open => {
                    PeerReplyView::decided(reply, by.to_string())
                }
                ReplyVerdict::Late if !is_open => PeerReplyView::late(reply),
                ReplyVerdict::Counts(..)
                | ReplyVerdict::Unverified(..)
                | ReplyVerdict::Taken { .. }
                | ReplyVerdict::Late => continue,
            };
            let signer = judge.signer(reply).ok().flatten();
            shown.0.push((request, view.signed_by(signer.as_ref())));
        }
        Ok(shown)
    }

    /// Adds to a hold what peers decided of it.
    pub fn add_to(&self, hold: &mut PendingView) {
        let of_it = self.0.iter().filter(|(request, _)| *request == hold.request);
        hold.replies.extend(of_it.map(|(_, view)| view.clone()));
    }
}

/// Lists the decisions of peers that came too late for holds of a session.
pub(super) fn late_replies(
    caller: &Caller<'_>,
    session: &SessionId,
) -> Result<Vec<OvertakenDecision>, Refusal> {
    let mut late = Vec::new();
    for reply in arrived_replies(caller.space)? {
        let Some(made) = reply.decision.filter(|made| made.session == *session) else { continue };
        if matches!(made.standing(caller.space), Ok(ForeignStanding::Late)) {
            let (request, commit) = (made.decision.request, reply.commit);
            late.push(OvertakenDecision { request, commit, decision: made.decision });
        }
    }
    Ok(late)
}

/// What a person makes of a decision of a peer that they accept.
pub(super) enum AcceptedReply {
    /// It decides as it is.
    Done(DecisionOutcome),
    /// Nobody here has to believe it: the person makes it their own.
    Own(Decision),
}

/// Finds a decision of a peer by its commit, and lets it decide if it counts; nothing if no peer sent it.
pub(super) fn accept_reply(
    caller: &Caller<'_>,
    commit: Oid,
    hold: &PendingHold,
) -> Result<Option<AcceptedReply>, Refusal> {
    let arrived = arrived_replies(caller.space)?;
    let answers = |reply: &&ArrivedReply| {
        let request = reply.decision.as_ref().map(|made| made.decision.request);
        reply.commit == commit && request == Some(hold.hold.id)
    };
    let Some(reply) = arrived.iter().find(answers) else { return Ok(None) };
    let judge = ReplyJudge::new(caller.space, caller.principal()?)?;
    if judge.is_frozen(reply) {
        return Err(Refusal::not_allowed(
            &format!("`{}` is frozen: its peer said two things of one number", reply.petname),
            &format!("choose a side with `agentic peer resolve {} --at CID -m WHY`", reply.petname),
        ));
    }
    let is_hosted = |pending: &PendingHold| caller.host_of(&pending.hold.session);
    Ok(match (judge.judge(reply)?, &reply.decision) {
        (ReplyVerdict::Counts(_, pending), _) if is_hosted(&pending)?.is_none() => {
            Some(AcceptedReply::Done(judge.take(reply, &pending)?))
        }
        (ReplyVerdict::Counts(..) | ReplyVerdict::Unverified(..), Some(made)) => {
            Some(AcceptedReply::Own(made.decision.clone()))
        }
        (
            ReplyVerdict::Counts(..)
            | ReplyVerdict::Unverified(..)
            | ReplyVerdict::Taken { .. }
            | ReplyVerdict::Late,
            _,
        ) => None,
    })
}

/// Lists the open holds of a peer's agents as they are listed here.
pub(super) fn holds_of_peer(
    caller: &Caller<'_>,
    name: &str,
    is_wanted: &dyn Fn(&PeerHold) -> bool,
) -> Result<Vec<PendingView>, Refusal> {
    let space = caller.space;
    let name = petname(name)?;
    let policy = agentic_federation::caps::read_policy(space)?.policy;
    agentic_federation::caps::followed(&policy, &name)?;
    let mut views = Vec::new();
    for hold in peer_holds(space, Some(&name))?.iter().filter(|hold| is_wanted(hold)) {
        views.push(view_of(caller, hold)?);
    }
    Ok(views)
}

/// Shows a hold of a peer's agent, with what we have answered.
pub(super) fn view_of(caller: &Caller<'_>, hold: &PeerHold) -> Result<PendingView, Refusal> {
    let space = caller.space;
    let mut view = PendingView::new(&hold.pending, space.now());
    view.agent.clone_from(&hold.name);
    for (commit, to) in own_replies(space)? {
        let Some(decision) = Decision::of_commit(space, commit)?.filter(|_| to == hold.of) else {
            continue;
        };
        if decision.request == hold.pending.hold.id {
            view.replies.push(PeerReplyView::sent(&hold.name, commit, &decision));
        }
    }
    Ok(view)
}

/// Finds the hold of a peer's agent that a text names; nothing where it names none.
pub(super) fn peer_hold(caller: &Caller<'_>, text: &str) -> Result<Option<PeerHold>, Refusal> {
    let mut found = find_peer_hold(caller.space, text)?;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => {
            let request =
                |hold: &PeerHold| hold.pending.hold.session.short_request(&hold.pending.hold.id);
            let all: Vec<String> = found.iter().map(request).collect();
            Err(Refusal::refused(
                &format!("`{text}` names several holds"),
                &format!("name one of {}", all.join(", ")),
            ))
        }
    }
}

/// Decides a hold of a peer's agent: the decision leaves with the next announcement.
pub(super) fn answer_peer(
    caller: &Caller<'_>,
    hold: &PeerHold,
    draft: &DecisionDraft,
    delegation: Option<VoiceDelegation>,
) -> Result<DecisionOutcome, Refusal> {
    Ok(answer(caller.space, &PeerAnswer { hold, answer: draft, delegation })?)
}

/// Reads for whom somebody decides, and by which capability.
pub(super) fn delegation(
    person: Option<&str>,
    grant: Option<&str>,
) -> Result<Option<VoiceDelegation>, Refusal> {
    match (person, grant) {
        (None, None) => Ok(None),
        (Some(person), Some(grant)) => {
            let grant = cid(grant, "a capability")?;
            Ok(Some(VoiceDelegation { person: person.to_owned(), grant }))
        }
        (Some(_), None) | (None, Some(_)) => Err(Refusal::usage(
            "whoever decides for somebody else names the person and the capability",
            "give both `--for user:NAME` and `--grant CID`",
        )),
    }
}
