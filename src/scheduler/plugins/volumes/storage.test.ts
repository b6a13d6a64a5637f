// Decision tables of the plugins for claims and volumes.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../base/observability/log.ts'
import { Metrics } from '../../../base/observability/metrics.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { csiDriver } from '../../../api/storage/v1/csi-driver.ts'
import { csiNode } from '../../../api/storage/v1/csi-node.ts'
import { csiStorageCapacity } from '../../../api/storage/v1/csi-storage-capacity.ts'
import { storageClass } from '../../../api/storage/v1/storage-class.ts'
import { Client } from '../../../client/client.ts'
import { Informers } from '../../../client/informer/informers.ts'
import type { SchedulerPlugin } from '../../framework/framework.ts'
import { schedulerMetrics } from '../../framework/scheduler-metrics.ts'
import { Nominator } from '../../framework/nominator.ts'
import { aNode, aPod, made, snapshotOf, standing, verdictsOf } from '../../scheduler.harness.ts'
import { nodeVolumeLimits } from './node-volume-limits.ts'
import { volumeBinding } from './volume-binding.ts'
import { volumeRestrictions } from './volume-restrictions.ts'
import { volumeZone } from './volume-zone.ts'

/** The plugin's verdict on node n with these objects. */
async function verdict(
  plugin: SchedulerPlugin,
  target: Pod,
  on: Node,
  objects: readonly ApiObject[],
  placed: readonly Pod[] = [],
): Promise<string | undefined> {
  await using tasks = new TaskGroup()
  const clock = new VirtualClock()
  const client = new Client(standing(objects))
  const informers = new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks)
  const snapshot = snapshotOf(
    [on],
    placed.map((each) => [each, 'n']),
  )
  const deps = {
    schedulerName: 's',
    snapshot,
    nominator: new Nominator(),
    extenders: [],
    client,
    informers,
    clock,
    metrics: schedulerMetrics(new Metrics()),
    random: seededRandom(1),
    log: silentLog,
    recordEvent: () => {},
    retryPreEnqueue: () => {},
    retryAfterBackoff: () => {},
    startTask: () => {},
  }
  const configured = { ...plugin, ...plugin.configure?.(undefined, deps) }
  for (const kind of plugin.watches ?? []) informers.of(kind)
  await clock.settle()
  await informers.synced()
  return verdictsOf(configured, target, snapshot)['n']
}

const object = <T extends ApiObject>(kind: Kind<T>, name: string, body: object): T => made(kind, name, body)
const using = (...claims: string[]) =>
  aPod('p', { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) })
const claim = (name: string, spec: object = {}, metadata: object = {}) =>
  object(persistentVolumeClaim, name, {
    metadata,
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
  })
const bound = (name: string, volumeName: string, spec: object = {}) =>
  claim(name, { volumeName, ...spec }, { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } })
const volume = (name: string, spec: object = {}, labels: object = {}) =>
  object(persistentVolume, name, {
    metadata: { labels },
    spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'late', ...spec },
    status: { phase: 'Available' },
  })
const onHost = (host: string) => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In', values: [host] }] }] },
  },
})
const late = (provisioner: string, extra: object = {}) =>
  object(storageClass, 'late', { provisioner, volumeBindingMode: 'WaitForFirstConsumer', ...extra })
const waiting = claim('c', { storageClassName: 'late' })
const capacity = (amount: string) =>
  object(csiStorageCapacity, 'x', {
    storageClassName: 'late',
    capacity: amount,
    nodeTopology: { matchLabels: { host: 'n' } },
  })
const withStorageCapacity = object(csiDriver, 'csi', { spec: { storageCapacity: true } })
const n = aNode('n', {}, undefined, { host: 'n', 'topology.kubernetes.io/zone': 'a' })
const csi = (handle: string) => ({ csi: { driver: 'csi', volumeHandle: handle } })
const limit = (count: number) =>
  object(csiNode, 'n', { spec: { drivers: [{ name: 'csi', nodeID: 'x', allocatable: { count } }] } })
const disk = (name: string, readOnly: boolean) =>
  aPod(name, { volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'd', readOnly } }] })

