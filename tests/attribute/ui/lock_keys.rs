use lock_runtime::{LockClient, LockKey};

#[derive(LockKey)]
#[lock_key("{<tenant>}:invoice:<number>")]
struct InvoiceKey<'a> {
    tenant: &'a str,
    nummer: u64,
}

#[derive(LockKey)]
#[lock_key("order:<id>")]
struct OrderKey<'a> {
    tenant: &'a str,
    id: u64,
}

#[derive(LockKey)]
#[lock_key("<0>:<2>{1}")]
struct Numbered(u64, u64);

#[derive(LockKey)]
struct NoTemplate(u64);

#[derive(LockKey)]
#[lock_key("a:<0>")]
#[lock_key("b:<0>")]
struct TwoTemplates(u64);

#[derive(LockKey)]
#[lock_key = "a:<0>"]
struct OtherSyntax(u64);

#[derive(LockKey)]
#[lock_key("kind:<0>")]
enum Kind {
    Order(u64),
}

#[derive(LockKey)]
#[lock_key("bits")]
union Bits {
    a: u8,
    b: i8,
}

fn users_still_compile(locks: &LockClient) {
    let _ = locks.lock(InvoiceKey { tenant: "acme", nummer: 7 });
    let _ = locks.lock(&OrderKey { tenant: "acme", id: 7 });
    let _ = locks.lock(NoTemplate(7));
    let _ = locks.lock(OtherSyntax(7));
}

fn main() {}
