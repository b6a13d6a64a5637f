// A long list as pieces of its response. Each piece is encoded when the client can take it, so that a large list neither
// blocks the event loop nor fills the memory.
import type { WirePieces } from '../../platform/http/listener.ts'
import type { ListResponse } from '../request/response.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { itemJson, joinedItems, listEnd, listStart } from './encode-json.ts'

const pieceBytesMax = 128 << 10
/** The pieces grow as the client takes them, because one that takes nothing keeps the first in memory. */
const firstPieceBytes = 16 << 10

/** Whether the items take less than one piece. */
export function isShortList({ objectKind, items }: ListResponse): boolean {
  let bytes = 0
  return items.every((item) => (bytes += itemJson(objectKind, item).length) <= pieceBytesMax)
}

export function listPieces(response: ListResponse): WirePieces {
  const { items, objectKind } = response
  let next = 0
  let pieceBytes = firstPieceBytes
  return {
    isLong: true,
    listen: (wake) => wake(),
    take() {
      if (next > items.length) return undefined
      const from = next
      const taken: Uint8Array[] = []
      for (let bytes = 0; bytes < pieceBytes && next < items.length; next++) {
        const json = itemJson(objectKind, items[next] as StoredObject)
        bytes += json.length
        taken.push(json)
      }
      pieceBytes = Math.min(2 * pieceBytes, pieceBytesMax)
      const isLast = next === items.length
      if (isLast) next++
      return [joinedItems(from === 0 ? listStart(response) : nothing, taken, isLast ? listEnd : nothing, from > 0)]
    },
    close: () => void (next = items.length + 1),
  }
}

const nothing = new Uint8Array(0)
