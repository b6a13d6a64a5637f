// The APIServices of this server's own groups are those of upstream, and are available.
import { deepEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { groupVersions } from '../../api/kinds.ts'
import { startServer } from '../server.harness.ts'
import { localApiServices } from './local-api-services.ts'

const file = new URL('../../../test/facts/bootstrap.json', import.meta.url)
const facts = (JSON.parse(readFileSync(file, 'utf8')) as (ApiObject & { spec: object })[]).filter(
  ({ kind }) => kind === 'APIService',
)

test('each group has the priorities of upstream', () => {
  const byName = (a: ApiObject, b: ApiObject) => (a.metadata.name < b.metadata.name ? -1 : 1)
  const ours = localApiServices.map(({ object }) => object as unknown as ApiObject)
  deepEqual(ours.toSorted(byName), facts.toSorted(byName))
})

test('every group of upstream has one, except the group of APIServices itself', () => {
  const names = new Set(localApiServices.map(({ object }) => object.metadata.name))
  const missing = groupVersions.filter(({ group, version }) => !names.has(`${version}.${group}`))
  // The metrics API is served by another server upstream.
  deepEqual(missing, [
    { group: 'apiregistration.k8s.io', version: 'v1' },
    { group: 'metrics.k8s.io', version: 'v1beta1' },
  ])
})

test('they are available', async () => {
  await using server = await startServer(undefined, { bootstrapObjects: localApiServices })
  const { body } = await server.call('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps')
  const [condition] = (
    body as unknown as { status: { conditions: { type: string; status: string; reason: string }[] } }
  ).status.conditions
  deepEqual([condition?.type, condition?.status, condition?.reason], ['Available', 'True', 'Local'])
})
