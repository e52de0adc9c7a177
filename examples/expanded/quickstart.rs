//! The quickstart with its attribute expanded: this is all that `#[distributed_lock]` does.
//!
//! ```text
//! cargo run -p lock-examples --example quickstart-expanded
//! ```
//!
//! `ship` builds its key from its arguments and asks the installed client for the lock. Once it is
//! acquired, `drive` polls the body inside its call tree, and drops the body if the lock is lost.
//! `released` releases the lock and reports whether it was held throughout. If the lock was not
//! acquired, or was lost, the return type decides how the caller learns of it. The expansion does
//! nothing more: the locking itself is ordinary code in lock-runtime.
//!
//! Do not use these names in a program: every name with `__` may change with any version. A test of
//! lock-macros writes this file, and shortens the paths of std.

#![allow(clippy::all, unused_imports, reason = "generated code")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lock_runtime::{FencingToken, LockClient, LockError};

const CLERKS: u32 = 4;
const ROUNDS: u32 = 3;
const ORDER: u64 = 42;

/// The result of one shipment.
struct Receipt {
    token: FencingToken,
    /// The number of other clerks of this process that shipped the order at the same time.
    at_the_same_time: u32,
}

/// The business function. It runs under a lock that every process on the same server respects.
#[rustfmt::skip]
async fn ship(id: u64, shipping: &AtomicU32) -> Result<Receipt, LockError> {
    use ::lock_runtime::__private::v1 as __lock_rt;
    return match {
        let mut __lock_spec = __lock_rt::Spec::new(
            &["ship", "order:<id>"],
            &[__lock_rt::KeyTemplate("order:<id>", "order:<>")],
        );
        __lock_rt::TemplateWriter::part(&mut __lock_spec.writer, &["order:", "id"], &id);
        __lock_rt::set(&mut __lock_spec.options.ttl, Duration::new(10u64, 0u32));
        __lock_rt::set(&mut __lock_spec.options.wait, Duration::new(90u64, 0u32));
        __lock_spec.options.fenced = true;
        __lock_rt::Spec::acquire_installed(__lock_spec)
    } {
        mut __lock_call => {
            let __lock_outcome = match __lock_rt::Call::acquired(&mut __lock_call).await
            {
                Ok(()) => {
                    let __lock_outcome = {
                        let token = __lock_rt::Call::token(&__lock_call);
                        let __lock_body = std::pin::pin!(
                            Some(async move {
                                if let Some(__lock_output) = None::<
                                    Result<Receipt, LockError>,
                                > {
                                    return __lock_output;
                                }
                                let _ = &shipping;
                                let _ = &id;
                                let at_the_same_time = shipping
                                    .fetch_add(1, Ordering::SeqCst);
                                tokio::time::sleep(Duration::from_millis(50)).await;
                                shipping.fetch_sub(1, Ordering::SeqCst);
                                Ok(Receipt { token, at_the_same_time })
                            }),
                        );
                        let __lock_outcome = __lock_rt::Call::drive(
                                &__lock_call,
                                __lock_rt::OnLost::Cancel,
                                __lock_body,
                            )
                            .await;
                        __lock_outcome
                    };
                    let __lock_ended = match &__lock_outcome {
                        Ok(__lock_output) => {
                            use __lock_rt::{NotAResult as _, FutureResult as _};
                            __lock_rt::BodyEnd::returned(
                                (&__lock_rt::BodyResult(__lock_output)).lock_body_failed(),
                            )
                        }
                        Err(_) => __lock_rt::BodyEnd::Dropped,
                    };
                    match __lock_rt::Call::released(
                            &mut __lock_call,
                            __lock_rt::OnLost::Cancel,
                            __lock_ended,
                        )
                        .await
                    {
                        Ok(()) => __lock_outcome,
                        Err(__lock_error) => Err(__lock_error),
                    }
                }
                Err(__lock_error) => Err(__lock_error),
            };
            match __lock_outcome {
                Ok(__lock_output) => __lock_output,
                Err(__lock_error) => {
                    <Result<
                        Receipt,
                        LockError,
                    > as __lock_rt::FromLockError<
                        _,
                    >>::from_lock_error(__lock_rt::Returned, __lock_error)
                }
            }
        }
    };
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;
    let place = if url == "memory://" {
        "in memory"
    } else {
        "on the server of LOCK_URL"
    };
    let process = std::process::id();
    println!(
        "Process {process}: {CLERKS} clerks ship order {ORDER} {ROUNDS} times each, {place}.\n"
    );
    println!("  clerk  waited     token");

    let shipping = Arc::new(AtomicU32::new(0));
    let started = Instant::now();
    let mut clerks = Vec::new();
    for clerk in 1..=CLERKS {
        let shipping = shipping.clone();
        clerks.push(tokio::spawn(async move {
            for _ in 0..ROUNDS {
                let asked = Instant::now();
                let receipt = ship(ORDER, &shipping).await?;
                // The body takes 50 ms. The rest is the wait for the other clerks.
                let waited = asked.elapsed().saturating_sub(Duration::from_millis(50));
                println!(
                    "  {clerk:>5}  {:>4} ms  {:>8}",
                    waited.as_millis(),
                    receipt.token
                );
                assert_eq!(
                    receipt.at_the_same_time, 0,
                    "two clerks shipped at the same time"
                );
            }
            Ok::<_, LockError>(())
        }));
    }
    for clerk in clerks {
        clerk.await??;
    }
    let shipped = CLERKS * ROUNDS;
    println!(
        "\n{shipped} times shipped in {} ms, never by two at once.",
        started.elapsed().as_millis()
    );
    Ok(())
}
