fn ship(id: u64) -> BoxFuture<'static, Result<(), ShipError>> {
    use platform::locks::__private::v1 as __lock_rt;
    Box::pin(async move {
        let __lock_key = {
            let mut __lock_key = __lock_rt::KeyWriter::new();
            __lock_key.text("order:");
            __lock_rt::part(&mut __lock_key, "id", &id);
            __lock_key.finish()
        };
        let __lock_spec = __lock_rt::Spec::new(__lock_key, "ship", "order:<id>");
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
                        ::core::option::Option::None:: < < BoxFuture < 'static, Result <
                        (), ShipError > > as ::core::future::Future > ::Output > { return
                        __lock_output; }; let _ = & id; let carrier = pick(id); carrier
                        .ship(id). await })
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
                <<BoxFuture<
                    'static,
                    Result<(), ShipError>,
                > as ::core::future::Future>::Output as __lock_rt::FromLockError>::from_lock_error(
                    __lock_error,
                )
            }
        }
    })
}
