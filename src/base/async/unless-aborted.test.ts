import { equal, rejects } from 'node:assert/strict'
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
