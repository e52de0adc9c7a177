//! The attribute as a whole, on tokens: its output after a mistake, and the order of the parts in a
//! correct output. The workspace's tests check what the output does at run time.

mod quickstart;
mod snapshots;

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

fn expanded(args: &str, item: &str) -> String {
    super::lock(tokens(args), tokens(item)).to_string()
}

/// The messages of all `compile_error!`s in the output.
fn errors(args: &str, item: &str) -> Vec<String> {
    messages(&expanded(args, item))
}

/// The messages of all `compile_error!`s in `output`.
pub(crate) fn messages(output: &str) -> Vec<String> {
    let items = syn::parse_str::<syn::File>(output).unwrap().items;
    items
        .into_iter()
        .filter_map(|item| match item {
            syn::Item::Macro(item) => Some(item.mac.parse_body::<syn::LitStr>().unwrap().value()),
            _ => None,
        })
        .collect()
}

#[test]
fn function_with_a_mistake_is_emitted_unlocked() {
    let function = "pub async fn f (id : u64) -> u8 { id . }";
    let output = expanded("key = \"\"", function);
    let used = function.replace("{ id", "{ let _ = & id ; id");
    assert!(output.starts_with(&used), "{output}");
    assert_eq!(output.matches("compile_error").count(), 1);
}

#[test]
fn guard_and_token_are_defined_despite_a_mistake() {
    let output = expanded("key = \"\", token = number", "fn f() -> R { number }");
    let named = "let number = :: lock_runtime :: __private :: v1 :: absent_token () ; let _ = number ; number";
    assert!(output.contains(named), "{output}");
    let output = expanded("key = \"\", guard = held", "fn f() -> R { held.key() }");
    let named = "let held = :: lock_runtime :: __private :: v1 :: absent_guard () ; let _ = held ; held . key ()";
    assert!(output.contains(named), "{output}");
}

#[test]
fn half_typed_body_is_kept_unchanged() {
    for statements in [
        "let x = order .",
        "if id { ship ( ) } else",
        "match id { 0 =>",
    ] {
        let closed = statements.matches('{').count() - statements.matches('}').count();
        let body = format!("{statements} {}", "}".repeat(closed));
        let output = expanded(
            "key = \"<id>\"",
            &format!("async fn f(id: u64) -> R {{ {body} }}"),
        );
        let expected = tokens(&body).to_string();
        assert!(output.contains(&expected), "{expected}: {output}");
        assert!(!output.contains("compile_error"), "{output}");
    }
}

/// An editor expands the attribute as it is and with a name at the cursor, and looks up in the first what it finds in the
/// second, at the same place.
#[test]
fn half_typed_value_is_expanded_like_a_whole_one() {
    for (before, after) in [
        ("key = \"a\", client = locks.", ""),
        ("key = \"a\", client = self.of(tenant).", ", wait = \"1s\""),
        ("key = \"a\", ttl = Duration::", ""),
        ("key = \"a\", wait = limits.", ", mode = \"read\""),
        ("key = \"a\", permits = limits.of(&self.", ")"),
        ("key = \"a\", or_else = |error| error.", ""),
        ("key = \"a\", or_else = Self::", ""),
        ("key = self.", ""),
        ("key = Order::", ""),
        ("keys = self.", ""),
        ("keys = [\"a:<id>\", self.", "]"),
    ] {
        let function = "async fn f(&self, id: u64) -> R { ship() }";
        let whole = expanded(&format!("{before}cursor{after}"), function);
        let typed = expanded(&format!("{before}{after}"), function);
        let (up_to_the_name, _) = whole.split_once("cursor").unwrap();
        assert!(
            typed.starts_with(up_to_the_name.trim_end()),
            "{before}: {typed}\n{up_to_the_name}"
        );
        assert!(!typed.contains("compile_error"), "{typed}");
    }
}

#[test]
fn mistakes_of_all_kinds_are_reported_together() {
    let found = errors(
        r#"key = "o:<oid>", ttl = 10, on_busy = "skp", on_lost = "abort", guard = id, renew = 1"#,
        "const fn f(order_id: u64, id: u8) {}",
    );
    let starts: Vec<_> = found
        .iter()
        .map(|message| message.split(['\n', ';', ':']).next().unwrap())
        .collect();
    assert_eq!(
        starts,
        [
            "a `const fn` cannot take a lock",
            "no argument named `oid`",
            "`ttl` needs a unit",
            "`renew` must be `true` or `false`",
            "`on_busy` must be `\"error\"` or `\"skip\"`",
            "`on_lost` must be `\"cancel\"` or `\"finish\"`",
            "an argument is already named `id`",
        ]
    );
}

