// The entry point: passes arguments, output and signals of the process to the command.
import { commands } from './commands.ts'
import { run } from './run.ts'
import { abortedBySignals } from './signals.ts'

const controller = new AbortController()
// A closed standard output (`| head`) ends the program as Ctrl-C does; errors on standard error are ignored.
process.stdout.on('error', (error) => controller.abort(error))
process.stderr.on('error', () => {})

// No top-level await: the bundle is CommonJS.
void run(commands, process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  columns: process.stdout.columns,
  environment: process.env,
  signal: abortedBySignals(process, controller),
  startedMs: performance.timeOrigin,
}).then((code) => (process.exitCode = code))
