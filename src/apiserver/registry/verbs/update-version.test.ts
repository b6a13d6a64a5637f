// The resourceVersion of an update: 0 is none, as in upstream.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../../server.harness.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const merge = { 'content-type': 'application/merge-patch+json' }

for (const [resourceVersion, status] of [
  ['0', 200],
  ['00', 200],
  ['', 200],
  [undefined, 200],
  ['1', 409],
  ['abc', 409],
] as const)
  test(`an update and a patch with the version ${JSON.stringify(resourceVersion)} → ${status}`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, { metadata: { name: 'a' }, data: { a: 'x' } })
    const metadata = { name: 'a', resourceVersion }
    equal((await server.call('PUT', `${configMaps}/a`, { metadata, data: { a: 'y' } })).status, status)
    const patch = JSON.stringify({ metadata: { resourceVersion }, data: { a: 'z' } })
    equal((await server.call('PATCH', `${configMaps}/a`, patch, merge)).status, status)
  })

test('where an update needs a version, 0 is none', async () => {
  await using server = await startServer()
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions }
  const name = 'things.example.com'
  equal((await server.call('POST', definitions, { metadata: { name }, spec })).status, 201)
  const put = { metadata: { name, resourceVersion: '0' }, spec }
  const { status, body } = await server.call('PUT', `${definitions}/${name}`, put)
  equal(status, 422)
  match(JSON.stringify(body), /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/)
})
