import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { threadSource } from './thread-source.ts'

test('a module of the file system is started by its URL', () => {
  const module = new URL('file:///dist/disk-thread.mjs')
  equal(threadSource(module), module)
})

test('a thread of an executable needs no file, nor does the module that it imports', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'threads-'))
  const fileOf = (name: string, text: string): URL => {
    writeFileSync(join(folder, name), text)
    return pathToFileURL(join(folder, name))
  }
  const thread = fileOf(
    'thread.mjs',
    `import { parentPort, workerData } from 'node:worker_threads'
    const { run } = await import(workerData)
    parentPort.postMessage(run('äöü'))`,
  )
  const [started, imported] = [thread, fileOf('run.mjs', 'export const run = (text) => [text, "é"]')].map((module) =>
    threadSource(module, true),
  ) as [URL, URL]
  rmSync(folder, { recursive: true })
  const worker = new Worker(started, { workerData: imported.href })
  deepEqual(await once(worker, 'message'), [['äöü', 'é']])
  await worker.terminate()
})
