// Which objects count as ready.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { isReadyObject } from './ready-object.ts'

const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
const scheduled = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2 }
const condition = (type: string, status = 'True') => ({ conditions: [{ type, status }] })
const two = { replicas: 2 }

const rows: readonly (readonly [name: string, kind: string, spec: object, status: object, isReady: boolean])[] = [
  ['a Deployment that is rolled out', 'Deployment', two, counts, true],
  ['a Deployment with a pod of an earlier template', 'Deployment', two, { ...counts, updatedReplicas: 1 }, false],
  ['a Deployment with a surplus pod', 'Deployment', two, { ...counts, replicas: 3 }, false],
  ['a Deployment that was not observed', 'Deployment', two, { ...counts, observedGeneration: 1 }, false],
  ['a Deployment without pods', 'Deployment', { replicas: 0 }, {}, true],
  ['a StatefulSet with all pods', 'StatefulSet', two, counts, true],
  ['a StatefulSet with a pod that is not ready', 'StatefulSet', two, { ...counts, readyReplicas: 1 }, false],
  ['a ReplicaSet with all pods', 'ReplicaSet', two, counts, true],
  ['a ReplicationController without pods', 'ReplicationController', two, {}, false],
  ['a DaemonSet on all nodes', 'DaemonSet', {}, scheduled, true],
  ['a DaemonSet that is updated', 'DaemonSet', {}, { ...scheduled, updatedNumberScheduled: 1 }, false],
  ['a ready pod', 'Pod', {}, condition('Ready'), true],
  ['a pod that has ended', 'Pod', {}, { phase: 'Succeeded', ...condition('Ready', 'False') }, true],
  ['a pod that runs and is not ready', 'Pod', {}, { phase: 'Running' }, false],
  ['a complete Job', 'Job', {}, condition('Complete'), true],
  ['a failed Job', 'Job', {}, condition('Failed'), false],
  ['a bound claim', 'PersistentVolumeClaim', {}, { phase: 'Bound' }, true],
  ['a pending claim', 'PersistentVolumeClaim', {}, { phase: 'Pending' }, false],
  ['an active namespace', 'Namespace', {}, { phase: 'Active' }, true],
  ['a Service', 'Service', { type: 'ClusterIP' }, {}, true],
  ['a load balancer without an address', 'Service', { type: 'LoadBalancer' }, {}, false],
  ['a load balancer', 'Service', { type: 'LoadBalancer' }, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }, true],
  ['a custom resource without conditions', 'Widget', {}, {}, true],
  ['a custom resource that is not ready', 'Widget', {}, condition('Ready', 'False'), false],
  ['a definition', 'CustomResourceDefinition', {}, condition('Established'), true],
]
for (const [name, kind, spec, status, isReady] of rows)
  test(`${name} is ${isReady ? '' : 'not '}ready`, () => {
    const object = { kind, metadata: { name: 'a', uid: 'u', resourceVersion: '1', generation: 2 }, spec, status }
    equal(isReadyObject(object as unknown as ApiObject), isReady)
  })

test('an object that is being deleted is not ready', () => {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', deletionTimestamp: '2030-01-01T00:00:00Z' }
  equal(isReadyObject({ kind: 'ConfigMap', metadata } as unknown as ApiObject), false)
})
