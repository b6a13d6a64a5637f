// Pod: it is deleted gracefully while a kubelet may run it, and is bound to a node by a subresource.
import { rfc3339 } from '../../../base/time/clock.ts'
import { bindingMessage } from '../../../api/core/v1/binding.ts'
import { boundSpec } from '../../../api/core/v1/pod-spec/bound-spec.ts'
import { isPodFinished } from '../../../api/core/v1/pod/pod-readiness.ts'
import { isBound, pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PodCondition } from '../../../api/core/v1/pod/pod-status.ts'
import { badRequest, conflict } from '../../../api/errors/status-error.ts'
import { decodeBody } from '../../objects/decode-object.ts'
import type { Strategy } from '../../registry/resource/strategy.ts'
import { withEphemeralContainers, withResizedResources } from './pod-subresource-updates.ts'

export const podStrategy: Strategy<Pod> = {
  kind: pod,
  returnsDeletedObject: true,
  graceSeconds(object, { gracePeriodSeconds }) {
    if (!isBound(object) || isPodFinished(object)) return 0
    const seconds = gracePeriodSeconds ?? object.spec.terminationGracePeriodSeconds
    return seconds < 0 ? 1 : seconds
  },
  subresourceUpdates: { ephemeralcontainers: withEphemeralContainers, resize: withResizedResources },
  subresourceActions: { binding: bind },
}

function bind(object: Pod, body: unknown, nowMs: number): { object: Pod } {
  const { target, metadata } = decodeBody(bindingMessage, 'Binding', body)
  const nodeName = target?.name
  if (nodeName === undefined) throw badRequest('target.name: Required value')
  const conflictError = (reason: string) =>
    conflict({ group: '', plural: 'pods/binding' }, object.metadata.name, reason)
  if (object.metadata.deletionTimestamp !== undefined)
    throw conflictError(`pod ${object.metadata.name} is being deleted, cannot be assigned to a host`)
  if (isBound(object))
    throw conflictError(
      `pod ${object.metadata.name} is already assigned to node ${JSON.stringify(object.spec.nodeName)}`,
    )
  const scheduled: PodCondition = { type: 'PodScheduled', status: 'True', lastTransitionTime: rfc3339(nowMs) }
  const { nominatedNodeName: _, ...status } = object.status
  const others = (object.status.conditions ?? []).filter(({ type }) => type !== scheduled.type)
  return {
    object: {
      ...object,
      metadata: withBindingMetadata(object.metadata, metadata),
      spec: boundSpec(object.spec, nodeName),
      // concat() allocates the exact length; a spread would reserve room for sixteen more items in every pod.
      status: { ...status, conditions: others.concat(scheduled) },
    },
  }
}

/** A binding may add labels and annotations. */
function withBindingMetadata(
  metadata: Pod['metadata'],
  { labels = {}, annotations = {} }: Pick<Partial<Pod['metadata']>, 'labels' | 'annotations'> = {},
): Pod['metadata'] {
  return {
    ...metadata,
    ...(Object.keys(labels).length === 0 ? {} : { labels: { ...metadata.labels, ...labels } }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations: { ...metadata.annotations, ...annotations } }),
  }
}