type Row = readonly [
  why: string,
  plugin: SchedulerPlugin,
  pod: Pod,
  objects: ApiObject[],
  placed: Pod[],
  verdict: string,
]
const noVolume = "node(s) didn't find available persistent volumes to bind"
const own = { claimRef: { namespace: 'default', name: 'c' } }
const rows: readonly Row[] = [
  ['a pod without claims', volumeBinding, aPod('p'), [], [], 'fits'],
  ['a claim that does not exist', volumeBinding, using('c'), [], [], 'persistentvolumeclaim "c" not found'],
  [
    'an unbound claim with immediate binding',
    volumeBinding,
    using('c'),
    [claim('c')],
    [],
    'pod has unbound immediate PersistentVolumeClaims',
  ],
  [
    'a bound claim whose volume is on the node',
    volumeBinding,
    using('c'),
    [bound('c', 'v'), volume('v', onHost('n'))],
    [],
    'fits',
  ],
  [
    'a bound claim whose volume is on another node',
    volumeBinding,
    using('c'),
    [bound('c', 'v'), volume('v', onHost('m'))],
    [],
    "node(s) didn't match PersistentVolume's node affinity",
  ],
  [
    'a claim bound to a volume that does not exist',
    volumeBinding,
    using('c'),
    [bound('c', 'v')],
    [],
    'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
  ],
  [
    'WaitForFirstConsumer: a matching volume exists',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', onHost('n'))],
    [],
    'fits',
  ],
  [
    'WaitForFirstConsumer: the volume is on another node',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', onHost('m'))],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the volume is too small',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', { capacity: { storage: '1Gi' } })],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the volume is reserved for another claim',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', { claimRef: { namespace: 'default', name: 'x' } })],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the volume has another VolumeAttributesClass',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', { volumeAttributesClassName: 'gold' })],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the volume lacks an access mode',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', { accessModes: ['ReadOnlyMany'] })],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the volume is not available',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), { ...volume('v'), status: { phase: 'Released' } }],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: a volume that is reserved for the claim needs no access modes',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', { ...own, accessModes: ['ReadOnlyMany'] })],
    [],
    'fits',
  ],
  [
    'WaitForFirstConsumer: a reserved volume on another node excludes others',
    volumeBinding,
    using('c'),
    [waiting, late('kubernetes.io/no-provisioner'), volume('v', { ...own, ...onHost('m') }), volume('w')],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the volume can be provisioned',
    volumeBinding,
    using('c'),
    [waiting, late('csi')],
    [],
    'fits',
  ],
  [
    'WaitForFirstConsumer: the allowed topologies exclude the node',
    volumeBinding,
    using('c'),
    [waiting, late('csi', { allowedTopologies: [{ matchLabelExpressions: [{ key: 'host', values: ['m'] }] }] })],
    [],
    noVolume,
  ],
  [
    'WaitForFirstConsumer: the driver has enough capacity',
    volumeBinding,
    using('c'),
    [waiting, late('csi'), withStorageCapacity, capacity('6Gi')],
    [],
    'fits',
  ],
  [
    'WaitForFirstConsumer: the driver has too little capacity',
    volumeBinding,
    using('c'),
    [waiting, late('csi'), withStorageCapacity, capacity('4Gi')],
    [],
    'node(s) did not have enough free storage',
  ],
  [
    'the node is in the zone of the volume',
    volumeZone,
    using('c'),
    [bound('c', 'v'), volume('v', {}, { 'topology.kubernetes.io/zone': 'a' })],
    [],
    'fits',
  ],
  [
    'the node is in one of several zones of the volume',
    volumeZone,
    using('c'),
    [bound('c', 'v'), volume('v', {}, { 'failure-domain.beta.kubernetes.io/zone': 'b__a' })],
    [],
    'fits',
  ],
  [
    'the node is in another zone than the volume',
    volumeZone,
    using('c'),
    [bound('c', 'v'), volume('v', {}, { 'topology.kubernetes.io/zone': 'b' })],
    [],
    'node(s) had no available volume zone',
  ],
  [
    'a volume within the limit',
    nodeVolumeLimits,
    using('c'),
    [bound('c', 'v'), volume('v', csi('1')), limit(1)],
    [],
    'fits',
  ],
  [
    'a second volume above the limit',
    nodeVolumeLimits,
    using('c'),
    [bound('c', 'v'), volume('v', csi('1')), bound('d', 'w'), volume('w', csi('2')), limit(1)],
    [{ ...using('d'), metadata: { ...aPod('q').metadata } }],
    'node(s) exceed max volume count',
  ],
  [
    'the same volume is counted once',
    nodeVolumeLimits,
    using('c'),
    [bound('c', 'v'), volume('v', csi('1')), limit(1)],
    [{ ...using('c'), metadata: { ...aPod('q').metadata } }],
    'fits',
  ],
  ['a node without a limit', nodeVolumeLimits, using('c'), [bound('c', 'v'), volume('v', csi('1'))], [], 'fits'],
  [
    'a disk that another pod writes to',
    volumeRestrictions,
    disk('p', false),
    [],
    [disk('q', true)],
    'node(s) had no available disk',
  ],
  ['a disk that all pods mount read-only', volumeRestrictions, disk('p', true), [], [disk('q', true)], 'fits'],
  [
    'a ReadWriteOncePod claim that is in use',
    volumeRestrictions,
    using('c'),
    [bound('c', 'v', { accessModes: ['ReadWriteOncePod'] })],
    [{ ...using('c'), metadata: { ...aPod('q').metadata } }],
    'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  ],
  [
    'a ReadWriteOncePod claim that is not in use',
    volumeRestrictions,
    using('c'),
    [bound('c', 'v', { accessModes: ['ReadWriteOncePod'] })],
    [],
    'fits',
  ],
]
for (const [why, plugin, target, objects, placed, wanted] of rows)
  test(`${plugin.name}: ${why}`, async () => equal(await verdict(plugin, target, n, objects, placed), wanted))
