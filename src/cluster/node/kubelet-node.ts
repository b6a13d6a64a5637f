// A kubelet on a real machine with its log rotation and its server: the same in the process of a whole cluster and in
// its own process.
import type { Clock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { Kubelet } from '../../kubelet/kubelet.ts'
import { logRotatorDefaults, LogRotator } from '../../kubelet/logs/log-rotator.ts'
import { recordCall } from '../../kubelet/events/record-call.ts'
import type { KubeletAuth } from '../../kubelet/server/kubelet-auth.ts'
import { KubeletServer } from '../../kubelet/server/kubelet-server.ts'
import type { LogFiles } from '../../machine/logs/log-files.ts'
import type { SystemLogs } from '../../machine/logs/system-logs.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import type { RealNode } from './real-node.ts'

export interface KubeletNodeDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
}

export function startRealKubelet(
  { runtime, description, settings, host, logs }: RealNode,
  deps: KubeletNodeDeps,
  tasks: TaskGroup,
): Kubelet {
  const { client, clock, log } = deps
  const services = new Informers(client, deps, tasks).of(service)
  tasks.start('runtime', (signal) => runtime.watch(signal))
  const rotation = { ...logRotatorDefaults, ...settings.logRotation }
  tasks.start('logs', (signal) => new LogRotator({ runtime, directory: logs, clock, log }, rotation).run(signal))
  const kubelet = new Kubelet({ ...deps, runtime, description, settings, host: host(() => [...services.all()]) })
  kubelet.start(tasks)
  return kubelet
}

export interface KubeletServerOptions {
  readonly nodeName: string
  readonly runtime: ContainerRuntime
  readonly logs: LogFiles
  readonly kubelet: Kubelet
  readonly access: KubeletAuth
  readonly clock: Clock
  readonly log: Log
  /** Records calls to the runtime; omitted when the cause of a request is not known. */
  readonly flow?: FlowRecorder
  /** The machine's logs; simulated nodes have none. */
  readonly systemLogs?: SystemLogs
  /** The effective KubeletConfiguration. */
  readonly configuration?: JsonObject
  /** A faster source of pods than the kubelet's own, which is the default. */
  readonly pod?: (namespace: string, name: string) => Pod | undefined
}

export function kubeletServer(options: KubeletServerOptions): KubeletServer {
  const { nodeName, runtime, logs, kubelet, access, clock, log, flow, systemLogs, configuration } = options
  const pod = options.pod ?? ((namespace: string, name: string) => kubelet.pod(namespace, name))
  return new KubeletServer({
    host: {
      nodeName,
      runtime,
      logs,
      pod,
      pods: () => Promise.resolve(kubelet.pods()),
      runningUid: (shown) => kubelet.runningUid(shown),
      stats: kubelet.stats,
      terminatedContainers: () => kubelet.terminatedContainers(),
      probeMetrics: (format) => kubelet.probeMetrics(format),
      ...(systemLogs === undefined ? {} : { systemLogs }),
      ...(configuration === undefined ? {} : { configuration }),
    },
    auth: access,
    outbound: nodeOutbound,
    sha1: nodeCrypto.sha1,
    inflateRaw: nodeInflateRaw,
    ...(flow === undefined ? {} : { call: recordCall(flow, nodeName) }),
    clock,
    log,
  })
}
