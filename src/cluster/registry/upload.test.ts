import { equal, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { repositoryOf } from './image-names.ts'
import { Upload } from './upload.ts'

const piecesOf = (...texts: string[]) =>
  (async function* () {
    for (const text of texts) yield Buffer.from(text)
  })()

test('an upload ends the wait for a client that has stalled, and continues with the next request', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-upload-'))
  t.after(() => rm(folder, { recursive: true }))
  const clock = new VirtualClock()
  const upload = new Upload(join(folder, 'upload'), repositoryOf('app'), clock)
  const waiting = Promise.withResolvers<void>()
  const stalled = (async function* () {
    yield Buffer.from('a')
    waiting.resolve()
    await new Promise(() => {})
  })()
  const appended = upload.append(stalled, () => {})
  await waiting.promise
  equal(upload.isBusy, true)
  await rejects(
    upload.append(piecesOf('x'), () => {}),
    /another request uses this upload/,
  )
  const late = rejects(appended, /nothing arrived for 120 s/)
  await clock.advance(120_000)
  await late
  await upload.append(piecesOf('b', 'c'), () => {})
  equal(await readFile(upload.path, 'utf8'), 'abc')
  equal(upload.size, 3)
  await upload.finish()
  await rejects(
    upload.append(piecesOf('d'), () => {}),
    /this upload has ended; begin it again/,
  )
})
