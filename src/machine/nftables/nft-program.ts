// NftProgram: nftables through nft. Transactions are lines of one long-lived `nft -i`, because starting nft and closing its
// netlink socket takes 16 to 20 ms, and a transaction in a running one takes 0.5 ms. Large transactions, which are rare, are
// run in a separate process that returns its memory.
import { assert } from '../../base/assert.ts'
import { parseElement, type CommandText } from '../../base/net/command-text.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { InteractiveProcess, InteractivePrograms, Processes } from '../../platform/process/processes.ts'
import type { Nftables, TransactionResult } from './nftables.ts'

export interface NftProgramDeps {
  readonly processes: Pick<Processes, 'run'> & InteractivePrograms
  readonly clock: Clock
}

/** nft answers this command with one line, without asking the kernel. */
const endCommand = 'describe ip saddr'
const endLine = 'payload expression, datatype ipv4_addr'
/** nft's memory grows with the line. */
const lineCharactersMax = 256 << 10
/** A transaction that takes longer has failed. */
const transactionMsMax = 30_000
/** Of a list command. */
const outputBytesMax = 64 << 20

export class NftProgram implements Nftables {
  readonly #deps: NftProgramDeps
  readonly #stop = new AbortController()
  #session: NftSession | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: NftProgramDeps) {
    this.#deps = deps
  }

  apply(commands: readonly CommandText[]): Promise<TransactionResult> {
    assert(
      commands.every((command) => !command.includes('\n')),
      'a command is one line',
    )
    return this.#inOrder(async () => {
      const line = commands.join('; ')
      if (line.length > lineCharactersMax) return this.#applyLarge(commands)
      return resultOf(await this.#ask(line))
    })
  }

  list(command: CommandText): Promise<string | undefined> {
    return this.#inOrder(async () => {
      const { processes } = this.#deps
      const { code, stdout } = await processes.run('nft', [command], { outputBytesMax }, this.#stop.signal)
      return code === 0 ? stdout : undefined
    })
  }

  /** In the running nft, where this takes 0.4 ms whatever the size of the table. */
  elements(table: CommandText, set: CommandText): Promise<readonly CommandText[] | undefined> {
    return this.#inOrder(async () => {
      const lines = await this.#ask(`list set ${table} ${set}`)
      return messagesIn(lines).length === 0 ? elementsIn(lines.join(' ')) : undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('nft was stopped'))
    await this.#last.catch(() => undefined)
    await this.#session?.end()
  }

  #inOrder<T>(action: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps
    const next = this.#last.catch(() => undefined).then(() => clock.outside(action()))
    this.#last = next
    return next
  }

  async #applyLarge(commands: readonly CommandText[]): Promise<TransactionResult> {
    const { code, stderr } = await this.#deps.processes.run(
      'nft',
      ['-f', '-'],
      { input: `${commands.join('\n')}\n` },
      this.#stop.signal,
    )
    return code === 0 ? { kind: 'applied' } : { kind: 'failed', messages: messagesIn(stderr.split('\n')) }
  }

  /** The lines that nft prints for a command. A session that has ended is replaced once. */
  async #ask(line: string): Promise<readonly string[]> {
    this.#stop.signal.throwIfAborted()
    if (this.#session === undefined || this.#session.hasEnded) this.#session = new NftSession(this.#deps)
    return this.#session.ask(line)
  }
}

/** One process. It answers one line at a time. */
class NftSession {
  readonly #clock: Clock
  readonly #process: InteractiveProcess
  #lines: string[] = []
  #answer: PromiseWithResolvers<readonly string[]> | undefined
  hasEnded = false

  constructor({ processes, clock }: NftProgramDeps) {
    this.#clock = clock
    // One stream for results and errors preserves their order.
    this.#process = processes.startInteractive('sh', ['-c', 'exec nft -i 2>&1'], {}, (line) => this.#onLine(line))
    void this.#process.ended.then(() => this.#onEnd())
  }

  async ask(line: string): Promise<readonly string[]> {
    const answer = Promise.withResolvers<readonly string[]>()
    this.#answer = answer
    this.#process.write(`${line}\n${endCommand}\n`)
    const timer = this.#clock.after(transactionMsMax, () => this.#process.kill('SIGKILL'))
    try {
      return await answer.promise
    } finally {
      timer.cancel()
    }
  }

  async end(): Promise<void> {
    this.#process.kill('SIGTERM')
    await this.#process.ended
  }

  #onLine(line: string): void {
    if (!line.startsWith(endLine)) return void this.#lines.push(line)
    const lines = this.#lines
    this.#lines = []
    this.#answer?.resolve(lines)
  }

  #onEnd(): void {
    this.hasEnded = true
    this.#answer?.resolve([...this.#lines, 'Error: nft has ended'])
  }
}

/** The list of elements ends before the braces of the set and of the table. */
function elementsIn(output: string): readonly CommandText[] {
  const [, list = ''] = output.split('elements = {')
  const [elements = ''] = list.split('}')
  return elements.split(',').flatMap((element) => parseElement(element.trim()) ?? [])
}

const resultOf = (lines: readonly string[]): TransactionResult => {
  const messages = messagesIn(lines)
  return messages.length === 0 ? { kind: 'applied' } : { kind: 'failed', messages }
}

/** Each error has one line with its message and two that show its place. `cannot start` is from the shell. */
const messagesIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => {
    const at = line.indexOf('Error: ')
    return at >= 0 ? [line.slice(at + 'Error: '.length)] : /^(cannot start|sh: |netlink: )/.test(line) ? [line] : []
  })
