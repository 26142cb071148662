//! The waiting states of one level: chunks, the newest taken first, in memory or in a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::packed::Packed;
use crate::table::scratch::Scratch;

/// States of a level, back to back.
pub enum Chunk {
    Plain(Vec<u32>),
    Packed(Packed),
}

impl Chunk {
    fn bytes(&self) -> &[u8] {
        match self {
            Chunk::Plain(words) => bytemuck::cast_slice(words),
            Chunk::Packed(packed) => &packed.bytes,
        }
    }

    /// Its words; those that are packed go to `spare`.
    pub fn into_words(self, spare: impl FnOnce() -> Vec<u32>) -> Vec<u32> {
        match self {
            Chunk::Plain(words) => words,
            Chunk::Packed(packed) => {
                let mut words = spare();
                packed.unpack(&mut words);
                words
            }
        }
    }
}

enum Place {
    Held(Chunk),
    /// Where it starts in the file, its bytes there, and if it is packed its words.
    Filed(u64, usize, Option<usize>),
}

#[derive(Default)]
pub struct Level {
    chunks: Vec<Place>,
    file: Option<File>,
    end: u64,
}

impl Level {
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// What all that waits in it takes.
    pub fn bytes(&self) -> usize {
        let bytes = |place: &Place| match place {
            Place::Held(chunk) => chunk.bytes().len(),
            Place::Filed(_, bytes, _) => *bytes,
        };
        self.chunks.iter().map(bytes).sum()
    }

    pub fn push(&mut self, words: Vec<u32>) {
        self.push_chunk(Chunk::Plain(words));
    }

    pub fn push_chunk(&mut self, chunk: Chunk) {
        self.chunks.push(Place::Held(chunk));
    }

    /// The words of the newest chunk; `spare` is filled with them if they are not at hand.
    pub fn pop(&mut self, spare: impl FnOnce() -> Vec<u32>) -> io::Result<Option<Vec<u32>>> {
        let chunk = self.pop_chunk()?;
        Ok(chunk.map(|chunk| chunk.into_words(spare)))
    }

    /// The newest chunk.
    pub fn pop_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let chunk = match self.chunks.pop() {
            None => return Ok(None),
            Some(Place::Held(chunk)) => chunk,
            Some(Place::Filed(at, bytes, packed)) => self.read(at, bytes, packed)?,
        };
        if self.chunks.is_empty() {
            self.end = 0; // the file is written from its beginning again
        }
        Ok(Some(chunk))
    }

    fn read(&self, at: u64, bytes: usize, packed: Option<usize>) -> io::Result<Chunk> {
        let file = self.file.as_ref().expect("a filed chunk has a file");
        if let Some(words) = packed {
            let mut bytes = vec![0; bytes];
            file.read_exact_at(&mut bytes, at)?;
            return Ok(Chunk::Packed(Packed { words, bytes }));
        }
        let mut words = vec![0u32; bytes / size_of::<u32>()];
        file.read_exact_at(bytemuck::cast_slice_mut(&mut words), at)?;
        Ok(Chunk::Plain(words))
    }

    /// Move every chunk that is held in memory to a file. Those are always the newest ones.
    pub fn file(&mut self, scratch: &Scratch) -> io::Result<()> {
        let filed = |place: &Place| matches!(place, Place::Filed(..));
        let first = self.chunks.iter().rposition(filed).map_or(0, |at| at + 1);
        for index in first..self.chunks.len() {
            let Place::Held(chunk) = &self.chunks[index] else {
                continue;
            };
            let file = match &self.file {
                Some(file) => file,
                None => self.file.insert(scratch.file()?),
            };
            file.write_all_at(chunk.bytes(), self.end)?;
            let (bytes, packed) = (
                chunk.bytes().len(),
                match chunk {
                    Chunk::Plain(_) => None,
                    Chunk::Packed(packed) => Some(packed.words),
                },
            );
            self.chunks[index] = Place::Filed(self.end, bytes, packed);
            self.end += bytes as u64;
        }
        Ok(())
    }

    /// Every chunk, the oldest first.
    pub fn each<E: From<io::Error>>(
        &self,
        mut visit: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut buffer = Vec::new();
        for place in &self.chunks {
            let read;
            let chunk = match place {
                Place::Held(chunk) => chunk,
                Place::Filed(at, bytes, packed) => {
                    read = self.read(*at, *bytes, *packed)?;
                    &read
                }
            };
            match chunk {
                Chunk::Plain(words) => visit(words)?,
                Chunk::Packed(packed) => {
                    packed.unpack(&mut buffer);
                    visit(&buffer)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Level};
    use crate::search::packed::Packed;
    use crate::table::scratch::Scratch;

    #[test]
    fn filed_chunks_come_back_in_the_same_order_as_held_ones() {
        let folder = std::env::temp_dir().join(format!("presage-level-{}", std::process::id()));
        let scratch = Scratch::new(folder.clone(), 1).unwrap();
        let (mut level, mut room) = (Level::default(), Vec::new());
        for round in 0..3u32 {
            for number in 0..5 {
                let words = vec![round, number, 7];
                match number {
                    1 | 2 => level.push_chunk(Chunk::Packed(Packed::of(&words, &mut room))),
                    _ => level.push(words),
                }
                if number % 2 == 0 {
                    level.file(&scratch).unwrap();
                }
            }
            let mut seen = Vec::new();
            let visited = level.each(|chunk| {
                seen.push(chunk.to_vec());
                Ok::<_, std::io::Error>(())
            });
            visited.unwrap();
            for number in (0..5).rev() {
                let chunk = level.pop(Vec::new).unwrap().unwrap();
                assert_eq!(chunk, [round, number, 7]);
                assert_eq!(seen.pop().unwrap(), chunk);
            }
            assert!(level.pop(Vec::new).unwrap().is_none());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
