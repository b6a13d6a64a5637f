// rejectedObjects: which of the objects that a table is made of have content that the kernel rejects, found by trials. Their
// parts are parsed before they are in the table, so this is the last resort: one object must not stop the others.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { CommandText } from '../../base/net/command-text.ts'
import type { Nftables, TransactionResult } from './nftables.ts'

/** A trial takes as long as replacing the table. What is not decided then is decided by the next search. */
const trialsMax = 64

export interface RejectionSearch<Key> {
  readonly nftables: Pick<Nftables, 'apply'>
  /** Objects that the kernel had before, which are probably accepted. */
  readonly accepted: readonly Key[]
  /** The others, which have changed. */
  readonly suspects: readonly Key[]
  /** Commands that replace the table by one with these objects, and a last one that fails because the table exists. */
  readonly trialCommands: (keys: readonly Key[]) => MaybePromise<readonly CommandText[]>
}

export interface RejectionResult<Key> {
  /** The rejected objects, with the kernel's message. */
  readonly rejected: ReadonlyMap<Key, string>
  /** Objects that are neither rejected nor accepted after the last trial. */
  readonly undecided: readonly Key[]
}

/** Changes nothing: a trial is a transaction that fails in any case. */
export async function rejectedObjects<Key>(search: RejectionSearch<Key>): Promise<RejectionResult<Key>> {
  const run = new Search(search)
  // If a table without objects is not accepted either, no object is the reason.
  if ((await run.trial([])) !== undefined) return { rejected: new Map(), undecided: [] }
  await run.decide(search.accepted)
  await run.decide(search.suspects)
  return run
}

class Search<Key> implements RejectionResult<Key> {
  readonly rejected = new Map<Key, string>()
  readonly undecided: Key[] = []
  readonly #accepted: Key[] = []
  readonly #search: RejectionSearch<Key>
  #trials = 0

  constructor(search: RejectionSearch<Key>) {
    this.#search = search
  }

  /** Finds, by halves, which of the objects are accepted beside those that already are. */
  async decide(keys: readonly Key[]): Promise<void> {
    if (keys.length === 0) return
    if (this.#trials === trialsMax) return void this.undecided.push(...keys)
    const message = await this.trial(keys)
    if (message === undefined) return void this.#accepted.push(...keys)
    const [key] = keys
    if (keys.length === 1 && key !== undefined) return void this.rejected.set(key, message)
    const middle = keys.length >> 1
    await this.decide(keys.slice(0, middle))
    await this.decide(keys.slice(middle))
  }

  /** undefined if the kernel accepts these objects beside those that it accepts already. */
  async trial(keys: readonly Key[]): Promise<string | undefined> {
    this.#trials++
    const commands = await this.#search.trialCommands([...this.#accepted, ...keys])
    return rejection(await this.#search.nftables.apply(commands))
  }
}

/** The last command is the only one that fails if the kernel accepts all others. */
function rejection(result: TransactionResult): string | undefined {
  if (result.kind === 'applied') return 'a trial was applied'
  const [first = 'no message'] = result.messages
  return result.messages.length === 1 && first.includes('File exists') ? undefined : first
}
