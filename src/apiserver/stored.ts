// Stored: one version of an object as the store has it, parsed once and encoded once, both on demand. The same bytes
// answer GETs, lists and all watchers.
// The store's bytes begin with kind, apiVersion and metadata, and carry no resourceVersion: the store gives it after
// the commit, and its place is the beginning of the metadata.
import type { ApiObject } from '../api/object.ts'
import type { Message } from '../schema/field.ts'
import { bytesOf, type KeyValue, type Unencoded } from '../store/store.ts'
import { without } from '../schema/json-value.ts'
import { encodeProtobuf } from '../schema/protobuf-encode.ts'
import { objectText, versionedText } from './object-text.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

// Bytes that were made here need not be parsed again when the store hands the same buffer back.
const parsed = new WeakMap<Uint8Array, ApiObject>()

export function encodeObject(object: ApiObject): Uint8Array {
  const { bytes, object: plain } = new Draft(object)
  parsed.set(bytes, plain)
  return bytes
}

/** An object on its way to the store, which may never ask for its bytes. */
export class Draft implements Unencoded {
  /** The version that it became. */
  stored: Stored | undefined
  /** As it was put; as its version shows it once there is such an object: one of the two is enough to keep. */
  #object: ApiObject
  #isVersioned = false
  #text: string | undefined
  #isAtRest = false

  constructor(whole: ApiObject) {
    const object = unversioned(whole)
    this.#object = startsAsStored(object) ? object : inStoredOrder(object)
  }

  get object(): ApiObject {
    return this.#isVersioned ? unversioned(this.#object) : this.#object
  }

  /** From now on it is kept as its version shows it. */
  becomes(versioned: ApiObject): void {
    this.#object = versioned
    this.#isVersioned = true
  }

  get text(): string {
    if (this.#text !== undefined) return this.#text
    const text = objectText(this.object)
    if (!this.#isAtRest) this.#text = text
    return text
  }

  get bytes(): Uint8Array {
    return encoder.encode(this.text)
  }

  /** As bytes with its version in it. It is what is kept from then on, and not the text. */
  json(revision: number): Uint8Array {
    const text = this.#text ?? objectText(this.object)
    this.rest()
    return encoder.encode(revision === 0 ? text : versionedText(text, String(revision)))
  }

  /** From now on its text is made anew for whoever asks. */
  rest(): void {
    this.#isAtRest = true
    this.#text = undefined
  }
}

const unversioned = (object: ApiObject): ApiObject =>
  ({ ...object, metadata: without(object.metadata, 'resourceVersion') }) as ApiObject

const storedOrder = ['kind', 'apiVersion', 'metadata']

function startsAsStored(object: ApiObject): boolean {
  let at = 0
  for (const name in object) {
    if (name !== storedOrder[at]) return false
    if (++at === storedOrder.length) return true
  }
  return false
}

const inStoredOrder = ({ kind, apiVersion, metadata, ...rest }: ApiObject): ApiObject => ({
  kind,
  apiVersion,
  metadata,
  ...rest,
})

const metadataKey = encoder.encode('"metadata":{')
const openBrace = 0x7b
const closeBrace = 0x7d

export class Stored {
  readonly revision: number
  readonly #source: Uint8Array | Draft
  #object: ApiObject | undefined
  #json: Uint8Array | undefined
  #isAtRest = false
  /** Asked for while at rest: who asks twice asks again. */
  #isAskedFor = false
  #protobuf: Uint8Array | undefined

  constructor(source: Uint8Array | Draft, revision: number) {
    this.#source = source
    this.revision = revision
  }

  /** The version in what was put; the one that a write has answered with and the one that a watch brings are the same. */
  static of(source: Uint8Array | Draft, revision: number): Stored {
    const known = source instanceof Draft ? source.stored : versions.get(source)
    if (known?.revision === revision) return known
    const stored = new Stored(source, revision)
    if (source instanceof Draft) source.stored = stored
    else versions.set(source, stored)
    return stored
  }

  /** The version that the store has there. */
  static from(item: KeyValue): Stored {
    return Stored.of(item.unencoded instanceof Draft ? item.unencoded : item.value, item.modRevision)
  }

  /** As the store has it. */
  get bytes(): Uint8Array {
    return bytesOf(this.#source)
  }

  get object(): ApiObject {
    if (this.#object === undefined) {
      const plain = plainOf(this.#source)
      // A preview was never stored and has no version.
      const version = this.revision === 0 ? {} : { resourceVersion: String(this.revision) }
      this.#object = { ...plain, metadata: { ...plain.metadata, ...version } }
      if (this.#source instanceof Draft && this.#source.stored === this) this.#source.becomes(this.#object)
    }
    return this.#object
  }

  /** The whole object as JSON, with its resourceVersion. */
  get json(): Uint8Array {
    if (this.#json !== undefined) return this.#json
    const source = this.#source
    const json = source instanceof Draft ? source.json(this.revision) : withVersion(source, this.revision)
    if (!this.#isAtRest || this.#isAskedFor) this.#json = json
    this.#isAskedFor = this.#isAtRest
    return json
  }

  /** Hardly anybody will ask for its bytes again: they are made anew for the first who does. */
  rest(): void {
    this.#isAtRest = true
    this.#isAskedFor = false
    this.#json = undefined
    if (this.#source instanceof Draft) this.#source.rest()
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
    return new Stored(this.#source, revision)
  }
}

const versions = new WeakMap<Uint8Array, Stored>()

const plainOf = (source: Uint8Array | Draft): ApiObject =>
  source instanceof Draft ? source.object : (parsed.get(source) ?? (JSON.parse(decoder.decode(source)) as ApiObject))

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
