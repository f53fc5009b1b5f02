use super::*;

#[test]
fn every_built_in_rule_has_a_name_and_expressions_that_compile() {
    let rules = RedactRules::built_in();
    assert!(rules.rules.len() > 100);
    for rule in BUILT_IN {
        let draft = RedactRule {
            id: rule.id.to_owned(),
            regex: rule.regex.to_owned(),
            secret_group: rule.secret_group,
            keywords: vec!["any".to_owned()],
            ..RedactRule::default()
        };
        let checked = check(draft).and_then(CompiledRule::checked);
        assert!(checked.is_ok(), "{}: {:?}", rule.id, checked.err());
        let allowed = CompiledRule::built_in(rule).compile_allowed();
        assert!(allowed.is_ok(), "{}: {:?}", rule.id, allowed.err());
    }
}
