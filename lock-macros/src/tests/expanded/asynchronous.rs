pub async fn ship(id: u64, order: Order) -> Result<Receipt, ShipError> {
    use ::lock_runtime::__private::v1 as __lock_rt;
    let __lock_key = {
        let mut __lock_key = __lock_rt::KeyWriter::new();
        __lock_key.text("order:");
        __lock_rt::part(&mut __lock_key, "id", &id);
        __lock_key.finish()
    };
    let __lock_spec = __lock_rt::Spec::new(__lock_key, "ship", "order:<id>")
        .ttl(::core::time::Duration::new(10u64, 0u32))
        .wait(::core::time::Duration::new(2u64, 0u32));
    let __lock_asked = __lock_spec.on_installed();
    let __lock_acquired = match __lock_asked {
        ::core::result::Result::Ok(__lock_acquire) => __lock_acquire.await,
        ::core::result::Result::Err(__lock_error) => {
            ::core::result::Result::Err(__lock_error)
        }
    };
    let __lock_outcome = match __lock_acquired {
        ::core::result::Result::Ok(__lock_held) => {
            let __lock_outcome = {
                let __lock_body = ::core::pin::pin!(
                    ::core::option::Option::Some(async move { if let
                    ::core::option::Option::Some(__lock_output) =
                    ::core::option::Option::None:: < Result < Receipt, ShipError > > {
                    return __lock_output; }; let _ = & order; let _ = & id; let carrier =
                    pick(& order) ?; carrier.ship(order). await })
                );
                let __lock_outcome = __lock_rt::drive(
                        &__lock_held,
                        __lock_rt::OnLost::Cancel,
                        __lock_body,
                    )
                    .await;
                __lock_outcome
            };
            __lock_rt::settle(
                    __lock_held,
                    __lock_rt::OnLost::Cancel,
                    __lock_outcome,
                    |__lock_output| {
                        use __lock_rt::NotAResult as _;
                        __lock_rt::Outcome(__lock_output).failed()
                    },
                )
                .await
        }
        ::core::result::Result::Err(__lock_error) => {
            ::core::result::Result::Err(__lock_error)
        }
    };
    match __lock_outcome {
        ::core::result::Result::Ok(__lock_output) => __lock_output,
        ::core::result::Result::Err(__lock_error) => {
            <Result<
                Receipt,
                ShipError,
            > as __lock_rt::FromLockError>::from_lock_error(__lock_error)
        }
    }
}
