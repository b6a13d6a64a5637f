// The events of the service proxy, with the reasons and messages of kube-proxy.
import type { Node } from '../api/core/v1/node/node.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import type { Service } from '../api/core/v1/service/service.ts'
import { keyOf } from '../api/meta/object.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { noCause } from '../base/observability/flow-recorder.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder, type EventRecorderDeps } from '../client/events/event-recorder.ts'

export interface ProxyEvents {
  started(node: Node): void
  /** The health check port of a Service could not be opened. */
  healthCheckFailed(service: Service, port: number, error: string): void
  /** Paths to the pods of another node are not set, because its Node is not valid. */
  nodeIgnored(node: Node, reason: string, message: string): void
  /** A host port of a pod is not mapped. */
  hostPortIgnored(pod: Pod, reason: string, message: string): void
  /** Some traffic of the Service, or all of it, is not routed. kube-proxy has no such event. */
  notRouted(service: Service, problem: string): void
}

export interface ProxyEventsDeps extends Pick<EventRecorderDeps, 'clock' | 'random' | 'log'> {
  readonly client: Client
  readonly nodeName: string
}

/** Writes events in `tasks`. */
export function startProxyEvents(
  { client, nodeName, clock, random, log }: ProxyEventsDeps,
  tasks: TaskGroup,
): ProxyEvents {
  const deps = { clock, random, log, host: nodeName, apiVersion: 'events.k8s.io/v1' } as const
  const recorder = new EventRecorder(client, 'kube-proxy', deps)
  tasks.start('events of the proxy', (signal) => recorder.run(signal))
  return proxyEvents(recorder, nodeName)
}

export const proxyEvents = (recorder: Pick<EventRecorder, 'record'>, nodeName: string): ProxyEvents => ({
  started: (node) =>
    recorder.record(
      node,
      { type: 'Normal', reason: 'Starting', action: 'StartKubeProxy', message: '' },
      { cause: noCause },
    ),
  healthCheckFailed(service, port, error) {
    const message = `node ${nodeName} failed to start healthcheck "${keyOf(service)}" on port ${port}: ${error}`
    const note = { type: 'Warning', reason: 'FailedToStartServiceHealthcheck', action: 'Listen', message } as const
    recorder.record(service, note, { cause: noCause })
  },
  nodeIgnored: (node, reason, message) =>
    recorder.record(node, { type: 'Warning', reason, action: 'SetPodRoutes', message }, { cause: noCause }),
  hostPortIgnored: (pod, reason, message) =>
    recorder.record(pod, { type: 'Warning', reason, action: 'MapHostPort', message }, { cause: noCause }),
  notRouted(service, problem) {
    const message = `node ${nodeName} does not route all traffic of the Service: ${problem}`
    const note = { type: 'Warning', reason: 'ServiceNotRouted', action: 'SyncProxyRules', message } as const
    recorder.record(service, note, { cause: noCause })
  },
})
