//! Layout of sources.

use agentic_lang_pipeline::format;

fn check(source: &str, expected: &str) {
    let formatted = format(source).expect("the case is valid");
    assert_eq!(formatted, expected, "{source:?}");
    assert_eq!(format(&formatted).as_deref(), Ok(expected), "a second time");
}

#[test]
fn short_blocks_stand_on_one_line() {
    check("memory   static(echo\"a\">=>upper)", "memory static ( echo \"a\" >=> upper )\n");
    check(
        "memory static ( tool_agent(task:\"x\",tools:[a,b,],max_steps:1) )",
        "memory static ( tool_agent ( task: \"x\", tools: [a, b,], max_steps: 1 ) )\n",
    );
    check(
        "memory static(echo())memory static(echo)",
        "memory static ( echo () )\n\nmemory static ( echo )\n",
    );
}

#[test]
fn long_blocks_have_a_line_for_each_stage() {
    check(
        "temporal static ((weather \"San Francisco\" <*> stock \"NVDA\") >=> summarize >=> slack \"#standup\")",
        "temporal static (\n  ( weather \"San Francisco\" <*> stock \"NVDA\" )\n  >=> summarize\n  >=> slack \"#standup\"\n)\n",
    );
    check(
        "temporal static ( converge ( question: \"What is the right pricing model?\" researcher: my_researcher max_rounds: 5 ) )",
        "temporal static (\n  converge (\n    question: \"What is the right pricing model?\"\n    researcher: my_researcher\n    max_rounds: 5\n  )\n)\n",
    );
}

#[test]
fn comments_and_texts_stay() {
    check(
        "// one\nmemory static ( // two\n  echo \"a\" // three\n  // four\n  >=> wrap \"\"\"\n<<\n\"\"\" \"b\"\n) // five\n// six",
        "// one\nmemory static ( // two\n  echo \"a\" // three\n  // four\n  >=> wrap \"\"\"\n<<\n\"\"\" \"b\"\n) // five\n\n// six\n",
    );
    check("memory // a\nstatic // b\n(echo)", "memory // a\nstatic // b\n( echo )\n");
}
