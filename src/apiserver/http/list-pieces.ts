// A long list as pieces of its response. Each piece is encoded when the client can take it, so that a large list does
// not block the event loop.
import type { WirePieces } from '../../platform/http/listener.ts'
import type { ListResponse } from '../request/response.ts'
import { itemsJson, joinedItems, listEnd, listStart } from './encode-json.ts'

/** Shorter lists are encoded in one piece. */
export const streamedItemsMin = 500
const itemsPerPiece = 100

export function listPieces(response: ListResponse): WirePieces {
  const { items } = response
  let next = 0
  return {
    isLong: true,
    listen: (wake) => wake(),
    take() {
      if (next > items.length) return undefined
      const end = Math.min(next + itemsPerPiece, items.length)
      const isLast = end === items.length
      const piece = joinedItems(
        next === 0 ? listStart(response) : nothing,
        itemsJson(response.objectKind, items.slice(next, end)),
        isLast ? listEnd : nothing,
        next > 0,
      )
      next = isLast ? items.length + 1 : end
      return [piece]
    },
    close: () => void (next = items.length + 1),
  }
}

const nothing = new Uint8Array(0)
