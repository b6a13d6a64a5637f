import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { hasTooManySeparators } from './too-many-values.ts'

const table: [json: string, valuesMax: number, tooMany: boolean][] = [
  ['', 0, false],
  ['1', 1, false],
  ['[1,2]', 2, false],
  ['[1,2,3]', 2, true],
  ['[{},{},{}]', 2, true],
  ['{"a":1,"b":2,"c":3}', 2, true],
  ['[",,,,"]', 2, false],
  ['["\\",,,","\\\\"]', 2, false],
  ['["\\\\",1,2]', 2, true],
  ['["unterminated,,,', 2, false],
]
for (const [json, valuesMax, tooMany] of table)
  test(`${json} with a limit of ${valuesMax}`, () => {
    equal(hasTooManySeparators(new TextEncoder().encode(json), valuesMax), tooMany)
  })
