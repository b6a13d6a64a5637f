// TtyScreen: the terminal of this process in raw mode, on its alternate screen. It is restored whenever the process ends,
// also by an error.
import { once, type EventEmitter } from 'node:events'
import { writeSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import type { TerminalScreen } from '../../ui/terminal/terminal-app.ts'
import { runProgram } from './run-program.ts'

const enterText = '\x1b[?1049h\x1b[?25l'
const leaveText = '\x1b[0m\x1b[?25h\x1b[?1049l'

export type ExternalCommand = (effect: Parameters<TerminalScreen['run']>[0]) => readonly string[]

type TtyInput = Pick<ReadStream, 'pause' | 'resume' | 'setRawMode'>
type TtyOutput = Pick<WriteStream, 'columns' | 'rows' | 'write'> & { readonly fd: number }

/** What surrounds the screen: this process, and the start of other programs. */
export interface ScreenHost {
  readonly process: EventEmitter & Pick<NodeJS.Process, 'exit' | 'kill'>
  readonly run: typeof runProgram
}

export class TtyScreen implements TerminalScreen, Disposable {
  readonly hasColors: boolean
  readonly #input: TtyInput
  readonly #output: TtyOutput
  readonly #commandOf: ExternalCommand
  readonly #host: ScreenHost
  readonly #onExit = (): void => this.#leave()
  readonly #ignored = (): void => undefined
  readonly #onHangup = (): void => this.#host.process.exit(129)
  #isEntered = false
  #isDisposed = false

  constructor(
    input: TtyInput,
    output: TtyOutput,
    hasColors: boolean,
    commandOf: ExternalCommand,
    host: ScreenHost = { process, run: runProgram },
  ) {
    this.hasColors = hasColors
    this.#input = input
    this.#output = output
    this.#commandOf = commandOf
    this.#host = host
    host.process.on('exit', this.#onExit)
    // Before Node.js prints an error that was not caught: on the alternate screen it would disappear with it.
    host.process.on('uncaughtExceptionMonitor', this.#onExit)
    host.process.on('SIGHUP', this.#onHangup)
    this.#enter()
  }

  get size(): { readonly width: number; readonly height: number } {
    // A terminal whose size is not set reports 0.
    return { width: this.#output.columns || 80, height: this.#output.rows || 24 }
  }

  write(text: string): boolean {
    return this.#output.write(text)
  }

  async suspend(): Promise<void> {
    this.#leave()
    const continued = once(this.#host.process, 'SIGCONT')
    // The whole foreground job, as the terminal does by itself when it is not in raw mode.
    this.#host.process.kill(0, 'SIGTSTP')
    await continued
    this.#enter()
  }

  /** Ctrl-C interrupts the other program only: the terminal sends it to both. */
  async run(effect: Parameters<TerminalScreen['run']>[0], signal: AbortSignal): Promise<void> {
    const [program = '', ...args] = this.#commandOf(effect)
    const { process } = this.#host
    const listeners = process.listeners('SIGINT') as (() => void)[]
    process.removeAllListeners('SIGINT').on('SIGINT', this.#ignored)
    this.#leave()
    try {
      await this.#host.run(program, args, signal)
    } finally {
      process.off('SIGINT', this.#ignored)
      for (const listener of listeners) process.on('SIGINT', listener)
      this.#enter()
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#leave()
    this.#input.pause()
    this.#host.process.off('exit', this.#onExit)
    this.#host.process.off('uncaughtExceptionMonitor', this.#onExit)
    this.#host.process.off('SIGHUP', this.#onHangup)
  }

  /** Another program may end after the screen was disposed of; nothing would restore the terminal then. */
  #enter(): void {
    if (this.#isDisposed) return
    this.#isEntered = true
    this.#input.setRawMode(true)
    this.#input.resume()
    this.#output.write(enterText)
  }

  /** Synchronous, because the process may be ending. */
  #leave(): void {
    if (!this.#isEntered) return
    this.#isEntered = false
    try {
      this.#input.setRawMode(false)
      this.#input.pause()
      writeSync(this.#output.fd, leaveText)
    } catch {
      // The terminal is gone.
    }
  }
}
