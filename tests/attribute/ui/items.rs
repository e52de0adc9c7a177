use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a")]
struct Order;

trait Shop {
    #[distributed_lock(key = "a")]
    async fn ship(&self) -> Result<(), LockError>;
}

#[distributed_lock(key = "a")]
const fn ship() {}

#[tokio::test]
#[distributed_lock(key = "a")]
async fn below_tokio_test() {}

#[tokio::main]
#[distributed_lock(key = "a")]
async fn below_tokio_main() -> Result<(), LockError> { Ok(()) }

// What `#[wasm_bindgen]` makes of a function below it, with the attributes of that.
#[distributed_lock(key = "order:<id>")]
pub unsafe extern "C" fn __wasm_bindgen_generated_ship(arg0_1: u32) -> u32 { arg0_1 }

#[distributed_lock(key = "a")]
#[distributed_lock(key = "b")]
async fn twice() -> Result<(), LockError> { Ok(()) }

macro_rules! shipping {
    ($id:ident, $key:literal) => {
        #[distributed_lock(key = $key)]
        async fn two_arguments_of_one_name(id: u64, $id: u64) -> Result<(), LockError> { Ok(()) }
    };
}

shipping!(id, "order:<id>");

fn main() {}
