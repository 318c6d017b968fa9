//! Shares of the threads that read files and make pages, by kind of page.
//!
//! A page of the audit may read a whole stage, and a few visitors who open such pages would occupy every
//! thread: then nobody could vote. So pages of the audit wait for a share of the threads, and the others are
//! always free for people at work. Waiting for a share is no work: it is not part of the time limit of a page,
//! and a visitor who leaves the queue leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Threads that read files and render pages. More would be no faster, and each keeps memory that it once
/// used.
pub(super) const READERS: usize = 4;
/// Threads that only people at work use.
const KEPT_FREE: usize = 2;
/// How long a page waits for its share.
const QUEUE: Duration = Duration::from_secs(120);

tokio::task_local! {
    /// The share of the request that is being answered.
    static SHARE: Option<Arc<OwnedSemaphorePermit>>;
}

/// The threads for heavy pages.
pub(super) struct HeavyThreads(Arc<Semaphore>);

impl Default for HeavyThreads {
    fn default() -> HeavyThreads {
        HeavyThreads(Arc::new(Semaphore::new(READERS - KEPT_FREE)))
    }
}

/// Too many others wait.
pub(super) struct Full;

impl HeavyThreads {
    /// Answers a request once it has its share.
    pub(super) async fn answer_request<T>(
        &self,
        uri: &Uri,
        answer: impl Future<Output = T>,
    ) -> Result<T, Full> {
        let share = match is_heavy(uri.path()) {
            false => None,
            true => match tokio::time::timeout(QUEUE, self.0.clone().acquire_owned()).await {
                Ok(Ok(share)) => Some(Arc::new(share)),
                Ok(Err(_)) | Err(_) => return Err(Full),
            },
        };
        Ok(SHARE.scope(share, answer).await)
    }
}

/// The share of this request, for a thread that works for it.
pub(super) fn own_share() -> Option<Arc<OwnedSemaphorePermit>> {
    SHARE.try_with(Clone::clone).ok().flatten()
}

/// Whether a page may read a whole stage or release. The pages of people at work, and those that follow a run,
/// do not.
fn is_heavy(path: &str) -> bool {
    let light = ["/review", "/login", "/logout", "/join/", "/assets/", "/health", "/people", "/run/events"];
    path != "/run" && !light.iter().any(|light| path.starts_with(light))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn heavy_pages_leave_threads_for_people_at_work() {
        let shares = Arc::new(HeavyThreads::default());
        let uri: Uri = "/flub/stage/clean".parse().unwrap();
        let (begun, mut seen) = tokio::sync::mpsc::unbounded_channel();
        let (end, ends) = tokio::sync::watch::channel(false);
        let mut pages = Vec::new();
        for _ in 0..25 {
            let (shares, uri, begun, mut ends) = (shares.clone(), uri.clone(), begun.clone(), ends.clone());
            pages.push(tokio::spawn(async move {
                let page = async {
                    begun.send(own_share().is_some()).unwrap();
                    ends.wait_for(|end| *end).await.unwrap();
                };
                shares.answer_request(&uri, page).await.is_ok()
            }));
        }
        for _ in 0..READERS - KEPT_FREE {
            assert!(seen.recv().await.unwrap(), "it holds its share");
        }
        tokio::task::yield_now().await;
        assert!(seen.try_recv().is_err(), "others wait");
        let ballot: Uri = "/review/flub/type/vote".parse().unwrap();
        assert!(shares.answer_request(&ballot, async { own_share().is_none() }).await.is_ok_and(|free| free));
        end.send(true).unwrap();
        for page in pages {
            assert!(page.await.unwrap());
        }
    }
}
