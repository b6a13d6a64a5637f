// Errors of the parser and checker compared with upstream's, as recorded in the public cases.
import { tests } from '@bufbuild/cel-spec/testdata/parsing.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standardEnvironment } from '../library/standard.ts'
import { compile } from '../program.ts'

/** Recorded with options that we do not have, or a follow-up error of upstream's error recovery. */
const otherwise: readonly (readonly [expression: RegExp, why: string])[] = [
  [/^m\.existsOne\(v, f\)$/, 'recorded without the macro'],
  [/"a"$|^--$|in\.😁|^a \? b \(\(|^func\{\{|^msg\{:|^x\{\?\.|`\(\)$/, 'the second error of a broken expression'],
  [/^ó|\^\^$/, 'more than one character that is no token'],
  [
    /^\[\[\[\[|^-\[-1|^y!=y|^1 \+ 2 \+ 3|^a\.b\.c\.d|^a\[1\]\[2\]|^a < 1 < 2/,
    'recorded with a nesting of 32; ours is 250',
  ],
]

test("errors of expressions have upstream's wording", () => {
  const wrong: string[] = []
  let same = 0
  for (const { original, error } of tests.tests ?? []) {
    const { expr } = original
    // Optionals and quoted names were disabled in the recording.
    if (otherwise.some(([pattern]) => pattern.test(expr)) || error?.includes('unsupported syntax')) continue
    const expected = error?.replaceAll('ERROR: :', 'ERROR: <input>:')
    const found = errorOf(expr)
    if (found === expected) same++
    else wrong.push(`${expr}\n  expected ${expected}\n  found    ${found}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(same > 100, `only ${same} were compared`)
})

/** Recorded from upstream v1.36: errors of rejected match conditions. */
const bounded: readonly (readonly [expression: string, error: RegExp | undefined])[] = [
  [
    '... [] bad expression',
    /^ERROR: <input>:1:2: Syntax error: no viable alternative at input '\.\.'\n \| \.\.\. \[] bad/,
  ],
  ['. . a', /^ERROR: <input>:1:3: Syntax error: no viable alternative at input '\. \.'/],
  ['.', /^ERROR: <input>:1:2: Syntax error: no viable alternative at input '\.'/],
  ['a..b', /^ERROR: <input>:1:3: Syntax error: no viable alternative at input '\.\.'/],
  ['1 + . + 2', /^ERROR: <input>:1:7: Syntax error: no viable alternative at input '\. \+'/],
  ['[..]', /^ERROR: <input>:1:3: Syntax error: no viable alternative at input '\.\.'/],
  ['-!a', /^ERROR: <input>:1:2: Syntax error: no viable alternative at input '-!'/],
  ['!-!-true', /^ERROR: <input>:1:3: Syntax error: no viable alternative at input '-!'/],
  [`[1]${'[0]'.repeat(251)}`, /^ERROR: <input>:-1:0: max recursion depth exceeded$/],
  [`1${'+1'.repeat(250)}`, undefined],
  [`1${'+1'.repeat(251)}`, /^ERROR: <input>:-1:0: max recursion depth exceeded$/],
  [`1${'+1'.repeat(249)}==1`, undefined],
  [`1${'+1'.repeat(250)}==1`, /^ERROR: <input>:-1:0: max recursion depth exceeded$/],
  [`"a"${'.contains("a")'.repeat(251)}`, /^ERROR: <input>:-1:0: max recursion depth exceeded$/],
  [`${'['.repeat(248)}1${'+1'.repeat(100)}${']'.repeat(248)}`, undefined],
  [`${'('.repeat(250)}1${')'.repeat(250)}`, /^ERROR: <input>:-1:0: expression recursion limit exceeded: 250$/],
  [`${'true?1:'.repeat(250)}1`, /^ERROR: <input>:-1:0: expression recursion limit exceeded: 250$/],
  [`true${'||true'.repeat(10_000)}`, undefined],
  [`true${'&&true'.repeat(10_000)}`, undefined],
  [`${'!'.repeat(50_000)}true`, undefined],
  ['^'.repeat(50_000), /^ERROR: <input>:1:1: [^]*ERROR: <input>:1:100: .*\n1 more errors were truncated$/],
  [Array.from({ length: 150 }, (_, index) => `x${index}`).join('+'), /\n50 more errors were truncated$/],
  [`^${' '.repeat(16_382)}1`, /\n \| /],
  [`^${' '.repeat(16_383)}1`, /^ERROR: <input>:1:1: Syntax error: token recognition error at: '\^'$/],
]
for (const [expression, error] of bounded)
  test(`expressions are bounded as upstream's: ${expression.slice(0, 30)} (${expression.length})`, () => {
    const found = errorOf(expression)
    if (error === undefined) assert.equal(found, undefined)
    else assert.match(found ?? '', error)
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
