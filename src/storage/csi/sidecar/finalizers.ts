// Adds and removes finalizers of objects. The resource version protects those that others have added meanwhile.
import type { Context } from '../../../base/observability/context.ts'
import { ignoring } from '../../../api/errors/status-error.ts'
import type { ResourceType } from '../../../api/kind/kind.ts'
import { hasFinalizer } from '../../../api/meta/finalizers.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { Client } from '../../../client/client.ts'

/** Returns the object with the finalizer. */
export async function addFinalizer<T extends ApiObject>(
  client: Client,
  kind: ResourceType<T>,
  object: T,
  finalizer: string,
  context: Context,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object
  return patchFinalizers(client, kind, object, [...(object.metadata.finalizers ?? []), finalizer], context)
}

/** Does nothing when the object or the finalizer is gone. */
export async function removeFinalizer<T extends ApiObject>(
  client: Client,
  kind: ResourceType<T>,
  object: T,
  finalizer: string,
  context: Context,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) return
  const left = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer)
  await patchFinalizers(client, kind, object, left, context).catch(ignoring('NotFound'))
}

const patchFinalizers = <T extends ApiObject>(
  client: Client,
  kind: ResourceType<T>,
  object: T,
  finalizers: readonly string[],
  context: Context,
): Promise<T> => {
  const { name, resourceVersion } = object.metadata
  return client
    .of(kind)
    .patch(name, namespaceOf(object), { metadata: { resourceVersion, finalizers } }, 'merge', context)
}
