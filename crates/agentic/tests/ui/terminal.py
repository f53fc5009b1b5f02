"""Runs a command on a terminal: `terminal.py STEPS COMMAND…`.

A step waits for a text on the screen (`wait`), or for bytes behind those before (`raw`), then types,
resizes, sends a signal or runs another command. At the end all bytes that the terminal got are printed.
"""

import codecs, fcntl, json, os, pty, re, select, signal, struct, subprocess, sys, termios, time

steps, command = json.loads(sys.argv[1]), sys.argv[2:]
SEQUENCE = re.compile(r"\x1b(?:\[([<=>?]?)([0-9;]*)([@-~])|[^\[])")


class Screen:
    """As much of a terminal as is needed to know what a person sees."""

    def __init__(self, columns, rows):
        self.left = ""
        self.main = None
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def clear(self):
        self.lines = [[" "] * self.columns for _ in range(self.rows)]
        self.x = self.y = 0

    def feed(self, text):
        text = self.left + text
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    break
                self.obey(*found.groups())
                at = found.end()
                continue
            at += 1
            if c == "\n":
                self.y += 1
                if self.y == self.rows:
                    self.lines = self.lines[1:] + [[" "] * self.columns]
                    self.y -= 1
            elif c == "\r":
                self.x = 0
            elif c == "\b":
                self.x = max(0, self.x - 1)
            elif c >= " ":
                if self.x == self.columns:
                    self.feed_line()
                self.lines[self.y][self.x] = c
                self.x += 1
        self.left = text[at:]

    def feed_line(self):
        left, self.left = self.left, ""
        self.feed("\r\n")
        self.left = left

    def obey(self, private, numbers, final):
        if final is None:
            return
        numbers = [int(number or 0) for number in numbers.split(";")]
        if private == "?" and numbers == [1049]:
            if final == "h":
                self.main = [list(line) for line in self.lines], self.x, self.y
                self.clear()
            elif self.main and len(self.main[0]) == self.rows and len(self.main[0][0]) == self.columns:
                self.lines, self.x, self.y = self.main
            else:
                self.clear()
        elif private:
            pass
        elif final == "H":
            row, column = (numbers + [1])[:2]
            self.y = min(max(row, 1), self.rows) - 1
            self.x = min(max(column, 1), self.columns) - 1
        elif final == "J":
            x, y = self.x, self.y
            self.clear()
            self.x, self.y = x, y
        elif final == "K":
            self.lines[self.y][self.x :] = [" "] * (self.columns - self.x)

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


child, terminal = pty.fork()
if child == 0:
    resize(0, 100, 30)
    # As a terminal begins a shell, whatever those who began the tests ignore.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(command[0], command)
screen, decoder = Screen(100, 30), codecs.getincrementaldecoder("utf-8")("replace")
shown, seen, deadline = b"", 0, time.monotonic() + 50
while time.monotonic() < deadline:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        screen.feed(decoder.decode(piece))
    while steps:
        if "raw" in steps[0]:
            found = shown.find(steps[0]["raw"].encode(), seen)
            if found < 0:
                break
            seen = found + len(steps[0]["raw"].encode())
        elif steps[0]["wait"] not in screen.text():
            break
        step = steps.pop(0)
        if "resize" in step:
            screen.resize(*step["resize"])
            resize(terminal, *step["resize"])
        if "run" in step:
            subprocess.run(step["run"], shell=True, check=True, stdout=subprocess.DEVNULL)
        if "signal" in step:
            os.kill(child, step["signal"])
        os.write(terminal, step.get("type", "").encode())
else:
    sys.stderr.write(f"too late, with on the screen\n{screen.text()}\n")
    os.kill(child, 9)
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
if steps:
    sys.stderr.write(f"never came: {steps}\n")
sys.exit(os.waitstatus_to_exitcode(status))
