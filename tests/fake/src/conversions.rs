//! Values of scripts and replies of commands, each as a server makes it of the other.

use mlua::{Lua, Table, Value as LuaValue};

use crate::commands::numbers::digits;
use crate::reply::{Reply, fail};
use crate::value::Bytes;

/// The words of a command that a script calls.
pub(crate) fn to_words(values: &[LuaValue]) -> Result<Vec<Bytes>, Reply> {
    let word = |value: &LuaValue| match value {
        LuaValue::String(text) => Ok(text.as_bytes().to_vec()),
        LuaValue::Integer(number) => Ok(digits(*number as f64).into()),
        LuaValue::Number(number) => Ok(digits(*number).into()),
        _ => fail("ERR Lua redis lib command arguments must be strings or integers"),
    };
    values.iter().map(word).collect()
}

/// A reply to a command of a script.
pub(crate) fn to_lua(lua: &Lua, reply: &Reply) -> mlua::Result<LuaValue> {
    Ok(match reply {
        Reply::Nil => LuaValue::Boolean(false),
        Reply::Integer(number) => LuaValue::Number(*number as f64),
        Reply::Bulk(text) => LuaValue::String(lua.create_string(text)?),
        Reply::Status(text) => named(lua, "ok", text)?,
        Reply::Error(text) => named(lua, "err", text.as_bytes())?,
        Reply::Array(parts) => {
            let table = lua.create_table_with_capacity(parts.len(), 0)?;
            for (place, part) in (1..).zip(parts) {
                table.raw_set(place, to_lua(lua, part)?)?;
            }
            LuaValue::Table(table)
        }
    })
}

fn named(lua: &Lua, name: &str, text: &[u8]) -> mlua::Result<LuaValue> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set(name, lua.create_string(text)?)?;
    Ok(LuaValue::Table(table))
}

/// The reply of a script that returns this value.
pub(crate) fn to_reply(value: &LuaValue) -> Reply {
    match value {
        LuaValue::String(text) => Reply::Bulk(text.as_bytes().to_vec()),
        LuaValue::Integer(number) => Reply::Integer(*number),
        // Servers leave a number that is no i64 to the processor. No script returns one.
        LuaValue::Number(number) => Reply::Integer(*number as i64),
        LuaValue::Boolean(true) => Reply::Integer(1),
        LuaValue::Table(table) => {
            if let Some(error) = text_in(table, "err") {
                return Reply::Error(String::from_utf8_lossy(&error).into_owned());
            }
            if let Some(status) = text_in(table, "ok") {
                return Reply::Status(status);
            }
            // An array ends at its first nil.
            let part = |place: usize| table.raw_get(place).unwrap_or(LuaValue::Nil);
            let parts = (1..).map(part).take_while(|part| !part.is_nil());
            Reply::Array(parts.map(|part| to_reply(&part)).collect())
        }
        _ => Reply::Nil,
    }
}

/// The reply of a script that throws this value.
pub(crate) fn to_error(value: &LuaValue) -> Reply {
    let text = match value {
        LuaValue::Table(table) => text_in(table, "err"),
        LuaValue::String(text) => Some([b"ERR ", &*text.as_bytes()].concat()),
        _ => None,
    };
    let text = text.unwrap_or_else(|| b"ERR unknown error".to_vec());
    Reply::Error(String::from_utf8_lossy(&text).into_owned())
}

fn text_in(table: &Table, name: &str) -> Option<Bytes> {
    match table.raw_get(name) {
        Ok(LuaValue::String(text)) => Some(text.as_bytes().to_vec()),
        _ => None,
    }
}
