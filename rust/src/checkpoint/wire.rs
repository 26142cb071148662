//! The bytes of a checkpoint: numbers, texts and words; then a signature and a digest of it all.
//!
//! The digest tells damage. The signature (HMAC-SHA256 under a key of this user) tells who wrote
//! the file: what it holds leads to classes that are looked up and to calls, so a forged one could
//! run anything. A file written without a key has zeros in its place, which no key gives.
//!
//! Invariant: all numbers are little-endian, so a file may be read on another machine.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use hmac::{Hmac, Mac};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use sha2::Sha256;
use xxhash_rust::xxh3::Xxh3;

use crate::python::stop::stop_requested;

const BUFFER: usize = 1 << 20;
/// Bytes that are read before it is asked again whether a signal came.
const ASK_EVERY: u64 = BUFFER as u64;
const SIGNATURE: usize = 32;
const DIGEST: usize = 8;

type Signer = Hmac<Sha256>;

fn signer(key: Option<&[u8]>) -> Option<Signer> {
    key.and_then(|key| Signer::new_from_slice(key).ok())
}

/// Writes to a file, and digests and signs what it writes.
pub struct Out {
    file: File,
    buffer: Vec<u8>,
    hasher: Xxh3,
    signer: Option<Signer>,
}

impl Out {
    /// `key`: what to sign with.
    pub fn new(file: File, key: Option<&[u8]>) -> Self {
        Out {
            file,
            buffer: Vec::with_capacity(BUFFER),
            hasher: Xxh3::new(),
            signer: signer(key),
        }
    }

    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hasher.update(&self.buffer);
        if let Some(signer) = &mut self.signer {
            signer.update(&self.buffer);
        }
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    pub fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.raw(&[byte])
    }

    pub fn word(&mut self, word: u32) -> io::Result<()> {
        self.raw(&word.to_le_bytes())
    }

    pub fn long(&mut self, long: u64) -> io::Result<()> {
        self.raw(&long.to_le_bytes())
    }

    pub fn count(&mut self, count: usize) -> io::Result<()> {
        self.long(count as u64)
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.count(bytes.len())?;
        self.raw(bytes)
    }

    pub fn words(&mut self, words: &[u32]) -> io::Result<()> {
        self.count(words.len())?;
        words.iter().try_for_each(|&word| self.word(word))
    }

    /// Hand what is buffered to the system; the rest of the work needs no state of the search.
    pub fn pause(&mut self) -> io::Result<()> {
        self.flush()
    }

    /// Write signature and digest, and wait until all of it is on the disk.
    pub fn close(mut self) -> io::Result<()> {
        self.flush()?;
        let signature = match self.signer.take() {
            Some(signer) => signer.finalize().into_bytes().to_vec(),
            None => vec![0; SIGNATURE],
        };
        self.raw(&signature)?;
        self.flush()?;
        self.file.write_all(&self.hasher.digest().to_le_bytes())?;
        self.file.sync_all()
    }
}

/// Reads what `Out` wrote, up to the signature.
pub struct In {
    reader: BufReader<File>,
    left: u64,
    /// Whether the signature was made with the key that was given.
    pub signed: bool,
}

