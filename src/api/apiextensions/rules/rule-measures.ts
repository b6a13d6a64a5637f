// RuleMeasures: how long rules of custom resources take.

export interface RuleMeasures {
  /** The time in milliseconds. */
  now(): number
  compiled(ms: number): void
  /** The rules of one value, without the time in which they were compiled. */
  evaluated(ms: number): void
}
