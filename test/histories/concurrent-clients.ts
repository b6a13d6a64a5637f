// Clients that read, write, list and watch the ConfigMaps of a new namespace through all API servers at the same time, and
// record what they did. A client whose call fails continues with another server.
import { realClock } from '../../src/base/time/clock.ts'
import type { Random } from '../../src/base/random/random.ts'
import { until } from '../until.ts'
import type { History, Input, ListCall, ListedItem, ObjectCall, WatchedEvent } from './history.ts'
import type { Page, ServerCalls } from './server-calls.ts'

export interface ClientsOptions {
  readonly servers: readonly ServerCalls[]
  readonly namespace: string
  readonly random: Random
  readonly clients: number
  /** How many calls are made in total. */
  readonly calls: number
}

const keys = ['a', 'b', 'c', 'd', 'e']
const lastKey = 'last'
const watchesPerServer = 1
const retryMs = 20

const { signal: never } = new AbortController()

export class ConcurrentClients {
  readonly #options: ClientsOptions
  readonly #calls: ObjectCall[] = []
  readonly #lists: ListCall[] = []
  /** The resourceVersion of each version that a response has shown. */
  readonly #revisions = new Map<string, number>()
  /** The version of each object that a client has seen last. */
  readonly #seen = new Map<string, string>()
  #position = 0
  #versions = 0
  #begun = 0
  #ended = 0
  #allowed = 0

  constructor(options: ClientsOptions) {
    this.#options = options
  }

  /** The number of calls that have ended. */
  get ended(): number {
    return this.#ended
  }

  /** Clients wait before they begin more calls than these in total. */
  allow(calls: number): void {
    this.#allowed = calls
  }

  async run(): Promise<History> {
    const { servers, namespace, clients } = this.#options
    await untilDone(async (attempt) => servers[attempt % servers.length]?.createNamespace(namespace))
    const { revision } = await untilDone((attempt) => servers[attempt % servers.length]?.list(namespace, undefined))
    const watches = servers.flatMap((_, server) =>
      Array.from(
        { length: watchesPerServer },
        (__, index) => new RecordedWatch(this.#options, server, index, revision),
      ),
    )
    await Promise.all(Array.from({ length: clients }, (_, client) => this.#client(client)))
    const last = await this.#writeLast()
    await Promise.all(watches.map((watch) => watch.reach(last)))
    return { calls: this.#calls, lists: this.#lists, watches: watches.map((watch) => watch.record(last)) }
  }

  async #client(client: number): Promise<void> {
    const { random, servers, calls } = this.#options
    while (this.#begun < calls) {
      if (this.#begun >= this.#allowed) await until(() => this.#begun < this.#allowed || this.#begun >= calls)
      if (this.#begun >= calls) return
      this.#begun++
      const server = random.below(servers.length)
      const isDone = random.below(12) === 0 ? await this.#list(client, server) : await this.#call(client, server)
      this.#ended++
      if (!isDone) await realClock.sleep(retryMs, never)
    }
  }

  /** Whether there was a response that shows the result. */
  async #call(client: number, server: number, key = this.#pick(keys), input = this.#newInput(key)): Promise<boolean> {
    const call = this.#position++
    const output = await this.#server(server).call(this.#options.namespace, key, input, this.#revisions)
    if (output === 'refused') return false
    this.#calls.push({ record: 'call', client, server, key, call, return: this.#position++, input, output })
    if (output.kind === 'found') this.#see({ key, version: output.version, revision: output.revision })
    if (output.kind === 'written' && output.revision !== undefined && 'version' in input)
      this.#see({ key, version: input.version, revision: output.revision })
    return output.kind !== 'unknown'
  }

  /** Each page is requested from the next server. */
  async #list(client: number, first: number): Promise<boolean> {
    const call = this.#position++
    const pages: Page[] = []
    for (let token: string | undefined, index = first; index === first || token !== undefined; index++) {
      const page = await this.#server(index % this.#options.servers.length).list(this.#options.namespace, token)
      if (page === undefined) return false
      pages.push(page)
      token = page.continue
    }
    const revisions = pages.map(({ revision }) => revision)
    const items = pages.flatMap((page) => page.items)
    this.#lists.push({ record: 'list', client, server: first, call, return: this.#position++, revisions, items })
    for (const item of items) this.#see(item)
    return true
  }

  #see({ key, version, revision }: ListedItem): void {
    this.#revisions.set(version, revision)
    this.#seen.set(key, version)
  }

  #newInput(key: string): Input {
    const { random, namespace } = this.#options
    const seen = this.#seen.get(key)
    const version = `${namespace}.${this.#versions++}`
    const choice = random.below(10)
    if (seen === undefined || choice < 2) return { kind: 'create', version }
    if (choice < 4) return { kind: 'get' }
    if (choice < 7) return { kind: 'update', from: seen, version }
    if (choice < 9) return { kind: 'patch', version }
    return random.below(2) === 0 ? { kind: 'delete' } : { kind: 'delete', from: seen }
  }

  /** A write after all others; returns its revision. */
  async #writeLast(): Promise<number> {
    const version = `${this.#options.namespace}.${lastKey}`
    const { servers } = this.#options
    await untilDone(async (attempt) => {
      const server = attempt % servers.length
      // The first attempt may have had an effect without a response.
      await this.#call(0, server, lastKey, { kind: 'create', version: `${version}.${attempt}` })
      await this.#call(0, server, lastKey, { kind: 'get' })
      return this.#seen.has(lastKey) ? true : undefined
    })
    return this.#revisions.get(this.#seen.get(lastKey) ?? '') ?? 0
  }

