// Stored: one version of an object as the store has it, parsed once and encoded once, both on demand.
// The bytes carry no resourceVersion: the store gives it after the commit.
import type { ApiObject } from '../api/object.ts'
import type { Message } from '../schema/field.ts'
import { encodeProtobuf } from '../schema/protobuf-encode.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

// Bytes that were made here need not be parsed again when the store hands the same buffer back.
const parsed = new WeakMap<Uint8Array, ApiObject>()

export function encodeObject(object: ApiObject): Uint8Array {
  const { resourceVersion: _, ...metadata } = object.metadata
  const plain = { ...object, metadata }
  const bytes = encoder.encode(JSON.stringify(plain))
  parsed.set(bytes, plain as unknown as ApiObject)
  return bytes
}

export class Stored {
  readonly revision: number
  readonly #bytes: Uint8Array
  #object: ApiObject | undefined
  #rest: string | undefined
  #protobuf: Uint8Array | undefined

  constructor(bytes: Uint8Array, revision: number) {
    this.#bytes = bytes
    this.revision = revision
  }

  get object(): ApiObject {
    if (this.#object === undefined) {
      const plain = parsed.get(this.#bytes) ?? (JSON.parse(decoder.decode(this.#bytes)) as ApiObject)
      // A preview was never stored and has no version.
      const version = this.revision === 0 ? {} : { resourceVersion: String(this.revision) }
      this.#object = { ...plain, metadata: { ...plain.metadata, ...version } }
    }
    return this.#object
  }

  /** The JSON behind kind and apiVersion, with its closing brace: list items carry neither. */
  get jsonRest(): string {
    if (this.#rest === undefined) {
      const { kind: _, apiVersion: __, ...rest } = this.object
      this.#rest = JSON.stringify(rest).slice(1)
    }
    return this.#rest
  }

  get json(): string {
    const { kind, apiVersion } = this.object
    return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},${this.jsonRest}`
  }

  /** The object's bytes in protobuf, without an envelope. */
  protobuf(message: Message): Uint8Array {
    return (this.#protobuf ??= encodeProtobuf(message, this.object))
  }

  /** The same object as the store's last word on it at a later revision: a deletion carries the deletion's. */
  at(revision: number): Stored {
    return new Stored(this.#bytes, revision)
  }
}
