//! CPU flame graphs of a run, each as a separate SVG that zooms and searches.
//!
//! Not here: drawing them (render).

use std::sync::OnceLock;

use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use render::document::Block;
use render::flame_graph::{FLAME_JS, FlameGraph, FlameUse};
use sha2::{Digest, Sha256};

use super::App;
use super::http_error::HttpError;
use super::request_policy::ContentSecurity;

/// Returns the content security policy of a flame graph. Only its own script may run, by its hash
/// and in a null origin, so names of functions cannot bring in a script that has access to our
/// pages.
fn content_security() -> &'static HeaderValue {
    static POLICY: OnceLock<HeaderValue> = OnceLock::new();
    POLICY.get_or_init(|| {
        let hash = STANDARD.encode(Sha256::digest(FLAME_JS.as_bytes()));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; \
             frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox allow-scripts"
        );
        HeaderValue::from_str(&policy).expect("a policy is plain text")
    })
}

fn graph_in(blocks: Vec<Block>, side: &str) -> Option<FlameGraph> {
    blocks.into_iter().find_map(|block| match block {
        Block::FlameGraph(graph) if graph.side == side => Some(graph),
        Block::Part(_, blocks) => graph_in(blocks, side),
        _ => None,
    })
}

/// `GET /runs/ID/flame/SIDE.svg`: the CPU flame graph of the server or the generator.
pub(super) async fn graph(
    State(app): State<App>,
    Path((name, file)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let standing = shared.lives.standing(store, &name)?;
        let side = file.strip_suffix(".svg").unwrap_or(&file);
        let sections = render::run(&standing.drawn).sections;
        let mut graphs = sections.into_iter().map(|section| graph_in(section.blocks, side));
        let graph = graphs.find_map(|graph| graph.filter(|graph| !graph.stacks.is_empty()));
        let graph = graph.ok_or_else(|| {
            HttpError::unknown(format!(
                "the run has no CPU flame graph '{side}': run with --cpu-profile on, and choose \
                 server or generator"
            ))
        })?;
        let kind = [(header::CONTENT_TYPE, "image/svg+xml; charset=utf-8")];
        let mut response = (kind, graph.svg(FlameUse::Alone)).into_response();
        response.extensions_mut().insert(ContentSecurity(content_security().clone()));
        Ok(response)
    })
    .await
}
