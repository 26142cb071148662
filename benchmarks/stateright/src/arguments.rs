//! The command line of the peer: a model, its parameters, and how to search.

/// The order in which states are visited.
pub enum Search {
    Bfs,
    Dfs,
}

/// What was asked for.
pub struct Arguments {
    pub model: String,
    pub search: Search,
    pub threads: usize,
    parameters: Vec<(String, String)>,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let usage = "usage: MODEL [key=value]... [--threads N] [--search bfs|dfs]";
        let model = words.next().ok_or(usage)?;
        let (search, threads, parameters) = (Search::Bfs, 1, Vec::new());
        let mut arguments = Self {
            model,
            search,
            threads,
            parameters,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--threads" => {
                    let text = words.next().ok_or(usage)?;
                    arguments.threads = whole("--threads", &text)?;
                }
                "--search" => {
                    arguments.search = match words.next().as_deref() {
                        Some("bfs") => Search::Bfs,
                        Some("dfs") => Search::Dfs,
                        _ => return Err(usage.to_string()),
                    }
                }
                pair => {
                    let (key, value) = pair.split_once('=').ok_or(usage)?;
                    arguments
                        .parameters
                        .push((key.to_string(), value.to_string()));
                }
            }
        }
        Ok(arguments)
    }

    /// Refuses every parameter that is not in `keys`.
    pub fn allow(&self, keys: &[&str]) -> Result<(), String> {
        match self
            .parameters
            .iter()
            .find(|(key, _)| !keys.contains(&key.as_str()))
        {
            Some((key, _)) => Err(format!("`{}` has no parameter `{key}`", self.model)),
            None => Ok(()),
        }
    }

    pub fn text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        let given = self.parameters.iter().rfind(|(name, _)| name == key);
        given.map_or(default, |(_, value)| value)
    }

    pub fn number(&self, key: &str, default: usize) -> Result<usize, String> {
        match self.text(key, "") {
            "" => Ok(default),
            text => whole(key, text),
        }
    }
}

fn whole(key: &str, text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "`{key}` wants a whole number above zero, got `{text}`"
        )),
    }
}
