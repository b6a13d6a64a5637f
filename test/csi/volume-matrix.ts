// The matrix of volumes: every combination of access mode, binding mode, reclaim policy and volume mode, with what can
// happen to a volume: it is created, used, expanded, moved and deleted, and its node is lost. All combinations share one
// cluster and do the same at the same time; the data of every volume is read back and its checksum compared.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import {
  context,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  storageClass,
  volumeAttachment,
} from '../../src/cluster/index.ts'
import { driverName, type StorageUnderTest, type UsedVolume } from './storage-under-test.ts'

const ctx = context(new AbortController().signal)
const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany', 'ReadWriteMany'] as const
const bindingModes = ['Immediate', 'WaitForFirstConsumer'] as const
const reclaimPolicies = ['Delete', 'Retain'] as const
const mebibyte = 2 ** 20

interface Combination {
  readonly id: string
  readonly accessMode: (typeof accessModes)[number]
  readonly bindingMode: (typeof bindingModes)[number]
  readonly reclaimPolicy: (typeof reclaimPolicies)[number]
  readonly volumeMode: 'Filesystem' | 'Block'
}

const combinationsOf = (volumeModes: readonly Combination['volumeMode'][]): readonly Combination[] =>
  accessModes
    .flatMap((accessMode) => bindingModes.map((bindingMode) => ({ accessMode, bindingMode })))
    .flatMap((each) => reclaimPolicies.map((reclaimPolicy) => ({ ...each, reclaimPolicy })))
    .flatMap((each) => volumeModes.map((volumeMode) => ({ ...each, volumeMode })))
    .map((each, index) => ({ ...each, id: `case-${index}` }))

const titleOf = ({ accessMode, bindingMode, reclaimPolicy, volumeMode }: Combination): string =>
  [accessMode, bindingMode, reclaimPolicy, volumeMode].join(', ')
/** Volumes that several nodes may use at the same time. */
const isShared = ({ accessMode }: Combination): boolean => accessMode.endsWith('Many')
const sum = (content: string): string => createHash('sha256').update(content).digest('hex')
const usedBy = ({ id, volumeMode }: Combination, name: string): UsedVolume => ({
  podName: `${id}-${name}`,
  isBlock: volumeMode === 'Block',
})

