fn post<'life0, 'life1, 'async_trait>(
    &'life0 self,
    note: &'life1 str,
    __arg2: (u8, u8),
) -> Pin<Box<dyn Future<Output = Result<(), LedgerError>> + Send + 'async_trait>>
where
    'life0: 'async_trait,
    'life1: 'async_trait,
    Self: 'async_trait,
{
    Box::pin(async move {
        use ::lock_runtime::__private::v1 as __lock_rt;
        if let Some(__ret) = None::<Result<(), LedgerError>> {
            return __ret;
        }
        let __self = self;
        let (from, to) = {
            let __arg2 = __arg2;
            __arg2
        };
        return match {
            let mut __lock_spec = __lock_rt::Spec::new(
                &["post", "<self.name>:<from>/<note>"],
                &[__lock_rt::KeyTemplate("<self.name>:<from>/<note>", "<>:<>/<>")],
            );
            __lock_rt::TemplateWriter::part(
                &mut __lock_spec.writer,
                &["", "self.name"],
                &__self.name,
            );
            __lock_rt::TemplateWriter::part(
                &mut __lock_spec.writer,
                &[":", "from"],
                &from,
            );
            __lock_rt::TemplateWriter::part(
                &mut __lock_spec.writer,
                &["/", "note"],
                &note,
            );
            let __lock_call = __lock_rt::Spec::acquire(__lock_spec, &(__self.locks));
            __lock_call
        } {
            mut __lock_call => {
                let __lock_outcome = match __lock_rt::Call::acquired(&mut __lock_call)
                    .await
                {
                    ::core::result::Result::Ok(()) => {
                        let __lock_outcome = {
                            let __lock_body = ::core::pin::pin!(
                                ::core::option::Option::Some(async move { if let
                                ::core::option::Option::Some(__lock_output) =
                                ::core::option::Option::None:: < Result < (), LedgerError >
                                > { return __lock_output; }; let _ = & to; let _ = & from;
                                let _ = & note; let _ = & __self; let __ret : Result < (),
                                LedgerError > = { __self.book(from, to, note). await };
                                __ret })
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
                            LedgerError,
                        > as __lock_rt::FromLockError<
                            _,
                        >>::from_lock_error(__lock_rt::Returned, __lock_error)
                    }
                }
            }
        };
    })
}
