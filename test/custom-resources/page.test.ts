// The examples about custom resources in docs/testing-operators.md run as they are written. test/package checks their types.
import { deepEqual, match } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ApiObject } from '../../src/cluster/index.ts'
import { customResourceExamples } from './page.ts'

const library = new URL('../../src/cluster/index.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    /^coxswain(\/controller)?$/.test(specifier) ? { url: library, shortCircuit: true } : next(specifier, context),
})

interface Example {
  readonly stored: ApiObject & { readonly spec: object; readonly status: object }
  readonly teeth: number
}

test('the examples of the page run', async ({ mock }) => {
  const page = await readFile(new URL('../../docs/testing-operators.md', import.meta.url), 'utf8')
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-page-'))
  const log = mock.method(console, 'log', () => {})
  try {
    const path = join(folder, 'page.ts')
    const shown = `export const stored = await widgets.get('a')\nexport { teeth }`
    await writeFile(path, `${customResourceExamples(page)}\n${shown}\n`)
    const { stored, teeth } = (await import(pathToFileURL(path).href)) as Example
    deepEqual([stored.spec, stored.status, teeth], [{ size: 3, mode: 'fast' }, { ready: true }, 12])
    match(log.mock.calls[0]?.arguments.join('\n') ?? '', /create widgets a → 201[^]*\nwidget\/a\n/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
