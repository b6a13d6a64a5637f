// Set functions of lists. Every element of one may be compared with every element of the other, so they are called in steps.
import { global, inSteps, type CallSteps, type Functions } from '../../environment/function.ts'
import { boolType, listOf, param } from '../../types/cel-type.ts'
import { equals } from '../../values/equality.ts'
import type { ListValue } from '../../values/value.ts'

type BoolSteps = Generator<undefined, boolean, undefined>

const comparisonsPerStep = 1_000

/** Whether the first list contains the elements of the other: all of them, or any. Yields regularly. */
function* contained(list: ListValue, others: ListValue, quantity: 'all' | 'any'): BoolSteps {
  let comparisons = 0
  for (const other of others) {
    const isContained = list.some((each) => equals(each, other))
    if (isContained !== (quantity === 'all')) return isContained
    comparisons += list.length
    if (comparisons < comparisonsPerStep) continue
    comparisons = 0
    yield
  }
  return quantity === 'all'
}

function* equivalent(a: ListValue, b: ListValue): BoolSteps {
  return (yield* contained(a, b, 'all')) && (yield* contained(b, a, 'all'))
}

const setFunction = (id: string, steps: (a: ListValue, b: ListValue) => CallSteps) =>
  inSteps(global, id, [listOf(param('T')), listOf(param('T'))], boolType, steps)

export const setFunctions: Functions = {
  'sets.contains': [setFunction('list_sets_contains_list', (a, b) => contained(a, b, 'all'))],
  'sets.equivalent': [setFunction('list_sets_equivalent_list', equivalent)],
  'sets.intersects': [setFunction('list_sets_intersects_list', (a, b) => contained(b, a, 'any'))],
}
