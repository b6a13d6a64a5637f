// VersionConverter: converts between the version of a request and the stored version of a kind.
import { RecentMap } from '../../../base/collections/recent-map.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import type { WatchEvent } from '../../watch-cache/watch-event.ts'

export interface VersionConverter {
  readonly kind: Kind
  toStored(object: ApiObject): ApiObject
  fromStored(stored: StoredObject): StoredObject
}

/** The converter of the stored version. */
export const identityConverter = (kind: Kind): VersionConverter => ({
  kind,
  toStored: (object) => object,
  fromStored: (stored) => stored,
})

/** Converted versions are cached only for a short time, for the watchers that get them together. */
const convertedBytesMax = 2 << 20
/** A version counts as having at least so many bytes. */
const convertedBytesMin = 32 << 10

export function versionConverter(kind: Kind, conversion: NonNullable<Kind['storedAs']>): VersionConverter {
  const converted = new RecentMap<StoredObject, StoredObject>(convertedBytesMax)
  return {
    kind,
    toStored: (object) => conversion.toStored(object),
    fromStored(stored) {
      const known = converted.get(stored)
      if (known !== undefined) return known
      const fresh = StoredObject.ofObject(conversion.fromStored(stored.object), stored.revision)
      converted.set(stored, fresh, Math.max(stored.storedBytes, convertedBytesMin))
      return fresh
    },
  }
}

export const convertEvent = (event: WatchEvent, converter: VersionConverter): WatchEvent =>
  'stored' in event ? { ...event, stored: converter.fromStored(event.stored) } : event
