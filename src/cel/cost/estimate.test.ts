// Estimates of rules, computed by hand from upstream's table: one for every name, a tenth for every character.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubernetesEnvironment } from '../library/kubernetes.ts'
import { compile } from '../program.ts'
import { structuralType } from '../types/structural-type.ts'
import { dynType } from '../types/cel-type.ts'
import { estimateCost } from './estimate.ts'

const self = structuralType(
  {
    type: 'object',
    properties: {
      n: { type: 'integer' },
      s: { type: 'string', maxLength: 10 },
      list: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } },
      open: { type: 'array', items: { type: 'integer' } },
    },
  },
  'self',
  false,
)
const environment = kubernetesEnvironment({}).with({ self: self?.type ?? dynType })

const cases: readonly (readonly [expression: string, most: number])[] = [
  ['self.n > 0', 3],
  ['has(self.n)', 1],
  // 40 bytes at most on one side, 1 on the other.
  [`self.s == 'a'`, 3],
  [`self.s.startsWith('a')`, 3],
  [`self.s.matches('abcd')`, 2 + 5],
  // Ten iterations: 3 for the iteration, 1 for the name, 1 for the text.
  [`self.list.all(x, x == 'a')`, 2 + 1 + 10 * 5],
  // Numbers of the schema have no size, so the equality costs nothing.
  ['self.n > 0 && self.n < 9 ? self.n == 1 : true', 6 + 2],
  // The number of integers that fit into three MiB.
  ['self.open.all(x, x > 0)', 2 + 1 + 1_572_863 * 5],
]

test('estimates of rules are those of upstream', () => {
  for (const [expression, most] of cases) {
    const { tree, checked } = compile(expression, environment)
    assert.equal(estimateCost(tree, checked, self?.type ?? dynType).max, most, expression)
  }
})
