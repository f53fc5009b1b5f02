//! What is printed parses to the same tree: compared as trees, not as text.

use proptest::prelude::*;

use crate::ast::{AgentExpr, AgentExprKind, Ast};
use crate::printer;
use crate::symbol::Symbol;
use crate::{parser, resolve};

/// Parses a file with one pipeline.
fn parse(text: &str) -> Ast {
    let mut ast = parser::parse(text).expect("the text parses").ast;
    resolve::resolve(&mut ast).expect("the text resolves");
    ast
}

/// Writes the tree of an expression in prefix notation.
fn tree(ast: &Ast, nodes: &[AgentExpr]) -> String {
    let mut stack: Vec<String> = Vec::new();
    for node in nodes {
        let shown = match node.kind {
            AgentExprKind::Text(text) => format!("{:?}", ast.text(text)),
            AgentExprKind::Number(digits) => value(ast, digits),
            AgentExprKind::Bool(truth) => truth.to_string(),
            AgentExprKind::Null => "null".to_owned(),
            AgentExprKind::Ref { head, fields } => {
                let fields = ast.names(fields).iter().map(|field| ast.text(*field));
                format!("{} {:?}", ast.text(head), fields.collect::<Vec<_>>())
            }
            AgentExprKind::Object(names) => {
                let items = stack.split_off(stack.len() - names.count as usize);
                let names = ast.names(names).iter().map(|name| ast.text(*name));
                let fields: Vec<String> =
                    names.zip(items).map(|(name, item)| format!("{name}:{item}")).collect();
                format!("{{{}}}", fields.join(" "))
            }
            AgentExprKind::List(count) => {
                let items = stack.split_off(stack.len() - count as usize);
                format!("[{}]", items.join(" "))
            }
            AgentExprKind::Add | AgentExprKind::Equal | AgentExprKind::NotEqual => {
                let right = stack.pop().expect("an operation has two operands");
                let left = stack.pop().expect("an operation has two operands");
                format!("({:?} {left} {right})", node.kind)
            }
        };
        stack.push(shown);
    }
    stack.join("\n")
}

/// A number by its value.
fn value(ast: &Ast, digits: Symbol) -> String {
    let value = crate::data::parse_literal(ast.text(digits)).expect("literals are finite");
    crate::data::json::to_text(&value)
}

fn check(expression: &str) -> Result<(), TestCaseError> {
    let text = format!("pipeline go(n: Number) -> Number {{ return {expression}; }}");
    let ast = parse(&text);
    let printed = printer::lowered(&ast, &ast.pipelines[0]);
    let again = parse(&printed);
    let (before, after) = (tree(&ast, &ast.exprs), tree(&again, &again.exprs));
    prop_assert_eq!(before, after, "{}", printed);
    Ok(())
}

/// Expressions over numbers and truth values alone, where every parenthesis counts.
fn numeric() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("n".to_owned()),
        Just("o.f.g".to_owned()),
        Just("true".to_owned()),
        "[0-9]{1,3}(\\.[0-9]{1,2})?",
    ];
    leaf.prop_recursive(6, 48, 3, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            4 => (inner.clone(), "(\\+|==|!=)", inner)
                .prop_map(|(left, sign, right)| format!("({left}) {sign} ({right})")),
            1 => items.prop_map(|items| format!("[{}]", items.join(", "))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_expressions_parse_to_the_same_tree(expression in numeric()) {
        check(&expression)?;
    }
}

#[test]
fn parentheses_stand_exactly_where_they_matter() {
    let cases = [
        ("n + (n + 1)", "n + (n + 1)"),
        ("(n + n) + 1", "n + n + 1"),
        ("n == (n == 1)", "n == (n == 1)"),
        ("(n == n) == 1", "n == n == 1"),
        ("(n == n) + 1", "(n == n) + 1"),
        ("n + (n == 1)", "n + (n == 1)"),
        ("n == (n + 1)", "n == n + 1"),
        ("n + (n + \"x\")", "n + n + \"x\""),
        ("n + ([\"x\"] + n)", "n + ([\"x\"] + n)"),
        ("007 + 2.50", "7 + 2.5"),
    ];
    for (expression, wanted) in cases {
        let ast = parse(&format!("pipeline go(n: Number) -> Number {{ return {expression}; }}"));
        let printed = printer::lowered(&ast, &ast.pipelines[0]);
        assert!(printed.contains(&format!("return {wanted};")), "{expression}: {printed}");
    }
}
