//! Properties of the compiler.

use agentic_diag::Span;
use agentic_lang_pipeline::ast::{
    BuiltinCall, Literal, NamedArgument, PipelineBlock, PipelineNode, PipelineSource, Site,
    WrittenValue,
};
use agentic_lang_pipeline::run::{PipelineOptions, PipelineProgram};
use agentic_lang_pipeline::{
    CompilerPhase, PipelineFinding, PipelineFindings, canonical, canonical_program, check, compile,
    format, parse, parse_program,
};
use agentic_model::{Cid, Value};
use agentic_plan::{Backend, ResolutionMode};
use agentic_replay::{End, Path, ProgramRun};
use proptest::prelude::*;

use crate::kit::{compiled, outcome, perform_native, start, suite_registry};

fn site() -> Site {
    Site(Span::new(0, 0))
}

fn literals() -> impl Strategy<Value = Literal> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Literal::Text),
        any::<i64>().prop_map(Literal::Int),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Literal::Float),
        any::<bool>().prop_map(Literal::Bool),
    ];
    leaf
}

fn values() -> impl Strategy<Value = WrittenValue> {
    let leaf = prop_oneof![literals(), names().prop_map(Literal::Ref)];
    let leaf = leaf.prop_map(|literal| WrittenValue { literal, site: site() });
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop::collection::vec(inner, 0..4)
            .prop_map(|items| WrittenValue { literal: Literal::List(items), site: site() })
    })
}

fn names() -> impl Strategy<Value = String> {
    "[a-zA-Z_][a-zA-Z0-9_]{0,8}"
        .prop_filter("reserved", |name| !agentic_plan::RESERVED_WORDS.contains(&name.as_str()))
}

fn calls() -> impl Strategy<Value = BuiltinCall> {
    let positional = prop::collection::vec(
        literals().prop_map(|literal| WrittenValue { literal, site: site() }),
        0..3,
    );
    let named = (names(), values()).prop_map(|(name, argument)| NamedArgument {
        name,
        name_site: site(),
        argument,
    });
    let named = prop::option::of(prop::collection::vec(named, 0..3));
    (names(), positional, named).prop_map(|(name, positional, named)| BuiltinCall {
        name,
        name_site: site(),
        positional,
        named,
        site: site(),
    })
}

/// Calls that the suite's registry accepts on both backends.
fn good_calls() -> impl Strategy<Value = BuiltinCall> {
    prop::sample::select(vec![
        "echo \"a\"",
        "upper",
        "wrap \"<\" \">\"",
        "repeat 2",
        "concat \",\" \"x\"",
    ])
    .prop_map(|text| match parse_program(text) {
        Ok(PipelineNode::Call(call)) => call,
        other => panic!("{other:?}"),
    })
}

fn annotations() -> impl Strategy<Value = (Backend, ResolutionMode)> {
    (
        prop::sample::select(vec![Backend::Memory, Backend::Temporal]),
        prop::sample::select(vec![ResolutionMode::Static, ResolutionMode::Dynamic]),
    )
}

fn block(backend: Backend, mode: ResolutionMode, body: PipelineNode) -> PipelineBlock {
    PipelineBlock { backend, mode, body, site: site(), head: site() }
}

fn nodes(
    calls: impl Strategy<Value = BuiltinCall> + 'static,
) -> impl Strategy<Value = PipelineNode> {
    calls.prop_map(PipelineNode::Call).prop_recursive(5, 32, 4, |inner| {
        let pipeline = prop::collection::vec(inner.clone(), 2..5).prop_map(|stages| {
            // A pipeline has no pipelines for stages; the parser makes none.
            let flat = stages.into_iter().flat_map(|stage| {
                if let PipelineNode::Pipeline(inner, _) = stage { inner } else { vec![stage] }
            });
            PipelineNode::Pipeline(flat.collect(), site())
        });
        let parallel = prop::collection::vec(inner.clone(), 2..5)
            .prop_map(|nodes| PipelineNode::Parallel(nodes, site()));
        let nested = (annotations(), inner).prop_map(|((backend, mode), body)| {
            PipelineNode::Nested(Box::new(block(backend, mode, body)))
        });
        prop_oneof![pipeline, parallel, nested]
    })
}

/// Makes all nested blocks of the backend around them, so that every good call resolves.
fn one_backend(node: PipelineNode, backend: Backend) -> PipelineNode {
    let all = |nodes: Vec<PipelineNode>| {
        nodes.into_iter().map(|node| one_backend(node, backend)).collect()
    };
    match node {
        PipelineNode::Pipeline(stages, site) => PipelineNode::Pipeline(all(stages), site),
        PipelineNode::Parallel(branches, site) => PipelineNode::Parallel(all(branches), site),
        PipelineNode::Nested(inner) => PipelineNode::Nested(Box::new(block(
            backend,
            inner.mode,
            one_backend(inner.body, backend),
        ))),
        PipelineNode::Call(call) => PipelineNode::Call(call),
    }
}

fn scripts() -> impl Strategy<Value = PipelineSource> {
    let blocks = (annotations(), nodes(calls()));
    let blocks = blocks.prop_map(|((backend, mode), body)| block(backend, mode, body));
    prop::collection::vec(blocks, 1..4).prop_map(|blocks| PipelineSource { blocks })
}

