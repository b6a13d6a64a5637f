// The binder as a whole, in a model of the API server: it reaches the same state when it is killed between any two writes, and
// no volume is left while a claim that it suits waits.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, type Random } from '../../base/random/random.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { refersTo } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { made } from '../runtime/plan.harness.ts'
import { aClaim, aClass, aVolume, BinderWorld } from './binder.harness.ts'
import { suits } from '../../api/core/v1/volume/volume-matching.ts'

const pendingVolume = { status: { phase: 'Pending' } }
const provisioned = { metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/x' } } }
const bound = { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } }
const lateClass = aClass('late', { volumeBindingMode: 'WaitForFirstConsumer' })

const cases: readonly (readonly [what: string, objects: readonly ApiObject[]])[] = [
  ['a volume and a claim', [aVolume('v', {}, pendingVolume), aClaim('c')]],
  ['a reservation', [aVolume('v', { claimRef: { namespace: 'default', name: 'c' } }), aClaim('c')]],
  ['a claim with a volume name', [aVolume('v', {}, pendingVolume), aClaim('c', { volumeName: 'v' })]],
  ['provisioning', [aClass('fast'), aClaim('c', { storageClassName: 'fast' })]],
  [
    'a default class',
    [
      aClass('std', { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } }),
      aClaim('c', { storageClassName: undefined }),
    ],
  ],
  [
    'a released volume that cannot be deleted',
    [
      aVolume('v', {
        claimRef: { namespace: 'default', name: 'x', uid: 'u' },
        persistentVolumeReclaimPolicy: 'Delete',
      }),
    ],
  ],
  [
    'a released volume of a provisioner of the tree',
    [
      aVolume(
        'v',
        { claimRef: { namespace: 'default', name: 'x', uid: 'u' }, persistentVolumeReclaimPolicy: 'Delete' },
        { status: { phase: 'Bound' }, ...provisioned },
      ),
    ],
  ],
  [
    'a volume of a claim that is bound elsewhere',
    [
      aVolume('v'),
      aVolume('w', { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } }),
      aClaim('c', { volumeName: 'v' }, bound),
    ],
  ],
  ['a lost claim', [aClaim('c', { volumeName: 'v' }, bound)]],
  ['three claims and two volumes', [aVolume('v'), aVolume('w'), aClaim('c'), aClaim('d'), aClaim('e')]],
]

for (const [what, objects] of cases)
  test(`the binder is killed between any two writes: ${what}`, async () => {
    const whole = new BinderWorld(...objects)
    ok(await whole.settle(1))
    for (let writes = 0; writes < whole.writes; writes++) {
      const world = new BinderWorld(...objects)
      world.restart(writes)
      equal(await world.settle(1), false, `it is killed after ${writes} writes`)
      world.restart()
      ok(await world.settle(1))
      deepEqual(world.summary(), whole.summary(), `killed after ${writes} writes`)
    }
  })

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)] as T

function randomVolume(random: Random, index: number): PersistentVolume {
  const claimRef = random.below(5) === 0 ? { claimRef: { namespace: 'default', name: `c${random.below(20)}` } } : {}
  return aVolume(
    `v${index}`,
    {
      capacity: { storage: `${1 + random.below(9)}Gi` },
      accessModes: pick(random, [['ReadWriteOnce'], ['ReadWriteOnce', 'ReadOnlyMany'], ['ReadWriteMany']]),
      storageClassName: pick(random, ['', 'fast', 'late']),
      volumeMode: pick(random, ['Filesystem', 'Filesystem', 'Block']),
      ...claimRef,
    },
    { ...pendingVolume, metadata: { labels: { tier: pick(random, ['x', 'y']) } } },
  )
}

function randomClaim(random: Random, index: number): PersistentVolumeClaim {
  return aClaim(`c${index}`, {
    resources: { requests: { storage: `${1 + random.below(9)}Gi` } },
    accessModes: pick(random, [['ReadWriteOnce'], ['ReadOnlyMany'], ['ReadWriteMany']]),
    storageClassName: pick(random, ['', 'fast', 'late']),
    volumeMode: pick(random, ['Filesystem', 'Filesystem', 'Block']),
    ...(random.below(3) === 0 ? { selector: { matchLabels: { tier: 'x' } } } : {}),
    ...(random.below(6) === 0 ? { volumeName: `v${random.below(30)}` } : {}),
  })
}

/** Every binding is mutual, and no claim waits although a volume suits it. */
function check(world: BinderWorld, seed: number): void {
  const all = [...world.objects.values()]
  const volumes = all.filter(({ kind }) => kind === 'PersistentVolume') as PersistentVolume[]
  const claims = all.filter(({ kind }) => kind === 'PersistentVolumeClaim') as PersistentVolumeClaim[]
  for (const { metadata, spec, status } of claims) {
    const volume = world.volume(spec.volumeName ?? '')
    if (status.phase === 'Bound')
      ok(
        volume?.spec.claimRef?.uid === metadata.uid && volume.status.phase === 'Bound',
        `seed ${seed}: ${metadata.name}`,
      )
  }
  const users = volumes.flatMap(({ spec, status }) => (status.phase === 'Bound' ? [spec.claimRef?.uid] : []))
  equal(new Set(users).size, users.length, `seed ${seed}: two volumes are bound to a claim`)
  for (const claim of claims.filter(({ spec, status }) => status.phase === 'Pending' && !spec.volumeName)) {
    const isLate = claim.spec.storageClassName === 'late'
    const suiting = volumes.filter((volume) => suits(volume, claim) && (!isLate || refersTo(volume, claim)))
    deepEqual(
      suiting.map(({ metadata }) => metadata.name),
      [],
      `seed ${seed}: ${claim.metadata.name} waits`,
    )
  }
}

