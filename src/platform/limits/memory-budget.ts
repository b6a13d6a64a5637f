// MemoryBudget: accounts for the bytes of request bodies and unsent responses, and decides which of them is shed when
// there are too many: the largest holders of the clients that hold most. Independent of sockets.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { ListenLimits } from './listen-limits.ts'

type Limits = Pick<ListenLimits, 'heldBytesMax' | 'heldBytesPerClientMax' | 'heldBytesPerConnectionMax'>

/**
 * receiving: a request body that is arriving; processing: a body that the handler uses; sending: a response that the
 * client is receiving; stalled: a response that it does not receive. Receiving and stalled holders are shed when the
 * limit of a connection or client is exceeded, sending ones only when the overall limit is. Processing ones are never
 * shed, because that would not free their memory.
 */
export type HoldKind = 'receiving' | 'processing' | 'sending' | 'stalled'

/** The connection to which an account belongs. */
export interface BudgetedConnection {
  readonly client: string
}

export class Account {
  readonly connection: BudgetedConnection
  /** Ends the request or connection that holds the bytes. */
  readonly shed: () => void
  readonly #budget: MemoryBudget
  #bytes = 0
  #kind: HoldKind = 'sending'

  constructor(budget: MemoryBudget, connection: BudgetedConnection, shed: () => void) {
    this.#budget = budget
    this.connection = connection
    this.shed = shed
  }

  get bytes(): number {
    return this.#bytes
  }

  get kind(): HoldKind {
    return this.#kind
  }

  /** Sets the bytes held now. This or another account may be shed before the call returns. */
  hold(bytes: number, kind: HoldKind): void {
    const change = bytes - this.#bytes
    if (change === 0 && kind === this.#kind) return
    this.#bytes = bytes
    this.#kind = kind
    this.#budget.changed(this, change)
  }

  release(): void {
    this.hold(0, this.#kind)
  }
}

export class MemoryBudget {
  readonly #limits: Limits
  readonly #onShed: (bytes: number) => void
  /** Accounts with bytes, in the order in which they got their first. */
  readonly #holders = new Set<Account>()
  /** Those that are receiving or stalled, by client. */
  readonly #sheddable = new Map<string, Set<Account>>()
  readonly #clients = new Map<string, number>()
  readonly #connections = new Map<BudgetedConnection, number>()
  #bytes = 0

  constructor(limits: Limits, onShed: (bytes: number) => void) {
    this.#limits = limits
    this.#onShed = onShed
  }

  get bytes(): number {
    return this.#bytes
  }

  account(connection: BudgetedConnection, shed: () => void): Account {
    return new Account(this, connection, shed)
  }

  changed(account: Account, change: number): void {
    const { connection } = account
    if (account.bytes > 0) this.#holders.add(account)
    else this.#holders.delete(account)
    this.#mark(account)
    this.#bytes += change
    addTo(this.#connections, connection, change)
    addTo(this.#clients, connection.client, change)
    if (change >= 0) this.#relieve(connection)
  }

  #relieve(connection: BudgetedConnection): void {
    const { heldBytesMax, heldBytesPerClientMax, heldBytesPerConnectionMax } = this.#limits
    const { client } = connection
    this.#shedWhile(
      () => (this.#connections.get(connection) ?? 0) > heldBytesPerConnectionMax,
      () => this.#sheddableOf(client).filter((holder) => holder.connection === connection),
    )
    this.#shedWhile(
      () => (this.#clients.get(client) ?? 0) > heldBytesPerClientMax,
      () => this.#sheddableOf(client),
    )
    this.#shedWhile(
      () => this.#bytes > heldBytesMax,
      () => {
        const first = [...this.#sheddable.values()].flatMap((accounts) => [...accounts])
        // A single response is not shed: no other request would benefit.
        if (first.length > 0 || this.#holders.size < 2) return first
        return [...this.#holders].filter(({ kind }) => kind === 'sending')
      },
    )
  }

  #sheddableOf(client: string): readonly Account[] {
    return [...(this.#sheddable.get(client) ?? [])]
  }

  #mark(account: Account): void {
    const { bytes, kind, connection } = account
    if (bytes > 0 && (kind === 'receiving' || kind === 'stalled')) {
      getOrInsert(this.#sheddable, connection.client, () => new Set()).add(account)
      return
    }
    const accounts = this.#sheddable.get(connection.client)
    if (accounts?.delete(account) === true && accounts.size === 0) this.#sheddable.delete(connection.client)
  }

  #shedWhile(isExceeded: () => boolean, candidates: () => readonly Account[]): void {
    while (isExceeded()) {
      const victims = largest(candidates())
      if (victims.length === 0) return
      for (const victim of victims) {
        // It may have been on the connection of one that was shed before.
        if (victim.bytes === 0) continue
        this.#onShed(victim.bytes)
        victim.shed()
        victim.release()
      }
    }
  }
}

/**
 * One in so many is shed at a time, and at least one: each time all of them are searched, and there may be many thousands
 * of small ones.
 */
const holdersPerVictim = 16

/** The largest holders (the latest of equal ones) of the clients that hold most. */
function largest(holders: readonly Account[]): readonly Account[] {
  const clients = new Map<string, Account[]>()
  const sums = new Map<string, number>()
  for (const holder of holders.toSorted((a, b) => a.bytes - b.bytes)) {
    const { client } = holder.connection
    getOrInsert(clients, client, () => []).push(holder)
    addTo(sums, client, holder.bytes)
  }
  const found: Account[] = []
  const count = Math.max(1, Math.floor(holders.length / holdersPerVictim))
  while (found.length < count) {
    let largestClient = ''
    let most = 0
    for (const [client, sum] of sums) if (sum >= most) [largestClient, most] = [client, sum]
    const next = clients.get(largestClient)?.pop()
    if (next === undefined) break
    addTo(sums, largestClient, -next.bytes)
    found.push(next)
  }
  return found
}

/** Removes sums of 0. */
function addTo<Key>(sums: Map<Key, number>, key: Key, change: number): void {
  const sum = (sums.get(key) ?? 0) + change
  if (sum === 0) sums.delete(key)
  else sums.set(key, sum)
}
