// Which changes of a Service concern its load balancer.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../../api/core/v1/service/service.ts'
import { made } from '../../controllers/runtime/plan.harness.ts'
import { changeOf, cleanUpFinalizer, needsCleanUp } from './service-changes.ts'

const spec = {
  type: 'LoadBalancer',
  clusterIP: '10.0.0.1',
  ipFamilies: ['IPv4'],
  ports: [{ port: 80, protocol: 'TCP' }],
}
const web = (change: object = {}, metadata: object = {}) =>
  made(service, 'web', { metadata, spec: { ...spec, ...change } })

const cases: [why: string, before: object, now: object, event: string | undefined][] = [
  ['nothing', {}, {}, undefined],
  ['the selector does not concern it', {}, { selector: { app: 'other' } }, undefined],
  ['neither is a load balancer', { type: 'ClusterIP' }, { type: 'NodePort' }, undefined],
  [
    'a class is for another implementation',
    { loadBalancerClass: 'a/b' },
    { loadBalancerClass: 'a/b', externalIPs: ['1.2.3.4'] },
    undefined,
  ],
  ['the type', { type: 'ClusterIP' }, {}, 'Type: ClusterIP -> LoadBalancer'],
  [
    'source ranges',
    {},
    { loadBalancerSourceRanges: ['10.0.0.0/8', '1.0.0.0/8'] },
    'LoadBalancerSourceRanges: [] -> [10.0.0.0/8 1.0.0.0/8]',
  ],
  ['a port', {}, { ports: [{ port: 81, protocol: 'TCP' }] }, ''],
  ['a node port', {}, { ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] }, ''],
  ['affinity', {}, { sessionAffinity: 'ClientIP' }, ''],
  [
    'the time of affinity',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } },
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 2 } } },
    '',
  ],
  ['the wanted address', {}, { loadBalancerIP: '192.0.2.9' }, 'LoadbalancerIP:  -> 192.0.2.9'],
  ['the number of external addresses', {}, { externalIPs: ['192.0.2.7'] }, 'ExternalIP: Count: 0 -> 1'],
  [
    'an external address',
    { externalIPs: ['192.0.2.7'] },
    { externalIPs: ['192.0.2.8'] },
    'ExternalIP: Added: 192.0.2.8',
  ],
  [
    'the traffic policy',
    { externalTrafficPolicy: 'Cluster' },
    { externalTrafficPolicy: 'Local' },
    'ExternalTrafficPolicy: Cluster -> Local',
  ],
  [
    'the health check port',
    { externalTrafficPolicy: 'Local' },
    { externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 },
    'HealthCheckNodePort: 0 -> 30001',
  ],
  ['a family', {}, { ipFamilies: ['IPv4', 'IPv6'] }, 'IPFamilies: Count: 1 -> 2'],
]
for (const [why, before, now, expected] of cases)
  test(`changes of a Service: ${why}`, () => {
    const change = changeOf(web(before), web(now))
    const text = change && (change.event === undefined ? '' : `${change.event.reason}: ${change.event.message}`)
    equal(text, expected)
  })

test('annotations and the identity of a Service concern its load balancer', () => {
  deepEqual(changeOf(web(), web({}, { annotations: { a: 'b' } })), {})
  equal(changeOf(web(), web({}, { uid: 'new' }))?.event?.message, 'uid-web -> new')
})

test('a Service with the finalizer is cleaned up when it is deleted or has another type', () => {
  const finalizers = [cleanUpFinalizer]
  equal(needsCleanUp(web({}, { finalizers })), false)
  equal(needsCleanUp(web({ type: 'ClusterIP' }, { finalizers })), true)
  equal(needsCleanUp(web({}, { finalizers, deletionTimestamp: '2030-01-01T00:00:00Z' })), true)
  equal(needsCleanUp(web({ type: 'ClusterIP' })), false)
})
