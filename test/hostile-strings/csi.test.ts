// Storage drivers: the requests that the kubelet and the sidecars send to them from objects with hostile texts in any string
// field, as bytes of gRPC messages, and the paths and API requests that belong to them.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { csiDriver } from '../../src/api/storage/v1/csi-driver.ts'
import { csiNode } from '../../src/api/storage/v1/csi-node.ts'
import { storageClass } from '../../src/api/storage/v1/storage-class.ts'
import { volumeAttachment } from '../../src/api/storage/v1/volume-attachment.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { Kubelet } from '../../src/kubelet/kubelet.ts'
import { defaultKubeletSettings } from '../../src/kubelet/node/kubelet-settings.ts'
import { FakeCsiPlugin, registrarSocket } from '../../src/kubelet/plugins/fake-csi-plugin.harness.ts'
import type { CsiDriver } from '../../src/machine/csi/csi-driver.ts'
import { SimulatedStorage } from '../../src/machine/csi/simulated/simulated-csi-driver.ts'
import { SimulatedPluginSockets } from '../../src/machine/plugin-sockets/simulated-plugin-sockets.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { startCsiSidecars } from '../../src/storage/csi/csi-sidecars.ts'
import { decodeProto } from '../../src/wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../src/wire/protobuf/encode-proto.ts'
import * as base from './base-objects.ts'
import {
  messageViolations,
  mountViolations,
  pathViolations,
  relativePathViolations,
  targetViolations,
  type Violation,
} from './checks.ts'
import * as volumes from './csi-objects.ts'
import { recordedApi, type KindObjects, type RecordedApi } from './recorded-api.ts'
import { recordedHost, type HostRecord } from './recorded-host.ts'
import { reportOf, variantsOf, type BaseObject } from './variants.ts'

interface Calls {
  /** Names of methods. */
  readonly methods: Set<string>
  readonly violations: Violation[]
  readonly paths: Set<string>
}

/** The driver with its requests as bytes: each is one message, and its paths are recorded. */
const recordedDriver = (driver: CsiDriver, { methods, violations, paths }: Calls): CsiDriver => ({
  close: () => driver.close(),
  call(method, request, signal) {
    const bytes = encodeProto(method.request, request)
    const read = decodeProto(method.request, bytes)
    methods.add(method.path.slice(method.path.lastIndexOf('/') + 1))
    violations.push(...messageViolations(method.path, bytes, encodeProto(method.request, read as never)))
    const { targetPath, stagingTargetPath, volumePath } = read as Readonly<Record<string, unknown>>
    for (const path of [targetPath, stagingTargetPath, volumePath])
      if (typeof path === 'string' && path !== '') paths.add(path)
    return driver.call(method, request, signal)
  },
})

const newCalls = (): Calls => ({ methods: new Set(), violations: [], paths: new Set() })
const sha256 = (text: string): string => nodePlatform.crypto.sha256(text).toHex()
const start = Date.parse('2030-01-01T00:00:00Z')

const description = {
  name: base.nodeName,
  hostIp: '198.18.0.1',
  runtime: 'simulated://1',
  operatingSystem: 'linux',
  capacity: { cpu: '1000', memory: '4000Gi', pods: '1000' },
  architecture: 'arm64',
  podCidrs: ['10.213.0.0/16'],
}

interface Effects {
  readonly api: RecordedApi
  readonly calls: Calls
  readonly record?: HostRecord
}

/** Runs a kubelet with a driver and these objects. */
async function kubeletEffects(objects: KindObjects): Promise<Effects> {
  const clock = new VirtualClock(start)
  const api = recordedApi(objects)
  const { record, host, runtime } = recordedHost(clock)
  const calls = newCalls()
  const plugin = new FakeCsiPlugin(host.disk, { capabilities: ['STAGE_UNSTAGE_VOLUME', 'VOLUME_MOUNT_GROUP'] })
  const sockets = new SimulatedPluginSockets()
  const drivers = { open: (path: string) => recordedDriver(plugin.drivers.open(path), calls) }
  sockets.add(registrarSocket)
  const kubelet = new Kubelet({
    client: api.client,
    runtime,
    clock,
    random: seededRandom(9),
    flow: new FlowRecorder(clock),
    log: silentLog,
    description,
    host: { ...host, plugins: { sockets, drivers, sha256 } },
    settings: { ...defaultKubeletSettings, podsMax: 1_000 },
  })
  {
    await using tasks = new TaskGroup()
    kubelet.start(tasks)
    await clock.advance('15s')
  }
  return { api, calls, record }
}

/** Runs the provisioner, the attacher and the resizer of a driver with these objects. */
async function sidecarEffects(objects: KindObjects): Promise<Effects> {
  const clock = new VirtualClock(start)
  const api = recordedApi(objects)
  const calls = newCalls()
  const storage = new SimulatedStorage({ clock })
  const driver = recordedDriver(storage.driverOf({ id: 'controller', topology: {} }), calls)
  {
    await using tasks = new TaskGroup()
    const shared = { clock, random: seededRandom(1), log: silentLog }
    const informers = new Informers(api.client, shared, tasks)
    await startCsiSidecars(
      driver,
      {},
      { ...shared, client: api.client, informers, flow: new FlowRecorder(clock) },
      tasks,
    )
    await clock.advance('30s')
  }
  return { api, calls }
}

