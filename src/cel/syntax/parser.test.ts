// Errors of the parser and checker against upstream's own, as the public cases record them.
import { tests } from '@bufbuild/cel-spec/testdata/parsing.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standardEnvironment } from '../library/standard.ts'
import { compile } from '../program.ts'

/** The record was made with options that ours does not have, or upstream reports what its recovery stumbles over next. */
const otherwise: readonly (readonly [expression: RegExp, why: string])[] = [
  [/^m\.existsOne\(v, f\)$/, 'recorded without the macro'],
  [/"a"$|^--$|in\.😁|^a \? b \(\(|^func\{\{|^msg\{:|^x\{\?\.|`\(\)$/, 'the second error of a broken expression'],
  [/^ó|\^\^$/, 'more than one character that is no token'],
  [
    /^\[\[\[\[|^-\[-1|^y!=y|^1 \+ 2 \+ 3|^a\.b\.c\.d|^a\[1\]\[2\]|^a < 1 < 2/,
    'recorded with a nesting of 32; ours is 250',
  ],
]

test("what is wrong with an expression is said in upstream's words", () => {
  const wrong: string[] = []
  let same = 0
  for (const { original, error } of tests.tests ?? []) {
    const { expr } = original
    // Optionals and quoted names were switched off for the record.
    if (otherwise.some(([pattern]) => pattern.test(expr)) || error?.includes('unsupported syntax')) continue
    const expected = error?.replaceAll('ERROR: :', 'ERROR: <input>:')
    const found = errorOf(expr)
    if (found === expected) same++
    else wrong.push(`${expr}\n  expected ${expected}\n  found    ${found}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(same > 100, `only ${same} were compared`)
})

function errorOf(expression: string): string | undefined {
  try {
    compile(expression, standardEnvironment)
    return undefined
  } catch (error) {
    if (error instanceof Error) return error.message
    throw error
  }
}
