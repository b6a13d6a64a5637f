// Long YAML does not block the event loop: it is parsed in a worker thread.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { inlineYaml, offloadedYaml } from './yaml-parser.ts'

const { signal } = new AbortController()

/** How often the event loop turns while the work is done. */
async function turnsDuring<T>(work: Promise<T>): Promise<{ value: T; turns: number }> {
  const state = { turns: 0, isDone: false }
  const done = work.finally(() => (state.isDone = true))
  while (!state.isDone) {
    await eventLoopTurn()
    state.turns++
  }
  return { value: await done, turns: state.turns }
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `  key${index}: value${index}\n`).join('')

test('long documents have the same value as when parsed in the event loop, and do not block it', async () => {
  const yaml = offloadedYaml(nodeWorkers, realClock)
  try {
    const text = `data:\n${lines(5_000)}`
    const { value, turns } = await turnsDuring(Promise.resolve(yaml.parse(text, signal)))
    deepEqual(value, await inlineYaml.parse(text, signal))
    ok(turns > 10, `${turns} turns`)
    await rejects(Promise.resolve(yaml.parse(`a: [\n${lines(500)}`, signal)), (error: Error) => {
      match(error.message, /^yaml: line \d+: /)
      return true
    })
  } finally {
    await yaml.close()
  }
})

test('a client that disconnects does not occupy the parser', async () => {
  const yaml = offloadedYaml(nodeWorkers, realClock)
  try {
    const client = new AbortController()
    const parsed = Promise.resolve(yaml.parse(`data:\n${lines(100_000)}`, client.signal))
    await eventLoopTurn()
    client.abort(new Error('gone'))
    await rejects(parsed, /gone/)
    const next = await yaml.parse(`data:\n${lines(4_000)}`, signal)
    equal(Object.keys((JSON.parse(next.json) as { data: object }).data).length, 4_000)
  } finally {
    await yaml.close()
  }
})

const refused: [text: string, message: RegExp][] = [
  ['a: .inf', /json: unsupported value: \+Inf/],
  ['a: -.inf', /json: unsupported value: -Inf/],
  ['a: .nan', /json: unsupported value: NaN/],
]
for (const [text, message] of refused)
  test(`${text} is not JSON`, () => rejects(Promise.resolve(inlineYaml.parse(text, signal)), message))

test('of several documents the first one is read, as by upstream', async () => {
  const { json } = await inlineYaml.parse('a: 1\n---\nb: 2\n', signal)
  equal(json, '{"a":1}')
})

test('a number out of range is a text', async () => {
  equal(
    (await inlineYaml.parse('a: 1e400\nb: [-1.5e+400, 1e30]', signal)).json,
    '{"a":"1e400","b":["-1.5e+400",1e+30]}',
  )
})

test('64-bit integers keep all digits', async () => {
  equal((await inlineYaml.parse('a: 9223372036854775807', signal)).json, '{"a":9223372036854775807}')
})

for (const [where, text] of [
  ['in the event loop', `data:\n${'  k: v\n'.repeat(110_000)}`],
  ['as a list in flow style', `[${'1,'.repeat(500_000)}1]`],
  ['as empty lines', '\n'.repeat(800_001)],
] as const)
  test(`too many tokens ${where} are rejected before the tree is built`, async () => {
    await rejects(Promise.resolve(inlineYaml.parse(text, signal)), {
      code: 413,
      message: 'Request entity too large: its YAML has more than 800000 tokens',
    })
  })

test('too many tokens are rejected in the thread as well', async () => {
  const yaml = offloadedYaml(nodeWorkers, realClock)
  try {
    await rejects(Promise.resolve(yaml.parse(`data:\n${lines(110_000)}`, signal)), { code: 413 })
  } finally {
    await yaml.close()
  }
})

test('a long text with few tokens is parsed', async () => {
  const long = 'x'.repeat(1_000_000)
  equal((await inlineYaml.parse(`a: ${long}`, signal)).json, JSON.stringify({ a: long }))
})
