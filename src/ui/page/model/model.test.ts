// The models of the page, without a browser.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FlowRecorder, causeOf, type FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import type { ClusterObject, TableRow } from '../source/source.ts'
import { FlowRecord, isBetween } from './flow-record.ts'
import { lineDiff } from './line-diff.ts'
import { ownerTree } from './owner-tree.ts'
import { fragmentOf, locationOf, startLocation, type PageLocation } from './permalink.ts'
import { screenSize } from './screen-size.ts'
import { TableModel } from './table-model.ts'
import { topologyOf } from './topology.ts'
import { yamlText } from './yaml-text.ts'

const web = { resource: 'pods', namespace: 'default', name: 'web' }

function recorded(): { readonly events: readonly FlowEvent[]; readonly clock: VirtualClock } {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  const call = flow.record('call', 'kubectl', 'API Server', 'create pods', web)
  flow.record('persist', 'API Server', 'Store', 'put pod', web, 7, causeOf(call))
  flow.finish(call, '201')
  flow.record('watch', 'API Server', 'scheduler', 'ADDED', web, 7)
  flow.finish(flow.record('call', 'kubectl', 'API Server', 'delete pods', { ...web, name: 'other' }), '404')
  flow.record('call', 'kubelet/node-0', 'API Server', 'update leases', {
    resource: 'leases',
    namespace: 'x',
    name: 'y',
  })
  return { events: [...flow.events()], clock }
}

const everything = { object: undefined, between: '', expanded: [], untilMs: undefined, stages: false }

suite('line diff', () => {
  for (const [name, before, after, expected] of [
    ['equal texts have no difference', 'a\nb\n', 'a\nb\n', []],
    ['a changed line is removed and added', 'a\nb\nc\n', 'a\nx\nc\n', [' a', '-b', '+x', ' c']],
    ['a new text is added', '', 'a\n', ['+a']],
    ['a removed text is removed', 'a\n', '', ['-a']],
    ['a moved line keeps the others', 'a\nb\nc\n', 'b\nc\na\n', ['-a', ' b', ' c', '+a']],
  ] as const)
    test(name, () => {
      const signs = { same: ' ', added: '+', removed: '-', omitted: '…' }
      deepEqual(
        lineDiff(before, after).map(({ kind, text }) => `${signs[kind]}${text}`),
        expected,
      )
    })

  test('lines far from a change are omitted', () => {
    const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('')
    const kinds = lineDiff(text, text.replace('line 10', 'changed'), 1).map(({ kind }) => kind)
    deepEqual(kinds, ['omitted', 'same', 'removed', 'added', 'same', 'omitted'])
  })

  test('very long texts are compared as a whole', () => {
    const lines = (word: string): string => Array.from({ length: 1_000 }, (_, at) => `${word} ${at}\n`).join('')
    equal(lineDiff(lines('a'), lines('b')).length, 2_000)
  })
})

for (const [name, element, cell, size] of [
  ['the largest screen that fits', { widthPx: 814, heightPx: 400 }, { widthPx: 8, heightPx: 17 }, [100, 23]],
  ['a small element', { widthPx: 10, heightPx: 10 }, { widthPx: 8, heightPx: 17 }, [20, 4]],
  ['a screen that is not drawn', { widthPx: 800, heightPx: 400 }, { widthPx: 0, heightPx: 0 }, [20, 4]],
] as const)
  test(`terminal: ${name}`, () => {
    const { columns, rows } = screenSize(element, cell)
    deepEqual([columns, rows], size)
  })

