// The estimated cost of a call and the size of its result, from the sizes of its arguments: upstream's table.
import { lookup } from '../../base/collections/lookup.ts'
import type { CelType } from '../types/cel-type.ts'
import type { Value } from '../values/value.ts'
import { authorizationCost, comparisonFactor, listCallCost, regexFactor, traversalFactor } from './call-cost.ts'
import { fixed, plus, scaled, times, unknown, type Range } from './range.ts'

export interface Argument {
  readonly type: CelType | undefined
  readonly size: Range | undefined
  /** The size of its elements according to the schema. */
  readonly item?: Range | undefined
  /** The value of a literal. */
  readonly literal?: Value | undefined
}

export interface CallEstimate {
  readonly cost: Range
  readonly size?: Range
}

type Estimator = (target: Argument | undefined, args: readonly Argument[]) => CallEstimate | undefined

const sizeOf = (argument: Argument | undefined): Range => argument?.size ?? unknown
const traversed = (size: Range): Range => scaled(size, traversalFactor)

const ofTarget: Estimator = (target) =>
  target === undefined ? undefined : { cost: traversed(sizeOf(target)), size: sizeOf(target) }

/** The cost for each element of a list, and for each character of its texts. */
const ofElements: Estimator = (target) => {
  if (target === undefined) return undefined
  const { type } = target
  if (type?.kind !== 'list') return { cost: traversed(sizeOf(target)) }
  const { element } = type
  const isText = element.kind === 'string' || element.kind === 'bytes'
  const each = isText ? plus(fixed(1), traversed(target.item ?? unknown)) : fixed(1)
  return { cost: times(sizeOf(target), each) }
}

const ofPattern: Estimator = (target, [pattern]) => {
  if (target === undefined || pattern === undefined) return undefined
  const size = sizeOf(target)
  const cost = times(traversed(plus(size, fixed(1))), scaled(sizeOf(pattern), regexFactor))
  return { cost, size: { min: 0, max: size.max } }
}

const replace: Estimator = (target, [what, by]) => {
  if (target === undefined || what === undefined || by === undefined) return undefined
  const size = sizeOf(target)
  const old = sizeOf(what)
  const fresh = sizeOf(by)
  const most =
    old.min === 0
      ? (size.max + 1) * fresh.max + size.max
      : fresh.max <= old.min
        ? size.max
        : Math.ceil(size.max / old.min) * fresh.max
  const least =
    old.max === 0
      ? (size.min + 1) * fresh.min + size.min
      : old.max <= fresh.min
        ? size.min
        : Math.ceil(size.min / old.max) * fresh.min
  return { cost: scaled(size, 2 * traversalFactor), size: { min: least, max: Math.min(most, unknown.max) } }
}

const split: Estimator = (target) => {
  if (target === undefined) return undefined
  const size = sizeOf(target)
  return { cost: scaled(size, 2 * traversalFactor), size: { min: 0, max: size.max } }
}

const join: Estimator = (target, [separator]) => {
  if (target === undefined) return undefined
  if (target.type?.kind !== 'list') return { cost: fixed(0), size: fixed(0) }
  const count = sizeOf(target)
  const each = target.item ?? unknown
  const between = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) }
  const parts = times(count, each)
  const size = separator === undefined ? parts : plus(parts, times(sizeOf(separator), between))
  return { cost: traversed(size), size }
}

const ofSets =
  (factor: number): Estimator =>
  (_, [a, b]) => ({ cost: plus(scaled(times(sizeOf(a), sizeOf(b)), factor), fixed(1)) })

const one: Estimator = () => ({ cost: fixed(1) })

const addressBytes: Range = { min: 4, max: 16 }
const containsIp: Estimator = (_, [other]) => ({
  cost: plus(
    traversed(plus(addressBytes, addressBytes)),
    other?.type?.kind === 'string' ? traversed(sizeOf(other)) : fixed(0),
  ),
})
const containsCidr: Estimator = (target, args) => {
  const base = containsIp(target, args)
  return base === undefined ? undefined : { cost: plus(base.cost, traversed(addressBytes), fixed(1)) }
}

const ofArgument: Estimator = (_, [text]) => (text === undefined ? undefined : { cost: traversed(sizeOf(text)) })

/** The pattern of a format is estimated at this cost, whatever the format is. */
const patternCost = 32

const newList = (size: Range): CallEstimate => ({ cost: plus(fixed(listCallCost), size), size })

const ofComparisons =
  (isDistinct: boolean): Estimator =>
  (target) => {
    if (target === undefined) return undefined
    const size = sizeOf(target)
    const element = target.type?.kind === 'list' ? target.type.element.kind : undefined
    const isText = !isDistinct && (element === 'string' || element === 'bytes')
    const factor = comparisonFactor + (isText ? traversalFactor : 0)
    const pairs = times(size, size)
    // Upstream takes the number of comparisons for the size of the result.
    return { cost: plus(fixed(listCallCost), scaled(pairs, factor)), size: pairs }
  }

