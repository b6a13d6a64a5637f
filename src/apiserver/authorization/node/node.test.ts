// A node may read what its pods need, and no more.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { resourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { parseFieldSelector } from '../../../api/selectors/field-selector-text.ts'
import { Metrics } from '../../../base/observability/metrics.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { AuthorizerMetrics } from '../../metrics/authorizer-metrics.ts'
import { TestCaches } from '../../watch-cache/caches.harness.ts'
import { userWithName } from '../../request/request.ts'
import { resourceAttributes } from '../attributes.ts'
import type { Decision } from '../authorizer.ts'
import { nodeAuthorizer } from './node-authorizer.ts'

const container = { name: 'c', image: 'i' }

const podOn = (nodeName: string, name: string, spec: object, annotations = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns', annotations },
    spec: { nodeName, containers: [container], ...spec },
    status: {},
  }) as never

function seeded(metrics = new Metrics()): { caches: TestCaches; asks: (text: string, node?: string) => Decision } {
  const caches = new TestCaches()
  const authorizer = nodeAuthorizer(caches, new AuthorizerMetrics(metrics, new VirtualClock()))
  caches.set(
    pod,
    podOn('a', 'web', {
      serviceAccountName: 'robot',
      imagePullSecrets: [{ name: 'pull' }],
      volumes: [
        { name: 's', secret: { secretName: 'mounted' } },
        { name: 'p', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'settings' } }] } },
        { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'e', ephemeral: {} },
      ],
      containers: [
        {
          ...container,
          env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keyed', key: 'k' } } }],
          envFrom: [{ configMapRef: { name: 'whole' } }],
        },
      ],
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-1' }],
    }),
  )
  caches.set(
    pod,
    podOn(
      'a',
      'static',
      { volumes: [{ name: 's', secret: { secretName: 'stolen' } }] },
      { 'kubernetes.io/config.mirror': 'x' },
    ),
  )
  caches.set(persistentVolume, {
    metadata: { name: 'pv1' },
    spec: {
      claimRef: { namespace: 'ns', name: 'data' },
      csi: {
        nodePublishSecretRef: { name: 'disk', namespace: 'storage' },
        controllerPublishSecretRef: { name: 'attach', namespace: 'storage' },
        controllerExpandSecretRef: { name: 'expand', namespace: 'storage' },
      },
    },
  } as never)
  caches.set(volumeAttachment, { metadata: { name: 'va1' }, spec: { nodeName: 'a' } } as never)
  for (const [name, nodeName] of [
    ['slice', 'a'],
    ['foreign', 'b'],
    ['shared', undefined],
  ])
    caches.set(resourceSlice, { metadata: { name }, spec: { nodeName } } as never)
  caches.set(pod, {
    ...(podOn('a', 'devices', {}) as object),
    status: {
      resourceClaimStatuses: [{ name: 'g', resourceClaimName: 'generated' }],
      extendedResourceClaimStatus: { resourceClaimName: 'extended' },
    },
  } as never)
  /** `get secrets ns/x`, `list pods ns/?spec.nodeName=a`, `create serviceaccounts/token ns/robot` */
  const asks = (text: string, node = 'a') => {
    const [verb = '', what = '', where = ''] = text.split(' ')
    const [resource = '', subresource = ''] = (what.split(':')[1] ?? what).split('/')
    const group = what.includes(':') ? (what.split(':')[0] ?? '') : ''
    const [key = '', selector] = where.split('?')
    const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key]
    const fields = selector === undefined ? undefined : parseFieldSelector(selector)
    const user = userWithName(`system:node:${node}`, ['system:nodes', 'system:authenticated'])
    return authorizer.authorize(
      resourceAttributes(user, verb, { group, resource, subresource, namespace, name, fields }),
      new AbortController().signal,
    ) as Decision
  }
  return { caches, asks }
}