#[test]
fn option_that_does_not_fit_the_others_is_refused_with_the_way_out() {
    for (args, message) in [
        (
            r#"keys = ["a", "b"], retain = "1s""#,
            "a lease of several locks is never retained: leave `retain` out",
        ),
        (
            r#"key = "a", guard = id"#,
            "an argument is already named `id`; give the guard another name",
        ),
    ] {
        assert_eq!(errors(args, "fn f(id: u64) -> R { id }"), [message]);
    }
}

#[test]
fn second_attribute_is_refused() {
    let output = expanded(
        "key = \"a\"",
        "#[lock_runtime::distributed_lock(key = \"b\")] #[doc = \"kept\"] fn f() {}",
    );
    assert!(output.contains("is applied twice"), "{output}");
    assert!(
        !output.contains("\"b\""),
        "the second attribute would be expanded as well: {output}"
    );
    assert!(output.contains("kept"));
}

#[test]
fn item_other_than_function_is_refused() {
    assert_eq!(
        errors("key = \"a\"", "struct S;"),
        ["`#[distributed_lock]` goes on a function"]
    );
}

#[test]
fn mode_adds_one_statement() {
    let spec = |args: &str| {
        let output = expanded(args, "fn f() -> Result<(), E> {}");
        let spec = output.split_once("__lock_spec = ").unwrap().1;
        let spec = spec.split_once("; __lock_rt :: Spec :: acquire").unwrap().0;
        spec.split(';')
            .map(|part| part.trim().to_owned())
            .skip(2)
            .collect::<Vec<_>>()
    };
    for (mode, statements) in [
        ("", &[][..]),
        (
            ", mode = \"read\"",
            &[("mode", "__lock_rt :: Access :: Read")],
        ),
        (
            ", mode = \"write\"",
            &[("mode", "__lock_rt :: Access :: Write")],
        ),
        (
            ", permits = 0x5, take = f()",
            &[("permits", "5u32"), ("take", "f ()")],
        ),
        (", runs = 20", &[("runs", "20u32")]),
    ] {
        let set = |(field, value): &(_, _)| {
            format!("__lock_rt :: set (& mut __lock_spec . options . {field} , {value})")
        };
        let statements: Vec<String> = statements.iter().map(set).collect();
        assert_eq!(spec(&format!("key = \"a\"{mode}")), statements);
    }
}

