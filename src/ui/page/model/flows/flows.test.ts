import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { causeOf, FlowRecorder, type FlowEvent } from '../../../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../../../base/time/virtual-clock.ts'
import { causeChain } from '../../../../flows/cause-chain.ts'
import type { DrawnMessage } from '../../../../flows/svg/drawn-message.ts'
import { sequenceLayout, type Row } from '../../../../flows/svg/sequence-layout.ts'
import { beyondText, fittingLayout, placeLabel, readableLeftPx, revealedLeftPx } from './fitting-layout.ts'
import { FlowRecord } from './flow-record.ts'
import { inReadingOrder, lifelineGroups, unfoldedFor } from './lifeline-groups.ts'
import { everyMessage, isAdmitted, isBetween, type MessageFilter } from './message-filter.ts'
import { recentMessages } from './recent-messages.ts'

const web = { resource: 'pods', namespace: 'default', name: 'web' }
const kubelets = (count: number): string[] => Array.from({ length: count }, (_, at) => `kubelet/node-${at}`)

suite('lifelines', () => {
  for (const [name, participants, unfolded, labels] of [
    ['the kubelets of three nodes have their own', kubelets(3), [], []],
    ['those of many nodes share one', kubelets(30), [], ['kubelets (30)']],
    ['it unfolds', kubelets(30), ['kubelet'], ['kubelets (30) unfolded']],
    ['the watch of the controllers is theirs', ['controllers', ...names('controller', 5)], [], ['controllers (5)']],
    ['four controllers have their own', ['controllers', ...names('controller', 4)], [], []],
    ['equal components of other kinds share one too', names('csi', 4), [], ['CSI drivers (4)']],
    ['names without a group have their own', ['a', 'b', 'c', 'd', 'e', '/x', 'y/'], [], []],
  ] as const)
    test(name, () => {
      const { groups, lifelineOf } = lifelineGroups(participants, new Set(unfolded))
      deepEqual(
        groups.map(({ label, isFolded }) => (isFolded ? label : `${label} unfolded`)),
        labels,
      )
      const folded = groups.filter(({ isFolded }) => isFolded)
      deepEqual(
        new Set(participants.map(lifelineOf)),
        new Set(folded.length > 0 ? folded.map(({ label }) => label) : participants),
      )
    })

  for (const [between, expected] of [
    ['', ['a']],
    ['kubelet/node-1', ['a', 'kubelet']],
    ['scheduler>controller/job', ['a', 'controller']],
    ['controllers', ['a']],
    ['kubelet', ['a']],
  ] as const)
    test(`a filter of ${between === '' ? 'nothing' : between} unfolds the group of what it names`, () => {
      deepEqual([...unfoldedFor(['a'], between)], expected)
    })

  test('they are in the order in which requests pass them', () => {
    const participants = [
      'Runtime',
      'kubelet/a',
      'controllers',
      'Store',
      'scheduler',
      'kubectl',
      'API Server',
      'browser',
    ]
    deepEqual(inReadingOrder(participants), [
      'kubectl',
      'browser',
      'API Server',
      'Store',
      'scheduler',
      'controllers',
      'kubelet/a',
      'Runtime',
    ])
  })
})

