import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { compiledFields, compiledLabels } from './compiled-selector.ts'
import { matchesFields, matchesLabels, type Labels, type Requirement } from './selectors.ts'

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const

test('a compiled selector matches what the selector matches', () => {
  const random = seededRandom(1)
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T
  const keys = Array.from({ length: 6 }, (_, index) => `k${index}`)
  const values = ['a', 'b', 'c', '1', '2', '30', '', '99999999999999999999']
  let matched = 0
  for (let round = 0; round < 20_000; round++) {
    const length = 1 + random.below(14)
    const allowed = pick([operators, ['NotIn', 'DoesNotExist'] as const, ['In', 'NotIn'] as const])
    const selector = Array.from({ length }, (): Requirement => {
      const operator = pick<Requirement['operator']>(allowed)
      const several = Array.from({ length: 1 + random.below(10) }, () => pick(values))
      return { key: pick(keys), operator, values: operator === 'Gt' || operator === 'Lt' ? [pick(values)] : several }
    })
    const labels: Labels = Object.fromEntries(
      Array.from({ length: random.below(8) }, () => [pick(keys), pick(values)] as const),
    )
    const expected = matchesLabels(selector, labels)
    equal(compiledLabels(selector)(labels), expected, JSON.stringify({ selector, labels }))
    equal(compiledLabels(selector)(undefined), matchesLabels(selector, undefined))
    if (expected) matched++
    const fields = selector
      .filter(({ operator }) => operator === 'In' || operator === 'NotIn')
      .map((requirement) => ({ ...requirement, values: requirement.values.slice(0, 1) }))
    const valueOf = (key: string) => labels[key] ?? ''
    equal(compiledFields(fields)(valueOf), matchesFields(fields, valueOf), JSON.stringify({ fields, labels }))
  }
  ok(matched > 1_000, `${matched}`)
})

/** Labels that count how often they are looked up. */
function countedLabels(labels: Labels) {
  const seen = { lookups: 0 }
  const counted = new Proxy(labels, {
    getOwnPropertyDescriptor(target, name) {
      seen.lookups++
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
  return { counted, seen }
}

const many = (requirement: (index: number) => Requirement): Requirement[] =>
  Array.from({ length: 15_000 }, (_, index) => requirement(index))
const two: Labels = { app: 'web', tier: 'front' }
const wide: Labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`w${index}`, 'x']))
const long: readonly [what: string, selector: Requirement[], labels: Labels, lookupsMax: number][] = [
  ['keys that must not exist', many((index) => ({ key: `k${index}`, operator: 'DoesNotExist', values: [] })), two, 20],
  ['keys that must exist', many((index) => ({ key: `k${index}`, operator: 'Exists', values: [] })), two, 20],
  ['values of one key', many((index) => ({ key: 'app', operator: 'NotIn', values: [`v${index}`] })), two, 20],
  ['bounds of one key', many((index) => ({ key: 'app', operator: 'Gt', values: [`${index}`] })), two, 20],
  [
    'few keys, with many labels',
    Array.from({ length: 10 }, (_, index) => ({ key: `k${index}`, operator: 'NotIn', values: ['x'] })),
    wide,
    40,
  ],
]
for (const [what, selector, labels, lookupsMax] of long)
  test(`the cost of a selector does not depend on its length: ${what}`, () => {
    const matches = compiledLabels(selector)
    const { counted, seen } = countedLabels(labels)
    matches(counted)
    seen.lookups = 0
    equal(matches(counted), matchesLabels(selector, labels))
    ok(seen.lookups <= lookupsMax, `${seen.lookups}`)
  })
