// 1,100 objects, most of them with one error, that were sent to upstream with a dry run (test/facts/). Here they get
// the same status, the same causes, and exactly the same message.
import { deepEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { equalValues } from '../../schema/json/json-value.ts'
import { startServer } from '../server.harness.ts'

interface Sample {
  readonly path: string
  readonly sent: unknown
  readonly mutation: string
  readonly status: number
  readonly message?: string
  readonly causes?: readonly (readonly [field: string, reason: string, message: string])[]
}

const file = new URL('../../../test/facts/validation.json.gz', import.meta.url)
const samples = JSON.parse(gunzipSync(readFileSync(file)).toString()) as readonly Sample[]

test("recorded invalid objects get upstream's responses", async () => {
  await using server = await startServer()
  await server.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
  })
  await server.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const different: unknown[] = []
  for (const { path, sent, mutation, status, message, causes = [] } of samples) {
    const { status: got, body } = await server.call('POST', `${path}?dryRun=All&fieldValidation=Strict`, sent)
    const found = (body.details?.causes ?? []).map(({ field = '', reason = '', message: text = '' }) =>
      [field, reason, text].join(' '),
    )
    const wanted = causes.map((cause) => cause.join(' '))
    const isSame =
      got === status && (status < 300 || (body.message === message && equalValues(found.toSorted(), wanted.toSorted())))
    if (!isSame) different.push({ mutation, wanted: message ?? status, got: body.message ?? got })
  }
  deepEqual(different, [])
})
