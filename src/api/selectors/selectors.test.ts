// Selectors with an operator that validation rejects: they select nothing, as upstream.
import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { matchesLabels, selects, type Requirement } from './selectors.ts'

suite('a selector with an unknown operator', () => {
  const unknown = { key: 'a', operator: 'Near' as Requirement['operator'], values: ['b'] }

  for (const labels of [undefined, {}, { a: 'b' }, { a: 'c' }])
    test(`selects no object with the labels ${JSON.stringify(labels)}`, () => {
      equal(matchesLabels([unknown], labels), false)
      equal(selects({ matchExpressions: [unknown] }, labels), false)
    })

  test('selects nothing even if its other requirements are met', () =>
    equal(matchesLabels([{ key: 'a', operator: 'In', values: ['b'] }, unknown], { a: 'b' }), false))
})
