//! The quirks: what we do where the original surprises.
//!
//! Each case is either kept as it was (`Keep`) or decided otherwise, with the outcome we want.

use crate::corpus::{Case, Setup, capture, cases, differences, run, words};
use crate::host::Kit;

/// What we decided.
enum Decision {
    /// As the original.
    Keep,
    /// The program is accepted, or runs, with this result.
    Result(&'static str),
    /// The lowered text is this.
    Lowered(&'static str),
    /// The program fails with this class, at this line and column where one is given, and the
    /// message names this.
    Fails(&'static str, Option<(usize, usize)>, &'static str),
    /// The tests end like this.
    Tests(&'static str),
}

use Decision::{Fails, Keep, Lowered, Result, Tests};

const DECISIONS: [(&str, Decision); 49] = [
    // A mock value of an enum is its first variant.
    ("q_agent_mock_enum_unsupported", Result("on")),
    // Warned about; the alias counts, as in the original.
    ("q_alias_and_enum_same_name", Keep),
    // Warned about; the built-in type counts, as in the original.
    ("q_alias_named_like_builtin", Keep),
    // No marker of ours can be reached by an argument's name.
    ("q_arg_named_shorthand_marker", Fails("T24", Some((2, 27)), "prompt")),
    ("q_assert_empty_message", Keep),
    // The text counts the attempts that were allowed; programs can read it.
    ("q_attempt_count_in_message_after_timeout_see_plugin", Keep),
    // The handler would see a name of two types.
    ("q_catch_sees_retyped_variable", Fails("T13", Some((4, 86)), "x")),
    // What the error's name hides is there again afterwards.
    ("q_catch_var_clobbers_outer", Result("outer")),
    ("q_compare_ignores_declared_width", Keep),
    ("q_countdown_below_one", Keep),
    // A limit of our own, with a finding.
    ("q_deep_paren_recursion", Fails("P50", None, "deeper than 256")),
    ("q_duplicate_test_names", Keep),
    // Inputs are held to the variants of their enums.
    ("q_enum_input_not_validated", Fails("I03", None, "banana")),
    ("q_enum_input_rejected_only_at_task", Fails("I03", None, "banana")),
    // Enums and texts may be compared inside structures, too.
    ("q_enum_variant_poisons_object_compare", Result("true")),
    // A list of variants and texts is a list of texts.
    ("q_enum_variant_poisons_string_list", Result(r#"["red","other"]"#)),
    // The unwrapped name is gone after the statement.
    ("q_iflet_binding_merges_then_vanishes", Fails("T13", Some((4, 10)), "v")),
    // A result of the wrong type is a failed attempt.
    ("q_invalid_result_skips_fallback", Result("1")),
    // Numbers beyond every finite float are refused.
    ("q_large_float_literal", Fails("L06", Some((1, 34)), "finite")),
    // A loop must keep the types of names from before it.
    ("q_loop_rebind_changes_type", Fails("T36", Some((5, 3)), "x")),
    ("q_lower_does_not_typecheck", Keep),
    // Lowered text holds everything.
    (
        "q_lower_drops_clauses_and_else",
        Lowered(
            "pipeline go(b: Bool) -> String {\n  let f = run flaky_fetch with { key: \"k\", \
             failures_before_success: 1 } retries 2 timeout 3 on_fail use { data: \"x\" };\n  \
             if b {\n    return f.data;\n  } else {\n    return \"no\";\n  }\n}\n",
        ),
    ),
    (
        "q_lower_no_parens",
        Lowered(
            "pipeline go(a: Bool, b: Bool, n: Number) -> Bool {\n  \
             return a == (b == (n + (n + 1) == 3));\n}\n",
        ),
    ),
    (
        "q_lower_rejects_assert",
        Lowered("pipeline go() -> String {\n  assert true;\n  return \"a\";\n}\n"),
    ),
    (
        "q_lower_rejects_continue",
        Lowered(
            "pipeline go() -> String {\n  while false {\n    continue;\n  }\n  return \"a\";\n}\n",
        ),
    ),
    ("q_lower_rejects_enum_types", Lowered("pipeline go(e: E) -> String {\n  return e;\n}\n")),
    (
        "q_lower_rejects_iflet",
        Lowered(
            "pipeline go(o: Option[String]) -> String {\n  if let v = o {\n    return v;\n  }\n  \
             return \"n\";\n}\n",
        ),
    ),
    (
        "q_lower_rejects_try",
        Lowered(
            "pipeline go() -> String {\n  try {\n    return \"a\";\n  } catch e {\n    \
             return e;\n  }\n}\n",
        ),
    ),
    (
        "q_lower_string_quoting",
        Lowered(
            "pipeline go() -> List[String] {\n  return [\"it's\", \"say \\\"hi\\\"\", \
             \"nl\\n\", \"tab\\t\", \"é\", \"\\0\"];\n}\n",
        ),
    ),
    // Numbers as printed, everything else that is no text as JSON.
    (
        "q_mock_text_uses_python_str",
        Result(
            r#"["[a:t1] true","[a:t2] [\"x\",\"it's\"]","[a:t3] {\"k\":1}","[a:t3] null","[default-agent] key points for '1.0'"]"#,
        ),
    ),
    ("q_multiline_string_positions", Keep),
    ("q_nan_input", Fails("U01", None, "JSON")),
    // A plain value may be passed where an option is expected.
    ("q_option_T_not_constructible", Result("x")),
    // Recursion ends in an error that can be caught.
    ("q_recursion_error_not_catchable", Result("caught")),
    // A branch that returns does not decide what is bound afterwards.
    ("q_returning_branch_hides_names", Result("[default-agent] x")),
    // Arguments are bound by their place.
    ("q_shorthand_eleven_args_misordered", Result("0123456789X")),
    // Warned about; the task counts, as in the original.
    ("q_task_shadows_pipeline", Keep),
    // A test may return anything.
    ("q_test_block_return_must_be_string", Tests("  PASS: t\n\n1 passed, 0 failed, 1 total\n")),
    ("q_test_flag_ignores_pipeline_name", Keep),
    ("q_try_return_hides_names", Result("[default-agent] x")),
    ("q_unbounded_recursion", Fails("R15", None, "recursion limit of 128")),
    ("q_unicode_digits_lex", Fails("L01", Some((1, 35)), "token")),
    ("q_wf_hidden_review_var_visible", Keep),
    // What was reviewed keeps its value when a stage takes the old name.
    ("q_wf_restage_source_corrupts_reviewed", Result("[a:mk.x]")),
    // A review may give its artifact the name it had.
    ("q_wf_review_same_name_unusable", Result("[a:mk.x]")),
    // Only what a task needs is looked up.
    ("q_wf_reviewed_param_poisons_next_review", Result("1[a:mk.x]")),
    // Workflows are called like pipelines.
    ("q_wf_shorthand_call_rejected", Result("[a:mk.x]")),
    // Nested pipelines inherit the number of workers; nothing shows.
    ("q_workers_not_inherited", Keep),
    // The deadline is that of an attempt.
    ("p_q_parallel_join_deadline_beats_fallback", Result("0")),
];

fn check(case: &Case, decision: &Decision, kit: Kit) -> Vec<String> {
    let given = run(&case.source, &words(case), capture(case), Setup { kit, seed: 5 });
    let mut wrong = Vec::new();
    match decision {
        Keep => wrong = differences(&case.expected, &given),
        Result(text) => {
            let plain = format!("{{\"result\":{text}}}");
            let quoted = format!("{{\"result\":\"{text}\"}}");
            if given.result.as_ref() != Some(&plain) && given.result.as_ref() != Some(&quoted) {
                wrong.push(format!("wanted {text}, got {given:?}"));
            }
        }
        Lowered(text) | Tests(text) => {
            if given.text.as_deref() != Some(text) {
                wrong.push(format!("wanted {text}, got {given:?}"));
            }
        }
        Fails(class, span, mention) => {
            let is_right = given.class.as_deref() == Some(class)
                && (span.is_none() || given.span == *span)
                && given.message.contains(mention);
            if !is_right {
                wrong.push(format!("wanted {class} at {span:?} with {mention}, got {given:?}"));
            }
        }
    }
    wrong
}

#[test]
fn every_quirk_is_decided_and_kept_to() {
    let mut all = cases("quirks");
    all.extend(cases("plugin").into_iter().filter(|case| case.name.starts_with("p_q_")));
    let mut wrong = Vec::new();
    for case in &all {
        let kit = if case.name.starts_with("p_q_") { Kit::Test } else { Kit::None };
        match DECISIONS.iter().find(|(name, _)| *name == case.name) {
            None => wrong.push(format!("{}: undecided", case.name)),
            Some((_, decision)) => {
                let found = check(case, decision, kit);
                wrong.extend(found.iter().map(|text| format!("{}: {text}", case.name)));
            }
        }
    }
    println!("quirks: {} of {} as decided", all.len() - wrong.len(), all.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(all.len(), DECISIONS.len(), "the number of cases has changed");
}
