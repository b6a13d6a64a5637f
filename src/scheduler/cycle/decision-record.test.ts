// Recorded decisions are complete until newer ones overwrite them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { DecisionRecord, type Decision } from './decision-record.ts'
import { rejection, Verdicts } from '../framework/verdicts.ts'

const names = ['a', 'b', 'c']
const base = { atMs: 0, schedulerName: 's', nodeName: 'b', message: '', names }

function decision(fitting: number[], rejected: number[], scores: Record<string, number[]> | undefined): Decision {
  const verdicts = new Verdicts(names.length)
  const slots = Int32Array.from(fitting)
  for (const slot of rejected) verdicts.reject(slot, { plugin: 'Filter', rejection: rejection('too small', false) })
  verdicts.accept(slots)
  if (scores === undefined) return { ...base, verdicts, scores }
  const columns = Object.entries(scores).map(([plugin, values]) => ({ plugin, values: Uint8Array.from(values) }))
  const totals = Float64Array.from(fitting, (_, index) =>
    columns.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  )
  return { ...base, verdicts, scores: { slots, columns, totals } }
}

const fits = (node: string, total: number, scores: Record<string, number>) => ({ node, verdict: 'fits', total, scores })
const tooSmall = (node: string) => ({ node, verdict: 'rejected', plugin: 'Filter', reasons: ['too small'] })

const rows: [name: string, decision: Decision, nodes: object[]][] = [
  [
    'the scores of each plugin',
    decision([0, 2], [], { One: [10, 20], Two: [1, 100] }),
    [
      fits('a', 11, { One: 10, Two: 1 }),
      { node: 'b', verdict: 'not evaluated' },
      fits('c', 120, { One: 20, Two: 100 }),
    ],
  ],
  [
    'scores and rejections',
    decision([1, 2], [0], { One: [7, 8] }),
    [tooSmall('a'), fits('b', 7, { One: 7 }), fits('c', 8, { One: 8 })],
  ],
  [
    'a single node is not scored',
    decision([1], [], undefined),
    [
      { node: 'a', verdict: 'not evaluated' },
      { node: 'b', verdict: 'fits' },
      { node: 'c', verdict: 'not evaluated' },
    ],
  ],
  ['no node fits', decision([], [0, 1, 2], undefined), ['a', 'b', 'c'].map(tooSmall)],
]
for (const [name, recorded, nodes] of rows)
  test(`a decision is explained: ${name}`, () => {
    const record = new DecisionRecord()
    record.record('ns/other', decision([0], [1], undefined))
    record.record('ns/pod', recorded)
    record.record('ns/next', decision([0, 1], [], { One: [1, 2] }))
    deepEqual(record.explain('ns/pod')?.nodes, nodes)
  })

test('a recorded decision is not affected when the cycle reuses its arrays', () => {
  const record = new DecisionRecord()
  const first = decision([0, 1], [], { One: [10, 20] })
  record.record('ns/pod', first)
  first.scores?.slots.fill(2)
  first.scores?.totals.fill(0)
  for (const { values } of first.scores?.columns ?? []) values.fill(0)
  deepEqual(record.explain('ns/pod')?.nodes.slice(0, 2), [fits('a', 10, { One: 10 }), fits('b', 20, { One: 20 })])
})

test('decisions are removed on request, and the oldest ones above the limit', () => {
  const record = new DecisionRecord()
  const large = {
    ...decision([], [], undefined),
    verdicts: { codes: new Uint16Array(1 << 20), fitting: new Int32Array(0), distinct: [] },
  }
  for (const pod of ['ns/1', 'ns/2', 'ns/3', 'ns/4', 'ns/5', 'ns/6'] as const) record.record(pod, large)
  record.forget('ns/6')
  const known = ['ns/1', 'ns/2', 'ns/3', 'ns/4', 'ns/5', 'ns/6'].filter(
    (pod) => record.explain(pod as 'ns/1') !== undefined,
  )
  deepEqual(known, ['ns/3', 'ns/4', 'ns/5'])
  equal(record.explain('ns/7'), undefined)
})

test('8192 decisions about few nodes are retained', () => {
  const record = new DecisionRecord()
  const small = decision([0], [], undefined)
  for (let index = 0; index < 10_000; index++) record.record(`ns/${index}`, small)
  const known = (index: number) => record.explain(`ns/${index}`) !== undefined
  deepEqual([known(0), known(10_000 - 8_192 - 1), known(10_000 - 8_192), known(9_999)], [false, false, true, true])
})
