// EncryptedStore: a store that encrypts the values of another store. Its rules can be replaced while it runs. Without rules it costs next
// to nothing.
import type { Channel } from '../../base/async/channel.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import { gatedKinds, storedKinds } from '../../api/kinds.ts'
import { bytesOf, ValueUnreadable } from '../../store/store.ts'
import { checkSize } from '../../store/transaction.ts'
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
import { customResourceOf, keyPrefixes, longPrefixOf, ofPrefix } from '../storage/store-keys.ts'
import { ciphersFor, type EncryptionRule } from './encryption-config.ts'
import { identity, isEncrypted, startsWith } from './ciphers/value-cipher.ts'

const encoder = new TextEncoder()

type Ciphers = EncryptionRule['ciphers']

interface Sealed {
  readonly value: Uint8Array
  /** The version of the key that encrypted it. */
  readonly keyVersion: string
}

export class EncryptedStore implements Store {
  readonly #inner: Store
  /** Undefined while nothing is encrypted: values are those of the inner store. */
  #ciphers: CiphersByKey | undefined
  /** Decrypted values by the buffers of the inner store, so that a buffer is decrypted once. */
  readonly #plain = new WeakMap<Uint8Array, Sealed>()
  readonly #keyVersions = new WeakMap<Uint8Array, string>()

  constructor(inner: Store, rules: readonly EncryptionRule[]) {
    this.#inner = inner
    this.setRules(rules)
  }

  /** Replaces the rules for new values. */
  setRules(rules: readonly EncryptionRule[]): void {
    this.#ciphers = rules.length === 0 ? undefined : new CiphersByKey(rules)
  }

  isStale(key: string, value: Uint8Array): boolean {
    if (this.#ciphers === undefined) return false
    // A value whose version is unknown was read while nothing was encrypted.
    const keyVersion = this.#keyVersions.get(value) ?? identity.keyVersion
    return keyVersion !== this.#ciphers.of(key)[0].keyVersion
  }

  get revision(): number {
    return this.#inner.revision
  }

  freshRevision(signal: AbortSignal): MaybePromise<number> {
    return this.#inner.freshRevision(signal)
  }

  async sizeBytes(signal: AbortSignal): Promise<number | undefined> {
    return this.#inner.sizeBytes?.(signal)
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    const item = await this.#inner.get(key, signal)
    const ciphers = this.#ciphers
    return item === undefined || ciphers === undefined ? item : awaited(this.#opened(item, ciphers), signal)
  }

  async range(options: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    const result = await this.#inner.range(options, signal)
    const ciphers = this.#ciphers
    if (ciphers === undefined) return result
    const items = all(result.items, (item) => this.#opened(item, ciphers))
    return { ...result, items: items instanceof Promise ? await awaited(items, signal) : items }
  }

  commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult> {
    const ciphers = this.#ciphers
    return ciphers === undefined
      ? this.#inner.commit(transaction, signal)
      : this.#commitSealed(transaction, ciphers, signal)
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#inner.watch(options, signal).map<StoreBatch>((batch) => {
      const ciphers = this.#ciphers
      if (ciphers === undefined) return batch
      return thenMaybe(
        all(batch.events, (event) => this.#openedEvent(event, ciphers)),
        (events) => ({ ...batch, events }),
      )
    })
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

  async #commitSealed(
    { conditions, operations }: Transaction,
    ciphers: CiphersByKey,
    signal: AbortSignal,
  ): Promise<CommitResult> {
    checkSize(operations) // before values are encoded
    return this.#inner.commit({ conditions, operations: operations.map((each) => this.#sealed(each, ciphers)) }, signal)
  }

  #sealed(operation: Operation, ciphers: CiphersByKey): Operation {
    if (operation.kind === 'delete') return operation
    const [cipher] = ciphers.of(operation.key)
    const plain = bytesOf(operation.value)
    const { keyVersion } = cipher
    this.#keyVersions.set(plain, keyVersion)
    if (cipher === identity) return { ...operation, value: plain }
    const value = cipher.seal(plain, operation.key)
    this.#plain.set(value, { value: plain, keyVersion })
    return { ...operation, value }
  }

  #opened(item: KeyValue, ciphersByKey: CiphersByKey): MaybePromise<KeyValue> {
    const { value: stored, key } = item
    const known = this.#plain.get(stored)
    if (known !== undefined) return { ...item, value: known.value }
    const ciphers = ciphersByKey.of(key)
    const cipher = isEncrypted(stored)
      ? ciphers.find(({ prefix }) => prefix !== '' && startsWith(stored, encoder.encode(prefix)))
      : ciphers.find((each) => each === identity)
    if (cipher === undefined)
      throw new ValueUnreadable(`no provider can read the value of ${key}: no matching prefix found`)
    return thenMaybe(cipher.open(stored, key), (value) => {
      const keyVersion = cipher.keyVersionOf(stored)
      this.#keyVersions.set(value, keyVersion)
      if (value === stored) return item
      this.#plain.set(stored, { value, keyVersion })
      return { ...item, value }
    })
  }

