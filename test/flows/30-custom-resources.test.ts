// Flow 30: a definition is established, an operator reconciles an object of it, and everything is deleted with its owner.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  configMap,
  context,
  customResource,
  customResourceDefinition,
  startCluster,
  StatusError,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { controllerReference } from '../../src/api/meta/object.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)

const specSchema = {
  type: 'object',
  required: ['color'],
  properties: { color: { type: 'string', maxLength: 20 }, size: { type: 'integer', default: 1 } },
} as const

const widget = customResource({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec: specSchema } } },
      },
    ],
  },
})

const definitionName = 'widgets.example.com'
const red = { metadata: { name: 'red' }, spec: { color: 'red' } }

/** An operator that gives each Widget a ConfigMap. */
async function operate(cluster: TestCluster, signal: AbortSignal): Promise<void> {
  const client = cluster.as('operator', ['system:masters'])
  for await (const event of client.of(widget).watch({ namespace: 'default' }, context(signal)))
    if (event.type === 'ADDED') {
      const { object } = event
      const metadata = { name: `${object.metadata.name}-settings`, ownerReferences: [controllerReference(object)] }
      const data = { color: object.spec.color }
      await client.of(configMap).create({ metadata, data }, 'default', context(signal, event.cause))
    }
}

async function reconciled() {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const stop = new AbortController()
  const operator = operate(cluster, stop.signal)
  await cluster.client.of(widget).create(red, ctx)
  await cluster.until(() => cluster.client.of(configMap).find('red-settings', 'default', ctx))
  const created = cluster.flow(widget, 'red')
  await cluster.clock.advance('5s') // the collector has found the kind by then
  await cluster.client.of(widget).delete('red', 'default', {}, ctx)
  await cluster.clock.advance('30s')
  equal(await cluster.client.of(configMap).find('red-settings', 'default', ctx), undefined)
  stop.abort()
  await operator
  return { created, deleted: since(cluster.flow(widget, 'red'), 'delete widgets red') }
}

async function definitionDeleted() {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const definitions = cluster.client.of(customResourceDefinition)
  const widgets = cluster.client.of(widget)
  const held = { ...red.metadata, finalizers: ['example.com/held'] }
  await widgets.create({ ...red, metadata: held }, ctx)
  await definitions.delete(definitionName, {}, ctx)
  await cluster.clock.advance('1s')
  const [, , terminating] = (await definitions.get(definitionName, ctx)).status.conditions ?? []
  deepEqual([terminating?.type, terminating?.reason], ['Terminating', 'InstanceDeletionInProgress'])
  await rejects(widgets.create({ ...red, metadata: { name: 'late' } }, ctx), (error) => {
    return error instanceof StatusError && error.code === 403
  })
  await widgets.patch('red', 'default', { metadata: { finalizers: null } }, 'merge', ctx)
  await cluster.clock.advance('1s')
  equal(await definitions.find(definitionName, ctx), undefined)
  return since(
    cluster.flow(customResourceDefinition, definitionName),
    `delete customresourcedefinitions ${definitionName}`,
  )
}

/** A schema that existing objects do not fulfil: they stay, and may be updated as long as the invalid field is unchanged. */
async function schemaTightened() {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const widgets = cluster.client.of(widget)
  await widgets.create({ ...red, spec: { color: 'vermilion' } }, ctx)
  const [version] = widget.definition.spec.versions
  const color = { type: 'string', maxLength: 5 }
  const spec = { ...specSchema, properties: { ...specSchema.properties, color } }
  const tightened = { ...version, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }
  const patch = { spec: { versions: [tightened] } }
  await cluster.client.of(customResourceDefinition).patch(definitionName, '', patch, 'merge', ctx)
  await cluster.clock.advance('1s')
  await widgets.patch('red', 'default', { spec: { size: 2 } }, 'merge', ctx)
  await rejects(
    widgets.patch('red', 'default', { spec: { color: 'aquamarine' } }, 'merge', ctx),
    /spec.color: Too long: may not be more than 5 bytes/,
  )
  return since(cluster.flow(widget, 'red'), 'patch widgets red')
}

test('30 custom resources', async () => {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const established = cluster.flow(customResourceDefinition, definitionName)
  inOrder(
    established,
    /test ──► API Server: create customresourcedefinitions widgets.example.com → 201/,
    /API Server ══► Store: put customresourcedefinition widgets.example.com/,
    /API Server ══► Store: put customresourcedefinition widgets.example.com/,
  )
  const { created, deleted } = await reconciled()
  inOrder(
    created,
    /test ──► API Server: create widgets red → 201/,
    /API Server --► test: ADDED widgets red/,
    /test ──► API Server: create configmaps red-settings → 201/,
  )
  inOrder(deleted, /delete widgets red → 200/, /garbage-collector ──► API Server: delete configmaps red-settings → 200/)
  await comparePage(
    '30-custom-resources',
    'Custom resources',
    [
      {
        heading: 'Established',
        text: 'The API server accepts the names of a new definition and serves its resource. No other component is needed.',
        diagram: excerpt(established, /customresourcedefinitions? widgets/),
      },
      {
        heading: 'Reconciled by an operator',
        text: 'The object is validated, completed with defaults, stored, and sent to the operator, which is part of the test and creates a ConfigMap for it.',
        diagram: excerpt(created, /widgets? red/, /configmaps? red-settings/),
      },
      {
        heading: 'Deleted with its dependents',
        text: 'The garbage collector knows custom kinds from discovery.',
        diagram: excerpt(deleted, /widgets? red/, /configmaps? red-settings/),
      },
      {
        heading: 'The definition is deleted',
        text: 'Its objects are deleted first. One of them has a finalizer: until it is removed, the definition stays, and no object can be created.',
        diagram: excerpt(await definitionDeleted(), /customresourcedefinitions? widgets/, /widgets? (red|late)/),
      },
      {
        heading: 'The schema is tightened',
        text: 'An object that does not fulfil the new schema stays. Its other fields can be changed; the invalid one only to a valid value.',
        diagram: excerpt(await schemaTightened(), /widgets? red/),
      },
    ],
    [
      [
        'two definitions claim the same name',
        'the second is not established until the first is gone',
        'src/apiserver/custom-resources/custom-resources.test.ts',
      ],
      [
        'the conversion webhook is down',
        'objects can be read in the stored version; other versions get the error',
        'src/apiserver/custom-resources/webhook-conversion.test.ts',
      ],
      [
        'hostile schemas: many patterns and rules, expensive rules and searches, huge enumerations, deep nesting',
        'a clear error or a result; other requests are served meanwhile',
        'src/apiserver/custom-resources/hostile-definitions.test.ts',
      ],
    ],
  )
})
