// The size of the page: everything that a browser loads, lazily loaded parts included, compressed.
import { ok } from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildPage, pageFolder } from './chromium.ts'

const pageBytesMax = 150_000

test('the page is below 150 kB compressed, and its files have names with a hash', async () => {
  await buildPage()
  const names = (await readdir(pageFolder)).filter((name) => name !== 'report.html')
  const files = names.filter((name) => !/\.(?:br|gz)$/.test(name))
  ok(
    files.every((name) => name === 'index.html' || /-[\w-]{8}\.(?:js|css)$/.test(name)),
    files.join(),
  )
  for (const ending of ['br', 'gz']) {
    const sizes = await Promise.all(files.map(async (name) => (await stat(join(pageFolder, `${name}.${ending}`))).size))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    ok(bytes < pageBytesMax, `${bytes} bytes`)
  }
})
