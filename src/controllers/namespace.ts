// Namespace: when it ends, everything in it goes first; then its finalizer, and with that the namespace itself.
import { namespace, type Namespace } from '../api/core/v1/namespace.ts'
import { storedKinds } from '../api/kinds.ts'
import type { Kind } from '../api/kind.ts'
import { isBeingDeleted } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { Context } from '../base/context.ts'
import type { Client } from '../client/client.ts'
import { defineController } from './controller.ts'

const contentFinalizer = 'kubernetes'
/** Content that ends gracefully is looked at again after this long. */
const recheckMs = 500

const contentKinds = storedKinds.filter((kind) => kind.namespaced)

export const namespaceController = defineController({
  name: 'namespace',
  account: 'namespace-controller',
  watches: [namespace],
  wakes: (_, { key, now }) => (now !== undefined && isBeingDeleted(now) ? [key] : []),
  async reconcile(key, { client, cached }, context) {
    const object = cached(namespace, key)
    if (object === undefined || !isBeingDeleted(object)) return undefined
    if (!object.spec.finalizers?.includes(contentFinalizer)) return undefined
    let remaining = 0
    for (const kind of contentKinds) remaining += await removeContent(kind, key, client, context)
    if (remaining > 0) return recheckMs
    await finalize(object, client, context)
    return undefined
  },
})

/** Deletes what is not yet being deleted; returns how many objects were there. */
async function removeContent(kind: Kind, name: string, client: Client, context: Context): Promise<number> {
  const resource = client.of(kind)
  const { items } = await resource.list({ namespace: name }, context)
  for (const object of items) {
    if (isBeingDeleted(object)) continue
    try {
      await resource.delete(
        object.metadata.name,
        name,
        { uid: object.metadata.uid, propagationPolicy: 'Background' },
        context,
      )
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }
  return items.length
}

async function finalize(object: Namespace, client: Client, context: Context): Promise<void> {
  const finalizers = (object.spec.finalizers ?? []).filter((finalizer) => finalizer !== contentFinalizer)
  await client.of(namespace).updatePart({ ...object, spec: { finalizers } }, 'finalize', context)
}
