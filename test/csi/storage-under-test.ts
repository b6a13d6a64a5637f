// StorageUnderTest: a cluster with a storage driver, as the tests of whole volume lives use it. simulatedStorage() has
// simulated nodes and a driver in memory; mounted-storage.ts has real mounts and a driver process.
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { context } from '../../src/base/observability/context.ts'
import type { MountRecord, VolumeRecord } from '../../src/machine/csi/simulated/storage-system.ts'

export const driverName = 'csi.coxswain.dev'

export interface UsedVolume {
  /** The name of the pod, in the namespace default. */
  readonly podName: string
  readonly isBlock: boolean
}

export interface RecordsOfDriver {
  readonly volumes: ReadonlyMap<string, VolumeRecord>
  readonly staged: ReadonlyMap<string, MountRecord>
  readonly published: ReadonlyMap<string, MountRecord>
}

export interface StorageUnderTest extends AsyncDisposable {
  readonly cluster: TestCluster
  /** How much a test writes to a volume. */
  readonly contentBytes: number
  /** Whether the driver can create block volumes. */
  readonly hasBlock: boolean
  /** Parameters of a class for volumes that one node uses at a time. */
  readonly parametersOfSingle: Readonly<Record<string, string>>
  /** Whether a filesystem with these parameters can grow while it is mounted; others grow when they are staged again. */
  readonly growsMounted: boolean
  records(): RecordsOfDriver
  /** Writes the file `file` of the volume, or the start of its device, as the container of the pod would. */
  write(volume: UsedVolume, content: string): Promise<void>
  read(volume: UsedVolume): Promise<string>
  /** The size of the filesystem or device that the container has. */
  sizeOf(volume: UsedVolume): Promise<number>
  /** Kills a component; one of the cluster, a kubelet, the sidecars or the driver. */
  kill(component: string): Promise<void>
  start(component: string): void
  powerOff(node: string): Promise<void>
  powerOn(node: string): void
  /** What volumes have left on a node: mounts and directories. */
  leftOn(node: string): Promise<readonly string[]>
}

export interface StorageOptions {
  readonly nodes: number
  /** How long a write and a call of the driver take. */
  readonly arrowMs?: number
}

const ctx = context(new AbortController().signal)
const inspectorOf = (node: string): string => `inspector-${node}`

/** Inspectors are pods that show the files of their nodes. */
export async function simulatedStorage({ nodes, arrowMs = 0 }: StorageOptions): Promise<StorageUnderTest> {
  const cluster = await startCluster({ nodes, csi: { callMs: arrowMs, restartMs: arrowMs * 5 } })
  const { client, csi } = cluster
  for (let index = 0; index < nodes; index++) {
    const spec = {
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/node' }] }],
      volumes: [{ name: 'v', hostPath: { path: '/' } }],
      nodeSelector: { 'kubernetes.io/hostname': `node-${index}` },
      tolerations: [{ operator: 'Exists' }],
    }
    await client.of(pod).create({ metadata: { name: inspectorOf(`node-${index}`) }, spec }, ctx)
  }
  const list = async (name: string, path: string) => {
    const { stdout } = await cluster.exec(name, ['ls', `/node/${path}`])
    return stdout.split('\n').filter((entry) => entry !== '')
  }
  const path = ({ isBlock }: UsedVolume) => (isBlock ? '/dev/volume' : '/data/file')
  return {
    cluster,
    contentBytes: 5_000,
    hasBlock: true,
    parametersOfSingle: {},
    growsMounted: true,
    records: () => csi.records,
    async write(volume, content) {
      const { exitCode, stderr } = await cluster.exec(volume.podName, ['sh', '-c', `echo ${content} > ${path(volume)}`])
      if (exitCode !== 0) throw new Error(stderr)
    },
    async read(volume) {
      const { stdout } = await cluster.exec(volume.podName, ['cat', path(volume)])
      return (stdout.split('\0')[0] ?? '').trimEnd()
    },
    async sizeOf({ podName }) {
      const { metadata } = await client.of(pod).get(podName, ctx)
      const mount = [...csi.records.published.values()].find((each) => each.path.includes(metadata.uid))
      return csi.records.volumes.get(mount?.volumeId ?? '')?.capacityBytes ?? 0
    },
    kill: (component) => cluster.kill(component),
    start: (component) => cluster.start(component),
    powerOff: (node) => cluster.powerOff(node),
    powerOn: (node) => cluster.start(`kubelet/${node}`),
    async leftOn(node) {
      const { staged, published } = csi.records
      const mounts = [...staged.values(), ...published.values()].filter(({ nodeId }) => nodeId === node)
      const { uid } = (await client.of(pod).get(inspectorOf(node), ctx)).metadata
      const pods = (await list(inspectorOf(node), 'pods')).filter((entry) => entry !== uid)
      const directories = await list(inspectorOf(node), `plugins/kubernetes.io/csi/${driverName}`)
      return [...mounts.map((mount) => mount.path), ...pods, ...directories]
    },
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}
