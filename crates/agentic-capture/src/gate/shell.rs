//! A line of shell, read far enough to know which programs it starts, with which words, and into which
//! files it writes.
//!
//! What a shell makes of variables, patterns and programs is beyond this: it reads what is plain to see.

/// How deep commands within commands are looked at.
const NESTING_MAX: usize = 8;
/// The programs that run a line they are given.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "busybox"];
/// The words before a program that change nothing about what it does.
const BEFORE: [&str; 23] = [
    "!", "{", "builtin", "command", "do", "doas", "elif", "else", "env", "exec", "if", "ionice",
    "nice", "nohup", "setsid", "stdbuf", "sudo", "then", "time", "timeout", "until", "while",
    "xargs",
];

/// One program that a line starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// The program and its words, without quotes.
    pub words: Vec<String>,
    /// The files into which its output goes.
    pub written: Vec<String>,
    /// What it is given to read that stands in the line.
    body: Option<String>,
}

/// Where the next word belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordPlace {
    Command,
    /// It is a file that is written.
    Written,
    /// It is the number of an open file, or one that is written.
    Copied,
    /// It is a file that is read.
    Read,
    /// It ends what the program is given to read.
    BodyEnd,
}

/// What is being read.
struct LineReader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    found: Vec<ShellCommand>,
    command: ShellCommand,
    word: Option<String>,
    place: WordPlace,
    ends: Vec<String>,
}

/// Lists the programs that a line starts, those within others too.
pub(super) fn commands_of(line: &str) -> Vec<ShellCommand> {
    let mut found = Vec::new();
    collect(line, NESTING_MAX, &mut found);
    found
}

fn collect(line: &str, depth: usize, found: &mut Vec<ShellCommand>) {
    let reader = LineReader {
        rest: line.chars().peekable(),
        found: Vec::new(),
        command: ShellCommand::default(),
        word: None,
        place: WordPlace::Command,
        ends: Vec::new(),
    };
    for mut command in reader.read() {
        command.strip();
        let depth = depth.checked_sub(1);
        for inner in command.inner() {
            if let Some(depth) = depth {
                collect(&inner, depth, found);
            }
        }
        found.push(command);
    }
}

impl ShellCommand {
    /// Returns the name of the program.
    pub fn program(&self) -> &str {
        let word = self.words.first().map(String::as_str).unwrap_or_default();
        let name = word.rsplit('/').next().unwrap_or(word);
        name.strip_suffix(".exe").unwrap_or(name)
    }

    /// Returns its words, options among them.
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Takes away what stands before the program.
    fn strip(&mut self) {
        let mut is_before = false;
        let n_before = self.words.iter().take_while(|word| {
            let begins = |letter: char| letter == '-' || letter.is_ascii_digit();
            let is_option = is_before && word.starts_with(begins);
            let is_setting = word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
            });
            is_before |= BEFORE.contains(&word.as_str());
            is_option || is_setting || BEFORE.contains(&word.as_str())
        });
        let n_before = n_before.count();
        self.words.drain(..n_before);
    }

    /// Lists the lines that it would run: those that a shell is given, and those that stand in words.
    fn inner(&self) -> Vec<String> {
        let mut inner: Vec<String> = self
            .words
            .iter()
            .filter_map(|word| match word.split_once("$(") {
                Some((_, line)) => Some(line.to_owned()),
                None => word.split('`').nth(1).map(str::to_owned),
            })
            .collect();
        if self.is_shell() {
            let is_option = |word: &&String| word.starts_with(['-', '+']);
            let line: Vec<&str> =
                self.arguments().iter().skip_while(is_option).map(String::as_str).collect();
            inner.push(line.join(" "));
            inner.extend(self.body.clone());
        }
        inner
    }

    /// Tells whether it is a shell, whose words are a line of their own.
    pub fn is_shell(&self) -> bool {
        SHELLS.contains(&self.program())
    }
}

