// testProject: definitions are established, and objects are accepted and rejected with the responses that are given for a
// strict dry run. Accepted objects can be applied, updated and deleted.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  customResource,
  customResourceDefinition,
  startCluster,
  type ApiObject,
  type CustomResourceDefinition,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { eventLoopTurn } from '../../src/base/async/event-loop-turn.ts'
import { startHooked } from '../../src/apiserver/admission/plugins/webhooks/webhooks.harness.ts'
import type { Harness } from '../../src/apiserver/server.harness.ts'
import type { Project, Sample } from './definitions/project.ts'

/** The kind of an object, from the definitions of its project. */
function kindOf({ crds }: Project, { apiVersion, kind }: Sample['object']) {
  const [group, version] = apiVersion.split('/')
  const found = crds.find(({ spec }) => spec.group === group && spec.names.kind === kind)
  if (found === undefined) throw new Error(`${apiVersion} ${kind} is not defined`)
  return customResource<object>(found, version)
}

const turnsMax = 1_000

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True')

export function testProject(name: string, project: Project): void {
  test(`${name}: all definitions are established; samples are applied, updated and deleted`, async () => {
    await using cluster = await startCluster({ nodes: 0, crds: project.crds })
    const { items } = await cluster.client.of(customResourceDefinition).list()
    deepEqual(
      items.filter(isEstablished).map(({ metadata }) => metadata.name),
      project.crds.map(({ metadata }) => metadata.name).toSorted(),
    )
    for (const { object, status } of project.samples) if (status === 201) await roundTrip(cluster, project, object)
  })

  test(`${name}: strict dry runs of samples have the expected responses`, async () => {
    await using server = await startHooked()
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    for (const crd of project.crds) equal((await server.call('POST', definitions, crd)).status, 201)
    for (const { metadata } of project.crds) await untilEstablished(server, `${definitions}/${metadata.name}`)
    for (const sample of project.samples) {
      const { plural, apiVersion, namespaced } = kindOf(project, sample.object)
      const place = namespaced ? 'namespaces/default/' : ''
      const body = {
        ...sample.object,
        metadata: { ...sample.object.metadata, ...(namespaced ? { namespace: 'default' } : {}) },
      }
      const path = `/apis/${apiVersion}/${place}${plural}?dryRun=All&fieldValidation=Strict`
      const response = await server.call('POST', path, body)
      const { message } = response.body as { message?: string }
      deepEqual([response.status, response.status < 300 ? undefined : message], [sample.status, sample.message])
    }
  })
}

/** Definitions are established without time passing. */
async function untilEstablished(server: Harness, path: string): Promise<void> {
  for (let turns = 0; turns < turnsMax; turns++) {
    if (isEstablished((await server.call('GET', path)).body as CustomResourceDefinition)) return
    await eventLoopTurn()
  }
  throw new Error(`${path} is not established`)
}

/** Samples may name namespaces that do not exist, or leave their name to the server. */
async function roundTrip(cluster: TestCluster, project: Project, object: Sample['object']): Promise<void> {
  const kind = kindOf(project, object)
  const client = cluster.client.of(kind)
  const { namespace: _, generateName, ...metadata } = object.metadata
  const { name = `${generateName}1` } = metadata
  const own = { ...object, metadata: { ...metadata, name } }
  const [made] = (await cluster.apply(own)) as [ApiObject]
  const changed = await client.modify(name, (copy) => (copy.metadata.labels = { changed: 'yes' }))
  equal(changed.metadata.labels?.['changed'], 'yes')
  equal(changed.metadata.generation, made.metadata.generation, 'labels are not part of the spec')
  await client.delete(name)
  if (made.metadata.finalizers !== undefined) await client.patch(name, { metadata: { finalizers: null } })
  equal(await client.find(name), undefined)
}
