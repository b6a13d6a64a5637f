// The sliced parser accepts what the native parser accepts, with the same value, and nothing else.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { fuzz, mutatedText, randomJson, rejectedOnlyWith } from '../../base/random/fuzz.harness.ts'
import { mayHaveDuplicateKeys } from './duplicate-keys.ts'
import { parseSteps, type ParsedJson } from './sliced-json.ts'
import { TooManyValuesError } from './too-many-values.ts'
import { NumberRangeError, parseJsonInRange } from './exact-json.ts'

const dictionary = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u00',
  'null',
  'true',
  '-',
  '0',
  '1e',
  '.',
  ' ',
  '\n',
  '\u0000',
]
const valuesMax = 1_000

function parsed(text: string): ParsedJson | undefined {
  return rejectedOnlyWith([SyntaxError, NumberRangeError, TooManyValuesError], () => {
    const steps = parseSteps(text, valuesMax)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  })
}

fuzz('JSON in slices', {
  runs: 4_000,
  make(random) {
    const text = JSON.stringify(randomJson(random), undefined, random.below(3))
    return random.below(4) === 0 ? text : mutatedText(text, random, dictionary)
  },
  check(text) {
    const native = rejectedOnlyWith([SyntaxError, NumberRangeError], () => ({ value: parseJsonInRange(text) }))
    const sliced = parsed(text)
    equal(sliced === undefined, native === undefined)
    deepEqual(sliced?.value, native?.value)
    if (sliced?.repeatsKeys === true)
      ok(mayHaveDuplicateKeys(new TextEncoder().encode(text)), 'a repeated key is found in the text')
  },
})
