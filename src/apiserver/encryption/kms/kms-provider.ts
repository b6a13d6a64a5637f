// KmsProvider: a cipher whose data encryption keys are encrypted by a KMS plugin (KMS v2). One seed is generated at the
// start and whenever the plugin's key id changes; values are encrypted locally, so that neither reads nor writes call
// the plugin in steady state. Seeds that other processes or earlier starts generated are decrypted once and cached.
import { TtlCache } from '../../../base/collections/ttl-cache.ts'
import { errorText, type Log } from '../../../base/observability/log.ts'
import { RecentMap } from '../../../base/collections/recent-map.ts'
import { unlessAborted } from '../../../base/async/unless-aborted.ts'
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { CryptoProvider } from '../../../platform/crypto/crypto.ts'
import { decodeProto } from '../../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../../wire/protobuf/encode-proto.ts'
import type { ValueCipher } from '../ciphers/value-cipher.ts'
import { encryptedObjectProblem } from './kms-rules.ts'
import { openWithDataKey, sealWithSeed, seedBytes } from './data-key.ts'
import type { DataKeyMetrics } from './data-key-metrics.ts'
import { KmsError } from './kms-error.ts'
import { KmsClient, type KmsClientDeps, type KmsEndpoint } from './kms-client.ts'
import { encryptedObject, wrappedKey, type WrappedKey } from './kms-messages.ts'

export interface KmsOptions extends KmsEndpoint {
  readonly name: string
}

export interface KmsDeps extends KmsClientDeps {
  readonly crypto: CryptoProvider
  readonly log: Log
  readonly dataKeyMetrics: DataKeyMetrics
}

/** The interval of status calls. */
const pollMsHealthy = 60_000
const pollMsUnhealthy = 10_000
/** Without a healthy status for this long, nothing is written: the plugin may have changed its key. */
const writeMsMax = 180_000
/** How long a health check uses the last status. */
const statusMsHealthy = 20_000
const statusMsUnhealthy = 3_000
/** Cached decrypted seeds. There is one for each start of an API server and each key id. */
const dataKeysMax = 1_000
/** Concurrent decryptions of seeds; further ones wait. Reads that need the same seed share the call. */
const unwrapsMax = 16
const unwrapRetryMs = 1_000
const unwrapFailed = 'failed to decrypt DEK'

interface WriteKey {
  readonly seed: Uint8Array
  readonly wrapped: WrappedKey
  /** Identifies the seed in the cache. */
  readonly id: string
  readonly untilMs: number
}

export class KmsProvider implements ValueCipher {
  readonly prefix: string
  readonly #name: string
  readonly #deps: KmsDeps
  readonly #client: KmsClient
  readonly #start: Uint8Array
  #writeKey: WriteKey | undefined
  #status: { readonly problem: string | undefined; readonly atMs: number } | undefined
  #probing: Promise<void> | undefined
  readonly #dataKeys = new RecentMap<string, Uint8Array>(dataKeysMax)
  /** Seeds that could not be decrypted recently, so that retrying readers do not flood the plugin and the log. */
  readonly #failures: TtlCache<true>
  readonly #unwrapping = new Map<string, Promise<Uint8Array>>()
  #callsOpen = 0
  readonly #waiting: (() => void)[] = []
  readonly #closed = new AbortController()

  constructor(options: KmsOptions, deps: KmsDeps) {
    this.#name = options.name
    this.#deps = deps
    this.#client = new KmsClient(options, deps)
    this.#failures = new TtlCache(deps.clock, dataKeysMax)
    this.prefix = `k8s:enc:kms:v2:${options.name}:`
    this.#start = new TextEncoder().encode(this.prefix)
  }

  /** Polls the status until the signal ends it. Failures are logged and retried. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.close(), { once: true })
    try {
      while (!signal.aborted) {
        await this.probe()
        await this.#deps.clock.sleep(this.#status?.problem === undefined ? pollMsHealthy : pollMsUnhealthy, signal)
      }
    } finally {
      this.close()
    }
  }

  /** Requests the status and, where the key id is new, encrypts a new seed. Never rejects. */
  probe(): Promise<void> {
    this.#probing ??= this.#probe().finally(() => (this.#probing = undefined))
    return this.#probing
  }

