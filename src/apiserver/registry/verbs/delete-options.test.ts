import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../../server.harness.ts'
import { deleteOptionsOf } from './delete-options.ts'

const unregistered = (kind: string, version: string) =>
  `no kind "${kind}" is registered for version "${version}" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"`

const bodies: readonly (readonly [body: object, message?: string])[] = [
  [{}],
  [{ kind: 'DeleteOptions' }],
  [{ apiVersion: 'v1' }],
  [{ kind: 'DeleteOptions', apiVersion: 'unknown.example.com/v1' }],
  [{ kind: 'Other' }, unregistered('Other', 'meta.k8s.io/v1')],
  [{ kind: 'Pod', apiVersion: 'v1' }, unregistered('Pod', 'v1')],
  [{ kind: 'Deployment', apiVersion: 'apps/v1' }, unregistered('Deployment', 'apps/v1')],
  [{ kind: 'Other', apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c'],
]
for (const [body, message] of bodies)
  test(`a deletion with ${JSON.stringify(body)} is ${message === undefined ? 'accepted' : 'rejected'}`, () => {
    const options = () => deleteOptionsOf({ query: new URLSearchParams() }, body)
    if (message === undefined) deepEqual(options().propagationPolicy, undefined)
    else throws(options, { message, code: 400 })
  })

test('options in the query count where there is no body', () => {
  const query = new URLSearchParams('dryRun=All&propagationPolicy=Orphan')
  deepEqual(deleteOptionsOf({ query }, undefined), { dryRun: ['All'], propagationPolicy: 'Orphan' })
  equal(deleteOptionsOf({ query }, {}).dryRun, undefined)
})

test('a body replaces the dry run of the query', async () => {
  await using server = await startServer()
  const configMaps = '/api/v1/namespaces/default/configmaps'
  await server.call('POST', configMaps, { metadata: { name: 'a' } })
  await server.call('DELETE', `${configMaps}/a?dryRun=All`)
  equal((await server.call('GET', `${configMaps}/a`)).status, 200)
  await server.call('DELETE', `${configMaps}/a?dryRun=All`, { kind: 'DeleteOptions', apiVersion: 'v1' })
  equal((await server.call('GET', `${configMaps}/a`)).status, 404)
})