suite('filters', () => {
  const event: FlowEvent = only((flow) => flow.record('call', 'kubectl', 'API Server', 'create pods', web))
  for (const [filter, expected] of [
    [{}, true],
    [{ namespace: 'default' }, true],
    [{ namespace: 'other' }, false],
    [{ namespace: 'other', object: web }, true],
    [{ kind: 'pods' }, true],
    [{ kind: 'nodes' }, false],
    [{ search: 'WE' }, true],
    [{ search: 'default/w' }, true],
    [{ search: 'we default' }, true],
    [{ search: 'we other' }, false],
    [{ between: 'kubectl' }, true],
    [{ between: 'scheduler' }, false],
    [{ onlyFailures: true }, false],
    [{ untilMs: event.atMs - 1 }, false],
  ] as readonly [Partial<MessageFilter>, boolean][])
    test(`${JSON.stringify(filter)} ${expected ? 'admits' : 'rejects'} the creation of a pod`, () => {
      equal(isAdmitted({ ...everyMessage, ...filter }, event), expected)
    })

  test('only failures', () => {
    equal(isAdmitted({ ...everyMessage, onlyFailures: true }, { ...event, outcome: '409 exists' }), true)
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

suite('recent messages', () => {
  const lease = { resource: 'leases', namespace: 'kube-node-lease', name: 'node-0' }
  const events = recorded((flow) => {
    flow.record('call', 'kubelet/node-0', 'API Server', 'update leases', lease)
    flow.record('watch', 'API Server', 'controllers', 'BOOKMARK', { resource: 'pods', namespace: '', name: '' }, 3)
    flow.record('call', 'browser', 'API Server', 'create selfsubjectreviews', {
      resource: 'selfsubjectreviews',
      namespace: '',
      name: '',
    })
    const delivery = flow.record('watch', 'API Server', 'controllers', 'ADDED', web, 4)
    const run = flow.record('reconcile', 'controller/a', 'controller/a', 'reconcile web', web, 0, causeOf(delivery))
    flow.record('call', 'controller/a', 'API Server', 'patch pods', web, 0, causeOf(run))
    flow.record('watch', 'API Server', 'scheduler', 'ADDED', web, 4)
    const idle = flow.record('reconcile', 'controller/b', 'controller/b', 'reconcile web', web)
    flow.finish(flow.record('call', 'controller/b', 'API Server', 'get pods', web, 0, causeOf(idle)), '404')
  })
  const shown = (filter: Partial<MessageFilter>, max = 100) => {
    const { messages, hidden } = recentMessages(events, { ...everyMessage, ...filter }, max)
    return { texts: messages.map(({ event: { what } }) => what), hidden: Object.fromEntries(hidden) }
  }

  test('background, and what led to nothing, is hidden and counted', () => {
    deepEqual(shown({}), {
      texts: ['ADDED', 'reconcile web', 'patch pods'],
      hidden: { leases: 1, bookmarks: 1, reviews: 1, reads: 1, 'without effect': 2 },
    })
  })

  test('it is shown on request, and still counted', () => {
    const { texts, hidden } = shown({ showsBackground: true })
    equal(texts.length, events.length)
    deepEqual(hidden, shown({}).hidden)
  })

  test('a kind that the user has chosen is not background', () => {
    deepEqual(shown({ kind: 'leases' }), { texts: ['update leases'], hidden: {} })
  })

  test('failures are shown, also those of reads', () => {
    deepEqual(shown({ onlyFailures: true }), { texts: ['get pods'], hidden: {} })
  })

  test('what is older than the shown messages is not counted', () => {
    deepEqual(shown({}, 1), { texts: ['patch pods'], hidden: { reads: 1, 'without effect': 2 } })
  })

  test('the kubelets of many nodes are one lifeline; a click shows each; the API server is one participant', () => {
    const record = new FlowRecord()
    record.add(
      recorded((flow) => {
        for (const kubelet of kubelets(30)) flow.record('call', kubelet, 'API Server', 'patch nodes/status', web)
        flow.record('call', 'apiserver', 'API Server', 'create pods', web)
      }),
    )
    record.addPast(recorded((flow) => flow.record('call', 'apiserver', 'Store', 'read', web)))
    deepEqual(record.messages(everyMessage).lifelines, ['API Server', 'kubelets (30)'])
    equal(record.messages({ ...everyMessage, unfolded: new Set(['kubelet']) }).lifelines.length, 31)
    deepEqual([...record.kinds], ['pods'])
  })
})

suite('the chain of a message', () => {
  test('has all causes, also those of a reconcile with several, and all effects; not other effects of its causes', () => {
    const ids: number[] = []
    const events = recorded((flow) => {
      const call = flow.record('call', 'kubectl', 'API Server', 'create pods', web)
      const write = flow.record('persist', 'API Server', 'Store', 'put pod', web, 7, causeOf(call))
      const first = flow.record('watch', 'API Server', 'scheduler', 'ADDED', web, 7)
      const other = flow.record('watch', 'API Server', 'controllers', 'ADDED', web, 7)
      const second = flow.record('watch', 'API Server', 'scheduler', 'ADDED', { ...web, name: 'node' }, 3)
      const cause = { ...causeOf(first), also: [second] }
      const run = flow.record('reconcile', 'scheduler', 'scheduler', 'queue', web, 0, cause)
      const bind = flow.record('call', 'scheduler', 'API Server', 'create pods/binding', web, 0, causeOf(run))
      flow.record('reconcile', 'controller/a', 'controller/a', 'reconcile', web, 0, causeOf(other))
      ids.push(call, write, first, second, run, bind)
    })
    const run = ids.at(-2) as FlowEvent['id']
    deepEqual(
      [...causeChain(events, run)].toSorted((a, b) => a - b),
      ids,
    )
    deepEqual([...causeChain(events, 99 as FlowEvent['id'])], [99])
  })
})

suite('layout in a window', () => {
  const message = (from: string, to: string, text = 'patch pods/status web-7957885594-fdpqk → 200'): DrawnMessage => ({
    id: 1,
    arrow: 'call',
    from,
    to,
    afterMs: 0,
    text,
    count: 1,
    isInferred: false,
    hasFailed: false,
  })
  const messages = [message('a', 'b'), message('b', 'c'), message('c', 'd'), message('d', 'e'), message('e', 'f')]
  const natural = sequenceLayout(messages, { labelPxMax: 180 }).widthPx

  for (const [name, windowPx, fits] of [
    ['a wide window keeps the texts', 2_000, true],
    ['texts are wrapped until the lifelines fit', 800, true],
    ['texts are as wide as usual where they cannot fit', 620, false],
  ] as const)
    test(name, () => {
      const { widthPx } = fittingLayout(messages, [], windowPx)
      equal(widthPx <= windowPx, fits)
      if (!fits || windowPx > natural) equal(widthPx, natural)
    })

  const row = (fromX: number, toX: number): Row => ({
    message: message('a', 'b'),
    time: '',
    top: 0,
    y: 0,
    fromX,
    toX,
    lines: ['text'],
    textX: fromX === toX ? fromX + 28 : (fromX + toX) / 2,
    anchor: fromX === toX ? 'start' : 'middle',
  })
  for (const [name, fromX, toX, expected] of [
    ['an arrow in the window has its text in the middle', 400, 600, { kind: 'inside', x: 500, anchor: 'middle' }],
    ['a text stays at the visible part of its arrow', 600, 3_000, { kind: 'inside', x: 800, anchor: 'middle' }],
    ['a loop has it at its right', 400, 400, { kind: 'inside', x: 428, anchor: 'start' }],
    ['an arrow at the right is named there', 1_200, 1_100, { kind: 'beyond', x: 992, anchor: 'end', sign: '→' }],
    ['one under the times is named at the left', 10, 150, { kind: 'beyond', x: 174, anchor: 'start', sign: '←' }],
  ] as const)
    test(name, () => {
      deepEqual(placeLabel(row(fromX, toX), { leftPx: 100, rightPx: 1_000 }), expected)
    })

  for (const [sign, rightPx, expected] of [
    ['→', 1_000, 'a → b: x →'],
    ['←', 1_000, '← a → b: x'],
    ['→', 240, 'a → … →'],
    ['←', 240, '← a → …'],
  ] as const)
    test(`what is beyond the edge at ${rightPx} pixels is named ${expected}`, () => {
      equal(beyondText({ message: message('a', 'b', 'x') }, sign, { leftPx: 100, rightPx }), expected)
    })

  for (const [name, rows, expected] of [
    ['a window without rows begins at the left', [], 0],
    ['everything is visible from the left', [row(100, 300)], 0],
    ['most rows are visible', [row(100, 300), row(1_500, 1_900), row(1_600, 1_800)], 1_400],
    ['the window ends with the diagram', [row(1_900, 1_990)], 1_400],
  ] as const)
    test(name, () => {
      equal(readableLeftPx(rows, 2_000, 600), expected)
    })

  test('a row is revealed if it is not visible', () => {
    equal(revealedLeftPx(row(300, 400), 100, 600), 100)
    equal(revealedLeftPx(row(900, 1_000), 100, 600), 818)
  })
})

function recorded(record: (flow: FlowRecorder) => void): FlowEvent[] {
  const flow = new FlowRecorder(new VirtualClock())
  record(flow)
  return [...flow.events()]
}

function only(record: (flow: FlowRecorder) => void): FlowEvent {
  return recorded(record)[0] as FlowEvent
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}/${at}`)
}
