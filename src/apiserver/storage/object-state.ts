// ObjectState: what is in memory of one version of an object. A new version is read by its writer and by many watchers, so
// its encodings are cached. An older one keeps its object only, and an offloaded one its bytes only.
import type { ApiObject } from '../../api/meta/object.ts'
import type { Arena } from './arena.ts'
import { storedText, withVersion } from './stored-json.ts'

/** Handed to the store, without a revision yet. */
export interface PendingState {
  readonly kind: 'pending'
  readonly object: ApiObject
  text: string | undefined
}

/** Encodings are cached when they are made. At least one of `bytes` and `object` is set. */
export interface ActiveState {
  readonly kind: 'active'
  /** As the store returned it; undefined where the object was written by this process. */
  readonly bytes: Uint8Array | undefined
  object: ApiObject | undefined
  /** The stored JSON, until the JSON for readers is made from it. */
  text: string | undefined
  json: Uint8Array | undefined
  protobuf: Uint8Array | undefined
}

/** Encodings are not cached until one has been requested twice. */
export interface IdleState {
  readonly kind: 'idle'
  readonly bytes: Uint8Array | undefined
  object: ApiObject | undefined
  readonly wasRequested: boolean
}

/** Bytes outside of the heap. The arena caches the objects that were read last. */
export interface OffloadedState {
  readonly kind: 'offloaded'
  readonly bytes: Uint8Array
  readonly arena: Arena
}

export type ObjectState = PendingState | ActiveState | IdleState | OffloadedState

export type ObjectEvent =
  | { readonly kind: 'committed'; readonly revision: number }
  /** The version is superseded, or so old that it is rarely read. */
  | { readonly kind: 'aged' }
  | { readonly kind: 'encodingRequested' }
  | { readonly kind: 'offloaded'; readonly arena: Arena }

export const encodingRequested: ObjectEvent = { kind: 'encodingRequested' }
export const aged: ObjectEvent = { kind: 'aged' }

export const activeState = (
  object: ApiObject | undefined,
  bytes: Uint8Array | undefined,
  text?: string,
): ActiveState => ({ kind: 'active', bytes, object, text, json: undefined, protobuf: undefined })

/** The only place where a version changes its state. */
export function nextState(state: ObjectState, event: ObjectEvent): ObjectState {
  switch (event.kind) {
    case 'committed':
      return state.kind === 'pending'
        ? activeState(withVersion(state.object, event.revision), undefined, state.text)
        : state
    case 'aged':
      if (state.kind === 'active' || (state.kind === 'idle' && state.wasRequested))
        return { kind: 'idle', bytes: state.bytes, object: state.object, wasRequested: false }
      return state
    case 'encodingRequested':
      if (state.kind !== 'idle') return state
      return state.wasRequested ? activeState(state.object, state.bytes) : { ...state, wasRequested: true }
    case 'offloaded':
      return state.kind === 'offloaded'
        ? state
        : { kind: 'offloaded', bytes: bytesToOffload(state, event.arena), arena: event.arena }
    default:
      return event satisfies never
  }
}

function bytesToOffload(state: PendingState | ActiveState | IdleState, arena: Arena): Uint8Array {
  if (state.kind !== 'pending' && state.bytes !== undefined) return state.bytes
  const text = state.kind === 'idle' ? undefined : state.text
  return arena.add(text ?? storedText(state.object as ApiObject))
}
