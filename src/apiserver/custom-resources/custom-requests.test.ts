// What is decided about requests for custom objects: authorization, audit, priority and fairness, metrics; and their events.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { auditPolicy } from '../audit/audit-policy.ts'
import type { AuditEvent } from '../audit/audit-record.ts'
import { Auditor } from '../audit/auditor.ts'
import { ConfigReader } from '../config/config-reader.ts'
import { Fairness } from '../fairness/fairness.ts'
import { fairnessBootstrapObjects } from '../fairness/default-flow-schemas.ts'
import { FairnessMetrics } from '../fairness/fairness-metrics.ts'
import { openPolicies } from '../open-policies.ts'
import { startGuarded } from '../server-policies.harness.ts'
import { startServer } from '../server.harness.ts'
import { customDefinition, customVersion, define, definitionsPath, eventually } from './custom-resource.harness.ts'

const widgets = '/apis/example.com/v1/namespaces/default/widgets'
const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })
const definition = customDefinition('widgets', 'Widget', [customVersion('v1'), customVersion('v1beta1')])
const rbac = '/apis/rbac.authorization.k8s.io/v1'

test('roles grant custom resources by group and name, and no one can grant more than they have', async () => {
  await using server = await startGuarded()
  await define(server, definition)
  const as = (user: string) => ({ as: user })
  equal((await server.call('GET', widgets, undefined, as('jane'))).status, 403)
  const role = (name: string, rules: readonly object[]) => ({ metadata: { name, namespace: 'default' }, rules })
  const rule = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list'] }
  const roles = `${rbac}/namespaces/default/roles`
  const roleRules = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] }
  equal((await server.call('POST', roles, role('reader', [rule, roleRules]))).status, 201)
  await server.call('POST', `${rbac}/namespaces/default/rolebindings`, {
    metadata: { name: 'reader', namespace: 'default' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  })
  equal((await server.call('GET', widgets, undefined, as('jane'))).status, 200)
  const refused = await server.call('POST', widgets, widget('a'), as('jane'))
  equal(
    refused.body.message,
    'widgets.example.com is forbidden: User "jane" cannot create resource "widgets" in API group "example.com" in the namespace "default"',
  )
  equal((await server.call('POST', roles, role('same', [rule]), as('jane'))).status, 201)
  const more = await server.call('POST', roles, role('more', [{ ...rule, verbs: ['delete'] }]), as('jane'))
  match(more.body.message, /is attempting to grant RBAC permissions not currently held/)
})

test('audit rules match custom resources by group and name', async () => {
  const events: AuditEvent[] = []
  const write = (event: AuditEvent) => Promise.resolve(events.push(event) > 0)
  const backend = { write, close: () => Promise.resolve() }
  const rules = [{ level: 'Request', resources: [{ group: 'example.com', resources: ['widgets'] }] }, { level: 'None' }]
  const policy = auditPolicy(new ConfigReader({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }))
  const clock = new VirtualClock()
  const deps = { clock, random: seededRandom(1), metrics: new Metrics() }
  const audit = new Auditor({ policy, backends: [backend], ...deps })
  await using server = await startServer({ ...openPolicies, audit }, { clock })
  await define(server, definition)
  await server.call('POST', widgets, widget('a'))
  const created = events.find(({ verb, stage }) => verb === 'create' && stage === 'ResponseComplete')
  deepEqual(created?.objectRef, {
    resource: 'widgets',
    namespace: 'default',
    name: 'a',
    apiGroup: 'example.com',
    apiVersion: 'v1',
  })
  equal((created?.requestObject as { kind?: string } | undefined)?.kind, 'Widget')
})

