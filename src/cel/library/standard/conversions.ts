// Conversions between types; inexact ones are errors.
import { global, type Functions } from '../../environment/function.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  param,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from '../../types/cel-type.ts'
import { runtimeType } from '../../values/matches-type.ts'
import { doubleText } from '../../values/value-text.ts'
import { Duration, nanosPerSecond, Timestamp } from '../../values/time-values.ts'
import { type Uint, TypeValue, type Value } from '../../values/value.ts'
import { EvalError } from '../../values/eval-error.ts'
import { int, uint } from './arithmetic.ts'

const same = (value: Value): Value => value

/** A text that is not a value of the type. */
const conversionError = (type: string): EvalError => new EvalError(`type conversion error from 'string' to '${type}'`)

const whole = (value: number, message: string): bigint => {
  if (!Number.isFinite(value)) throw new EvalError(message)
  return BigInt(Math.trunc(value))
}

/** A double at the limits of the range is not an exact integer: upstream rejects those. */
function intOfDouble(value: number): bigint {
  if (value >= 2 ** 63 || value <= -(2 ** 63)) throw new EvalError('integer overflow')
  return int(whole(value, 'integer overflow'))
}

const digitsMax = 20
const outOfRange = 1n << 64n

function integerOf(text: string, type: 'int' | 'uint'): bigint {
  if (!(type === 'int' ? /^[+-]?\d+$/ : /^\d+$/).test(text)) throw conversionError(type)
  const digits = text.replace(/^[+-]?0*/, '')
  // Longer numbers are out of every range, and converting them would take long.
  if (digits.length > digitsMax) return text.startsWith('-') ? -outOfRange : outOfRange
  return BigInt(text.replace(/^\+/, ''))
}

function doubleOf(text: string): number {
  const isNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)
  const named = { inf: Number.POSITIVE_INFINITY, infinity: Number.POSITIVE_INFINITY, nan: Number.NaN }
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(text)
  if (word !== null) {
    const value = named[(word[2] ?? '').toLowerCase() as keyof typeof named]
    return word[1] === '-' ? -value : value
  }
  if (!isNumber) throw conversionError('double')
  return Number(text)
}

const truths = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const untruths = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

function boolOf(text: string): boolean {
  if (truths.has(text)) return true
  if (untruths.has(text)) return false
  throw conversionError('bool')
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new EvalError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

export const conversionFunctions: Functions = {
  int: [
    global('int64_to_int64', [intType], intType, same),
    global('uint64_to_int64', [uintType], intType, ({ value }: Uint) => int(value)),
    global('double_to_int64', [doubleType], intType, intOfDouble),
    global('string_to_int64', [stringType], intType, (text: string) => int(integerOf(text, 'int'))),
    global('timestamp_to_int64', [timestampType], intType, ({ seconds }: Timestamp) => seconds),
    global('duration_to_int64', [durationType], intType, ({ nanos }: Duration) => nanos),
  ],
  uint: [
    global('uint64_to_uint64', [uintType], uintType, same),
    global('int64_to_uint64', [intType], uintType, (value: bigint) => uint(value)),
    global('double_to_uint64', [doubleType], uintType, (value: number) => {
      if (value < 0) throw new EvalError('unsigned integer overflow')
      return uint(whole(value, 'unsigned integer overflow'))
    }),
    global('string_to_uint64', [stringType], uintType, (text: string) => uint(integerOf(text, 'uint'))),
  ],
  double: [
    global('double_to_double', [doubleType], doubleType, same),
    global('int64_to_double', [intType], doubleType, Number),
    global('uint64_to_double', [uintType], doubleType, ({ value }: Uint) => Number(value)),
    global('string_to_double', [stringType], doubleType, doubleOf),
  ],
  string: [
    global('string_to_string', [stringType], stringType, same),
    global('bool_to_string', [boolType], stringType, String),
    global('bytes_to_string', [bytesType], stringType, textOf),
    global('double_to_string', [doubleType], stringType, doubleText),
    global('int64_to_string', [intType], stringType, String),
    global('uint64_to_string', [uintType], stringType, ({ value }: Uint) => String(value)),
    global('timestamp_to_string', [timestampType], stringType, String),
    global('duration_to_string', [durationType], stringType, String),
  ],
  bytes: [
    global('bytes_to_bytes', [bytesType], bytesType, same),
    global('string_to_bytes', [stringType], bytesType, (text: string) => new TextEncoder().encode(text)),
  ],
  bool: [global('bool_to_bool', [boolType], boolType, same), global('string_to_bool', [stringType], boolType, boolOf)],
  timestamp: [
    global('timestamp_to_timestamp', [timestampType], timestampType, same),
    global(
      'int64_to_timestamp',
      [intType],
      timestampType,
      (seconds: bigint) => new Timestamp(seconds * nanosPerSecond),
    ),
    global('string_to_timestamp', [stringType], timestampType, (text: string) => Timestamp.parse(text)),
  ],
  duration: [
    global('duration_to_duration', [durationType], durationType, same),
    global('int64_to_duration', [intType], durationType, (nanos: bigint) => new Duration(nanos)),
    global('string_to_duration', [stringType], durationType, (text: string) => Duration.parse(text)),
  ],
  dyn: [global('to_dyn', [param('A')], dynType, same)],
  type: [global('type', [param('A')], typeOf(param('A')), (value: Value) => new TypeValue(runtimeType(value)))],
}
