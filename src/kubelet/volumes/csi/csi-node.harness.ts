// A kubelet with a storage driver in a test: a simulated disk, virtual time, and a cluster without other nodes.
import { context } from '../../../base/observability/context.ts'
import { event } from '../../../api/core/v1/event.ts'
import { node } from '../../../api/core/v1/node/node.ts'
import { pod } from '../../../api/core/v1/pod/pod.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { csiDriver } from '../../../api/storage/v1/csi-driver.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { startCluster } from '../../../cluster/testing/start-cluster.ts'
import { SimulatedDisk } from '../../../machine/disk/simulated-disk.ts'
import { SimulatedPluginSockets } from '../../../machine/plugin-sockets/simulated-plugin-sockets.ts'
import { nodePlatform } from '../../../platform/node/platform.ts'
import { FakeCsiPlugin, registrarSocket, type FakeCsiOptions } from '../../plugins/fake-csi-plugin.harness.ts'
import { textFormat } from '../../../base/observability/exposition.ts'
import { kubeletMetrics } from '../../stats/metrics-text.ts'
import { solo, soloNode } from '../../solo.harness.ts'
import { attachmentName } from './csi-volume.ts'

const ctx = context(new AbortController().signal)
export const sha256 = (text: string): string => nodePlatform.crypto.sha256(text).toHex()

export interface CsiNodeOptions {
  /** What the driver can do. */
  readonly plugin?: FakeCsiOptions
  /** The spec of its CSIDriver object. */
  readonly driver?: object
}

export const driverName = 'fake.csi'
export const handle = 'handle-1'

export async function startCsiNode({
  plugin: abilities = {},
  driver = { attachRequired: false },
}: CsiNodeOptions = {}) {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const disk = new SimulatedDisk()
  const sockets = new SimulatedPluginSockets()
  const plugin = new FakeCsiPlugin(disk, abilities)
  const plugins = { sockets, drivers: plugin.drivers, sha256 }
  const { runtime, start, kubelet } = soloNode(cluster, { disk, plugins })
  await client.of(csiDriver).create({ metadata: { name: driverName }, spec: driver })
  sockets.add(registrarSocket)
  let tasks = start()
  await clock.advance('5s')
  const volumeSpec = (more: object) => ({
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    claimRef: { namespace: 'default', name: 'data' },
    csi: { driver: driverName, volumeHandle: handle, fsType: 'ext4', volumeAttributes: { color: 'red' } },
    ...more,
  })
  return {
    cluster,
    client,
    clock,
    disk,
    sockets,
    plugin,
    runtime,
    /** A claim `data` that is bound to the volume `pv`. */
    async bind(more: object = {}) {
      const access = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
      const { volumeMode } = more as { volumeMode?: 'Block' | 'Filesystem' }
      const mode = volumeMode === undefined ? {} : { volumeMode }
      const claim = await client
        .of(persistentVolumeClaim)
        .create({ metadata: { name: 'data' }, spec: { ...access, ...mode, volumeName: 'pv' } })
      const claimRef = { namespace: 'default', name: 'data', uid: claim.metadata.uid }
      await client.of(persistentVolume).create({ metadata: { name: 'pv' }, spec: { ...volumeSpec(more), claimRef } })
      const status = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
      const patch = { status }
      await client.of(persistentVolumeClaim).patch('data', 'default', patch, 'merge', ctx, 'status')
    },
    async run(name: string, volume: object = { persistentVolumeClaim: { claimName: 'data' } }, more: object = {}) {
      const { containers, ...rest } = more as { containers?: object[] }
      const usual = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }]
      const spec = {
        automountServiceAccountToken: false,
        nodeName: solo.name,
        terminationGracePeriodSeconds: 1,
        containers: containers ?? usual,
        volumes: [{ name: 'v', ...volume }],
        ...rest,
      }
      await client.of(pod).create({ metadata: { name }, spec: spec as never })
      await clock.advance('5s')
    },
    /** Deletes the pod and waits until the kubelet has released it. */
    async remove(name: string) {
      await client.of(pod).delete(name)
      await clock.advance('10s')
    },
    phase: async (name: string) => (await client.of(pod).find(name))?.status.phase,
    uid: async (name: string) => (await client.of(pod).get(name)).metadata.uid,
    claim: () => client.of(persistentVolumeClaim).get('data'),
    self: () => client.of(node).get(solo.name),
    /** As the attach/detach controller and the driver's attacher do. */
    async attach(status: object) {
      const name = attachmentName({ driver: driverName, handle }, solo.name, sha256)
      const attachments = client.of(volumeAttachment)
      const spec = { attacher: driverName, nodeName: solo.name, source: { persistentVolumeName: 'pv' } }
      if ((await attachments.find(name)) === undefined) await attachments.create({ metadata: { name }, spec })
      await attachments.patch(name, '', { status }, 'merge', ctx, 'status')
    },
    async reportAttached() {
      const volumesAttached = [{ name: `kubernetes.io/csi/${driverName}^${handle}`, devicePath: '' }]
      await client.of(node).patch(solo.name, '', { status: { volumesAttached } }, 'merge', ctx, 'status')
    },
    async events(kind = 'Pod') {
      const { items } = await client.of(event).list({ fieldSelector: `involvedObject.kind=${kind}` }, ctx)
      return items.map(({ reason, message }) => `${reason}: ${message}`)
    },
    /** The statistics of the pod's volumes, collected now. */
    async volumeStats(name: string) {
      await clock.advance('3s')
      const summary = await kubelet()?.stats.fresh(ctx.signal)
      await clock.settle()
      return summary?.pods.find(({ podRef }) => podRef.name === name)?.volume ?? []
    },
    async metrics() {
      const summary = await kubelet()?.stats.summary(ctx.signal)
      return summary === undefined ? '' : textFormat.write(kubeletMetrics(summary))
    },
    /** Ends the kubelet without a shutdown and starts it again. */
    async restart(meanwhile: () => Promise<void> = () => Promise.resolve()) {
      await tasks[Symbol.asyncDispose]()
      await meanwhile()
      tasks = start()
      await clock.advance('5s')
    },
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}
