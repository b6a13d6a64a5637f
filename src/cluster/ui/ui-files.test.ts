import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { uiFiles } from './ui-files.ts'

async function folderWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-ui-files-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

test('files have their type, their digest and their compressed forms', async () => {
  const script = 'let a = 1\n'.repeat(100)
  await using made = await folderWith({
    'app-3Fk29xQa.js': script,
    'app-3Fk29xQa.js.br': brotliCompressSync(script),
    'app-3Fk29xQa.js.gz': gzipSync(script),
    'index.html': 'x',
    'index.html.gz': gzipSync('x'),
    'style.css': 'a{}',
    'app.js.map': '{}',
  })
  const files = await uiFiles(made.folder)()
  deepEqual([...files.keys()].toSorted(), ['app-3Fk29xQa.js', 'index.html', 'style.css'])
  const app = files.get('app-3Fk29xQa.js')
  equal(app?.contentType, 'text/javascript; charset=utf-8')
  deepEqual(
    app.encodings.map(({ name }) => name),
    ['br', 'gzip'],
  )
  equal(brotliDecompressSync(app.encodings[0]?.bytes ?? '').toString(), script)
  equal(gunzipSync(app.encodings[1]?.bytes ?? '').toString(), script)
  deepEqual(files.get('index.html')?.encodings, [], 'a compressed form that is larger is not used')
  deepEqual(files.get('style.css')?.encodings, [], 'there is none')
})

test('a folder that does not exist has no files; the files are read once', async () => {
  const files = uiFiles('/does/not/exist')
  equal((await files()).size, 0)
  equal(files(), files())
})

test('a failed read is repeated', async () => {
  await using made = await folderWith({ file: 'x' })
  const files = uiFiles(join(made.folder, 'file'))
  await rejects(files(), { code: 'ENOTDIR' })
  await rm(join(made.folder, 'file'))
  equal((await files()).size, 0)
})
