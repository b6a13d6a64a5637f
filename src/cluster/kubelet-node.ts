// A kubelet with what belongs to it on a real machine, and its server: the same in the process of a whole cluster and in
// one of its own.
import type { Clock } from '../base/clock.ts'
import type { FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { service } from '../api/core/v1/service.ts'
import type { Client } from '../client/client.ts'
import { Informers } from '../client/informers.ts'
import { Kubelet } from '../kubelet/kubelet.ts'
import { logRotatorDefaults, LogRotator } from '../kubelet/logs/rotator.ts'
import { recordCall } from '../kubelet/record-call.ts'
import type { KubeletAccess } from '../kubelet/server/access.ts'
import { KubeletServer } from '../kubelet/server/server.ts'
import type { LogFiles } from '../machine/logs/log-files.ts'
import type { SystemLogs } from '../machine/logs/system-logs.ts'
import type { ContainerRuntime } from '../machine/runtime/runtime.ts'
import type { JsonObject } from '../schema/json-value.ts'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { nodeOutbound } from '../platform/node/outbound.ts'
import type { RealNode } from './real-node.ts'

export interface KubeletNodeParts {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
}

export function startRealKubelet(
  { runtime, description, settings, host, logs }: RealNode,
  parts: KubeletNodeParts,
  tasks: TaskGroup,
): Kubelet {
  const { client, clock, log } = parts
  const services = new Informers(client, parts, tasks).of(service)
  tasks.start('runtime', (signal) => runtime.watch(signal))
  const rotation = { ...logRotatorDefaults, ...settings.logRotation }
  tasks.start('logs', (signal) => new LogRotator({ runtime, folder: logs, clock, log }, rotation).run(signal))
  const kubelet = new Kubelet({ ...parts, runtime, description, settings, host: host(() => [...services.all()]) })
  kubelet.start(tasks)
  return kubelet
}

export interface KubeletServerOptions {
  readonly nodeName: string
  readonly runtime: ContainerRuntime
  readonly logs: LogFiles
  readonly kubelet: Kubelet
  readonly access: KubeletAccess
  readonly clock: Clock
  readonly log: Log
  /** Where calls to the runtime are recorded; left out where the cause of a request is not known. */
  readonly flow?: FlowRecorder
  /** Of the machine itself; a simulated one has none. */
  readonly systemLogs?: SystemLogs
  /** What it goes by, as a KubeletConfiguration. */
  readonly configuration?: JsonObject
  /** Where pods are found sooner than the kubelet hears of them; the kubelet's own when left out. */
  readonly pod?: (namespace: string, name: string) => Pod | undefined
}

export function kubeletServer(options: KubeletServerOptions): KubeletServer {
  const { nodeName, runtime, logs, kubelet, access, clock, log, flow, systemLogs, configuration } = options
  const pod = options.pod ?? ((namespace: string, name: string) => kubelet.pod(namespace, name))
  return new KubeletServer({
    host: {
      ...{ nodeName, runtime, logs, pod },
      pods: () => Promise.resolve(kubelet.pods()),
      runningUid: (shown) => kubelet.runningUid(shown),
      stats: kubelet.stats,
      probeMetrics: () => kubelet.probeMetrics(),
      ...(systemLogs === undefined ? {} : { systemLogs }),
      ...(configuration === undefined ? {} : { configuration }),
    },
    access,
    outbound: nodeOutbound,
    sha1: nodeCrypto.sha1,
    ...(flow === undefined ? {} : { call: recordCall(flow, nodeName) }),
    clock,
    log,
  })
}
