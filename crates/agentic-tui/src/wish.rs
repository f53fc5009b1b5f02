//! What the person wants, and what is told: the two ends between the screen and the thread that reads.

use agentic_api::Refusal;
use agentic_api::roster::RosterPage;
use agentic_api::verb::Decide;
use agentic_api::view::InboxView;

use crate::dialog::HoldSight;
use crate::line::PaneLine;

/// What a key leads to besides another picture.
#[derive(Debug)]
pub enum UiWish {
    /// The inbox and the agents are to be read, of these only those whose names hold a text.
    ReadLists(String),
    /// This is to be read for the pane of details.
    ReadDetail(DetailSubject),
    /// A hold is to be read for the dialog.
    ReadHold(String),
    /// This is to be decided.
    Decide(Box<WantedDecision>),
    /// The program is to end.
    Quit,
    /// The program is to be stopped, until somebody goes on with it.
    Suspend,
    /// Everything is to be drawn anew.
    Redraw,
}

/// A decision that a person wants.
#[derive(Debug)]
pub struct WantedDecision {
    /// The verb.
    pub verb: Decide,
    /// Whether a key signs it: somebody may be asked for a passphrase, and needs the terminal for that.
    pub signing: DecisionSigning,
}

/// Whether a decision is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSigning {
    /// A key signs it.
    Signed,
    /// None does.
    Plain,
}

/// What the pane of details can show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailSubject {
    /// What an agent did.
    Log(String),
    /// What it saw and said: pending entries, and those of its newest commit that has some.
    Trace(String),
    /// Its sessions, and its newest one.
    Sessions(String),
    /// One session.
    Session(String),
    /// One commit.
    Commit(String),
    /// What a search finds.
    Found(String),
    /// What was done and what people were waited for.
    Statistics,
}

/// What was read, done or noticed.
#[derive(Debug)]
pub enum UiTold {
    /// Something was written.
    Changed,
    /// What waits for people.
    Inbox(Result<InboxView, Refusal>),
    /// The agents.
    Agents(Result<RosterPage, Refusal>),
    /// What the pane of details is to show.
    Detail(DetailSubject, Result<Vec<PaneLine>, Refusal>),
    /// A hold.
    Hold(String, Result<HoldSight, Refusal>),
    /// What became of a decision.
    Decided(Result<MadeDecision, Refusal>),
}

/// A decision that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeDecision {
    /// What was decided.
    pub action: String,
    /// The commit.
    pub commit: String,
}
