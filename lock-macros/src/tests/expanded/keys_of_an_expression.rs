async fn close(accounts: &[Account]) -> Result<(), LockError> {
    use ::lock_runtime::__private::v1 as __lock_rt;
    return match {
        let __lock_keys = match (accounts.iter().map(key_of)) {
            __lock_keys => {
                let __lock_is_text = {
                    use __lock_rt::NotTextList as _;
                    __lock_rt::KeyListText(&__lock_keys).lock_key_list_is_text()
                };
                __lock_rt::key_list(__lock_keys, __lock_is_text)
            }
        };
        let mut __lock_spec = __lock_rt::Spec::several(&["close", "close"], __lock_keys);
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
                            ::core::option::Option::None:: < Result < (), LockError > > {
                            return __lock_output; }; let _ = & accounts; sum(accounts).
                            await })
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
                        (),
                        LockError,
                    > as __lock_rt::FromLockError<
                        _,
                    >>::from_lock_error(__lock_rt::Returned, __lock_error)
                }
            }
        }
    };
}