  #server(index: number): ServerCalls {
    const server = this.#options.servers[index]
    if (server === undefined) throw new Error(`there is no server ${index}`)
    return server
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#options.random.below(items.length)] as T
  }
}

/** Repeats until there is a result. */
async function untilDone<T>(attempt: (count: number) => Promise<T | undefined> | undefined): Promise<NonNullable<T>> {
  let result: T | undefined
  let count = 0
  await until(async () => {
    result = await attempt(count++)
    if (result === undefined || result === false) await realClock.sleep(retryMs, never)
    return result !== undefined && result !== false
  })
  return result as NonNullable<T>
}

/** A watch that is resumed at the next server, after the last revision that it was sent. */
class RecordedWatch {
  readonly #options: ClientsOptions
  readonly #name: string
  readonly #from: number
  readonly #events: WatchedEvent[] = []
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>
  #revision: number

  constructor(options: ClientsOptions, server: number, index: number, from: number) {
    this.#options = options
    this.#name = `${server}.${index}`
    this.#from = this.#revision = from
    this.#running = this.#run(server)
    this.#running.catch(() => {}) // reach() reports it
  }

  async reach(revision: number): Promise<void> {
    await Promise.race([this.#running, until(() => this.#revision >= revision)])
    this.#stopped.abort()
    await this.#running
  }

  record(to: number) {
    return { record: 'watch', name: this.#name, from: this.#from, to, events: this.#events } as const
  }

  async #run(first: number): Promise<void> {
    const { servers, namespace } = this.#options
    const { signal } = this.#stopped
    for (let server = first; !signal.aborted; server++) {
      try {
        for await (const message of this.#messages(server % servers.length, namespace, signal)) {
          if (message.type !== 'BOOKMARK') this.#events.push(message)
          this.#revision = message.revision
        }
      } catch (error) {
        // It was not an error of the connection, but an event of the type ERROR.
        if (!signal.aborted && (error as { code?: string }).code === undefined) throw error
      }
      if (!signal.aborted) await realClock.sleep(retryMs, signal).catch(() => {})
    }
  }

  #messages(server: number, namespace: string, signal: AbortSignal) {
    const calls = this.#options.servers[server]
    if (calls === undefined) throw new Error(`there is no server ${server}`)
    return calls.watch(namespace, this.#revision, signal)
  }
}
