use lock_runtime::assert_locked;

fn change(count: u64) {
    assert_locked!("invoice:<cuont>");
    assert_locked!("invoice:<self.id>");
}

fn main() {}
