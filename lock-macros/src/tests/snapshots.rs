//! Compares whole expansions with files, so that a change of the expansion shows in a diff.
//!
//! `EXPANDED=write cargo test -p lock-macros` rewrites the files.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;

/// Compares a locked function with `expanded/<name>.rs`.
fn compare(name: &str, args: &str, item: &str) {
    compare_output(name, crate::lock(super::tokens(args), super::tokens(item)));
}

/// Compares an expansion with `expanded/<name>.rs`.
fn compare_output(name: &str, output: TokenStream) {
    let found = prettyplease::unparse(&syn::parse2(output).expect("the expansion parses"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/tests/expanded")
        .join(name)
        .with_extension("rs");
    if std::env::var_os("EXPANDED").is_some_and(|word| word == "write") {
        fs::write(&path, found).expect("the folder can be written to");
        return;
    }
    let expected = fs::read_to_string(&path).expect("the expansion was written once");
    assert_eq!(found, expected, "see {}", path.display());
}

#[test]
fn async_fn_expands_as_recorded() {
    compare(
        "async_fn",
        r#"key = "order:<id>", ttl = "10s", wait = "2s""#,
        r#"pub async fn ship(id: u64, order: Order) -> Result<Receipt, ShipError> {
            let carrier = pick(&order)?;
            carrier.ship(order).await
        }"#,
    );
}

#[test]
fn blocking_fn_expands_as_recorded() {
    compare(
        "blocking_fn",
        r#"key = format!("stock-{sku}"), guard = lock, token = token, client = self.locks, on_lost = "finish""#,
        r#"fn take(&mut self, sku: &str, _tx: Tx) -> Result<u32, StockError> {
            self.stock.take(sku, token, lock.remaining())
        }"#,
    );
}

#[test]
fn skip_when_busy_expands_as_recorded() {
    compare(
        "skip_when_busy",
        r#"key = "nightly", wait = Duration::ZERO, on_busy = "skip", or_else = |error| warn(error)"#,
        "async fn nightly() { clean_up().await }",
    );
}

#[test]
fn several_keys_expand_as_recorded() {
    compare(
        "several_keys",
        r#"keys = ["account:<from>", "account:<to.id>", self.ledger_key()], client = self.locks"#,
        r#"fn transfer(&self, from: u64, to: &Account) -> Result<(), LockError> {
            self.book(from, to)
        }"#,
    );
}

#[test]
fn keys_of_an_expression_expand_as_recorded() {
    compare(
        "keys_of_an_expression",
        r#"keys = accounts.iter().map(key_of)"#,
        "async fn close(accounts: &[Account]) -> Result<(), LockError> { sum(accounts).await }",
    );
}

#[test]
fn tail_block_expands_as_recorded() {
    compare(
        "tail_block",
        r#"key = "order:<id>", crate = platform::locks"#,
        "fn ship(id: u64) -> BoxFuture<'static, Result<(), ShipError>> {
            let carrier = pick(id);
            Box::pin(async move { carrier.ship(id).await })
        }",
    );
}

#[test]
fn async_trait_method_expands_as_recorded() {
    compare(
        "async_trait_method",
        r#"key = "<self.name>:<from>/<note>", client = self.locks"#,
        "fn post<'life0, 'life1, 'async_trait>(&'life0 self, note: &'life1 str, __arg2: (u8, u8))
            -> Pin<Box<dyn Future<Output = Result<(), LedgerError>> + Send + 'async_trait>>
        where 'life0: 'async_trait, 'life1: 'async_trait, Self: 'async_trait {
            Box::pin(async move {
                if let Some(__ret) = None::<Result<(), LedgerError>> { return __ret; }
                let __self = self;
                let (from, to) = { let __arg2 = __arg2; __arg2 };
                let __ret: Result<(), LedgerError> = { __self.book(from, to, note).await };
                __ret
            })
        }",
    );
}

#[test]
fn declared_key_expands_as_recorded() {
    let item = "#[lock_key(\"{<tenant>}:<*number>\")]
        pub struct InvoiceKey<'a, T: Shop> { tenant: T, number: &'a u64, of: PhantomData<T> }";
    compare_output("declared_key", crate::lock_key::derive(super::tokens(item)));
}