const violationsIn = ({ api, calls, record }: Effects): Violation[] => [
  ...calls.violations,
  ...[...calls.paths, ...(record?.paths ?? [])].flatMap((path) => pathViolations(path, roots)),
  ...[...(record?.relativePaths ?? [])].flatMap(relativePathViolations),
  ...(record?.mounts ?? []).flatMap(mountViolations),
  ...[...api.targets].flatMap(targetViolations),
  ...api.unknown.map((target) => ({ text: `no resource: ${target}`, index: undefined })),
]

/** `/kubepods` is the root of cgroups. */
const roots = ['/state', '/kubepods', '/etc/hosts', '/plugins', '/plugins_registry']

const keys = { kind: secret, object: base.secretOf(0) }
const podsOf = (index: number): KindObjects => [
  { kind: pod, object: volumes.csiPodOf(index) },
  { kind: persistentVolumeClaim, object: volumes.csiClaimOf(index) },
  { kind: persistentVolume, object: volumes.csiVolumeOf(index) },
]
const onNode: KindObjects = [
  { kind: node, object: base.nodeOf(0) },
  { kind: csiDriver, object: volumes.csiDriverOf(0) },
  keys,
  ...podsOf(0),
]
const attachedOf = (index: number): KindObjects => [
  { kind: persistentVolume, object: volumes.controllerVolumeOf(index) },
  { kind: volumeAttachment, object: volumes.volumeAttachmentOf(index) },
]
const inController: KindObjects = [
  { kind: node, object: volumes.zonedNodeOf(0) },
  { kind: csiNode, object: volumes.csiNodeOf(0) },
  { kind: storageClass, object: volumes.storageClassOf(0) },
  { kind: persistentVolumeClaim, object: volumes.pendingClaimOf(0) },
  keys,
  ...attachedOf(0),
]
const without = (kind: Kind, objects: KindObjects) => objects.filter((each) => each.kind !== kind)

type Row = readonly [
  where: 'a kubelet' | 'sidecars',
  kind: Kind,
  base: BaseObject,
  companions: (index: number) => KindObjects,
]
const rows: readonly Row[] = [
  ['a kubelet', pod, volumes.csiPodOf, (index) => without(pod, podsOf(index))],
  ['a kubelet', persistentVolume, volumes.csiVolumeOf, (index) => without(persistentVolume, podsOf(index))],
  ['a kubelet', persistentVolumeClaim, volumes.csiClaimOf, (index) => without(persistentVolumeClaim, podsOf(index))],
  ['a kubelet', csiDriver, volumes.csiDriverOf, () => []],
  [
    'sidecars',
    persistentVolumeClaim,
    volumes.pendingClaimOf,
    (index) => [{ kind: storageClass, object: volumes.storageClassOf(index) }],
  ],
  [
    'sidecars',
    storageClass,
    volumes.storageClassOf,
    (index) => [{ kind: persistentVolumeClaim, object: volumes.pendingClaimOf(index) }],
  ],
  ['sidecars', persistentVolume, volumes.controllerVolumeOf, (index) => without(persistentVolume, attachedOf(index))],
  ['sidecars', volumeAttachment, volumes.volumeAttachmentOf, (index) => without(volumeAttachment, attachedOf(index))],
  ['sidecars', csiNode, volumes.csiNodeOf, () => []],
  ['sidecars', node, volumes.zonedNodeOf, () => []],
]
const effects = {
  'a kubelet': (objects: KindObjects) => kubeletEffects([...onNode, ...objects]),
  sidecars: (objects: KindObjects) => sidecarEffects([...inController, ...objects]),
} as const
/** What the driver is asked for the plain objects, also beside others. */
const plainMethods = {
  'a kubelet': ['NodeStageVolume', 'NodePublishVolume'],
  sidecars: ['CreateVolume', 'ControllerPublishVolume'],
} as const

/** A pod of an administrator may mount any path of the host. */
const hostPaths = new Set(['spec.volumes[].hostPath.path', 'spec.hostPath.path', 'spec.local.path'])

for (const where of ['a kubelet', 'sidecars'] as const)
  test(`without hostile texts, the driver of ${where} is called`, async () => {
    const found = await effects[where]([])
    for (const method of plainMethods[where]) ok(found.calls.methods.has(method), method)
    deepEqual(violationsIn(found), [])
  })

for (const [where, kind, baseObject, companions] of rows)
  test(`hostile texts in a ${kind.kind} for ${where} are values of messages to drivers, and not paths or requests`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject, { except: hostPaths })) {
      const objects = variants.map(({ object }) => ({ kind, object }))
      const done = await effects[where]([...objects, ...variants.flatMap(({ index }) => companions(index))])
      found.push(...reportOf(violationsIn(done), variants))
      for (const method of plainMethods[where]) ok(done.calls.methods.has(method), `${method} of another volume`)
    }
    deepEqual(found, [])
  })