/** A literal integer is known. */
const literalInt = (argument: Argument | undefined): number | undefined =>
  typeof argument?.literal === 'bigint' ? Math.max(0, Number(argument.literal)) : undefined

const flatten: Estimator = (target, [depth]) => {
  const levels = depth === undefined ? 1 : literalInt(depth)
  const size = sizeOf(target)
  return newList(times(size, levels === undefined ? unknown : fixed(levels)))
}

const range: Estimator = (_, [end]) => {
  const count = literalInt(end)
  return newList(count === undefined ? unknown : fixed(count))
}

/** The difference of two literals is unsigned in upstream, so a start behind the end is a very large size. */
const slice: Estimator = (target, [start, end]) => {
  const from = literalInt(start)
  const to = literalInt(end)
  if (from === undefined || to === undefined) return newList(sizeOf(target))
  return newList(fixed(to < from ? unknown.max : to - from))
}

const byFunction: Readonly<Record<string, Estimator>> = {
  check: () => ({ cost: fixed(authorizationCost) }),
  isSorted: ofElements,
  sum: ofElements,
  max: ofElements,
  min: ofElements,
  indexOf: ofElements,
  lastIndexOf: ofElements,
  url: (_, [text]) => ({ cost: traversed(sizeOf(text)) }),
  lowerAscii: ofTarget,
  upperAscii: ofTarget,
  substring: ofTarget,
  trim: ofTarget,
  replace,
  split,
  join,
  find: ofPattern,
  findAll: ofPattern,
  containsIP: containsIp,
  containsCIDR: containsCidr,
  cidr: ofArgument,
  distinct: ofComparisons(true),
  flatten,
  ip: ofArgument,
  'ip.isCanonical': (_, [text]) => ({ cost: scaled(sizeOf(text), 2 * traversalFactor) }),
  isCIDR: ofArgument,
  isIP: ofArgument,
  isQuantity: ofArgument,
  isSemver: ofArgument,
  'lists.range': range,
  quantity: ofArgument,
  reverse: (target) => newList(sizeOf(target)),
  semver: ofArgument,
  'sets.contains': ofSets(1),
  'sets.equivalent': ofSets(2),
  'sets.intersects': ofSets(1),
  slice,
  sort: ofComparisons(false),
  '@sortByAssociatedKeys': (target, [keys]) => {
    const size = sizeOf(target)
    const sorted = ofComparisons(false)(keys, [])
    return sorted === undefined ? undefined : { cost: sorted.cost, size: times(size, size) }
  },
  validate: (_, [text]) => ({ cost: scaled(traversed(sizeOf(text)), patternCost) }),
}

const ofSum: Estimator = (_, [a, b]) => {
  const size = plus(sizeOf(a), sizeOf(b))
  return { cost: traversed(size), size }
}
const ofSmaller: Estimator = (_, [a, b]) => {
  const max = Math.min(sizeOf(a).max, sizeOf(b).max)
  return { cost: traversed({ min: max > 0 ? 1 : 0, max }) }
}
const byOverload: Readonly<Record<string, Estimator>> = {
  to_dyn: (_, [value]) => ({ cost: fixed(1), size: sizeOf(value) }),
  string_to_bytes: (_, [text]) => {
    const { min, max } = sizeOf(text)
    return { cost: traversed({ min, max }), size: { min, max: max * 4 } }
  },
  bytes_to_string: (_, [bytes]) => {
    const { min, max } = sizeOf(bytes)
    return { cost: traversed({ min, max }), size: { min: Math.floor(min / 4), max } }
  },
  strings_quote: (_, [text]) => {
    const { min, max } = sizeOf(text)
    return { cost: traversed({ min, max }), size: { min: min + 2, max: max * 2 + 2 } }
  },
  string_format: (target) => ({ cost: traversed(sizeOf(target)), size: unknown }),
  starts_with_string: ofArgument,
  ends_with_string: ofArgument,
  in_list: (_, [, list]) => ({ cost: sizeOf(list) }),
  matches_string: (target, args) => {
    const estimate = ofPattern(target, args)
    return estimate === undefined ? undefined : { cost: estimate.cost }
  },
  contains_string: (target, [part]) => ({ cost: times(traversed(sizeOf(target)), traversed(sizeOf(part))) }),
  add_string: ofSum,
  add_bytes: ofSum,
  add_list: (_, [a, b]) => ({ cost: fixed(1), size: plus(sizeOf(a), sizeOf(b)) }),
  equals: ofSmaller,
  not_equals: ofSmaller,
  ...Object.fromEntries(
    ['less', 'less_equals', 'greater', 'greater_equals'].flatMap((name) => [
      [`${name}_string`, ofSmaller],
      [`${name}_bytes`, ofSmaller],
    ]),
  ),
}

export const estimateCall = (
  name: string,
  overload: string,
  target: Argument | undefined,
  args: readonly Argument[],
): CallEstimate => (lookup(byFunction, name) ?? lookup(byOverload, overload) ?? one)(target, args) ?? { cost: fixed(1) }
