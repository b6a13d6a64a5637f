// Selectors with an operator that validation rejects: they select nothing, as upstream. Values in field selectors.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { escapedFieldValue, parseFieldSelector } from './field-selector-text.ts'
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

for (const value of ['a', 'a,metadata.name!=b', 'a=b', 'a\\', '\\,='])
  test(`the value ${JSON.stringify(value)} is escaped in a field selector`, () =>
    deepEqual(parseFieldSelector(`metadata.name=${escapedFieldValue(value)}`), [
      { key: 'metadata.name', operator: 'In', values: [value] },
    ]))