suite('YAML', () => {
  for (const [name, value, expected] of [
    ['fields', { a: 1, b: 'x', c: undefined }, 'a: 1\nb: x\n'],
    ['nested fields', { a: { b: { c: true } } }, 'a:\n  b:\n    c: true\n'],
    ['lists are not indented below their field', { a: [{ b: 1, c: 2 }, 'x'] }, 'a:\n- b: 1\n  c: 2\n- x\n'],
    ['empty values', { a: {}, b: [], c: '', d: null }, 'a: {}\nb: []\nc: ""\nd: null\n'],
    [
      'texts that look like another type are quoted',
      { a: 'true', b: '1', c: 'x: y', d: '#' },
      'a: "true"\nb: "1"\nc: "x: y"\nd: "#"\n',
    ],
    [
      'several lines are a block',
      { a: 'x\ny\n', b: 'x\n\ny', c: 'x\n\n' },
      'a: |\n  x\n  y\nb: |-\n  x\n\n  y\nc: |+\n  x\n\n',
    ],
    ['a list in a list', [['a'], []], '- - a\n- []\n'],
    ['an empty object', {}, '{}\n'],
    ['a text', 'a', 'a\n'],
  ] as const)
    test(name, () => {
      equal(yamlText(value), expected)
    })
})

suite('permalink', () => {
  test('every part of a view is in its link', () => {
    const view: PageLocation = {
      view: 'objects',
      ...{ resource: 'deployments.apps', object: { ...web, name: 'a&b=c' }, event: 12 },
      ...{ expanded: [3, 4], between: 'scheduler>API Server', search: 'x y', revision: 9, tab: 'YAML', container: 'c' },
    }
    deepEqual(locationOf(fragmentOf(view)), view)
  })

  test('anything else is the start', () => {
    deepEqual(locationOf(''), startLocation)
    deepEqual(locationOf('#nothing?object=a&event=x&expanded=1e9.&revision=-1'), startLocation)
    equal(fragmentOf(startLocation), '#flows')
  })
})

suite('flow record', () => {
  test('the flow of an object, and what happens now without background messages', () => {
    const record = new FlowRecord()
    record.add(recorded().events)
    deepEqual(
      record.messages({ ...everything, object: web }).map(({ event }) => event.what),
      ['create pods', 'put pod'],
    )
    deepEqual(
      record.messages(everything).map(({ event }) => event.what),
      ['create pods', 'put pod', 'ADDED', 'delete pods'],
    )
    equal(record.messages({ ...everything, between: 'scheduler' }).length, 1)
    equal(record.messages({ ...everything, untilMs: -1 }).length, 0)
    equal(record.messages({ ...everything, object: web, untilMs: -1 }).length, 0)
  })

  test('causes and effects are found by id and by revision', () => {
    const record = new FlowRecord()
    const [call, write, delivery, other] = recorded().events as [FlowEvent, FlowEvent, FlowEvent, FlowEvent]
    record.add([call, write, delivery, other])
    equal(record.causeOf(write)?.id, call.id)
    equal(record.causeOf(delivery)?.id, write.id)
    equal(record.causeOf(other), undefined)
    equal(record.causeOf({ ...delivery, revision: 99 }), undefined)
    deepEqual(
      record.effectsOf(write).map(({ id }) => id),
      [delivery.id],
    )
    equal(record.get(call.id), call)
  })

  test('an event that is received again replaces the former one; the oldest are dropped', () => {
    const record = new FlowRecord()
    const [call] = recorded().events as [FlowEvent]
    record.add([call])
    record.add([{ ...call, outcome: 'changed' }])
    equal(record.size, 1)
    equal(record.get(call.id)?.outcome, 'changed')
    record.add(Array.from({ length: 70_000 }, (_, at) => ({ ...call, id: (at + 1) as FlowEvent['id'], atMs: at })))
    equal(record.size, 65_536)
    equal(record.get(1), undefined)
    equal(record.oldestMs, 70_000 - 65_536)
    equal(record.newestMs, Math.max(call.atMs, 69_999))
    record.clear()
    equal(record.size, 0)
    equal(record.oldestMs, 0)
  })

  for (const [between, from, to, expected] of [
    ['', 'a', 'b', true],
    ['a', 'a', 'b', true],
    ['a', 'b', 'a/x', true],
    ['a', 'ab', 'b', false],
    ['a>b', 'b', 'a', true],
    ['a>b', 'a', 'c', false],
  ] as const)
    test(`${from} → ${to} is between ${between}: ${expected}`, () => {
      equal(isBetween(between, from, to), expected)
    })
})

