// The cost of a call at run time, in upstream's units; one unit is about 50 ns.
import { lookup } from '../../base/collections/lookup.ts'
import { isList, sizeOf } from '../values/equality.ts'
import { runtimeType } from '../values/matches-type.ts'
import { MapValue, type Value } from '../values/value.ts'
import { formatPatternCost } from './format-cost.ts'

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
/** A function that constructs a list costs the call, the list, and something for its elements. */
export const listCallCost = 1 + listCost
/** Each pair of elements is compared, and each element is moved. */
export const comparisonFactor = 2

/** The cost of a call with these arguments and this result; the result is undefined if the call fails. */
export type CallCost = (args: readonly Value[], result: Value | undefined) => number

const size = (value: Value | undefined): number => (value === undefined ? 1 : sizeOf(value))
const traversed = (length: number): number => Math.ceil(length * traversalFactor)

const ofFirst: CallCost = ([first]) => traversed(size(first))
const twiceFirst: CallCost = ([first]) => traversed(size(first) * 2)
const ofSmaller: CallCost = ([a, b]) => traversed(Math.min(size(a), size(b)))
const ofBoth: CallCost = ([a, b]) => traversed(size(a) + size(b))
const ofProduct: CallCost = ([a, b]) => traversed(size(a)) * traversed(size(b))
const ofPattern: CallCost = ([a, b]) => traversed(1 + size(a)) * Math.ceil(size(b) * regexFactor)
const ofResult: CallCost = (_, result) => traversed(size(result) * 2)
/** Every value within a value: a tenth for each byte of text, rounded down, and one for each other scalar. */
const ofElements: CallCost = ([first]) => (first === undefined ? 1 : traversal(first))

const encoder = new TextEncoder()

function traversal(value: Value): number {
  if (typeof value === 'string') return Math.floor(encoder.encode(value).length * traversalFactor)
  if (value instanceof Uint8Array) return Math.floor(value.length * traversalFactor)
  if (isList(value)) return value.reduce<number>((sum, each) => sum + traversal(each), 0)
  if (!(value instanceof MapValue)) return 1
  let cost = 0
  for (const key of value.keys()) cost += traversal(key) + traversal(value.get(key) ?? null)
  return cost
}

const ofPairs =
  (times: number): CallCost =>
  ([a, b]) =>
    size(a) * size(b) * times + 1

const ofComparisons: CallCost = ([list]) => {
  const [first] = list !== undefined && isList(list) ? list : []
  const isText = first !== undefined && ['string', 'bytes'].includes(runtimeType(first))
  return listCallCost + Math.floor(size(list) ** 2 * (comparisonFactor + (isText ? traversalFactor : 0)))
}

const ofNewList: CallCost = (_, result) => listCallCost + size(result)
const ofDepth: CallCost = ([list, depth = 1n]) => listCallCost + size(list) * Math.max(0, Number(depth))

/** An address in an argument costs its traversal when it is a text. */
const ofRange =
  (cost: number): CallCost =>
  ([, other]) =>
    cost + (typeof other === 'string' ? traversed(size(other)) : 0)

/** Of functions with a namespace the name is qualified. */
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
  containsIP: ofRange(1),
  containsCIDR: ofRange(3),
  quantity: ofFirst,
  isQuantity: ofFirst,
  semver: ofFirst,
  isSemver: ofFirst,
  validate: ([format, text]) => traversed(1 + size(text)) * formatPatternCost(format),
  distinct: ofComparisons,
  sort: ofComparisons,
  '@sortByAssociatedKeys': ([, keys], result) => ofComparisons([keys ?? null], result),
  flatten: ofDepth,
  'lists.range': ofNewList,
  reverse: ofNewList,
  slice: ofNewList,
  'sets.contains': ofPairs(1),
  'sets.intersects': ofPairs(1),
  'sets.equivalent': ofPairs(2),
  'strings.quote': ofFirst,
}

const byOverload: Readonly<Record<string, CallCost>> = {
  starts_with_string: ofFirst,
  ends_with_string: ofFirst,
  string_to_bytes: ofFirst,
  bytes_to_string: ofFirst,
  string_format: ofFirst,
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
  contains_string: ofProduct,
  string_to_ip: ofFirst,
}

/** undefined: one unit, the cost of all functions whose cost does not depend on their arguments. */
export const callCost = (name: string, overload: string): CallCost | undefined =>
  lookup(byOverload, overload) ?? lookup(byFunction, name)
