// KubeletHost: what the kubelet's server needs of the kubelet.
import type { ExpositionFormat } from '../../base/observability/exposition.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { LogFiles } from '../../machine/logs/log-files.ts'
import type { SystemLogs } from '../../machine/logs/system-logs.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import type { NodeStats } from '../stats/node-stats.ts'
import type { TerminatedContainers } from '../status/terminated-containers.ts'
import type { ContainerRuntime, RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'

export interface KubeletHost {
  readonly nodeName: string
  readonly runtime: Pick<ContainerRuntime, 'name' | 'podUids' | 'inspect' | 'exec' | 'streams'>
  /** Log files, by the `logPath` of containers. */
  readonly logs: LogFiles
  /** A pod of this node with its current status. */
  pod(namespace: string, name: string): Pod | undefined
  pods(signal: AbortSignal): Promise<readonly Pod[]>
  /** The uid of a pod in the runtime, which differs for mirror pods; the pod's own when left out. */
  readonly runningUid?: (pod: Pod) => string
  /** Usage of the node and its pods; left out where nothing is measured. */
  readonly stats?: Pick<NodeStats, 'cpuAndMemory' | 'machine' | 'summary'>
  /** How many containers have ended; none when left out. */
  readonly terminatedContainers?: () => ReturnType<TerminatedContainers['samples']>
  readonly probeMetrics?: (format: ExpositionFormat) => string
  /** Logs of the node; left out where there are none. */
  readonly systemLogs?: SystemLogs
  /** The kubelet's configuration for /configz, as a KubeletConfiguration. */
  readonly configuration?: JsonObject
}

/** An error response with a text body, as kubelets send them. */
export class KubeletHttpError extends Error {
  override name = 'KubeletHttpError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The pod in the runtime; throws a 404 when the node does not run it. */
export async function runningPod(
  host: KubeletHost,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<RuntimePod> {
  const pod = host.pod(namespace, name)
  const found = pod && (await inspect(host, pod, signal))
  if (found === undefined) throw new KubeletHttpError(404, 'pod does not exist')
  return found
}

/** The pod in the runtime; undefined when it is not running. */
export const inspect = (
  { runtime, runningUid }: KubeletHost,
  pod: Pod,
  signal: AbortSignal,
): Promise<RuntimePod | undefined> => runtime.inspect(runningUid?.(pod) ?? pod.metadata.uid, signal)

export function runningContainer({ containers }: RuntimePod, name: string): RuntimeContainer {
  const found = containers.findLast((container) => container.name === name && container.state === 'running')
  if (found === undefined) throw new KubeletHttpError(500, `container not found (${JSON.stringify(name)})`)
  return found
}
