// Set functions of lists.
import { global, type Functions } from '../../environment/function.ts'
import { boolType, listOf, param } from '../../types/cel-type.ts'
import { equals } from '../../values/equality.ts'
import type { ListValue } from '../../values/value.ts'

const containsAll = (list: ListValue, others: ListValue): boolean =>
  others.every((other) => list.some((each) => equals(each, other)))

const two = [listOf(param('T')), listOf(param('T'))] as const

export const setFunctions: Functions = {
  'sets.contains': [global('list_sets_contains_list', two, boolType, containsAll)],
  'sets.equivalent': [
    global(
      'list_sets_equivalent_list',
      two,
      boolType,
      (a: ListValue, b: ListValue) => containsAll(a, b) && containsAll(b, a),
    ),
  ],
  'sets.intersects': [
    global('list_sets_intersects_list', two, boolType, (a: ListValue, b: ListValue) =>
      a.some((each) => b.some((other) => equals(each, other))),
    ),
  ],
}
