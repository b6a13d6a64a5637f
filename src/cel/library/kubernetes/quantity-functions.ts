// Quantities: amounts with a suffix, compared and added exactly.
import { quantityNanos } from '../../../schema/scalar/quantity.ts'
import { global, member, type Functions, type Overload } from '../../environment/function.ts'
import { boolType, doubleType, intType, opaque, stringType } from '../../types/cel-type.ts'
import { EvalError } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'

export const quantityType = opaque('kubernetes.Quantity')
const nanosPerUnit = 1_000_000_000n
const intMin = -(1n << 63n)
const intMax = (1n << 63n) - 1n

export class Quantity extends Opaque {
  readonly type = quantityType
  readonly nanos: bigint

  constructor(nanos: bigint) {
    super()
    this.nanos = nanos
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nanos === this.nanos
  }

  get isInteger(): boolean {
    const units = this.nanos / nanosPerUnit
    return this.nanos % nanosPerUnit === 0n && units >= intMin && units <= intMax
  }
}

function quantity(text: string): Quantity {
  const nanos = quantityNanos(text)
  if (nanos === undefined)
    throw new EvalError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
  return new Quantity(nanos)
}

const sign = (value: bigint): bigint => (value > 0n ? 1n : value < 0n ? -1n : 0n)
const two = [quantityType, quantityType] as const

const arithmetic = (name: string, operate: (a: bigint, b: bigint) => bigint): Overload[] => [
  member(`quantity_${name}`, two, quantityType, (a: Quantity, b: Quantity) => new Quantity(operate(a.nanos, b.nanos))),
  member(
    `quantity_${name}_int`,
    [quantityType, intType],
    quantityType,
    (a: Quantity, b: bigint) => new Quantity(operate(a.nanos, b * nanosPerUnit)),
  ),
]

export const quantityFunctions: Functions = {
  quantity: [global('string_to_quantity', [stringType], quantityType, quantity)],
  isQuantity: [
    global('is_quantity_string', [stringType], boolType, (text: string) => quantityNanos(text) !== undefined),
  ],
  sign: [global('quantity_sign', [quantityType], intType, ({ nanos }: Quantity) => sign(nanos))],
  isInteger: [member('quantity_is_integer', [quantityType], boolType, ({ isInteger }: Quantity) => isInteger)],
  asInteger: [
    member('quantity_get_int', [quantityType], intType, ({ nanos, isInteger }: Quantity) => {
      if (!isInteger) throw new EvalError('cannot convert value to integer')
      return nanos / nanosPerUnit
    }),
  ],
  asApproximateFloat: [
    member('quantity_get_float', [quantityType], doubleType, ({ nanos }: Quantity) => Number(nanos) / 1e9),
  ],
  isGreaterThan: [member('quantity_is_greater_than', two, boolType, (a: Quantity, b: Quantity) => a.nanos > b.nanos)],
  isLessThan: [member('quantity_is_less_than', two, boolType, (a: Quantity, b: Quantity) => a.nanos < b.nanos)],
  compareTo: [member('quantity_compare_to', two, intType, (a: Quantity, b: Quantity) => sign(a.nanos - b.nanos))],
  add: arithmetic('add', (a, b) => a + b),
  sub: arithmetic('sub', (a, b) => a - b),
}
