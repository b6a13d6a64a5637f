// Commands of simulated containers that exit by themselves: `true`, `false`, `echo`, `date`, `sleep`, those about files,
// and shell scripts of these. Output, duration and exit code are those of a real container. Any other command is treated
// as a server that runs until it is stopped, and cannot be executed in a running container.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import { dateText } from './simulated-date.ts'
import type { ContainerFiles } from './container-files.ts'
import type { ContainerConfig } from './runtime-config.ts'
import { fileCommandNamed, fileCommands, fileErrorText } from './simulated-file-commands.ts'
import { expandWords, parseScript, type ScriptTarget, type SimpleCommand } from './simulated-script.ts'

/** The interface of a command to its container. */
export interface ScriptProcess {
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string>>
  readonly files: ContainerFiles
  /** Aborted when the container has exited. */
  readonly ended: AbortSignal
}

export interface ShellProcess extends ScriptProcess {
  /** Prints a line into the container's log. */
  readonly log: (line: string, stream?: 'stdout' | 'stderr') => void
  /** Aborted when the container is stopped; the reason is the name of the signal. */
  readonly terminated: AbortSignal
}

/** Prints a piece of text. */
type Print = (text: string, stream: 'stdout' | 'stderr') => void

export type ShellProgram = (process: ShellProcess) => Promise<number>

/** Every process runs at least this long, so that clients can observe it running. */
const processStartMs = 100
const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 }
const signalledCodeBase = 128
const maxExitCode = 255

/** Undefined when the command is unknown or does not exit by itself. */
export function shellProgram(config: ContainerConfig): ShellProgram | undefined {
  const { command, arguments: args } = config
  // When the pod sets only arguments, they are run as the command, as with an image without an entrypoint.
  const words = command.length === 0 ? args : [...command, ...args]
  const script = words.length === 0 ? undefined : scriptOf(words)
  const [first] = script ?? []
  if (script === undefined || first === undefined || !isKnown(first)) return undefined
  // PID 1 ignores signals without a handler, and these programs handle none.
  const isFirstProcess = config.security.namespaces.processes === 'container'
  return (process) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const onTerminated = () => {
      const signal = lookup(signalNumbers, String(process.terminated.reason)) ?? signalNumbers['SIGTERM'] ?? 0
      if (!isFirstProcess || signal === signalNumbers['SIGKILL']) resolve(signalledCodeBase + signal)
    }
    process.terminated.addEventListener('abort', onTerminated, { once: true })
    const output = new Output(process)
    const run = async () => {
      await process.clock.sleep(processStartMs, process.ended)
      const status = await runScript(script, process, (text, stream) => output.print(text, stream), untilEnded)
      output.end()
      return status
    }
    run().then(resolve, reject)
    return promise
  }
}

/** Runs a command in a running container. Undefined when it is unknown, or its arguments are not supported. */
export async function execCommand(
  words: readonly string[],
  process: ScriptProcess,
  print: Print,
): Promise<number | undefined> {
  const script = scriptOf(words)
  if (script === undefined || !script.every(isKnown)) return undefined
  try {
    return await runScript(script, process, print, () => Promise.reject(notSupported))
  } catch (error) {
    if (error === notSupported) return undefined
    throw error
  }
}

/** What a user can type, in alphabetical order. */
export const commandNames = (): readonly string[] =>
  [...Object.keys(commands), ...Object.keys(fileCommands)].filter((name) => name !== ':').toSorted()

/** Whether a command is a shell that reads its commands from the input. */
export const isInteractiveShell = ([name = '', ...args]: readonly string[]): boolean =>
  shells.has(programName(name)) && args.every((arg) => /^-[il]+$|^--login$/.test(arg))

const notSupported = new Error('the arguments are not supported')

const shells = new Set(['sh', 'bash', 'ash', 'dash'])

