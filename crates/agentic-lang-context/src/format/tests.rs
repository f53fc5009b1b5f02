use super::*;

fn check(text: &str, expected: &str) {
    let formatted = format(text, None).expect("the case parses");
    assert_eq!(formatted, expected);
    assert_eq!(format(&formatted, None).expect("it still parses"), expected, "a second time");
}

#[test]
fn indentation_and_blanks_become_uniform() {
    check(
        "main   agent A{\nmain func( input ){\n   x={a:1,b:[ 1,2 ]}\n\n\n  // why\n x.a  // end\n\n}\n}",
        "main agent A {\n    main func(input) {\n        x = { a: 1, b: [1, 2] }\n\n        // why\n        x.a // end\n    }\n}\n",
    );
}

#[test]
fn brackets_opened_on_one_line_indent_once() {
    check(
        "main agent A { main func(i) {\nB.f({\na: 1,\nb: {}\n})\n} }\nagent B { func f(x) { x } }",
        "main agent A { main func(i) {\n    B.f({\n        a: 1,\n        b: {}\n    })\n} }\nagent B { func f(x) { x } }\n",
    );
}

#[test]
fn lines_that_go_on_hang() {
    check(
        "main agent A { main func(i) {\nx = 1\n+ 2\nx\n} }",
        "main agent A { main func(i) {\n    x = 1\n        + 2\n    x\n} }\n",
    );
}

#[test]
fn texts_over_several_lines_stay_as_they_are() {
    check(
        "main agent A { main func(i) { 'a\n   b' } }",
        "main agent A { main func(i) { 'a\n   b' } }\n",
    );
}

#[test]
fn a_number_and_what_is_called_on_it_stay_apart() {
    check(
        "main agent A { main func(i) { x = 1  .sum(i)\ny = 1.5.sum } }",
        "main agent A { main func(i) { x = 1 .sum(i)\n    y = 1.5.sum } }\n",
    );
}

#[test]
fn what_does_not_parse_is_refused() {
    assert!(format("main agent {", None).is_err());
}
