//! Files for what does not fit into memory: private to this process, and gone when it ends.
//!
//! A scratch file has no name: nothing is left behind however the process ends, by SIGKILL, too.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

pub struct Scratch {
    folder: PathBuf,
    /// Past this much resident memory, the seen table and the frontier go to files.
    pub limit_mib: u64,
}

/// A folder for scratch files, as Python gives it to a search.
#[pyclass(frozen)]
pub struct Spill {
    pub inner: Arc<Scratch>,
}

#[pymethods]
impl Spill {
    /// Raises `OSError` if no file can be made in `folder`.
    #[new]
    fn new(folder: PathBuf, memory_mib: u64) -> PyResult<Self> {
        let inner = Arc::new(Scratch::new(folder, memory_mib)?);
        Ok(Spill { inner })
    }
}

impl Scratch {
    /// Make sure that files can be made in `folder`.
    pub fn new(folder: PathBuf, limit_mib: u64) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let scratch = Scratch { folder, limit_mib };
        reserve(&scratch.file()?, 4096)?;
        Ok(scratch)
    }

    /// A new empty file without a name.
    pub fn file(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }
}

/// Would `bytes` more in memory pass this limit?
pub fn passes(limit_mib: u64, bytes: usize) -> bool {
    resident_mib().is_some_and(|used| used + (bytes as u64 >> 20) >= limit_mib)
}

/// Give `file` this size on the disk, not only on paper: writing to a mapped page that finds the
/// disk full would kill the process.
pub fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // SAFETY: a plain call on a descriptor that we own.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// What the process holds in memory now, mapped files included; `None` where that is not told.
#[pyfunction]
pub fn resident_mib() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64 >> 20)
}

/// Bytes of a page, which are 4 KiB on some machines and 64 KiB on others.
pub fn page_size() -> usize {
    // SAFETY: asks for a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size)
        .ok()
        .filter(|&size| size > 0)
        .unwrap_or(4096)
}

/// Give memory that was freed back to the system, where the allocator can be asked to.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn scratch_files_have_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path().to_owned(), 1).unwrap();
        let _file = scratch.file().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
