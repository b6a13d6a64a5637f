// Applied and patched Scales: what is rejected, and who owns the replicas afterwards.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedFieldsEntry } from '../../../api/meta/v1/object-meta.ts'
import { startServer, type Harness } from '../../server.harness.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const labels = { app: 'a' }
const containers = [{ name: 'c', image: 'i' }]
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
}
const apply = (server: Harness, path: string, body: object) =>
  server.call('PATCH', `${path}?fieldManager=bob`, body, { 'content-type': 'application/apply-patch+yaml' })

const wrongScales: [name: string, change: object, status: number, message: string][] = [
  ['another version', { apiVersion: 'v1' }, 400, 'invalid object type: /v1, Kind=Scale'],
  ['managed fields', { metadata: { name: 'a', managedFields: [{}] } }, 400, 'metadata.managedFields must be nil'],
  [
    'another name',
    { metadata: { name: 'b' } },
    400,
    'the name of the object (b) does not match the name on the URL (a)',
  ],
  [
    'a text',
    { metadata: { name: 'a', namespace: 'default' }, spec: { replicas: 'x' } },
    500,
    'failed to create typed patch object (default/a; autoscaling/v1, Kind=Scale): .spec.replicas: expected numeric (int or float), got string',
  ],
]
for (const [name, change, status, message] of wrongScales)
  test(`a Scale with ${name} is not applied`, async () => {
    await using server = await startServer()
    await apply(server, `${deployments}/a`, deployment)
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 5 } }
    const answer = await apply(server, `${deployments}/a/scale`, { ...scale, ...change })
    deepEqual([answer.status, answer.body.message], [status, message])
  })

test('the writer of a Scale owns replicas that had an owner and are not zero, without a time', async () => {
  await using server = await startServer()
  await apply(server, `${deployments}/a`, deployment)
  const ownersOf = async (replicas: number) => {
    const type = { 'content-type': 'application/merge-patch+json' }
    await server.call('PATCH', `${deployments}/a/scale?fieldManager=hpa`, { spec: { replicas } }, type)
    const { body } = await server.call('GET', `${deployments}/a`)
    return (body.metadata.managedFields as ManagedFieldsEntry[])
      .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:replicas'))
      .map(({ manager, subresource, time }) => [manager, subresource, time])
  }
  deepEqual(await ownersOf(3), [['hpa', 'scale', undefined]])
  deepEqual(await ownersOf(0), [])
  deepEqual(await ownersOf(4), [])
})

const named: [name: string, metadata: (own: Metadata) => object, spec: object | undefined, status: number][] = [
  ['an older version', () => ({ resourceVersion: '1' }), { replicas: 1 }, 409],
  ['another object', () => ({ uid: 'other' }), { replicas: 1 }, 409],
  ['its version and object', ({ resourceVersion, uid }) => ({ resourceVersion, uid }), { replicas: 1 }, 200],
  ['no replicas', () => ({}), {}, 200],
  ['no spec', () => ({}), undefined, 200],
]
type Metadata = Record<'resourceVersion' | 'uid', string>
for (const [name, metadata, spec, status] of named)
  test(`an applied Scale with ${name}: ${status}`, async () => {
    await using server = await startServer()
    const { body } = await apply(server, `${deployments}/a`, deployment)
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', ...metadata(body.metadata) },
      ...(spec === undefined ? {} : { spec }),
    }
    deepEqual((await apply(server, `${deployments}/a/scale`, scale)).status, status)
  })

test('an applied Scale without metadata is rejected', async () => {
  await using server = await startServer()
  await apply(server, `${deployments}/a`, deployment)
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 1 } }
  const { status, body } = await apply(server, `${deployments}/a/scale`, scale)
  const message = 'the name of the object (a based on URL) was undeterminable: name must be provided'
  deepEqual([status, body.message], [400, message])
})

test('an update of a Scale without a spec sets no replicas', async () => {
  await using server = await startServer()
  await apply(server, `${deployments}/a`, deployment)
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a', namespace: 'default' } }
  const { status, body } = await server.call('PUT', `${deployments}/a/scale`, scale)
  deepEqual([status, body.spec.replicas ?? 0], [200, 0])
})
