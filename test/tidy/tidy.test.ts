// The tree is tidy, and each rule finds the violation that it is there for.
import { deepEqual, match, ok } from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { rules } from './rules.ts'
import { parseSource, readSourceFile } from './source-file.ts'
import { mayImport } from './tree.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = globSync('{src,test,bench}/**/*.ts', { cwd: root }).map((path) => readSourceFile(root, path))

for (const [name, rule] of Object.entries(rules)) test(`the tree: ${name}`, () => deepEqual(rule(files), []))

test('every folder of src stands in the tree', () => {
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
  [
    'unitsAreListed',
    { 'src/controllers/a.ts': `export const a = defineController({})` },
    /missing in src\/controllers/,
  ],
  ['unitsAreTested', { 'src/base/a.ts': `export const a = 1` }, /reached by no test/],
]

for (const [index, [rule, sources, found]] of planted.entries())
  test(`planted ${index + 1}: ${rule} finds ${found.source}`, () => {
    const violations = rules[rule]?.(Object.entries(sources).map(([path, text]) => parseSource(path, text))) ?? []
    match(violations.join('\n'), found)
  })

test('every rule has a planted violation', () => {
  deepEqual([...new Set(planted.map(([rule]) => rule))].toSorted(), Object.keys(rules).toSorted())
})

const innocent: readonly [rule: string, path: string, text: string][] = [
  [
    'timeAndChanceComeFromBase',
    'src/kubelet/a.ts',
    `const t = new Date(clock.nowMs()); clock.setTimeout(1); f('Date.now()')`,
  ],
  ['timeAndChanceComeFromBase', 'src/base/a.ts', `const t = Date.now()`],
  ['importsFollowTheTree', 'src/kubelet/a.ts', `import { quantity } from '../api/quantity.ts'`],
  ['unitsAreTested', 'src/base/a.ts', `export type A = string`],
  ['noSkippedOrFocusedTests', 'src/base/a.test.ts', `queue.skip('key'); iterator.only({ skip: 1 })`],
]

for (const [rule, path, text] of innocent)
  test(`${rule} leaves alone: ${text}`, () => deepEqual(rules[rule]?.([parseSource(path, text)]), []))
