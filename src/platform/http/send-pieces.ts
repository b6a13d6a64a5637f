// Writes the pieces of an answer as they come and as the client takes them.
import type { TimeSlicedWork } from '../../base/work/time-sliced-work.ts'
import type { WirePieces } from './listener.ts'

/** What the sender of pieces must hear of its connection. */
export interface PieceSender {
  drained(): void
  /** The client is gone. */
  closed(): void
}

/** `write` tells whether the client takes more; `over` is called once, at the end of the pieces or of the client. */
export function sendPieces(
  pieces: WirePieces,
  write: (batch: readonly Uint8Array[]) => boolean,
  turns: TimeSlicedWork,
  onDone: () => void,
): PieceSender {
  let [isBehind, isPlanned, isOver] = [false, false, false]
  const end = () => {
    if (isOver) return
    isOver = true
    pieces.close()
    onDone()
  }
  const flush = () => {
    isPlanned = false
    if (isBehind || isOver) return
    const batch = pieces.take()
    if (batch === undefined) return end()
    if (batch.length === 0) return
    isBehind = !write(batch)
    // There may be more: others have their turn before it.
    plan()
  }
  const plan = () => {
    if (isPlanned || isBehind || isOver) return
    isPlanned = true
    turns.schedule(flush)
  }
  pieces.listen(plan)
  return {
    drained() {
      isBehind = false
      plan()
    },
    closed: end,
  }
}
