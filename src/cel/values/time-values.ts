// Timestamp and Duration: exact to the nanosecond, with upstream's ranges and text forms.
import { withoutTrailing } from '../../base/text/without-trailing.ts'
import { parseDuration } from '../../schema/scalar/duration.ts'
import { EvalError } from './eval-error.ts'

const nanosPerMilli = 1_000_000n
export const nanosPerSecond = 1_000_000_000n
const secondsMin = -62_135_596_800n
const secondsMax = 253_402_300_799n
const int64Min = -(1n << 63n)
const int64Max = (1n << 63n) - 1n

const timestampPattern = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/

export class Timestamp {
  /** Since 1970. */
  readonly nanos: bigint

  constructor(nanos: bigint) {
    const seconds = floorDivide(nanos, nanosPerSecond)
    if (seconds < secondsMin || seconds > secondsMax) throw new EvalError('timestamp overflow')
    this.nanos = nanos
  }

  static parse(text: string): Timestamp {
    const match = timestampPattern.exec(text)
    const [, date = '', time = '', fraction = '', zone = ''] = match ?? []
    const ms = match === null ? Number.NaN : Date.parse(`${date}T${time}${zone.toUpperCase()}`)
    if (Number.isNaN(ms) || !isRealDate(date))
      throw new EvalError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    return new Timestamp(BigInt(ms) * nanosPerMilli + BigInt(fraction.padEnd(9, '0') || 0))
  }

  /** Seconds, rounded down. */
  get seconds(): bigint {
    return floorDivide(this.nanos, nanosPerSecond)
  }

  get milliseconds(): number {
    return Number(floorDivide(this.nanos, nanosPerMilli))
  }

  toString(): string {
    const base = new Date(Number(this.seconds) * 1000).toISOString().slice(0, 19)
    const fraction = this.nanos - this.seconds * nanosPerSecond
    const digits = fraction === 0n ? '' : `.${fractionDigits(fraction)}`
    return `${base}${digits}Z`
  }
}

/** JavaScript accepts the 30th of February as a date in March; here it is invalid. */
const isRealDate = (date: string): boolean => new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)

export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    if (nanos < int64Min || nanos > int64Max) throw new EvalError('integer overflow')
    this.nanos = nanos
  }

  /** Go's form: `1h30m`, `-1.5s`. */
  static parse(text: string): Duration {
    const parsed = parseDuration(text)
    if (parsed.kind === 'fault')
      throw new EvalError("type conversion error from 'string' to 'google.protobuf.Duration'")
    return new Duration(parsed.nanos)
  }

  /** In seconds: `5400s`, `-1.5s`. */
  toString(): string {
    const size = this.nanos < 0n ? -this.nanos : this.nanos
    const fraction = size % nanosPerSecond
    const digits = fraction === 0n ? '' : `.${fractionDigits(fraction)}`
    return `${this.nanos < 0n ? '-' : ''}${size / nanosPerSecond}${digits}s`
  }
}

/** The digits of a number of nanoseconds below one second, without trailing zeros. */
const fractionDigits = (nanos: bigint): string => withoutTrailing(String(nanos).padStart(9, '0'), '0')

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value % by < 0n ? quotient - 1n : quotient
}
