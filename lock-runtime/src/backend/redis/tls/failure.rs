//! Why there is no TLS session, in a sentence.
//!
//! What retries do not heal is refused at once, like a wrong password: certificates that one of the
//! two sides does not accept, and sides that have no way to speak to each other. The rest, such
//! as a connection that breaks in the middle, is an outage.

use std::io;

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error};

use crate::backend::wire::error::{Detail, WireError};

/// What a handshake that failed means.
pub(super) fn of_handshake(error: &io::Error) -> WireError {
    match tls_error(error) {
        Some(error) => fault(error),
        None => WireError::unavailable(format!("the TLS handshake failed: {error}")),
    }
}

/// What an error means that came of TLS after the handshake: with TLS 1.3 a server only looks at
/// the client's certificate when the client is through already. `None` if it came of something else.
pub(in crate::backend::redis) fn classify(error: &io::Error) -> Option<WireError> {
    tls_error(error).map(fault)
}

fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn fault(error: &Error) -> WireError {
    let (lasting, reason) = match error {
        Error::InvalidCertificate(problem) => (true, of_certificate(problem)),
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::PeerIncompatible(_) => (true, NOTHING_IN_COMMON.to_owned()),
        Error::InvalidMessage(_) => (true, "the server's port does not speak TLS".to_owned()),
        error => (false, error.to_string()),
    };
    let detail = Detail::from(format!("the TLS handshake failed: {reason}"));
    let detail = detail.caused_by(error.clone());
    if lasting {
        WireError::Refused(detail)
    } else {
        WireError::Unavailable(detail)
    }
}

const NOTHING_IN_COMMON: &str = "the server has no TLS version or cipher that this client accepts";

fn of_certificate(problem: &CertificateError) -> String {
    use CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext,
        NotValidYet, NotValidYetContext, Revoked, UnknownIssuer,
    };
    let reason = match problem {
        // A CA may have the name of a trusted one and another key.
        UnknownIssuer | BadSignature => "was issued by an unknown CA",
        NotValidForName | NotValidForNameContext { .. } => {
            "is for another name than the URL's host"
        }
        Expired | ExpiredContext { .. } => "has expired",
        NotValidYet | NotValidYetContext { .. } => "is not valid yet",
        Revoked => "was revoked",
        other => return format!("the server's certificate cannot be verified, {other}"),
    };
    format!("the server's certificate {reason}")
}

/// Whether it will last, and what it says.
fn of_alert(alert: AlertDescription) -> (bool, String) {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired => (true, "the server asks for a client certificate".to_owned()),
        Alert::AccessDenied
        | Alert::BadCertificate
        | Alert::CertificateExpired
        | Alert::CertificateRevoked
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::UnsupportedCertificate => (
            true,
            format!("the server does not accept the client's certificate ({alert:?})"),
        ),
        Alert::ProtocolVersion | Alert::InsufficientSecurity => {
            (true, NOTHING_IN_COMMON.to_owned())
        }
        Alert::CloseNotify | Alert::InternalError | Alert::UserCanceled => {
            (false, format!("the server broke it off ({alert:?})"))
        }
        alert => (true, format!("the server broke it off ({alert:?})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(error: Error) -> String {
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        match of_handshake(&error) {
            WireError::Refused(detail) => detail.to_string(),
            WireError::Unavailable(detail) => panic!("it is taken for an outage: {detail}"),
        }
    }

    #[test]
    fn a_certificate_that_is_not_accepted_is_a_refusal_that_says_why() {
        for (problem, words) in [
            (CertificateError::UnknownIssuer, "unknown CA"),
            (CertificateError::NotValidForName, "another name"),
            (CertificateError::Expired, "has expired"),
            (CertificateError::NotValidYet, "not valid yet"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::BadSignature, "unknown CA"),
            (CertificateError::InvalidPurpose, "cannot be verified"),
        ] {
            let text = refused(Error::InvalidCertificate(problem));
            assert!(text.contains(words), "{text}");
        }
        let text = refused(Error::AlertReceived(AlertDescription::CertificateRequired));
        assert!(text.ends_with("asks for a client certificate"), "{text}");
        let text = refused(Error::AlertReceived(AlertDescription::UnknownCA));
        assert!(text.contains("the client's certificate"), "{text}");
    }

    #[test]
    fn what_may_pass_is_an_outage() {
        let broken = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert!(matches!(of_handshake(&broken), WireError::Unavailable(_)));
        let internal = Error::AlertReceived(AlertDescription::InternalError);
        assert!(matches!(fault(&internal), WireError::Unavailable(_)));
    }
}
