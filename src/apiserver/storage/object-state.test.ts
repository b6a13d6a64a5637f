// The transitions of a version, one row each.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { Arena } from './arena.ts'
import { activeState, nextState, type ObjectEvent, type ObjectState } from './object-state.ts'

const arena = new Arena()
const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } } as unknown as ApiObject
const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: '7' } }
const bytes = new TextEncoder().encode('{}')

const states = {
  pending: { kind: 'pending', object, text: 'text' },
  active: { ...activeState(versioned, undefined), json: bytes, protobuf: bytes },
  read: activeState(undefined, bytes),
  idle: { kind: 'idle', bytes: undefined, object: versioned, wasRequested: false },
  requested: { kind: 'idle', bytes: undefined, object: versioned, wasRequested: true },
  offloaded: { kind: 'offloaded', bytes, arena },
} as const satisfies Record<string, ObjectState>

const events = {
  committed: { kind: 'committed', revision: 7 },
  aged: { kind: 'aged' },
  encodingRequested: { kind: 'encodingRequested' },
  offloaded: { kind: 'offloaded', arena },
} as const satisfies Record<string, ObjectEvent>

const rows: [from: keyof typeof states, event: keyof typeof events, to: ObjectState | 'same'][] = [
  ['pending', 'committed', activeState(versioned, undefined, 'text')],
  ['pending', 'aged', 'same'],
  ['pending', 'encodingRequested', 'same'],
  ['active', 'committed', 'same'],
  ['active', 'aged', states.idle],
  ['active', 'encodingRequested', 'same'],
  ['read', 'aged', { ...states.idle, bytes, object: undefined }],
  ['read', 'offloaded', states.offloaded],
  ['idle', 'committed', 'same'],
  ['idle', 'aged', 'same'],
  ['idle', 'encodingRequested', states.requested],
  ['requested', 'aged', states.idle],
  ['requested', 'encodingRequested', activeState(versioned, undefined)],
  ['offloaded', 'committed', 'same'],
  ['offloaded', 'aged', 'same'],
  ['offloaded', 'encodingRequested', 'same'],
  ['offloaded', 'offloaded', 'same'],
]
for (const [from, event, to] of rows)
  test(`${from}, ${event}: ${to === 'same' ? 'stays as it is' : to.kind}`, () => {
    const next = nextState(states[from], events[event])
    if (to === 'same') equal(next, states[from])
    else deepEqual(next, to)
  })

for (const from of ['pending', 'active', 'idle'] as const)
  test(`${from}, offloaded: the stored JSON is in the arena`, () => {
    const next = nextState(states[from], events.offloaded)
    equal(next.kind, 'offloaded')
    const stored = next.kind === 'offloaded' ? new TextDecoder().decode(next.bytes) : ''
    equal(stored, from === 'pending' ? 'text' : JSON.stringify(object))
  })
