// Face: the version of a kind that a request speaks. Objects are kept in one version; another version converts here,
// at the edge: what is sent becomes the kept form, what is kept is shown in the asked one.
import { RecentMap } from '../../base/recent-map.ts'
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import type { WatchEvent } from '../answer.ts'
import { Draft, Stored } from '../stored.ts'

export interface Face {
  readonly kind: Kind
  toStored(object: ApiObject): ApiObject
  shown(stored: Stored): Stored
}

/** The face of the version that is kept. */
export const plainFace = (kind: Kind): Face => ({ kind, toStored: (object) => object, shown: (stored) => stored })

/** Watchers of a version are told of it soon after each other; kept for as long as the object, it would be there twice. */
const convertedMax = 64

export function convertingFace(kind: Kind, conversion: NonNullable<Kind['storedAs']>): Face {
  const converted = new RecentMap<Stored, Stored>(convertedMax)
  return {
    kind,
    toStored: (object) => conversion.toStored(object),
    shown(stored) {
      const known = converted.get(stored)
      if (known !== undefined) return known
      const fresh = new Stored(new Draft(conversion.fromStored(stored.object)), stored.revision)
      converted.set(stored, fresh)
      return fresh
    },
  }
}

export const shownEvent = (event: WatchEvent, face: Face): WatchEvent =>
  'stored' in event ? { ...event, stored: face.shown(event.stored) } : event
