import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { seededRandom } from '../../base/random/random.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { NumberRangeError, parseJsonInRange } from './exact-json.ts'
import { parseInSlices, parseSteps } from './sliced-json.ts'
import { TooManyValuesError } from './too-many-values.ts'

/** The value, without the pauses. */
function parsed(text: string, valuesMax = 1e6): unknown {
  const steps = parseSteps(text, valuesMax)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value.value
  }
}

const outcome = (parse: () => unknown): unknown => {
  try {
    return { value: parse() }
  } catch (error) {
    return error instanceof SyntaxError || error instanceof NumberRangeError ? 'rejected' : error
  }
}

const texts = [
  ...['{}', '[]', '0', '-0', '1e5', '-1.5E-3', '"a"', 'true', 'false', 'null', ' [ ] ', '\t{ "a" : [ 1 , { } ] }\r\n'],
  ...[
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1},"constructor":2}',
    '"\\u00e9\\n\\\\"',
    '"\\""',
    '{"\\\\":"\\\\\\""}',
    '["",""]',
  ],
  ...[
    '',
    ' ',
    '{',
    '[',
    '"',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{1:2}',
    '{a:1}',
  ],
  ...[
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '--1',
    'tru',
    'nulll',
    'NaN',
    "'a'",
    '"\n"',
    '"\\x"',
    '[1]]',
    '{}{}',
    '[}',
    '{]',
    '1 1',
  ],
]
for (const text of texts)
  test(`as JSON.parse: ${JSON.stringify(text)}`, () => {
    deepEqual(
      outcome(() => parsed(text)),
      outcome(() => JSON.parse(text)),
    )
  })

test('mutated texts have the same value or are rejected, as by the native parser', () => {
  const random = seededRandom(7)
  const pick = (max: number) => random.below(max)
  const alphabet = '{}[]",:\\ \n0123456789eE+-.truefalsn_'
  for (let round = 0; round < 20_000; round++) {
    let text = texts[pick(texts.length)] ?? ''
    for (let edits = 1 + pick(3); edits > 0; edits--) {
      const at = pick(text.length + 1)
      text = text.slice(0, at) + (alphabet[pick(alphabet.length)] ?? '') + text.slice(at + pick(2))
    }
    deepEqual(
      outcome(() => parsed(text)),
      outcome(() => parseJsonInRange(text)),
      text,
    )
  }
})

test('__proto__ is a key like any other', () => {
  const value = parsed('{"__proto__":{"polluted":true}}') as object
  equal(Object.getPrototypeOf(value), Object.prototype)
  deepEqual(Object.keys(value), ['__proto__'])
})

for (const [text, repeats] of [
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', false],
  ['{"a":1,"b":2,"a":3}', true],
  ['{"a":1,"\\u0061":2}', true],
  ['[{"b":{"__proto__":1,"__proto__":2}}]', true],
] as const)
  test(`${text} ${repeats ? 'repeats a key' : 'repeats no key'}`, async () => {
    equal((await parseInSlices(text, 100, realClock)).repeatsKeys, repeats)
  })

test('too many values and too deep nesting are rejected before they are built', () => {
  throws(() => parsed(`[${'[],'.repeat(1000)}[]]`, 1000), TooManyValuesError)
  throws(() => parsed('['.repeat(1001)), /exceeded max depth/)
})

test('other work is done between two slices', async () => {
  const text = `[${'{"a":[1,2,"x"]},'.repeat(60_000)}0]`
  const state = { turns: 0, isDone: false }
  const parsing = parseInSlices(text, 1e6, realClock).finally(() => (state.isDone = true))
  while (!state.isDone) {
    await eventLoopTurn()
    state.turns++
  }
  equal(((await parsing).value as unknown[]).length, 60_001)
  ok(state.turns > 2, `${state.turns} turns`)
  await rejects(parseInSlices(text.slice(0, -1), 1e6, realClock), /unexpected end of JSON input/)
})

test('the caller decides how long to pause between two slices', async () => {
  const text = `[${'{"a":[1,2,"x"]},'.repeat(60_000)}0]`
  let pauses = 0
  const { value } = await parseInSlices(text, 1e6, realClock, async () => void pauses++)
  equal((value as unknown[]).length, 60_001)
  ok(pauses > 2, `${pauses} pauses`)
})
