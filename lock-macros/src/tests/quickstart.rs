//! The quickstart as the compiler sees it, for people: an example that is kept true here.
//!
//! `EXPANDED=write cargo test -p lock-macros` writes it anew.

use std::fs;
use std::path::Path;

use syn::{Item, Meta};

/// What stands above the program instead of its own introduction.
const HEADER: &str = r#"//! The quickstart with its attribute expanded: this is all that `#[distributed_lock]` does.
//!
//! ```text
//! cargo run -p lock-examples --example quickstart-expanded
//! ```
//!
//! `ship` builds its key from its arguments and asks the installed client for the lock. If it is had,
//! the body is driven under it: `drive` polls the body inside its call tree and drops it when the
//! lock is lost, and `settled` gives the lock back and says whether it was held throughout. If it is
//! not had, or was lost, the return type says how to tell. Nothing else happens here; how locks
//! work is ordinary code in lock-runtime.
//!
//! A program names none of this: everything called `__` may change with any version. This file is
//! written by a test of lock-macros, which shortens the paths of std.

#![allow(clippy::all, unused_imports, reason = "generated code is as it is")]
"#;

#[test]
fn the_expanded_quickstart_is_what_the_attribute_makes_of_it() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let source = examples.join("examples/quickstart.rs");
    let found = expand(&fs::read_to_string(source).expect("the example is there"));
    let path = examples.join("expanded/quickstart.rs");
    if std::env::var_os("EXPANDED").is_some_and(|word| word == "write") {
        fs::write(&path, found).expect("the folder can be written to");
        return;
    }
    let expected = fs::read_to_string(&path).expect("the example was written once");
    assert_eq!(found, expected, "see {}", path.display());
}

/// The program with another header, and its locked function expanded.
fn expand(source: &str) -> String {
    let program = source
        .trim_start_matches(|c| c != '\n')
        .split_once("\n\nuse ");
    let (_, program) = program.expect("an introduction comes before the imports");
    let start = program
        .find("#[distributed_lock")
        .expect("a function is locked");
    let length = program[start..].find("\n}\n").expect("it ends") + "\n}\n".len();
    let (before, rest) = program.split_at(start);
    let (locked, after) = rest.split_at(length);
    let before = before.replace(", distributed_lock}", "}");
    let expansion = expansion(locked);
    format!("{HEADER}\nuse {before}#[rustfmt::skip]\n{expansion}{after}")
}

/// What the attribute of `function` makes of it.
fn expansion(function: &str) -> String {
    let Ok(Item::Fn(mut function)) = syn::parse_str(function) else {
        panic!("it is a function: {function}");
    };
    let Meta::List(attribute) = function.attrs.remove(0).meta else {
        panic!("the attribute has arguments");
    };
    let function = quote::quote!(#function);
    let output = crate::lock(attribute.tokens, function).to_string();
    let short = SHORT
        .iter()
        .fold(output, |text, (long, short)| text.replace(long, short));
    let file = syn::parse_str(&short).expect("the expansion parses");
    prettyplease::unparse(&file).replace(PIN, "std::pin::pin!")
}

/// Paths that are spelt out in an expansion, so that nothing of the program's can shadow them, and
/// that would be in a reader's way.
const SHORT: [(&str, &str); 4] = [
    (":: core :: result :: Result :: ", ""),
    (":: core :: option :: Option :: ", ""),
    (":: core :: time :: Duration", "Duration"),
    (":: core :: pin :: pin !", PIN),
];

/// Stands for the macro while the text is laid out: what is inside a macro would not be.
const PIN: &str = "pin_macro";
