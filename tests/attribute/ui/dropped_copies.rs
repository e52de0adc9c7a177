// What is left of a locked function if an attribute below, such as `fastrace::trace`, drops the statements before its block.

use lock_runtime::LockError;

fn ship(id: u64) -> impl Future<Output = Result<u64, LockError>> {
    // let id = id.clone();
    // let drop = lock_runtime::__private::v1::Copies;
    async move {
        use lock_runtime::__private::v1 as __lock_rt;
        __lock_rt::copies_survive(drop);
        Ok(id)
    }
}

fn main() {}
