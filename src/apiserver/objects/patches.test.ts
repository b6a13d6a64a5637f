// Sequences of applies, patches and updates by several managers that were recorded from upstream (test/facts/) get the
// same responses here: objects with their managedFields, and errors with their causes.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startServer, type HarnessResponse } from '../server.harness.ts'

interface Step {
  readonly path: string
  readonly method: string
  readonly type: string
  readonly body: unknown
  readonly status: number
  readonly answer: HarnessResponse['body']
}

const file = new URL('../../../test/facts/patches.json.gz', import.meta.url)
const sequences = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Step[][]

/** Values that differ in each run. */
function withoutTimes(object: HarnessResponse['body']): unknown {
  const { uid: _, creationTimestamp: __, resourceVersion: ___, ...metadata } = object.metadata
  for (const entry of metadata.managedFields ?? []) delete entry.time
  const managedFields = metadata.managedFields?.toSorted((a: object, b: object) =>
    JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
  )
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
}

const errorOf = ({ message, reason, details }: HarnessResponse['body']): unknown => ({
  message,
  reason,
  causes: (details?.causes ?? [])
    .map(({ field = '', reason: why = '', message: text = '' }) => [field, why, text])
    .toSorted(),
})

test("recorded sequences of patches get upstream's responses", async (t) => {
  await using server = await startServer()
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'patches' } })
  for (const [index, steps] of sequences.entries()) {
    await t.test(`sequence ${index}`, async () => {
      for (const { method, path, type, body, status, answer } of steps) {
        const got = await server.call(method, path, body, { 'content-type': type })
        const shown = got.status < 300 ? withoutTimes(got.body) : errorOf(got.body)
        const wanted = status < 300 ? withoutTimes(answer) : { ...answer, causes: answer.causes.toSorted() }
        deepEqual(shown, wanted)
        equal(got.status, status)
      }
    })
  }
})
