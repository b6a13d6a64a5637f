// SimulatedNftables records transactions without interpreting them. The test decides which fail.
import type { CommandText } from '../../base/net/command-text.ts'
import type { Nftables, TransactionResult } from './nftables.ts'

export class SimulatedNftables implements Nftables {
  /** The transactions that were applied. */
  readonly transactions: (readonly string[])[] = []
  /** Elements that the kernel itself has added, by set. */
  readonly learned = new Map<string, readonly CommandText[]>()
  /** Replaced by tests that need failures. */
  respond: (commands: readonly string[]) => TransactionResult = () => ({ kind: 'applied' })

  apply(commands: readonly CommandText[]): Promise<TransactionResult> {
    const result = this.respond(commands)
    if (result.kind === 'applied') this.transactions.push(commands)
    return Promise.resolve(result)
  }

  list(): Promise<string | undefined> {
    return Promise.resolve(undefined)
  }

  elements(_table: CommandText, set: CommandText): Promise<readonly CommandText[] | undefined> {
    return Promise.resolve(this.learned.get(set))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}
