//! Files for what does not fit into memory: private to this process, and gone when it ends.
//!
//! A scratch file loses its name as soon as it is open. So nothing is left behind however the
//! process ends, SIGKILL included. A file that still has a name belongs to a process killed in the
//! instant between the two; the next one to use the folder removes it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;

const PREFIX: &str = "presage-spill-";

pub struct Scratch {
    folder: PathBuf,
    next: AtomicU64,
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
        for entry in fs::read_dir(&folder)?.flatten() {
            if entry.file_name().to_str().is_some_and(is_stale) {
                fs::remove_file(entry.path())?;
            }
        }
        let scratch = Scratch {
            folder,
            next: AtomicU64::new(0),
            limit_mib,
        };
        reserve(&scratch.file()?, 4096)?;
        Ok(scratch)
    }

    /// A new empty file without a name.
    pub fn file(&self) -> io::Result<File> {
        let number = self.next.fetch_add(1, Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let path = self.folder.join(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        fs::remove_file(&path)?;
        Ok(file)
    }
}

/// Would `bytes` more in memory pass this limit?
pub fn passes(limit_mib: u64, bytes: usize) -> bool {
    resident_mib().is_some_and(|used| used + (bytes as u64 >> 20) >= limit_mib)
}

/// Does the name of a scratch file say that its process is gone?
fn is_stale(name: &str) -> bool {
    let process = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split('-').next());
    // SAFETY: signal 0 is never delivered; it only asks whether the process exists.
    process
        .and_then(|number| number.parse().ok())
        .is_some_and(|process| unsafe { libc::kill(process, 0) } != 0)
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
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some((pages * page_size() as u64) >> 20)
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

/// Words as bytes in memory order, for files that only this process reads.
pub fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: any u32 is four valid bytes.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

pub fn bytes_of_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as above, and any four bytes are a valid u32.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

#[cfg(test)]
mod tests {
    use super::{PREFIX, Scratch, is_stale};

    #[test]
    fn scratch_files_have_no_name_and_leftovers_of_dead_processes_are_removed() {
        let folder = std::env::temp_dir().join(format!("presage-scratch-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let dead = folder.join(format!("{PREFIX}{}-0", i32::MAX));
        let living = folder.join(format!("{PREFIX}{}-77", std::process::id()));
        let other = folder.join("notes.txt");
        for path in [&dead, &living, &other] {
            std::fs::write(path, "x").unwrap();
        }
        let scratch = Scratch::new(folder.clone(), 1).unwrap();
        let file = scratch.file().unwrap();
        assert!(!dead.exists() && living.exists() && other.exists());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        drop(file);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(!is_stale("notes.txt"));
    }
}
