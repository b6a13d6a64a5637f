// Events of a resize: pending, started, failed and completed. Messages equal upstream's.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodEvent } from '../events/pod-events.ts'
import { isSidecar } from './restart-policy.ts'
import type { Requirements } from '../resources/resize.ts'
import type { Resize } from '../resources/resizer.ts'

/** The events for the step from one state of the resize to the next. */
export function resizeEvents(before: Resize | undefined, now: Resize | undefined, pod: Pod): readonly PodEvent[] {
  if (now === undefined) return []
  const events: PodEvent[] = []
  const { decision, progress } = now
  if (decision.kind === 'pending') {
    const { reason, message } = decision
    const earlier = before?.decision.kind === 'pending' ? before.decision : undefined
    if (earlier?.reason !== reason || earlier.message !== message)
      events.push({
        type: 'Warning',
        reason: `Resize${reason}`,
        message: formatMessage(`Pod resize ${reason}`, pod, message),
      })
    return events
  }
  if (now.isInProgress && !before?.isInProgress)
    events.push({ type: 'Normal', reason: 'ResizeStarted', message: formatMessage('Pod resize started', pod) })
  if (progress?.message && progress.message !== before?.progress?.message)
    events.push({
      type: 'Warning',
      reason: 'ResizeError',
      message: formatMessage('Pod resize error', pod, progress.message),
    })
  if (before?.isInProgress && !now.isInProgress)
    events.push({ type: 'Normal', reason: 'ResizeCompleted', message: formatMessage('Pod resize completed', pod) })
  return events
}

/** In upstream's order: limits first, each sorted by name. */
function inOrder({ limits, requests }: Requirements): object {
  const sorted = (amounts: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(amounts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return {
    ...(limits === undefined ? {} : { limits: sorted(limits) }),
    ...(requests === undefined ? {} : { requests: sorted(requests) }),
  }
}

function formatMessage(what: string, { metadata, spec }: Pod, error = ''): string {
  const own = ({ name, resources }: Container) => ({ name, resources: inOrder(resources) })
  const sidecars = (spec.initContainers ?? []).filter(isSidecar)
  const summary = {
    ...(spec.resources === undefined ? {} : { resources: inOrder(spec.resources) }),
    ...(sidecars.length === 0 ? {} : { initContainers: sidecars.map(own) }),
    containers: spec.containers.map(own),
    generation: metadata.generation ?? 0,
    ...(error === '' ? {} : { error }),
  }
  return `${what}: ${JSON.stringify(summary)}`
}
