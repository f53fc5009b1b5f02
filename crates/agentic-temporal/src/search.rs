//! Search attributes: by what people find runs at the server. A server that was not set up knows none,
//! and would refuse a run that has one.

use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, NamespacedClient as _};
use temporalio_common::protos::temporal::api::enums::v1::IndexedValueType;
use temporalio_common::protos::temporal::api::operatorservice::v1::{
    AddSearchAttributesRequest, ListSearchAttributesRequest,
};
use temporalio_common::search_attributes::{
    SearchAttributeKey, SearchAttributeUpdate, SearchAttributes,
};

use crate::connection::runtime;
use crate::wire::WireStart;
use crate::words::refused;
use crate::{Result, ServerSettings};

/// Who a run is.
const AGENT: &str = "AgenticAgent";
/// Its session.
const SESSION: &str = "AgenticSession";
/// The language of its program.
const LANGUAGE: &str = "AgenticLanguage";
/// Whether it waits for a human.
const HELD: &str = "AgenticHeld";
/// All of them, and what sort of value each has.
const ATTRIBUTES: [(&str, IndexedValueType); 4] = [
    (AGENT, IndexedValueType::Keyword),
    (SESSION, IndexedValueType::Keyword),
    (LANGUAGE, IndexedValueType::Keyword),
    (HELD, IndexedValueType::Bool),
];

/// Makes the server know our attributes; returns those that are new to it.
///
/// # Errors
/// Fails when it cannot be reached, and when it does not let us.
pub fn set_up(settings: &ServerSettings) -> Result<Vec<&'static str>> {
    runtime(1)?.block_on(async {
        let client = settings.connect().await?;
        let known = known(&client).await?;
        let lacks = |name: &str| !known.iter().any(|known| known == name);
        let new: Vec<_> = ATTRIBUTES.into_iter().filter(|(name, _)| lacks(name)).collect();
        if !new.is_empty() {
            let attributes = new.iter().map(|(name, kind)| ((*name).to_owned(), *kind as i32));
            let ask = AddSearchAttributesRequest {
                search_attributes: attributes.collect(),
                namespace: client.namespace(),
            };
            let mut service = client.connection().operator_service();
            let added = service.add_search_attributes(ask.into_request()).await;
            added.map_err(|status| refused("add search attributes", &status))?;
        }
        Ok(new.into_iter().map(|(name, _)| name).collect())
    })
}

/// Lists which of our attributes the server knows.
pub async fn known(client: &Client) -> Result<Vec<String>> {
    let ask = ListSearchAttributesRequest { namespace: client.namespace() };
    let mut service = client.connection().operator_service();
    let listed = service.list_search_attributes(ask.into_request()).await;
    let listed = listed.map_err(|status| refused("list its search attributes", &status))?;
    let custom = listed.into_inner().custom_attributes;
    let is_known = |(name, kind): &(&str, IndexedValueType)| {
        custom.get(*name).is_some_and(|found| *found == *kind as i32)
    };
    Ok(ATTRIBUTES.iter().filter(|it| is_known(it)).map(|(name, _)| (*name).to_owned()).collect())
}

/// Returns the attributes of a run that begins, of those that the server knows.
pub fn of_start(start: &WireStart, known: &[String]) -> SearchAttributes {
    let values = [
        (AGENT, start.agent.as_str()),
        (SESSION, start.session.as_str()),
        (LANGUAGE, start.language.as_str()),
    ];
    let is_known = |name: &str| known.iter().any(|known| known == name);
    let values = values.into_iter().filter(|(name, _)| is_known(name));
    let keywords = values.filter_map(|(name, value)| {
        SearchAttributeKey::keyword(name).try_value_set(value.to_owned()).ok()
    });
    SearchAttributes::new(keywords.chain(held(known, 0)))
}

/// Returns what says whether a run with so many holds waits for a human, if the server knows that
/// attribute.
pub fn held(known: &[String], n_holds: usize) -> Option<SearchAttributeUpdate> {
    known.iter().find(|known| *known == HELD)?;
    SearchAttributeKey::bool(HELD).try_value_set(n_holds > 0).ok()
}
