// A long list as pieces of its answer: it is written while it is read, and others have their turn in between.
import type { WirePieces } from '../platform/listener.ts'
import type { ListAnswer } from './answer.ts'
import { joinedItems, listEnd, listHead } from './encode.ts'

/** Shorter lists are written as one. */
export const listPiecesFrom = 500
const itemsPerPiece = 100

export function listPieces(answer: ListAnswer): WirePieces {
  const { items } = answer
  let next = 0
  return {
    isLong: true,
    listen: (wake) => wake(),
    take() {
      if (next > items.length) return undefined
      const end = Math.min(next + itemsPerPiece, items.length)
      const isLast = end === items.length
      const piece = joinedItems(
        next === 0 ? listHead(answer) : nothing,
        items.slice(next, end),
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
