//! The forms that pages send.

use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;

use super::error::PageError;
use super::sessions;
use super::visitor::Visitor;

/// The fields of a form that one of our pages made for this visitor.
#[derive(Clone, Debug)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// The first value of a field; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn from_fields(fields: Vec<(String, String)>) -> Form {
        Form(fields)
    }

    /// The texts that somebody wrote into it: answers, remarks, reasons.
    pub(super) fn written_texts(&self) -> String {
        const WRITTEN: [&str; 6] = ["n.text", "why", "text", "examples", "en", "zh"];
        let texts =
            self.0.iter().filter(|(name, _)| name.starts_with("f.") || WRITTEN.contains(&name.as_str()));
        let texts: Vec<&str> = texts.map(|(_, text)| text.trim()).filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    /// A text without the blanks at its ends, and with line breaks as texts have them.
    ///
    /// # Errors
    /// [`PageError`] if it is longer than `most` characters: nothing is cut off unsaid.
    pub(super) fn text_within(&self, name: &str, most: usize) -> Result<String, PageError> {
        // Browsers send line breaks as CRLF.
        let text = self.get(name).trim().replace("\r\n", "\n");
        match text.chars().count() {
            count if count > most => {
                let told = format!("at most {most} characters, not {count}");
                Err(PageError::bad_request(told).about(name.to_owned()))
            }
            _ => Ok(text),
        }
    }

    /// Every value of a field.
    pub(super) fn values_of<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = PageError;

    async fn from_request(request: Request, state: &S) -> Result<Form, PageError> {
        // Cloned first, because reading the form consumes the request.
        let visitor = request.extensions().get::<Visitor>().cloned();
        let sent = request.extensions().get::<SentForm>().cloned();
        let fields = axum::extract::Form::<Vec<(String, String)>>::from_request(request, state).await;
        let axum::extract::Form(fields) = fields.map_err(|e| match e.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => PageError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            _ => PageError::bad_request("the form cannot be read"),
        })?;
        let form = Form(fields);
        if let Some(sent) = sent {
            // For a page that shows it again; a request has one form.
            let _ = sent.set(form.clone());
        }
        match visitor {
            Some(visitor) if sessions::is_csrf_token(&visitor.secret, form.get("csrf")) => Ok(form),
            _ => Err(PageError::new(StatusCode::FORBIDDEN, "stale_form")),
        }
    }
}

/// The form of a request, once a route has read it.
pub(super) type SentForm = Arc<OnceLock<Form>>;