/** The name of a system program without its directory. */
const programName = (path: string): string => path.replace(/^(?:\/usr)?\/bin\//, '')

function scriptOf(words: readonly string[]): readonly SimpleCommand[] | undefined {
  const [name = '', flag, text] = words
  if (shells.has(programName(name))) return flag === '-c' && text !== undefined ? parseScript(text) : undefined
  // `exit` exists only in a shell.
  if (name === 'exit') return undefined
  const literal = words.map((word) => ({ isQuoted: true, pieces: [{ kind: 'text', text: word } as const] }))
  return [{ joint: ';', words: literal, isToStderr: false }]
}

const isKnown = ({ words }: SimpleCommand): boolean => {
  const [name = ''] = expandWords(words, {})
  return name === 'exit' || commandNamed(name) !== undefined
}

/** `otherwise` runs in the place of commands that are not supported. */
async function runScript(
  script: readonly SimpleCommand[],
  process: ScriptProcess,
  print: Print,
  otherwise: (ended: AbortSignal) => Promise<number>,
): Promise<number> {
  const { clock, environment, files, ended } = process
  let status = 0
  for (const { joint, words, isToStderr, target } of script) {
    if ((joint === '&&' && status !== 0) || (joint === '||' && status === 0)) continue
    const [name = '', ...args] = expandWords(words, environment)
    if (name === 'exit') return exitStatus(args, status)
    let written = ''
    const printOut = (text: string) => {
      if (isToStderr) print(text, 'stderr')
      else if (target === undefined) print(text, 'stdout')
      else written += text
    }
    const printError = (text: string) => print(text, 'stderr')
    const result = commandNamed(name)?.(args, { clock, ended, files, print: printOut, printError })
    status = await (result ?? otherwise(ended))
    if (target !== undefined && !(await writeTo(target, written, process, printError))) status = 1
  }
  return status
}

const nullDevice = '/dev/null'

/** False when the file cannot be written. */
async function writeTo(
  { word, isAppended }: ScriptTarget,
  text: string,
  { environment, files }: ScriptProcess,
  printError: (text: string) => void,
): Promise<boolean> {
  const [path = ''] = expandWords([word], environment)
  if (path === nullDevice) return true
  try {
    await (isAppended ? files.append(path, text) : files.write(path, text))
    return true
  } catch (error) {
    printError(`sh: can't create ${path}: ${fileErrorText(error)}\n`)
    return false
  }
}

/** Defaults to the status of the last command; an invalid number exits with 2. */
function exitStatus([args]: readonly string[], last: number): number {
  if (args === undefined) return last
  return /^\d{1,9}$/.test(args) ? Number(args) & maxExitCode : 2
}

interface CommandProcess {
  readonly clock: Clock
  readonly ended: AbortSignal
  readonly files: ContainerFiles
  readonly print: (text: string) => void
  readonly printError: (text: string) => void
}

/** Resolves with the exit code; undefined when the arguments are not supported. */
type Command = (args: readonly string[], process: CommandProcess) => Promise<number> | undefined

const commands: Readonly<Record<string, Command>> = {
  ':': () => Promise.resolve(0),
  true: () => Promise.resolve(0),
  false: () => Promise.resolve(1),
  echo(args, { print }) {
    const count = args.findIndex((word) => !/^-[neE]+$/.test(word))
    const flags = args.slice(0, count === -1 ? args.length : count)
    const text = args.slice(flags.length).join(' ')
    const isEscaped = flags.some((flag) => flag.includes('e'))
    const isOpen = flags.some((flag) => flag.includes('n'))
    print(`${isEscaped ? unescaped(text) : text}${isOpen ? '' : '\n'}`)
    return Promise.resolve(0)
  },
  date(args, { clock, print }) {
    const text = dateText(args, clock.nowMs())
    if (text === undefined) return undefined
    print(`${text}\n`)
    return Promise.resolve(0)
  },
  sleep(args, { clock, ended }) {
    const ms = sleepMs(args)
    if (ms === undefined) return undefined
    return ms === Infinity ? untilEnded(ended) : clock.sleep(ms, ended).then(() => 0)
  },
}

function commandNamed(path: string): Command | undefined {
  const name = programName(path)
  return lookup(commands, name) ?? fileCommandNamed(name)
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\' }
const unescaped = (text: string): string =>
  text.replace(/\\([ntr\\])/g, (_, letter: string) => lookup(escapes, letter) ?? '')

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Several durations are summed up. */
function sleepMs(args: readonly string[]): number | undefined {
  if (args.length === 0) return undefined
  let sum = 0
  for (const word of args) {
    const [, number, unit] = /^(\d+(?:\.\d*)?|\.\d+|infinity)([smhd]?)$/.exec(word) ?? []
    if (number === undefined) return undefined
    sum += number === 'infinity' ? Infinity : Number(number) * (lookup(unitMs, unit || 's') ?? 0)
  }
  return sum
}

const untilEnded = (ended: AbortSignal): Promise<never> =>
  new Promise((_, reject) => ended.addEventListener('abort', () => reject(ended.reason), { once: true }))

/** Splits the output into lines. */
class Output {
  readonly #log: ShellProcess['log']
  readonly #open = { stdout: '', stderr: '' }

  constructor({ log }: Pick<ShellProcess, 'log'>) {
    this.#log = log
  }

  print(text: string, stream: 'stdout' | 'stderr'): void {
    const lines = `${this.#open[stream]}${text}`.split('\n')
    this.#open[stream] = lines.pop() ?? ''
    for (const line of lines) this.#log(line, stream)
  }

  /** Prints a final line without a line feed. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) if (this.#open[stream] !== '') this.print('\n', stream)
  }
}
