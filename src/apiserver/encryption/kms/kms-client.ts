// KmsClient: the calls to one KMS plugin. Every call has a deadline, and every response is validated before it is used.
import type { Clock } from '../../../base/time/clock.ts'
import { newUid } from '../../../base/random/ids.ts'
import type { Random } from '../../../base/random/random.ts'
import type { Http2Provider } from '../../../platform/http/http2-client.ts'
import { GrpcChannel, noMetadata, type GrpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import type { Message, Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import { annotationsBytesMax, statusProblem, wrappedKeyProblem } from './kms-rules.ts'
import { dataKeyProblem } from './data-key.ts'
import { dekSourceTypes, kmsMethods, type WrappedKey } from './kms-messages.ts'

export interface KmsClientDeps {
  readonly http2: Http2Provider
  readonly clock: Clock
  readonly random: Random
}

export interface KmsEndpoint {
  /** `unix:/path` */
  readonly endpoint: string
  readonly timeoutMs: number
}

/** The largest valid response, and room for its framing. */
const responseBytesMax = annotationsBytesMax + 32 * 1024

export class KmsClient {
  readonly #deps: KmsClientDeps
  readonly #timeoutMs: number
  readonly #channel: GrpcChannel

  constructor({ endpoint, timeoutMs }: KmsEndpoint, deps: KmsClientDeps) {
    this.#deps = deps
    this.#timeoutMs = timeoutMs
    this.#channel = new GrpcChannel({ ...deps, endpoint, messageBytesMax: responseBytesMax, connectMsMax: timeoutMs })
  }

  /** The id of the key that the plugin encrypts with; rejects when the plugin is not healthy. */
  async keyId(signal: AbortSignal): Promise<string> {
    const status = await this.#call(kmsMethods.status, {}, signal)
    throwIf(statusProblem(status))
    return status.keyId
  }

  /** Encrypts a new seed. */
  async wrap(seed: Uint8Array, signal: AbortSignal): Promise<WrappedKey> {
    const uid = newUid(this.#deps.random)
    const { ciphertext, keyId, annotations } = await this.#call(kmsMethods.encrypt, { plaintext: seed, uid }, signal)
    const wrapped: WrappedKey = {
      keyId,
      encryptedDekSource: ciphertext,
      annotations,
      encryptedDekSourceType: dekSourceTypes.hkdfSha256XnonceAesGcmSeed,
    }
    throwIf(wrappedKeyProblem(wrapped))
    return wrapped
  }

  async unwrap(wrapped: WrappedKey, signal: AbortSignal): Promise<Uint8Array> {
    const { encryptedDekSource: ciphertext, encryptedDekSourceType, keyId, annotations } = wrapped
    const uid = newUid(this.#deps.random)
    const request = { ciphertext, uid, keyId, annotations }
    const { plaintext } = await this.#call(kmsMethods.decrypt, request, signal)
    throwIf(dataKeyProblem(encryptedDekSourceType, plaintext))
    return plaintext.slice() // a view would retain the whole message
  }

  close(): void {
    this.#channel.close()
  }

  async #call<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const { clock } = this.#deps
    const late = new AbortController()
    const timer = clock.after(this.#timeoutMs, () =>
      late.abort(new Error(`${method.path} took longer than ${this.#timeoutMs} ms`)),
    )
    try {
      return await clock.outside(
        this.#channel.unary(method, request, noMetadata, AbortSignal.any([signal, late.signal])),
      )
    } finally {
      timer.cancel()
    }
  }
}

function throwIf(problem: string | undefined): void {
  if (problem !== undefined) throw new Error(problem)
}
