//! The text by which a context source is known: its expression, printed again.

use crate::ast::{ContextExprId, ContextExprKind, ContextFile};
use crate::json::write_text;

/// The longest text that is printed, in bytes; a longer one is cut.
const SOURCE_TEXT_BYTES_MAX: usize = 64 << 10;

/// Prints an expression the way prompts and traces name it.
pub(crate) fn source_text(file: &ContextFile, id: ContextExprId) -> String {
    let mut out = String::new();
    write(file, id, &mut out);
    if out.len() > SOURCE_TEXT_BYTES_MAX {
        let cut = (0..=SOURCE_TEXT_BYTES_MAX).rev().find(|at| out.is_char_boundary(*at));
        out.truncate(cut.unwrap_or(0));
    }
    out
}

fn write(file: &ContextFile, id: ContextExprId, out: &mut String) {
    let expr = file.expr(id);
    match &expr.kind {
        ContextExprKind::Text => write_text(&file.name(expr.span), out),
        ContextExprKind::Number
        | ContextExprKind::True
        | ContextExprKind::False
        | ContextExprKind::None
        | ContextExprKind::Name
        | ContextExprKind::Generate(_)
        | ContextExprKind::Parallel(_) => out.push_str(file.text(expr.span)),
        ContextExprKind::Object(entries) => {
            out.push_str(if entries.is_empty() { "{" } else { "{ " });
            for (at, (key, value)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&file.name(*key));
                out.push_str(": ");
                write(file, *value, out);
            }
            out.push_str(if entries.is_empty() { "}" } else { " }" });
        }
        ContextExprKind::List(items) => {
            out.push('[');
            write_items(file, items, out);
            out.push(']');
        }
        ContextExprKind::Member { object, name } => {
            write(file, *object, out);
            out.push('.');
            out.push_str(file.text(*name));
        }
        ContextExprKind::Index { list, index } => {
            write(file, *list, out);
            out.push('[');
            write(file, *index, out);
            out.push(']');
        }
        ContextExprKind::Call { callee, args } => {
            write(file, *callee, out);
            out.push('(');
            write_items(file, args, out);
            out.push(')');
        }
        ContextExprKind::Not(inner) => {
            out.push_str("not ");
            write(file, *inner, out);
        }
        ContextExprKind::Binary { operator, left, right } => {
            write(file, *left, out);
            out.push(' ');
            out.push_str(operator.symbol());
            out.push(' ');
            write(file, *right, out);
        }
    }
}

fn write_items(file: &ContextFile, items: &[ContextExprId], out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write(file, *item, out);
    }
}
