// A coxswain command in a real pseudo-terminal, and what a user sees of it. Python, which opens the terminal, is on every
// machine that runs the tests; the screen is drawn from the written sequences.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { until } from '../until.ts'

export interface PseudoTerminal extends AsyncDisposable {
  /** What is on the screen. */
  screen(): string
  type(keys: string): void
  /** Waits until the screen matches. */
  shows(pattern: RegExp): Promise<string>
  /** Everything that was written. */
  written(): string
  /** Resolves with the exit code when the program has ended. */
  readonly ended: Promise<number>
}

/** Opens a terminal of that size; reports the mode of the terminal after the program has ended. */
const opener = `
import fcntl, os, pty, select, struct, sys, termios
rows, columns = int(sys.argv[1]), int(sys.argv[2])
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
while True:
    ready, _, _ = select.select([master, 0], [], [])
    if 0 in ready:
        os.write(master, os.read(0, 65536))
    if master in ready:
        try:
            data = os.read(master, 65536)
        except OSError:
            data = b''
        if data == b'':
            break
        os.write(1, data)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`

export function openTerminal(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  rows = 24,
  columns = 80,
): PseudoTerminal {
  const child = spawn('python3', ['-c', opener, String(rows), String(columns), ...command], { env })
  const exited = once(child, 'close') as Promise<[number | null]>
  let written = ''
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (piece: string) => (written += piece))
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()))
  const screen = (): string => screenOf(written, rows, columns)
  return {
    screen,
    written: () => written,
    type: (keys) => void child.stdin.write(keys),
    async shows(pattern) {
      await until(() => pattern.test(screen()) || child.exitCode !== null).catch(() => undefined)
      if (pattern.test(screen())) return screen()
      const state = child.exitCode === null ? await processesBelow(child.pid) : `it ended with ${child.exitCode}`
      throw new Error(`${pattern} is not on the screen:\n${screen()}\n${errors}\n${state}`)
    },
    ended: exited.then(([code]) => code ?? -1),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** The processes of the terminal: which of them has it, which ones wait, and which signals they ignore. */
async function processesBelow(pid: number | undefined): Promise<string> {
  const columns = 'pid,ppid,pgid,tpgid,stat,ignored,blocked,wchan:20,args'
  const { stdout: all } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid='])
  const parents = all.trim().split('\n').map((line) => line.trim().split(/ +/).map(Number)) // prettier-ignore
  const below = new Set([pid])
  for (const [child, parent] of parents) if (below.has(parent)) below.add(child)
  return (await promisify(execFile)('ps', ['-o', columns, '-p', [...below].join(',')])).stdout
}

/** Draws positions, clears and texts; styles and modes do not matter here. */
function screenOf(written: string, rows: number, columns: number): string {
  let cells = blank(rows, columns)
  let y = 0
  let x = 0
  // oxlint-disable-next-line no-control-regex -- the sequences of a terminal
  for (const [whole, parameters = '', final = ''] of written.matchAll(/\x1b\[([\d;?]*)([A-Za-z])|./gsu)) {
    if (final === 'H') [y = 1, x = 1] = parameters.split(';').map((part) => Number(part) - 1)
    else if (final === 'J') cells = blank(rows, columns)
    else if (final === '' && whole >= ' ') {
      const row = cells[y]
      if (row !== undefined && x < columns) row[x++] = whole
    }
  }
  return cells.map((row) => row.join('').trimEnd()).join('\n')
}

const blank = (rows: number, columns: number): string[][] =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () => ' '))
