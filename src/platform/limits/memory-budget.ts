// MemoryBudget: accounts for the bytes of request bodies and unsent responses, and decides which of them is shed when
// there are too many: the largest holder of the client that holds most. Independent of sockets.
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
    this.#bytes += change
    addTo(this.#connections, connection, change)
    addTo(this.#clients, connection.client, change)
    if (change >= 0) this.#relieve(connection)
  }

  #relieve(connection: BudgetedConnection): void {
    const { heldBytesMax, heldBytesPerClientMax, heldBytesPerConnectionMax } = this.#limits
    const { client } = connection
    const nextToShed = () => {
      if ((this.#connections.get(connection) ?? 0) > heldBytesPerConnectionMax)
        return accountToShed(this.#holders, (holder) => holder.connection === connection, false)
      if ((this.#clients.get(client) ?? 0) > heldBytesPerClientMax)
        return accountToShed(this.#holders, (holder) => holder.connection.client === client, false)
      return this.#bytes > heldBytesMax ? accountToShed(this.#holders, () => true, true) : undefined
    }
    for (let victim = nextToShed(); victim !== undefined; victim = nextToShed()) {
      this.#onShed(victim.bytes)
      victim.shed()
      victim.release()
    }
  }
}

type Holder = Pick<Account, 'bytes' | 'kind' | 'connection'>

/** The largest holder (the latest of equal ones) of the client that holds most. Undefined if none may be shed. */
export function accountToShed<H extends Holder>(
  holders: Iterable<H>,
  isInScope: (holder: H) => boolean,
  isLastResort: boolean,
): H | undefined {
  const all = [...holders].filter(isInScope)
  const first = all.filter(({ kind }) => kind === 'receiving' || kind === 'stalled')
  if (first.length > 0) return largest(first)
  const sending = all.filter(({ kind }) => kind === 'sending')
  // A single response is not shed: no other request would benefit.
  return isLastResort && all.length > 1 ? largest(sending) : undefined
}

function largest<H extends Holder>(holders: readonly H[]): H | undefined {
  const clients = new Map<string, number>()
  for (const { connection, bytes } of holders) addTo(clients, connection.client, bytes)
  let [found, most]: [H | undefined, number] = [undefined, 0]
  for (const holder of holders) {
    const ofClient = clients.get(holder.connection.client) ?? 0
    if (ofClient < most || (ofClient === most && holder.bytes < (found?.bytes ?? 0))) continue
    found = holder
    most = ofClient
  }
  return found
}

/** Removes sums of 0. */
function addTo<Key>(sums: Map<Key, number>, key: Key, change: number): void {
  const sum = (sums.get(key) ?? 0) + change
  if (sum === 0) sums.delete(key)
  else sums.set(key, sum)
}
