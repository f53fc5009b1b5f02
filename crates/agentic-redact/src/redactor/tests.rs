mod long;
mod odd;

use serde_json::{Value, json};

use super::*;
use crate::{RedactLayer, RedactRule, RedactTable};

fn redactor(known: &[&str]) -> SecretRedactor {
    let known = KnownValues::new(known);
    SecretRedactor::new(
        RedactRules::built_in(),
        known,
        RedactAllowances::default(),
        TagKey::new([7; 32]),
    )
}

/// Takes the breaks out that keep secrets of tests from being taken for secrets.
fn whole(text: &str) -> String {
    text.replace('¦', "")
}

/// Redacts a text and compares it with every tag as `*`; redacting again changes nothing.
#[track_caller]
fn check(text: &str, expected: &str) {
    check_known(&[], text, expected);
}

#[track_caller]
fn check_known(known: &[&str], text: &str, expected: &str) {
    let redactor = redactor(known);
    let text = whole(text);
    let redacted = redactor.redact_text(&text).text.into_owned();
    assert_eq!(redactor.redact_text(&redacted).text, redacted, "not the same the second time");
    assert_eq!(untagged(&redacted), whole(expected));
}

/// Puts `*` in place of every tag.
fn untagged(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (start, end) in markers(text.as_bytes()) {
        out.push_str(&text[at..start]);
        let mark = &text[start..end];
        out.push_str(&mark[..mark.len() - 9]);
        out.push_str("*]");
        at = end;
    }
    out.push_str(&text[at..]);
    out
}

fn corpus(name: &str) -> Vec<Value> {
    let path = format!("{}/corpus/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the corpus is there").replace('¦', "");
    text.lines().map(|line| serde_json::from_str(line).expect("lines are JSON")).collect()
}

#[test]
fn a_path_below_a_folder_with_a_random_name_is_no_secret() {
    for path in ["/tmp/agentic-a7B2xQ/k59/R8w/TERM", "/var/folders/q4/T9zX_2kLm5/Agentic-w3E/HUP"] {
        check(path, path);
        let input = format!("{{\"out\": \"{path}\"}}");
        check(&input, &input);
    }
    // A name that is as long as a secret is looked at still, and so is a run with few names.
    check("/tmp/x/tQ7v¦Lw2Kz9Rf4Hs8Nb3Yc6Jd", "[redacted:entropy:*]");
    check("/tQ7v¦Lw2Kz9Rf4/Hs8Nb3Yc6Jd", "[redacted:entropy:*]");
}

