//! Names of variables: those of a clause, and those inside the braces of an aggregate.

use std::collections::BTreeMap;

use crate::ast::{AtomText, GoalKind, GoalText, TermKind, TermText};
use crate::code::QueryPlace;
use crate::rule::RuleVariable;

/// The variables of one clause. A name inside braces is that outside, if it stands there too.
#[derive(Default)]
pub(crate) struct ClauseScope {
    variables: Vec<RuleVariable>,
    levels: Vec<BTreeMap<String, usize>>,
}

impl ClauseScope {
    /// Declares a name, unless it is known, and returns its number.
    pub fn declare(&mut self, name: &str, place: QueryPlace) -> usize {
        if let Some(known) = self.find(name) {
            return known;
        }
        if self.levels.is_empty() {
            self.levels.push(BTreeMap::new());
        }
        let number = self.fresh(name, place);
        if let Some(level) = self.levels.last_mut() {
            level.insert(name.to_owned(), number);
        }
        number
    }

    /// Makes a variable that no name stands for.
    pub fn fresh(&mut self, name: &str, place: QueryPlace) -> usize {
        let (name, kind) = (name.to_owned(), None);
        self.variables.push(RuleVariable { name, kind, place, n_uses: 0, is_lost: false });
        self.variables.len() - 1
    }

    /// Finds a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.levels.iter().rev().find_map(|level| level.get(name)).copied()
    }

    /// Counts a use.
    pub fn used(&mut self, number: usize) {
        self.variables[number].n_uses += 1;
    }

    /// Notes the variables of an atom that is a finding: that nothing else binds them follows from it.
    pub fn lose(&mut self, atom: &AtomText, file: usize) {
        self.declare_atom(atom, file);
        for arg in &atom.args {
            each_name(&arg.term, &mut |name| {
                if let Some(number) = self.find(name) {
                    self.variables[number].n_uses += 1;
                    self.variables[number].is_lost = true;
                }
            });
        }
    }

    /// Enters braces.
    pub fn open(&mut self) {
        self.levels.push(BTreeMap::new());
    }

    /// Leaves braces.
    pub fn close(&mut self) {
        self.levels.pop();
    }

    /// Lists the names outside all braces that do not begin with `_`, by first appearance.
    pub fn visible(&self) -> impl Iterator<Item = (String, usize)> {
        let names = self.variables.iter().enumerate();
        names
            .filter(|(_, variable)| !variable.name.starts_with('_'))
            .map(|(number, variable)| (variable.name.clone(), number))
    }

    /// Returns the variables.
    pub fn into_variables(self) -> Vec<RuleVariable> {
        self.variables
    }

    /// Declares the names that goals use outside of their braces.
    pub fn declare_body(&mut self, body: &[GoalText], file: usize) {
        for goal in body {
            match &goal.kind {
                GoalKind::Positive(atom) | GoalKind::Negative(atom) => {
                    self.declare_atom(atom, file);
                }
                GoalKind::Compare(_, left, right) => {
                    self.declare_term(left, file);
                    self.declare_term(right, file);
                }
                GoalKind::Aggregate(aggregate) => {
                    let place = QueryPlace { file, span: aggregate.target.span };
                    self.declare(&aggregate.target.name, place);
                }
            }
        }
    }

    fn declare_atom(&mut self, atom: &AtomText, file: usize) {
        atom.args.iter().for_each(|arg| self.declare_term(&arg.term, file));
    }

    /// Declares the names of a term.
    pub fn declare_term(&mut self, term: &TermText, file: usize) {
        match &term.kind {
            TermKind::Variable(name) => {
                self.declare(name, QueryPlace { file, span: term.span });
            }
            TermKind::Negate(inner) => self.declare_term(inner, file),
            TermKind::Binary(_, left, right) => {
                self.declare_term(left, file);
                self.declare_term(right, file);
            }
            TermKind::Call(_, args) => args.iter().for_each(|arg| self.declare_term(arg, file)),
            TermKind::Literal(_) | TermKind::Blank | TermKind::Param(_) => {}
        }
    }
}

/// Visits the names of variables in a term.
fn each_name(term: &TermText, visit: &mut impl FnMut(&str)) {
    match &term.kind {
        TermKind::Variable(name) => visit(name),
        TermKind::Negate(inner) => each_name(inner, visit),
        TermKind::Binary(_, left, right) => {
            each_name(left, visit);
            each_name(right, visit);
        }
        TermKind::Call(_, args) => args.iter().for_each(|arg| each_name(arg, visit)),
        TermKind::Literal(_) | TermKind::Blank | TermKind::Param(_) => {}
    }
}
