// The size of the page: everything that a browser loads, lazily loaded parts included, compressed.
import { ok } from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildPage, pageFolder } from './chromium.ts'

const pageBytesMax = 150_000

test('the page is below 150 kB compressed, and its files have names with a hash', async () => {
  await buildPage()
  const files = (await readdir(pageFolder)).filter((name) => name !== 'report.html')
  ok(
    files.every((name) => name === 'index.html' || /-[\w-]{8}\.(?:js|css)$/.test(name)),
    files.join(),
  )
  const sizes = await Promise.all(files.map(async (name) => gzipSync(await readFile(join(pageFolder, name))).length))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  ok(bytes < pageBytesMax, `${bytes} bytes`)
})
