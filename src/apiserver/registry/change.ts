// change: one object becomes another, again from its newest version when someone was faster. It may change what ordinary
// updates may not, so it is committed without their rules.
import { objectKey, type ApiObject } from '../../api/object.ts'
import { modifiedConflict, notFound } from '../../api/status-error.ts'
import type { Stored } from '../stored.ts'
import { commitWrite, readStored, type ResourceParts, type ResourceRequest } from './parts.ts'

const changeTries = 16

/** `become` may run several times; an object that it returns as it was is not written. */
export async function change(
  parts: ResourceParts,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { signal, cause }: ResourceRequest['context'],
  become: (current: ApiObject) => ApiObject,
): Promise<Stored> {
  let current = parts.cache.get(objectKey(namespace, name))
  for (let tries = 1; ; tries++) {
    if (current === undefined || tries > 1) current = await readStored(parts, namespace, name, signal)
    if (current === undefined) throw notFound(parts.kind, name)
    const object = become(current.object)
    if (object === current.object) return current
    const stored = await commitWrite(parts, { operation: 'put', object, expected: current.revision }, cause, signal)
    if (stored !== undefined) return stored
    if (tries === changeTries) throw modifiedConflict(parts.kind, name)
  }
}
