// The models of the page, without a browser.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FlowRecorder, causeOf, type FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import type { ClusterObject, TableRow } from '../source/source.ts'
import { cellState } from './cell-states.ts'
import { FlowRecord } from './flows/flow-record.ts'
import { everyMessage } from './flows/message-filter.ts'
import { lineDiff } from './line-diff.ts'
import { pointAt, routeAlong, type Place } from './line-routes.ts'
import { isArrowKey, nearest } from './nearest.ts'
import { ownerTree } from './owner-tree.ts'
import { fragmentOf, locationOf, startLocation, type PageLocation } from './permalink.ts'
import { podsByNode, podStateOf, type PodMark } from './pod-marks.ts'
import { screenSize } from './screen-size.ts'
import { TableModel } from './table-model.ts'
import { narrowColumns, unscheduledId, wideColumns } from './map-columns.ts'
import { nodesOf, podPx, topologyOf } from './topology.ts'
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

const everything = everyMessage

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
    ['fields are sorted', { b: 1, 'a/b': 2, B: 3, a: 4 }, 'B: 3\na: 4\na/b: 2\nb: 1\n'],
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
      resource: 'deployments.apps',
      namespace: 'default',
      object: { ...web, name: 'a&b=c' },
      event: 12,
      expanded: [3, 4],
      between: 'scheduler>API Server',
      unfolded: ['kubelet', 'controller'],
      kind: 'pods',
      onlyFailures: true,
      showsBackground: true,
      search: 'x y',
      sort: '-Age',
      revision: 9,
      compared: 7,
      tab: 'YAML',
      pod: 'web-1',
      container: 'c',
      node: 'node-0',
      target: 'service/web:80',
    }
    deepEqual(locationOf(fragmentOf(view)), view)
  })

  test('anything else is the start', () => {
    deepEqual(locationOf(''), startLocation)
    deepEqual(locationOf('#nothing?object=a&event=x&expanded=1e9.&revision=-1'), startLocation)
    equal(fragmentOf(startLocation), '#overview')
    equal(locationOf('#nothing', 'flows').view, 'flows')
  })
})

suite('flow record', () => {
  test('the flow of an object, and what happens now without background messages', () => {
    const record = new FlowRecord()
    record.add(recorded().events)
    deepEqual(
      record.messages({ ...everything, object: web }).messages.map(({ event }) => event.what),
      ['create pods', 'put pod'],
    )
    deepEqual(
      record.messages(everything).messages.map(({ event }) => event.what),
      ['create pods', 'put pod', 'delete pods'],
    )
    const count = (filter: Partial<typeof everything>) => record.messages({ ...everything, ...filter }).messages.length
    equal(count({ between: 'scheduler' }), 0)
    equal(count({ between: 'scheduler', showsBackground: true }), 1)
    equal(count({ untilMs: -1 }), 0)
    equal(count({ object: web, untilMs: -1 }), 0)
  })

  test('messages are in the order in which they were recorded, whenever they arrive', () => {
    const record = new FlowRecord()
    const [first, second, third, ...rest] = recorded().events as [FlowEvent, FlowEvent, FlowEvent, ...FlowEvent[]]
    record.add([first, third])
    record.addPast([first, second, third, ...rest])
    deepEqual([...record.values()], [first, second, third, ...rest])
    equal(record.newestMs, Math.max(...rest.map(({ atMs }) => atMs)))
    const late = new FlowRecord()
    late.add([first, third, second])
    deepEqual([...late.values()], [first, second, third])
    equal(late.get(second.id), second)
    equal(late.get(99), undefined)
  })

  test('older messages are added before all others, and everything can be removed', () => {
    const record = new FlowRecord()
    const [first, ...rest] = recorded().events as [FlowEvent, ...FlowEvent[]]
    record.add(rest)
    const { version } = record
    record.addPast([first, ...rest])
    deepEqual([record.size, record.oldestMs], [rest.length + 1, first.atMs])
    equal(record.version, version + 1)
    record.addPast([first])
    equal(record.version, version + 1, 'it is known')
    equal(record.get(first.id), first)
    deepEqual([...record.values()], [first, ...rest])
    ok(record.participants.has(first.from) && record.participants.has(first.to))
    record.clear()
    deepEqual([record.size, record.oldestMs, record.newestMs], [0, 0, 0])
    equal(record.get(first.id), undefined)
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
    ok(record.size <= 65_536 && record.size > 60_000)
    equal(record.get(1), undefined)
    equal(record.oldestMs, 70_000 - record.size)
    equal(record.get(70_000)?.atMs, 69_999)
    deepEqual(
      record.between(69_990, 69_993).map(({ atMs }) => atMs),
      [69_993, 69_992, 69_991],
    )
    equal(record.newestMs, Math.max(call.atMs, 69_999))
    record.clear()
    equal(record.size, 0)
    equal(record.oldestMs, 0)
  })
})

