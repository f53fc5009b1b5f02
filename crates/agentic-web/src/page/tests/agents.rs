use std::collections::{BTreeMap, BTreeSet};

use agentic_api::roster::{RosterPage, RosterReview, RosterRow};
use agentic_api::view::{AgentView, FamilyView};

use super::{HOSTILE, frame, link, number, sound};
use crate::page::agents::{self, AgentFilter, AgentsSight};

fn family(name: &str, children: Vec<FamilyView>) -> FamilyView {
    FamilyView {
        agent: name.to_owned(),
        head: "ab".repeat(20),
        state: if name.ends_with('0') { "held" } else { "idle" }.to_owned(),
        commits: 41,
        kinds: BTreeMap::from([("finding".to_owned(), 9), (HOSTILE.to_owned(), 1)]),
        merges: Vec::new(),
        merged_into: vec!["a0".to_owned(), HOSTILE.to_owned()],
        children,
    }
}

/// Makes agents, each with a child that has a child.
fn families(n: usize) -> Vec<FamilyView> {
    let one = |n: usize| {
        family(
            &format!("a{n}"),
            vec![family(&format!("b{n}"), vec![family(&format!("c{n}"), Vec::new())])],
        )
    };
    (0..n).map(one).collect()
}

fn flatten(family: &FamilyView, depth: usize, rows: &mut Vec<RosterRow>) {
    let newest = AgentView {
        agent: family.agent.clone(),
        head: family.head.clone(),
        genesis: None,
        parent: None,
        briefing: None,
        commits: 1,
        subject: HOSTILE.repeat(9),
        at: "2026-11-23T10:00:00Z".to_owned(),
    };
    let alone = FamilyView {
        agent: family.agent.clone(),
        head: family.head.clone(),
        state: family.state.clone(),
        commits: family.commits,
        kinds: family.kinds.clone(),
        merges: Vec::new(),
        merged_into: family.merged_into.clone(),
        children: Vec::new(),
    };
    rows.push(RosterRow { depth, family: alone, newest });
    family.children.iter().for_each(|child| flatten(child, depth + 1, rows));
}

/// Makes what a page shows of families.
fn sight(families: &[FamilyView], filter: &AgentFilter) -> AgentsSight {
    let mut rows = Vec::new();
    families.iter().for_each(|family| flatten(family, 0, &mut rows));
    let n_rows = rows.len();
    let filter = filter.roster();
    let rows = rows.into_iter().skip(filter.after).take(filter.limit).collect();
    let review = |n: usize| RosterReview { who: HOSTILE.to_owned(), agent: format!("a{n}") };
    AgentsSight {
        page: RosterPage {
            rows,
            n_rows,
            reviews: (0..400).map(review).collect(),
            n_agents: n_rows,
            kinds: vec!["finding".to_owned(), HOSTILE.to_owned()],
            left_out: Vec::new(),
            is_checking: false,
        },
        n_remote: 1,
        n_archived: 2,
    }
}

/// Lists where the links between two marks lead.
fn links(page: &str, begin: &str, end: &str) -> Vec<String> {
    let part = page.split_once(begin).expect("it begins").1.split_once(end).expect("it ends").0;
    let links = part.split("<a href=\"").skip(1);
    links.filter_map(|link| link.split_once('"')).map(|(to, _)| to.to_owned()).collect()
}

#[test]
fn drawing_and_list_name_the_same_agents() {
    for n in [2, 5, 413] {
        let families = families(n);
        let mut filter = AgentFilter { is_tree: true, ..AgentFilter::default() };
        let mut seen = BTreeSet::new();
        loop {
            let page = sound(&agents::list(&frame(), &sight(&families, &filter), &filter));
            let drawn = links(&page, "<svg class=\"tree\"", "</svg>");
            let listed = links(&page, "<div class=\"nested\">", "</div>");
            assert_eq!(drawn, listed, "{n} agents from {}", filter.after);
            assert!(drawn.len() <= 200);
            seen.extend(drawn);
            let Some(next) = link(&page, "next") else { break };
            assert!(page.contains(&format!("+{} more", 3 * n - seen.len())), "{page}");
            filter.after = number(&next, "after");
        }
        assert_eq!(seen.len(), 3 * n);
    }
}

#[test]
fn a_table_of_agents_is_paged() {
    let families = families(413);
    let filter = AgentFilter::default();
    let page = sound(&agents::list(&frame(), &sight(&families, &filter), &filter));
    assert!(page.contains("1239 agents"), "{page}");
    assert_eq!(number(&link(&page, "next").expect("more"), "after"), 50);
    let mut none = sight(&families, &filter);
    (none.page.rows, none.page.n_rows) = (Vec::new(), 0);
    let kind = AgentFilter { kind: "nonsense".to_owned(), ..filter };
    let page = sound(&agents::list(&frame(), &none, &kind));
    assert!(page.contains("No agent is like that."), "{page}");
    assert!(!page.contains("Checking"));
    none.page.is_checking = true;
    assert!(sound(&agents::list(&frame(), &none, &kind)).contains("Checking"));
}

#[test]
fn a_deep_family_is_drawn() {
    let mut one = family("a0", Vec::new());
    for n in 1..300 {
        one = family(&format!("a{n}"), vec![one]);
    }
    let filter = AgentFilter { is_tree: true, ..AgentFilter::default() };
    sound(&agents::list(&frame(), &sight(&[one], &filter), &filter));
}
