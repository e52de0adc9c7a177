//! The Lua of scripts, one interpreter for each thread: mlua's are bound to theirs.
//!
//! Scripts keep nothing from one run to the next, so all servers of a thread share its interpreter.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use mlua::{ChunkMode, Function, Lua, Table, Value as LuaValue, Variadic};

use crate::conversions::{to_error, to_lua, to_reply, to_words};
use crate::coverage;
use crate::reply::{Reply, fail};
use crate::script_run::ScriptRun;
use crate::state::State;
use crate::value::Bytes;

thread_local! {
    static INTERPRETER: Interpreter = Interpreter::new().expect("the sandbox is right");
}

/// The scripts that have been compiled, by digest: a server that learnt one from one thread may run it in another.
static SOURCES: Mutex<BTreeMap<String, Bytes>> = Mutex::new(BTreeMap::new());

struct Interpreter {
    lua: Lua,
    /// The globals of scripts.
    environment: Table,
    /// Runs a script with its keys and arguments. Returns whether it returned, and the value that it returned or threw.
    enter: Function,
    compiled: RefCell<BTreeMap<String, Function>>,
    /// The run of the script that runs now.
    current: Rc<RefCell<ScriptRun>>,
}

/// The name of a script: the lower-case hexadecimal SHA-1 of its text.
pub(crate) fn digest_of(source: &[u8]) -> String {
    sha1_smol::Sha1::from(source).digest().to_string()
}

/// Compiles a script, so that any thread can run it.
pub(crate) fn compile(digest: &str, source: &[u8]) -> Result<(), Reply> {
    INTERPRETER.with(|interpreter| interpreter.compile(digest, source))?;
    let mut sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner);
    sources
        .entry(digest.to_owned())
        .or_insert_with(|| source.to_vec());
    Ok(())
}

/// Runs a script that was compiled before.
pub(crate) fn run(state: &mut State, digest: &str, keys: &[Bytes], arguments: &[Bytes]) -> Reply {
    INTERPRETER.with(|interpreter| interpreter.run(state, digest, keys, arguments))
}

/// A script in Lua's compiled form.
pub(crate) fn bytecode(source: &[u8]) -> Vec<u8> {
    INTERPRETER.with(|interpreter| {
        let script = interpreter.lua.load(source).into_function();
        script.expect("the script compiles").dump(false)
    })
}

impl Interpreter {
    fn new() -> mlua::Result<Self> {
        let lua = Lua::new();
        let current = Rc::<RefCell<ScriptRun>>::default();
        let run = Rc::clone(&current);
        let run_command = lua.create_function(move |lua, values: Variadic<LuaValue>| {
            let reply = match to_words(&values) {
                Ok(words) => run.borrow_mut().call(&words),
                Err(refusal) => refusal,
            };
            Ok((matches!(reply, Reply::Error(_)), to_lua(lua, &reply)?))
        })?;
        let sandbox = lua.load(include_str!("sandbox.lua")).set_name("@sandbox");
        let (environment, enter) = sandbox.call(run_command)?;
        Ok(Self {
            lua,
            environment,
            enter,
            compiled: RefCell::default(),
            current,
        })
    }

    fn compile(&self, digest: &str, source: &[u8]) -> Result<(), Reply> {
        if self.compiled.borrow().contains_key(digest) {
            return Ok(());
        }
        let chunk = self
            .lua
            .load(source)
            .set_name(coverage::CHUNK)
            .set_mode(ChunkMode::Text)
            .set_environment(self.environment.clone());
        match chunk.into_function() {
            Ok(script) => {
                let mut compiled = self.compiled.borrow_mut();
                compiled.insert(digest.to_owned(), script);
                Ok(())
            }
            Err(error) => fail(format!(
                "ERR Error compiling script (new function): {error}"
            )),
        }
    }

    fn run(&self, state: &mut State, digest: &str, keys: &[Bytes], arguments: &[Bytes]) -> Reply {
        let script = self.script(digest);
        let texts = |words: &[Bytes]| {
            let words = words.iter().map(|word| self.lua.create_string(word));
            let words = words.collect::<mlua::Result<Vec<_>>>()?;
            self.lua.create_sequence_from(words)
        };
        let (keys, arguments) = (texts(keys), texts(arguments));
        // The state changes places, so that the function that Lua calls borrows nothing.
        self.current.replace(ScriptRun::new(std::mem::take(state)));
        let outcome = coverage::noting(&self.lua, digest, || {
            self.enter.call((script, keys?, arguments?))
        });
        *state = self.current.take().state;
        match outcome {
            Ok((true, value)) => to_reply(&value),
            Ok((false, value)) => to_error(&value),
            Err::<(bool, LuaValue), _>(error) => panic!("the sandbox itself failed: {error}"),
        }
    }

    fn script(&self, digest: &str) -> Function {
        if !self.compiled.borrow().contains_key(digest) {
            let sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner);
            let source = sources
                .get(digest)
                .expect("a server knows only scripts that compile");
            self.compile(digest, source).expect("it compiled before");
        }
        self.compiled.borrow()[digest].clone()
    }
}
