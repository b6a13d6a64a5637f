// The tree is tidy, and each rule detects its violation.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { patternCost } from './pattern-cost.ts'
import { rules } from './rules.ts'
import { parseSource, readSourceFile } from './source-file.ts'
import { mayImport } from './tree.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = globSync('{src,test,bench}/**/*.ts', { cwd: root }).map((path) => readSourceFile(root, path))

for (const [name, rule] of Object.entries(rules)) test(`the tree: ${name}`, () => deepEqual(rule(files), []))

test('the tree: patterns made when a module is loaded are linear', async () => {
  const made: [pattern: string, flags: string][] = []
  const makers = files.filter(
    ({ path, patterns, imports }) =>
      path.startsWith('src/') &&
      !/\.(test|harness|suite)\.ts$/.test(path) &&
      (imports.some(({ target }) => target === 'src/base/text/whole-pattern.ts') ||
        patterns.some(({ literal, atLoad }) => literal === undefined && atLoad)),
  )
  const { RegExp: original } = globalThis
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags = '']: [string | RegExp, string?]) {
      if (typeof pattern === 'string') made.push([pattern, flags])
      return new target(pattern, flags)
    },
  })
  try {
    for (const { path } of makers) await import(`../../${path}`)
  } finally {
    globalThis.RegExp = original
  }
  ok(made.length >= 10, `only ${made.length} patterns were made`)
  for (const [pattern, flags] of made) equal(patternCost(pattern, flags), undefined, `/${pattern}/${flags}`)
})

test('every folder of src is in the tree', () => {
  const folders = new Set(files.flatMap(({ path }) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []))
  for (const folder of folders) ok(folder in mayImport, `src/${folder} is not in test/tidy/tree.ts`)
})

type Planted = readonly [rule: string, sources: Record<string, string>, found: RegExp]
const planted: readonly Planted[] = [
  [
    'importsFollowTheTree',
    { 'src/store/a.ts': `import { pod } from '../api/pod.ts'` },
    /store\/ may not import src\/api/,
  ],
  ['importsFollowTheTree', { 'src/kubelet/a.ts': `import '../scheduler/queue.ts'` }, /kubelet\/ may not import/],
  ['importsFollowTheTree', { 'src/base/a.ts': `export type { B } from '../schema/b.ts'` }, /base\/ may not import/],
  ['importsFollowTheTree', { 'src/base/a.ts': `const b = await import('../schema/b.ts')` }, /base\/ may not import/],
  [
    'noImportCycles',
    { 'src/base/a.ts': `import './b.ts'`, 'src/base/b.ts': `import './c.ts'`, 'src/base/c.ts': `import './a.ts'` },
    /a\.ts → src\/base\/b\.ts → src\/base\/c\.ts → src\/base\/a\.ts/,
  ],
  ['timeAndChanceComeFromBase', { 'src/kubelet/a.ts': `const t = Date.now()` }, /calls Date\.now/],
  ['timeAndChanceComeFromBase', { 'src/kubelet/a.ts': `const t = new Date()` }, /calls new Date/],
  ['timeAndChanceComeFromBase', { 'src/kubelet/a.ts': `globalThis.setTimeout(() => {}, 5)` }, /calls setTimeout/],
  ['timeAndChanceComeFromBase', { 'src/kubelet/a.ts': `const n = Math.random()` }, /calls Math\.random/],
  ['timeAndChanceComeFromBase', { 'test/flows/a.test.ts': `setInterval(f, 1)` }, /calls setInterval/],
  ['noSkippedOrFocusedTests', { 'src/base/a.test.ts': `test.skip('x', () => {})` }, /test\.skip/],
  ['noSkippedOrFocusedTests', { 'src/base/a.test.ts': `describe.only('x', () => {})` }, /describe\.only/],
  ['noSkippedOrFocusedTests', { 'src/base/a.test.ts': `test('x', { skip: true }, () => {})` }, /skips or focuses/],
  ['noSkippedOrFocusedTests', { 'src/base/a.test.ts': `test('x', (t) => t.skip('later'))` }, /t\.skip/],
  ['onlyDriversImportNode', { 'src/schema/a.ts': `import { readFileSync } from 'node:fs'` }, /imports node:fs/],
  ...[
    [String.raw`/^\s*([^=!\s]+)\s*(==?|!=)\s*(.*?)\s*$/`, /quadratic time or worse/],
    [String.raw`/[ \t]*,[ \t]*/`, /quadratic/],
    [String.raw`/^(\d+\.?\d*|\.\d+)$/`, /quadratic/],
    [String.raw`/^gzip( *; *q=(1[.0]*|0?\.\d*[1-9]\d*))?$/i`, /quadratic/],
    [String.raw`/^(.*)\['(.*)'\]$/`, /quadratic/],
    [String.raw`/iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/`, /quadratic/],
    [String.raw`/^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s))+|0)$/`, /exponential/],
    [String.raw`/^(a+)+$/`, /exponential/],
    [String.raw`/^(a|b|ab)*c/`, /exponential/],
    [String.raw`/=+$/`, /quadratic/],
    [String.raw`/^(a*)b\1$/`, /refers back/],
    [String.raw`/(?=a*b)/`, /looks around/],
    ['(text: string) => new RegExp(text)', /makes a pattern at run time/],
  ].map(([source, found]): Planted => [
    'patternsAreLinear',
    { 'src/api/a.ts': `export const a = ${String(source)}` },
    found as RegExp,
  ]),
  ['noSpreadIntoPush', { 'src/api/a.ts': `errors.push(...found)` }, /a\.ts:1 spreads a list into push/],
  [
    'unitsAreListed',
    { 'src/controllers/a.ts': `export const a = defineController({})` },
    /missing in src\/controllers/,
  ],
]

