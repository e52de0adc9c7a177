use lock_runtime::{LockClient, assert_locked};

fn change(locks: &LockClient, id: u64, tenant: &str) {
    assert_locked!();
    assert_locked!("invoice:<id>:<tenant", client = locks);
    assert_locked!("<tenant><id>", client = locks);
    assert_locked!("invoice:{}", id);
    assert_locked!("invoice:<id>", clint = locks);
    assert_locked!("invoice:<id>", ttl = "10s");
    assert_locked!(read "invoice:<id>");
    assert_locked!(key = "invoice:<id>");
}

fn main() {}