impl LineReader<'_> {
    fn read(mut self) -> Vec<ShellCommand> {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\'' | '"' => self.quoted(letter),
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(letter) => self.push(letter),
                },
                '\n' => self.end_line(),
                '#' if self.word.is_none() => {
                    while self.rest.next_if(|it| *it != '\n').is_some() {}
                }
                '>' => self.output(),
                '<' => self.input(),
                '&' if self.rest.next_if_eq(&'>').is_some() => self.output(),
                '$' if self.rest.peek() == Some(&'(') => self.replaced(letter, ')'),
                '`' => self.replaced(letter, '`'),
                ';' | '|' | '&' | '(' | ')' => self.end_command(),
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.push(letter),
            }
        }
        self.end_command();
        self.found
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn quoted(&mut self, quote: char) {
        self.word.get_or_insert_default();
        while let Some(letter) = self.rest.next().filter(|it| *it != quote) {
            match letter {
                '\\' if quote == '"' => {
                    if let Some(letter) = self.rest.next() {
                        self.push(letter);
                    }
                }
                letter => self.push(letter),
            }
        }
    }

    /// Takes what the output of other programs stands for into the word.
    fn replaced(&mut self, begin: char, end: char) {
        self.push(begin);
        let mut depth = 0;
        while let Some(letter) = self.rest.next() {
            self.push(letter);
            match letter {
                '(' => depth += 1,
                ')' if end == ')' && depth > 1 => depth -= 1,
                letter if letter == end => break,
                _ => {}
            }
        }
    }

    fn output(&mut self) {
        // The number of an open file stands before.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|it| it.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        while self.rest.next_if(|it| matches!(it, '>' | '|')).is_some() {}
        let copies = self.rest.next_if_eq(&'&').is_some();
        self.place = if copies { WordPlace::Copied } else { WordPlace::Written };
    }

    fn input(&mut self) {
        self.end_word();
        self.place = WordPlace::Read;
        if self.rest.next_if_eq(&'>').is_some() {
            self.place = WordPlace::Written;
        } else if self.rest.next_if_eq(&'<').is_some() && self.rest.next_if_eq(&'<').is_none() {
            self.rest.next_if_eq(&'-');
            self.place = WordPlace::BodyEnd;
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let is_number = word == "-" || word.chars().all(|it| it.is_ascii_digit());
        match self.place {
            WordPlace::Command => self.command.words.push(word),
            WordPlace::Written => self.command.written.push(word),
            WordPlace::Copied if !is_number => self.command.written.push(word),
            WordPlace::BodyEnd => self.ends.push(word),
            WordPlace::Copied | WordPlace::Read => {}
        }
        self.place = WordPlace::Command;
    }

    fn end_command(&mut self) {
        self.end_word();
        self.place = WordPlace::Command;
        if !self.command.words.is_empty() || !self.command.written.is_empty() {
            self.found.push(std::mem::take(&mut self.command));
        }
    }

    /// Ends a line; what the next ones have is given to the last program, where it asked for that.
    fn end_line(&mut self) {
        self.end_command();
        for end in std::mem::take(&mut self.ends) {
            let mut body = String::new();
            while self.rest.peek().is_some() {
                let mut line = String::new();
                while let Some(letter) = self.rest.next().filter(|it| *it != '\n') {
                    line.push(letter);
                }
                if line.trim_start_matches('\t') == end {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if let Some(last) = self.found.last_mut() {
                last.body.get_or_insert_default().push_str(&body);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::commands_of;

    fn check(line: &str, wanted: &str) {
        let found = commands_of(line);
        let found = found.iter().map(|command| {
            let written = command.written.iter().map(|file| format!(" >{file}"));
            let written: String = written.collect();
            format!("{}{written}", command.words.join(" "))
        });
        assert_eq!(found.collect::<Vec<_>>().join("; "), wanted, "{line}");
    }

    #[test]
    fn programs_their_words_and_what_they_write_are_found() {
        check("rm -f 'a b' \"c\"d\\ e", "rm -f a b cd e");
        check("x=1 sudo -n rm a && cat b || (tee c) # rm d", "rm a; cat b; tee c");
    }

    #[test]
    fn outputs_are_files() {
        check("echo x >a 2>>b 2>&1 &>c >|d <e", "echo x >a >b >c >d");
        check("> a", " >a");
    }

    #[test]
    fn lines_within_lines_are_found() {
        check("sh -c 'rm a'", "rm a; sh -c rm a");
        check("echo \"$(rm a)\" `rm b`", "rm a; rm b; echo $(rm a) `rm b`");
        check("cat <<'E' >a\nrm b\nE\nrm c", "cat >a; rm c");
        check("sh <<-E\nrm b\n\tE\nrm c", "rm b; sh; rm c");
    }
}
