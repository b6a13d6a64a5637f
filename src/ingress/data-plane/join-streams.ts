// Forwards the bytes of two streams to each other until both directions have ended, or no bytes were sent for a while.
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'

export interface JoinStreamsDeps {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>
  /** How long both directions may be silent. */
  readonly idleMsMax: number
}

/** Resolves when both directions have ended. */
export async function joinStreams(
  client: ByteStream,
  endpoint: ByteStream,
  { clock, idleMsMax }: JoinStreamsDeps,
): Promise<void> {
  let lastMs = clock.monotonicMs()
  const check = () => {
    const leftMs = lastMs + idleMsMax - clock.monotonicMs()
    if (leftMs > 0) return clock.after(leftMs, recheck)
    client.destroy()
    endpoint.destroy()
    return undefined
  }
  const recheck = () => void (timer = check())
  let timer = check()
  const copy = async (from: ByteStream, to: ByteStream) => {
    try {
      for await (const piece of from.pieces) {
        lastMs = clock.monotonicMs()
        await to.write(piece)
      }
      to.end()
    } catch {
      from.destroy()
      to.destroy()
    }
  }
  await Promise.all([copy(client, endpoint), copy(endpoint, client)])
  timer?.cancel()
}