suite('map', () => {
  test('components are boxes in columns, and lines have rates', () => {
    const { events } = recorded()
    const { boxes, lines } = topologyOf(events, events[0]?.atMs ?? 0)
    const column = (id: string): number => boxes.find((box) => box.id === id)?.x ?? -1
    ok(column('kubectl') < column('API Server'))
    equal(column('API Server'), column('Store'))
    ok(column('scheduler') < column('kubelet/node-0'))
    const line = lines.find(({ id }) => id === 'API Server>kubectl')
    equal(line?.perSecond, 2 / 5)
    equal(line?.errorsPerSecond, 1 / 5)
    equal(topologyOf(events, (events[0]?.atMs ?? 0) + 60_000).lines[0]?.perSecond, 0)
  })

  test('many kubelets share a box', () => {
    const [event] = recorded().events as [FlowEvent]
    const events = Array.from({ length: 10 }, (_, at) => ({ ...event, from: `kubelet/node-${at}` }))
    const { boxes, lines } = topologyOf(events, event.atMs)
    deepEqual(boxes.map(({ label }) => label).toSorted(), ['10 kubelets', 'API Server'])
    equal(lines.length, 1)
  })
})

suite('table', () => {
  const row = (name: string, more: Partial<ClusterObject> = {}): TableRow => ({
    cells: [name, 1, null],
    object: { metadata: { name, namespace: 'default' }, ...more },
  })
  const table = (): TableModel => {
    const model = new TableModel()
    const labels = { app: 'Web' }
    const ownerReferences = [{ kind: 'ReplicaSet', name: 'rs', uid: '1' }]
    const first = row('b', { metadata: { name: 'b', namespace: 'default', labels, ownerReferences } })
    const second = row('a', {
      spec: { containers: [{ image: 'nginx' }] },
      status: { conditions: [{ reason: 'Unschedulable' }] },
    })
    model.apply({ kind: 'replace', table: { columns: [{ name: 'Name', priority: 0 }], rows: [first, second] } })
    return model
  }
  const names = (model: TableModel, search: string): string[] =>
    model.search(search).map(({ object }) => object.metadata.name)

  for (const [search, expected] of [
    ['', ['a', 'b']],
    ['app=web', ['b']],
    ['replicaset/rs', ['b']],
    ['NGINX', ['a']],
    ['unschedulable default', ['a']],
    ['missing', []],
  ] as const)
    test(`a search for "${search}" finds ${expected.join(' and ') || 'nothing'}`, () => {
      deepEqual(names(table(), search), expected)
    })

  test('changes are applied', () => {
    const model = table()
    model.apply({ kind: 'set', row: row('c') })
    model.apply({ kind: 'remove', object: row('a').object })
    deepEqual(names(model, ''), ['b', 'c'])
    equal(model.search('').length, model.search('').length)
    equal(model.get('default', 'c')?.cells[0], 'c')
    equal(model.isLoaded, true)
    model.clear()
    equal(model.size, 0)
  })
})

test('owned objects are in the order of a tree, and a cycle ends', () => {
  const object = (name: string, owner: string): { resource: string; object: ClusterObject } => ({
    resource: 'pods',
    object: { metadata: { name, uid: name, ownerReferences: [{ kind: 'X', name: owner, uid: owner }] } },
  })
  const tree = ownerTree([object('rs', 'web'), object('pod', 'rs'), object('other', 'foreign')], 'web')
  deepEqual(
    tree.map((row) => [row.object.metadata.name, row.depth]),
    [
      ['rs', 0],
      ['pod', 1],
    ],
  )
  equal(ownerTree([object('a', 'a')], 'a').length, 8)
  deepEqual(ownerTree([], undefined), [])
})
