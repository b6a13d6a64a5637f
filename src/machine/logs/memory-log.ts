// MemoryLog: what one simulated container printed, in the format of CRI, of which the last part is kept.
import type { LogFile } from './log-files.ts'

/** What is kept of each container's output. */
const logBytesMax = 64 * 1024

export class MemoryLog {
  readonly #lines: Uint8Array[] = []
  // Made when somebody listens: nobody does to most containers of large simulations.
  #listeners: Set<() => void> | undefined
  #lineListeners: Set<(line: string) => void> | undefined
  #start = 0
  #end = 0

  /** Takes one line of output that was printed at a time. */
  append(line: string, atMs: number, stream: 'stdout' | 'stderr' = 'stdout'): void {
    const bytes = new TextEncoder().encode(`${new Date(atMs).toISOString()} ${stream} F ${line}\n`)
    this.#lines.push(bytes)
    this.#end += bytes.length
    while (this.#end - this.#start > logBytesMax) this.#start += this.#lines.shift()?.length ?? 0
    for (const listener of [...(this.#lineListeners ?? [])]) listener(line)
    this.notify()
  }

  /** Calls back with each line that is printed from now on; the returned function ends it. */
  onLine(listener: (line: string) => void): () => void {
    const listeners = (this.#lineListeners ??= new Set())
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Tells readers to look again: it grew, or its writer ended. */
  notify(): void {
    for (const listener of [...(this.#listeners ?? [])]) listener()
  }

  open(): LogFile {
    let hasChanged = true
    let resolve = () => {}
    const listener = () => {
      hasChanged = true
      resolve()
    }
    const listeners = (this.#listeners ??= new Set())
    listeners.add(listener)
    return {
      range: () => Promise.resolve({ start: this.#start, end: this.#end }),
      read: (at, bytesMax) => Promise.resolve(this.#read(at, bytesMax)),
      isReplaced: () => Promise.resolve(false),
      waitForChange: async (signal) => {
        if (!hasChanged) {
          const woken = Promise.withResolvers<void>()
          resolve = woken.resolve
          signal.addEventListener('abort', resolve, { once: true })
          await woken.promise
          signal.removeEventListener('abort', resolve)
        }
        signal.throwIfAborted()
        hasChanged = false
      },
      [Symbol.asyncDispose]: () => {
        listeners.delete(listener)
        return Promise.resolve()
      },
    }
  }

  /** A reader that stands before the part that is kept gets that part's beginning. */
  #read(at: number, bytesMax: number): Uint8Array {
    let lineStart = this.#start
    for (const line of this.#lines) {
      const lineEnd = lineStart + line.length
      if (at < lineEnd) return line.subarray(Math.max(0, at - lineStart)).subarray(0, bytesMax)
      lineStart = lineEnd
    }
    return new Uint8Array()
  }
}
