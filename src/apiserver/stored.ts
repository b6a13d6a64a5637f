// Stored: one version of an object as the store has it, parsed once and encoded once, both on demand. The same bytes
// answer GETs, lists and all watchers.
// The store's bytes begin with kind, apiVersion and metadata, and carry no resourceVersion: the store gives it after
// the commit, and its place is the beginning of the metadata.
import type { ApiObject } from '../api/object.ts'
import type { Message } from '../schema/field.ts'
import { encodeProtobuf } from '../schema/protobuf-encode.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

// Bytes that were made here need not be parsed again when the store hands the same buffer back.
const parsed = new WeakMap<Uint8Array, ApiObject>()

export function encodeObject(object: ApiObject): Uint8Array {
  const { kind, apiVersion, metadata: versioned, ...rest } = object
  const { resourceVersion: _, ...metadata } = versioned
  const plain = { kind, apiVersion, metadata, ...rest }
  const bytes = encoder.encode(JSON.stringify(plain))
  parsed.set(bytes, plain as unknown as ApiObject)
  return bytes
}

const metadataKey = encoder.encode('"metadata":{')
const openBrace = 0x7b
const closeBrace = 0x7d

export class Stored {
  readonly revision: number
  readonly #bytes: Uint8Array
  #object: ApiObject | undefined
  #json: Uint8Array | undefined
  #protobuf: Uint8Array | undefined

  constructor(bytes: Uint8Array, revision: number) {
    this.#bytes = bytes
    this.revision = revision
  }

  /** The version in these bytes; the one that a write has answered with and the one that a watch brings are the same. */
  static of(bytes: Uint8Array, revision: number): Stored {
    const known = versions.get(bytes)
    if (known?.revision === revision) return known
    const stored = new Stored(bytes, revision)
    versions.set(bytes, stored)
    return stored
  }

  /** As the store has it. */
  get bytes(): Uint8Array {
    return this.#bytes
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

  /** The whole object as JSON, with its resourceVersion. */
  get json(): Uint8Array {
    return (this.#json ??= withVersion(this.#bytes, this.revision))
  }

  /** What stands in `json` behind kind and apiVersion: list items carry neither, and have a brace before this. */
  get jsonRest(): Uint8Array {
    return this.json.subarray(metadataPlace(this.json) - metadataKey.length)
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

const versions = new WeakMap<Uint8Array, Stored>()

function withVersion(bytes: Uint8Array, revision: number): Uint8Array {
  // Names of kinds and versions have no braces, so the second one opens the metadata.
  const place = metadataPlace(bytes)
  if (!isMetadata(bytes, place))
    return withVersion(encodeObject(JSON.parse(decoder.decode(bytes)) as ApiObject), revision)
  if (revision === 0) return bytes
  const isEmpty = bytes[place] === closeBrace
  const version = `"resourceVersion":"${revision}"${isEmpty ? '' : ','}`
  const whole = new Uint8Array(bytes.length + version.length)
  whole.set(bytes, version.length)
  whole.set(bytes.subarray(0, place))
  encoder.encodeInto(version, whole.subarray(place))
  return whole
}

function isMetadata(bytes: Uint8Array, place: number): boolean {
  for (let index = 1; index <= metadataKey.length; index++)
    if (bytes[place - index] !== metadataKey[metadataKey.length - index]) return false
  return true
}

const metadataPlace = (bytes: Uint8Array): number => bytes.indexOf(openBrace, 1) + 1
