//! What takes long: without the interpreter's lock, on threads of our own, and ended by Ctrl-C.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use riddlemill_text::join::Watch;

/// How often Ctrl-C is checked.
const HEARD: Duration = Duration::from_millis(50);

/// Whether Ctrl-C was pressed.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

impl Watch for Stop {
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn report_share(&self, _share: f64) {}
}

/// Runs a function on the threads of this process. Other Python threads continue meanwhile; Ctrl-C sets `Stop`,
/// waits for the work to see it, and is raised.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let (tell, done) = mpsc::channel();
        // The interpreter's lock is let go of for what may be shared alone.
        let done = Mutex::new(done);
        let heard = || done.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(HEARD);
        let stop = &stop;
        let worker = scope.spawn(move || {
            let made = pool.install(|| work(stop));
            // Nobody is left to hear it where the work panics.
            let _ = tell.send(());
            made
        });
        let mut raised = Ok(());
        while let Err(mpsc::RecvTimeoutError::Timeout) = py.detach(heard) {
            if let Err(signal) = py.check_signals() {
                stop.0.store(true, Ordering::Relaxed);
                raised = Err(signal);
            }
        }
        let made = py.detach(|| worker.join());
        raised?;
        made.map_err(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message =
                message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a thread panicked");
            PyRuntimeError::new_err(format!(
                "riddlemill failed: {message}\n  hint: this is a bug in riddlemill"
            ))
        })
    })
}

/// The thread pools by process: a forked child has none of its parent's threads and would wait for them forever.
static POOLS: Mutex<BTreeMap<u32, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// As many threads as cores, or the number in `RIDDLEMILL_THREADS` or `RAYON_NUM_THREADS`.
fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::process::id();
    if let Some(pool) = pools.get(&own) {
        return Ok(pool.clone());
    }
    let asked = std::env::var("RIDDLEMILL_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let made = ThreadPoolBuilder::new().num_threads(asked).thread_name(|n| format!("riddlemill-{n}")).build();
    let made = Arc::new(made.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    pools.insert(own, made.clone());
    Ok(made)
}
