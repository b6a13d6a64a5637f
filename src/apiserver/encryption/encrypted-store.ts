// EncryptedStore: a store whose values lie encrypted below and are plain above. Rules can be replaced while it runs.
import type { Channel } from '../../base/channel.ts'
import type { Soon } from '../../base/when-known.ts'
import { storedKinds } from '../../api/kinds.ts'
import { bytesOf } from '../../store/store.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  Operation,
  RangeOptions,
  RangeResult,
  Store,
  StoreBatch,
  StoreEvent,
  Transaction,
  WatchOptions,
} from '../../store/store.ts'
import { keyPrefix, keyPrefixesOf } from '../registry/keys.ts'
import { ciphersFor, type EncryptionRule } from './encryption-config.ts'
import { identity, isEncrypted, startsWith, type ValueCipher } from './value-cipher.ts'

const encoder = new TextEncoder()

interface Sealed {
  readonly value: Uint8Array
  /** The prefix under which it lies in the store. */
  readonly prefix: string
}

export class EncryptedStore implements Store {
  readonly #inner: Store
  #ciphers: ReadonlyMap<string, readonly [ValueCipher, ...ValueCipher[]]>
  /** What was sealed or opened here need not be opened again when the inner store hands the same buffer over. */
  readonly #plain = new WeakMap<Uint8Array, Sealed>()
  readonly #prefixes = new WeakMap<Uint8Array, string>()

  constructor(inner: Store, rules: readonly EncryptionRule[]) {
    this.#inner = inner
    this.#ciphers = ciphersByPrefix(rules)
  }

  /** Values are written by these rules from now on. */
  use(rules: readonly EncryptionRule[]): void {
    this.#ciphers = ciphersByPrefix(rules)
  }

  /** Whether a value that was read here would be written under another key today. */
  isStale(key: string, value: Uint8Array): boolean {
    const prefix = this.#prefixes.get(value)
    return prefix !== undefined && prefix !== this.#ciphersOf(key)[0].prefix
  }

  get revision(): number {
    return this.#inner.revision
  }

  freshRevision(signal: AbortSignal): Soon<number> {
    return this.#inner.freshRevision(signal)
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    const item = await this.#inner.get(key, signal)
    return item && this.#opened(item)
  }

  async range(options: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    const result = await this.#inner.range(options, signal)
    return { ...result, items: result.items.map((item) => this.#opened(item)) }
  }

  commit({ conditions, operations }: Transaction, signal: AbortSignal): Promise<CommitResult> {
    return this.#inner.commit({ conditions, operations: operations.map((each) => this.#sealed(each)) }, signal)
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#inner
      .watch(options, signal)
      .map<StoreBatch>((batch) => ({ ...batch, events: batch.events.map((event) => this.#openedEvent(event)) }))
  }

  compact(revision: number, signal: AbortSignal): Promise<void> {
    return this.#inner.compact(revision, signal)
  }

  grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#inner.grantLease(ttlMs, signal)
  }

  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    return this.#inner.revokeLease(lease, signal)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #ciphersOf(key: string): readonly [ValueCipher, ...ValueCipher[]] {
    const [one, two] = keyPrefixesOf(key)
    return this.#ciphers.get(one) ?? this.#ciphers.get(two) ?? plainly
  }

  #sealed(operation: Operation): Operation {
    if (operation.kind === 'delete') return operation
    const [cipher] = this.#ciphersOf(operation.key)
    const plain = bytesOf(operation.value)
    this.#prefixes.set(plain, cipher.prefix)
    if (cipher === identity) return { ...operation, value: plain }
    const value = cipher.seal(plain, operation.key)
    this.#plain.set(value, { value: plain, prefix: cipher.prefix })
    return { ...operation, value }
  }

  #opened(item: KeyValue): KeyValue {
    const { value: kept, key } = item
    const known = this.#plain.get(kept)
    if (known !== undefined) return { ...item, value: known.value }
    const ciphers = this.#ciphersOf(key)
    const cipher = isEncrypted(kept)
      ? ciphers.find(({ prefix }) => prefix !== '' && startsWith(kept, encoder.encode(prefix)))
      : ciphers.find((each) => each === identity)
    if (cipher === undefined) throw new Error(`no provider can read the value of ${key}: no matching prefix found`)
    const value = cipher.open(kept, key)
    this.#prefixes.set(value, cipher.prefix)
    if (value === kept) return item
    this.#plain.set(kept, { value, prefix: cipher.prefix })
    return { ...item, value }
  }

  /** What was there before a change may lie under a key that is gone: it is opened when somebody looks. */
  #openedEvent(event: StoreEvent): StoreEvent {
    const open = (item: KeyValue) => this.#opened(item)
    const { previous } = event
    const before = previous && {
      ...previous,
      get value() {
        return open(previous).value
      },
    }
    return event.kind === 'put'
      ? { ...event, item: open(event.item), previous: before }
      : { ...event, previous: before ?? event.previous }
  }
}

const plainly = [identity] as const

const ciphersByPrefix = (rules: readonly EncryptionRule[]) =>
  new Map(storedKinds.map((kind) => [keyPrefix(kind), ciphersFor(rules, kind)] as const))