impl In {
    /// Open `path`; an error if its content does not have the digest at its end.
    pub fn open(path: &Path, key: Option<&[u8]>) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(BUFFER, File::open(path)?);
        let total = reader.get_ref().metadata()?.len();
        let end = (SIGNATURE + DIGEST) as u64;
        let left = total.checked_sub(end).ok_or_else(cut_short)?;
        let (mut hasher, mut signer) = (Xxh3::new(), signer(key));
        let mut buffer = vec![0; BUFFER];
        let mut unread = left;
        while unread > 0 {
            let piece = &mut buffer[..BUFFER.min(unread.try_into().unwrap_or(BUFFER))];
            reader.read_exact(piece)?;
            hasher.update(piece);
            if let Some(signer) = &mut signer {
                signer.update(piece);
            }
            unread -= piece.len() as u64;
            if unread > 0 {
                interrupted()?;
            }
        }
        let (mut signature, mut digest) = ([0; SIGNATURE], [0; DIGEST]);
        reader.read_exact(&mut signature)?;
        reader.read_exact(&mut digest)?;
        hasher.update(&signature);
        if u64::from_le_bytes(digest) != hasher.digest() {
            return Err(damaged("its content does not have the digest it ends with"));
        }
        reader.seek(SeekFrom::Start(0))?;
        let signed = signer.is_some_and(|signer| signer.verify_slice(&signature).is_ok());
        Ok(In {
            reader,
            left,
            signed,
        })
    }

    pub fn raw(&mut self, into: &mut [u8]) -> io::Result<()> {
        let left = self
            .left
            .checked_sub(into.len() as u64)
            .ok_or_else(cut_short)?;
        if left / ASK_EVERY != self.left / ASK_EVERY {
            interrupted()?;
        }
        self.left = left;
        self.reader.read_exact(into)
    }

    fn fixed<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.raw(&mut bytes)?;
        Ok(bytes)
    }

    pub fn byte(&mut self) -> io::Result<u8> {
        Ok(self.fixed::<1>()?[0])
    }

    pub fn word(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    pub fn long(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.fixed()?))
    }

    /// How many things follow; each takes a byte at least, so a wrong count exhausts no memory.
    pub fn count(&mut self) -> io::Result<usize> {
        let count = self.long()?;
        if count > self.left {
            return Err(cut_short());
        }
        Ok(count as usize)
    }

    pub fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.count()?];
        self.raw(&mut bytes)?;
        Ok(bytes)
    }

    pub fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| damaged("a name is not text"))
    }

    pub fn words(&mut self) -> io::Result<Vec<u32>> {
        (0..self.count()?).map(|_| self.word()).collect()
    }
}

/// An error that holds Python's own if a signal came, or a stop was requested.
fn interrupted() -> io::Result<()> {
    let checked = Python::try_attach(|py| py.check_signals());
    checked.transpose().map_err(io::Error::other)?;
    match stop_requested() {
        true => Err(io::Error::other(PyKeyboardInterrupt::new_err(()))),
        false => Ok(()),
    }
}

/// Whether reading ended for a signal, not for what the file holds.
pub fn is_interrupt(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<PyErr>())
}

fn cut_short() -> io::Error {
    damaged("it is cut short")
}

pub fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{In, Out};
    use std::fs::File;

    #[test]
    fn what_is_written_is_read_and_any_changed_or_missing_byte_is_noticed() {
        let path = std::env::temp_dir().join(format!("presage-wire-{}", std::process::id()));
        let key = Some(&b"key"[..]);
        let mut out = Out::new(File::create(&path).unwrap(), key);
        out.byte(7).unwrap();
        out.bytes(b"name").unwrap();
        out.words(&[1, 2, u32::MAX]).unwrap();
        out.long(u64::MAX).unwrap();
        out.close().unwrap();
        assert!(!In::open(&path, None).unwrap().signed);
        assert!(!In::open(&path, Some(b"other key")).unwrap().signed);
        let mut file = In::open(&path, key).unwrap();
        assert!(file.signed);
        assert_eq!(file.byte().unwrap(), 7);
        assert_eq!(file.text().unwrap(), "name");
        assert_eq!(file.words().unwrap(), [1, 2, u32::MAX]);
        assert_eq!(file.long().unwrap(), u64::MAX);
        assert!(file.byte().is_err());
        let whole = std::fs::read(&path).unwrap();
        for position in 0..whole.len() {
            let mut changed = whole.clone();
            changed[position] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            assert!(In::open(&path, key).is_err());
            std::fs::write(&path, &whole[..position]).unwrap();
            assert!(In::open(&path, key).is_err());
        }
        std::fs::remove_file(&path).unwrap();
    }
}
