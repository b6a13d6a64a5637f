// Random claims, volumes and devices of a cluster, and random claims of a pod on them.
import type { Random } from '../base/random/random.ts'
import { persistentVolumeClaim } from '../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../api/core/v1/volume/persistent-volume.ts'
import type { ApiObject } from '../api/meta/object.ts'
import { deviceClass } from '../api/resource/v1/device-class.ts'
import { resourceClaim, type ResourceClaim } from '../api/resource/v1/resource-claim.ts'
import { resourceSlice, type ResourceSlice } from '../api/resource/v1/resource-slice.ts'
import { csiDriver } from '../api/storage/v1/csi-driver.ts'
import { csiNode } from '../api/storage/v1/csi-node.ts'
import { csiStorageCapacity } from '../api/storage/v1/csi-storage-capacity.ts'
import { storageClass } from '../api/storage/v1/storage-class.ts'
import { volumeAttachment } from '../api/storage/v1/volume-attachment.ts'
import type { Claimed } from './reference-claims.harness.ts'
import { made } from './scheduler.harness.ts'

export const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T
export const sometimes = <T>(random: Random, oneIn: number, value: () => T): T[] =>
  random.below(oneIn) === 0 ? [value()] : []

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const zoneKey = 'topology.kubernetes.io/zone'
const zones = ['a', 'b', 'c']
const sizes = ['1Gi', '5Gi', '20Gi']
const modes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteOncePod']
const claimCount = 8
const volumeCount = 8
const resourceClaimCount = 8

const required = (key: string, values: readonly string[]) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] } },
})

/** All objects behind claims, for a cluster with these nodes. */
export function randomClaimed(random: Random, nodeNames: readonly string[]): Claimed {
  return { ...randomStorage(random, nodeNames), ...randomDevices(random, nodeNames) }
}

export const objectsOf = (claimed: Claimed): ApiObject[] => Object.values(claimed).flat() as ApiObject[]

function randomStorage(random: Random, nodeNames: readonly string[]) {
  const classes = (['late', 'local', 'now'] as const).map((name) =>
    made(storageClass, name, {
      provisioner: name === 'local' ? 'kubernetes.io/no-provisioner' : 'csi',
      volumeBindingMode: name === 'now' ? 'Immediate' : 'WaitForFirstConsumer',
      ...(random.below(3) === 0 && {
        allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: [pick(random, zones)] }] }],
      }),
    }),
  )
  const volumes = many(volumeCount, (index) =>
    made(persistentVolume, `v${index}`, {
      metadata: {
        labels: { ...(random.below(4) === 0 && { [zoneKey]: pick(random, ['a', 'b', 'a__c']) }) },
      },
      spec: {
        capacity: { storage: pick(random, sizes) },
        accessModes: [...new Set([pick(random, modes), 'ReadWriteOnce'])],
        storageClassName: pick(random, ['late', 'local']),
        ...(random.below(3) > 0
          ? { csi: { driver: 'csi', volumeHandle: `h${random.below(volumeCount)}` } }
          : { hostPath: { path: '/' } }),
        ...(random.below(3) === 0 && required('kubernetes.io/hostname', [pick(random, nodeNames)])),
        ...(random.below(6) === 0 && required('zone', [pick(random, zones), 'c'])),
      },
      status: { phase: random.below(8) === 0 ? 'Released' : 'Available' },
    }),
  )
  const claims = many(claimCount, (index) => {
    const isBound = random.below(2) === 0
    const annotations = {
      ...(isBound && random.below(10) > 0 && { 'pv.kubernetes.io/bind-completed': 'yes' }),
      ...(random.below(8) === 0 && { 'volume.kubernetes.io/selected-node': pick(random, nodeNames) }),
    }
    return made(persistentVolumeClaim, `c${index}`, {
      metadata: { annotations, ...(random.below(25) === 0 && { deletionTimestamp: '2030-01-01T00:00:00Z' }) },
      spec: {
        accessModes: [pick(random, modes)],
        resources: { requests: { storage: pick(random, sizes) } },
        storageClassName: pick(random, ['late', 'late', 'local', 'now']),
        ...(isBound && { volumeName: `v${random.below(volumeCount + 1)}` }),
      },
      status: { ...(random.below(25) === 0 && { phase: 'Lost' }) },
    })
  })
  const limited = nodeNames.filter(() => random.below(2) === 0)
  return {
    classes,
    volumes,
    claims,
    csiNodes: limited.map((name) =>
      made(csiNode, name, {
        spec: { drivers: [{ name: 'csi', nodeID: name, allocatable: { count: 1 + random.below(3) } }] },
      }),
    ),
    attachments: many(2, (index) =>
      made(volumeAttachment, `a${index}`, {
        spec: {
          attacher: 'csi',
          nodeName: pick(random, nodeNames),
          source: { persistentVolumeName: `v${random.below(volumeCount)}` },
        },
      }),
    ),
    drivers: [made(csiDriver, 'csi', { spec: { storageCapacity: random.below(2) === 0 } })],
    capacities: many(2, (index) =>
      made(csiStorageCapacity, `k${index}`, {
        storageClassName: 'late',
        capacity: pick(random, sizes),
        nodeTopology: { matchLabels: { zone: pick(random, zones) } },
      }),
    ),
  }
}

