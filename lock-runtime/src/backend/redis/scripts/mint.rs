//! The script that mints a token, and its answer.

use redis::Value;

use super::{OF_QUEUE, Script, ScriptSet, lua, parse_grant, unknown_answer};
use crate::backend::wire::error::WireError;
use crate::lease::fencing_token::FencingToken;

impl ScriptSet {
    /// The script that mints a token for a holder without one.
    pub(in crate::backend::redis) fn mint(&self) -> &Script {
        let mint = || self.memory.source(lua!("grant", "mint"));
        self.mint.get_or_init(|| Script::new(OF_QUEUE, &mint()))
    }
}

pub(in crate::backend::redis) fn parse_mint_reply(
    value: &Value,
) -> Result<Option<FencingToken>, WireError> {
    match value {
        Value::Nil => Ok(None),
        value => parse_grant(value)
            .filter(|grant| grant.token.is_minted())
            .map(|grant| Some(grant.token))
            .ok_or_else(|| unknown_answer("mint")),
    }
}
