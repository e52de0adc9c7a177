fn take(&mut self, sku: &str, _tx: Tx) -> Result<u32, StockError> {
    use ::lock_runtime::__private::v1 as __lock_rt;
    return match {
        let __lock_key = match (format!("stock-{sku}")) {
            __lock_key => {
                let __lock_is_text = {
                    use __lock_rt::NotText as _;
                    __lock_rt::KeyText(&__lock_key).lock_key_is_text()
                };
                __lock_rt::key(__lock_key, __lock_is_text)
            }
        };
        let mut __lock_spec = __lock_rt::Spec::keyed(&["take", "take"], __lock_key);
        __lock_spec.options.fenced = true;
        let __lock_asked = __lock_rt::Spec::ask(__lock_spec, &(self.locks));
        __lock_rt::Acquire::acquire_blocking(__lock_asked)
    } {
        __lock_acquired => {
            let __lock_outcome = match __lock_acquired {
                ::core::result::Result::Ok(__lock_held) => {
                    let lock = &__lock_held;
                    let token = __lock_rt::token(&__lock_held);
                    let __lock_output = __lock_rt::run_blocking(
                        &__lock_held,
                        move || -> Result<u32, StockError> {
                            if let ::core::option::Option::Some(__lock_output) = ::core::option::Option::None::<
                                Result<u32, StockError>,
                            > {
                                return __lock_output;
                            }
                            #[allow(clippy::used_underscore_binding)]
                            let _ = &_tx;
                            let _ = &sku;
                            let _ = &self;
                            self.stock.take(sku, token, lock.remaining())
                        },
                    );
                    let __lock_ended = match &__lock_output {
                        __lock_output => {
                            use __lock_rt::{NotAResult as _, FutureResult as _};
                            __lock_rt::BodyEnd::returned(
                                (&__lock_rt::BodyResult(__lock_output)).lock_body_failed(),
                            )
                        }
                    };
                    match __lock_rt::release_after_blocking(
                        __lock_held,
                        __lock_rt::OnLost::Finish,
                        __lock_ended,
                    ) {
                        ::core::result::Result::Ok(()) => {
                            ::core::result::Result::Ok(__lock_output)
                        }
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
                        u32,
                        StockError,
                    > as __lock_rt::FromLockError<
                        _,
                    >>::from_lock_error(__lock_rt::Returned, __lock_error)
                }
            }
        }
    };
}
