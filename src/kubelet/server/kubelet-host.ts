// KubeletHost: what the kubelet's server asks of its kubelet.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { LogFiles } from '../../machine/logs/log-files.ts'
import type { SystemLogs } from '../../machine/logs/system-logs.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import type { NodeStats } from '../stats/node-stats.ts'
import type { ContainerRuntime, RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'

export interface KubeletHost {
  readonly nodeName: string
  readonly runtime: Pick<ContainerRuntime, 'name' | 'inspect' | 'exec' | 'streams'>
  /** The files that containers' `logPath`s name. */
  readonly logs: LogFiles
  /** A pod of this node, with its status as the kubelet knows it. */
  pod(namespace: string, name: string): Pod | undefined
  pods(signal: AbortSignal): Promise<readonly Pod[]>
  /** Under which uid the runtime has a pod; its own when left out. */
  readonly runningUid?: (pod: Pod) => string
  /** What the node and its pods use; left out where nothing measures it. */
  readonly stats?: Pick<NodeStats, 'summary' | 'machine'>
  /** How probes were answered, in Prometheus' text format. */
  readonly probeMetrics?: () => string
  /** Of the node itself; left out where there are none. */
  readonly systemLogs?: SystemLogs
  /** What the kubelet goes by, as a KubeletConfiguration. */
  readonly configuration?: JsonObject
}

/** A refusal that is answered as text, as kubelets answer. */
export class KubeletHttpError extends Error {
  override name = 'KubeletHttpError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The pod's containers as they run; refused when the node does not have the pod. */
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

/** What runs of a pod, if anything does. */
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
