// Selectors of any text are parsed or rejected with a 400; the text of a selector is parsed to the same selector.
import { deepEqual, equal } from 'node:assert/strict'
import { fuzz, mutatedText, pick, rejectedOnlyWith } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import { parseFieldSelector } from './field-selector-text.ts'
import { parseLabelSelector } from './label-selector-text.ts'
import { matchesFields, matchesLabels, type Requirement } from './selectors.ts'
import { StatusError } from '../errors/status-error.ts'

const corpus = ['a=b', 'a in (b,c),!d', 'x notin (y)', 'a.b/c!=d,e', 'n>5,m<7', 'metadata.name=a,spec.b!=c\\,d', '']
const dictionary = [',', '=', '==', '!=', '!', '(', ')', ' in ', ' notin ', '<', '>', ' ', '\\', 'a', '__proto__', '9']
const labels = { a: 'b', x: '1', constructor: 'c' }

fuzz('label and field selectors as text', {
  runs: 4_000,
  make: (random) => mutatedText(pick(random, corpus), random, dictionary),
  check(text) {
    const selector = rejectedOnlyWith([StatusError], () => parseLabelSelector(text))
    if (selector !== undefined) equal(typeof matchesLabels(selector, labels), 'boolean')
    const fields = rejectedOnlyWith([StatusError], () => parseFieldSelector(text))
    if (fields !== undefined) equal(typeof matchesFields(fields, () => ''), 'boolean')
  },
})

const word = (random: Random) => pick(random, ['a', 'b.c', 'x-1', 'in', 'notin', 'constructor', 'A_b'])

function randomRequirement(random: Random): Requirement {
  const key = random.below(3) === 0 ? `example.com/${word(random)}` : word(random)
  const operator = pick(random, ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const)
  const values = Array.from({ length: random.below(4) + 1 }, () => pick(random, ['', word(random)]))
  if (operator === 'Exists' || operator === 'DoesNotExist') return { key, operator, values: [] }
  if (operator === 'Gt' || operator === 'Lt') return { key, operator, values: [String(random.below(100) - 50)] }
  return { key, operator, values: [...new Set(values)].toSorted() }
}

function written({ key, operator, values }: Requirement, random: Random): string {
  const blank = pick(random, ['', ' ', '\t '])
  switch (operator) {
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${blank}${key}`
    case 'Gt':
    case 'Lt':
      return `${key}${blank}${operator === 'Gt' ? '>' : '<'}${blank}${values[0]}`
    default:
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(`${blank},${blank}`)})`
  }
}

fuzz('label selectors written and read again', {
  runs: 2_000,
  make: (random) => Array.from({ length: random.below(4) }, () => randomRequirement(random)),
  check(selector, random) {
    // A label value cannot begin with a sign, so negative numbers are rejected.
    const isReadable = selector.every(({ values }) => values.every((value) => !value.startsWith('-')))
    const text = selector.map((requirement) => written(requirement, random)).join(pick(random, [',', ' , ']))
    const read = rejectedOnlyWith(isReadable ? [] : [StatusError], () => parseLabelSelector(text))
    if (isReadable) deepEqual(read, selector)
  },
})
