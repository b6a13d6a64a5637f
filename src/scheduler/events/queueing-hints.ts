// Queueing hints: moves the unschedulable pods that a cluster event may help. Only the hints of plugins that
// rejected a pod are called.
import type { Clock } from '../../base/time/clock.ts'
import type { Cause } from '../../base/observability/flow-recorder.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { eventLabel } from './event-label.ts'
import type { Extender } from '../framework/extender.ts'
import type { SchedulerPlugin, ClusterEvent } from '../framework/framework.ts'
import type { SchedulerMetrics } from '../framework/scheduler-metrics.ts'
import type { Profile } from '../framework/profile.ts'
import type { SchedulingQueue } from '../queue/scheduling-queue.ts'

export interface QueueingHintDeps {
  readonly queue: SchedulingQueue
  readonly profiles: ReadonlyMap<string, Profile>
  readonly extenders: readonly Extender[]
  readonly metrics: Pick<SchedulerMetrics, 'eventSeconds' | 'hintSeconds'>
  readonly clock: Clock
}

export function requeueOnEvent(deps: QueueingHintDeps, event: ClusterEvent, cause: Cause): void {
  const { queue, profiles, extenders, metrics, clock } = deps
  const label = eventLabel(event)
  const sinceMs = clock.monotonicMs()
  const isRegistered = ({ eventsToRegister, watches = [] }: SchedulerPlugin) =>
    eventsToRegister === undefined ||
    (eventsToRegister.includes(event.kind) &&
      (event.kind !== 'object-changed' || watches.some(({ plural }) => plural === event.resource)))
  const registeredPlugins = (profile: Profile | undefined, rejectedBy: ReadonlySet<string>) =>
    profile?.plugins.filter((plugin) => rejectedBy.has(plugin.name) && isRegistered(plugin)) ?? []
  // Only an extender knows what helps pods that it rejected.
  const mayAlwaysHelp = (rejectedBy: ReadonlySet<string>) =>
    rejectedBy.size === 0 || extenders.some(({ url }) => rejectedBy.has(url))
  queue.requeue(
    (rejectedBy) =>
      mayAlwaysHelp(rejectedBy) ||
      [...profiles.values()].some((profile) => registeredPlugins(profile, rejectedBy).length > 0),
    ({ pod, rejectedBy }) =>
      mayAlwaysHelp(rejectedBy) ||
      registeredPlugins(profiles.get(pod.spec.schedulerName), rejectedBy).some((plugin) =>
        runHint(deps, plugin, event, label, pod),
      ),
    cause,
    label,
  )
  metrics.eventSeconds.observe({ event: label }, (clock.monotonicMs() - sinceMs) / 1000)
}

function runHint(
  { metrics, clock }: QueueingHintDeps,
  plugin: SchedulerPlugin,
  event: ClusterEvent,
  label: string,
  pod: Pod,
): boolean {
  if (plugin.queueingHint === undefined) return true
  const sinceMs = clock.monotonicMs()
  const mayHelp = plugin.queueingHint(event, pod)
  const labels = { event: label, hint: mayHelp ? 'Queue' : 'QueueSkip', plugin: plugin.name }
  metrics.hintSeconds.observe(labels, (clock.monotonicMs() - sinceMs) / 1000)
  return mayHelp
}
