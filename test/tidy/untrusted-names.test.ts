// No property is accessed under a client's name except through base/lookup.ts; the rule detects violations.
import { deepEqual } from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { untrustedNames } from './untrusted-names.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

test('the tree: names that are known at run time go through base/lookup.ts', () => {
  const isChecked = (path: string) =>
    path.startsWith('src/') && !/\.(test|suite|harness)\.ts$/.test(path) && path !== 'src/base/collections/lookup.ts'
  deepEqual(untrustedNames(root, 'tsconfig.json', isChecked), [])
})

/** The code of media-type.ts and selectors.ts before the rule, among others. */
const planted = `
declare const shapes: Readonly<Record<string, string>>
declare const labels: Record<string, string> | undefined
declare const text: string
export const found = [
  shapes[text],
  labels?.[text],
  text in shapes,
  shapes[text.trim()],
]
if (labels) labels[text] = 'x'
for (const name in shapes) if (labels) labels[name] = 'x'
`
const innocent = `
declare const shapes: Readonly<Record<string, string>>
declare const kinds: Record<'a' | 'b', string>
declare const kind: 'a' | 'b'
declare const list: string[]
declare const text: string
const constant = 'example.com/x'
for (const name in shapes) list.push(shapes[name] ?? '')
for (const [name] of Object.entries(shapes)) list.push(shapes[name] ?? '')
export const found = [kinds[kind], shapes[constant], shapes['a'], list[0], list[list.length - 1], 'a' in shapes]
// safe name: a reason
export const exempt = shapes[text]
`

test('the rule finds accesses under names of clients, and nothing else', () => {
  const folder = `${realpathSync(mkdtempSync(join(tmpdir(), 'names-')))}/`
  try {
    writeFileSync(`${folder}planted.ts`, planted)
    writeFileSync(`${folder}innocent.ts`, innocent)
    writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ compilerOptions: { strict: true }, include: ['*.ts'] }))
    deepEqual(
      untrustedNames(folder, 'tsconfig.json', () => true),
      [
        'planted.ts:6 shapes[text]',
        'planted.ts:7 labels?.[text]',
        'planted.ts:8 text in shapes',
        'planted.ts:9 shapes[text.trim()]',
        'planted.ts:11 labels[text]',
        'planted.ts:12 labels[name]',
      ],
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