  /** Rejects when the plugin cannot be used for writing. */
  async check(signal: AbortSignal): Promise<void> {
    const maxMs = this.#status?.problem === undefined ? statusMsHealthy : statusMsUnhealthy
    if (this.#status === undefined || this.#nowMs - this.#status.atMs >= maxMs)
      await unlessAborted(this.probe(), signal)
    if (this.#status?.problem !== undefined) throw this.#error(this.#status.problem)
  }

  get keyVersion(): string {
    return this.prefix + (this.#writeKey?.wrapped.keyId ?? '')
  }

  keyVersionOf(sealed: Uint8Array): string {
    return this.prefix + decodeProto(encryptedObject, sealed.subarray(this.#start.length)).keyId
  }

  seal(value: Uint8Array, key: string): Uint8Array {
    const writeKey = this.#writeKey
    if (writeKey === undefined) throw this.#error('there is no data encryption key yet')
    if (this.#nowMs >= writeKey.untilMs)
      throw this.#error(
        `the data encryption key has expired: the plugin has not been healthy for ${writeMsMax / 1_000} s`,
      )
    const encryptedData = sealWithSeed(this.#deps, writeKey.seed, value, new TextEncoder().encode(key))
    const object = encodeProto(encryptedObject, { ...writeKey.wrapped, encryptedData })
    const whole = new Uint8Array(this.#start.length + object.length)
    whole.set(this.#start)
    whole.set(object, this.#start.length)
    return whole
  }

  open(sealed: Uint8Array, key: string): MaybePromise<Uint8Array> {
    const object = decodeProto(encryptedObject, sealed.subarray(this.#start.length))
    const problem = encryptedObjectProblem(object)
    if (problem !== undefined) throw this.#error(problem)
    const { encryptedData, encryptedDekSourceType: type } = object
    const bound = new TextEncoder().encode(key)
    return thenMaybe(this.#dataKey(object), (source) => {
      try {
        return openWithDataKey(this.#deps.crypto, type, source, encryptedData, bound)
      } catch {
        throw this.#error('the value cannot be decrypted')
      }
    })
  }

  close(): void {
    this.#closed.abort(new Error('the KMS provider is closed'))
    this.#client.close()
  }

  /** Monotonic, for durations. */
  get #nowMs(): number {
    return this.#deps.clock.monotonicMs()
  }

  async #probe(): Promise<void> {
    const { signal } = this.#closed
    const before = this.#status?.problem
    let problem: string | undefined
    try {
      const keyId = await this.#client.keyId(signal)
      await this.#useKey(keyId, signal)
    } catch (error) {
      problem = errorText(error)
    }
    if (signal.aborted) return
    this.#status = { problem, atMs: this.#nowMs }
    if (problem !== undefined && problem !== before)
      this.#deps.log.error('the KMS plugin is not healthy', { provider: this.#name, error: problem })
  }

  async #useKey(keyId: string, signal: AbortSignal): Promise<void> {
    const untilMs = this.#nowMs + writeMsMax
    const current = this.#writeKey
    if (current?.wrapped.keyId === keyId) {
      this.#writeKey = { ...current, untilMs }
      return
    }
    const { dataKeyMetrics, random } = this.#deps
    const seed = dataKeyMetrics.measured(() => random.bytes(seedBytes))
    const wrapped = await this.#client.wrap(seed, signal)
    if (wrapped.keyId !== keyId)
      throw new Error('failed to rotate DEK: Encrypt used another key id than Status reported')
    const id = this.#idOf(wrapped)
    // The old seed stays readable without the plugin.
    if (current !== undefined) this.#dataKeys.set(current.id, current.seed)
    this.#writeKey = { seed, wrapped, id, untilMs }
    this.#deps.log.info('a data encryption key is in use', { provider: this.#name, keyId: wrapped.keyId })
  }

  #dataKey(wrapped: WrappedKey): MaybePromise<Uint8Array> {
    const id = this.#idOf(wrapped)
    const known = this.#writeKey?.id === id ? this.#writeKey.seed : this.#dataKeys.get(id)
    if (known === undefined) return this.#unwrapping.get(id) ?? this.#unwrap(id, wrapped)
    return known
  }

  #unwrap(id: string, wrapped: WrappedKey): Promise<Uint8Array> {
    if (this.#failures.get(id) !== undefined) throw this.#error(unwrapFailed)
    const unwrapping = this.#inTurn(() => this.#client.unwrap(wrapped, this.#closed.signal))
      .then((source) => {
        this.#dataKeys.set(id, source)
        return source
      })
      .catch((error: unknown) => {
        this.#deps.log.error('the KMS plugin cannot decrypt a data encryption key', {
          provider: this.#name,
          keyId: wrapped.keyId,
          error: errorText(error),
        })
        this.#failures.set(id, true, unwrapRetryMs)
        throw this.#error(unwrapFailed)
      })
      .finally(() => this.#unwrapping.delete(id))
    this.#unwrapping.set(id, unwrapping)
    return unwrapping
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    while (this.#callsOpen >= unwrapsMax) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#callsOpen++
    try {
      return await work()
    } finally {
      this.#callsOpen--
      this.#waiting.shift()?.()
    }
  }

  /** A digest of everything that is sent to the plugin for decryption. */
  #idOf({ keyId, encryptedDekSource, annotations, encryptedDekSourceType }: WrappedKey): string {
    const fields = { keyId, encryptedDekSource, annotations, encryptedDekSourceType }
    return this.#deps.crypto.sha256(encodeProto(wrappedKey, fields)).toBase64()
  }

  #error(what: string): KmsError {
    return new KmsError(`KMS provider ${JSON.stringify(this.#name)}: ${what}`)
  }
}
