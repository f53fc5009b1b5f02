//! The types of expressions. Nodes stand in post-order, which is also the order of findings.

use agentic_diag::Diagnostic;

use crate::ast::{AgentExpr, AgentExprId, AgentExprKind};
use crate::check::Checker;
use crate::code::{self, PhaseResult, stop};
use crate::symbol::Symbol;
use crate::types::{TypeId, TypeShape};

impl Checker<'_> {
    /// Returns the type of an expression.
    pub(super) fn expression(&mut self, root: AgentExprId) -> PhaseResult<TypeId> {
        let base = self.operands.len();
        for at in self.ast.expr(root).first..=root.0 {
            let node = self.ast.exprs[at as usize];
            let found = self.node(&node)?;
            self.operands.push(found);
        }
        debug_assert_eq!(self.operands.len(), base + 1, "a subtree leaves one operand");
        Ok(self.operands.pop().expect("a subtree leaves one operand"))
    }

    fn node(&mut self, node: &AgentExpr) -> PhaseResult<TypeId> {
        Ok(match node.kind {
            AgentExprKind::Text(text) => self.variant_type(text).unwrap_or(TypeId::TEXT),
            AgentExprKind::Number(_) => TypeId::NUMBER,
            AgentExprKind::Bool(_) => TypeId::BOOL,
            AgentExprKind::Null => TypeId::NULL,
            AgentExprKind::Ref { head, fields } => {
                let names = fields.start..fields.start + fields.count;
                return self.reference(node, head, names);
            }
            AgentExprKind::Object(names) => {
                let from = self.operands.len() - names.count as usize;
                let types = self.operands.split_off(from);
                let fields = self.ast.names(names).iter().copied().zip(types).collect();
                self.ast.types.intern(TypeShape::Object(fields))
            }
            AgentExprKind::List(count) => return self.list(node, count as usize),
            AgentExprKind::Add => return self.add(node),
            AgentExprKind::Equal | AgentExprKind::NotEqual => {
                let (left, right) = self.operand_pair();
                if !self.ast.types.are_comparable(left, right) {
                    let message = format!(
                        "`{}` and `{}` cannot be compared",
                        self.ast.shown(left),
                        self.ast.shown(right)
                    );
                    return stop(code::BAD_COMPARISON, node.span(), message);
                }
                TypeId::BOOL
            }
        })
    }

    fn operand_pair(&mut self) -> (TypeId, TypeId) {
        let right = self.operands.pop().expect("an operation has two operands");
        let left = self.operands.pop().expect("an operation has two operands");
        (left, right)
    }

    fn reference(
        &mut self,
        node: &AgentExpr,
        head: Symbol,
        fields: std::ops::Range<u32>,
    ) -> PhaseResult<TypeId> {
        let Some(mut found) = self.scope.get(head) else {
            let message = format!("`{}` is not bound here", self.ast.text(head));
            let found = Diagnostic::error(code::UNBOUND_NAME, node.span(), message);
            return Err(Box::new(match self.branches.contains(&head) {
                true => found
                    .because("branches of a parallel block do not see each other")
                    .hint("use it after `join`, or call one after the other"),
                false => found
                    .because("no value on every way to this place")
                    .hint("bind it before, on every way, with the same type"),
            }));
        };
        for at in fields {
            let field = self.ast.names[at as usize];
            let text = self.ast.text(field);
            if !matches!(self.ast.types.get(found), TypeShape::Object(_)) {
                let shown = self.ast.shown(found);
                let message = format!("`{shown}` has no field `{text}`: it is not an object");
                let hint = if matches!(self.ast.types.get(found), TypeShape::Option(_)) {
                    "unwrap it first: `if let v = … { … }`"
                } else {
                    ""
                };
                return Err(Box::new(
                    Diagnostic::error(code::FIELD_OF_NON_OBJECT, node.span(), message).hint(hint),
                ));
            }
            let Some(next) = self.ast.types.field(found, field) else {
                let message = format!("`{}` has no field `{text}`", self.ast.shown(found));
                return Err(Box::new(
                    Diagnostic::error(code::UNKNOWN_FIELD, node.span(), message)
                        .hint(self.ast.fields_of(found, text)),
                ));
            };
            found = next;
        }
        Ok(found)
    }

    fn list(&mut self, node: &AgentExpr, count: usize) -> PhaseResult<TypeId> {
        let from = self.operands.len() - count;
        let items = self.operands.split_off(from);
        let Some((first, rest)) = items.split_first() else {
            let message = "an empty list has no type";
            return stop(code::EMPTY_LIST, node.span(), message);
        };
        let mut item = *first;
        for other in rest {
            match self.ast.types.join(item, *other) {
                Some(joined) => item = joined,
                None => {
                    let (item, other) = (self.ast.shown(item), self.ast.shown(*other));
                    let message = format!("the list holds both `{item}` and `{other}`");
                    return stop(code::MIXED_LIST, node.span(), message);
                }
            }
        }
        Ok(self.ast.types.intern(TypeShape::List(item)))
    }

    fn add(&mut self, node: &AgentExpr) -> PhaseResult<TypeId> {
        let (left, right) = self.operand_pair();
        let plain = |id: TypeId| match self.ast.types.get(id) {
            TypeShape::Enum(_) | TypeShape::Text => Some(TypeId::TEXT),
            TypeShape::Number => Some(TypeId::NUMBER),
            TypeShape::Null
            | TypeShape::Bool
            | TypeShape::List(_)
            | TypeShape::Option(_)
            | TypeShape::Object(_) => None,
        };
        match (plain(left), plain(right)) {
            (Some(left), Some(right)) if left == right => Ok(left),
            _ => {
                let (left, right) = (self.ast.shown(left), self.ast.shown(right));
                let message = format!("`{left}` and `{right}` cannot be added");
                stop(code::BAD_PLUS, node.span(), message)
            }
        }
    }
}