suite('map', () => {
  const columns = wideColumns
  const pairs = [
    ['kubectl', 'API Server'],
    ['API Server', 'kubectl'],
    ['API Server', 'Store'],
    ['scheduler', 'API Server'],
    ['controller/deployment', 'API Server'],
    ['kubelet/node-0', 'API Server'],
    ['kubelet/node-0', 'Runtime'],
    ['kubelet/node-1', 'Runtime'],
    ['controller/attach-detach', 'csi/driver'],
    ['client', 'Ingress'],
    ['kubectl', 'client'],
    ['API Server', 'Webhook/w'],
  ] as const
  const pod = (name: string, state: PodMark['state'] = 'ready'): PodMark => ({ namespace: 'default', name, state })
  const pods = new Map([
    ['node-0', Array.from({ length: 70 }, (_, at) => pod(`p${at}`))],
    ['node-1', [pod('q')]],
    ['', [pod('waiting', 'failing')]],
  ])

  test('components are boxes in columns, and lines have rates', () => {
    const { events } = recorded()
    const record = new FlowRecord()
    record.add(events)
    const { boxes, lines } = topologyOf({ pairs: record.pairs, recent: events, pods: new Map(), columns, node: '' })
    const column = (id: string): number => boxes.find((box) => box.id === id)?.column ?? -1
    deepEqual(['kubectl', 'scheduler', 'API Server', 'Store', 'kubelet/node-0'].map(column), [0, 0, 1, 1, 2])
    const line = lines.find(({ id }) => id === 'API Server>kubectl')
    equal(line?.perSecond, 2 / 5)
    equal(line?.errorsPerSecond, 1 / 5)
    equal(topologyOf({ pairs: record.pairs, recent: [], pods: new Map(), columns, node: '' }).lines[0]?.perSecond, 0)
  })

  test('nodes have their pods; pods without a node have a box of their own', () => {
    const { boxes } = topologyOf({ pairs, recent: [], pods, columns, node: '' })
    const box = (id: string): (typeof boxes)[number] | undefined => boxes.find((each) => each.id === id)
    deepEqual([box('kubelet/node-0')?.podCount, box('kubelet/node-0')?.pods.length], [70, 60])
    deepEqual(
      box(unscheduledId)?.pods.map(({ name }) => name),
      ['waiting'],
    )
  })

  for (const [screen, own] of Object.entries({ wide: wideColumns, narrow: narrowColumns }))
    test(`boxes do not overlap, and no line crosses a box, on a ${screen} screen`, () => {
      const { boxes, lines, widthPx, heightPx } = topologyOf({ pairs, recent: [], pods, columns: own, node: '' })
      equal(lines.length, pairs.length - 1)
      for (const a of boxes) {
        ok(a.x >= 0 && a.x + a.widthPx <= widthPx && a.y + a.heightPx <= heightPx, a.id)
        for (const b of boxes) ok(a === b || !overlaps(a, b), `${a.id} and ${b.id}`)
        for (const each of a.pods) ok(each.x + podPx <= a.x + a.widthPx && each.y + podPx <= a.y + a.heightPx)
      }
      for (const { id, route, from, to } of lines) {
        ok(
          route.points.every(([x]) => x >= 0 && x <= widthPx),
          id,
        )
        for (const box of boxes)
          for (let part = 0.01; part < 1; part += 0.01) {
            const [x, y] = pointAt(route, part)
            const isInside = x > box.x && x < box.x + box.widthPx && y > box.y && y < box.y + box.heightPx
            ok(!isInside, `${id} crosses ${box.id} at ${x}, ${y} (from ${from.id} to ${to.id})`)
          }
      }
    })

  test('everything fits on a narrow screen: the API server on the left, everything else on its right', () => {
    const { boxes, widthPx } = topologyOf({ pairs, recent: [], pods, columns: narrowColumns, node: '' })
    ok(widthPx <= 375, String(widthPx))
    deepEqual(
      boxes.filter(({ column }) => column === 0).map(({ id }) => id),
      ['Store', 'API Server'],
    )
    const others = boxes.filter(({ column }) => column === 1).toSorted((a, b) => a.y - b.y)
    deepEqual(
      others.map(({ label }) => label),
      [
        'client',
        'kubectl',
        'scheduler',
        'attach-detach',
        'deployment',
        'node-0',
        'node-1',
        'Ingress',
        'Webhook/w',
        'no node',
        'Runtime',
        'csi/driver',
      ],
    )
  })

  test('of one node more pods are drawn, and only its own lines', () => {
    const { boxes, lines } = topologyOf({ pairs, recent: [], pods, columns, node: 'node-0' })
    const box = boxes.find(({ id }) => id === 'kubelet/node-0')
    deepEqual([box?.podCount, box?.pods.length], [70, 70])
    ok(!boxes.some(({ id }) => id === 'kubelet/node-1' || id === unscheduledId || id === 'scheduler'))
    ok(lines.length > 0)
    for (const { id } of lines) ok(id.includes('kubelet/node-0'), id)
    for (const { y } of box?.pods ?? []) ok(y + podPx <= (box?.y ?? 0) + (box?.heightPx ?? 0))
    deepEqual(nodesOf(pairs, pods), ['node-0', 'node-1'])
    deepEqual(
      nodesOf(
        [],
        new Map([
          ['b', []],
          ['', []],
          ['a', []],
        ]),
      ),
      ['a', 'b'],
    )
  })

  test('many nodes share a box', () => {
    const [event] = recorded().events as [FlowEvent]
    const events = Array.from({ length: 20 }, (_, at) => ({ ...event, from: `kubelet/node-${at}` }))
    const many = events.map(({ from, to }) => [from, to] as const)
    const { boxes, lines, boxIdOf } = topologyOf({ pairs: many, recent: events, pods, columns, node: '' })
    deepEqual(boxes.map(({ label }) => label).toSorted(), ['20 nodes', 'API Server', unscheduledId])
    deepEqual(
      lines.map(({ perSecond }) => perSecond),
      [4],
    )
    equal(boxIdOf('kubelet/node-3'), 'kubelet')
    equal(boxes.find(({ id }) => id === 'kubelet')?.podCount, 71)
  })

  for (const [part, point] of [
    [0, [0, 0]],
    [0.5, [10, 0]],
    [0.75, [10, 5]],
    [1, [10, 10]],
  ] as const)
    test(`the point at ${part} of a line`, () => {
      deepEqual(
        pointAt(
          routeAlong([
            [0, 0],
            [10, 0],
            [10, 0],
            [10, 10],
          ]),
          part,
        ),
        point,
      )
    })

  for (const [key, expected] of [
    ['ArrowRight', 'right'],
    ['ArrowLeft', undefined],
    ['ArrowDown', 'below'],
    ['ArrowUp', 'above'],
  ] as const)
    test(`${key} leads to ${expected ?? 'nothing'}`, () => {
      const items = [
        { item: 'self', at: [0, 0] },
        { item: 'right', at: [50, 2] },
        { item: 'far', at: [90, 0] },
        { item: 'aside', at: [30, 40] },
        { item: 'below', at: [0, 30] },
        { item: 'above', at: [3, -90] },
      ] as const
      equal(isArrowKey(key), true)
      equal(nearest(items, [0, 0], key), expected)
    })

  for (const [state, status] of [
    ['ready', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }],
    ['starting', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }],
    ['starting', { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] }],
    ['failing', { phase: 'Running', containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] }],
    ['failing', { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False' }] }],
    ['failing', { phase: 'Failed' }],
    ['ended', { phase: 'Succeeded' }],
    ['starting', undefined],
  ] as const)
    test(`a pod with ${JSON.stringify(status)} is ${state}`, () => {
      equal(podStateOf({ metadata: { name: 'a' }, ...(status && { status }) }), state)
    })

  test('pods are grouped by node, those that fail first', () => {
    const on = (name: string, nodeName: string | undefined, phase: string): ClusterObject => ({
      metadata: { name, namespace: 'default' },
      spec: { nodeName },
      status: { phase },
    })
    const nodes = podsByNode([on('a', 'n', 'Running'), on('b', 'n', 'Failed'), on('c', undefined, 'Pending')])
    deepEqual(
      [...nodes].map(([node, marks]) => [node, marks.map(({ name }) => name)]),
      [
        ['n', ['b', 'a']],
        ['', ['c']],
      ],
    )
  })
})

