// Every kind × the ways in which an object of it can be stuck: the explanation names the cause, and never states that
// there is no problem where no component is responsible for the kind.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import { kinds } from '../../api/kinds.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { responsibilityFor } from './responsible-component.ts'
import type { ClusterReader } from './explainer/cluster-reader.ts'
import { why } from './why.ts'

const since = '2026-01-01T00:00:00Z'

const kindOf = (resource: string): Kind => {
  const found = kinds.find((kind) => qualifiedResource(kind) === resource)
  ok(found, resource)
  return found
}

/** An object with the defaults that explainers read. */
function specimen(kind: Kind, { metadata = {}, spec = {}, ...rest }: Specimen = {}): ApiObject {
  const scaleTargetRef = { kind: 'Deployment', name: 'd' }
  const resources = { requests: { storage: '1Gi' } }
  const common = {
    replicas: 1,
    resources,
    schedulerName: 'default-scheduler',
    type: 'ClusterIP',
    schedule: '* * * * *',
    containers: [],
    template: { spec: { containers: [] } },
    maxReplicas: 3,
  }
  const object = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name: 'x', uid: 'u', ...(kind.namespaced ? { namespace: 'default' } : {}), ...metadata },
    spec: { ...common, scaleTargetRef, ...spec },
    roleRef: { kind: 'ClusterRole', name: 'r' },
    ...rest,
  } as unknown as ApiObject
  return { status: kind.initialStatus?.(object) ?? {}, ...object } as ApiObject
}

interface Specimen {
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
}

const alone = (isCoxswain = true): ClusterReader => ({
  list: () => Promise.resolve([]),
  find: () => Promise.resolve(undefined),
  nowMs: 0,
  isCoxswain,
})

const explain = async (kind: Kind, object: ApiObject, isCoxswain = true): Promise<string> => {
  const { waits, summary } = await why(kind, object, alone(isCoxswain), [])
  equal(waits.length === 0, summary !== '')
  return [...waits, summary].join(' ').trim()
}

/** Kinds whose objects can be read by name. */
const stored = kinds.filter(
  ({ computed, storedAs, plural }) => !computed && !storedAs && !/reviews?$|^bindings$/.test(plural),
)

for (const kind of stored) {
  const resource = qualifiedResource(kind)
  test(`${resource}: the responsible component is known`, () => {
    ok(responsibilityFor(kind, specimen(kind)) !== undefined, `${resource} is missing in responsible-component.ts`)
  })

  test(`${resource}: a finalizer of another controller`, async () => {
    const metadata = { deletionTimestamp: since, finalizers: ['example.com/hold'] }
    match(
      await explain(kind, specimen(kind, { metadata })),
      /It has been terminating since 2026-01-01T00:00:00Z and waits for its finalizer: no component of Coxswain removes example\.com\/hold: the controller that added it must do so\. If that controller no longer runs, remove/,
    )
  })

  test(`${resource}: foreground deletion`, async () => {
    const metadata = { deletionTimestamp: since, finalizers: ['foregroundDeletion'] }
    match(
      await explain(kind, specimen(kind, { metadata })),
      /the garbage collector removes foregroundDeletion when the objects/,
    )
  })

  test(`${resource}: the explanation claims no more than was checked`, async () => {
    const expected = await explain(kind, specimen(kind))
    const acting = responsibilityFor(kind, specimen(kind))
    if (acting?.kind === 'unserved') {
      ok(expected.includes(acting.sentence), expected)
      ok(!(await explain(kind, specimen(kind), false)).includes('Coxswain'), 'not where another Kubernetes runs')
    }
    if (acting?.kind === 'data') match(expected, /^It is stored\. |^Its condition /)
    equal(/undefined|NaN|: \.|holds it up/.test(expected), false, expected)
    if (expected.startsWith('No problem found'))
      match(expected, /^No problem found\. Checked: .+, warning events, failed requests\.$/)
  })
}

