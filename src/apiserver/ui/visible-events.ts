// visibleEvents: the flow events that a user may see: those about objects that the user may get, and about collections
// that the user may list. A connection of a simulated pod also needs access to its pods, because it names them. Users who may read the whole record see all events, with the rules that allowed the calls.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { FlowEvent, FlowObject } from '../../base/observability/flow-recorder.ts'
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { resourceAttributes, type AccessAttributes } from '../authorization/attributes.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { Policies } from '../filters/policies.ts'
import type { User } from '../request/request.ts'
import { keyPrefix } from '../storage/store-keys.ts'

export interface VisibilityDeps {
  readonly catalogue: Pick<KindCatalogue, 'kinds'>
  readonly authorize: Policies['authorize']
}

/** Permissions are read again with each call, so a change takes effect with the next events. */
export async function visibleEvents(
  events: readonly FlowEvent[],
  user: User,
  { catalogue, authorize }: VisibilityDeps,
  signal: AbortSignal,
): Promise<readonly FlowEvent[]> {
  const isAllowed = async (attributes: AccessAttributes) => (await authorize(attributes, signal)).kind === 'allowed'
  if (events.length === 0) return events
  if (await isAllowed({ kind: 'path', user, verb: 'get', path: flowEventsPath })) return events
  const decisions = new Map<string, Promise<boolean>>()
  const shown: FlowEvent[] = []
  const isReadable = (object: FlowObject): Promise<boolean> => {
    const key = JSON.stringify([object.resource, object.namespace, object.name])
    return getOrInsert(decisions, key, () => mayRead(object, user, catalogue.kinds, isAllowed))
  }
  for (const event of events) {
    const { deniedTo: _, ...shared } = event
    if (await areReadable(objectsOf(event), isReadable)) shown.push({ ...shared, allowedBy: undefined })
  }
  return shown
}

async function areReadable(
  objects: readonly FlowObject[],
  isReadable: (object: FlowObject) => Promise<boolean>,
): Promise<boolean> {
  for (const object of objects) if (!(await isReadable(object))) return false
  return objects.length > 0
}

const podPrefix = 'pod/'

/** The object of an event, and the pods that it names as participants; none if it has no object. */
function objectsOf({ object, from, to }: FlowEvent): readonly FlowObject[] {
  if (object === undefined) return []
  if (!from.startsWith(podPrefix) && !to.startsWith(podPrefix)) return [object]
  const pods = [from, to].flatMap((participant): FlowObject[] => {
    if (!participant.startsWith(podPrefix)) return []
    const [namespace = '', name = ''] = participant.slice(podPrefix.length).split('/', 2)
    return [{ resource: 'pods', namespace, name }]
  })
  return [object, ...pods]
}

/**
 * An event names a resource without its group. Where several kinds have that name, the user must have access to all of
 * them. Kinds whose objects are the same, such as those of events, count as one.
 */
async function mayRead(
  { resource, namespace, name }: FlowObject,
  user: User,
  kinds: readonly Kind[],
  isAllowed: (attributes: AccessAttributes) => Promise<boolean>,
): Promise<boolean> {
  const named = kinds.filter((kind) => kind.plural === resource && kind.computed === undefined)
  const stored = Map.groupBy(named, keyPrefix)
  if (stored.size === 0) return false
  // The name of an object that is being created may end with `*`.
  const access = name === '' || name.endsWith('*') ? { verb: 'list', name: '' } : { verb: 'get', name }
  const scope = resource === 'namespaces' ? access.name : namespace
  for (const versions of stored.values()) {
    let isReadable = false
    for (const { group, version } of versions) {
      const attributes = { group, version, resource, namespace: scope, name: access.name }
      isReadable ||= await isAllowed(resourceAttributes(user, access.verb, attributes))
    }
    if (!isReadable) return false
  }
  return true
}
