import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { unlessAborted } from './unless-aborted.ts'

test('an abort ends the wait, and the work continues', async () => {
  const work = Promise.withResolvers<string>()
  const patient = new AbortController()
  const impatient = new AbortController()
  const waiting = unlessAborted(work.promise, patient.signal)
  const given = rejects(unlessAborted(work.promise, impatient.signal), /enough/)
  impatient.abort(new Error('enough'))
  await given
  await rejects(unlessAborted(work.promise, impatient.signal), /enough/)
  work.resolve('done')
  equal(await waiting, 'done')
})

test('work that fails after it was abandoned is not an unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  const late = Promise.withResolvers<string>()
  await rejects(unlessAborted(late.promise, AbortSignal.abort(new Error('gone'))), /gone/)
  const begun = Promise.withResolvers<string>()
  const leaving = new AbortController()
  const waiting = rejects(unlessAborted(begun.promise, leaving.signal), /left/)
  leaving.abort(new Error('left'))
  await waiting
  late.reject(new Error('failed'))
  begun.reject(new Error('failed'))
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  deepEqual(unhandled, [])
})
