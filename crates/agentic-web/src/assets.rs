//! The style and the script of all pages, named by the hash of what they hold.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// A file that pages ask for.
pub struct PageAsset {
    /// Its address.
    pub path: String,
    name: String,
    kind: &'static str,
    content: &'static str,
}

/// The style.
// process: a constant whose name is a hash; it is worked out once.
pub static STYLE: LazyLock<PageAsset> =
    LazyLock::new(|| PageAsset::new("page.css", "text/css", include_str!("../assets/page.css")));
/// The script. Pages work without it.
// process: a constant whose name is a hash; it is worked out once.
pub static SCRIPT: LazyLock<PageAsset> = LazyLock::new(|| {
    PageAsset::new("page.js", "text/javascript", include_str!("../assets/page.js"))
});
/// The picture of the tab. A browser asks every host for one.
// process: a constant whose name is a hash; it is worked out once.
pub static ICON: LazyLock<PageAsset> = LazyLock::new(|| {
    PageAsset::new("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg"))
});

impl PageAsset {
    fn new(name: &str, kind: &'static str, content: &'static str) -> PageAsset {
        let hash = blake3::hash(content.as_bytes()).to_hex();
        let name = format!("{}-{name}", &hash[..16]);
        PageAsset { path: format!("/assets/{name}"), name, kind, content }
    }
}

/// Answers with a file; its name says which bytes it has, so it may be kept for ever.
pub async fn asset(Path(name): Path<String>) -> Response {
    let found = [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.name == name);
    let Some(asset) = found else { return StatusCode::NOT_FOUND.into_response() };
    let kind = format!("{}; charset=utf-8", asset.kind);
    let kept = "public, max-age=31536000, immutable".to_owned();
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, kept)], asset.content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long the script may be, and all of a page with what it asks for; the page itself is at most
    /// 100 KiB of that.
    const SCRIPT_BYTES_MAX: usize = 12 << 10;
    const ASSET_BYTES_MAX: usize = (150 - 100) << 10;

    #[test]
    fn what_pages_ask_for_is_small() {
        assert!(SCRIPT.content.len() <= SCRIPT_BYTES_MAX, "{} bytes", SCRIPT.content.len());
        let n_bytes: usize =
            [&*STYLE, &*SCRIPT, &*ICON].iter().map(|asset| asset.content.len()).sum();
        assert!(n_bytes <= ASSET_BYTES_MAX, "{n_bytes} bytes");
    }
}
