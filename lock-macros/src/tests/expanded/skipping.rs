async fn nightly() {
    use ::lock_runtime::__private::v1 as __lock_rt;
    let __lock_key = {
        let mut __lock_key = __lock_rt::KeyWriter::new();
        __lock_key.text("nightly");
        __lock_key.finish()
    };
    let __lock_spec = __lock_rt::Spec::new(__lock_key, "nightly", "nightly")
        .wait(Duration::ZERO);
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
                    ::core::option::Option::None:: < () > { return __lock_output; };
                    clean_up(). await })
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
            if __lock_error.is_busy() {
                <() as __lock_rt::Skip>::skipped()
            } else {
                __lock_rt::or_else::<(), _>(__lock_error, |error| warn(error))
            }
        }
    }
}
