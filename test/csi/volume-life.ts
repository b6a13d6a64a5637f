// VolumeLife: a cluster of two nodes with a storage driver in which every write and every call of the driver takes time,
// so that a test can act between any two of them; and the life of one volume: created, used on one node, used on the
// other, removed.
import { deepEqual, equal } from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
const driverName = 'csi.coxswain.dev'
/** How long a write and a call of the driver take. */
export const arrowMs = 40
/** A phase without kills has fewer; afterwards, a phase is given ten minutes. */
const arrowsMax = 60
const waitMs = 1_000
const waitsMax = 600
const inspectors = ['node-0', 'node-1'].map((node) => ({ node, name: `inspector-${node}` }))

/** Called after every `arrowMs` of a phase. */
export type Disturb = (phase: string, arrow: number) => Promise<void>

export async function startLives(volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer'): Promise<TestCluster> {
  const cluster = await startCluster({ nodes: 2, csi: { callMs: arrowMs, restartMs: 200 } })
  await cluster.client
    .of(storageClass)
    .create({ metadata: { name: 'csi' }, provisioner: driverName, volumeBindingMode }, ctx)
  for (const { node, name } of inspectors) await runPod(cluster, name, node, { hostPath: { path: '/' } })
  await cluster.clock.advance('30s')
  cluster.faults.slowStore(arrowMs)
  return cluster
}

/** Runs a whole life. Fails if data is lost, if the volume is attached to two nodes, or if something is left behind. */
export async function live(cluster: TestCluster, id: string, disturb: Disturb): Promise<void> {
  const { client } = cluster
  const isRunning = async (name: string) =>
    (await client.of(pod).find(name, 'default', ctx))?.status.phase === 'Running'
  const isGone = async (name: string) => (await client.of(pod).find(name, 'default', ctx)) === undefined
  const claimSpec = {
    accessModes: ['ReadWriteOnce' as const],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'csi',
  }
  const use = (name: string, node: string) => runPod(cluster, name, node, { persistentVolumeClaim: { claimName: id } })
  const phase = async (name: string, isDone: () => Promise<boolean>) => {
    for (let step = 0; !(await isDone()); step++) {
      if (step > arrowsMax + waitsMax) throw new Error(`${id}: ${name} was not completed`)
      if (step <= arrowsMax) await disturb(name, step)
      checkAttachments(cluster)
      await cluster.clock.advance(step <= arrowsMax ? arrowMs : waitMs)
    }
  }

  await client.of(persistentVolumeClaim).create({ metadata: { name: id }, spec: claimSpec }, ctx)
  await use(`${id}-first`, 'node-0')
  await phase('create', () => isRunning(`${id}-first`))
  const content = id.repeat(1_000)
  await cluster.exec(`${id}-first`, ['sh', '-c', `echo ${content} > /data/file`])
  await client.of(pod).delete(`${id}-first`, 'default', {}, ctx)
  await use(`${id}-second`, 'node-1')
  await phase('move', () => isRunning(`${id}-second`))
  const { stdout } = await cluster.exec(`${id}-second`, ['cat', '/data/file'])
  equal(sum(stdout), sum(`${content}\n`), `${id}: the data`)
  await client.of(pod).delete(`${id}-second`, 'default', {}, ctx)
  await client.of(persistentVolumeClaim).delete(id, {}, ctx)
  await phase('remove', async () => (await isGone(`${id}-second`)) && (await leftovers(cluster)).length === 0)
}

async function runPod({ client }: TestCluster, name: string, node: string, source: object): Promise<void> {
  const spec = {
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
    volumes: [{ name: 'v', ...source }],
    nodeSelector: { 'kubernetes.io/hostname': node },
    terminationGracePeriodSeconds: 1,
  }
  await client.of(pod).create({ metadata: { name }, spec }, ctx)
}

const sum = (content: string): string => createHash('sha256').update(content).digest('hex')

function checkAttachments({ csi }: TestCluster): void {
  for (const { id, attachments } of csi.records.volumes.values())
    deepEqual(Object.keys(attachments).slice(1), [], `${id} is attached to two nodes`)
}

/** Objects, records of the driver, mounts and directories of the nodes that volumes have left. */
async function leftovers(cluster: TestCluster): Promise<readonly string[]> {
  const { client, csi } = cluster
  const { items: volumes } = await client.of(persistentVolume).list({}, ctx)
  const { items: attachments } = await client.of(volumeAttachment).list({}, ctx)
  const { records } = csi
  const found = [...volumes, ...attachments].map(({ metadata }) => metadata.name)
  for (const known of [records.volumes, records.staged, records.published]) found.push(...known.keys())
  return found.length > 0 ? found : directoriesLeft(cluster)
}

/** Directories of pods other than the inspectors', and of staged volumes. */
async function directoriesLeft(cluster: TestCluster): Promise<string[]> {
  const list = async (name: string, path: string) => {
    const { stdout } = await cluster.exec(name, ['ls', `/data/${path}`])
    return stdout.split('\n').filter((entry) => entry !== '')
  }
  const found: string[] = []
  for (const { name } of inspectors) {
    const { uid } = (await cluster.client.of(pod).get(name, ctx)).metadata
    found.push(...(await list(name, 'pods')).filter((entry) => entry !== uid))
    found.push(...(await list(name, `plugins/kubernetes.io/csi/${driverName}`)))
  }
  return found
}
