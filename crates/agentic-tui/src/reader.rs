//! The threads behind the screen: one runs verbs, one notices writes. The screen waits for neither.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use agentic_api::roster::{AgentRoster, KnownLedger, RosterDemand, RosterFilter};
use agentic_api::verb::{
    CommitDetail, CommitDiff, HoldFate, Inbox, InboxPlace, ListCommits, RecentSessions,
    SearchOutcome, SearchTexts, SessionShow, ShowDecider, Statistics, TracePending, TraceShow,
    unreadable,
};
use agentic_api::view::HoldFateView;
use agentic_api::{Caller, Refusal, Surroundings, Verb as _};
use agentic_model::guidance::ErrorClass;
use agentic_providers::host::CancelFlag;
use agentic_resident::{ChildPlace, ResidentClient, ResumeDesk};
use agentic_session::SessionSpace;
use agentic_store::watch::WriteWatch;

use crate::dialog::HoldSight;
use crate::error::{Result, UiError};
use crate::line::PaneLine;
use crate::page;
use crate::wish::{DetailSubject, MadeDecision, UiTold, UiWish, WantedDecision};

/// How many holds and agents are listed.
const HOLDS_MAX: usize = 500;
const AGENTS_MAX: usize = 1_000;
/// How many commits of a log.
const COMMITS_MAX: usize = 200;
/// How long is waited for a write before is looked whether to end.
const WAIT: Duration = Duration::from_secs(1);

/// Who reads, and where.
pub struct UiReader {
    space: Arc<SessionSpace>,
    here: Surroundings,
    resumes: ResumeDesk,
}

/// The end of the reader at the screen.
#[derive(Debug)]
pub struct ReaderDesk {
    wishes: Sender<UiWish>,
    told: Receiver<UiTold>,
}

/// What was wished for since the reader looked last: of what was wished for twice only the last counts.
#[derive(Default)]
struct WishedFor {
    lists: Option<String>,
    detail: Option<DetailSubject>,
    hold: Option<String>,
    decisions: Vec<WantedDecision>,
}

impl ReaderDesk {
    /// Wishes for something.
    ///
    /// # Errors
    /// Fails when the reader broke.
    pub fn wish(&self, wish: UiWish) -> Result<()> {
        let broken = |_| UiError::Broken { what: "the reader".to_owned() };
        self.wishes.send(wish).map_err(broken)
    }

    /// Returns what was told, at once or within a time.
    pub fn hear(&self, within: Duration) -> Option<UiTold> {
        match within.is_zero() {
            true => self.told.try_recv().ok(),
            false => self.told.recv_timeout(within).ok(),
        }
    }
}

impl UiReader {
    /// Makes one that goes on with sessions from a folder.
    pub fn new(space: Arc<SessionSpace>, here: Surroundings, folder: PathBuf) -> UiReader {
        let resumes = ResumeDesk::new(ChildPlace::new(&folder, space.repository()));
        UiReader { space, here, resumes }
    }

    /// Begins to read and to notice writes, until the flag is set.
    ///
    /// # Errors
    /// Fails when there can be no thread.
    pub fn begin(self, stop: &CancelFlag) -> Result<ReaderDesk> {
        let (wishes, wished) = channel();
        let (tell, told) = channel();
        let failed = || UiError::system("begin a thread");
        let repository = self.space.repository();
        let mut watch = WriteWatch::aside(repository.layout(), repository.common_dir());
        let (changes, stop) = (tell.clone(), stop.clone());
        let notice = move || {
            while !stop.is_set() {
                let is_heard = watch.wait(WAIT).is_empty() || changes.send(UiTold::Changed).is_ok();
                if !is_heard {
                    return;
                }
            }
        };
        Builder::new().name("agentic-watch".to_owned()).spawn(notice).map_err(failed())?;
        let read = move || self.run(&wished, &tell);
        Builder::new().name("agentic-reader".to_owned()).spawn(read).map_err(failed())?;
        Ok(ReaderDesk { wishes, told })
    }

    fn run(&self, wished: &Receiver<UiWish>, tell: &Sender<UiTold>) {
        while let Ok(first) = wished.recv() {
            agentic_store::fault::point("ui-read")
                .expect("BUG: a test wants this thread to break here");
            let mut all = WishedFor::default();
            [first].into_iter().chain(wished.try_iter()).for_each(|wish| all.add(wish));
            for told in self.fulfil(all) {
                if tell.send(told).is_err() {
                    return;
                }
            }
        }
    }

    /// Does what was wished for one by one, first what somebody waits for.
    fn fulfil(&self, all: WishedFor) -> impl Iterator<Item = UiTold> {
        let WishedFor { lists, detail, hold, decisions } = all;
        let decided = decisions.into_iter().map(|wanted| UiTold::Decided(self.decide(wanted)));
        let hold = hold.into_iter().map(|request| {
            let sight = self.sight(&request);
            UiTold::Hold(request, sight)
        });
        let detail = detail.into_iter().map(|subject| {
            let lines = self.detail(&subject);
            UiTold::Detail(subject, lines)
        });
        let lists = lists.into_iter().flat_map(|narrowed| {
            [UiTold::Inbox(self.inbox()), UiTold::Agents(self.agents(narrowed))]
        });
        decided.chain(hold).chain(detail).chain(lists)
    }

