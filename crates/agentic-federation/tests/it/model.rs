//! Every order in which one space announces, is set back, rotates its key and is copied, while two others
//! fetch it from two remotes, crash and revoke, within small bounds. Statements are those of the crate;
//! what a fetch does is written down here once more, in short, as the specification has it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agentic_federation::announcement::ChainNumber;
use agentic_federation::id::SpaceId;
use agentic_federation::statement::{Statement, Statements};
use agentic_model::Cid;

/// How often the announcing space works.
const WORK_MAX: usize = 1;
/// How many states there are. Whoever changes the model counts again.
const N_STATES: usize = 197_955;
/// Where exploring would be given up.
const STATES_MAX: usize = 3_000_000;

/// An announcement, by what it says. Its place in the list of all is its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ModelAnnouncement {
    epoch: u64,
    seq: u64,
    previous: Option<usize>,
    /// The head of the one agent: a place in the list of all heads.
    head: usize,
    /// Whether it says that the head was set back.
    rewinds: bool,
}

/// What one of those who fetch knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct ModelReceiver {
    /// The newest epoch of which it has the document, and from where that goes on.
    epoch: u64,
    resume: Option<usize>,
    /// The announcements whose statements it keeps.
    heard: BTreeSet<usize>,
    accepted: Option<usize>,
    believed: Option<usize>,
    is_revoked: bool,
    /// A fetch on its way: what it judged, and against which policy and record.
    judged: Option<JudgedFetch>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct JudgedFetch {
    candidate: usize,
    believed: Option<usize>,
    accepted: Option<usize>,
    was_revoked: bool,
    n_heard: usize,
}

/// Everything at one moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct ModelState {
    /// The head before each head.
    heads: Vec<Option<usize>>,
    announced: Vec<ModelAnnouncement>,
    head: usize,
    /// What the space has announced last, durably; and what a copy of it has.
    own: Option<usize>,
    copy: Option<usize>,
    epoch: u64,
    resume: Option<usize>,
    was_set_back: bool,
    /// What the two remotes serve.
    served: [Option<usize>; 2],
    was_rolled_back: bool,
    receivers: [ModelReceiver; 2],
}

impl ModelState {
    fn begin() -> ModelState {
        ModelState { heads: vec![None], ..ModelState::default() }
    }

    /// Tells whether a head is another or goes on from it.
    fn descends(&self, from: usize, to: usize) -> bool {
        std::iter::successors(Some(to), |head| self.heads[*head]).any(|head| head == from)
    }

