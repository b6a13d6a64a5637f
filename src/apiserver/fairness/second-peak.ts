// SecondPeak: the largest value that a number had in the last second.

export class SecondPeak {
  #value = 0
  /** The second of the last change or read, and the largest value in it. */
  #second = 0
  #peak = 0
  /** The largest value of the second before. */
  #peakBefore = 0

  add(change: number, nowMs: number): void {
    this.#roll(nowMs)
    this.#value += change
    if (this.#value > this.#peak) this.#peak = this.#value
  }

  /** The largest value of the last complete second. */
  read(nowMs: number): number {
    this.#roll(nowMs)
    return this.#peakBefore
  }

  #roll(nowMs: number): void {
    const second = Math.floor(nowMs / 1000)
    if (second === this.#second) return
    this.#peakBefore = second === this.#second + 1 ? this.#peak : this.#value
    this.#second = second
    this.#peak = this.#value
  }
}