const overlaps = (a: Place, b: Place): boolean =>
  a.x < b.x + b.widthPx && b.x < a.x + a.widthPx && a.y < b.y + b.heightPx && b.y < a.y + a.heightPx

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
    model.keys({ search, sort: '' }).map((key) => model.at(key)?.object.metadata.name ?? '')

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

  test('rows stay sorted, whatever is added or removed', () => {
    const model = table()
    for (const name of ['d', 'aa', 'c', 'b', '0']) model.apply({ kind: 'set', row: row(name) })
    for (const name of ['c', 'missing']) model.apply({ kind: 'remove', object: row(name).object })
    deepEqual(names(model, ''), ['0', 'a', 'aa', 'b', 'd'])
  })

  test('changes are applied', () => {
    const model = table()
    model.apply({ kind: 'set', row: row('c') })
    model.apply({ kind: 'remove', object: row('a').object })
    deepEqual(names(model, ''), ['b', 'c'])
    equal(model.get('default', 'c')?.cells[0], 'c')
    equal(model.isLoaded, true)
    const { version } = model
    model.clear()
    deepEqual([model.size, model.version > version], [0, true])
  })

  for (const [sort, expected] of [
    ['Restarts', ['c', 'b', 'a']],
    ['-Restarts', ['a', 'b', 'c']],
    ['Age', ['b', 'a', 'c']],
    ['-Age', ['c', 'a', 'b']],
    ['Namespace', ['a', 'b', 'c']],
    ['Owner', ['a', 'c', 'b']],
    ['Nothing', ['a', 'b', 'c']],
  ] as const)
    test(`rows are sorted by ${sort}`, () => {
      const model = new TableModel()
      const columns = ['Name', 'Restarts'].map((name) => ({ name, priority: 0 }))
      const rows = [
        ['a', '12', '2026-01-02T00:00:00Z', []],
        ['b', '3 (5m ago)', '2026-01-03T00:00:00Z', [{ kind: 'ReplicaSet', name: 'rs', uid: 'r' }]],
        ['c', '0', '2025-01-01T00:00:00Z', []],
      ] as const
      const tableRows = rows.map(([name, restarts, creationTimestamp, ownerReferences]) => ({
        cells: [name, restarts],
        object: { metadata: { name, creationTimestamp, ownerReferences } },
      }))
      model.apply({ kind: 'replace', table: { columns, rows: tableRows } })
      deepEqual(
        model.keys({ search: '', sort }).map((key) => key.slice(1)),
        expected,
      )
    })
})

suite('states of cells', () => {
  for (const [column, text, state] of [
    ['Status', 'Running', 'good'],
    ['Status', 'CrashLoopBackOff', 'failing'],
    ['Status', 'Init:0/1', 'waiting'],
    ['Status', 'Pending', 'waiting'],
    ['Status', 'Completed', 'ended'],
    ['Status', 'NotReady', 'failing'],
    ['Status', 'Ready,SchedulingDisabled', 'waiting'],
    ['Status', 'Bound', 'good'],
    ['Ready', '2/3', 'waiting'],
    ['Ready', '3/3', 'good'],
    ['Ready', '0/0', 'plain'],
    ['Ready', 'False', 'failing'],
    ['Completions', '1/1', 'ended'],
    ['Type', 'Warning', 'failing'],
    ['Type', 'ClusterIP', 'plain'],
    ['Name', 'error', 'plain'],
  ] as const)
    test(`${column} ${text} is ${state}`, () => equal(cellState(column, text), state))
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
