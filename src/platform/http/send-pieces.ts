// Sends the pieces of a response as they become available and as the client receives them.
import type { TimeSlicedWork } from '../../base/work/time-sliced-work.ts'
import type { WirePieces } from './listener.ts'

/** Must be notified of the events of its connection. */
export interface PieceSender {
  drained(): void
  /** The client has disconnected. */
  closed(): void
}

/** `write` returns false when the client is behind. `onDone` is called once, when pieces or connection have ended. */
export function sendPieces(
  pieces: WirePieces,
  write: (batch: readonly Uint8Array[]) => boolean,
  turns: TimeSlicedWork,
  onDone: () => void,
): PieceSender {
  let isBehind = false
  let isPlanned = false
  let isOver = false
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
    // There may be more, but other connections get their turn first.
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
