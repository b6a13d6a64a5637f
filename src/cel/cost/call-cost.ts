// The cost of a call at run time, in upstream's units; one unit is about 50 ns.
import { lookup } from '../../base/collections/lookup.ts'
import { isList, sizeOf } from '../values/equality.ts'
import type { Value } from '../values/value.ts'

export const listCost = 10
export const mapCost = 30
export const structCost = 40
export const addListCost = 1
/** The cost of traversing one character. */
export const traversalFactor = 0.1
/** The cost of one character of a pattern: a regular expression has about four characters for each element. */
export const regexFactor = 0.25
/** An expression can call the authorizer twice within its limit. */
export const authorizationCost = 350_000

/** The cost of a call with these arguments and this result. */
export type CallCost = (args: readonly Value[], result: Value) => number

const size = (value: Value | undefined): number => (value === undefined ? 1 : sizeOf(value))
const traversed = (length: number): number => Math.ceil(length * traversalFactor)

const ofFirst: CallCost = ([first]) => traversed(size(first))
const twiceFirst: CallCost = ([first]) => traversed(size(first) * 2)
const ofSmaller: CallCost = ([a, b]) => traversed(Math.min(size(a), size(b)))
const ofBoth: CallCost = ([a, b]) => traversed(size(a) + size(b))
const ofProduct: CallCost = ([a, b]) => traversed(size(a)) * traversed(size(b))
const ofPattern: CallCost = ([a, b]) => traversed(1 + size(a)) * Math.ceil(size(b) * regexFactor)
const ofResult: CallCost = (_, result) => traversed(size(result) * 2)
/** Every element, and every character of texts. */
const ofElements: CallCost = ([list]) => {
  if (list === undefined || !isList(list)) return traversed(size(list))
  return list.reduce<number>((sum, each) => sum + (typeof each === 'string' ? traversed(size(each)) : 1), 0)
}
const ofPairs: CallCost = ([a, b]) => size(a) * size(b) + 1

const byFunction: Readonly<Record<string, CallCost>> = {
  check: () => authorizationCost,
  isSorted: ofElements,
  sum: ofElements,
  max: ofElements,
  min: ofElements,
  indexOf: ofElements,
  lastIndexOf: ofElements,
  url: ofFirst,
  lowerAscii: ofFirst,
  upperAscii: ofFirst,
  substring: ofFirst,
  trim: ofFirst,
  replace: twiceFirst,
  split: twiceFirst,
  join: ofResult,
  find: ofPattern,
  findAll: ofPattern,
  cidr: ofFirst,
  isIP: ofFirst,
  isCIDR: ofFirst,
  'ip.isCanonical': twiceFirst,
  quantity: ofFirst,
  isQuantity: ofFirst,
  semver: ofFirst,
  isSemver: ofFirst,
  validate: ofFirst,
  'sets.contains': ofPairs,
  'sets.intersects': ofPairs,
  'sets.equivalent': ofPairs,
}

const byOverload: Readonly<Record<string, CallCost>> = {
  starts_with_string: ofFirst,
  ends_with_string: ofFirst,
  string_to_bytes: ofFirst,
  bytes_to_string: ofFirst,
  in_list: ([, list]) => size(list),
  less_string: ofSmaller,
  less_bytes: ofSmaller,
  less_equals_string: ofSmaller,
  less_equals_bytes: ofSmaller,
  greater_string: ofSmaller,
  greater_bytes: ofSmaller,
  greater_equals_string: ofSmaller,
  greater_equals_bytes: ofSmaller,
  equals: ofSmaller,
  not_equals: ofSmaller,
  add_string: ofBoth,
  add_bytes: ofBoth,
  matches_string: ofPattern,
  matches: ofPattern,
  contains_string: ofProduct,
  string_to_ip: ofFirst,
}

/** undefined: one unit, the cost of all functions whose cost does not depend on their arguments. */
export const callCost = (name: string, overload: string): CallCost | undefined =>
  lookup(byOverload, overload) ?? lookup(byFunction, name)
