//! Tests of pages.

use serde_json::{Value as Json, json};

use super::PageRequest;

fn page(names: &[&str], limit: usize, after: Option<&str>) -> Result<Json, String> {
    let request = PageRequest { limit, after: after.map(str::to_owned) };
    let items = names.iter().map(|name| Ok(json!({ "n": name })));
    request.page(items, &["n"]).map_err(|refusal| refusal.message)
}

#[test]
fn pages_follow_each_other_without_a_gap() {
    let names = ["a", "b", "c", "d", "e"];
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let found = page(&names, 2, after.as_deref()).expect("it is there");
        let items = found["items"].as_array().expect("a list").clone();
        assert!((1..=2).contains(&items.len()));
        seen.extend(items.iter().map(|item| item["n"].as_str().expect("a text").to_owned()));
        after = found["next"].as_str().map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, names);
    assert!(page(&names, 2, Some("z")).expect_err("nothing is").contains("names nothing"));
    let first = page(&names, 2, None).expect("it is there");
    let gone = page(&["c", "d"], 1, first["next"].as_str()).expect("what followed is there");
    assert_eq!(gone["items"], json!([{ "n": "c" }]));
    assert_eq!(page(&[], 2, None).expect("nothing"), json!({ "items": [] }));
}

#[test]
fn lists_inside_of_answers_are_cut_by_position() {
    let cut = |limit, after: Option<&str>| {
        let mut items: Vec<Json> = (0..5).map(Json::from).collect();
        let request = PageRequest { limit, after: after.map(str::to_owned) };
        request.cut(&mut [&mut items]).map(|next| (items, next)).map_err(|refusal| refusal.message)
    };
    assert_eq!(cut(2, None), Ok((vec![json!(0), json!(1)], Some("2".to_owned()))));
    assert_eq!(cut(2, Some("4")), Ok((vec![json!(4)], None)));
    assert_eq!(cut(2, Some("9")), Ok((Vec::new(), None)));
    assert!(cut(2, Some("x")).is_err());
}

#[test]
fn lists_of_one_answer_are_cut_at_the_same_position() {
    let lists = || {
        let long: Vec<Json> = (0..5).map(|_| Json::from("x".repeat(400 << 10))).collect();
        let short: Vec<Json> = (0..7).map(Json::from).collect();
        [long, short]
    };
    for is_turned in [false, true] {
        let (mut after, mut found) = (None, [Vec::new(), Vec::new()]);
        loop {
            let [mut long, mut short] = lists();
            let request = PageRequest { limit: 50, after: after.clone() };
            let mut both = [&mut long, &mut short];
            if is_turned {
                both.reverse();
            }
            after = request.cut(&mut both).expect("it is a position");
            found[0].append(&mut long);
            found[1].append(&mut short);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, lists());
    }
}

#[test]
fn a_page_goes_on_in_the_list_that_it_began_in() {
    let request = |after: Option<&str>| PageRequest { limit: 2, after: after.map(str::to_owned) };
    let within = |after| request(after).within("b3-1").map(|page| page.after).ok();
    assert_eq!(within(None), Some(None));
    assert_eq!(within(Some("2@b3-1")), Some(Some("2".to_owned())));
    assert_eq!((within(Some("2@b3-2")), within(Some("2"))), (None, None));
}