const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message })
const waiting = { waiting: { reason: 'ErrImagePull', message: 'no such image' } }
const container = (state: object, more: object = {}) => ({
  name: 'c',
  image: 'i',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})
const onNode = { nodeName: 'n' }
const running = { running: { startedAt: since } }

const situations: [resource: string, situation: string, object: Specimen, expected: RegExp][] = [
  [
    'pods',
    'no scheduler has processed it',
    { spec: { schedulerName: 's' } },
    /not scheduled yet: the scheduler s has not processed it/,
  ],
  [
    'pods',
    'no node fits',
    {
      spec: {},
      status: { conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/1 nodes are available.')] },
    },
    /^It cannot be scheduled: Unschedulable: 0\/1 nodes are available\. The cluster has no node\. coxswain kubelet adds one\.$/,
  ],
  ['pods', 'a gate', { spec: { schedulingGates: [{ name: 'g' }] } }, /until its scheduling gates are removed .*: g\./],
  ['pods', 'its node does not exist', { spec: onNode }, /Its node n does not exist/],
  [
    'pods',
    'a missing image',
    { spec: onNode, status: { containerStatuses: [container(waiting)] } },
    /Container c cannot start, because its image i cannot be pulled \(ErrImagePull\): no such image\./,
  ],
  [
    'pods',
    'a container that is not ready',
    { spec: onNode, status: { containerStatuses: [container(running)] } },
    /its readiness probe has not succeeded/,
  ],
  [
    'pods',
    'a container whose startup probe fails',
    { spec: onNode, status: { containerStatuses: [container(running, { started: false })] } },
    /its startup probe has not succeeded/,
  ],
  [
    'pods',
    'a readiness gate',
    {
      spec: { ...onNode, readinessGates: [{ conditionType: 'g' }] },
      status: { containerStatuses: [container(running, { ready: true })] },
    },
    /Its readiness gate g is not True/,
  ],
  [
    'pods',
    'failed for a reason',
    { spec: onNode, status: { phase: 'Failed', reason: 'Evicted', message: 'low on memory.' } },
    /^It has failed: Evicted: low on memory\.$/,
  ],
  [
    'pods',
    'failed by its container',
    {
      spec: onNode,
      status: { phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 3, reason: 'Error' } })] },
    },
    /^It has failed: Container c exited with code 3 \(Error\)\.$/,
  ],
  [
    'pods',
    'failed by its init container',
    { spec: onNode, status: { phase: 'Failed', initContainerStatuses: [container({ terminated: { exitCode: 2 } })] } },
    /^It has failed: Container c exited with code 2 \(no reason\)\.$/,
  ],
  [
    'pods',
    'failed without a reason',
    { spec: onNode, status: { phase: 'Failed', containerStatuses: [container({ waiting: {} })] } },
    /^It has failed: its status gives no reason\.$/,
  ],
  [
    'pods',
    'deleted and never scheduled',
    { metadata: { deletionTimestamp: since }, spec: {} },
    /being deleted and was never scheduled/,
  ],
  [
    'pods',
    'deleted, its containers are terminating',
    { metadata: { deletionTimestamp: since }, spec: onNode },
    /the kubelet of n stops its containers by 2026/,
  ],
  [
    'pods',
    'deleted, not counted by its Job',
    { metadata: { deletionTimestamp: since, finalizers: ['batch.kubernetes.io/job-tracking'] }, spec: onNode },
    /the job controller removes batch\.kubernetes\.io\/job-tracking when it has counted the pod/,
  ],
  [
    'deployments.apps',
    'not observed',
    { metadata: { generation: 2 }, status: { observedGeneration: 1 } },
    /has not processed the last change yet \(generation 2, observed 1\)/,
  ],
  [
    'deployments.apps',
    'its deadline passed',
    { status: { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] } },
    /rollout is not progressing: ProgressDeadlineExceeded\./,
  ],
  [
    'replicasets.apps',
    'its pods are rejected',
    { status: { replicas: 0, conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'quota')] } },
    /cannot be created: FailedCreate: quota\./,
  ],
  ['daemonsets.apps', 'no node matches', {}, /No node matches its node selector/],
  [
    'jobs.batch',
    'failed',
    { spec: {}, status: { conditions: [condition('Failed', 'True', 'DeadlineExceeded')] } },
    /It has failed: DeadlineExceeded\./,
  ],
  [
    'jobs.batch',
    'failed without a reason',
    { spec: {}, status: { conditions: [condition('Failed', 'True')] } },
    /It has failed: no reason is given\./,
  ],
  ['jobs.batch', 'suspended', { spec: { suspend: true } }, /It is suspended: no pod is started until/],
  [
    'cronjobs.batch',
    'suspended',
    { spec: { suspend: true, schedule: '* * * * *' } },
    /It is suspended: no Job is started until/,
  ],
  [
    'nodes',
    'not ready',
    { spec: {}, status: { conditions: [condition('Ready', 'False', 'KubeletNotReady', 'no network')] } },
    /It is not ready: KubeletNotReady: no network/,
  ],
  [
    'nodes',
    'under pressure',
    {
      spec: {},
      status: { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'True', 'KubeletHasDiskPressure')] },
    },
    /DiskPressure: KubeletHasDiskPressure/,
  ],
  [
    'namespaces',
    'its content remains',
    {
      metadata: { deletionTimestamp: since },
      spec: { finalizers: ['kubernetes'] },
      status: {
        conditions: [
          condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'pods. has 1 resource instances'),
        ],
      },
    },
    /the namespace controller removes kubernetes when .*SomeResourcesRemain: pods\. has 1/,
  ],
  [
    'persistentvolumeclaims',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['kubernetes.io/pvc-protection'] } },
    /the claim protection controller removes kubernetes\.io\/pvc-protection when no pod uses it/,
  ],
  [
    'persistentvolumeclaims',
    'no class',
    { spec: {}, status: { phase: 'Pending' } },
    /not bound to a volume: it has no storage class.*; no volume without a class is available\.$/,
  ],
  [
    'persistentvolumeclaims',
    'its volume is lost',
    { spec: { volumeName: 'v' }, status: { phase: 'Lost' } },
    /its volume v no longer exists/,
  ],
  [
    'persistentvolumes',
    'released',
    {
      spec: { claimRef: { namespace: 'a', name: 'b' }, persistentVolumeReclaimPolicy: 'Delete' },
      status: { phase: 'Released' },
    },
    /Its claim a\/b is deleted\. Its provisioner or storage driver has not deleted it yet \(reclaim policy Delete\)/,
  ],
  [
    'persistentvolumes',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['kubernetes.io/pv-protection'] }, spec: {} },
    /the volume protection controller removes kubernetes\.io\/pv-protection/,
  ],
  [
    'services',
    'a load balancer',
    { spec: { type: 'LoadBalancer', selector: { a: 'b' } } },
    /no cloud controller has assigned an address/,
  ],
  [
    'services',
    'a load balancer that is not removed',
    { metadata: { deletionTimestamp: since, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] } },
    /the cloud controller manager removes service/,
  ],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'its names are in use',
    { status: { conditions: [condition('NamesAccepted', 'False', 'PluralConflict', 'in use')] } },
    /Its names are not accepted: PluralConflict: in use\. It is not established: nothing has processed it/,
  ],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'its objects remain',
    { metadata: { deletionTimestamp: since, finalizers: ['customresourcecleanup.apiextensions.k8s.io'] } },
    /the API server removes customresourcecleanup\.apiextensions\.k8s\.io when all objects of the kind are deleted/,
  ],
  [
    'apiservices.apiregistration.k8s.io',
    'its Service',
    { spec: { service: { name: 's' } } },
    /Nothing has checked its Service/,
  ],
  ['certificatesigningrequests.certificates.k8s.io', 'not approved', {}, /It is not approved yet\./],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'denied',
    { status: { conditions: [condition('Denied', 'True', 'No')] } },
    /It is denied: No\./,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'a signer of another controller',
    { spec: { signerName: 'example.com/s' }, status: { conditions: [condition('Approved', 'True')] } },
    /no component of Coxswain signs for example\.com\/s/,
  ],
  ['resourceclaims.resource.k8s.io', 'no device', {}, /It is not allocated/],
  [
    'resourceclaims.resource.k8s.io',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['resource.kubernetes.io/delete-protection'] } },
    /the resource claim controller removes/,
  ],
  [
    'servicecidrs.networking.k8s.io',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['networking.k8s.io/service-cidr-finalizer'] } },
    /the service CIDR controller removes/,
  ],
  [
    'servicecidrs.networking.k8s.io',
    'not ready',
    { status: { conditions: [condition('Ready', 'False', 'Terminating')] } },
    /Its condition Ready is False: Terminating/,
  ],
  [
    'flowschemas.flowcontrol.apiserver.k8s.io',
    'its level is missing',
    { status: { conditions: [condition('Dangling', 'True', 'NotFound')] } },
    /Its condition Dangling is True: NotFound/,
  ],
  [
    'flowschemas.flowcontrol.apiserver.k8s.io',
    'its level is there',
    { status: { conditions: [condition('Dangling', 'False', 'Found')] } },
    /^It is stored\./,
  ],
  [
    'poddisruptionbudgets.policy',
    'no pod matches',
    { status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 } },
    /It allows no disruption: no pod matches its selector/,
  ],
  ['horizontalpodautoscalers.autoscaling', 'it was not evaluated', {}, /^It has not been evaluated yet/],
  [
    'ingresses.networking.k8s.io',
    'no controller',
    { spec: { defaultBackend: { service: { name: 's' } } } },
    /No ingress controller has assigned an address\..* Its backend Service s does not exist\. No ingress controller has taken it/,
  ],
  ['networkpolicies.networking.k8s.io', 'it has no status', {}, /Nodes with real containers enforce it/],
  ['pods', 'completed', { spec: onNode, status: { phase: 'Succeeded' } }, /^It has completed successfully\.$/],
  [
    'pods',
    'an init container that does not start',
    { spec: onNode, status: { initContainerStatuses: [container(waiting)] } },
    /It waits for its init container c\. Container c cannot start, because its image i cannot be pulled \(ErrImagePull\): no such image\.$/,
  ],
  [
    'pods',
    'one of its containers has ended',
    {
      spec: onNode,
      status: { containerStatuses: [container({ terminated: { exitCode: 0, reason: 'Completed' } })] },
    },
    /Container c exited with code 0 \(Completed\)\.$/,
  ],
  [
    'pods',
    'a container that was lost',
    {
      spec: onNode,
      status: {
        containerStatuses: [
          container(
            { waiting: { reason: 'RunContainerError', message: 'no' } },
            { restartCount: 1, lastState: { terminated: { exitCode: 137 } } },
          ),
        ],
      },
    },
    /It was restarted 1 time\. It last exited with code 137 \(no reason: it was killed, SIGKILL\) at an unknown time\.$/,
  ],
  [
    'replicasets.apps',
    'complete',
    { status: { replicas: 1, readyReplicas: 1 } },
    /^No problem found\. Checked: its pods,/,
  ],
  [
    'statefulsets.apps',
    'an update with a partition',
    {
      spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
      status: { replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' },
    },
    /^It is being updated: 1 of 3 pods are up to date; its partition keeps pods below ordinal 2 as they are\.$/,
  ],
  [
    'statefulsets.apps',
    'an update of all pods',
    {
      spec: { replicas: 3, podManagementPolicy: 'Parallel' },
      status: { replicas: 3, readyReplicas: 2, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' },
    },
    /^It needs 3 pods: 2 ready\. It is being updated: 1 of 3 pods are up to date\.$/,
  ],
  [
    'daemonsets.apps',
    'a pod on a node that no longer matches',
    {
      status: { desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 2, numberMisscheduled: 1 },
    },
    /^1 pod runs on a node that it no longer matches\.$/,
  ],
  [
    'daemonsets.apps',
    'pods on nodes that no longer match',
    {
      status: { desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 2, numberMisscheduled: 3 },
    },
    /^3 pods run on nodes that it no longer matches\.$/,
  ],
  ['jobs.batch', 'complete', { status: { conditions: [condition('Complete', 'True')] } }, /^It is complete\.$/],
  [
    'cronjobs.batch',
    'its last Job is running',
    {
      spec: { schedule: '0 3 * * *', timeZone: 'Europe/Paris', concurrencyPolicy: 'Forbid' },
      status: { active: [{ name: 'j' }], lastScheduleTime: since },
    },
    /^It starts a Job on the schedule "0 3 \* \* \*" \(Europe\/Paris\); the last one at 2026-01-01T00:00:00Z, the next one at 1970-01-01T02:00:00Z\. Its last Job is still running, and its concurrency policy Forbid allows no second one\.$/,
  ],
  [
    'nodes',
    'a taint that discourages',
    {
      spec: { taints: [{ key: 'k', value: 'v', effect: 'PreferNoSchedule' }] },
      status: { conditions: [condition('Ready', 'True')] },
    },
    /^Its taint k=v:PreferNoSchedule discourages pods that do not tolerate it\.$/,
  ],
  [
    'persistentvolumeclaims',
    'its volume is bound to another claim',
    { spec: { volumeName: 'v' }, status: { phase: 'Pending' } },
    /^It is not bound to a volume: it names the volume v, which is not bound to it\./,
  ],
  [
    'persistentvolumes',
    'deleted while bound',
    {
      metadata: { deletionTimestamp: since },
      spec: { claimRef: { namespace: 'a', name: 'b' } },
      status: { phase: 'Bound' },
    },
    /It is still bound to the claim a\/b\./,
  ],
  [
    'persistentvolumes',
    'retained',
    {
      spec: { claimRef: { namespace: 'a', name: 'b' }, persistentVolumeReclaimPolicy: 'Retain' },
      status: { phase: 'Released' },
    },
    /^Its claim a\/b is deleted\. It is retained \(reclaim policy Retain\) until an administrator deletes it\./,
  ],
  [
    'persistentvolumes',
    'not reclaimed',
    { status: { phase: 'Failed', message: 'no plugin' } },
    /^It could not be reclaimed: no plugin\./,
  ],
  ['persistentvolumes', 'available', { status: { phase: 'Available' } }, /^No claim is bound to it\./],
  [
    'resourcequotas',
    'used up, and its usage is not reported',
    { status: { hard: { pods: '0', secrets: '2' } } },
    /^Its quota of pods is used up: 0 of 0\.$/,
  ],
  [
    'poddisruptionbudgets.policy',
    'too few healthy pods',
    { status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 3, expectedPods: 3 } },
    /^It allows no disruption: 2 of 3 pods are healthy, and 3 must be\.$/,
  ],
  [
    'poddisruptionbudgets.policy',
    'disruptions are allowed',
    { status: { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 } },
    /^No problem found\. Checked: the number of healthy pods,/,
  ],
  [
    'horizontalpodautoscalers.autoscaling',
    'limited, and without metrics',
    {
      status: {
        desiredReplicas: 3,
        conditions: [
          condition('AbleToScale', 'True'),
          condition('ScalingActive', 'False', 'FailedGetResourceMetric'),
          condition('ScalingLimited', 'True', 'TooManyReplicas'),
        ],
      },
    },
    /^It does not scale Deployment\/d, because a metric cannot be used: /,
  ],
  [
    'ingresses.networking.k8s.io',
    'backends of its rules',
    {
      spec: {
        rules: [
          { host: 'a.example' },
          { http: { paths: [{ backend: { service: { name: 's' } } }, { backend: { resource: { name: 'r' } } }] } },
        ],
      },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    },
    /Its backend Service s does not exist\./,
  ],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'not established',
    { status: { conditions: [condition('Established', 'False', 'Installing', 'the API is prepared')] } },
    /^It is not established: Installing: the API is prepared\.$/,
  ],
  [
    'apiservices.apiregistration.k8s.io',
    'not available',
    {
      spec: { service: { name: 's' } },
      status: { conditions: [condition('Available', 'False', 'ServiceNotFound')] },
    },
    /^It is not available: ServiceNotFound\./,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'failed',
    { status: { conditions: [condition('Approved', 'True'), condition('Failed', 'True', 'SigningFailed')] } },
    /^Its certificate could not be issued: SigningFailed\.$/,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'approved, but not signed',
    {
      spec: { signerName: 'kubernetes.io/kubelet-serving' },
      status: { conditions: [condition('Approved', 'True')] },
    },
    /^It is approved, but the certificate signing controller has not issued its certificate yet\.$/,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'issued',
    { status: { conditions: [condition('Approved', 'True')], certificate: 'LS0t' } },
    /^No problem found\. Checked: its conditions and its certificate,/,
  ],
]
for (const [resource, situation, object, expected] of situations)
  test(`${resource}: ${situation}`, async () => {
    const kind = kindOf(resource)
    match(await explain(kind, specimen(kind, object)), expected)
  })

