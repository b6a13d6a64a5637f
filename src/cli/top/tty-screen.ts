// TtyScreen: the terminal of this process in raw mode, on its alternate screen. It is restored whenever the process ends,
// also by an error.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import type { TerminalScreen } from '../../ui/terminal/terminal-app.ts'

const enterText = '\x1b[?1049h\x1b[?25l'
const leaveText = '\x1b[0m\x1b[?25h\x1b[?1049l'

export type ExternalCommand = (effect: Parameters<TerminalScreen['run']>[0]) => readonly string[]

export class TtyScreen implements TerminalScreen, Disposable {
  readonly hasColors: boolean
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #commandOf: ExternalCommand
  readonly #onExit = (): void => this.#leave()
  readonly #onHangup = (): void => process.exit(129)
  #isEntered = false

  constructor(input: ReadStream, output: WriteStream, hasColors: boolean, commandOf: ExternalCommand) {
    this.hasColors = hasColors
    this.#input = input
    this.#output = output
    this.#commandOf = commandOf
    process.on('exit', this.#onExit)
    process.on('SIGHUP', this.#onHangup)
    this.#enter()
  }

  get size(): { readonly width: number; readonly height: number } {
    return { width: this.#output.columns, height: this.#output.rows }
  }

  write(text: string): boolean {
    return this.#output.write(text)
  }

  async suspend(): Promise<void> {
    this.#leave()
    const continued = once(process, 'SIGCONT')
    // The whole foreground job, as the terminal does by itself when it is not in raw mode.
    process.kill(0, 'SIGTSTP')
    await continued
    this.#enter()
  }

  async run(effect: Parameters<TerminalScreen['run']>[0]): Promise<void> {
    const [program = '', ...args] = this.#commandOf(effect)
    this.#leave()
    try {
      const child = spawn(program, args, { stdio: 'inherit' })
      const [code] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new Error(`${program} is not installed`, { cause: error }) : error
      })) as [number | null]
      if (code !== 0) throw new Error(`${program} ended with ${code ?? 'a signal'}`)
    } finally {
      this.#enter()
    }
  }

  [Symbol.dispose](): void {
    this.#leave()
    this.#input.pause()
    process.off('exit', this.#onExit)
    process.off('SIGHUP', this.#onHangup)
  }

  #enter(): void {
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
      writeSync(process.stdout.fd, leaveText)
    } catch {
      // The terminal is gone.
    }
  }
}