/** Runs the matrix as subtests of `t`; returns their number. */
export async function testMatrix(t: TestContext, storage: StorageUnderTest): Promise<number> {
  const { cluster } = storage
  const { client, clock } = cluster
  const combinations = combinationsOf(storage.hasBlock ? ['Filesystem', 'Block'] : ['Filesystem'])
  const claims = client.of(persistentVolumeClaim)
  const volumes = new Map<string, string>()
  let checked = 0

  const volumeOf = ({ id }: Combination): string => volumes.get(id) ?? ''
  const attachedTo = (each: Combination): string[] =>
    Object.keys(storage.records().volumes.get(volumeOf(each))?.attachments ?? {}).toSorted()
  const parametersOf = (each: Combination) => (isShared(each) ? {} : storage.parametersOfSingle)
  const growsInUse = (each: Combination): boolean =>
    storage.growsMounted || each.volumeMode === 'Block' || Object.keys(parametersOf(each)).length === 0
  const contentOf = ({ id }: Combination): string => `${id} `.repeat(storage.contentBytes / 8).trim()

  const check = async (title: string, each: Combination, body: () => Promise<void> | void) => {
    checked++
    await t.test(`${title}: ${titleOf(each)}`, body)
  }
  /** Does the same for all combinations, then checks each. */
  const all = async (
    action: string,
    start: (each: Combination) => Promise<void>,
    body: (each: Combination) => Promise<void>,
  ) => {
    for (const each of combinations) await start(each)
    await clock.advance('2m')
    for (const each of combinations) await check(action, each, () => body(each))
  }
  const run = async (each: Combination, name: string, nodeName: string) => {
    const use =
      each.volumeMode === 'Block'
        ? { volumeDevices: [{ name: 'v', devicePath: '/dev/volume' }] }
        : { volumeMounts: [{ name: 'v', mountPath: '/data' }] }
    const spec = {
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i', ...use }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: each.id } }],
      nodeSelector: { 'kubernetes.io/hostname': nodeName },
      terminationGracePeriodSeconds: 1,
    }
    await client.of(pod).create({ metadata: { name: usedBy(each, name).podName }, spec }, ctx)
  }
  const stop = (each: Combination, name: string, options: { readonly gracePeriodSeconds?: number } = {}) =>
    client.of(pod).delete(usedBy(each, name).podName, 'default', options, ctx)
  const checkRunning = async (each: Combination, name: string) => {
    equal((await client.of(pod).get(usedBy(each, name).podName, ctx)).status.phase, 'Running')
    const claim = await claims.get(each.id, ctx)
    equal(claim.status.phase, 'Bound')
    volumes.set(each.id, claim.spec.volumeName ?? '')
  }
  const checkContent = async (each: Combination, name: string) =>
    equal(sum(await storage.read(usedBy(each, name))), sum(contentOf(each)), 'the checksum of the data')
  const checkGrown = async (each: Combination, name: string) => {
    equal((await claims.get(each.id, ctx)).status.capacity?.['storage'], '16Mi')
    ok((await storage.sizeOf(usedBy(each, name))) > 8 * mebibyte, 'the container has more space')
  }

  for (const each of combinations) {
    const { id: name, bindingMode: volumeBindingMode, reclaimPolicy } = each
    const spec = { provisioner: driverName, volumeBindingMode, reclaimPolicy, allowVolumeExpansion: true }
    const parameters = parametersOf(each)
    await client.of(storageClass).create({ metadata: { name }, ...spec, parameters }, ctx)
  }
  await clock.advance('30s')

  await all(
    'create',
    async ({ id, accessMode, volumeMode }) => {
      const resources = { requests: { storage: '8Mi' } }
      const spec = { accessModes: [accessMode], resources, storageClassName: id, volumeMode }
      await claims.create({ metadata: { name: id }, spec }, ctx)
    },
    async ({ id, bindingMode }) => {
      const { phase } = (await claims.get(id, ctx)).status
      equal(phase, bindingMode === 'Immediate' ? 'Bound' : 'Pending', 'a claim may wait for its first pod')
    },
  )
  await all(
    'use',
    (each) => run(each, 'first', 'node-0'),
    async (each) => {
      await checkRunning(each, 'first')
      deepEqual(attachedTo(each), ['node-0'])
      await storage.write(usedBy(each, 'first'), contentOf(each))
      await checkContent(each, 'first')
    },
  )
  await all(
    'expand',
    async ({ id }) => {
      const patch = { spec: { resources: { requests: { storage: '16Mi' } } } }
      await claims.patch(id, 'default', patch, 'merge', ctx)
    },
    async (each) => {
      equal(storage.records().volumes.get(volumeOf(each))?.capacityBytes, 16 * mebibyte)
      if (growsInUse(each)) await checkGrown(each, 'first')
      await checkContent(each, 'first')
    },
  )
  await all(
    'move',
    async (each) => {
      await stop(each, 'first')
      await run(each, 'second', 'node-1')
    },
    async (each) => {
      await checkRunning(each, 'second')
      deepEqual(attachedTo(each), ['node-1'])
      await checkContent(each, 'second')
      await checkGrown(each, 'second')
    },
  )

  await storage.powerOff('node-1')
  await clock.advance('2m')
  for (const each of combinations) await stop(each, 'second', { gracePeriodSeconds: 0 })
  for (const each of combinations) await run(each, 'third', 'node-2')
  await clock.advance('2m')
  for (const each of combinations)
    await check('the lost node may still write', each, () => {
      const both = ['node-1', 'node-2']
      deepEqual(attachedTo(each), isShared(each) ? both : ['node-1'], 'only shared volumes are attached twice')
    })
  await clock.advance('10m')
  for (const each of combinations)
    await check('the lost node has lost the volume', each, async () => {
      await checkRunning(each, 'third')
      deepEqual(attachedTo(each), ['node-2'])
      await checkContent(each, 'third')
    })
  storage.powerOn('node-1')
  await clock.advance('2m')
  deepEqual(await storage.leftOn('node-1'), [], 'a node that is back releases the volumes that it had')

  await all(
    'delete',
    async (each) => {
      await checkContent(each, 'third')
      await stop(each, 'third')
      await claims.delete(each.id, {}, ctx)
    },
    async (each) => {
      const volume = await client.of(persistentVolume).find(volumeOf(each), '', ctx)
      const isKept = each.reclaimPolicy === 'Retain'
      equal(volume?.status.phase, isKept ? 'Released' : undefined)
      equal(storage.records().volumes.has(volumeOf(each)), isKept)
    },
  )
  deepEqual((await client.of(volumeAttachment).list({}, ctx)).items, [])
  for (const nodeName of ['node-0', 'node-1', 'node-2']) deepEqual(await storage.leftOn(nodeName), [])
  return checked
}
