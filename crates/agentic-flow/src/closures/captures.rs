//! Closures of a loop that share what the loop changes.
//!
//! A closure captures variables, not values: closures that a loop makes all see the last value that
//! the variable of the loop had. As branches of a join they would do the last thing as often as there
//! are items, and an effect that may happen once would happen to the wrong one. So such a join is
//! refused. `map` gives each closure a variable of its own.

use std::collections::BTreeMap;

use rhai::{AST, ASTNode, Array, Dynamic, Expr, FnPtr, INT, Stmt, StmtBlock};

use crate::limits::DEPTH_MAX;

/// The first version of the language that refuses them.
pub(crate) const REFUSED_SINCE: u32 = 2;

/// The captured variables of each closure of a script that belong to a loop around it: by the
/// closure's name, which is one for each place in the source, with their places among all that it
/// captures.
#[derive(Debug, Default)]
pub(crate) struct LoopVariables(BTreeMap<String, Vec<(usize, String)>>);

impl LoopVariables {
    /// Adds the closures of a script.
    pub(crate) fn add(&mut self, ast: &AST) {
        ast.walk(&mut |path| {
            if let [.., ASTNode::Expr(Expr::Stmt(block)), ASTNode::Stmt(Stmt::Share(captured))] =
                path
                && let Some(name) = closure_of(block)
            {
                let named = captured.iter().map(|(variable, _)| variable.name.as_str()).enumerate();
                let changed = named.filter(|(_, name)| is_changed_around(path, name));
                let changed: Vec<_> = changed.map(|(at, name)| (at, name.to_owned())).collect();
                if !changed.is_empty() {
                    self.0.insert(name, changed);
                }
            }
            true
        });
    }

    /// Finds a variable of a loop that two closures of one place share, among these closures and all
    /// that they hold.
    pub(crate) fn shared_by(&self, closures: &[Dynamic]) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut cells = BTreeMap::new();
        closures.iter().for_each(|closure| self.gather(closure, 0, &mut cells));
        let shared = cells.into_iter().find(|(_, cells)| is_one_twice(cells));
        shared.map(|((_, variable), _)| variable.to_owned())
    }

    /// Gathers the cells of such variables, by place and name.
    fn gather<'v>(
        &'v self,
        value: &Dynamic,
        depth: usize,
        cells: &mut BTreeMap<(&'v str, &'v str), Vec<Dynamic>>,
    ) {
        if depth > DEPTH_MAX {
            return;
        }
        if let Some(closure) = value.read_lock::<FnPtr>() {
            if let Some((name, changed)) = self.0.get_key_value(closure.fn_name()) {
                for (at, variable) in changed {
                    let cell = closure.curry().get(*at).filter(|cell| cell.is_shared()).cloned();
                    cells.entry((name.as_str(), variable.as_str())).or_default().extend(cell);
                }
            }
            closure.iter_curry().for_each(|item| self.gather(item, depth + 1, cells));
        } else if let Some(items) = value.read_lock::<Array>() {
            items.iter().for_each(|item| self.gather(item, depth + 1, cells));
        } else if let Some(map) = value.read_lock::<rhai::Map>() {
            map.values().for_each(|item| self.gather(item, depth + 1, cells));
        }
    }
}

/// Tells whether two of the cells are one: each is marked with its number, and one that lost its mark
/// to a later one is the same. What they held is put back in the opposite order.
fn is_one_twice(cells: &[Dynamic]) -> bool {
    let mut cells: Vec<Dynamic> = cells.to_vec();
    let mut held = Vec::new();
    for (n, cell) in cells.iter_mut().enumerate() {
        let mark = Dynamic::from(INT::try_from(n).unwrap_or(INT::MAX));
        held.push(cell.write_lock::<Dynamic>().map(|mut cell| std::mem::replace(&mut *cell, mark)));
    }
    let is_marked = |(n, cell): (usize, &Dynamic)| {
        let mark = cell.read_lock::<INT>().map(|mark| *mark);
        mark.is_none_or(|mark| INT::try_from(n) == Ok(mark))
    };
    let is_once = cells.iter().enumerate().all(is_marked);
    for (cell, held) in cells.iter_mut().zip(held).rev() {
        if let (Some(mut cell), Some(held)) = (cell.write_lock::<Dynamic>(), held) {
            *cell = held;
        }
    }
    !is_once
}