const unrelated = "no relationship found between node 'a' and this object"
const decisions: [asked: string, reason: string | undefined][] = [
  ...['pull', 'mounted', 'projected', 'keyed'].map((name): [string, undefined] => [
    `get secrets ns/${name}`,
    undefined,
  ]),
  ['watch secrets ns/mounted', undefined],
  ['get secrets storage/disk', undefined],
  ['get configmaps ns/settings', undefined],
  ['get configmaps ns/whole', undefined],
  ['get persistentvolumeclaims ns/data', undefined],
  ['get persistentvolumeclaims ns/web-e', undefined],
  ['get persistentvolumes pv1', undefined],
  ['get storage.k8s.io:volumeattachments va1', undefined],
  ['get resource.k8s.io:resourceclaims ns/gpu-1', undefined],
  ['get serviceaccounts ns/robot', undefined],
  ['create serviceaccounts/token ns/robot', undefined],
  ['get secrets ns/other', unrelated],
  ['get secrets other/mounted', unrelated],
  ['get secrets ns/stolen', unrelated],
  ['get secrets storage/attach', unrelated],
  ['get secrets storage/expand', unrelated],
  ['list secrets ns/', 'No Object name found'],
  ['list secrets ', 'can only read namespaced object of this type'],
  ['list configmaps ', 'can only read namespaced object of this type'],
  ['update secrets ns/mounted', 'can only read resources of this type'],
  ['get secrets/status ns/mounted', 'cannot read subresource'],
  ['list persistentvolumes ', 'can only get individual resources of this type'],
  ['list persistentvolumeclaims ', 'can only get individual resources of this type'],
  ['patch persistentvolumeclaims/status ns/data', undefined],
  ['patch persistentvolumeclaims/status ns/other', unrelated],
  ['get persistentvolumeclaims/status ns/data', 'can only get/update/patch this type'],
  ['get resource.k8s.io:resourceclaims ns/generated', undefined],
  ['get resource.k8s.io:resourceclaims ns/extended', undefined],
  ['create serviceaccounts/token ns/other', unrelated],
  ['create serviceaccounts/token kube-system/coxswain-network', undefined],
  ['create serviceaccounts/token kube-system/coxswain-local-path', undefined],
  ['create serviceaccounts/token kube-system/node-controller', unrelated],
  ['create serviceaccounts/token ns/coxswain-network', unrelated],
  ['get serviceaccounts kube-system/coxswain-network', unrelated],
  ['get pods ns/web', undefined],
  ['get pods ns/foreign', unrelated],
  ['list pods ?spec.nodeName=a', undefined],
  ['watch pods ?spec.nodeName=b', 'can only list/watch pods with spec.nodeName field selector'],
  ['list pods ns/', 'can only list/watch pods with spec.nodeName field selector'],
  ['watch pods ns/web', undefined],
  ['watch pods ns/foreign', unrelated],
  ['patch pods/status ns/web', undefined],
  ['create pods/binding ns/web', ''],
  ['get nodes a', undefined],
  ['get nodes b', "node 'a' cannot read 'b', only its own Node object"],
  ['list nodes ', "node 'a' cannot read all nodes, only its own Node object"],
  ['create nodes a', undefined],
  ['patch nodes/status a', undefined],
  ['update coordination.k8s.io:leases kube-node-lease/a', undefined],
  ['create coordination.k8s.io:leases kube-node-lease/', undefined],
  [
    'update coordination.k8s.io:leases kube-node-lease/b',
    'can only access node lease with the same name as the requesting node',
  ],
  ['get coordination.k8s.io:leases kube-system/a', 'can only access leases in the "kube-node-lease" system namespace'],
  ['list coordination.k8s.io:leases kube-node-lease/', 'can only get, create, update, patch, or delete a node lease'],
  ['get storage.k8s.io:csinodes b', 'can only access CSINode with the same name as the requesting node'],
  ['deletecollection resource.k8s.io:resourceslices ?spec.nodeName=a', undefined],
  ['list resource.k8s.io:resourceslices ?spec.nodeName=a', undefined],
  ['create resource.k8s.io:resourceslices ', undefined],
  ['get resource.k8s.io:resourceslices slice', undefined],
  ['delete resource.k8s.io:resourceslices slice', undefined],
  ['get resource.k8s.io:resourceslices foreign', unrelated],
  ['patch resource.k8s.io:resourceslices shared', unrelated],
  [
    'list resource.k8s.io:resourceslices ',
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
  ],
  [
    'escalate resource.k8s.io:resourceslices slice',
    'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
  ],
  ['list services ', undefined],
  ['delete services ns/x', ''],
]

test('a node may access the objects that its pods need and its own objects', () => {
  const { asks } = seeded()
  for (const [asked, reason] of decisions) {
    const decision = asks(asked)
    deepEqual(
      [decision.kind, decision.kind === 'allowed' ? undefined : decision.reason()],
      [reason === undefined ? 'allowed' : 'noOpinion', reason],
      asked,
    )
  }
})

test('another node may access none of them, nor the same node after the pod is deleted', () => {
  const { caches, asks } = seeded()
  equal(asks('get secrets ns/mounted', 'b').kind, 'noOpinion')
  equal(asks('get persistentvolumes pv1', 'b').kind, 'noOpinion')
  caches.set(pod, podOn('a', 'second', { volumes: [{ name: 's', secret: { secretName: 'mounted' } }] }))
  caches.remove(pod, 'ns', 'web')
  equal(asks('get secrets ns/mounted').kind, 'allowed')
  equal(asks('get secrets ns/pull').kind, 'noOpinion')
  equal(asks('get secrets storage/disk').kind, 'noOpinion')
  caches.remove(pod, 'ns', 'second')
  equal(asks('get secrets ns/mounted').kind, 'noOpinion')
})

test('a member of system:nodes without a node name, and a user outside that group, get no opinion', () => {
  const authorizer = nodeAuthorizer(new TestCaches(), new AuthorizerMetrics(new Metrics(), new VirtualClock()))
  const ask = (user: ReturnType<typeof userWithName>) =>
    authorizer.authorize(
      resourceAttributes(user, 'get', { resource: 'services' }),
      new AbortController().signal,
    ) as Decision
  equal(ask(userWithName('x', ['system:nodes'])).reason(), 'unknown node for user "x"')
  equal(ask(userWithName('system:node:a')).reason(), '')
  deepEqual(authorizer.rulesFor(userWithName('system:node:a', ['system:nodes']), '').errors.length, 1)
})

test('changes of the graph are measured; pods without a node and unchanged references are none', () => {
  const metrics = new Metrics()
  const { caches } = seeded(metrics)
  const counts = () =>
    [...metrics.text().matchAll(/^node_authorizer_graph_actions_duration_seconds_count\{operation="(\w+)"\} (\d+)$/gm)]
      .map(([, action, count]) => `${action} ${count}`)
      .toSorted()
  const before = counts()
  caches.set(pod, podOn('', 'unbound', {}))
  deepEqual(counts(), before)
  const more: Pod = podOn('b', 'more', {})
  caches.set(pod, more)
  caches.set(pod, { ...more, status: { ...more.status, phase: 'Running' } } as Pod)
  caches.remove(pod, 'ns', 'more')
  const added = Number(before.find((each) => each.startsWith('AddPod'))?.split(' ')[1])
  deepEqual(counts(), [before[0], `AddPod ${added + 1}`, 'DeletePod 1'])
})
