//! What others say they decided of a hold, each of which a person may make their own.

use agentic_api::view::PendingView;

use super::DecisionDialog;
use crate::line::{PaneLine, Tone};

/// How many digits of a commit are shown.
const COMMIT_DIGITS: usize = 10;

/// A decision that does not count by itself.
struct ClaimLine<'h> {
    commit: &'h str,
    said: PaneLine,
    is_acceptable: bool,
}

/// Lists what commits on the agent's branch say, and what peers sent.
fn claims(hold: &PendingView) -> impl Iterator<Item = ClaimLine<'_>> {
    let unverified = hold.unverified.iter().map(|claim| {
        let commit = claim.commit.get(..COMMIT_DIGITS).unwrap_or(&claim.commit);
        let line = PaneLine::default().say(Tone::Alarm, "unverified: ").say(Tone::Id, commit);
        let what = format!(" says {} by {}", claim.action, claim.principal);
        ClaimLine { commit: &claim.commit, said: line.say(Tone::Plain, &what), is_acceptable: true }
    });
    let replies = hold.replies.iter().map(|reply| {
        let commit = reply.commit.get(..COMMIT_DIGITS).unwrap_or(&reply.commit);
        let line = PaneLine::default().say(Tone::Id, commit).say(Tone::Plain, " ");
        ClaimLine {
            commit: &reply.commit,
            said: line.say(Tone::Alarm, &reply.sentence()),
            is_acceptable: reply.is_acceptable(),
        }
    });
    unverified.chain(replies)
}

impl DecisionDialog {
    /// Chooses the next decision that does not count, to make it one's own; after the last one none.
    pub(super) fn choose_unverified(&mut self) {
        let claims = self.acceptable();
        if claims.is_empty() {
            self.warn("no decision is unverified here");
            return;
        }
        let chosen = claims.iter().position(|claim| self.accepted.as_ref() == Some(claim));
        self.accepted = claims.get(chosen.map_or(0, |at| at + 1)).cloned();
        (self.action, self.edit, self.said) = (None, None, None);
        self.cut();
    }

    /// Lets go of the decision that was chosen, if it is not there any more.
    pub(super) fn check_accepted(&mut self) {
        let claims = self.acceptable();
        self.accepted = self.accepted.take().filter(|commit| claims.contains(commit));
    }

    /// Writes what others say they decided.
    pub(super) fn claim_lines(&self) -> Vec<PaneLine> {
        let mut lines = Vec::new();
        for claim in self.question().into_iter().flat_map(|question| claims(&question.hold)) {
            lines.extend([PaneLine::default(), claim.said]);
            if claim.is_acceptable {
                let is_chosen = self.accepted.as_deref() == Some(claim.commit);
                let (mark, tone) =
                    if is_chosen { ("●", Tone::Strong) } else { ("○", Tone::Plain) };
                lines.push(PaneLine::default().say(tone, &format!("{mark} u accept it as mine")));
            }
        }
        lines
    }

    fn acceptable(&self) -> Vec<String> {
        let claims = self.question().into_iter().flat_map(|question| claims(&question.hold));
        claims.filter(|claim| claim.is_acceptable).map(|claim| claim.commit.to_owned()).collect()
    }
}
