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
