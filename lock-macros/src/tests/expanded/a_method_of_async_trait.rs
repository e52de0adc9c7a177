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
    use ::lock_runtime::__private::v1 as __lock_rt;
    Box::pin(async move {
        if let Some(__ret) = None::<Result<(), LedgerError>> {
            return __ret;
        }
        let __self = self;
        let (from, to) = {
            let __arg2 = __arg2;
            __arg2
        };
        let __lock_key = {
            let mut __lock_key = __lock_rt::KeyWriter::new();
            __lock_rt::part(&mut __lock_key, "self.name", &__self.name);
            __lock_key.text(":");
            __lock_rt::part(&mut __lock_key, "from", &from);
            __lock_key.text("/");
            __lock_rt::part(&mut __lock_key, "note", &note);
            __lock_key.finish()
        };
        let __lock_spec = __lock_rt::Spec::new(
            __lock_key,
            "post",
            "<self.name>:<from>/<note>",
        );
        let __lock_asked = __lock_spec.on(&(__self.locks));
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
                        ::core::option::Option::None:: < Result < (), LedgerError > > {
                        return __lock_output; }; let _ = & to; let _ = & from; let _ = &
                        note; let _ = & __self; let __ret : Result < (), LedgerError > =
                        { __self.book(from, to, note). await }; __ret })
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
                    (),
                    LedgerError,
                > as __lock_rt::FromLockError>::from_lock_error(__lock_error)
            }
        }
    })
}
