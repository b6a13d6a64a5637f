// What `why` says about objects of custom kinds, of which it knows nothing but the conventions of the API.
import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { bareKind } from '../../api/kind/bare-kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { why } from './why.ts'

const names = { group: 'example.com', version: 'v1', namespaced: true }
const widget = bareKind({ ...names, kind: 'Widget', plural: 'widgets', singular: 'widget' })
const gadget = bareKind({ ...names, kind: 'Gadget', plural: 'gadgets', singular: 'gadget' })

const object = (metadata: object, more: object = {}) =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a', namespace: 'default', uid: 'u', generation: 2, ...metadata },
    ...more,
  }) as unknown as ApiObject

const owner = (name: string, kind = 'Gadget', uid = name) => ({
  ownerReferences: [{ apiVersion: 'example.com/v1', kind, name, uid }],
})
const gadgets: Readonly<Record<string, object>> = {
  alive: { uid: 'alive' },
  leaving: { uid: 'leaving', deletionTimestamp: '2030-01-01T00:00:00Z' },
}

const ask = (about: ApiObject) =>
  why(
    widget,
    about,
    {
      list: () => Promise.resolve([]),
      find: (kind, namespace, name) => {
        const metadata = kind.plural === gadget.plural && namespace === 'default' ? gadgets[name] : undefined // safe name: a test names it
        return Promise.resolve(metadata && ({ metadata: { name, ...metadata } } as never))
      },
      kindOf: (apiVersion, kindName) =>
        Promise.resolve([widget, gadget].find((each) => each.kind === kindName && each.apiVersion === apiVersion)),
      nowMs: 0,
    },
    [],
  )

const condition = (type: string, status: string) => ({ type, status, reason: 'Why', message: 'because.' })
const ready = { status: { conditions: [condition('Ready', 'True')], observedGeneration: 2 } }

const rows: [why: string, metadata: object, more: object, sentence: RegExp][] = [
  [
    'a condition that is not True',
    {},
    { status: { conditions: [condition('Ready', 'False')] } },
    /^Its condition Ready is False: Why: because\.$/,
  ],
  [
    'a condition that should not be True',
    {},
    { status: { conditions: [condition('SyncFailure', 'True')] } },
    /^Its condition SyncFailure is True/,
  ],
  [
    'a change that its controller has not processed',
    {},
    { status: { observedGeneration: 1 } },
    /has not processed the last change yet \(generation 2, observed 1\)/,
  ],
  [
    'a finalizer that blocks its deletion',
    { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['example.com/hold', 'foregroundDeletion'] },
    ready,
    /waits for 2 finalizers: no component of Coxswain removes example\.com\/hold.*the garbage collector removes foregroundDeletion/,
  ],
  [
    'an owner that is gone',
    owner('gone'),
    ready,
    /^Its owner Gadget\/gone does not exist: the garbage collector deletes/,
  ],
  [
    'an owner that was replaced',
    owner('alive', 'Gadget', 'other'),
    ready,
    /is another object than the one that owned it/,
  ],
  ['an owner that is being deleted', owner('leaving'), ready, /^Its owner Gadget\/leaving is being deleted\.$/],
  [
    'an owner of an unknown kind',
    owner('x', 'Thing'),
    ready,
    /is of example\.com\/v1, which this cluster does not serve/,
  ],
]
for (const [name, metadata, more, sentence] of rows)
  test(`a custom object with ${name} is explained`, async () => {
    match((await ask(object(metadata, more))).waits.join(' '), sentence)
  })

test('a custom object without problems says what was checked', async () => {
  const { waits, summary } = await ask(object(owner('alive'), ready))
  deepEqual(waits, [])
  match(summary, /^No problem found\. Checked: its conditions and its owners/)
  match((await ask(object({}))).summary, /^It has no status: no controller has reported on it/)
})
