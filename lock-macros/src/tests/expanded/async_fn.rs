pub async fn ship(id: u64, order: Order) -> Result<Receipt, ShipError> {
    use ::lock_runtime::__private::v1 as __lock_rt;
    return match {
        let mut __lock_spec = __lock_rt::Spec::new(
            &["ship", "order:<id>"],
            &[__lock_rt::KeyTemplate("order:<id>", "order:<>")],
        );
        __lock_rt::TemplateWriter::part(&mut __lock_spec.writer, &["order:", "id"], &id);
        __lock_rt::set(
            &mut __lock_spec.options.ttl,
            ::core::time::Duration::new(10u64, 0u32),
        );
        __lock_rt::set(
            &mut __lock_spec.options.wait,
            ::core::time::Duration::new(2u64, 0u32),
        );
        __lock_rt::Spec::acquire_installed(__lock_spec)
    } {
        mut __lock_call => {
            let __lock_outcome = match __lock_rt::Call::acquired(&mut __lock_call).await
            {
                ::core::result::Result::Ok(()) => {
                    let __lock_outcome = {
                        let __lock_body = ::core::pin::pin!(
                            ::core::option::Option::Some(async move { if let
                            ::core::option::Option::Some(__lock_output) =
                            ::core::option::Option::None:: < Result < Receipt, ShipError
                            > > { return __lock_output; }; let _ = & order; let _ = & id;
                            let carrier = pick(& order) ?; carrier.ship(order). await })
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
                        ::core::result::Result::Ok(__lock_output) => {
                            use __lock_rt::{NotAResult as _, FutureResult as _};
                            __lock_rt::BodyEnd::returned(
                                (&__lock_rt::BodyResult(__lock_output)).lock_body_failed(),
                            )
                        }
                        ::core::result::Result::Err(_) => __lock_rt::BodyEnd::Dropped,
                    };
                    match __lock_rt::Call::released(
                            &mut __lock_call,
                            __lock_rt::OnLost::Cancel,
                            __lock_ended,
                        )
                        .await
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
                    <Result<
                        Receipt,
                        ShipError,
                    > as __lock_rt::FromLockError<
                        _,
                    >>::from_lock_error(__lock_rt::Returned, __lock_error)
                }
            }
        }
    };
}