test('random volumes and claims, in any order, with several workers and restarts, are bound as far as possible', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seededRandom(seed)
    const world = new BinderWorld(lateClass)
    for (let index = 0; index < 30; index++) {
      world.put(randomVolume(random, index))
      if (index < 20) world.put(randomClaim(random, index))
      if (random.below(4) === 0) await world.settle(1 + random.below(5))
      if (random.below(10) === 0) world.restart()
    }
    await world.settle(1 + random.below(5))
    check(world, seed)
    for (const name of ['c1', 'c2', 'c3']) {
      const claim = world.claim(name)
      if (claim !== undefined) world.remove(claim)
    }
    await world.settle()
    check(world, seed)
  }
})

test('volumes that become available at once are offered to different claims', async () => {
  const world = new BinderWorld(...Array.from({ length: 50 }, (_, index) => aClaim(`c${index}`)))
  await world.settle()
  for (let index = 0; index < 50; index++) world.put(aVolume(`v${index}`, {}, pendingVolume))
  await world.settle(5)
  const phases = [...world.objects.values()].map((object) => (object as PersistentVolume).status.phase)
  deepEqual(new Set(phases), new Set(['Bound']))
})

test('a volume that its claim did not take is offered to the next one', async () => {
  const world = new BinderWorld(aClaim('c'), aClaim('d', { resources: { requests: { storage: '4Gi' } } }))
  await world.settle()
  // Both suit the first claim; it takes the smaller one.
  world.put(aVolume('large', {}, pendingVolume))
  world.put(aVolume('small', { capacity: { storage: '2Gi' } }, pendingVolume))
  await world.settle()
  deepEqual([world.claim('c')?.spec.volumeName, world.claim('d')?.spec.volumeName], ['small', 'large'])
})

test('a class concerns the claims that wait for it, and a default class those without one', async () => {
  const world = new BinderWorld(aClaim('c', { storageClassName: 'fast' }), aClaim('d', { storageClassName: undefined }))
  await world.settle()
  deepEqual(world.events.splice(0).toSorted(), ['c: Warning ProvisioningFailed', 'd: Normal FailedBinding'])
  world.put(
    aClass('fast', { metadata: { annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } } }),
  )
  await world.settle()
  deepEqual(new Set(world.events), new Set(['c: Normal ExternalProvisioning', 'd: Normal ExternalProvisioning']))
  equal(world.claim('d')?.spec.storageClassName, 'fast')
  match(world.metrics.text(), /retroactive_storageclass_total 1\n/)
  match(world.metrics.text(), /retroactive_storageclass_errors_total 0\n/)
})

test('a pod does not cause work for its claims; the next event of a delayed claim names the pods that wait', async () => {
  const world = new BinderWorld(lateClass, aClaim('c', { storageClassName: 'late' }), aClaim('d'))
  await world.settle()
  world.events.length = 0
  const volumes = ['c', 'd'].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }))
  world.put(made(pod, 'p', { spec: { containers: [{ name: 'c', image: 'i' }], volumes } }))
  world.put(made(pod, 'q', { spec: { containers: [{ name: 'c', image: 'i' }] } }))
  await world.settle()
  deepEqual(world.events, [])
  world.put({ ...(world.claim('c') as PersistentVolumeClaim) })
  await world.settle()
  deepEqual(world.events, ['c: Normal WaitForPodScheduled'])
})

test('a volume is not released while the API server has its claim', async () => {
  const claim = aClaim('c', { volumeName: 'v' }, bound)
  const world = new BinderWorld(aVolume('v', { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } }))
  world.restart()
  // The binder's informer has not seen the claim.
  world.objects.set('PersistentVolumeClaim default/c', claim)
  await world.settle()
  equal(world.volume('v')?.status.phase, 'Bound')
})

const inTmp = aVolume('v', {
  claimRef: { namespace: 'default', name: 'x', uid: 'u' },
  persistentVolumeReclaimPolicy: 'Delete',
  hostPath: { path: '/tmp/x' },
})

test('the directory of a released hostPath volume in /tmp is removed with the volume', async () => {
  const world = new BinderWorld(inTmp)
  const removed: string[] = []
  world.removeDirectory = (path) => Promise.resolve(void removed.push(path))
  ok(await world.settle())
  deepEqual(removed, ['/tmp/x'])
  equal(world.volume('v'), undefined)
})

test('a volume whose directory cannot be removed is Failed', async () => {
  const world = new BinderWorld(inTmp)
  world.removeDirectory = () => Promise.reject(new Error('/tmp/x is in use'))
  ok(await world.settle())
  deepEqual(world.volume('v')?.status, { phase: 'Failed', message: '/tmp/x is in use' })
  deepEqual(world.events, ['v: Warning VolumeFailedDelete'])
})
