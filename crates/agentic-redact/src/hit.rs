//! Places where secrets stand, before they are put in order.

use crate::finding::RedactLayer;

/// Which rule found a place. Of one layer, the first in this order names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HitRule {
    /// A known value, by its number.
    Known(usize),
    /// The block of a private key.
    PrivateKey,
    /// A rule of [`crate::RedactRules`], by its number.
    Provider(usize),
    /// The password of an address.
    UrlPassword,
    /// A field in the query of an address.
    UrlQuery,
    /// A header of HTTP.
    Header,
    /// What follows `Bearer`.
    Bearer,
    /// An option of a command.
    Flag,
    /// A value beside a name.
    KeyValue,
    /// What looks random.
    Entropy,
}

impl HitRule {
    /// The names of the rules that are no provider's.
    pub(crate) const FIXED_IDS: [&'static str; 9] = [
        "known-value",
        "private-key",
        "url-password",
        "url-query",
        "header",
        "bearer",
        "flag",
        "key-value",
        "entropy",
    ];

    /// Returns the layer to which the rule belongs.
    pub(crate) fn layer(self) -> RedactLayer {
        match self {
            HitRule::Known(_) => RedactLayer::KnownValue,
            HitRule::PrivateKey => RedactLayer::PrivateKey,
            HitRule::Provider(_) => RedactLayer::Provider,
            HitRule::UrlPassword
            | HitRule::UrlQuery
            | HitRule::Header
            | HitRule::Bearer
            | HitRule::Flag
            | HitRule::KeyValue => RedactLayer::Context,
            HitRule::Entropy => RedactLayer::Entropy,
        }
    }

    /// Returns the rule's name; that of a provider's rule stands with the rules.
    pub(crate) fn fixed_id(self) -> Option<&'static str> {
        match self {
            HitRule::Known(_) => Some("known-value"),
            HitRule::PrivateKey => Some("private-key"),
            HitRule::Provider(_) => None,
            HitRule::UrlPassword => Some("url-password"),
            HitRule::UrlQuery => Some("url-query"),
            HitRule::Header => Some("header"),
            HitRule::Bearer => Some("bearer"),
            HitRule::Flag => Some("flag"),
            HitRule::KeyValue => Some("key-value"),
            HitRule::Entropy => Some("entropy"),
        }
    }
}

/// A place where a secret stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretHit {
    pub(crate) rule: HitRule,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// What the tag is made of: the secret as it stands in the text that was scanned.
    pub(crate) secret: (usize, usize),
}

impl SecretHit {
    /// Makes a hit of which all is the secret.
    pub(crate) fn new(rule: HitRule, start: usize, end: usize) -> SecretHit {
        SecretHit { rule, start, end, secret: (start, end) }
    }
}

/// Takes what stands in markers out of hits: a marker is never redacted.
pub(crate) fn without_markers(
    hits: Vec<SecretHit>,
    markers: &[(usize, usize)],
    poses: impl Fn((usize, usize)) -> bool,
) -> Vec<SecretHit> {
    if markers.is_empty() {
        return hits;
    }
    let mut left = Vec::new();
    for hit in hits {
        let mut start = hit.start;
        // What poses as a marker hides no known value.
        if let (HitRule::Known(_), Some(around)) = (hit.rule, around(markers, &hit))
            && poses(around)
        {
            left.push(SecretHit { start: around.0, end: around.1, ..hit });
            continue;
        }
        let first = markers.partition_point(|marker| marker.1 <= hit.start);
        for marker in markers[first..].iter().take_while(|marker| marker.0 < hit.end) {
            if start < marker.0 {
                left.push(SecretHit::new(hit.rule, start, marker.0));
            }
            start = marker.1;
        }
        if start == hit.start {
            left.push(hit);
        } else if start < hit.end {
            left.push(SecretHit::new(hit.rule, start, hit.end));
        }
    }
    left
}

/// Returns the marker in which a hit lies whole.
fn around(markers: &[(usize, usize)], hit: &SecretHit) -> Option<(usize, usize)> {
    let next = markers.partition_point(|marker| marker.1 <= hit.start);
    markers.get(next).filter(|marker| marker.0 <= hit.start && hit.end <= marker.1).copied()
}

/// Makes one of all hits that overlap; the first rule in order names it.
pub(crate) fn united(mut hits: Vec<SecretHit>) -> Vec<SecretHit> {
    hits.sort_by_key(|hit| (hit.start, hit.rule));
    let mut apart: Vec<SecretHit> = Vec::new();
    for hit in hits {
        match apart.last_mut() {
            Some(last) if hit.start < last.end => {
                let end = last.end.max(hit.end);
                if hit.rule < last.rule {
                    last.rule = hit.rule;
                    last.secret = hit.secret;
                }
                last.end = end;
            }
            Some(_) | None => apart.push(hit),
        }
    }
    apart
}