test('custom objects are counted in the metrics while their resource exists', async () => {
  await using server = await startServer()
  await define(server, definition)
  await server.call('POST', widgets, widget('a'))
  const counted = async () =>
    /apiserver_storage_objects\{resource="widgets.example.com"\} (\d+)/.exec(
      String((await server.call('GET', '/metrics')).body),
    )?.[1]
  equal(await counted(), '1')
  await server.call('DELETE', `${definitionsPath}/widgets.example.com`)
  await eventually(async () => ((await server.call('GET', widgets)).status === 404 ? true : undefined))
  equal(await counted(), undefined)
})

test('metrics have no series of a deleted definition, whose watches end later, and measure one of the same name again', async () => {
  await using server = await startServer()
  const seriesOf = async () =>
    String((await server.call('GET', '/metrics')).body).match(/^\w+\{.*resource="widgets".*$/gm) ?? []
  const counted = async () =>
    (await seriesOf()).find((line) => line.startsWith('apiserver_request_total{verb="POST"'))?.split(' ')[1]
  for (const round of [1, 2]) {
    await define(server, definition)
    // More events than there are: it ends with the definition.
    const watched = server.watch(`${widgets}?watch=1`, 10)
    await server.call('POST', widgets, widget('a'))
    equal(await counted(), '1', `in round ${round}`)
    await server.call('DELETE', `${definitionsPath}/widgets.example.com`)
    await eventually(async () => ((await server.call('GET', widgets)).status === 404 ? true : undefined))
    equal((await watched)[0]?.type, 'ADDED')
    deepEqual(await seriesOf(), [])
  }
})

test('flow schemas match custom resources by group and name', async () => {
  const clock = new VirtualClock()
  const metrics = new FairnessMetrics(new Metrics())
  await using server = await startServer(
    (caches) => ({ ...openPolicies, seatOf: new Fairness(caches, { clock, metrics, seats: 60 }).seatOf }),
    { clock, bootstrapObjects: fairnessBootstrapObjects },
  )
  await define(server, definition)
  const schemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
  const schemaFor = (name: string, resources: readonly string[]) => ({
    metadata: { name },
    spec: {
      matchingPrecedence: 500,
      priorityLevelConfiguration: { name: 'workload-high' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'jane' } }],
          resourceRules: [{ apiGroups: ['example.com'], resources, verbs: ['*'], namespaces: ['default'] }],
        },
      ],
    },
  })
  const created = await server.call('POST', schemas, schemaFor('widgets', ['widgets']))
  equal(created.status, 201)
  const schemaOf = async (path: string) =>
    (await server.call('GET', path, undefined, { as: 'jane' })).headers['x-kubernetes-pf-flowschema-uid']
  equal(await schemaOf(widgets), created.body.metadata.uid)
  equal(await schemaOf(`${widgets}/absent`), created.body.metadata.uid)
  const byDefault = (await server.call('GET', `${schemas}/global-default`)).body
  equal(await schemaOf('/api/v1/namespaces/default/configmaps'), byDefault.metadata.uid)
  equal(await schemaOf('/apis/example.com/v1/namespaces/other/widgets'), byDefault.metadata.uid)
})

test('events refer to custom objects and are selected by them', async () => {
  await using server = await startServer()
  await define(server, definition)
  const { metadata } = (await server.call('POST', widgets, widget('a'))).body
  const events = '/api/v1/namespaces/default/events'
  const involvedObject = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    name: 'a',
    namespace: 'default',
    uid: metadata.uid,
  }
  const event = { metadata: { name: 'a.1' }, involvedObject, reason: 'Ready', message: 'it works', type: 'Normal' }
  equal((await server.call('POST', events, event)).status, 201)
  const selected = async (selector: string) =>
    (await server.call('GET', `${events}?fieldSelector=${encodeURIComponent(selector)}`)).body.items.length
  // kubectl describe selects the events of an object like this.
  const ofObject = `involvedObject.name=a,involvedObject.namespace=default,involvedObject.kind=Widget,involvedObject.uid=${metadata.uid}`
  equal(await selected(ofObject), 1)
  equal(await selected('involvedObject.kind=Widget,involvedObject.name=b'), 0)
})
