//! What keeps a command from outliving the parent that watches over it.

use pyo3::prelude::*;

/// End this process, at once, when the parent does, whatever ends that one.
#[pyfunction]
pub fn die_with(parent: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: sets one attribute of this process, and reads no memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    }
    #[cfg(not(target_os = "linux"))]
    std::thread::spawn(move || {
        while is_child_of(parent) {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        kill_self();
    });
    if !is_child_of(parent) {
        kill_self(); // it ended before we could ask
    }
}

fn is_child_of(parent: i32) -> bool {
    // SAFETY: always succeeds, and reads no memory of ours.
    unsafe { libc::getppid() == parent }
}

fn kill_self() {
    // SAFETY: ends this process, and nothing else.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}
