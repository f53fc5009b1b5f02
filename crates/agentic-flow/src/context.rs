//! Where in a flow a branch stands: what gives requests their paths.

use std::collections::BTreeMap;

use agentic_replay::{Path, RequestScope};

/// The scopes that a branch is in, outermost first.
#[derive(Debug, Clone)]
pub(crate) struct ScopeStack {
    levels: Vec<Level>,
    /// How deep imports nest at the moment.
    pub(crate) module_depth: usize,
}

#[derive(Debug, Clone)]
struct Level {
    scope: RequestScope,
    n_branches: u64,
    n_random: u64,
    n_named: BTreeMap<String, u64>,
}

impl ScopeStack {
    pub(crate) fn of(scope: RequestScope) -> ScopeStack {
        ScopeStack { levels: vec![Level::of(scope)], module_depth: 0 }
    }

    /// Returns the path of the next request.
    pub(crate) fn next_path(&mut self) -> Path {
        self.innermost().scope.next_path()
    }

    /// Opens the scope of the next branch. Branches of one context are numbered through, so that
    /// two joins in it have different paths.
    pub(crate) fn next_branch(&mut self) -> RequestScope {
        let level = self.innermost();
        let scope = level.scope.child(&format!("b{}", level.n_branches));
        level.n_branches += 1;
        scope
    }

    /// Returns what the next random number derives from.
    pub(crate) fn next_random(&mut self) -> (Path, u64) {
        let level = self.innermost();
        let counter = level.n_random;
        level.n_random += 1;
        (level.scope.path().clone(), counter)
    }

    /// Goes into a named scope, and returns its path. Names are counted, so that a scope in a loop
    /// has its own path each time.
    pub(crate) fn enter(&mut self, name: &str) -> Path {
        let scope = self.named(name);
        let path = scope.path().clone();
        self.levels.push(Level::of(scope));
        path
    }

    /// Returns the path of the next question about a change. It stands beside the paths of other
    /// requests and moves none of them.
    pub(crate) fn patch_path(&mut self, id: &str) -> Path {
        self.named(&format!("patch-{id}")).path().clone()
    }

    fn named(&mut self, name: &str) -> RequestScope {
        let level = self.innermost();
        let counter = level.n_named.entry(name.to_owned()).or_default();
        let scope = level.scope.child(&format!("{name}.{counter}"));
        *counter += 1;
        scope
    }

    /// Goes back out of a named scope.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
    }

    fn innermost(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost scope is never left")
    }
}

impl Level {
    fn of(scope: RequestScope) -> Level {
        Level { scope, n_branches: 0, n_random: 0, n_named: BTreeMap::new() }
    }
}

/// Says whether a text can name a scope.
pub(crate) fn is_scope_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}
