// The shell of simulated containers for users: reads lines from a terminal or a pipe and runs them with the commands that
// simulated containers have. A terminal is in raw mode at the client, so typed characters are echoed and edited here.
import { errorText } from '../../base/observability/log.ts'
import type { ProcessStreams } from './container-runtime.ts'
import { commandNames, execCommand, type ScriptProcess } from './simulated-shell.ts'

/** Longer lines are cut off, and lines beyond this number that are typed while a command runs are dropped. */
const lineCharsMax = 4_096
const linesMax = 100
const prompt = '/ # '
const interruptedCode = 130
const notRunCode = 126
const exitCodeMax = 255
const keys = { interrupt: '\x03', end: '\x04', backspace: '\x7f', erase: '\b', escape: '\x1b' } as const

/** Resolves with the exit code when the user ends it or the input ends. */
export async function runTerminal(name: string, process: ScriptProcess, io: ProcessStreams): Promise<number> {
  const shell = new Terminal(name, process, io)
  const input = shell.read()
  try {
    return await shell.run()
  } finally {
    input.catch(() => {}) // the client has disconnected
  }
}

class Terminal {
  readonly #name: string
  readonly #process: ScriptProcess
  readonly #io: ProcessStreams
  readonly #isTerminal: boolean
  readonly #lines: string[] = []
  #typed = ''
  #hasInput = true
  #changed = Promise.withResolvers<void>()
  /** Aborted when the user interrupts the running command. */
  #interrupt: AbortController | undefined
  #isInEscape = false

  constructor(name: string, process: ScriptProcess, io: ProcessStreams) {
    this.#name = name
    this.#process = process
    this.#io = io
    this.#isTerminal = io.isTerminal === true
  }

  async read(): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const piece of this.#io.stdin)
        for (const character of decoder.decode(piece, { stream: true })) await this.#type(character)
    } finally {
      if (this.#typed !== '') this.#enter()
      this.#hasInput = false
      this.#changed.resolve()
    }
  }

  async run(): Promise<number> {
    let status = 0
    if (this.#isTerminal)
      await this.#print(
        `Container ${this.#name} is simulated. This shell has ${commandNames().join(', ')} and exit.\n${prompt}`,
      )
    for (;;) {
      const line = await this.#nextLine()
      if (line === undefined) return status
      const [isExit, code] = /^\s*exit(?:\s+(\d{1,3}))?\s*$/.exec(line) ?? []
      if (isExit !== undefined) return code === undefined ? status : Number(code) & exitCodeMax
      if (line.trim() !== '') status = await this.#execute(line)
      if (this.#isTerminal) await this.#print(prompt)
    }
  }

  async #execute(line: string): Promise<number> {
    const interrupt = (this.#interrupt = new AbortController())
    const ended = AbortSignal.any([this.#process.ended, interrupt.signal])
    const writes: Promise<void>[] = []
    const print = (text: string, stream: 'stdout' | 'stderr') => void writes.push(this.#print(text, stream))
    try {
      const status = await execCommand(['sh', '-c', line], { ...this.#process, ended }, print)
      if (status !== undefined) return status
      const what = `${JSON.stringify(line.trim())} was not run: container ${this.#name} is simulated and has no programs\n`
      print(what, 'stderr')
      return notRunCode
    } catch (error) {
      if (this.#process.ended.aborted) throw error
      if (!interrupt.signal.aborted) print(`${errorText(error)}\n`, 'stderr')
      return interruptedCode
    } finally {
      this.#interrupt = undefined
      await Promise.all(writes)
    }
  }

  /** Undefined at the end of the input. */
  async #nextLine(): Promise<string | undefined> {
    for (;;) {
      const line = this.#lines.shift()
      if (line !== undefined || !this.#hasInput) return line
      await this.#changed.promise
      this.#changed = Promise.withResolvers()
    }
  }

  async #type(character: string): Promise<void> {
    if (!this.#isTerminal) {
      if (character === '\n') this.#enter()
      else this.#append(character)
      return
    }
    // Keys such as arrows: nothing until the letter that ends the sequence.
    if (this.#isInEscape) {
      this.#isInEscape = !/[A-Za-z~]/.test(character)
      return
    }
    switch (character) {
      case keys.escape:
        this.#isInEscape = true
        return
      case '\r':
      case '\n':
        await this.#print('\n')
        return this.#enter()
      case keys.backspace:
      case keys.erase:
        if (this.#typed === '') return
        this.#typed = Array.from(this.#typed).slice(0, -1).join('')
        return this.#print('\b \b')
      case keys.interrupt:
        this.#typed = ''
        this.#lines.length = 0
        await this.#print('^C\n')
        // Without a running command, only the prompt is missing.
        return this.#interrupt === undefined ? this.#enter() : this.#interrupt.abort(new Error('it was interrupted'))
      case keys.end:
        if (this.#typed !== '') return
        this.#hasInput = false
        return this.#changed.resolve()
      default:
        if (character < ' ') return
        this.#append(character)
        return this.#print(character)
    }
  }

  #append(character: string): void {
    if (this.#typed.length < lineCharsMax) this.#typed += character
  }

  #enter(): void {
    if (this.#lines.length < linesMax) this.#lines.push(this.#typed)
    this.#typed = ''
    this.#changed.resolve()
  }

  async #print(text: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    const shown = this.#isTerminal ? text.replaceAll('\n', '\r\n') : text
    await this.#io[stream](new TextEncoder().encode(shown))
  }
}
