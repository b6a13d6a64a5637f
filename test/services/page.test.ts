// The examples of docs/testing-services.md run as they are written. test/package checks their types.
import { deepEqual } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { serviceExamples } from './page.ts'

const library = new URL('../../src/cluster/index.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'coxswain' ? { url: library, shortCircuit: true } : next(specifier, context),
})

test('the examples of the page run', async () => {
  const page = await readFile(new URL('../../docs/testing-services.md', import.meta.url), 'utf8')
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-page-'))
  try {
    const path = join(folder, 'page.ts')
    await writeFile(path, `${serviceExamples(page)}\nexport { text, tookMs, refused }\n`)
    const { text, tookMs, refused } = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
    deepEqual([text, tookMs, refused], ['1 visits', 400, 'ECONNREFUSED'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
