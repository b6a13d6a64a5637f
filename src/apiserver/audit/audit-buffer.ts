// AuditBuffer: the audit events that wait for their backend, as lines. Clients choose the size of events, also before they are
// authenticated, so the number of characters is bounded as well.

/** Of all waiting events. */
export const auditBufferCharsMax = 32 << 20

export class AuditBuffer {
  readonly #eventsMax: number
  readonly #charsMax: number
  #lines: string[] = []
  #chars = 0

  constructor(eventsMax: number, charsMax: number = auditBufferCharsMax) {
    this.#eventsMax = eventsMax
    this.#charsMax = charsMax
  }

  get size(): number {
    return this.#lines.length
  }

  /** Whether there is space for another event. One event always fits into an empty buffer. */
  get isFull(): boolean {
    return this.#lines.length >= this.#eventsMax || this.#chars >= this.#charsMax
  }

  /** Returns false where the line does not fit. */
  push(line: string): boolean {
    if (this.isFull || (this.#chars > 0 && this.#chars + line.length > this.#charsMax)) return false
    this.#lines.push(line)
    this.#chars += line.length
    return true
  }

  /** Removes up to this many lines with up to this many characters, at least one of them. */
  take(linesMax = Infinity, charsMax = Infinity): string[] {
    let count = 0
    let chars = 0
    for (const line of this.#lines) {
      if (count >= linesMax || (count > 0 && chars + line.length > charsMax)) break
      chars += line.length
      count++
    }
    this.#chars -= chars
    return this.#lines.splice(0, count)
  }
}
