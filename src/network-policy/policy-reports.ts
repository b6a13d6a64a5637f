// PolicyReports: what the policy agent reports about a policy that it cannot enforce as written: an event and a metric.
import type { NetworkPolicy } from '../api/networking/v1/network-policy.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { noCause } from '../base/observability/flow-recorder.ts'
import type { Metrics } from '../base/observability/metrics.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder, type EventRecorderDeps } from '../client/events/event-recorder.ts'

export interface PolicyReports {
  /** The policy isolates its pods, but its rules are not in effect. */
  notEnforced(policy: NetworkPolicy, problem: string): void
}

export interface PolicyReportsDeps extends Pick<EventRecorderDeps, 'clock' | 'random' | 'log'> {
  readonly client: Client
  readonly nodeName: string
  readonly registry: Metrics
}

/** Writes events in `tasks`. */
export function startPolicyReports(
  { client, nodeName, registry, clock, random, log }: PolicyReportsDeps,
  tasks: TaskGroup,
): PolicyReports {
  const deps = { clock, random, log, host: nodeName, apiVersion: 'events.k8s.io/v1' } as const
  const recorder = new EventRecorder(client, 'network-policy', deps)
  tasks.start('events of network policies', (signal) => recorder.run(signal))
  return policyReports(recorder, registry, nodeName)
}

export function policyReports(
  recorder: Pick<EventRecorder, 'record'>,
  registry: Metrics,
  nodeName: string,
): PolicyReports {
  const count = registry.counter(
    'coxswain_network_policy_not_enforced_total',
    'Network policies whose rules were left out because they are too many or the kernel rejected them',
  )
  return {
    notEnforced(policy, problem) {
      count.add({})
      const message = `node ${nodeName} isolates the pods of the policy but allows nothing by its rules: ${problem}`
      const note = { type: 'Warning', reason: 'NetworkPolicyNotEnforced', action: 'SyncRules', message } as const
      recorder.record(policy, note, { cause: noCause })
    },
  }
}
