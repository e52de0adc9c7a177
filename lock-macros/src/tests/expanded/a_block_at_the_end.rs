fn ship(id: u64) -> BoxFuture<'static, Result<(), ShipError>> {
    use platform::locks::__private::v1 as __lock_rt;
    Box::pin(async move {
        let mut __lock_call = {
            let mut __lock_spec = __lock_rt::Spec::new(&["ship", "order:<id>"]);
            __lock_spec.part(&["order:", "id"], &id);
            __lock_spec.acquire_installed()
        };
        let __lock_outcome = match __lock_call.acquired().await {
            ::core::result::Result::Ok(()) => {
                let __lock_outcome = {
                    let __lock_body = ::core::pin::pin!(
                        ::core::option::Option::Some(async move { if let
                        ::core::option::Option::Some(__lock_output) =
                        ::core::option::Option::None:: < < BoxFuture < 'static, Result <
                        (), ShipError > > as ::core::future::Future > ::Output > { return
                        __lock_output; }; let _ = & id; let carrier = pick(id); carrier
                        .ship(id). await })
                    );
                    let __lock_outcome = __lock_call
                        .drive(__lock_rt::OnLost::Cancel, __lock_body)
                        .await;
                    __lock_outcome
                };
                let __lock_ended = match &__lock_outcome {
                    ::core::result::Result::Ok(__lock_output) => {
                        use __lock_rt::NotAResult as _;
                        __lock_rt::Ended::with(
                            __lock_rt::Outcome(__lock_output).failed(),
                        )
                    }
                    ::core::result::Result::Err(_) => __lock_rt::Ended::Dropped,
                };
                match __lock_call.settled(__lock_rt::OnLost::Cancel, __lock_ended).await
                {
                    ::core::result::Result::Ok(()) => __lock_outcome,
                    ::core::result::Result::Err(__lock_error) => {
                        ::core::result::Result::Err(__lock_error)
                    }
                }
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
