// TTL after finished: deletes Jobs and their dependents `ttlSecondsAfterFinished` seconds after they finish.
import { job, type Job } from '../api/batch/v1/job.ts'
import { isBeingDeleted, namespaceOf } from '../api/meta/object.ts'
import { hasReason } from '../api/errors/status-error.ts'
import { defineController } from './runtime/controller.ts'

/** When the Job expires; undefined when it has not finished or has no TTL. */
export function expiryMs({ spec, status }: Job): number | undefined {
  const end = status.conditions?.find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  )?.lastTransitionTime
  const { ttlSecondsAfterFinished: seconds } = spec
  return !end || seconds === undefined ? undefined : Date.parse(end) + seconds * 1000
}

export const ttlAfterFinishedController = defineController({
  name: 'ttl-after-finished',
  account: 'ttl-after-finished-controller',
  watches: [job],
  enqueues: (_, { key, now }) => (now !== undefined && expiryMs(now as Job) !== undefined ? [key] : []),
  async reconcile(key, tools, context) {
    const { client, cached, nowMs, metrics } = tools
    const object = cached(job, key)
    if (object === undefined || isBeingDeleted(object)) return undefined
    const dueMs = expiryMs(object)
    if (dueMs === undefined) return undefined
    if (dueMs > nowMs) return dueMs - nowMs
    const { name, uid, resourceVersion } = object.metadata
    try {
      // The resourceVersion is a precondition, because the TTL may have been changed in the meantime.
      const options = { uid, resourceVersion, propagationPolicy: 'Foreground' as const }
      await client.of(job).delete(name, namespaceOf(object), options, context)
      metrics.expiredJobSeconds.observe({}, (tools.nowMs - dueMs) / 1000)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
    return undefined
  },
})
