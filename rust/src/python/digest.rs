//! SHA-256 for files, and signatures by it: what `hashlib` and `hmac` have, without the ciphers of
//! OpenSSL, which take longer to load than a small search.

use hmac::{Hmac, Mac};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

#[pyfunction]
#[pyo3(signature = (content, /))]
pub fn sha256<'py>(py: Python<'py>, content: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &Sha256::digest(content))
}

#[pyfunction]
#[pyo3(signature = (key, content, /))]
pub fn hmac_sha256<'py>(py: Python<'py>, key: &[u8], content: &[u8]) -> Bound<'py, PyBytes> {
    let mut signer = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    signer.update(content);
    PyBytes::new(py, &signer.finalize().into_bytes())
}
