// Frames of watches: a change goes to all its watchers within moments, so the bytes that carry it are made once and kept
// for a while. They are not kept with the version itself: most versions are never watched again.
import type { Stored } from './stored.ts'

/** Frames of the latest versions; the oldest goes when a new one comes. */
const framesMax = 512
/** A larger frame is made anew for each watcher. */
const frameBytesMax = 64 << 10

const frames = new Map<Stored, Map<string, Uint8Array>>()

/** The frame of a version in a form and with a type of change, made when it is not there. */
export function frameOf(stored: Stored, form: string, make: () => Uint8Array): Uint8Array {
  const known = frames.get(stored) ?? new Map<string, Uint8Array>()
  const frame = known.get(form) ?? make()
  if (frame.length > frameBytesMax) return frame
  if (known.size === 0) {
    const [oldest] = frames.keys()
    if (frames.size >= framesMax && oldest !== undefined) frames.delete(oldest)
    frames.set(stored, known)
  }
  known.set(form, frame)
  return frame
}
