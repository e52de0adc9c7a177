#!/usr/bin/env bash
# tests/bench/attribute.sh
#
# Prints what the attribute costs the crate that uses it, beside the same functions with
# `#[tracing::instrument]` and with none: time to check, lines of expanded code, code in a release
# build, and the size of the futures. Makes its crates in a temporary folder and builds all they
# need there, once. Times depend on the machine, so nothing is asserted.
#
# RUSTC_BOOTSTRAP lets the stable compiler print expanded code. Build scripts look at it, hence the
# folder of its own: nothing that is timed or run was built with it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
functions=200
runs=5

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR="$work/target"
cd "$work"
cp "$root/Cargo.lock" .

attribute() { # variant
    case $1 in
    plain) ;;
    instrumented) echo '#[tracing::instrument]' ;;
    locked) echo '#[lock_runtime::distributed_lock(key = "order:<order.id>:<tenant>", ttl = "10s", wait = "2s")]' ;;
    esac
}

# A library of so many functions, and a table of them that keeps their code in a program.
library() { # variant count
    cat <<'RUST'
use std::pin::Pin;

#[derive(Debug)]
pub struct Order<const SIZE: usize> {
    pub id: u64,
    pub lines: [u8; SIZE],
}

pub type Answer = Result<u64, lock_runtime::LockError>;
pub type Call = fn(Order<64>) -> Pin<Box<dyn Future<Output = Answer> + Send>>;
RUST
    for n in $(seq "$2"); do
        attribute "$1"
        cat <<RUST
pub async fn ship_$n(order: Order<64>, tenant: &str) -> Answer {
    tokio::task::yield_now().await;
    Ok(order.id + tenant.len() as u64 + $n)
}
RUST
    done
    attribute "$1"
    cat <<'RUST'
pub async fn large(order: Order<2048>, tenant: &str) -> Answer {
    tokio::task::yield_now().await;
    Ok(order.id + tenant.len() as u64 + u64::from(order.lines[7]))
}
RUST
    echo 'pub static CALLS: &[Call] = &['
    for n in $(seq "$2"); do echo "    |order| Box::pin(ship_$n(order, \"tenant\")),"; done
    echo '];'
}

crate() { # name variant count
    mkdir -p "$1/src"
    cat >"$1/Cargo.toml" <<TOML
[package]
name = "$1"
edition = "2024"

[dependencies]
lock-runtime = { path = "$root/lock-runtime" }
tokio = { version = "1", features = ["rt"] }
tracing = { version = "0.1", features = ["attributes"] }
TOML
    library "$2" "$3" >"$1/src/lib.rs"
    cat >"$1/src/main.rs" <<RUST
use $1::*;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it starts");
    for call in CALLS.iter().take(std::env::args().count() - 1) {
        println!("{:?}", runtime.block_on(call(Order { id: 1, lines: [0; 64] })));
    }
    let small = size_of_val(&ship_1(Order { id: 1, lines: [0; 64] }, "tenant"));
    let large = size_of_val(&large(Order { id: 1, lines: [0; 2048] }, "tenant"));
    println!("{small} {large}");
}
RUST
}

median_check() { # crate: milliseconds
    cargo check -q -p "$1" --lib
    for _ in $(seq "$runs"); do
        touch "$1/src/lib.rs"
        start=$(date +%s%N)
        cargo check -q -p "$1" --lib
        echo $((($(date +%s%N) - start) / 1000000))
    done | sort -n | sed -n "$(((runs + 1) / 2))p"
}

expanded() { # crate: lines
    RUSTC_BOOTSTRAP=1 cargo rustc -q --target-dir expanded -p "$1" --lib --profile check -- \
        -Zunpretty=expanded | wc -l
}

text() { # crate: bytes of code
    cargo build -q --release -p "$1" --bin "$1"
    size -A "$CARGO_TARGET_DIR/release/$1" | awk '$1 == ".text" { print $2 }'
}

row() { printf '| %-38s | %8s | %12s | %8s |\n' "$@"; }

variants=(plain instrumented locked)
for variant in "${variants[@]}"; do
    crate "$variant" "$variant" "$functions"
    crate "${variant}_one" "$variant" 1
done
printf '[workspace]\nresolver = "3"\nmembers = ["*"]\nexclude = ["target", "expanded"]\n' >Cargo.toml

check=() lines=() code=() small=() large=()
for variant in "${variants[@]}"; do
    check+=("$(median_check "$variant")")
    lines+=($((($(expanded "$variant") - $(expanded "${variant}_one")) / (functions - 1))))
    many=$(text "$variant")
    code+=($(((many - $(text "${variant}_one")) / (functions - 1))))
    read -r bytes more <<<"$("$CARGO_TARGET_DIR/release/$variant")"
    small+=("$bytes")
    large+=("$more")
done

row figure "${variants[@]}"
row --- --- --- ---
row "cargo check of $functions functions, ms" "${check[@]}"
row 'lines of expanded code a function' "${lines[@]}"
row 'code of a function in release, bytes' "${code[@]}"
row 'future with 88 bytes of arguments' "${small[@]}"
row 'future with 2072 bytes of arguments' "${large[@]}"
