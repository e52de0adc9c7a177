use lock_runtime::distributed_lock;

// What `#[wasm_bindgen]` makes of a function below it, with the attributes of that.
#[distributed_lock(key = "order:<id>")]
pub unsafe extern "C" fn __wasm_bindgen_generated_ship(arg0_1: u32) -> u32 {
    arg0_1
}

fn main() {}
