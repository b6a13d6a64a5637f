// Volumes and claims in the simulation: the actions that create, delete and free them, and the checks.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { persistentVolume, persistentVolumeClaim, type PersistentVolume } from '../../src/cluster/index.ts'
import { isBeingDeleted } from '../../src/api/meta/object.ts'
import { suits } from '../../src/api/core/v1/volume/volume-matching.ts'
import { attempt, ctx, home, listOf, type Act, type World } from './world.ts'

const namesMax = 12
const accessModes = ['ReadWriteOnce'] as const
const gigabytes = ({ random }: World): string => `${1 + random.below(4)}Gi`

async function createVolume(world: World): Promise<void> {
  const name = `volume-${world.random.below(namesMax)}`
  const spec = {
    accessModes: [...accessModes],
    hostPath: { path: '/x' },
    persistentVolumeReclaimPolicy: 'Retain' as const,
    capacity: { storage: gigabytes(world) },
    ...(world.random.below(4) === 0 ? { claimRef: { namespace: home, name: claimName(world) } } : {}),
  }
  await attempt(() => world.cluster.client.of(persistentVolume).create({ metadata: { name }, spec }, '', ctx))
}

const claimName = ({ random }: World): string => `claim-${random.below(namesMax)}`

async function createClaim(world: World): Promise<void> {
  const spec = {
    accessModes: [...accessModes],
    storageClassName: '',
    resources: { requests: { storage: gigabytes(world) } },
    ...(world.random.below(6) === 0 ? { volumeName: `volume-${world.random.below(namesMax)}` } : {}),
  }
  const claims = world.cluster.client.of(persistentVolumeClaim)
  await attempt(() => claims.create({ metadata: { name: claimName(world) }, spec }, home, ctx))
}

/** A released volume becomes available again when its reference is removed. */
async function freeVolumes(world: World): Promise<void> {
  const volumes = world.cluster.client.of(persistentVolume)
  for (const { metadata, status } of (await listOf(world, persistentVolume)) ?? [])
    if (status.phase === 'Released')
      await attempt(() => volumes.patch(metadata.name, '', { spec: { claimRef: null } }, 'merge', ctx))
}

export const volumeActions: readonly Act[] = [
  createVolume,
  createVolume,
  createClaim,
  createClaim,
  freeVolumes,
  (world) => attempt(() => world.cluster.client.of(persistentVolumeClaim).delete(claimName(world), home, {}, ctx)),
]

/** Holds at any moment: a volume has one claim, and a claim one volume. */
export async function checkVolumes(world: World): Promise<void> {
  const claims = ((await listOf(world, persistentVolumeClaim)) ?? []).filter(({ status }) => status.phase === 'Bound')
  const users = claims.map(({ spec }) => spec.volumeName)
  equal(new Set(users).size, users.length, `a volume is bound to two claims: ${users.join()}`)
  const volumes = ((await listOf(world, persistentVolume)) ?? []).filter(({ status }) => status.phase === 'Bound')
  const used = volumes.map(({ spec }) => spec.claimRef?.uid)
  equal(new Set(used).size, used.length, `a claim is bound to two volumes: ${used.join()}`)
}

/** Holds at the end: bindings are mutual, and no claim waits for a volume that exists. */
export async function checkSettledVolumes(world: World): Promise<void> {
  const volumes = (await listOf(world, persistentVolume)) ?? []
  const find = (name: string | undefined): PersistentVolume | undefined =>
    volumes.find(({ metadata }) => metadata.name === name)
  for (const claim of (await listOf(world, persistentVolumeClaim)) ?? []) {
    const { metadata, spec, status } = claim
    const { name, uid } = metadata
    ok(!isBeingDeleted(claim), `${name} is not deleted`)
    if (status.phase === 'Bound') equal(find(spec.volumeName)?.spec.claimRef?.uid, uid, `the volume of ${name}`)
    else if (!spec.volumeName)
      deepEqual(
        volumes.filter((volume) => suits(volume, claim)).map((volume) => volume.metadata.name),
        [],
        `${name} waits`,
      )
  }
}
