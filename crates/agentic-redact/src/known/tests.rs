use super::*;

/// Says what stands in place of what is found.
fn check(value: &str, text: &str, expected: &str) {
    let known = KnownValues::new([value]);
    let mut out = String::new();
    let mut at = 0;
    for hit in known.find(text.as_bytes()) {
        out.push_str(&text[at..hit.start]);
        out.push('*');
        at = hit.end;
    }
    out.push_str(&text[at..]);
    assert_eq!(out, expected);
}

#[test]
fn values_are_found_raw_in_addresses_in_hex_and_in_json() {
    check("p@ss/w0rd+1", "a p@ss/w0rd+1 b", "a * b");
    check("p@ss/w0rd+1", "?a=p%40ss%2Fw0rd%2B1&b", "?a=*&b");
    check("p@ss/w0rd+1", "?a=p%40ss%2fw0rd%2b1&b", "?a=*&b");
    check("pass phrase 1", "a=pass+phrase+1&b", "a=*&b");
    check("p@ss/w0rd+1", "704073732f773072642b31", "*");
    check("say \"it\" now", r#"{"a":"say \"it\" now"}"#, r#"{"a":"*"}"#);
    check("say \"it\" now", r#"\"a\":\"say \\\"it\\\" now\""#, r#"\"a\":\"*\""#);
}

#[test]
fn any_byte_of_a_value_may_be_encoded_in_either_case() {
    check("Tulip-orb/it+9941x=", "?a=Tulip-orb/it%2B9941x=&b", "?a=*&b");
    check("Tulip-orb/it+9941x=", "?a=Tulip-orb%2fit%2B9941x%3D&b", "?a=*&b");
    check("Tulip-orb/it+9941x=", "?a=Tulip%2Dorb%2fit+9941x%3d&b", "?a=*&b");
    check("Tulip-orb/it+9941x=", "%54ulip-orb/it+9941x= Tulip-orb/it+9941x=", "* *");
    check("pass phrase 1", "?a=pass+phrase%201&b %zz %4", "?a=*&b %zz %4");
    check("tulip-orbit-9941", "%20 tulip-orbit-9941 %74ulip-orbit-994", "%20 * %74ulip-orbit-994");
}

#[test]
fn values_are_found_in_base64_at_each_alignment_with_the_characters_they_share() {
    check("tulip-orbit-94", "x dHVsaXAtb3JiaXQtOTQ= y", "x * y");
    check("tulip-orbit-94", "x dXR1bGlwLW9yYml0LTk0 y", "x d* y");
    check("tulip-orbit-94", "x dTp0dWxpcC1vcmJpdC05NA== y", "x dT* y");
}

#[test]
fn words_paths_numbers_and_addresses_are_no_values() {
    for value in ["short", "development", "/usr/local/bin", "1234567890", "https://host.invalid/x"]
    {
        assert!(KnownValues::new([value]).is_empty(), "{value}");
    }
    assert_eq!(KnownValues::new(["https://a:b1c2d3e4@host.invalid/x"]).len(), 1);
}

#[test]
fn there_is_a_limit_to_values() {
    let many: Vec<String> = (0..500).map(|n| format!("value-{n}-{}", n * 7919)).collect();
    assert_eq!(KnownValues::new(many).len(), KNOWN_VALUES_MAX);
}
