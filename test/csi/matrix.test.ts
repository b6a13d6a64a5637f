// Every combination of access mode, binding mode, reclaim policy and volume mode, with what can happen to a volume: it is
// created, used, expanded and deleted, its node is lost, its pod is moved. All cases share one cluster with simulated nodes
// and a storage driver; the data of every volume is read back and its checksum compared. Real mounts and loop devices are
// in test/containers/csi.test.ts.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import {
  context,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  startCluster,
  storageClass,
  volumeAttachment,
  type TestCluster,
} from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const provisioner = 'csi.coxswain.dev'
const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany', 'ReadWriteMany'] as const
const bindingModes = ['Immediate', 'WaitForFirstConsumer'] as const
const reclaimPolicies = ['Delete', 'Retain'] as const
const volumeModes = ['Filesystem', 'Block'] as const
const actions = ['create', 'use', 'expand', 'delete', 'move', 'lose node'] as const

interface Case {
  readonly id: string
  readonly accessMode: (typeof accessModes)[number]
  readonly bindingMode: (typeof bindingModes)[number]
  readonly reclaimPolicy: (typeof reclaimPolicies)[number]
  readonly volumeMode: (typeof volumeModes)[number]
}

const cases: readonly Case[] = accessModes
  .flatMap((accessMode) => bindingModes.map((bindingMode) => ({ accessMode, bindingMode })))
  .flatMap((each) => reclaimPolicies.map((reclaimPolicy) => ({ ...each, reclaimPolicy })))
  .flatMap((each) => volumeModes.map((volumeMode) => ({ ...each, volumeMode })))
  .map((each, index) => ({ ...each, id: `case-${index}` }))

const titleOf = ({ accessMode, bindingMode, reclaimPolicy, volumeMode }: Case): string =>
  [accessMode, bindingMode, reclaimPolicy, volumeMode].join(', ')
const classOf = ({ bindingMode, reclaimPolicy }: Case): string => `${bindingMode}-${reclaimPolicy}`.toLowerCase()
/** Volumes that several nodes may use at the same time. */
const isShared = ({ accessMode }: Case): boolean => accessMode.endsWith('Many')
const path = ({ volumeMode }: Case): string => (volumeMode === 'Block' ? '/dev/volume' : '/data/file')
const sum = (content: string): string => createHash('sha256').update(content).digest('hex')
const contentOf = ({ id }: Case): string => `${id} `.repeat(100).trim()

class Matrix {
  readonly cluster: TestCluster
  readonly #volumes = new Map<string, string>()

  constructor(cluster: TestCluster) {
    this.cluster = cluster
  }

  /** Runs the same action for all cases at the same time, then checks each. */
  async all(
    t: TestContext,
    action: string,
    start: (each: Case) => Promise<void>,
    check: (each: Case) => Promise<void>,
  ) {
    for (const each of cases) await start(each)
    await this.cluster.clock.advance('2m')
    for (const each of cases) await t.test(`${action}: ${titleOf(each)}`, () => check(each))
  }

  async create(each: Case): Promise<void> {
    const resources = { requests: { storage: '1Gi' } }
    const { accessMode, volumeMode } = each
    const spec = { accessModes: [accessMode], resources, storageClassName: classOf(each), volumeMode }
    await this.cluster.client.of(persistentVolumeClaim).create({ metadata: { name: each.id }, spec }, ctx)
  }

  async phaseOfClaim({ id }: Case): Promise<string | undefined> {
    return (await this.cluster.client.of(persistentVolumeClaim).get(id, ctx)).status.phase
  }

  async run(each: Case, name: string, nodeName: string): Promise<void> {
    const use =
      each.volumeMode === 'Block'
        ? { volumeDevices: [{ name: 'v', devicePath: '/dev/volume' }] }
        : { volumeMounts: [{ name: 'v', mountPath: '/data' }] }
    const spec = {
      containers: [{ name: 'c', image: 'i', ...use }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: each.id } }],
      nodeSelector: { 'kubernetes.io/hostname': nodeName },
      terminationGracePeriodSeconds: 1,
    }
    await this.cluster.client.of(pod).create({ metadata: { name: `${each.id}-${name}` }, spec }, ctx)
  }

  async stop(each: Case, name: string, options: { readonly gracePeriodSeconds?: number } = {}): Promise<void> {
    await this.cluster.client.of(pod).delete(`${each.id}-${name}`, 'default', options, ctx)
  }

  async checkRunning(each: Case, name: string): Promise<void> {
    const { status } = await this.cluster.client.of(pod).get(`${each.id}-${name}`, ctx)
    equal(status.phase, 'Running')
    const claim = await this.cluster.client.of(persistentVolumeClaim).get(each.id, ctx)
    equal(claim.status.phase, 'Bound')
    this.#volumes.set(each.id, claim.spec.volumeName ?? '')
  }

  async write(each: Case, name: string): Promise<void> {
    const command = ['sh', '-c', `echo ${contentOf(each)} > ${path(each)}`]
    const { exitCode, stderr } = await this.cluster.exec(`${each.id}-${name}`, command)
    equal(exitCode, 0, stderr)
  }

  async checkContent(each: Case, name: string): Promise<void> {
    const { stdout, stderr } = await this.cluster.exec(`${each.id}-${name}`, ['cat', path(each)])
    equal(sum(stdout.split('\0')[0] ?? ''), sum(`${contentOf(each)}\n`), stderr)
  }

  /** The nodes to which the driver has attached the volume. */
  attachedTo(each: Case): string[] {
    const { csi } = this.cluster
    return Object.keys(csi.records.volumes.get(this.volumeOf(each))?.attachments ?? {}).toSorted()
  }

  volumeOf({ id }: Case): string {
    return this.#volumes.get(id) ?? ''
  }
}