    /// Lists an announcement and those before it, newest first.
    fn line(&self, tip: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(tip), |at| self.announced[*at].previous)
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        self.line(other).any(|at| at == one)
    }

    /// Signs what there is now upon what was announced before.
    fn sign(&mut self, previous: Option<usize>, epoch: u64) -> usize {
        let seq = previous.map_or(0, |before| self.announced[before].seq + 1);
        let rewinds = previous.is_some_and(|it| !self.descends(self.announced[it].head, self.head));
        let made = ModelAnnouncement { epoch, seq, previous, head: self.head, rewinds };
        // The same content is the same announcement.
        let known = self.announced.iter().position(|said| *said == made);
        known.unwrap_or_else(|| {
            self.announced.push(made);
            self.announced.len() - 1
        })
    }

    /// Lists all states that may come next.
    fn next(&self) -> Vec<ModelState> {
        let mut next = Vec::new();
        let mut step = |change: &dyn Fn(&mut ModelState)| {
            let mut after = self.clone();
            change(&mut after);
            next.push(after);
        };
        if self.heads.len() <= WORK_MAX {
            step(&|state| {
                state.heads.push(Some(state.head));
                state.head = state.heads.len() - 1;
            });
        }
        if let (false, Some(before)) = (self.was_set_back, self.heads[self.head]) {
            step(&|state| (state.head, state.was_set_back) = (before, true));
        }
        let is_new = self.own.is_none_or(|own| {
            let said = &self.announced[own];
            said.head != self.head || said.epoch != self.epoch
        });
        if is_new {
            // A crash before this leaves nothing; one behind it leaves what the next push pushes.
            step(&|state| state.own = Some(state.sign(state.own, state.epoch)));
        }
        if self.own.is_some() && self.own != self.served[0] {
            step(&|state| state.served[0] = state.own);
        }
        if self.epoch == 0 && self.own.is_some() {
            step(&|state| (state.epoch, state.resume) = (1, state.own));
        }
        if let (None, Some(own)) = (self.copy, self.own) {
            // Who copied the space, or stole its first key, signs another head and serves it elsewhere.
            step(&|state| {
                state.heads.push(Some(state.announced[own].head));
                let (head, theirs) = (state.head, state.heads.len() - 1);
                state.head = theirs;
                state.copy = Some(state.sign(Some(own), 0));
                (state.head, state.served[1]) = (head, state.copy);
            });
        }
        if let (false, Some(tip)) = (self.was_rolled_back, self.served[0])
            && let Some(before) = self.announced[tip].previous
        {
            step(&|state| (state.served[0], state.was_rolled_back) = (Some(before), true));
        }
        for who in 0..self.receivers.len() {
            for served in self.served.into_iter().flatten() {
                // The second one fetches in one go: only the first is stopped in between.
                match who {
                    0 => step(&|state| state.fetch(who, served)),
                    _ => step(&|state| {
                        state.fetch(who, served);
                        state.accept(who);
                    }),
                }
            }
            if self.receivers[who].judged.is_some() {
                step(&|state| state.accept(who));
                step(&|state| state.receivers[who].judged = None);
            }
            if who == 0 && !self.receivers[who].is_revoked {
                step(&|state| state.receivers[who].is_revoked = true);
            }
        }
        next
    }

    /// Hears what a remote serves, durably, and judges it; a crash behind that forgets the judgement.
    fn fetch(&mut self, who: usize, tip: usize) {
        let line: Vec<usize> = self.line(tip).collect();
        let mut receiver = self.receivers[who].clone();
        if line.iter().any(|at| self.announced[*at].epoch > receiver.epoch) {
            (receiver.epoch, receiver.resume) = (self.epoch, self.resume);
        }
        receiver.heard.extend(&line);
        receiver.judged = None;
        if !self.is_frozen(&receiver) {
            let is_backed = |at: &&usize| {
                self.announced[**at].epoch == receiver.epoch || receiver.resume == Some(**at)
            };
            let candidate = line.iter().find(is_backed).copied();
            receiver.judged = candidate.and_then(|candidate| self.judge(&receiver, candidate));
        }
        self.receivers[who] = receiver;
    }

    fn judge(&self, receiver: &ModelReceiver, candidate: usize) -> Option<JudgedFetch> {
        let accepted = receiver.accepted;
        if accepted.is_some_and(|accepted| self.is_before(candidate, accepted)) {
            return None;
        }
        let follows = accepted.is_none_or(|accepted| {
            self.is_before(accepted, candidate)
                || receiver.resume.is_some_and(|resume| {
                    let path = self.line(candidate).take_while(|at| *at != resume);
                    self.is_before(resume, accepted)
                        && self.is_before(resume, candidate)
                        && path.into_iter().all(|at| self.announced[at].epoch == receiver.epoch)
                })
        });
        let believed = match receiver.is_revoked {
            true => receiver.believed,
            false => Some(self.announced[candidate].head),
        };
        follows.then_some(JudgedFetch {
            candidate,
            believed,
            accepted,
            was_revoked: receiver.is_revoked,
            n_heard: receiver.heard.len(),
        })
    }

    /// Writes the record, if nothing moved since it was judged.
    fn accept(&mut self, who: usize) {
        let receiver = &mut self.receivers[who];
        let Some(judged) = receiver.judged.take() else { return };
        let is_as_before = judged.accepted == receiver.accepted
            && judged.was_revoked == receiver.is_revoked
            && judged.n_heard == receiver.heard.len();
        if is_as_before {
            (receiver.accepted, receiver.believed) = (Some(judged.candidate), judged.believed);
        }
    }

    /// Tells whether somebody heard two things of one number.
    fn is_frozen(&self, receiver: &ModelReceiver) -> bool {
        let mut book = Statements::default();
        let number = |epoch, seq| ChainNumber { epoch, seq };
        let cid = |at: usize| Cid::of(&at.to_le_bytes());
        let space = SpaceId([1; 16]);
        let mut is_twice = false;
        for at in &receiver.heard {
            let said = &self.announced[*at];
            if said.epoch > receiver.epoch {
                continue;
            }
            let own = Statement { space, number: number(said.epoch, said.seq), cid: cid(*at) };
            let before = said.previous.filter(|it| said.epoch == 0 || receiver.resume != Some(*it));
            let before = before.map(|it| {
                let number = number(said.epoch, said.seq - 1);
                Statement { space, number, cid: cid(it) }
            });
            for stated in [own].into_iter().chain(before) {
                is_twice |= book.hear(stated).is_some();
            }
        }
        is_twice
    }

    /// What must hold at every moment.
    fn check(&self) {
        let mut numbers = BTreeMap::new();
        for at in self.own.into_iter().flat_map(|own| self.line(own)) {
            let said = &self.announced[at];
            let known = numbers.insert((said.epoch, said.seq), at);
            assert_eq!(known, None, "the space signed a number twice: {self:?}");
        }
        for receiver in &self.receivers {
            if let Some(accepted) = receiver.accepted {
                assert!(receiver.heard.contains(&accepted), "accepted unheard: {self:?}");
                let is_known = self.announced[accepted].epoch <= receiver.epoch;
                assert!(is_known, "accepted without the document: {self:?}");
            }
            if let Some(believed) = receiver.believed {
                let line = receiver.heard.iter().any(|at| self.announced[*at].head == believed);
                assert!(line, "believed what nobody announced: {self:?}");
            }
        }
    }

    /// What must hold of a step.
    fn check_step(&self, after: &ModelState) {
        for (before, now) in self.receivers.iter().zip(&after.receivers) {
            assert!(before.heard.is_subset(&now.heard), "statements are kept: {after:?}");
            if now.accepted == before.accepted {
                assert_eq!(now.believed, before.believed, "believed without a record: {after:?}");
                continue;
            }
            assert!(!self.is_frozen(before), "accepted while frozen: {after:?}");
            if now.believed != before.believed {
                assert!(!before.is_revoked, "believed after it was revoked: {after:?}");
            }
            let (Some(from), Some(to)) = (before.accepted, now.accepted) else { continue };
            let goes_on = after.is_before(from, to);
            let is_recovered = now.resume.is_some_and(|resume| {
                after.is_before(resume, from)
                    && after.is_before(resume, to)
                    && after.announced[to].epoch == now.epoch
            });
            assert!(goes_on || is_recovered, "went back: {after:?}");
            let is_old = after.announced[to].epoch < now.epoch && now.resume != Some(to);
            assert!(!is_old, "accepted a key that was voided: {after:?}");
            let moved = (after.announced[from].head, after.announced[to].head);
            let path = after.line(to).take_while(|at| *at != from);
            let is_said = path.into_iter().any(|at| after.announced[at].rewinds);
            assert!(
                !goes_on || is_said || after.descends(moved.0, moved.1),
                "set back without being told: {after:?}"
            );
        }
    }
}

#[test]
fn no_order_of_steps_makes_a_receiver_believe_what_it_should_not() {
    let mut seen = BTreeSet::from([ModelState::begin()]);
    let mut open = VecDeque::from([ModelState::begin()]);
    let (mut n_frozen, mut n_recovered) = (0, 0);
    while let Some(state) = open.pop_front() {
        state.check();
        n_frozen += usize::from(state.receivers.iter().any(|one| state.is_frozen(one)));
        for after in state.next() {
            state.check_step(&after);
            for (before, now) in state.receivers.iter().zip(&after.receivers) {
                if let (Some(from), Some(to)) = (before.accepted, now.accepted) {
                    n_recovered += usize::from(!after.is_before(from, to));
                }
            }
            if !seen.contains(&after) {
                seen.insert(after.clone());
                open.push_back(after);
            }
        }
        assert!(seen.len() <= STATES_MAX, "the model has too many states");
    }
    println!("{} states, {n_frozen} frozen, {n_recovered} recoveries", seen.len());
    assert!(n_frozen > 0 && n_recovered > 0, "the model reaches what it is about");
    assert_eq!(seen.len(), N_STATES, "the model explores what it did");
}
