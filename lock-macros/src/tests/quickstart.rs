//! Compares the example `quickstart-expanded` with the actual expansion of `quickstart`.
//!
//! `EXPANDED=write cargo test -p lock-macros` rewrites the example.

use std::fs;
use std::path::Path;

use syn::{Item, Meta};

/// The introduction of the expanded example, in place of the quickstart's own.
const HEADER: &str = r#"//! The quickstart with its attribute expanded: this is all that `#[distributed_lock]` does.
//!
//! ```text
//! cargo run -p lock-examples --example quickstart-expanded
//! ```
//!
//! `ship` builds its key from its arguments and asks the installed client for the lock. Once it is
//! acquired, `drive` polls the body inside its call tree, and drops the body if the lock is lost.
//! `released` releases the lock and reports whether it was held throughout. If the lock was not
//! acquired, or was lost, the return type decides how the caller learns of it. The expansion does
//! nothing more: the locking itself is ordinary code in lock-runtime.
//!
//! Do not use these names in a program: every name with `__` may change with any version. A test of
//! lock-macros writes this file, and shortens the paths of std.

#![allow(clippy::all, unused_imports, reason = "generated code")]
"#;

#[test]
fn expanded_quickstart_matches_the_expansion() {
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

/// The expansion of `function` by its attribute.
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

/// Paths that an expansion spells out, so that no name of the program can shadow them, with the shorter
/// form for readers.
const SHORT: [(&str, &str); 4] = [
    (":: core :: result :: Result :: ", ""),
    (":: core :: option :: Option :: ", ""),
    (":: core :: time :: Duration", "Duration"),
    (":: core :: pin :: pin !", PIN),
];

/// A name in place of `pin!` during formatting: prettyplease does not format the inside of a macro call.
const PIN: &str = "pin_macro";