#[test]
fn label_of_several_keys_has_no_values() {
    for (keys, label) in [
        (r#"["a:<id>", "b"]"#, "a:<id>, b"),
        (r#"["a:<id>"]"#, "a:<id>"),
        (r#"["a:<id>", f(id)]"#, "a:<id>, …"),
        ("[f(id), g(id)]", "close"),
        ("f(id)", "close"),
    ] {
        let output = expanded(
            &format!("keys = {keys}"),
            "fn close(id: u64) -> Result<(), E> {}",
        );
        let names = format!("& [\"close\" , \"{label}\"]");
        assert!(output.contains(&names), "{names}: {output}");
    }
}

#[test]
fn keys_that_are_moved_are_not_captured() {
    let captures = |keys: &str| {
        let item = "fn f(from: String, to: String) -> R { to }";
        let output = expanded(&format!("keys = {keys}"), item);
        ["from", "to"].map(|name| output.contains(&format!("let _ = & {name} ;")))
    };
    assert_eq!(captures("[from, &to]"), [false, true]);
    assert_eq!(captures("[&from, &to]"), [true, true]);
    assert_eq!(captures(r#"["<from>", "<to>"]"#), [true, true]);
}

#[test]
fn wrong_key_and_wrong_mode_are_both_reported() {
    let found = errors(
        r#"keys = ["<id>", "<ids>"], mode = "read""#,
        "fn f(id: u64) {}",
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("no argument named `ids`"), "{found:?}");
    assert_eq!(
        found[1],
        "`keys` are locked exclusively; `mode` and `permits` are for one key"
    );
}

#[test]
fn arguments_are_moved_into_the_body() {
    let output = expanded(
        "key = \"<id>\"",
        "fn f(id: u64, used: T, _tx: Tx, unused: T, #[cfg(windows)] used2: T) -> R { used; used2 }",
    );
    for moved in ["id", "used", "_tx", "used2"] {
        assert!(
            output.contains(&format!("let _ = & {moved} ;")),
            "{moved}: {output}"
        );
    }
    assert!(
        !output.contains("& unused"),
        "its lint would be lost: {output}"
    );
    assert!(output.contains("# [cfg (windows)] let _ = & used2"));
}

#[test]
fn expansion_names_only_the_runtime_crate() {
    let output = expanded("key = \"a\", crate = my::locks", "fn f() -> R {}");
    assert!(output.contains("use my :: locks :: __private :: v1 as __lock_rt"));
    assert!(!output.contains("lock_runtime"));
    assert!(
        expanded("key = \"a\"", "fn f() -> R {}").contains(":: lock_runtime :: __private :: v1")
    );
}

/// Constants, statics and unit structs have no hygiene: a variable of their name would be a pattern.
/// The names of variables in a text of tokens: a variable is bound by `let`, `mut` or a closure's bars, or is followed by
/// its value, its arm or its type.
fn variables(output: &str) -> BTreeSet<&str> {
    let words = output.split([' ', '(', ')']);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let variables = words.windows(3).filter_map(|words| match *words {
        ["let" | "mut", name, _] if name != "mut" => Some(name),
        ["|", name, "|" | ","] => Some(name),
        [before, name, "=" | "=>"] if before != "." => Some(name),
        [_, name, ":"] => Some(name),
        _ => None,
    });
    variables
        .filter(|name| name.starts_with(char::is_lowercase))
        .collect()
}

#[test]
fn generated_variables_have_the_prefix() {
    let list = r#"keys = ["<id>", other()], guard = held, token = token, on_busy = "skip", or_else = fallback"#;
    let one = "key = other(id), client = locks(), guard = held, token = token";
    for args in [list, one] {
        for function in [
            "async fn f(id: u64) -> R { g(held, token) }",
            "fn f(mut id: u64) -> R { id = 1; g(held, token) }",
            "fn f(id: u64) -> impl Future<Output = R> { async move { g(held, token) } }",
            "fn f(id: u64) -> impl Fn(&Order) -> u8 { g(token); |held| held.id }",
        ] {
            let output = expanded(args, function);
            assert!(!output.contains("compile_error"), "{output}");
            for name in variables(&output) {
                assert!(["id", "held", "token"].contains(&name), "{name}: {output}");
            }
        }
    }
}

#[test]
fn statement_before_a_future_runs_under_the_lock() {
    let output = expanded(
        "key = \"a\"",
        "fn f() -> impl Future<Output = R> { charge(); async move { ship() } }",
    );
    let acquire = output.find("acquired (& mut __lock_call) . await").unwrap();
    assert!(acquire < output.find("charge ()").unwrap(), "{output}");
}

#[test]
fn block_needs_nothing_from_before_it() {
    let function = |before: &str| {
        let item = format!("fn f(n: N) -> R {{ {before} Box::pin(async move {{ ship() }}) }}");
        let output = expanded("key = \"a\"", &item);
        let (before, block) = output.split_once("async move").unwrap();
        (before.to_owned(), block.to_owned())
    };
    let (before, _) = function("charge();");
    assert_eq!(
        before,
        "fn f (n : N) -> R { const _ : () = () ; Box :: pin ("
    );
    let (before, _) = function("");
    assert_eq!(before, "fn f (n : N) -> R { Box :: pin (");
    // The block is refused without the copies.
    let (before, block) = function("let n = n.clone(); charge();");
    let marked = "let n = n . clone () ; let drop = :: lock_runtime :: __private :: v1 :: Copies ;";
    assert!(before.contains(marked), "{before}");
    assert!(block.contains("copies_survive (drop)"), "{block}");
}

#[test]
fn self_is_renamed_in_an_async_trait_body() {
    const BODY: &str =
        "fn f<'async_trait>(&self) -> Pin<Box<dyn Future<Output = R> + 'async_trait>> {
        Box::pin(async move { let __self = self; let __ret: R = { __self.go() }; __ret })
    }";
    for keys in [
        "[\"<self.id>\", self.other()]",
        "([self.other(), (\"<self.id>\")])",
    ] {
        let output = expanded(&format!("keys = {keys}"), BODY);
        let written = "part (& mut __lock_spec . writer , & [\"\" , \"self.id\"] , & __self . id)";
        assert!(output.contains(written), "{output}");
        assert!(output.contains("__self . other ()"), "{output}");
    }
    let output = expanded(
        "key = \"<self.id>\", client = self.locks, ttl = \"1s\", permits = self.limit",
        BODY,
    );
    for field in ["& __self . id", "__self . locks", "__self . limit"] {
        assert!(output.contains(field), "{field}: {output}");
    }
    let prelude = output.find("let __self = self").unwrap();
    assert!(prelude < output.find("__self . id").unwrap());
}
