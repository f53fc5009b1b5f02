//! Which names are bound to which types, with an undo log.
//!
//! A branch is checked in place and undone; what it changed is kept as a [`ScopeChange`] and
//! merged. So the cost of a branch is what it binds, not how much is bound around it.

use std::collections::{HashMap, HashSet};

use crate::symbol::Symbol;
use crate::types::{TypeId, Types};

/// What a branch left behind: names with their type, or none where a name was lost.
pub(super) type ScopeChange = Vec<(Symbol, Option<TypeId>)>;

/// A place in the undo log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UndoMark(usize);

#[derive(Default)]
pub(super) struct NameScope {
    bound: Vec<Option<TypeId>>,
    log: Vec<(Symbol, Option<TypeId>)>,
    /// When each name was last seen by [`NameScope::delta`].
    seen: Vec<u32>,
    round: u32,
    loops: Vec<NameWatch>,
    tries: Vec<NameWatch>,
}

/// Watches the names from before a loop or `try` for changes of their type.
#[derive(Default)]
struct NameWatch {
    before: HashMap<Symbol, Option<TypeId>>,
    changed: HashSet<Symbol>,
    /// Names that changed since somebody looked.
    fresh: Vec<Symbol>,
    /// Names that had another type at a moment that counts.
    lost: Vec<Symbol>,
}

/// Which of the two things that watch names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchedNames {
    Loop,
    Try,
}

impl NameScope {
    pub fn get(&self, name: Symbol) -> Option<TypeId> {
        self.bound.get(name.0 as usize).copied().flatten()
    }

    /// Binds or loses a name.
    pub fn set(&mut self, types: &mut Types, name: Symbol, bound: Option<TypeId>) {
        let old = self.put(name, bound);
        self.log.push((name, old));
        for watch in [self.loops.last_mut(), self.tries.last_mut()].into_iter().flatten() {
            watch.before.entry(name).or_insert(old);
            watch.note(types, name, bound);
        }
    }

    fn put(&mut self, name: Symbol, bound: Option<TypeId>) -> Option<TypeId> {
        let at = name.0 as usize;
        if at >= self.bound.len() {
            self.bound.resize((at + 1).max(self.bound.len() * 2), None);
            self.seen.resize(self.bound.len(), 0);
        }
        std::mem::replace(&mut self.bound[at], bound)
    }

    pub fn mark(&self) -> UndoMark {
        UndoMark(self.log.len())
    }

    /// Takes back everything since a mark and returns what it came to.
    pub fn undo(&mut self, types: &mut Types, mark: UndoMark) -> ScopeChange {
        let delta = self.delta(mark);
        while self.log.len() > mark.0 {
            let (name, old) = self.log.pop().expect("the log is longer than the mark");
            self.put(name, old);
            for watch in [self.loops.last_mut(), self.tries.last_mut()].into_iter().flatten() {
                if watch.before.contains_key(&name) {
                    watch.note(types, name, old);
                }
            }
        }
        delta
    }

    /// Lists the names touched since a mark, each once, with what they are bound to now.
    fn delta(&mut self, mark: UndoMark) -> ScopeChange {
        self.round += 1;
        let mut delta = Vec::new();
        for (name, _) in &self.log[mark.0..] {
            let seen = &mut self.seen[name.0 as usize];
            if *seen != self.round {
                *seen = self.round;
                delta.push((*name, self.bound[name.0 as usize]));
            }
        }
        delta
    }

    /// Binds what a branch bound.
    pub fn apply(&mut self, types: &mut Types, delta: &ScopeChange) {
        for (name, bound) in delta {
            self.set(types, *name, *bound);
        }
    }

    /// Binds what two branches agree on and loses the rest.
    pub fn merge(&mut self, types: &mut Types, one: &ScopeChange, other: &ScopeChange) {
        let others: HashMap<Symbol, Option<TypeId>> = other.iter().copied().collect();
        for (name, bound) in one {
            let other = others.get(name).copied().unwrap_or_else(|| self.get(*name));
            let merged = agree(types, *bound, other);
            self.set(types, *name, merged);
        }
        let ones: HashSet<Symbol> = one.iter().map(|(name, _)| *name).collect();
        for (name, bound) in other {
            if !ones.contains(name) {
                let merged = agree(types, self.get(*name), *bound);
                self.set(types, *name, merged);
            }
        }
    }

    pub fn watch(&mut self, what: WatchedNames) {
        self.watches(what).push(NameWatch::default());
    }

    /// Ends a watch and returns the names that were lost at a moment that counts.
    pub fn unwatch(&mut self, what: WatchedNames) -> Vec<Symbol> {
        let watch = self.watches(what).pop().expect("every watch is ended where it was begun");
        watch.lost
    }

    fn watches(&mut self, what: WatchedNames) -> &mut Vec<NameWatch> {
        match what {
            WatchedNames::Loop => &mut self.loops,
            WatchedNames::Try => &mut self.tries,
        }
    }

    /// Says that control may leave here: names that have changed by now are lost.
    pub fn exit(&mut self, what: WatchedNames) {
        let Some(watch) = self.watches(what).last_mut() else { return };
        let NameWatch { changed, fresh, lost, .. } = watch;
        lost.extend(fresh.drain(..).filter(|name| changed.contains(name)));
    }

    /// Finds a name from before the innermost loop whose type is another one now.
    pub fn changed_in_loop(&self) -> Option<(Symbol, TypeId)> {
        let watch = self.loops.last()?;
        let name = watch.changed.iter().min()?;
        Some((*name, watch.before.get(name).copied().flatten()?))
    }

    pub fn is_in_loop(&self) -> bool {
        !self.loops.is_empty()
    }
}

impl NameWatch {
    fn note(&mut self, types: &mut Types, name: Symbol, bound: Option<TypeId>) {
        let Some(Some(before)) = self.before.get(&name).copied() else { return };
        if bound.is_some_and(|bound| types.are_alike(before, bound)) {
            self.changed.remove(&name);
        } else if self.changed.insert(name) {
            self.fresh.push(name);
        }
    }
}

fn agree(types: &mut Types, one: Option<TypeId>, other: Option<TypeId>) -> Option<TypeId> {
    let (one, other) = (one?, other?);
    types.are_alike(one, other).then_some(one)
}
