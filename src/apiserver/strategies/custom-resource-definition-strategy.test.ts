import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../server.harness.ts'

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

interface Answer {
  readonly status?: { readonly conditions?: readonly { type: string; status: string; reason?: string }[] | null }
}

const conditionsOf = ({ body }: { body: unknown }) =>
  ((body as Answer).status?.conditions ?? []).map(({ type, status, reason = '' }) => [type, status, reason])

test('a definition is not established as long as custom resources are not served, and says why', async () => {
  await using server = await startServer()
  const dry = await server.call('POST', `${path}?dryRun=All`, definition)
  deepEqual([dry.status, conditionsOf(dry)], [201, []])
  const made = await server.call('POST', path, definition)
  equal(made.status, 201)
  const expected = [['Established', 'False', 'NotServed']]
  deepEqual(conditionsOf(made), expected)
  const own = `${path}/widgets.example.com`
  deepEqual(conditionsOf(await server.call('GET', own)), expected)
  // It is not said twice.
  const again = {
    ...(made.body as object),
    metadata: { ...(made.body as typeof definition).metadata, labels: { a: 'b' } },
  }
  deepEqual(conditionsOf(await server.call('PUT', own, again)), expected)
  equal((await server.call('GET', '/apis/example.com/v1/namespaces/default/widgets')).status, 404)
})
