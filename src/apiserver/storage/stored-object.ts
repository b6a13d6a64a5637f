// Stored: one version of an object as the store has it, parsed once and encoded once, both on demand. The same bytes
// answer GETs, lists and all watchers.
// The store's bytes begin with kind, apiVersion and metadata, and carry no resourceVersion: the store gives it after
// the commit, and its place is the beginning of the metadata.
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { bytesOf, type KeyValue, type LazyValue } from '../../store/store.ts'
import { without } from '../../schema/json/json-value.ts'
import { encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import { objectJson, withResourceVersion } from './object-json.ts'
import { storeInArena } from './arena.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

// Bytes that were made here need not be parsed again when the store hands the same buffer back.
const parsed = new WeakMap<Uint8Array, ApiObject>()

export function encodeObject(object: ApiObject): Uint8Array {
  const { bytes, object: plain } = new PendingObject(object)
  parsed.set(bytes, plain)
  return bytes
}

/** An object on its way to the store, which may never ask for its bytes. */
export class PendingObject implements LazyValue {
  /** The version that it became. */
  stored: StoredObject | undefined
  /** As it was put; as its version shows it once there is such an object; or its bytes: one of them is enough to keep. */
  #kept: ApiObject | Uint8Array
  #isVersioned = false
  #text: string | undefined
  #isAtRest = false

  constructor(whole: ApiObject) {
    const object = unversioned(whole)
    this.#kept = startsAsStored(object) ? object : inStoredOrder(object)
  }

  get object(): ApiObject {
    const kept = this.#kept
    if (kept instanceof Uint8Array) return parse(kept)
    return this.#isVersioned ? unversioned(kept) : kept
  }

  /** From now on it is kept as its version shows it. */
  becomes(versioned: ApiObject): void {
    this.#kept = versioned
    this.#isVersioned = true
  }

  get text(): string {
    if (this.#text !== undefined) return this.#text
    const kept = this.#kept
    const text = kept instanceof Uint8Array ? decoder.decode(kept) : objectJson(this.object)
    if (!this.#isAtRest) this.#text = text
    return text
  }

  get bytes(): Uint8Array {
    return this.#kept instanceof Uint8Array ? this.#kept : encoder.encode(this.text)
  }

  /** As bytes with its version in it. It is what is kept from then on, and not the text. */
  json(revision: number): Uint8Array {
    const { text } = this
    this.rest()
    return encoder.encode(revision === 0 ? text : withResourceVersion(text, String(revision)))
  }

  /** From now on its text is made anew for whoever asks. */
  rest(): void {
    this.#isAtRest = true
    this.#text = undefined
  }

  /** From now on its object is made anew for whoever asks. */
  putAway(): void {
    this.rest()
    if (!(this.#kept instanceof Uint8Array)) this.#kept = storeInArena(this.text)
  }
}

const parse = (bytes: Uint8Array): ApiObject => JSON.parse(decoder.decode(bytes)) as ApiObject

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

export class StoredObject {
  readonly revision: number
  readonly #source: Uint8Array | PendingObject
  #object: ApiObject | undefined
  #json: Uint8Array | undefined
  #isAtRest = false
  /** Asked for while at rest: who asks twice asks again. */
  #isAskedFor = false
  #isPutAway = false
  #protobuf: Uint8Array | undefined

  constructor(source: Uint8Array | PendingObject, revision: number) {
    this.#source = source
    this.revision = revision
  }

  /** The version in what was put; the one that a write has answered with and the one that a watch brings are the same. */
  static of(source: Uint8Array | PendingObject, revision: number): StoredObject {
    const known = source instanceof PendingObject ? source.stored : versions.get(source)
    if (known?.revision === revision) return known
    const stored = new StoredObject(source, revision)
    if (source instanceof PendingObject) source.stored = stored
    else versions.set(source, stored)
    return stored
  }

  /** The version that the store has there. */
  static from(item: KeyValue): StoredObject {
    return StoredObject.of(item.lazyValue instanceof PendingObject ? item.lazyValue : item.value, item.modRevision)
  }

  /** As the store has it. */
  get bytes(): Uint8Array {
    return bytesOf(this.#source)
  }

  get object(): ApiObject {
    const known = this.#object ?? (this.#isPutAway ? readAgain.get(this) : undefined)
    if (known !== undefined) return known
    const plain = plainOf(this.#source)
    // A preview was never stored and has no version.
    const version = this.revision === 0 ? {} : { resourceVersion: String(this.revision) }
    const object = { ...plain, metadata: { ...plain.metadata, ...version } }
    if (this.#isPutAway) {
      readAgain.set(this, object)
      return object
    }
    this.#object = object
    if (this.#source instanceof PendingObject && this.#source.stored === this) this.#source.becomes(object)
    return object
  }

  /** The whole object as JSON, with its resourceVersion. */
  get json(): Uint8Array {
    if (this.#json !== undefined) return this.#json
    const source = this.#source
    const json = source instanceof PendingObject ? source.json(this.revision) : withVersion(source, this.revision)
    if (!this.#isAtRest || this.#isAskedFor) this.#json = json
    this.#isAskedFor = this.#isAtRest
    return json
  }

  /** Hardly anybody will ask for its bytes again: they are made anew for the first who does. */
  rest(): void {
    this.#isAtRest = true
    this.#isAskedFor = false
    this.#json = undefined
    if (this.#source instanceof PendingObject) this.#source.rest()
  }

  /** Hardly anybody will ask for it at all: it is kept as bytes, outside of the heap. */
  putAway(): void {
    this.rest()
    this.#isPutAway = true
    this.#object = undefined
    this.#protobuf = undefined
    if (this.#source instanceof PendingObject) this.#source.putAway()
  }

  /** What stands in `json` behind kind and apiVersion: list items carry neither, and have a brace before this. */
  get jsonRest(): Uint8Array {
    return this.json.subarray(metadataPlace(this.json) - metadataKey.length)
  }

  /** The object's bytes in protobuf, without an envelope. */
  protobuf(message: Message): Uint8Array {
    if (this.#protobuf !== undefined) return this.#protobuf
    const bytes = encodeProtobuf(message, this.object)
    if (!this.#isPutAway) this.#protobuf = bytes
    return bytes
  }

  /** The same object as the store's last word on it at a later revision: a deletion carries the deletion's. */
  at(revision: number): StoredObject {
    return new StoredObject(this.#source, revision)
  }
}

const versions = new WeakMap<Uint8Array, StoredObject>()

const readAgainMax = 128
/** What was put away and is read is read several times in a row, as by its deletion. */
const readAgain = new RecentMap<StoredObject, ApiObject>(readAgainMax)

const plainOf = (source: Uint8Array | PendingObject): ApiObject =>
  source instanceof PendingObject ? source.object : (parsed.get(source) ?? parse(source))

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
