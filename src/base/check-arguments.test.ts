import { doesNotThrow, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { checkOneOf, checkProperties, checkWhole } from './check-arguments.ts'

const any = (value: unknown): never => value as never
const known = { nodes: true, seed: true } as const

const rejected: [what: string, check: () => void, message: string][] = [
  ['a similar property', () => checkProperties('f', { node: 1 }, known), 'f: unknown node; did you mean nodes?'],
  ['another property', () => checkProperties('f', { x: 1 }, known), 'f: unknown x; it is one of nodes, seed'],
  [
    'an inherited name',
    () => checkProperties('f', { toString: 1 }, known),
    'f: unknown toString; it is one of nodes, seed',
  ],
  ['null', () => checkProperties('f', any(null), known), 'f: null is no object'],
  ['undefined', () => checkProperties('f', any(undefined), known), 'f: undefined is no object'],
  ['a text as options', () => checkProperties('f', any('x'), known), 'f: "x" is no object'],
  ['a similar text', () => checkOneOf('f', 'gon', ['gone', 'reset']), 'f: "gon" does not exist; did you mean gone?'],
  ['another number', () => checkOneOf('f', 404, [409, 500]), 'f: 404 does not exist; it is one of 409, 500'],
  ['a fraction', () => checkWhole('f', 1.5, 0, 9), 'f: 1.5 is no whole number from 0 to 9'],
  ['a number that is too large', () => checkWhole('f', 10, 0, 9), 'f: 10 is no whole number from 0 to 9'],
  ['a number as a text', () => checkWhole('f', any('3'), 0, 9), 'f: "3" is no whole number from 0 to 9'],
  [
    'a long text',
    () => checkWhole('f', any('x'.repeat(1_000)), 0, 9),
    `f: "${'x'.repeat(99)} is no whole number from 0 to 9`,
  ],
]
for (const [what, check, message] of rejected)
  test(`rejected: ${what}`, () => throws(check, { name: 'TypeError', message }))

test('accepted: nothing, and what is known', () =>
  doesNotThrow(() => {
    checkProperties('f', {}, known)
    checkProperties('f', { seed: undefined }, known)
    checkOneOf('f', undefined, ['gone'])
    checkOneOf('f', 'gone', ['gone'])
    checkWhole('f', undefined, 0, 9)
    for (const value of [0, 9]) checkWhole('f', value, 0, 9)
  }))