for (const [index, [rule, sources, found]] of planted.entries())
  test(`planted ${index + 1}: ${rule} finds ${found.source}`, () => {
    const violations = rules[rule]?.(Object.entries(sources).map(([path, text]) => parseSource(path, text))) ?? []
    match(violations.join('\n'), found)
  })

test('every rule has a planted violation', () => {
  deepEqual([...new Set(planted.map(([rule]) => rule))].toSorted(), Object.keys(rules).toSorted())
})

const innocent: readonly (readonly [rule: string, path: string, text: string])[] = [
  [
    'timeAndChanceComeFromBase',
    'src/kubelet/a.ts',
    `const t = new Date(clock.nowMs()); clock.setTimeout(1); f('Date.now()')`,
  ],
  ['timeAndChanceComeFromBase', 'src/base/a.ts', `const t = Date.now()`],
  ['importsFollowTheTree', 'src/kubelet/a.ts', `import { quantity } from '../api/quantity.ts'`],
  ...[
    '/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/',
    '/[a-z]+/g',
    '/^([^-+]*)(.*)$/s',
    '/(?:[ ]+|#[^]*)+/y',
    '/(\\d+)(h|m)/gy',
    '/^\\S+ overlay/m',
    'new RegExp(format)',
  ].map((source) => ['patternsAreLinear', 'src/api/a.ts', `export const a = ${source}`] as const),
  ['patternsAreLinear', 'src/api/a.ts', `// linear: eight groups at most\nexport const a = /=+$/`],
  ['patternsAreLinear', 'src/api/a.test.ts', `export const a = /=+$/`],
  ['noSpreadIntoPush', 'src/api/a.ts', `errors.push(found, [...others])`],
  ['noSpreadIntoPush', 'src/api/a.test.ts', `errors.push(...found)`],
  ['noSkippedOrFocusedTests', 'src/base/a.test.ts', `queue.skip('key'); iterator.only({ skip: 1 })`],
]

for (const [rule, path, text] of innocent)
  test(`${rule} leaves alone: ${text}`, () => deepEqual(rules[rule]?.([parseSource(path, text)]), []))
