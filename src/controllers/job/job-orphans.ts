// Removes the tracking finalizer from pods whose Job no longer exists: nothing will count them.
import { job } from '../../api/batch/v1/job.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { controllerOf, keyOf, namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import { defineController, type ReconcileTools } from '../runtime/controller.ts'
import { isTracked, trackingFinalizer } from './job-pods.ts'

export const jobOrphansController = defineController({
  name: 'job-orphans',
  account: 'job-controller',
  watches: [job, pod],
  enqueues(kind, { key, now, before }, { dependents }) {
    if (kind.kind === pod.kind) return now !== undefined && isTracked(now as Pod) ? [key] : []
    return now === undefined && before !== undefined
      ? dependents(before.metadata.uid).map(({ object }) => keyOf(object))
      : []
  },
  async reconcile(key, tools, context) {
    const object = tools.cached(pod, key)
    if (object === undefined || !isTracked(object) || hasJob(object, tools)) return undefined
    const { name, uid } = object.metadata
    const reference = controllerOf(object)
    // The cache of Jobs may be older than that of pods, so the API server is queried.
    if (reference?.kind === job.kind) {
      const live = await tools.client.of(job).find(reference.name, namespaceOf(object), context)
      if (live?.metadata.uid === reference.uid) return undefined
    }
    const patch = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } }
    await tools.client.of(pod).patch(name, namespaceOf(object), patch, 'strategic', context).catch(ignoring('NotFound'))
    return undefined
  },
})

function hasJob(object: ApiObject, { cached }: ReconcileTools): boolean {
  const owner = controllerOf(object)
  if (owner?.kind !== job.kind) return false
  return cached(job, objectKey(namespaceOf(object), owner.name))?.metadata.uid === owner.uid
}