/** Classes are named after the model that they select; `any` selects all. */
const deviceClasses = ['any', '1', '2'].map((name) => {
  const selectors = name === 'any' ? [] : [{ cel: { expression: `device.attributes['d'].model == '${name}'` } }]
  return made(deviceClass, name, { spec: { selectors } })
})

function randomDevices(random: Random, nodeNames: readonly string[]) {
  const slices = [...nodeNames.flatMap((name) => slicesOf(random, name)), ...slicesOf(random, undefined)]
  const resourceClaims = many(resourceClaimCount, (index) => randomResourceClaim(random, `r${index}`, slices))
  return { deviceClasses, slices, resourceClaims }
}

/** A pool with one slice of devices and one of shared counters; without a node, for all nodes. */
function slicesOf(random: Random, nodeName: string | undefined): ResourceSlice[] {
  const name = nodeName ?? 'network'
  const common = {
    driver: 'd',
    pool: { name, generation: 1, resourceSliceCount: 2 },
    ...(nodeName === undefined ? { allNodes: true } : { nodeName }),
  }
  const draws = () => [{ counterSet: 'set', counters: { memory: { value: pick(random, ['2Gi', '4Gi', '6Gi']) } } }]
  const devices = many(random.below(4), (index) => {
    const isShared = random.below(3) === 0
    return {
      name: `${name}-${index}`,
      attributes: { model: { string: pick(random, ['1', '2']) } },
      ...(random.below(2) === 0 && { consumesCounters: draws() }),
      ...(isShared && { allowMultipleAllocations: true }),
      ...((isShared || random.below(2) === 0) && { capacity: { memory: { value: pick(random, ['4Gi', '8Gi']) } } }),
    }
  })
  const sharedCounters = [{ name: 'set', counters: { memory: { value: '8Gi' } } }]
  return [
    made(resourceSlice, `${name}-devices`, { spec: { ...common, devices } }),
    made(resourceSlice, `${name}-counters`, { spec: { ...common, sharedCounters } }),
  ]
}

/** Half of the claims are allocated. An allocation need not be valid, as in a cluster that has changed. */
function randomResourceClaim(random: Random, name: string, slices: readonly ResourceSlice[]): ResourceClaim {
  const memory = () => ({ capacity: { requests: { memory: pick(random, ['1Gi', '3Gi', '8Gi']) } } })
  const request = (index: number) => ({
    name: `q${index}`,
    exactly: {
      deviceClassName: pick(random, ['any', 'any', '1', '2', ...(random.below(20) === 0 ? ['none'] : [])]),
      count: 1 + random.below(2),
      ...(random.below(3) === 0 && memory()),
    },
  })
  const requests = [request(0), ...sometimes(random, 3, () => request(1))]
  const { spec } = pick(random, slices)
  const [device] = spec.devices ?? []
  if (device === undefined || random.below(2) === 0)
    return made(resourceClaim, name, { spec: { devices: { requests } } })
  const { driver, pool, nodeName } = spec
  const shared = device.allowMultipleAllocations && { shareID: name, consumedCapacity: { memory: '1Gi' } }
  const results = [{ request: 'q0', driver, pool: pool.name, device: device.name, ...shared }]
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }]
  const place = nodeName === undefined ? {} : { nodeSelector: { nodeSelectorTerms: [{ matchFields }] } }
  return made(resourceClaim, name, {
    spec: { devices: { requests } },
    status: { allocation: { devices: { results }, ...place } },
  })
}

/** Volumes and devices of a pod; most pods have none. */
export function randomClaimUse(random: Random): object {
  const readOnly = () => ({ readOnly: random.below(2) === 0 })
  const volumes = [
    ...sometimes(random, 4, () => claimVolume(random, 'one')),
    ...sometimes(random, 10, () => claimVolume(random, 'two')),
    ...sometimes(random, 15, () => ({
      name: 'gce',
      gcePersistentDisk: { pdName: pick(random, ['x', 'y']), ...readOnly() },
    })),
    ...sometimes(random, 20, () => ({ name: 'ebs', awsElasticBlockStore: { volumeID: pick(random, ['x', 'y']) } })),
    ...sometimes(random, 20, () => ({
      name: 'iscsi',
      iscsi: { targetPortal: 't', iqn: pick(random, ['x', 'y']), lun: 0, ...readOnly() },
    })),
    ...sometimes(random, 20, () => ({
      name: 'rbd',
      rbd: { monitors: [pick(random, ['m', 'n']), 'o'], image: pick(random, ['x', 'y']), ...readOnly() },
    })),
  ]
  const resourceClaims = many(random.below(6) === 0 ? 1 + random.below(2) : 0, (index) => ({
    name: `d${index}`,
    resourceClaimName: `r${random.below(random.below(10) === 0 ? resourceClaimCount + 1 : resourceClaimCount)}`,
  }))
  return { volumes, resourceClaims }
}

const claimVolume = (random: Random, name: string) => ({
  name,
  persistentVolumeClaim: { claimName: `c${random.below(random.below(10) === 0 ? claimCount + 1 : claimCount)}` },
})
