//! The generated programs: no difference that is not explained.

use agentic_lang_agent::{Data, TraceCapture, json};

use crate::corpus::{Setup, lines, run, sorted, text};
use crate::explained::explained;
use crate::host::Kit;

fn words(case: &Data) -> Vec<String> {
    let pipeline = text(case, "pipeline").expect("a case names its pipeline");
    let inputs = json::to_text(case.get("inputs").expect("a case has inputs"));
    ["@SRC", pipeline, "--input", &inputs].map(str::to_owned).to_vec()
}

/// Says how a case differs from what is expected, if it does.
fn difference(case: &Data, at: usize) -> Option<String> {
    let source = text(case, "source").expect("a case has a source");
    let setup = Setup { kit: Kit::None, seed: at as u64 };
    let given = run(source.as_bytes(), &words(case), TraceCapture::Off, setup);
    let expected = case.get("expected").expect("a case expects something");
    if let Some(result) = expected.get("result") {
        let wrapped = Data::object(vec![("result".into(), result.clone())]).expect("small");
        let wanted = Some(sorted(&wrapped));
        let (class, span) = (&given.class, given.span);
        return (given.result != wanted)
            .then(|| format!("wanted {wanted:?}, got {:?} {class:?} {span:?}", given.result));
    }
    let class = text(expected, "class").map(str::to_owned);
    let span = given.span.map(|(line, column)| format!("[{line},{column}]"));
    let wanted = expected.get("span").map(sorted);
    let is_same = given.class == class && (wanted.is_none() || wanted == span);
    (!is_same).then(|| {
        let (result, given) = (given.result, given.class);
        format!("wanted {class:?} {wanted:?}, got {given:?} {span:?} {result:?}")
    })
}

#[test]
fn no_generated_program_differs_without_a_reason() {
    let cases = lines("generated.jsonl");
    let mut explained = explained();
    let (mut wrong, mut n_explained) = (Vec::new(), 0);
    for (at, case) in cases.iter().enumerate() {
        let name = text(case, "name").expect("a case has a name");
        let reason = explained.remove(name);
        match (difference(case, at), reason) {
            (None, None) => {}
            (Some(_), Some(_)) => n_explained += 1,
            (Some(difference), None) => wrong.push(format!("{name}: {difference}")),
            (None, Some(_)) => wrong.push(format!("{name}: is explained but does not differ")),
        }
    }
    let n_same = cases.len() - wrong.len() - n_explained;
    println!("generated: {n_same} same, {n_explained} explained, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(explained.is_empty(), "explained but not there: {explained:?}");
    assert_eq!(cases.len(), 800, "the number of cases has changed");
}
