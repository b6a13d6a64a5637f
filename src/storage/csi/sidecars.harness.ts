// An API server without controllers, a simulated driver and its sidecars, in virtual time. The test does what the
// cluster's controllers do: it binds claims, creates VolumeAttachments and deletes them.
import { TaskGroup } from '../../base/async/task-group.ts'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import type { VirtualClock } from '../../base/time/virtual-clock.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimInput,
} from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { revisionOf } from '../../api/meta/object.ts'
import { csiNode } from '../../api/storage/v1/csi-node.ts'
import { storageClass, type StorageClassInput } from '../../api/storage/v1/storage-class.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { SimulatedStorage, type SimulatedStorageOptions } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import { startCsiSidecars, startSnapshotController, type CsiSidecarOptions } from './csi-sidecars.ts'
import { snapshotDefinitions } from './snapshots/snapshot-definitions.ts'

export const ctx = context(new AbortController().signal)
export const driverName = 'csi.coxswain.dev'

export interface SidecarCluster extends AsyncDisposable {
  readonly client: Client
  readonly clock: VirtualClock
  readonly storage: SimulatedStorage
  /** A class `csi` of the driver. */
  storageClass(more?: Partial<StorageClassInput>): Promise<void>
  /** A claim of the class with the annotation that the binder sets. */
  claim(name: string, more?: Partial<PersistentVolumeClaimInput>): Promise<PersistentVolumeClaim>
  /** Binds the claim to its provisioned volume, as the binder does. */
  bind(name: string): Promise<PersistentVolumeClaim>
  /** Marks the volume as released, as the binder does when the claim is gone. */
  release(volume: string): Promise<void>
  /** `Normal Provisioning message` of the events about an object. */
  events(kind: string, name: string): Promise<readonly string[]>
  /** The names of the driver's calls so far, without those of the start. */
  calls(): readonly string[]
}

export interface SidecarClusterOptions extends CsiSidecarOptions {
  readonly storage?: Omit<SimulatedStorageOptions, 'clock'>
  /** Nodes with the driver, each in a zone. */
  readonly zones?: Readonly<Record<string, string>>
}

const zoneKey = 'topology.example.com/zone'

export async function startSidecars(options: SidecarClusterOptions = {}): Promise<SidecarCluster> {
  const { storage: storageOptions = {}, zones, ...sidecarOptions } = options
  const crds = options.hasSnapshots === true ? snapshotDefinitions : []
  const cluster = await startCluster({ nodes: 0, controllerManagers: 0, crds })
  const { client, clock } = cluster
  const storage = new SimulatedStorage({ clock, ...storageOptions })
  const tasks = new TaskGroup()
  const random = seededRandom(1)
  const informers = new Informers(client, { clock, random, log: silentLog }, tasks)
  const deps = { client, informers, clock, random, log: silentLog, flow: new FlowRecorder(clock) }
  for (const [name, zone] of Object.entries(zones ?? { 'node-1': '' })) await addNode(client, storage, name, zone)
  const driver = storage.driverOf(driverNode('controller', ''))
  await startCsiSidecars(driver, sidecarOptions, deps, tasks)
  if (options.hasSnapshots === true) startSnapshotController(deps, tasks)
  await clock.settle()
  const connecting = storage.calls.length
  return {
    client,
    clock,
    storage,
    async storageClass(more = {}) {
      await client.of(storageClass).create({ metadata: { name: 'csi' }, provisioner: driverName, ...more }, ctx)
      await clock.settle()
    },
    async claim(name, { metadata, spec } = {}) {
      const annotations = { 'volume.kubernetes.io/storage-provisioner': driverName, ...metadata?.annotations }
      const created = await client.of(persistentVolumeClaim).create(
        {
          metadata: { name, annotations },
          spec: {
            storageClassName: 'csi',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            ...spec,
          },
        },
        ctx,
      )
      await clock.settle()
      return created
    },
    async bind(name) {
      const claims = client.of(persistentVolumeClaim)
      const found = await claims.get(name, ctx)
      const volumeName = `pvc-${found.metadata.uid}`
      const volume = await client.of(persistentVolume).get(volumeName, ctx)
      await client.of(persistentVolume).updateStatus({ ...volume, status: { phase: 'Bound' } }, ctx)
      const bound = await claims.update({ ...found, spec: { ...found.spec, volumeName } }, ctx)
      const { capacity = {}, accessModes = [] } = volume.spec
      const status = { phase: 'Bound', capacity, accessModes } as const
      const updated = await claims.updateStatus({ ...bound, status: { ...bound.status, ...status } }, ctx)
      await clock.settle()
      return updated
    },
    async release(name) {
      const volume = await client.of(persistentVolume).get(name, ctx)
      await client.of(persistentVolume).updateStatus({ ...volume, status: { phase: 'Released' } }, ctx)
      await clock.settle()
    },
    async events(kind, name) {
      await clock.settle()
      const { items } = await client.of(event).list({}, ctx)
      return items
        .toSorted((a, b) => revisionOf(a) - revisionOf(b))
        .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
        .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
    },
    calls: () => storage.calls.slice(connecting).map(({ method }) => method),
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}

const driverNode = (id: string, zone: string) => ({ id, topology: zone === '' ? {} : { [zoneKey]: zone } })

async function addNode(client: Client, storage: SimulatedStorage, name: string, zone: string): Promise<void> {
  storage.driverOf(driverNode(`id-of-${name}`, zone))
  const { topology } = driverNode(name, zone)
  await client.of(node).create({ metadata: { name, labels: topology } }, ctx)
  const driver = { name: driverName, nodeID: `id-of-${name}`, topologyKeys: Object.keys(topology) }
  await client.of(csiNode).create({ metadata: { name }, spec: { drivers: [driver] } }, ctx)
}
