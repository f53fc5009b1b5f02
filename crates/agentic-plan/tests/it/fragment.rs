//! The laws of fragments.

use agentic_plan::{
    AgentId, Backend, CallKind, Fragment, NodeWork, Numbering, PlanCall, ResolutionMode,
};
use proptest::prelude::*;

/// The shape of a fragment, to build it in different ways.
#[derive(Debug, Clone)]
enum Shape {
    Call,
    Sequence(Vec<Shape>),
    Fanout(Vec<Shape>),
}

fn shapes() -> impl Strategy<Value = Shape> {
    Just(Shape::Call).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Shape::Sequence),
            prop::collection::vec(inner, 1..4).prop_map(Shape::Fanout),
        ]
    })
}

/// Builds a fragment; the `n`-th call carries `n`, so that nodes are known whatever their ids.
fn build(shape: &Shape, numbering: &mut Numbering, n_calls: &mut i64) -> Fragment {
    match shape {
        Shape::Call => {
            let mut call = PlanCall::new(
                CallKind::Activity,
                AgentId::parse("a/b").expect("the id is well-formed"),
            );
            call.args.push((*n_calls).into());
            *n_calls += 1;
            Fragment::call(numbering, call)
        }
        Shape::Sequence(parts) => {
            let mut parts = parts.iter();
            let first = parts.next().expect("there is a part");
            let first = build(first, numbering, n_calls);
            parts.fold(first, |left, right| {
                let right = build(right, numbering, n_calls);
                left.sequence(numbering, right)
            })
        }
        Shape::Fanout(parts) => {
            let parts: Vec<Fragment> =
                parts.iter().map(|part| build(part, numbering, n_calls)).collect();
            Fragment::fanout(parts).expect("there is a part")
        }
    }
}

/// Describes what a finished fragment computes: the nested calls of its exit.
fn meaning(shape: &Shape) -> String {
    let (mut numbering, mut n_calls) = (Numbering::default(), 0);
    let fragment = build(shape, &mut numbering, &mut n_calls);
    let plan = fragment.finish(&mut numbering).validate(Backend::Memory, ResolutionMode::Static);
    let plan = plan.expect("what the algebra builds is valid");
    let mut said: Vec<Option<String>> = vec![None; plan.nodes().len()];
    fn say(plan: &agentic_plan::Plan, at: usize, said: &mut Vec<Option<String>>) -> String {
        if let Some(text) = &said[at] {
            return text.clone();
        }
        let inputs: Vec<String> =
            plan.required_by(at).to_vec().into_iter().map(|from| say(plan, from, said)).collect();
        let text = match &plan.nodes()[at].work {
            NodeWork::Join => format!("[{}]", inputs.join(" ")),
            NodeWork::Call(call) => format!("c{:?}({})", call.args[0], inputs.join("")),
        };
        // What several nodes share is named once, or descriptions grow without bound.
        said[at] = Some(shortened(&text));
        text
    }
    fn shortened(text: &str) -> String {
        if text.len() < 200 {
            text.to_owned()
        } else {
            format!("<{} {}>", text.len(), &text[..150])
        }
    }
    say(&plan, plan.exit_index(), &mut said)
}

fn sequence(parts: &[&Shape]) -> Shape {
    Shape::Sequence(parts.iter().map(|part| (*part).clone()).collect())
}

fn fanout(parts: &[&Shape]) -> Shape {
    Shape::Fanout(parts.iter().map(|part| (*part).clone()).collect())
}

proptest! {
    #[test]
    fn sequence_is_associative(a in shapes(), b in shapes(), c in shapes()) {
        let left = meaning(&sequence(&[&sequence(&[&a, &b]), &c]));
        let right = meaning(&sequence(&[&a, &sequence(&[&b, &c])]));
        prop_assert_eq!(left, right);
    }

    #[test]
    fn fanout_is_associative_and_flat(a in shapes(), b in shapes(), c in shapes()) {
        let left = meaning(&fanout(&[&fanout(&[&a, &b]), &c]));
        let right = meaning(&fanout(&[&a, &fanout(&[&b, &c])]));
        let flat = meaning(&fanout(&[&a, &b, &c]));
        prop_assert_eq!(&left, &flat);
        prop_assert_eq!(&right, &flat);
    }

    #[test]
    fn a_group_of_one_is_nothing(a in shapes()) {
        prop_assert_eq!(meaning(&fanout(&[&a])), meaning(&a));
        prop_assert_eq!(meaning(&sequence(&[&a])), meaning(&a));
    }
}

#[test]
fn an_empty_fanout_is_no_fragment() {
    assert_eq!(Fragment::fanout([]), None);
}
