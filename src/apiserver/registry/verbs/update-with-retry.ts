// updateWithRetry: a modification of an object, repeated from the newest version when another writer was faster. It is
// committed without the rules of ordinary updates, because it may change what these may not.
import type { ApiObject } from '../../../api/meta/object.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import { readCached, type ResourceDeps } from '../resource/resource-deps.ts'
import type { ResourceRequest } from '../../request/request.ts'
import { commitWrite } from './commit.ts'
import { canBeRemoved } from './deletion.ts'
import { onNewestVersion } from './on-newest-version.ts'

/** `modify` may run several times. Where it returns the same object, nothing is written. */
export async function updateWithRetry(
  deps: ResourceDeps,
  target: { readonly namespace: string; readonly name: string },
  context: ResourceRequest['context'],
  modify: (current: ApiObject) => ApiObject,
): Promise<StoredObject> {
  const { signal, cause } = context
  const cached = await readCached(deps, target.namespace, target.name, context)
  return onNewestVersion(deps, target, cached, context, (current) => {
    const object = modify(current.object)
    if (object === current.object) return { kind: 'unchanged', result: current }
    const operation = canBeRemoved(deps, object) ? 'delete' : 'put'
    const write = { operation, object, expected: current.revision } as const
    return { kind: 'write', commit: () => commitWrite(deps, write, cause, signal) }
  })
}