/// Returns the name of the closure that a block makes, after it has shared what it captures.
fn closure_of(block: &StmtBlock) -> Option<String> {
    let [Stmt::Share(_), Stmt::Expr(curried)] = block.statements() else { return None };
    let Expr::FnCall(call, _) = &**curried else { return None };
    let Expr::DynamicConstant(closure, _) = call.args.first()? else { return None };
    Some(closure.read_lock::<FnPtr>()?.fn_name().to_owned())
}

/// Tells whether a variable that is captured at the end of a path is that of a loop on the path, or one
/// from outside of a loop that the loop assigns.
fn is_changed_around(path: &[ASTNode<'_>], name: &str) -> bool {
    let mut is_assigned = false;
    for pair in path.windows(2).rev() {
        let [parent, child] = pair else { continue };
        if declares_before(parent, child, name) {
            return is_assigned;
        }
        let ASTNode::Stmt(looping) = parent else { continue };
        // The language may get statements that we do not know; those that loop are these three.
        if let Stmt::For(parts, _) = looping
            && is_inside(&parts.2.body, child)
        {
            let counter = parts.1.as_ref().map(|counter| counter.name.as_str());
            if parts.0.name == name || counter == Some(name) {
                return true;
            }
            is_assigned |= assigns(looping, name);
        } else if matches!(looping, Stmt::While(..) | Stmt::Do(..)) {
            is_assigned |= assigns(looping, name);
        }
    }
    is_assigned
}

/// Tells whether a block of the parent declares the variable before it comes to the child.
fn declares_before(parent: &ASTNode<'_>, child: &ASTNode<'_>, name: &str) -> bool {
    blocks_of(parent).into_iter().filter(|block| is_inside(block, child)).any(|block| {
        let before = block.iter().take_while(|statement| !is_same(statement, child));
        let declares =
            |statement: &Stmt| matches!(statement, Stmt::Var(parts, ..) if parts.0.name == name);
        before.into_iter().any(declares)
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the language may get nodes that we do not know; those with blocks are these"
)]
fn blocks_of<'a>(node: &ASTNode<'a>) -> Vec<&'a StmtBlock> {
    match node {
        ASTNode::Expr(Expr::Stmt(block)) => vec![block],
        ASTNode::Stmt(Stmt::Block(block)) => vec![block],
        ASTNode::Stmt(Stmt::If(parts, _) | Stmt::TryCatch(parts, _)) => {
            vec![&parts.body, &parts.branch]
        }
        ASTNode::Stmt(Stmt::While(parts, _) | Stmt::Do(parts, ..)) => vec![&parts.body],
        ASTNode::Stmt(Stmt::For(parts, _)) => vec![&parts.2.body],
        _ => Vec::new(),
    }
}

fn is_inside(block: &StmtBlock, child: &ASTNode<'_>) -> bool {
    block.iter().any(|statement| is_same(statement, child))
}

fn is_same(statement: &Stmt, node: &ASTNode<'_>) -> bool {
    matches!(node, ASTNode::Stmt(found) if std::ptr::eq(*found, statement))
}

/// Tells whether a loop assigns a variable, or a part of it. What its closures do is their own.
fn assigns(looping: &Stmt, name: &str) -> bool {
    let mut found = false;
    looping.walk(&mut Vec::new(), &mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Assignment(parts))) = path.last() {
            found |= root_of(&parts.1.lhs) == Some(name);
        }
        !found
    });
    found
}

/// Returns the variable at the root of `a`, `a.b` or `a[b]`.
fn root_of(mut place: &Expr) -> Option<&str> {
    loop {
        if let Expr::Variable(variable, ..) = place {
            return Some(&variable.1);
        }
        let (Expr::Dot(parts, ..) | Expr::Index(parts, ..)) = place else { return None };
        place = &parts.lhs;
    }
}

#[cfg(test)]
mod tests;
