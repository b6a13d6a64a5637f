// Commands in simulated containers: those of probes and hooks, and those of users with their streams.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'
import { copyStream } from '../../wire/byte-pipe.ts'
import type { SimulatedDisk } from '../disk/simulated-disk.ts'
import { ExecTimeout, type ExecResult, type ProcessStreams } from './container-runtime.ts'
import { environmentOf, type SimulatedContainer } from './simulated-container.ts'
import { notRun, type SimulatedCommand } from './simulated-process.ts'
import { execCommand, isInteractiveShell, type ScriptProcess } from './simulated-shell.ts'
import { runTerminal } from './simulated-terminal.ts'

export interface SimulatedExecDeps {
  readonly clock: Clock
  /** Handles all commands in containers whose program does not. */
  readonly command: SimulatedCommand | undefined
  readonly disk: SimulatedDisk | undefined
}

const succeed: SimulatedCommand = () => Promise.resolve({ exitCode: 0 })
const fail: SimulatedCommand = () => Promise.resolve({ exitCode: 1 })

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

export class SimulatedExec {
  readonly #deps: SimulatedExecDeps

  constructor(deps: SimulatedExecDeps) {
    this.#deps = deps
  }

  /** Runs a command of a probe or a hook, which succeeds unless something handles it. */
  async run(
    container: SimulatedContainer,
    command: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const late = Promise.withResolvers<never>()
    const timer = this.#deps.clock.after(timeoutMs, () =>
      late.reject(new ExecTimeout(`command ${JSON.stringify(command.join(' '))} timed out`)),
    )
    const stdout: Uint8Array[] = []
    const stderr: Uint8Array[] = []
    const keep = (pieces: Uint8Array[]) => (piece: Uint8Array) => Promise.resolve(void pieces.push(piece))
    const io: ProcessStreams = { stdin: nothing(), stdout: keep(stdout), stderr: keep(stderr) }
    try {
      const exitCode = await Promise.race([this.#exec(container, command, io, signal, succeed), late.promise])
      return { exitCode, stdout: concatBytes(stdout), stderr: concatBytes(stderr) }
    } finally {
      timer.cancel()
    }
  }

  /** Runs a command of a user: one that simulated containers have, unless something else handles it. */
  stream(
    container: SimulatedContainer,
    command: readonly string[],
    io: ProcessStreams,
    signal: AbortSignal,
  ): Promise<number> {
    return this.#exec(container, command, io, signal, async (args, shown, streams) => {
      if (isInteractiveShell(args)) return { exitCode: await this.#terminal(container, io, signal) }
      const printed = { stdout: '', stderr: '' }
      const print = (text: string, stream: 'stdout' | 'stderr') => void (printed[stream] += text)
      const exitCode = await execCommand(args, this.scriptOf(container), print)
      return exitCode === undefined ? notRun(args, shown, streams) : { exitCode, ...printed }
    })
  }

  /**
   * The client gets all output from now on. As with real runtimes, the exit code is not reported. A container in which
   * nothing runs prints nothing: if it was created to be attached to, it is a shell, which ends with `end`.
   */
  async attach(
    container: SimulatedContainer,
    io: ProcessStreams,
    end: (exitCode: number) => void,
    signal: AbortSignal,
  ): Promise<number> {
    if (container.stop === undefined && container.state === 'running')
      return this.#attachToShell(container, io, end, signal)
    const encoder = new TextEncoder()
    const leave = container.log.onLine((line) => void io.stdout(encoder.encode(`${line}\n`)).catch(() => {}))
    const typed = copyStream(io.stdin, { write: (piece) => container.stdin.write(piece), end: () => {} })
    typed.catch(() => {}) // the client has disconnected
    try {
      await unlessAborted(container.ended, signal)
      return 0
    } finally {
      leave()
    }
  }

  async #attachToShell(
    container: SimulatedContainer,
    io: ProcessStreams,
    end: (exitCode: number) => void,
    signal: AbortSignal,
  ): Promise<number> {
    const { name, image, stdin, command, arguments: args } = container.config
    const words = [...command, ...args]
    if (stdin && (words.length === 0 || isInteractiveShell(words))) {
      end(await this.#terminal(container, io, signal))
      return 0
    }
    const { stderr = '' } = await notRun(words.length === 0 ? [image] : words, { name, image }, io)
    await io.stderr(new TextEncoder().encode(io.isTerminal === true ? stderr.replaceAll('\n', '\r\n') : stderr))
    return 0
  }

  #terminal(container: SimulatedContainer, io: ProcessStreams, signal: AbortSignal): Promise<number> {
    const script = this.scriptOf(container)
    const ended = AbortSignal.any([script.ended, signal])
    return unlessAborted(runTerminal(container.config.name, { ...script, ended }, io), ended)
  }

  scriptOf(container: SimulatedContainer): ScriptProcess {
    const { clock, disk } = this.#deps
    const environment = environmentOf(container.config)
    return { clock, environment, files: container.files(disk), ended: container.endedSignal }
  }

  async #exec(
    container: SimulatedContainer,
    command: readonly string[],
    io: ProcessStreams,
    signal: AbortSignal,
    otherwise: SimulatedCommand,
  ): Promise<number> {
    const handler = container.command ?? this.#deps.command ?? otherwise
    const run = container.isAnswering(this.#deps.clock) ? handler : fail
    const {
      exitCode,
      stdout = '',
      stderr = '',
    } = await unlessAborted(run(command, { name: container.config.name, image: container.config.image }, io), signal)
    const encoder = new TextEncoder()
    if (stdout !== '') await io.stdout(encoder.encode(stdout))
    if (stderr !== '') await io.stderr(encoder.encode(stderr))
    return exitCode
  }
}
