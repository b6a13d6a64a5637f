// The life of one volume, in which every write and every call of the driver takes time, so that a test can act between any
// two of them: created, used on one node, used on the other, removed.
import { deepEqual, equal } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  context,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  storageClass,
  volumeAttachment,
  type TestCluster,
} from '../../src/cluster/index.ts'
import { driverName, type StorageOptions, type StorageUnderTest } from './storage-under-test.ts'

const ctx = context(new AbortController().signal)
/** How long a write and a call of the driver take. */
const arrowMs = 40
/** A phase without kills has fewer; afterwards, a phase is given ten minutes. */
const arrowsMax = 60
const waitMs = 1_000
const waitsMax = 600

/** Called after every `arrowMs` of a phase. */
export type Disturb = (phase: string, arrow: number) => Promise<void>

export const bindingModes = { '07': 'WaitForFirstConsumer', '14': 'Immediate' } as const

/** Storage of two nodes with a class for the claims of lives. */
export async function startLives<T extends StorageUnderTest>(
  startStorage: (options: StorageOptions) => Promise<T>,
  volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer',
): Promise<T> {
  const storage = await startStorage({ nodes: 2, arrowMs })
  const { client, clock, faults } = storage.cluster
  const spec = { provisioner: driverName, volumeBindingMode, parameters: storage.parametersOfSingle }
  await client.of(storageClass).create({ metadata: { name: 'csi' }, ...spec }, ctx)
  await clock.advance('30s')
  faults.slowStore(arrowMs)
  return storage
}

/** Runs a whole life. Fails if data is lost, if the volume is used by two nodes, or if something is left behind. */
export async function live(storage: StorageUnderTest, id: string, disturb: Disturb): Promise<void> {
  const { client, clock } = storage.cluster
  const find = (name: string) => client.of(pod).find(name, 'default', ctx)
  const isRunning = async (name: string) => (await find(name))?.status.phase === 'Running'
  const phase = async (name: string, isDone: () => Promise<boolean>) => {
    for (let step = 0; !(await isDone()); step++) {
      if (step > arrowsMax + waitsMax) throw new Error(`${id}: ${name} was not completed`)
      if (step <= arrowsMax) await disturb(name, step)
      checkUse(storage)
      await clock.advance(step <= arrowsMax ? arrowMs : waitMs)
    }
  }
  const claimSpec = {
    accessModes: ['ReadWriteOnce' as const],
    resources: { requests: { storage: '8Mi' } },
    storageClassName: 'csi',
  }
  const first = `${id}-first`
  const second = `${id}-second`
  await client.of(persistentVolumeClaim).create({ metadata: { name: id }, spec: claimSpec }, ctx)
  await runPod(storage.cluster, first, 'node-0', id)
  await phase('create', () => isRunning(first))
  const content = id.repeat(Math.floor(storage.contentBytes / id.length))
  await storage.write({ podName: first, isBlock: false }, content)
  await client.of(pod).delete(first, 'default', {}, ctx)
  await runPod(storage.cluster, second, 'node-1', id)
  await phase('move', () => isRunning(second))
  equal(sum(await storage.read({ podName: second, isBlock: false })), sum(content), `${id}: the data`)
  await client.of(pod).delete(second, 'default', {}, ctx)
  await client.of(persistentVolumeClaim).delete(id, {}, ctx)
  await phase('remove', async () => (await find(second)) === undefined && (await leftovers(storage)).length === 0)
}

/** The number of arrows of the longest phase of a life without kills. */
export async function arrowsOf(storage: StorageUnderTest): Promise<number> {
  let arrows = 0
  await live(storage, 'calm', async (_, arrow) => void (arrows = Math.max(arrows, arrow)))
  return arrows
}

const restartAfterMs = 100

/** A life in which these components are killed at one arrow of each phase, and started again. */
export const liveWithKills = (
  storage: StorageUnderTest,
  id: string,
  components: readonly string[],
  at: number,
): Promise<void> =>
  live(storage, id, async (_, arrow) => {
    if (arrow !== at) return
    for (const component of components) await storage.kill(component)
    await storage.cluster.clock.advance(restartAfterMs)
    for (const component of components) storage.start(component)
  })

async function runPod({ client }: TestCluster, name: string, node: string, claimName: string): Promise<void> {
  const spec = {
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    nodeSelector: { 'kubernetes.io/hostname': node },
    terminationGracePeriodSeconds: 1,
  }
  await client.of(pod).create({ metadata: { name }, spec }, ctx)
}

const sum = (content: string): string => createHash('sha256').update(content).digest('hex')

function checkUse(storage: StorageUnderTest): void {
  const { volumes, staged } = storage.records()
  for (const { id, attachments } of volumes.values()) {
    deepEqual(Object.keys(attachments).slice(1), [], `${id} is attached to two nodes`)
    const nodes = new Set([...staged.values()].filter(({ volumeId }) => volumeId === id).map(({ nodeId }) => nodeId))
    deepEqual([...nodes].slice(1), [], `${id} is mounted on two nodes`)
  }
}

/** Objects, records of the driver, mounts and directories of the nodes that volumes have left. */
async function leftovers(storage: StorageUnderTest): Promise<readonly string[]> {
  const { client } = storage.cluster
  const { items: volumes } = await client.of(persistentVolume).list({}, ctx)
  const { items: attachments } = await client.of(volumeAttachment).list({}, ctx)
  const records = storage.records()
  const found = [...volumes, ...attachments].map(({ metadata }) => metadata.name)
  for (const known of [records.volumes, records.staged, records.published]) found.push(...known.keys())
  // The directories are read when nothing else is left, because that takes the longest.
  return found.length > 0 ? found : [...(await storage.leftOn('node-0')), ...(await storage.leftOn('node-1'))]
}