/// Runs a source, always answering the open request that a salt puts first; returns how it ended
/// and what was asked, sorted.
fn run_in_order(source: &str, options: PipelineOptions, salt: u64) -> (End, Vec<String>) {
    let program = PipelineProgram::new(&compiled(source), options);
    let (mut run, mut step) = ProgramRun::begin(program, &start(Value::Null));
    let mut asked = Vec::new();
    loop {
        if let Some(end) = step.end {
            asked.sort();
            return (end, asked);
        }
        let rank = |path: &Path| Cid::of(format!("{salt} {path}").as_bytes());
        let open = run.open().values().min_by_key(|request| rank(&request.path)).cloned();
        let request = open.expect("a run that has not ended waits");
        asked.push(format!("{} {:?}", request.path, request.payload));
        step = run.deliver(&request.path, perform_native(&request), run.now());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_parses_to_the_same(script in scripts()) {
        let text = canonical(&script);
        prop_assert_eq!(parse(&text), Ok(script.clone()), "{}", text);
        let formatted = format(&text).expect("what is printed parses");
        prop_assert_eq!(parse(&formatted), Ok(script), "{}", formatted);
        prop_assert_eq!(format(&formatted), Ok(formatted));
    }

    #[test]
    fn a_program_parses_to_the_same(body in nodes(calls())) {
        let text = canonical_program(&body);
        prop_assert_eq!(parse_program(&text), Ok(body), "{}", text);
    }

    #[test]
    fn what_resolves_makes_a_valid_plan((backend, mode) in annotations(), body in nodes(good_calls())) {
        let script = PipelineSource { blocks: vec![block(backend, mode, one_backend(body, backend))] };
        let compiled = compile(&canonical(&script), suite_registry());
        let compiled = compiled.expect("good calls resolve, and lowering always validates");
        let plan = &*compiled.blocks[0].plan;
        let again = agentic_plan::Plan::from_value(&plan.to_value());
        prop_assert_eq!(again.as_ref(), Ok(plan));
    }

    #[test]
    fn the_order_of_answers_changes_nothing(
        body in nodes(good_calls()), salt: u64, max_concurrency in 1_usize..4,
    ) {
        let body = canonical_program(&one_backend(body, Backend::Memory));
        let of_mode = |mode: &str| format!("memory {mode} ( {body} )");
        let all = PipelineOptions { max_concurrency: usize::MAX, ..PipelineOptions::default() };
        let few = PipelineOptions { max_concurrency, ..PipelineOptions::default() };
        let (end, asked) = run_in_order(&of_mode("static"), all.clone(), 0);
        let results = outcome(&end);
        prop_assert!(results.is_ok(), "{:?}", results);
        for options in [all, few] {
            let (again, asked_again) = run_in_order(&of_mode("static"), options.clone(), salt);
            prop_assert_eq!(&again, &end);
            prop_assert_eq!(&asked_again, &asked);
            let (dynamic, _) = run_in_order(&of_mode("dynamic"), options, salt);
            prop_assert_eq!(outcome(&dynamic), results.clone());
        }
    }

    #[test]
    fn groups_leave_no_trace_in_plans(body in nodes(good_calls())) {
        let body = one_backend(body, Backend::Memory);
        let text = canonical_program(&body);
        let plain = compile(&format!("memory static ( {text} )"), suite_registry());
        let grouped = compile(&format!("memory static ( ( ( {text} ) ) )"), suite_registry());
        let (plain, grouped) = (plain.expect("valid"), grouped.expect("valid"));
        prop_assert_eq!(plain.blocks[0].plan.cid(), grouped.blocks[0].plan.cid());
    }

    #[test]
    fn no_text_makes_the_compiler_panic(text in "(memory|temporal|static|dynamic|echo|wrap|hold|\\(|\\)|\\[|\\]|:|,|>=>|<\\*>|\"|\\\\|\"\"\"|-1|2.5|//|\n| |é|[ -~]){0,40}") {
        let _ = check(&text, &suite_registry());
        let _ = format(&text);
        let _ = parse_program(&text);
    }

    #[test]
    fn phases_compose(a in any::<i16>(), b in any::<i16>(), c in any::<i16>(), input in any::<i16>()) {
        let add = |n: i16| move |input: i64| -> Result<i64, PipelineFindings> { Ok(input * 31 + i64::from(n)) };
        let left = add(a).then(add(b)).then(add(c)).run(i64::from(input));
        let right = add(a).then(add(b).then(add(c))).run(i64::from(input));
        prop_assert_eq!(&left, &right);
        let same = |input: i64| -> Result<i64, PipelineFindings> { Ok(input) };
        prop_assert_eq!(same.then(add(a)).run(1), add(a).run(1));
        prop_assert_eq!(add(a).then(same).run(1), add(a).run(1));
    }
}

#[test]
fn a_phase_is_not_run_behind_findings() {
    let findings: Vec<PipelineFinding> = parse("").expect_err("there is no block");
    let kept = findings.clone();
    let fails = move |_: ()| -> Result<(), PipelineFindings> { Err(kept.clone()) };
    let never = |(): ()| -> Result<(), PipelineFindings> { panic!("it is run") };
    assert_eq!(fails.then(never).run(()), Err(findings));
}
