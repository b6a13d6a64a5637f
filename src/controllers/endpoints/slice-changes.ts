// sliceChanges: distributes the desired endpoints over the existing EndpointSlices of one owner with few writes.
import { append } from '../../base/collections/append.ts'
import { endpointSlice, type EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Endpoint, EndpointPort } from '../../api/discovery/v1/endpoint.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { Change } from '../runtime/controller.ts'
import { triggerTimeAnnotation } from '../../api/discovery/v1/endpoint-slice-labels.ts'

/** The size of a slice. */
export const endpointsPerSliceDefault = 100

/** Endpoints with the same ports and address type. */
export interface EndpointGroup {
  readonly addressType: EndpointSlice['addressType']
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

export interface SliceMetadata {
  readonly generateName: string
  readonly labels: Readonly<Record<string, string>>
  /** The annotations of the slices. Left out, the existing ones are kept. */
  readonly annotations?: Readonly<Record<string, string>>
  /** The size of a slice, where it is not the usual one. */
  readonly endpointsPerSliceMax?: number
  /** The trigger time. It is written along with other changes, and does not cause a write. */
  readonly trigger?: string | undefined
}

export function sliceChanges(
  existing: readonly EndpointSlice[],
  groups: readonly EndpointGroup[],
  desired: SliceMetadata,
): Change[] {
  const claimed = new Set<EndpointSlice>()
  const changes = groups.flatMap((group) => {
    const own = existing.filter(
      (slice) => slice.addressType === group.addressType && equalValues(slice.ports ?? [], group.ports),
    )
    for (const slice of own) claimed.add(slice)
    return groupChanges(own, group, desired)
  })
  return recycled([...changes, ...existing.filter((slice) => !claimed.has(slice)).map(remove)])
}

/** Turns a delete and a create into an update of the deleted slice, so that watchers never see a gap. */
function recycled(changes: readonly Change[]): Change[] {
  const made = changes.filter(({ kind }) => kind === 'create')
  return changes
    .map((change) => {
      const { object } = change
      if (change.kind !== 'delete') return change
      const at = made.findLastIndex((each) => addressTypeOf(each.object) === addressTypeOf(object))
      const [next] = at < 0 ? [] : made.splice(at, 1)
      return next === undefined ? change : rewritten(change.object as EndpointSlice, next.object as EndpointSlice)
    })
    .filter((change) => change.kind !== 'create' || made.includes(change))
}

const addressTypeOf = (slice: object): string => (slice as EndpointSlice).addressType

function rewritten(slice: EndpointSlice, { metadata, endpoints = [], ports = [] }: EndpointSlice): Change {
  const { annotations: _, ...kept } = slice.metadata
  const { generateName: __, ...desiredMetadata } = metadata
  const object: EndpointSlice = { ...slice, metadata: { ...kept, ...desiredMetadata }, endpoints, ports }
  return { kind: 'update', of: endpointSlice, object }
}

export const idOf = ({ targetRef, addresses }: Endpoint): string => targetRef?.uid ?? addresses.join()

/**
 * Endpoints stay in their slice. New ones go into slices that change anyway, then into others, then into new slices.
 */
function groupChanges(own: readonly EndpointSlice[], group: EndpointGroup, desired: SliceMetadata): Change[] {
  const { endpointsPerSliceMax = endpointsPerSliceDefault } = desired
  const wanted = new Map(group.endpoints.map((endpoint) => [idOf(endpoint), endpoint]))
  const kept = own.map((slice) => {
    const endpoints: Endpoint[] = []
    for (const endpoint of slice.endpoints ?? []) {
      const now = wanted.get(idOf(endpoint))
      if (now === undefined) continue
      wanted.delete(idOf(endpoint))
      endpoints.push(now)
    }
    return { slice, endpoints, isChanged: !equalValues(endpoints, slice.endpoints ?? []) }
  })
  const added = [...wanted.values()]
  for (const target of kept.toSorted(
    (a, b) => Number(b.isChanged) - Number(a.isChanged) || b.endpoints.length - a.endpoints.length,
  ))
    append(target.endpoints, added.splice(0, Math.max(0, endpointsPerSliceMax - target.endpoints.length)))
  const changes: Change[] = []
  let left = kept.length
  for (const { slice, endpoints } of kept) {
    // The last slice of a group is kept even if it is empty: it shows that the Service has been processed.
    if (endpoints.length === 0 && (left > 1 || added.length > 0)) {
      left--
      changes.push(remove(slice))
    } else append(changes, update(slice, endpoints, desired))
  }
  while (added.length > 0 || (left === 0 && changes.length === 0 && kept.length === 0)) {
    changes.push(create(group, added.splice(0, endpointsPerSliceMax), desired))
    left++
  }
  return changes
}

function update(slice: EndpointSlice, endpoints: readonly Endpoint[], desired: SliceMetadata): Change[] {
  const { labels } = desired
  const { annotations: before = {}, ...metadata } = slice.metadata
  const { [triggerTimeAnnotation]: _, ...untriggered } = before
  const annotations = desired.annotations ?? untriggered
  const next = {
    ...slice,
    metadata: { ...metadata, labels, ...annotationsOf({ ...desired, annotations }) },
    ...(endpoints.length === 0 ? { endpoints: [] } : { endpoints }),
  }
  const isSame =
    equalValues(endpoints, slice.endpoints ?? []) &&
    equalValues(labels, slice.metadata.labels) &&
    equalValues(annotations, untriggered)
  return isSame ? [] : [{ kind: 'update', of: endpointSlice, object: next }]
}

function annotationsOf({ annotations, trigger }: SliceMetadata): Pick<SliceMetadata, 'annotations'> {
  const all = { ...annotations, ...(trigger === undefined ? {} : { [triggerTimeAnnotation]: trigger }) }
  return Object.keys(all).length === 0 ? {} : { annotations: all }
}

const create = (
  { addressType, ports }: EndpointGroup,
  endpoints: readonly Endpoint[],
  desired: SliceMetadata,
): Change => ({
  kind: 'create',
  of: endpointSlice,
  object: {
    metadata: { generateName: desired.generateName, labels: desired.labels, ...annotationsOf(desired) },
    addressType,
    endpoints,
    ports,
  },
})

const remove = (object: EndpointSlice): Change => ({ kind: 'delete', of: endpointSlice, object })