    fn caller(&self) -> Caller<'_> {
        // Decisions are made through the dialog of the command line.
        Caller { surroundings: self.here.clone(), ..Caller::new(&self.space, &self.here.folder) }
    }

    fn inbox(&self) -> std::result::Result<agentic_api::view::InboxView, Refusal> {
        let place = InboxPlace { after: None, limit: Some(HOLDS_MAX) };
        Ok(Inbox { place, ..Inbox::default() }.run(&self.caller())?.answer)
    }

    fn agents(
        &self,
        name: String,
    ) -> std::result::Result<agentic_api::roster::RosterPage, Refusal> {
        let known = KnownLedger::default();
        let roster = AgentRoster::read(&self.space, &known, RosterDemand::Whole)?;
        Ok(roster.page(&RosterFilter { name, limit: AGENTS_MAX, ..RosterFilter::default() }))
    }

    fn sight(&self, request: &str) -> std::result::Result<HoldSight, Refusal> {
        let caller = self.caller();
        let fate = HoldFate { request: request.to_owned() }.run(&caller)?.answer;
        let decider = match &fate {
            HoldFateView::Open(_) => {
                ShowDecider { request: request.to_owned() }.run(&caller)?.answer
            }
            HoldFateView::Decided(_) => None,
        };
        Ok(HoldSight { fate, decider })
    }

    /// Records a decision; a process of its own goes on with the session, which this program does not end.
    fn decide(&self, wanted: WantedDecision) -> std::result::Result<MadeDecision, Refusal> {
        let request = wanted.verb.request.clone();
        match wanted.verb.record(&self.caller()) {
            Ok(recorded) => {
                self.resumes.resume(&recorded.session().to_string());
                Ok(MadeDecision { action: recorded.action, commit: recorded.commit })
            }
            Err(refusal) => {
                if refusal.class == ErrorClass::Expired
                    && let Some((session, _)) = request.split_once('.')
                {
                    self.resumes.resume(session);
                }
                Err(refusal)
            }
        }
    }

    fn detail(&self, subject: &DetailSubject) -> std::result::Result<Vec<PaneLine>, Refusal> {
        let (caller, now) = (self.caller(), self.space.now());
        Ok(match subject {
            DetailSubject::Log(agent) => {
                let limit = Some(COMMITS_MAX);
                let verb = ListCommits { agent: Some(agent.clone()), kind: None, limit };
                page::log(agent, &verb.run(&caller)?.answer, COMMITS_MAX, now)
            }
            DetailSubject::Trace(agent) => {
                let entries = TracePending { agent: Some(agent.clone()) }.run(&caller)?.answer;
                let mut lines = page::pending(agent, &entries, now);
                // An agent without a trace has only what is pending.
                if let Ok(bound) = (TraceShow { id: agent.clone() }).run(&caller) {
                    lines.extend(page::trace(&bound.answer, now));
                }
                lines
            }
            DetailSubject::Sessions(agent) => {
                let verb =
                    RecentSessions { agent: Some(agent.clone()), ..RecentSessions::default() };
                page::sessions(agent, &verb.run(&caller)?.answer, now)
            }
            DetailSubject::Session(id) => {
                let verb = SessionShow { session: id.clone(), at: None };
                page::session(&verb.run(&caller)?.answer, now)
            }
            DetailSubject::Commit(oid) => {
                let view = CommitDetail { commit: oid.clone() }.run(&caller)?.answer;
                let difference = CommitDiff { commit: oid.clone(), ..CommitDiff::default() };
                // What cannot be compared or read is left out; the commit itself is there.
                let difference = difference.run(&caller).ok().map(|reply| reply.answer);
                let trace = TraceShow { id: oid.clone() };
                let trace = trace.run(&caller).ok().map(|reply| reply.answer);
                page::commit(&view, difference.as_ref(), trace.as_ref(), now)
            }
            DetailSubject::Found(query) => self.found(query)?,
            DetailSubject::Statistics => {
                page::statistics(&Statistics::default().run(&caller)?.answer)
            }
        })
    }

    /// Searches: by the process that serves the repository, where one does, else by reading everything.
    fn found(&self, query: &str) -> std::result::Result<Vec<PaneLine>, Refusal> {
        let verb = SearchTexts { query: query.to_owned(), limit: None };
        let served = ResidentClient::search(self.space.repository().layout(), &verb);
        let view = match served {
            Some(view) => view,
            None => match verb
                .scanned(&self.caller(), &mut |_, _| std::ops::ControlFlow::Continue(()))?
            {
                SearchOutcome::Found(view) => view,
                SearchOutcome::Unreadable(findings) => return Err(unreadable(&findings)),
            },
        };
        Ok(page::found(query, &view, self.space.now()))
    }
}

impl WishedFor {
    fn add(&mut self, wish: UiWish) {
        match wish {
            UiWish::ReadLists(narrowed) => self.lists = Some(narrowed),
            UiWish::ReadDetail(subject) => self.detail = Some(subject),
            UiWish::ReadHold(request) => self.hold = Some(request),
            UiWish::Decide(wanted) => self.decisions.push(*wanted),
            // They are the screen's own.
            UiWish::Quit | UiWish::Suspend | UiWish::Redraw => {}
        }
    }
}
