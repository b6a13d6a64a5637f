// The checker accepts histories of correct clusters and finds every planted fault.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { checkHistory } from './check-history.ts'
import { generatedHistory } from './generated-history.ts'
import { historyText, parseHistory, type History, type Input, type ObjectCall, type Output } from './history.ts'
import { jepsenHistory } from './jepsen-history.ts'
import { plantedFaults } from './planted-faults.ts'

const generated = Array.from({ length: 30 }, (_, seed) => generatedHistory(seed))

type Short = readonly [call: number, returned: number, input: Input, output: Output]

const callsOf = (rows: readonly Short[]): ObjectCall[] =>
  rows.map(([call, returned, input, output], client) => {
    return { record: 'call', client, server: 0, key: 'a', call, return: returned, input, output }
  })
const only = (calls: readonly ObjectCall[]): History => ({ calls, lists: [], watches: [] })

const create = (version: string) => ({ kind: 'create', version }) as const
const update = (from: string, version: string) => ({ kind: 'update', from, version }) as const
const patch = (version: string) => ({ kind: 'patch', version }) as const
const get = { kind: 'get' } as const
const remove = { kind: 'delete' } as const
const written = (revision?: number): Output => ({ kind: 'written', ...(revision === undefined ? {} : { revision }) })
const found = (version: string, revision: number) => ({ kind: 'found', version, revision }) as const
const absent = { kind: 'absent' } as const
const conflict = { kind: 'conflict' } as const
const unknown = { kind: 'unknown' } as const

const cases: readonly [name: string, isCorrect: boolean, rows: readonly Short[]][] = [
  [
    'reads what was created',
    true,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, get, found('x', 5)],
    ],
  ],
  [
    'does not find what was created',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, get, absent],
    ],
  ],
  [
    'finds it or not while it is created',
    true,
    [
      [0, 3, create('x'), written(5)],
      [1, 2, get, absent],
    ],
  ],
  [
    'two concurrent creations succeed',
    false,
    [
      [0, 2, create('x'), written(5)],
      [1, 3, create('y'), written(6)],
    ],
  ],
  [
    'one of two creations conflicts',
    true,
    [
      [0, 2, create('x'), written(5)],
      [1, 3, create('y'), conflict],
    ],
  ],
  ['a creation conflicts with nothing', false, [[0, 1, create('x'), conflict]]],
  [
    'two updates of one version succeed',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 4, update('x', 'y'), written(6)],
      [3, 5, update('x', 'z'), written(7)],
    ],
  ],
  [
    'an update of the current version conflicts',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, update('x', 'y'), conflict],
    ],
  ],
  [
    'reads a version that was replaced',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, patch('y'), written(6)],
      [4, 5, get, found('x', 5)],
    ],
  ],
  [
    'reads what was deleted',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, remove, written()],
      [4, 5, get, found('x', 5)],
    ],
  ],
  [
    'a patch and a deletion at the same time, in either order',
    true,
    [
      [0, 1, create('x'), written(5)],
      [2, 5, patch('y'), absent],
      [3, 4, remove, written()],
      [6, 7, get, absent],
    ],
  ],
  [
    'a write without a response happened',
    true,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, patch('y'), unknown],
      [4, 5, get, found('y', 6)],
    ],
  ],
  [
    'a write without a response happened later',
    true,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, patch('y'), unknown],
      [4, 5, get, found('x', 5)],
      [6, 7, get, found('y', 6)],
    ],
  ],
  [
    'a write without a response happened and was undone',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, patch('y'), unknown],
      [4, 5, get, found('y', 6)],
      [6, 7, get, found('x', 5)],
    ],
  ],
  [
    'two writes have revisions in the other order',
    false,
    [
      [0, 1, create('x'), written(5)],
      [2, 3, patch('y'), written(8)],
      [4, 5, patch('z'), written(7)],
    ],
  ],
]
for (const [name, isCorrect, rows] of cases)
  test(`${name}: ${isCorrect ? 'possible' : 'impossible'}`, () => {
    const violations = checkHistory(only(callsOf(rows)))
    equal(violations.length === 0, isCorrect, violations.join('\n'))
  })

test('histories of a correct cluster have no violations', () => {
  for (const [seed, history] of generated.entries()) {
    ok(history.calls.length > 400 && history.lists.length > 20)
    ok(history.calls.some(({ output }) => output.kind === 'unknown'))
    deepEqual(checkHistory(history), [], `seed ${seed}`)
  }
})

test('neither have the same histories without watches and lists', () => {
  for (const { calls } of generated) deepEqual(checkHistory(only(calls)), [])
})

for (const { name, plant, report } of plantedFaults)
  test(`it is found that ${name}`, () => {
    for (const [seed, history] of generated.entries()) {
      const violations = checkHistory(plant(history))
      ok(
        violations.some((violation) => report.test(violation)),
        `seed ${seed}: ${violations.join('\n')}`,
      )
    }
  })

test('a history is the same after it was written and read', () => {
  for (const history of generated) deepEqual(parseHistory(historyText(history)), history)
})

test("the calls about an object in Jepsen's format", () => {
  const calls = callsOf([
    [0, 1, create('x'), written(5)],
    [2, 3, get, found('x', 5)],
    [4, 7, update('x', 'y'), unknown],
    [5, 6, { kind: 'delete', from: 'q' }, conflict],
    [8, 9, patch('z'), absent],
    [10, 11, get, absent],
    [12, 13, remove, written()],
  ]).map((call) => ({ ...call, client: call.call === 5 ? 1 : 0 }))
  equal(
    jepsenHistory(calls),
    `{:index 0, :process 0, :type :invoke, :f :cas, :value [nil "x"]}
{:index 1, :process 0, :type :ok, :f :cas, :value [nil "x"]}
{:index 2, :process 0, :type :invoke, :f :read, :value nil}
{:index 3, :process 0, :type :ok, :f :read, :value "x"}
{:index 4, :process 0, :type :invoke, :f :cas, :value ["x" "y"]}
{:index 5, :process 1, :type :invoke, :f :cas, :value ["q" nil]}
{:index 6, :process 1, :type :fail, :f :cas, :value ["q" nil]}
{:index 7, :process 0, :type :info, :f :cas, :value ["x" "y"]}
{:index 8, :process 2, :type :invoke, :f :write, :value "z"}
{:index 9, :process 2, :type :fail, :f :write, :value "z"}
{:index 10, :process 2, :type :invoke, :f :read, :value nil}
{:index 11, :process 2, :type :ok, :f :read, :value nil}
{:index 12, :process 2, :type :invoke, :f :write, :value nil}
{:index 13, :process 2, :type :ok, :f :write, :value nil}
`,
  )
})
