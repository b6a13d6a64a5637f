// VolumeIndex finds the same volume as a search through all volumes, and does not examine all of them.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, type Random } from '../../base/random/random.ts'
import { refersTo } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { aClaim, aVolume } from './binder.harness.ts'
import { VolumeIndex } from './volume-index.ts'
import { sizeOf, suits } from '../../api/core/v1/volume/volume-matching.ts'

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)] as T
const modes = [['ReadWriteOnce'], ['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteMany'], ['ReadWriteOncePod']]

function randomVolume(random: Random, index: number): PersistentVolume {
  const claimRef = random.below(8) === 0 ? { claimRef: { namespace: 'default', name: `c${random.below(10)}` } } : {}
  return aVolume(
    `v${index}`,
    {
      capacity: { storage: `${1 + random.below(20)}Gi` },
      accessModes: pick(random, modes),
      storageClassName: pick(random, ['', 'a', 'b']),
      volumeMode: pick(random, ['Block', 'Filesystem']),
      ...(random.below(4) === 0 ? { volumeAttributesClassName: 'gold' } : {}),
      ...claimRef,
    },
    {
      metadata: {
        labels: { tier: pick(random, ['x', 'y']) },
        ...(random.below(20) === 0 ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
      },
      status: { phase: pick(random, ['Available', 'Available', 'Available', 'Pending', 'Released']) },
    },
  )
}

const randomClaim = (random: Random): PersistentVolumeClaim =>
  aClaim(`c${random.below(10)}`, {
    resources: { requests: { storage: `${1 + random.below(20)}Gi` } },
    accessModes: pick(random, modes).slice(0, 1),
    storageClassName: pick(random, ['', 'a', 'b']),
    volumeMode: pick(random, ['Block', 'Filesystem']),
    ...(random.below(3) === 0 ? { selector: { matchLabels: { tier: 'x' } } } : {}),
    ...(random.below(4) === 0 ? { volumeAttributesClassName: 'gold' } : {}),
  })

/** Fewest access modes first; then a reservation, then the smallest, then by name. */
function found(volumes: readonly PersistentVolume[], claim: PersistentVolumeClaim, isDelayed: boolean): string[] {
  const rank = (volume: PersistentVolume) => [
    BigInt(volume.spec.accessModes?.length ?? 0),
    refersTo(volume, claim) ? 0n : 1n,
    refersTo(volume, claim) ? 0n : sizeOf(volume),
  ]
  const suiting = volumes.filter((volume) => suits(volume, claim) && (!isDelayed || refersTo(volume, claim)))
  const texts = suiting.map(
    (volume) =>
      [
        rank(volume)
          .map((part) => `${part}`.padStart(30, '0'))
          .join(),
        volume,
      ] as const,
  )
  const [best] = texts.map(([text]) => text).toSorted()
  return texts.filter(([text]) => text === best).map(([, { metadata }]) => metadata.name)
}

test('the index finds what a search through all volumes finds, for random volumes that change', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = seededRandom(seed)
    const index = new VolumeIndex()
    const volumes = new Map<string, PersistentVolume>()
    for (let step = 0; step < 200; step++) {
      const volume = randomVolume(random, random.below(40))
      const { name } = volume.metadata
      const now = random.below(4) === 0 ? undefined : volume
      index.replace(volumes.get(name), now)
      if (now === undefined) volumes.delete(name)
      else volumes.set(name, now)
      const claim = randomClaim(random)
      const isDelayed = random.below(3) === 0
      const candidates = found([...volumes.values()], claim, isDelayed)
      const got = index.matchFor(claim, isDelayed)?.metadata.name
      equal(
        got === undefined ? candidates.length === 0 : candidates.includes(got),
        true,
        `seed ${seed}, step ${step}: ${got} instead of ${candidates.join()}`,
      )
    }
  }
})

test('of equal volumes the first by name is found, and a held one is skipped', () => {
  const index = new VolumeIndex()
  for (const name of ['b', 'a', 'c']) index.replace(undefined, aVolume(name))
  equal(index.matchFor(aClaim('x'), false)?.metadata.name, 'a')
  {
    using _held = index.hold('a')
    equal(index.matchFor(aClaim('x'), false)?.metadata.name, 'b')
  }
  equal(index.matchFor(aClaim('x'), false)?.metadata.name, 'a')
})

test('of 10,000 volumes few are examined', () => {
  let examined = 0
  const index = new VolumeIndex()
  for (let number = 0; number < 10_000; number++) {
    const volume = aVolume(`v${number}`, { capacity: { storage: `${1 + (number % 100)}Gi` } })
    const counted = { ...volume, metadata: { ...volume.metadata } }
    Object.defineProperty(counted.metadata, 'labels', {
      get: () => {
        examined++
        return { tier: 'x' }
      },
    })
    index.replace(undefined, counted)
  }
  const claim = aClaim('c', {
    resources: { requests: { storage: '50Gi' } },
    selector: { matchLabels: { tier: 'x' } },
  })
  equal(index.matchFor(claim, false)?.metadata.name, 'v1049')
  equal(examined, 1)
})
