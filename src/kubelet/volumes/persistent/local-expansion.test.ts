// The file system of a local volume grows when its claim is mounted, and while it is mounted.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../../base/observability/context.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { Client } from '../../../client/client.ts'
import type { EventNote, EventRecorder } from '../../../client/events/event-recorder.ts'
import { SimulatedDisk } from '../../../machine/disk/simulated-disk.ts'
import { VolumeManager } from '../volume-manager.ts'
import type { VolumeSources } from '../contract/volume-type.ts'

const ctx = context(new AbortController().signal)
const device = '/dev/sda'

/** A disk with one device and one directory. What is grown is noted. */
class GrowingDisk extends SimulatedDisk {
  readonly #onGrow: (what: string) => void

  constructor(onGrow: (what: string) => void) {
    super()
    this.#onGrow = onGrow
    void this.makeDirectory('/disk', 0o755)
  }

  override kindOf(path: string) {
    return path === device ? Promise.resolve('block-device' as const) : super.kindOf(path)
  }

  override async growFileSystem(grown: string, path: string) {
    await super.growFileSystem(grown, path)
    this.#onGrow(`${grown} at ${path}`)
  }
}

const podWith = (readOnly = false) =>
  ({
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: { containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c', readOnly } }] },
    status: {},
  }) as unknown as Pod

/** A volume of 2Gi whose claim shows the capacity. `done` lists what was grown and written, and events. */
function volumesWith(spec: object, shown: string, onGrow = (_: string) => {}) {
  const done: string[] = []
  const disk = new GrowingDisk((what) => {
    onGrow(what)
    done.push(what)
  })
  const conditions = [{ type: 'FileSystemResizePending', status: 'True' }]
  const claim = {
    metadata: { name: 'c', namespace: 'default', uid: 'claim' },
    spec: { volumeName: 'pv' },
    status: { phase: 'Bound', capacity: { storage: shown }, conditions },
  } as unknown as PersistentVolumeClaim
  const volume = {
    metadata: { name: 'pv' },
    spec: { claimRef: { uid: 'claim' }, capacity: { storage: '2Gi' }, ...spec },
  } as unknown as PersistentVolume
  const sources = {
    claim: () => Promise.resolve(claim),
    persistentVolume: () => Promise.resolve(volume),
  } as unknown as VolumeSources
  const updateStatus = async ({ status }: PersistentVolumeClaim) =>
    void done.push(`claim: ${status.capacity?.['storage']}, ${status.conditions?.length ?? 'no'} conditions`)
  const client = { of: () => ({ get: () => Promise.resolve(claim), updateStatus }) } as unknown as Client
  const events = {
    record: ({ metadata }: ApiObject, { reason, message }: EventNote) =>
      void done.push(`${metadata.name}: ${reason} ${message}`),
  } as unknown as EventRecorder
  const node = { nodeName: 'n', hostIp: '10.0.0.1', allocatable: {} }
  const paths = { pods: '/pods', logs: '/logs' }
  const claims = { client, events, nodeName: 'n' }
  return { done, volumes: new VolumeManager({ disk, sources, paths, node, claims }), disk }
}

const grown = '/dev/sda at /pods/u/volumes/kubernetes.io~local-volume/pv'
const succeeded = 'FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv" n'
const shows = ['claim: 2Gi, no conditions', `web: ${succeeded}`, `c: ${succeeded}`]

const rows: [what: string, spec: object, shown: string, done: readonly string[]][] = [
  ['of a device is grown', { local: { path: device } }, '1Gi', [grown, ...shows]],
  ['of a directory does not exist: the claim is updated', { local: { path: '/disk' } }, '1Gi', shows],
  [
    'of a raw device is the pod’s: the claim is updated',
    { local: { path: device }, volumeMode: 'Block' },
    '1Gi',
    shows,
  ],
  ['is left alone if the claim shows its size', { local: { path: device } }, '2Gi', []],
  ['is left alone if the volume is not local', { hostPath: { path: '/disk' } }, '1Gi', []],
]
for (const [what, spec, shown, expected] of rows)
  test(`the file system ${what}`, async () => {
    const { done, volumes, disk } = volumesWith(spec, shown)
    await volumes.mount(podWith(), new Map(), ctx)
    deepEqual(done.splice(0), expected)
    await disk.makeDirectory('/pods/u/volumes', 0o755)
    await volumes.recheck(podWith(), ctx)
    deepEqual(done.splice(0), expected)
    await volumes.recheck(podWith(true), ctx)
    deepEqual(done, [])
  })

test('a file system that cannot be grown is reported', async () => {
  let isBroken = true
  const { done, volumes } = volumesWith({ local: { path: device } }, '1Gi', () => {
    if (isBroken) throw new Error('the device has errors')
  })
  await rejects(volumes.mount(podWith(), new Map(), ctx), {
    reason: 'FailedMount',
    message: 'MountVolume.NodeExpandVolume failed for volume "pv" : the device has errors',
  })
  await rejects(volumes.recheck(podWith(), ctx), {
    reason: 'VolumeResizeFailed',
    message: 'NodeExpandVolume.NodeExpandVolume failed for volume "pv" : the device has errors',
  })
  deepEqual(done, [])
  isBroken = false
  await volumes.recheck(podWith(), ctx)
  deepEqual(done, [grown, ...shows])
})
