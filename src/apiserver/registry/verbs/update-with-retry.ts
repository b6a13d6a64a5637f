// updateWithRetry: a modification of an object, repeated from the newest version when another writer was faster. It is
// committed without the rules of ordinary updates, because it may change what these may not.
import type { ApiObject } from '../../../api/meta/object.ts'
import { modifiedConflict, notFound } from '../../../api/errors/status-error.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import { readCached, readStored, type ResourceDeps } from '../resource/resource-deps.ts'
import type { ResourceRequest } from '../../request/request.ts'
import { commitWrite } from './commit.ts'
import { canBeRemoved } from './deletion.ts'

const changeTries = 16

/** `modify` may run several times. Where it returns the same object, nothing is written. */
export async function updateWithRetry(
  deps: ResourceDeps,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  context: ResourceRequest['context'],
  modify: (current: ApiObject) => ApiObject,
): Promise<StoredObject> {
  const { signal, cause } = context
  let current = await readCached(deps, namespace, name, context)
  for (let tries = 1; ; tries++) {
    if (current === undefined || tries > 1) current = await readStored(deps, namespace, name, context)
    if (current === undefined) throw notFound(deps.kind, name)
    const object = modify(current.object)
    if (object === current.object) return current
    const operation = canBeRemoved(deps, object) ? 'delete' : 'put'
    const stored = await commitWrite(deps, { operation, object, expected: current.revision }, cause, signal)
    if (stored !== undefined) return stored
    if (tries === changeTries) throw modifiedConflict(deps.kind, name)
  }
}
