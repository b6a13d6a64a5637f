// Selection by labels and fields in the version of the request. The cache has objects of a custom kind as they are stored;
// their labels and fields are those of the converted object.
import type { Channel } from '../../../base/async/channel.ts'
import { settleMaybe, thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Context } from '../../../base/observability/context.ts'
import type { StorageCodec } from '../../storage/storage-codec.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import type { Selection } from '../../watch-cache/selection.ts'
import { WatchInterrupted, type WatchEvent } from '../../watch-cache/watch-event.ts'

/** As many objects are converted together before it is known whether the page is full. */
const objectsAtOnce = 500

export interface SelectedPage {
  readonly items: readonly StoredObject[]
  /** The key of the first object that did not fit; empty where all did. */
  readonly nextStart: string
}

/** The objects that the selection matches, at most `limit` unless it is 0. */
export async function selectConverted(
  codec: StorageCodec,
  entries: readonly (readonly [key: string, stored: StoredObject])[],
  selection: Selection,
  limit: number,
  context: Context,
): Promise<SelectedPage> {
  const items: StoredObject[] = []
  for (let start = 0; start < entries.length; start += objectsAtOnce) {
    const chunk = entries.slice(start, start + objectsAtOnce)
    const shown = await codec.fromStorage(
      chunk.map(([, stored]) => stored),
      context,
    )
    for (const [index, [key, stored]] of chunk.entries()) {
      const each = shown[index] ?? stored
      if (!selection.matches(each.object)) continue
      if (limit > 0 && items.length === limit) return { items, nextStart: key }
      items.push(each)
    }
  }
  return { items, nextStart: '' }
}

/** The events of converted objects that the selection matches. An object that starts or stops matching is added or deleted. */
export const watchConverted = (
  events: Channel<WatchEvent>,
  codec: StorageCodec,
  selection: Selection,
  context: Context,
): Channel<WatchEvent> =>
  mapConverted(events, (event) => {
    const { stored, before } = event
    return thenMaybe(
      codec.fromStorage(before === undefined ? [stored] : [stored, before], context),
      ([now = stored, old]) => selectedEvent(event, now, old, selection),
    )
  })

type ObjectEvent = Extract<WatchEvent, { readonly stored: StoredObject }>

/** The events with converted objects. A conversion that fails interrupts the watch. */
export const mapConverted = (
  events: Channel<WatchEvent>,
  converted: (event: ObjectEvent) => MaybePromise<WatchEvent | undefined>,
): Channel<WatchEvent> =>
  events.map((event) =>
    'stored' in event
      ? settleMaybe(
          () => converted(event),
          (shown) => shown,
          (cause) => {
            throw new WatchInterrupted('the conversion of an object failed', { cause })
          },
        )
      : event,
  )

function selectedEvent(
  { before: _, ...event }: ObjectEvent,
  stored: StoredObject,
  before: StoredObject | undefined,
  selection: Selection,
): WatchEvent | undefined {
  const matches = selection.matches(stored.object)
  if (event.type !== 'MODIFIED') return matches ? { ...event, stored } : undefined
  const matched = before !== undefined && selection.matches(before.object)
  if (matches) return { ...event, type: matched ? 'MODIFIED' : 'ADDED', stored }
  return matched ? { ...event, type: 'DELETED', stored: before.atRevision(stored.revision) } : undefined
}
