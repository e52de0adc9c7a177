fn transfer(&self, from: u64, to: &Account) -> Result<(), LockError> {
    use ::lock_runtime::__private::v1 as __lock_rt;
    return match {
        let mut __lock_spec = __lock_rt::Spec::new(
            &["transfer", "account:<from>, account:<to.id>, …"],
            &[
                __lock_rt::KeyTemplate("account:<from>", "account:<>"),
                __lock_rt::KeyTemplate("account:<to.id>", "account:<>"),
                __lock_rt::KeyTemplate::NONE,
            ],
        );
        __lock_rt::TemplateWriter::part(
            &mut __lock_spec.writer,
            &["account:", "from"],
            &from,
        );
        __lock_rt::Spec::next(&mut __lock_spec);
        __lock_rt::TemplateWriter::part(
            &mut __lock_spec.writer,
            &["account:", "to.id"],
            &to.id,
        );
        __lock_rt::Spec::next(&mut __lock_spec);
        let __lock_key = match (self.ledger_key()) {
            __lock_key => {
                let __lock_is_text = {
                    use __lock_rt::NotText as _;
                    __lock_rt::KeyText(&__lock_key).lock_key_is_text()
                };
                __lock_rt::key(__lock_key, __lock_is_text)
            }
        };
        __lock_rt::Spec::key(&mut __lock_spec, __lock_key);
        let __lock_asked = __lock_rt::Spec::ask(__lock_spec, &(self.locks));
        __lock_rt::Acquire::acquire_blocking(__lock_asked)
    } {
        __lock_acquired => {
            let __lock_outcome = match __lock_acquired {
                ::core::result::Result::Ok(__lock_held) => {
                    let __lock_output = __lock_rt::run_blocking(
                        &__lock_held,
                        move || -> Result<(), LockError> {
                            if let ::core::option::Option::Some(__lock_output) = ::core::option::Option::None::<
                                Result<(), LockError>,
                            > {
                                return __lock_output;
                            }
                            let _ = &to;
                            let _ = &from;
                            let _ = &self;
                            self.book(from, to)
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
                        __lock_rt::OnLost::Cancel,
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
