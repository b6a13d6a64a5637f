// StoredObject: one version of an object. It is parsed once and encoded once per media type, both on demand; the same
// bytes answer GETs, lists and all watchers. The watch cache that holds a version decides when it ages and is offloaded.
import { assert } from '../../base/assert.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import type { KeyValue, LazyValue } from '../../store/store.ts'
import type { Arena } from './arena.ts'
import { withResourceVersion } from './object-json.ts'
import {
  activeState,
  aged,
  encodingRequested,
  nextState,
  type ActiveState,
  type IdleState,
  type ObjectEvent,
  type ObjectState,
} from './object-state.ts'
import {
  asStored,
  decodeText,
  parseObject,
  storedText,
  withoutType,
  withVersion,
  withVersionBytes,
} from './stored-json.ts'
import { readableValue } from './upstream-value.ts'

const encoder = new TextEncoder()
/** Of a character of a string: a pair of them has four bytes. */
const utf8BytesMax = 3

export class StoredObject implements LazyValue {
  /** 0 before the commit, and for objects that are never stored. */
  #revision: number
  #state: ObjectState

  private constructor(revision: number, state: ObjectState) {
    this.#revision = revision
    this.#state = state
  }

  /** An object to be written. The store may never need its bytes. */
  static pending(object: ApiObject): StoredObject {
    return new StoredObject(0, { kind: 'pending', object: asStored(object), text: undefined })
  }

  /** An object as a version of this revision, without the store: a dry run, a computed object, a converted one. */
  static ofObject(object: ApiObject, revision: number): StoredObject {
    return new StoredObject(revision, activeState(withVersion(asStored(object), revision), undefined))
  }

  static ofBytes(bytes: Uint8Array, revision: number): StoredObject {
    return new StoredObject(revision, activeState(undefined, bytes))
  }

  /** A version that the store returned. Where this process wrote it, it is the one that its writer got. */
  static ofItem(item: KeyValue): StoredObject {
    const { lazyValue } = item
    return lazyValue instanceof StoredObject
      ? lazyValue.committedAt(item.modRevision)
      : StoredObject.ofBytes(readableValue(item.key, item.value), item.modRevision)
  }

  get revision(): number {
    return this.#revision
  }

  /** This version, now that the store has assigned its revision. */
  committedAt(revision: number): StoredObject {
    if (this.#revision === revision) return this
    if (this.#state.kind !== 'pending') return this.atRevision(revision)
    this.#revision = revision
    this.#apply({ kind: 'committed', revision })
    return this
  }

  /** The same object under a later revision: the event of a deletion carries the deletion's. */
  atRevision(revision: number): StoredObject {
    const { kind } = this.#state
    const bytes = kind === 'pending' ? undefined : this.#state.bytes
    const object = kind === 'offloaded' ? undefined : this.object
    return new StoredObject(revision, activeState(object && withVersion(object, revision), bytes))
  }

  /** The version is superseded, or so old that it is rarely read: its encodings are dropped. */
  age(): void {
    this.#apply(aged)
  }

  /** The version will hardly be read again: only its bytes are stored, outside of the heap. */
  offload(arena: Arena): void {
    this.#apply({ kind: 'offloaded', arena })
  }

  get object(): ApiObject {
    const state = this.#state
    switch (state.kind) {
      case 'pending':
        return state.object
      case 'offloaded':
        return state.arena.decoded(this, state.bytes.length, () =>
          withVersion(parseObject(state.bytes), this.#revision),
        )
      default:
        return (state.object ??= withVersion(parseObject(bytesIn(state)), this.#revision))
    }
  }

  /** Decodes the object now instead of when it is first read. */
  decode(): this {
    const { object } = this
    assert(object.metadata !== undefined, 'a stored object has metadata')
    return this
  }

  /** The JSON as the store has it. */
  get text(): string {
    const state = this.#state
    if (state.kind === 'pending') return (state.text ??= storedText(state.object))
    if (state.bytes !== undefined) return decodeText(state.bytes)
    if (state.kind !== 'active') return storedText(this.object)
    const text = state.text ?? storedText(this.object)
    // Once the JSON for readers is cached, the text is not needed any more.
    if (state.json === undefined) state.text = text
    return text
  }

  /** The same as bytes. */
  get bytes(): Uint8Array {
    const state = this.#state
    return state.kind !== 'pending' && state.bytes !== undefined ? state.bytes : encoder.encode(this.text)
  }

  bytesUpTo(max: number): number {
    const state = this.#state
    if (state.kind !== 'pending') return this.storedBytes
    // Counting characters without encoding them would take longer than to encode them, which the write needs in any case.
    const { length } = this.text
    return length > max || length * utf8BytesMax <= max ? length : byteLength(this.text)
  }

  /** The length of `bytes`. Nothing is cached for it. */
  get storedBytes(): number {
    const state = this.#state
    if (state.kind !== 'pending' && state.bytes !== undefined) return state.bytes.length
    return encoder.encode(storedText(this.object)).length
  }

  /** The whole object as JSON, with its resourceVersion. */
  get json(): Uint8Array {
    this.#apply(encodingRequested)
    const state = this.#state
    if (state.kind !== 'active') return this.#encodeJson()
    state.json ??= this.#encodeJson()
    state.text = undefined
    return state.json
  }

  #encodeJson(): Uint8Array {
    const state = this.#state
    const revision = this.#revision
    if (state.kind !== 'pending' && state.bytes !== undefined) return withVersionBytes(state.bytes, revision)
    return encoder.encode(revision === 0 ? this.text : withResourceVersion(this.text, String(revision)))
  }

  /** `json` after kind and apiVersion, without the opening brace: items of a list have neither. */
  get jsonWithoutType(): Uint8Array {
    return withoutType(this.json)
  }

  /** The object in protobuf, without an envelope. */
  protobuf(message: Message): Uint8Array {
    this.#apply(encodingRequested)
    const state = this.#state
    if (state.kind !== 'active') return encodeProtobuf(message, this.object)
    return (state.protobuf ??= encodeProtobuf(message, this.object))
  }

  #apply(event: ObjectEvent): void {
    this.#state = nextState(this.#state, event)
  }
}

/** Of text in UTF-8. */
const byteLength = (text: string): number => encoder.encode(text).length

const bytesIn = ({ bytes }: ActiveState | IdleState): Uint8Array => {
  assert(bytes !== undefined, 'a version without an object has bytes')
  return bytes
}