test('the pods that use a claim are named, at most five of them', async () => {
  const claim = specimen(kindOf('persistentvolumeclaims'), { metadata: { deletionTimestamp: since } })
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }]
  const waitsWith = async (users: number) => {
    const pods = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      .slice(0, users)
      .map((name) => specimen(kindOf('pods'), { metadata: { name }, spec: { volumes } }))
    const others = specimen(kindOf('pods'), { metadata: { name: 'other' } })
    const cluster = { ...alone(), list: () => Promise.resolve([...pods, others] as never) }
    return (await why(kindOf('persistentvolumeclaims'), claim, cluster, [])).waits.join(' ')
  }
  match(await waitsWith(1), /1 pod still uses it: a\./)
  match(await waitsWith(7), /7 pods still use it: a, b, c, d, e and 2 more\./)
})

test('the available volumes of the class of a claim are counted', async () => {
  const volumes = kindOf('persistentvolumes')
  const claims = kindOf('persistentvolumeclaims')
  const volume = (storageClassName: string | undefined, phase: string) =>
    specimen(volumes, { spec: { ...(storageClassName && { storageClassName }) }, status: { phase } })
  const all = [
    volume(undefined, 'Available'),
    volume('local', 'Available'),
    volume('local', 'Bound'),
    volume('local', 'Available'),
  ]
  const localClass = { provisioner: 'kubernetes.io/no-provisioner' }
  const cluster: ClusterReader = {
    ...alone(),
    list: (of) => Promise.resolve((of.plural === 'persistentvolumes' ? all : []) as never),
    find: () => Promise.resolve(localClass as never),
  }
  const waitsOf = async (spec: object) => (await why(claims, specimen(claims, { spec }), cluster, [])).waits.join(' ')
  match(await waitsOf({}), /no storage class.*; of 1 available volume without a class none fits: x has 0 and not 1Gi/)
  match(
    await waitsOf({ storageClassName: 'local' }),
    /its StorageClass local has no provisioner; of 2 available volumes of this class none fits: x has 0 and not 1Gi; x has 0 and not 1Gi\./,
  )
})

test('the same sentence is printed once with a count', async () => {
  const taint = { key: 'k', effect: 'NoSchedule' }
  const node = specimen(kindOf('nodes'), {
    spec: { taints: [taint, taint] },
    status: { conditions: [condition('Ready', 'True')] },
  })
  const { waits } = await why(kindOf('nodes'), node, alone(), [])
  deepEqual(waits, ['Its taint k:NoSchedule excludes pods that do not tolerate it. (2 times)'])
})
