//! The waiting states of one level: chunks, the newest taken first, in memory or in a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::table::scratch::Scratch;

enum Chunk {
    Held(Vec<u32>),
    /// Where it starts in the file, and its number of words.
    Filed(u64, usize),
}

#[derive(Default)]
pub struct Level {
    chunks: Vec<Chunk>,
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

    /// How many words wait in it.
    pub fn words(&self) -> usize {
        let words = |chunk: &Chunk| match chunk {
            Chunk::Held(chunk) => chunk.len(),
            Chunk::Filed(_, words) => *words,
        };
        self.chunks.iter().map(words).sum()
    }

    pub fn push(&mut self, chunk: Vec<u32>) {
        self.chunks.push(Chunk::Held(chunk));
    }

    /// The newest chunk; `spare` is filled with it if it has to be read.
    pub fn pop(&mut self, spare: impl FnOnce() -> Vec<u32>) -> io::Result<Option<Vec<u32>>> {
        let chunk = match self.chunks.pop() {
            None => return Ok(None),
            Some(Chunk::Held(chunk)) => chunk,
            Some(Chunk::Filed(at, words)) => {
                let mut chunk = spare();
                self.read(at, words, &mut chunk)?;
                chunk
            }
        };
        if self.chunks.is_empty() {
            self.end = 0; // the file is written from its beginning again
        }
        Ok(Some(chunk))
    }

    fn read(&self, at: u64, words: usize, into: &mut Vec<u32>) -> io::Result<()> {
        into.clear();
        into.resize(words, 0);
        let file = self.file.as_ref().expect("a filed chunk has a file");
        file.read_exact_at(bytemuck::cast_slice_mut(into), at)
    }

    /// Move every chunk that is held in memory to a file. Those are always the newest ones.
    pub fn file(&mut self, scratch: &Scratch) -> io::Result<()> {
        let filed = |chunk: &Chunk| matches!(chunk, Chunk::Filed(..));
        let first = self.chunks.iter().rposition(filed).map_or(0, |at| at + 1);
        for index in first..self.chunks.len() {
            let Chunk::Held(chunk) = &self.chunks[index] else {
                continue;
            };
            let file = match &self.file {
                Some(file) => file,
                None => self.file.insert(scratch.file()?),
            };
            file.write_all_at(bytemuck::cast_slice(chunk), self.end)?;
            let filed = Chunk::Filed(self.end, chunk.len());
            self.end += size_of_val(&chunk[..]) as u64;
            self.chunks[index] = filed;
        }
        Ok(())
    }

    /// Every chunk, the oldest first.
    pub fn each<E: From<io::Error>>(
        &self,
        mut visit: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut buffer = Vec::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Held(chunk) => visit(chunk)?,
                Chunk::Filed(at, words) => {
                    self.read(*at, *words, &mut buffer)?;
                    visit(&buffer)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Level;
    use crate::table::scratch::Scratch;

    #[test]
    fn filed_chunks_come_back_in_the_same_order_as_held_ones() {
        let folder = std::env::temp_dir().join(format!("presage-level-{}", std::process::id()));
        let scratch = Scratch::new(folder.clone(), 1).unwrap();
        let mut level = Level::default();
        for round in 0..3u32 {
            for number in 0..5 {
                level.push(vec![round, number, 7]);
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
