// The size of the page, compressed: of the files that a browser loads for the first view, and of everything, lazily loaded parts included.
import { ok } from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildPage, pageFolder } from './chromium.ts'

const pageBytesMax = 400_000
const firstViewBytesMax = 150_000

const bytesOf = async (files: readonly string[], ending: string): Promise<number> => {
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(pageFolder, `${name}.${ending}`))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The files that others name, except in `import(…)`, which loads a part when it is needed. */
async function firstView(files: readonly string[]): Promise<readonly string[]> {
  const needed = new Set(['index.html'])
  for (const file of needed) {
    const text = (await readFile(join(pageFolder, file), 'utf8')).replaceAll(/import\([^()]*\)/g, '')
    for (const name of files) if (text.includes(name)) needed.add(name)
  }
  return [...needed]
}

test('the page is below 400 kB compressed, its first view below 150 kB, and its files have names with a hash', async () => {
  await buildPage()
  const names = (await readdir(pageFolder)).filter((name) => name !== 'report.html')
  const files = names.filter((name) => !/\.(?:br|gz)$/.test(name))
  ok(
    files.every((name) => name === 'index.html' || /-[\w-]{8}\.(?:js|css)$/.test(name)),
    files.join(),
  )
  const first = await firstView(files)
  // The page, its script and its style; not the terminal and the editor.
  ok(first.length >= 3, first.join())
  ok(!first.some((name) => /^(?:terminal|yaml-editor)-/.test(name)), first.join())
  for (const ending of ['br', 'gz']) {
    const [all, atFirst] = await Promise.all([bytesOf(files, ending), bytesOf(first, ending)])
    ok(all < pageBytesMax, `${all} bytes`)
    ok(atFirst < firstViewBytesMax, `${atFirst} bytes at first`)
  }
})
