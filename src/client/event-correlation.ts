// EventCorrelation: what becomes of an event that may repeat others. The same again counts up; many that differ only in
// their words become one; whoever tells too much about one object is not heard for a while. Everything is bounded.

/** As many ways to say one thing are told apart; beyond that they are combined. */
const similarMax = 10
const similarMsMax = 600_000
/** So many events about one object at once, then one every five minutes. */
const burstMax = 25
const refillMs = 300_000
/** Keys remembered of each kind; the one not used for the longest is forgotten first. */
const rememberedMax = 4096

export interface SeenEvent {
  /** Who tells it about which object. */
  readonly subject: string
  /** Type and reason. */
  readonly topic: string
  readonly message: string
}

export interface Correlation {
  /** Under which it is remembered. */
  readonly key: string
  readonly message: string
  /** False when too much was told already. */
  readonly isHeard: boolean
}

export class EventCorrelation {
  readonly #similar = new Recent<{ messages: Set<string>; lastMs: number }>()
  readonly #budgets = new Recent<{ tokens: number; atMs: number }>()

  correlate({ subject, topic, message }: SeenEvent, nowMs: number): Correlation {
    const group = `${subject} ${topic}`
    const isHeard = this.#spend(subject, nowMs)
    if (this.#ways(group, message, nowMs) < similarMax) return { key: `${group} ${message}`, message, isHeard }
    return { key: group, message: `(combined from similar events): ${message}`, isHeard }
  }

  /** In how many ways it was said lately. */
  #ways(group: string, message: string, nowMs: number): number {
    const known = this.#similar.get(group)
    const messages = known === undefined || nowMs - known.lastMs > similarMsMax ? new Set<string>() : known.messages
    messages.add(message)
    const ways = messages.size
    if (ways >= similarMax) messages.delete(messages.values().next().value ?? '')
    this.#similar.set(group, { messages, lastMs: nowMs })
    return ways
  }

  #spend(subject: string, nowMs: number): boolean {
    const known = this.#budgets.get(subject) ?? { tokens: burstMax, atMs: nowMs }
    const tokens = Math.min(burstMax, known.tokens + (nowMs - known.atMs) / refillMs)
    const isHeard = tokens >= 1
    this.#budgets.set(subject, { tokens: isHeard ? tokens - 1 : tokens, atMs: nowMs })
    return isHeard
  }
}

/** A map that forgets. */
export class Recent<Value> {
  readonly #values = new Map<string, Value>()

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > rememberedMax) this.#values.delete(this.#values.keys().next().value ?? '')
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}