test('volumes of all kinds', async (t) => {
  await using cluster = await startCluster({ nodes: 3, csi: {} })
  const { client, clock, csi } = cluster
  for (const volumeBindingMode of bindingModes)
    for (const reclaimPolicy of reclaimPolicies) {
      const name = `${volumeBindingMode}-${reclaimPolicy}`.toLowerCase()
      const spec = { provisioner, volumeBindingMode, reclaimPolicy, allowVolumeExpansion: true }
      await client.of(storageClass).create({ metadata: { name }, ...spec }, ctx)
    }
  await clock.advance('30s')
  const matrix = new Matrix(cluster)
  ok(cases.length * (actions.length + 1) >= 200, 'the loss of a node is checked twice')

  await matrix.all(
    t,
    'create',
    (each) => matrix.create(each),
    async (each) => {
      const isBound = each.bindingMode === 'Immediate'
      equal(await matrix.phaseOfClaim(each), isBound ? 'Bound' : 'Pending', 'a claim may wait for its first pod')
    },
  )
  await matrix.all(
    t,
    'use',
    (each) => matrix.run(each, 'first', 'node-0'),
    async (each) => {
      await matrix.checkRunning(each, 'first')
      deepEqual(matrix.attachedTo(each), ['node-0'])
      await matrix.write(each, 'first')
      await matrix.checkContent(each, 'first')
    },
  )
  await matrix.all(
    t,
    'expand',
    async ({ id }) => {
      const patch = { spec: { resources: { requests: { storage: '2Gi' } } } }
      await client.of(persistentVolumeClaim).patch(id, 'default', patch, 'merge', ctx)
    },
    async (each) => {
      const claim = await client.of(persistentVolumeClaim).get(each.id, ctx)
      equal(claim.status.capacity?.['storage'], '2Gi')
      equal(csi.records.volumes.get(matrix.volumeOf(each))?.capacityBytes, 2 * 2 ** 30)
      await matrix.checkContent(each, 'first')
    },
  )
  await matrix.all(
    t,
    'move',
    async (each) => {
      await matrix.stop(each, 'first')
      await matrix.run(each, 'second', 'node-1')
    },
    async (each) => {
      await matrix.checkRunning(each, 'second')
      deepEqual(matrix.attachedTo(each), ['node-1'])
      await matrix.checkContent(each, 'second')
    },
  )

  await t.test('lose node', async (lost) => {
    await cluster.powerOff('node-1')
    await clock.advance('2m')
    for (const each of cases) await matrix.stop(each, 'second', { gracePeriodSeconds: 0 })
    for (const each of cases) await matrix.run(each, 'third', 'node-2')
    await clock.advance('2m')
    for (const each of cases)
      await lost.test(`the node may still write: ${titleOf(each)}`, () => {
        const both = ['node-1', 'node-2']
        deepEqual(matrix.attachedTo(each), isShared(each) ? both : ['node-1'], 'only shared volumes are attached twice')
      })
    await clock.advance('10m')
    for (const each of cases)
      await lost.test(`the node has lost the volume: ${titleOf(each)}`, async () => {
        await matrix.checkRunning(each, 'third')
        deepEqual(matrix.attachedTo(each), ['node-2'])
        await matrix.checkContent(each, 'third')
      })
  })
  const mountsOf = (nodeName: string) =>
    [...csi.records.staged.values(), ...csi.records.published.values()].filter(({ nodeId }) => nodeId === nodeName)
  cluster.start('kubelet/node-1')
  await clock.advance('2m')
  deepEqual(mountsOf('node-1'), [], 'a node that is back releases the volumes that it had')
  await matrix.all(
    t,
    'delete',
    async (each) => {
      await matrix.stop(each, 'third')
      await client.of(persistentVolumeClaim).delete(each.id, {}, ctx)
    },
    async (each) => {
      const volume = await client.of(persistentVolume).find(matrix.volumeOf(each), '', ctx)
      const isKept = each.reclaimPolicy === 'Retain'
      equal(volume?.status.phase, isKept ? 'Released' : undefined)
      equal(csi.records.volumes.has(matrix.volumeOf(each)), isKept)
    },
  )
  deepEqual((await client.of(volumeAttachment).list({}, ctx)).items, [])
  for (const nodeName of ['node-0', 'node-1', 'node-2']) deepEqual(mountsOf(nodeName), [])
})