  /** The previous value may be encrypted with a key that no longer exists, so it is decrypted only when it is read. */
  #openedEvent(event: StoreEvent, ciphers: CiphersByKey): MaybePromise<StoreEvent> {
    const open = (item: KeyValue) => this.#opened(item, ciphers)
    const { previous } = event
    const before = previous && {
      ...previous,
      get value() {
        const opened = open(previous)
        if (!(opened instanceof Promise)) return opened.value
        opened.catch(() => {})
        throw new Error(`the key of the previous value of ${previous.key} is not in memory`)
      },
    }
    return event.kind === 'put'
      ? thenMaybe(open(event.item), (item) => ({ ...event, item, previous: before }))
      : { ...event, previous: before ?? event.previous }
  }
}

/** The results of all items; a promise only where at least one result is a promise. */
function all<T, U>(items: readonly T[], turned: (item: T) => MaybePromise<U>): MaybePromise<U[]> {
  const results = items.map((item): MaybePromise<U> => {
    try {
      return turned(item)
    } catch (error) {
      return Promise.reject(error) // so that the promises of the other items are not left unhandled
    }
  })
  return results.some((result) => result instanceof Promise) ? Promise.all(results) : (results as U[])
}

function awaited<T>(value: MaybePromise<T>, signal: AbortSignal): MaybePromise<T> {
  if (!(value instanceof Promise)) return value
  value.catch(() => {}) // the rejection is unhandled where the signal ends the wait first
  return unlessAborted(value, signal)
}

const plainly = [identity] as const

/** Resources whose ciphers are cached. */
const customPrefixesMax = 1_000

/** The ciphers of a key, found by the resource that its prefix names. */
class CiphersByKey {
  readonly #rules: readonly EncryptionRule[]
  readonly #builtIn: ReadonlyMap<string, Ciphers>
  readonly #custom = new RecentMap<string, Ciphers>(customPrefixesMax)

  constructor(rules: readonly EncryptionRule[]) {
    this.#rules = rules
    this.#builtIn = new Map(
      [...storedKinds, ...gatedKinds].flatMap((kind) => {
        const ciphers = ciphersFor(rules, kind)
        return keyPrefixes(kind).map((prefix) => [prefix, ciphers] as const)
      }),
    )
  }

  of(key: string): Ciphers {
    const builtIn = ofPrefix(this.#builtIn, key)
    if (builtIn !== undefined) return builtIn
    const prefix = longPrefixOf(key)
    return this.#custom.get(prefix) ?? this.#ofCustom(key, prefix)
  }

  #ofCustom(key: string, prefix: string): Ciphers {
    const resource = customResourceOf(key)
    const ciphers = resource === undefined ? plainly : ciphersFor(this.#rules, resource)
    this.#custom.set(prefix, ciphers)
    return ciphers
  }
}
