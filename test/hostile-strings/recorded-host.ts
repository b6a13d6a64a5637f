// The host of a simulated node that records what its kubelet asks for: paths, files, mounts, requests to pods, and the
// configurations of sandboxes and containers.
import { simulatedHost } from '../../src/cluster/node/simulated-host.ts'
import type { NodeHost } from '../../src/kubelet/node/node-host.ts'
import { SimulatedCgroups } from '../../src/machine/cgroups/simulated-cgroups.ts'
import { containerMessage, sandboxMessage } from '../../src/machine/cri/config-messages.ts'
import { containerConfig } from '../../src/machine/cri/messages/container.ts'
import { podSandboxConfig } from '../../src/machine/cri/messages/sandbox.ts'
import { SimulatedDisk } from '../../src/machine/disk/simulated-disk.ts'
import type { ContainerConfig, SandboxConfig } from '../../src/machine/runtime/runtime-config.ts'
import { SimulatedRuntime } from '../../src/machine/runtime/simulated-runtime.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import { encodeProto } from '../../src/wire/protobuf/encode-proto.ts'
import { recordedCalls } from './recorded-calls.ts'

export interface HostRecord {
  /** Paths of the host. */
  readonly paths: Set<string>
  /** Paths of files relative to the directory of a volume. */
  readonly relativePaths: Set<string>
  /** The content of files of lines, by path. */
  readonly lineFiles: Map<string, string>
  /** Mounts of devices and network file systems. */
  readonly mounts: { readonly type: string; readonly source: string }[]
  /** The bytes that were sent on each connection to a pod. */
  readonly requests: string[]
  /** Pods whose containers were created. */
  readonly started: Set<string>
}

export function recordedHost(clock: Clock) {
  const record: HostRecord = {
    paths: new Set(),
    relativePaths: new Set(),
    lineFiles: new Map(),
    mounts: [],
    requests: [],
    started: new Set(),
  }
  const files = new SimulatedDisk(['nfs'])
  const disk = recordedCalls(files, (method, args) => recordDisk(method, args, record))
  const program = { images: { once: () => Promise.resolve(0) }, podRange: () => '10.213.0.0/16', disk: files }
  const simulated = new SimulatedRuntime(clock, seededRandom(9), program)
  const runtime = recordedCalls(simulated, (method, args) => recordRuntime(method, args, record))
  const cgroups = recordedCalls(new SimulatedCgroups(), (_, args) => {
    for (const path of args) if (typeof path === 'string' && path.includes('/')) record.paths.add(path)
  })
  const host: NodeHost = {
    ...simulatedHost(simulated, disk),
    cgroups,
    disk,
    paths: { pods: '/state/pods', logs: '/state/logs' },
    dialer: {
      connect(target, tls, signal) {
        if (/[^-.:%\w]/.test(target.host)) record.requests.push(`dialled ${target.host}`)
        const at = record.requests.push('') - 1
        void tls
        return Promise.resolve({
          pieces: (async function* () {
            yield* signal.aborted ? [] : [new TextEncoder().encode('HTTP/1.1 200 OK\r\n\r\n')]
          })(),
          write: (bytes: Uint8Array) =>
            Promise.resolve(void (record.requests[at] += Buffer.from(bytes).toString('latin1'))),
          end: () => {},
          destroy: () => {},
        })
      },
      checkHealth: () => Promise.resolve('SERVING'),
    },
  }
  return { record, host, runtime }
}

function recordDisk(method: string, args: readonly unknown[], record: HostRecord): void {
  const [first, second, third] = args
  const add = (path: unknown) => record.paths.add(String(path))
  switch (method) {
    case 'mountSubPath':
      add(first)
      add(third)
      break
    case 'mountNetwork':
      add(third)
      record.mounts.push({ type: String(first), source: String(second) })
      break
    case 'mountDevice':
      add(first)
      add(third)
      record.mounts.push({ type: String(second), source: String(first) })
      break
    case 'growFileSystem':
      add(first)
      add(second)
      break
    case 'project':
      add(first)
      for (const path of (second as ReadonlyMap<string, unknown>).keys()) record.relativePaths.add(path)
      break
    default:
      add(first)
  }
  if (method !== 'write' || !String(first).endsWith('/etc-hosts')) return
  const { content } = second as { readonly content: Uint8Array }
  record.lineFiles.set(String(first), new TextDecoder().decode(content))
}

function recordRuntime(method: string, args: readonly unknown[], { paths, started }: HostRecord): void {
  if (method === 'runSandbox') {
    const config = args[0] as SandboxConfig
    paths.add(config.logDirectory)
    paths.add(config.cgroupParent)
    encodeProto(podSandboxConfig, sandboxMessage(config))
  } else if (method === 'createContainer') {
    const config = args[1] as ContainerConfig
    const sandbox = args[2] as SandboxConfig
    started.add(sandbox.podUid)
    paths.add(`${sandbox.logDirectory}/${config.logFile}`)
    for (const { hostPath } of [...config.mounts, ...config.devices]) paths.add(hostPath)
    encodeProto(containerConfig, containerMessage(config, sandbox))
  }
}
