// Events that happen all the time and change nothing that users look for: bookmarks, leases, Event objects, reads, and reviews of
// permissions. A diagram of everything omits them.
import type { FlowObject } from './flow-recorder.ts'

export const backgroundKinds = ['bookmarks', 'leases', 'event objects', 'reads', 'reviews'] as const
export type BackgroundKind = (typeof backgroundKinds)[number]

/** Resources whose objects are only asked about. */
const reviews = new Set([
  'localsubjectaccessreviews',
  'selfsubjectaccessreviews',
  'selfsubjectreviews',
  'selfsubjectrulesreviews',
  'subjectaccessreviews',
  'tokenreviews',
])

export const isRead = (what: string): boolean => /^(get|list|watch) /.test(what)

export const isBackground = (what: string, object: FlowObject | undefined): boolean =>
  backgroundKindOf(what, object) !== undefined

/** Undefined for an event that is not background. */
export function backgroundKindOf(what: string, object: FlowObject | undefined): BackgroundKind | undefined {
  if (what === 'BOOKMARK') return 'bookmarks'
  if (isRead(what)) return 'reads'
  if (object === undefined) return undefined
  if (object.resource === 'leases') return 'leases'
  if (object.resource === 'events') return 'event objects'
  return reviews.has(object.resource) ? 'reviews' : undefined
}
