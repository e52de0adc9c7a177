use lock_runtime::{LockClient, assert_locked};

struct InvoiceKey {
    id: u64,
}

fn change(locks: &LockClient, id: f64, count: u64) {
    assert_locked!("invoice:<id>");
    assert_locked!(InvoiceKey { id: 7 }, client = locks);
    assert_locked!("invoice:<count>", client = count);
}

fn main() {}