#[test]
fn all_positive_lines_lose_their_secrets() {
    let mut left = Vec::new();
    for line in corpus("positive") {
        let known: Vec<&str> =
            line["known"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let redactor = redactor(&known);
        let text = line["text"].as_str().expect("a text");
        let redacted = match line["key"].as_str() {
            Some(key) => redactor.redact_beside(key, text),
            None => redactor.redact_text(text),
        };
        let secrets = line["secret"].as_array().expect("secrets").iter().filter_map(Value::as_str);
        let is_left = secrets.into_iter().any(|secret| redacted.text.contains(secret));
        if is_left {
            left.push(line["id"].to_string());
        }
    }
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn few_negative_lines_change() {
    let redactor = redactor(&[]);
    let lines = corpus("negative");
    let changed = lines.iter().filter(|line| {
        let text = line["text"].as_str().expect("a text");
        redactor.redact_text(text).text != text
    });
    let changed: Vec<String> = changed.map(|line| line["id"].to_string()).collect();
    assert!(changed.len() * 100 <= lines.len() * 3, "{changed:?}");
}

#[test]
fn the_first_layer_in_order_names_a_place() {
    check_known(
        &["tulip-orbit-94"],
        "PASSWORD=tulip-orbit-94",
        "PASSWORD=[redacted:known-value:*]",
    );
    check(
        "Authorization: Bearer ghp¦_94DOCj3PnzdSnBuvFAKEag9CdvGqkc8hMElo",
        "Authorization: Bearer [redacted:github-token:*]",
    );
    check("API_TOKEN=iox¦gwnTHZbRkS9FAKErn8", "API_TOKEN=[redacted:key-value:*]");
}

#[test]
fn a_password_may_hold_marks_of_quotation() {
    check(r#""password": "tulip\"orbit22zz""#, r#""password": "[redacted:key-value:*]""#);
    check(r#""password": "tulip-orbit-22""#, r#""password": "[redacted:key-value:*]""#);
    check("password: step-orbit-22", "password: step-orbit-22");
    check(r#"password="tulip22'orbit""#, r#"password="[redacted:key-value:*]""#);
    check(r#"{"password":"tulip22\u0022orbit"}"#, r#"{"password":"[redacted:key-value:*]"}"#);
}

#[test]
fn keys_are_redacted_between_line_numbers_in_differences_and_cut_off() {
    let line = "Mer¦5vjfEtb7UakHnLV/Cuc0JA/nDW+FAKEl2uTVMJhkw9UCzBOlto2+CER+WDa9a";
    check(
        &format!("a\n-----BEGIN PRI¦VATE KEY-----\n{line}\n-----END PRI¦VATE KEY-----\nb"),
        "a\n[redacted:private-key:*]\nb",
    );
    check(
        &format!(
            "@@\n+-----BEGIN EC PRI¦VATE KEY-----\n+{line}\n+-----END EC PRI¦VATE KEY-----\n c"
        ),
        "@@\n+[redacted:private-key:*]\n c",
    );
    check(
        &format!("   1\t-----BEGIN PRI¦VATE KEY-----\n   2\t{line}"),
        "   1\t[redacted:private-key:*]",
    );
    check(
        &format!("\"-----BEGIN PRI¦VATE KEY-----\\n{line}\\n-----END PRI¦VATE KEY-----\\n\""),
        "\"[redacted:private-key:*]\\n\"",
    );
    check(
        "The line -----BEGIN PRIVATE KEY----- begins it.",
        "The line -----BEGIN PRIVATE KEY----- begins it.",
    );
    check(
        &format!("PuTTY-User-Key-File-3: x\nPrivate-Lines: 1\n{line}\nPrivate-MAC: 12ab"),
        "PuTTY-User-Key-File-3: x\nPrivate-Lines: 1\n[redacted:private-key:*]\nPrivate-MAC: 12ab",
    );
}

#[test]
fn names_tell_secrets_in_many_notations() {
    for (before, after) in [
        ("password = \"", "\""),
        ("let password: String = \"", "\";"),
        ("<password>", "</password>"),
        ("<add key=\"ApiToken\" value=\"", "\" />"),
        ("- name: DB_PASSWORD\n  value: ", "\n"),
        ("{\\\"password\\\": \\\"", "\\\"}"),
        ("config[\"secret_key\"] = '", "'"),
        ("const t = process.env.TOKEN; const apiKey = process.env.KEY || \"", "\""),
        ("ALTER USER a PASSWORD '", "'"),
        ("client.set_password(\"", "\")"),
        ("password: |\n  ", "\n"),
        ("the password is ", "."),
        ("Passwort: ", ""),
        ("--db-password ", " --verbose"),
        ("apiKey: ", ", other: 1"),
        ("user=a&password=", "&b=c"),
        ("\u{1b}[1mTOKEN\u{1b}[0m=", ""),
    ] {
        let text = format!("{before}k7Qz9vWm2XpL4tRb{after}");
        let redacted = redactor(&[]).redact_text(&text).text.into_owned();
        assert!(!redacted.contains("k7Qz9vWm2XpL4tRb"), "{text}");
        assert!(redacted.starts_with(before) && redacted.ends_with(after), "{redacted}");
    }
}

#[test]
fn several_words_may_be_a_passphrase() {
    for (before, after) in [
        ("password = \"", "\""),
        ("password = '", "'"),
        ("password=`", "`;"),
        ("password: '", "'"),
        ("\"db_password\" : \"", "\","),
        ("'secret' => '", "',"),
        ("{\\\"password\\\": \\\"", "\\\"}"),
        ("session_secret := \"", "\""),
        ("--password \"", "\" --verbose"),
        ("PASSWORD='", "' ./deploy.sh"),
        ("db:\n  password: ", "\n  port: 5432"),
        ("- passphrase: ", "  # of the vault"),
        ("[db]\r\npassword = ", "\r\nport = 22"),
    ] {
        for phrase in ["two words 22", "Two-Words here 2026!"] {
            let text = format!("{before}{phrase}{after}");
            check(
                &text,
                &format!("{before}[redacted:key-value:*]{after}")
                    .replace(if before.starts_with("--") { ":key-value:" } else { "\0" }, ":flag:"),
            );
        }
    }
    check("password: two w0rds", "password: [redacted:key-value:*]");
}

#[test]
fn sentences_beside_names_stay() {
    for text in [
        "password: \"Must be at least 12\"",
        "\"password\": \"Passwords have at most 64\"",
        "password: 'Step 2'",
        "\"new_password\": \"Enter your new password\"",
        "token: \"unexpected token in line 22\"",
        "\"token\": \"k8s service account\"",
        "password: at least 12",
        "password: two words",
        "The password: tulip orbit 22",
        "PASSWORD=secret psql -h db -p 5432",
        "password = salt + 22",
        "password = hash (salt, 22)",
    ] {
        assert_eq!(redactor(&[]).redact_text(text).text, text);
    }
}

#[test]
fn what_stands_for_a_secret_stays() {
    for text in [
        "password: <your password>",
        "API_KEY=${API_KEY}",
        "token: {{ secrets.TOKEN }}",
        "apiKey: process.env.API_KEY",
        "password = os.environ['DB_PASSWORD']",
        "secret: op://vault/item/field",
        "password = hash_password(request.password)",
        "token: Option<String>,",
        "token = lexer.next_token2()",
        "session id 078a4b89-bd06-4f74-a0be-576183e7c8c1",
        "\"input_tokens\": 152038",
        "password: required|string|min:8",
        "postgres://user:password@localhost/db",
        "sha256:0b5ca6f793a7580945b4efd1cdd96595915cb006ac4cfd103cf3a89b734f89e2",
        "primary_key = 'a1b2c3d4e5f6'",
        "password: [redacted:key-value:1a2b3c4d]",
        "if token == TokenKind::Ident { self.key = Key2::A }",
    ] {
        assert_eq!(redactor(&[]).redact_text(text).text, text);
    }
}

#[test]
fn hex_is_a_secret_beside_a_name_only() {
    let hex = "91a4199cd767decafbad69b4dbfc8f3a";
    check(&format!("trace {hex}"), &format!("trace {hex}"));
    check(&format!("secret: {hex}"), "secret: [redacted:key-value:*]");
}

#[test]
fn joined_lines_and_codes_of_terminals_hide_nothing() {
    check(
        "export KEY=sk-¦proj-1uAkJY4UFAKEbKvEWmxm\\\nrT9jrpIkl43GBzadsbaNzQRJ",
        "export KEY=[redacted:openai-key:*]",
    );
    check(
        "\u{1b}[32mghp_IVz¦zadlFAKEkmddMZn\u{1b}[0mMdd8chSv5e8hG8vre7 x",
        "\u{1b}[32m[redacted:github-token:*] x",
    );
}

#[test]
fn the_same_secret_has_the_same_tag_with_one_key_only() {
    let redactor = redactor(&[]);
    let text = "password: k7Qz9vWm2XpL4tRb and password: k7Qz9vWm2XpL4tRb";
    let redacted = redactor.redact_text(text).text.into_owned();
    let tags: Vec<&str> = redacted.matches("[redacted:key-value:").collect();
    assert_eq!(tags.len(), 2);
    let (first, second) = redacted.split_at(redacted.find(" and ").expect("it stays"));
    assert_eq!(first, &second[5..]);
    let key = TagKey::new([8; 32]);
    let other = SecretRedactor::new(
        RedactRules::built_in(),
        KnownValues::default(),
        RedactAllowances::default(),
        key,
    );
    assert_ne!(other.redact_text(text).text, redacted);
}

#[test]
fn findings_name_rule_layer_and_place() {
    let found = redactor(&[]).findings("x password: k7Qz9vWm2XpL4tRb y");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].rule.as_str(), found[0].layer), ("key-value", RedactLayer::Context));
    assert_eq!((found[0].start, found[0].end), (12, 28));
}

#[test]
fn texts_of_json_have_their_key_as_context_and_keys_are_redacted_too() {
    let redactor = redactor(&["tulip-orbit-94"]);
    let value = json!({
        "env": [{"name": "DB_PASSWORD", "value": "k7Qz9vWm"}],
        "passphrase": "aB3 odd phrase",
        "tulip-orbit-94": 1,
        "id": "toolu_01pgYBkvSWYwvn1CqbnTCPd5",
        "headers": {"authorization": "Bearer k7Qz9vWm2XpL4tRb", "accept": "text/html"},
        "count": 3,
    });
    let redacted = redactor.redact_json(&value);
    let text = untagged(&redacted.value.to_string());
    let expected = json!({
        "env": [{"name": "DB_PASSWORD", "value": "[redacted:key-value:*]"}],
        "passphrase": "[redacted:key-value:*]",
        "[redacted:known-value:*]": 1,
        "id": "toolu_01pgYBkvSWYwvn1CqbnTCPd5",
        "headers": {"authorization": "Bearer [redacted:header:*]", "accept": "text/html"},
        "count": 3,
    });
    assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), expected);
    let pointers: Vec<&str> =
        redacted.findings.iter().map(|found| found.pointer.as_str()).collect();
    assert!(pointers.contains(&"/env/0/value"), "{pointers:?}");
    assert_eq!(redactor.redact_json(&redacted.value).value, redacted.value);
}

#[test]
fn rules_of_others_only_add() {
    let table = RedactTable::parse(
        "[[redact.rule]]\nid = 'shop-key'\nregex = '''shop-([0-9]{6})'''\nkeywords = ['shop-']\n",
    );
    let rules = RedactRules::with(table.expect("it is TOML").rule).expect("they are rules");
    let redactor = SecretRedactor::new(
        rules,
        KnownValues::default(),
        RedactAllowances::default(),
        TagKey::new([7; 32]),
    );
    let redacted = redactor.redact_text("shop-472913 password: k7Qz9vWm").text;
    assert_eq!(untagged(&redacted), "shop-[redacted:shop-key:*] password: [redacted:key-value:*]");
}

#[test]
fn rules_that_cannot_be_used_are_refused() {
    let rule = |id: &str, regex: &str, keywords: &[&str]| RedactRule {
        id: id.to_owned(),
        regex: regex.to_owned(),
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        ..RedactRule::default()
    };
    let refuse = |rule: RedactRule| RedactRules::with([rule]).map_err(|fault| fault.to_string());
    assert!(refuse(rule("a", "x", &["xx"])).is_err_and(|text| text.contains("keywords")));
    assert!(refuse(rule("A b", "x", &["xxx"])).is_err_and(|text| text.contains("name")));
    assert!(refuse(rule("a", "(", &["xxx"])).is_err_and(|text| text.contains("does not compile")));
    let group = RedactRule { secret_group: 3, ..rule("a", "(x)", &["xxx"]) };
    assert!(refuse(group).is_err_and(|text| text.contains("group 3")));
}

#[test]
fn an_allowance_leaves_its_values_alone_and_no_others() {
    let allowances = RedactAllowances::new(["^k7Qz"]).expect("it is an expression");
    let redactor = SecretRedactor::new(
        RedactRules::built_in(),
        KnownValues::default(),
        allowances,
        TagKey::new([7; 32]),
    );
    let redacted = redactor.redact_text("password: k7Qz9vWm2XpL token: b4Rt8uYw3ZqM").text;
    assert_eq!(untagged(&redacted), "password: k7Qz9vWm2XpL token: [redacted:key-value:*]");
    assert!(RedactAllowances::new(["("]).is_err());
}

#[test]
fn what_names_a_place_stays_where_it_was() {
    for (before, after) in [
        ("{\"pass\\u0077ord\":\"", "\"}"),
        ("https:\\/\\/ada:", "@h.invalid\\/x"),
        ("curl -fsSLu ada:", " https://x.invalid"),
        ("Authorization: Digest nonce=\"a1\", response=\"", "\", qop=auth"),
        ("\"password\":\n  \"", "\""),
        ("password = \"\"\"\n", "\n\"\"\"\nport = 1"),
        ("<password><![CDATA[", "]]></password>"),
        ("<key>password</key>\n<string>", "</string>"),
        ("**Password:** ", "\n"),
        ("password：", "，谢谢"),
        ("machine h login ada password ", "\nmachine i"),
        ("ENV DB_PASSWORD ", "\nRUN x"),
        ("create user ada identified by '", "';"),
        ("variable \"db_password\" {\n  default = \"", "\"\n}"),
        ("| user | password |\n| --- | --- |\n| ada | `", "` |\n"),
        ("url,username,password\nx,ada,", "\n"),
        ("form-data; name=\"password\"\r\n\r\n", "\r\n--x"),
    ] {
        let text = format!("{before}k7Qz9vWm2XpL4tRb{after}");
        let redacted = redactor(&[]).redact_text(&text).text.into_owned();
        assert!(!redacted.contains("k7Qz9vWm2XpL4tRb"), "{text}");
        assert!(redacted.starts_with(before) && redacted.ends_with(after), "{redacted}");
    }
}

#[test]
fn a_letter_that_is_escaped_goes_with_its_escape() {
    check(r"password: \u006b7Qz9vWm\u0041, x", "password: [redacted:key-value:*], x");
    check(
        r"password: \u001b[1mk7Qz9vWm\u001b[0m",
        r"password: \u001b[1m[redacted:key-value:*]\u001b[0m",
    );
}

#[test]
fn a_secret_goes_with_its_brackets_and_takes_no_marks_and_fields_along() {
    check("password: k7Qz9v;Wm2)x4, y", "password: [redacted:key-value:*], y");
    check("Password=k7Qz9vWm;User2=x1", "Password=[redacted:key-value:*];User2=x1");
    check("f(password=k7Qz9vWm).await2", "f(password=[redacted:key-value:*]).await2");
    check("[redacted:url-password:1a2b3c4d]z9vWm2", "[redacted:url-password:*]z9vWm2");
}
