// The types whose values have an order, with their names in the overloads of list functions.
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  stringType,
  timestampType,
  uintType,
  type CelType,
} from '../../types/cel-type.ts'

export const comparableTypes: readonly (readonly [name: string, type: CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
]
