//! Names that are visible at a place of a program.

use std::collections::BTreeMap;

/// A stack of scopes; the innermost binding of a name wins.
pub(crate) struct Scopes<'a, B> {
    names: BTreeMap<&'a str, Vec<(usize, B)>>,
    declared: Vec<&'a str>,
    marks: Vec<usize>,
}

impl<'a, B: Copy> Scopes<'a, B> {
    pub fn new() -> Scopes<'a, B> {
        Scopes { names: BTreeMap::new(), declared: Vec::new(), marks: Vec::new() }
    }

    /// Returns the number of scopes around this place.
    pub fn depth(&self) -> usize {
        self.marks.len()
    }

    pub fn enter(&mut self) {
        self.marks.push(self.declared.len());
    }

    pub fn leave(&mut self) {
        let mark = self.marks.pop().expect("every scope that is left was entered");
        for name in self.declared.drain(mark..) {
            if let Some(bindings) = self.names.get_mut(name) {
                bindings.pop();
            }
        }
    }

    pub fn declare(&mut self, name: &'a str, binding: B) {
        let depth = self.depth();
        self.names.entry(name).or_default().push((depth, binding));
        self.declared.push(name);
    }

    /// Returns the innermost binding of a name and the depth of its scope.
    pub fn find(&self, name: &str) -> Option<(usize, B)> {
        self.names.get(name).and_then(|bindings| bindings.last()).copied()
    }
}
