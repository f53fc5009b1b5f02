//! Where a page of a list begins: behind the last item of the page before or, where that went away
//! meanwhile, with the one that followed it. What comes in front neither hides an item nor shows one twice.

/// How many digits name an item.
const NAME_DIGITS: usize = 24;

/// A place in a list, as a page says where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPlace {
    last: String,
    next: Option<String>,
}

/// Looks for a place in a list, item by item.
#[derive(Debug)]
pub struct ListSearch<'p> {
    wanted: Option<&'p ListPlace>,
}

impl ListPlace {
    /// Names the place between two items that follow each other.
    pub fn text(last: &str, next: &str) -> String {
        format!("{}-{}", name_of(last), name_of(next))
    }

    /// Reads what was given out. What nobody gave out is the place of nothing.
    pub fn parse(text: &str) -> ListPlace {
        let (last, next) = match text.split_once('-') {
            Some((last, next)) => (last, Some(next.to_owned())),
            None => (text, None),
        };
        ListPlace { last: last.to_owned(), next }
    }
}

impl<'p> ListSearch<'p> {
    /// Begins to look; without a place everything is behind it.
    pub fn begin(wanted: Option<&'p ListPlace>) -> ListSearch<'p> {
        ListSearch { wanted }
    }

    /// Tells whether the next item of the list is behind the place.
    pub fn is_behind(&mut self, key: &str) -> bool {
        let Some(place) = self.wanted else { return true };
        let name = name_of(key);
        let (is_last, is_next) = (place.last == name, place.next.as_ref() == Some(&name));
        if is_last || is_next {
            self.wanted = None;
        }
        is_next
    }

    /// Tells whether the place was found.
    pub fn is_found(&self) -> bool {
        self.wanted.is_none()
    }
}

/// Names an item, so that nobody builds upon what it is called.
fn name_of(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex()[..NAME_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{ListPlace, ListSearch};

    fn behind(place: Option<&str>, list: &[&'static str]) -> Option<Vec<&'static str>> {
        let place = place.map(ListPlace::parse);
        let mut search = ListSearch::begin(place.as_ref());
        let behind = list.iter().copied().filter(|item| search.is_behind(item)).collect();
        search.is_found().then_some(behind)
    }

    #[test]
    fn a_list_goes_on_where_what_was_on_the_page_is_gone() {
        let place = ListPlace::text("b", "c");
        assert_eq!(behind(None, &["a", "b"]), Some(vec!["a", "b"]));
        for (list, expected) in [
            (vec!["a", "b", "c", "d"], vec!["c", "d"]),
            (vec!["new", "a", "b", "between", "c"], vec!["between", "c"]),
            (vec!["c", "d"], vec!["c", "d"]),
            (vec!["a", "b"], vec![]),
        ] {
            assert_eq!(behind(Some(&place), &list), Some(expected), "{list:?}");
        }
        assert_eq!(behind(Some(&place), &["a", "d"]), None, "nobody knows where that was");
        assert_eq!(behind(Some("b-c"), &["b", "c"]), None, "that was not given out");
    }
}
