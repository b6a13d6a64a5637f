// MemoryLog: the output of a simulated container in CRI's format, bounded to its last part.
import type { LogFile } from './log-files.ts'

/** Maximum size of a container's log. */
const logBytesMax = 64 * 1024

export class MemoryLog {
  readonly #lines: Uint8Array[] = []
  // Created with the first listener, because most containers of large simulations have none.
  #listeners: Set<() => void> | undefined
  #lineListeners: Set<(line: string) => void> | undefined
  #start = 0
  #end = 0

  /** Appends a line that was printed at `atMs`. */
  append(line: string, atMs: number, stream: 'stdout' | 'stderr' = 'stdout'): void {
    const bytes = new TextEncoder().encode(`${new Date(atMs).toISOString()} ${stream} F ${line}\n`)
    this.#lines.push(bytes)
    this.#end += bytes.length
    while (this.#end - this.#start > logBytesMax) this.#start += this.#lines.shift()?.length ?? 0
    for (const listener of [...(this.#lineListeners ?? [])]) listener(line)
    this.notify()
  }

  /** Calls the listener with each new line; returns a function that removes it. */
  onLine(listener: (line: string) => void): () => void {
    const listeners = (this.#lineListeners ??= new Set())
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Notifies readers that the log has grown or its writer has exited. */
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
          const changed = Promise.withResolvers<void>()
          resolve = changed.resolve
          signal.addEventListener('abort', resolve, { once: true })
          await changed.promise
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

  /** A reader before the beginning of the available part continues at that part. */
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
