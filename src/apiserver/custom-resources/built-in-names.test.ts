// Definitions and APIServices named like what the server itself serves: as upstream, they neither shadow nor remove it.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { startServer, type Harness } from '../server.harness.ts'
import { customVersion, definitionsPath, eventually } from './custom-resource.harness.ts'

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const services = '/apis/apiregistration.k8s.io/v1/apiservices'
const approval = { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' }

const definition = (plural: string, kind: string, versions: readonly string[], annotations: object = approval) => ({
  metadata: { name: `${plural}.coordination.k8s.io`, annotations },
  spec: {
    group: 'coordination.k8s.io',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: versions.map((name) => customVersion(name)),
  },
})

const lease = (name: string) => ({ metadata: { name }, spec: { holderIdentity: 'a' } })

async function establish(server: Harness, made: ReturnType<typeof definition>): Promise<void> {
  equal((await server.call('POST', definitionsPath, made)).status, 201)
  await eventually(async () => {
    const { body } = await server.call('GET', `${definitionsPath}/${made.metadata.name}`)
    const conditions: { type: string; status: string }[] = body.status.conditions ?? []
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True') || undefined
  })
}

async function removeDefinition(server: Harness, name: string): Promise<void> {
  await server.call('DELETE', `${definitionsPath}/${name}`)
  await eventually(async () => (await server.call('GET', `${definitionsPath}/${name}`)).status === 404 || undefined)
}

const namesIn = async (server: Harness): Promise<string[]> => {
  const { body } = await server.call('GET', '/apis/coordination.k8s.io/v1')
  return body.resources.map((each: { name: string }) => each.name)
}

test('a definition with the name of a built-in resource does not replace it, and its deletion does not remove it', async () => {
  await using server = await startServer()
  equal((await server.call('POST', leases, lease('a'))).status, 201)
  const before = await namesIn(server)
  await establish(server, definition('leases', 'Lease', ['v1']))
  const invalid = { ...lease('b'), spec: { leaseDurationSeconds: 'none' } }
  equal((await server.call('POST', leases, invalid)).status, 400, 'it is decoded as a built-in kind')
  equal((await server.call('GET', `${leases}/a`)).body.spec.holderIdentity, 'a')
  equal((await server.call('POST', leases, lease('b'))).status, 201)
  deepEqual(await namesIn(server), before)
  await removeDefinition(server, 'leases.coordination.k8s.io')
  const { body } = await server.call('GET', leases)
  deepEqual(
    body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['a', 'b'],
  )
  deepEqual(await namesIn(server), before)
})

test('a definition adds nothing to a built-in group version, but its other versions are served', async () => {
  await using server = await startServer()
  const before = await namesIn(server)
  await establish(server, definition('boats', 'Boat', ['v1', 'v9']))
  deepEqual(await namesIn(server), before)
  const at = (version: string) => `/apis/coordination.k8s.io/${version}/namespaces/default/boats`
  equal((await server.call('GET', at('v1'))).status, 404)
  const boat = { apiVersion: 'coordination.k8s.io/v9', kind: 'Boat', metadata: { name: 'a' } }
  equal((await server.call('POST', at('v9'), boat)).status, 201)
  await removeDefinition(server, 'boats.coordination.k8s.io')
  equal((await server.call('GET', at('v9'))).status, 404)
  deepEqual(await namesIn(server), before)
})

test('a definition in a group of Kubernetes needs the annotation of its approval', async () => {
  await using server = await startServer()
  const { status, body } = await server.call('POST', definitionsPath, definition('leases', 'Lease', ['v1'], {}))
  equal(status, 422)
  equal(
    body.details.causes[0].message,
    'Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  )
})

test('an APIService for APIServices themselves is not used, and can be deleted', async () => {
  await using server = await startServer()
  const own = {
    metadata: { name: 'v1.apiregistration.k8s.io' },
    spec: {
      group: 'apiregistration.k8s.io',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { namespace: 'default', name: 'absent' },
      insecureSkipTLSVerify: true,
    },
  }
  equal((await server.call('POST', services, own)).status, 201)
  await eventLoopTurn()
  const path = `${services}/v1.apiregistration.k8s.io`
  equal((await server.call('GET', path)).body.spec?.service?.name, 'absent')
  const resources = (await server.call('GET', '/apis/apiregistration.k8s.io/v1')).body.resources
  deepEqual(
    resources.map(({ name }: { name: string }) => name),
    ['apiservices', 'apiservices/status'],
  )
  equal((await server.call('DELETE', path)).status, 200)
  equal((await server.call('GET', path)).status, 404)
})
