// The cost of an expression: compiling it once, and evaluating it for every request.
import { apiEnvironment } from '../src/api/expressions/api-environment.ts'
import { compile } from '../src/cel/program.ts'
import { dynType } from '../src/cel/types/cel-type.ts'
import { fromJson } from '../src/cel/values/json-value-conversion.ts'
import { nanosecondsPer, type Bench } from './bench.ts'

const environment = apiEnvironment.with({ object: dynType })
const object = {
  metadata: { name: 'web', labels: { app: 'web', tier: 'front' } },
  spec: {
    replicas: 3,
    template: {
      spec: {
        containers: Array.from({ length: 3 }, (_, index) => ({
          name: `c${index}`,
          image: `registry.example.com/web:${index}`,
          securityContext: { runAsNonRoot: true },
        })),
      },
    },
  },
}
const costMax = 1_000_000

const expressions: readonly (readonly [what: string, expression: string])[] = [
  ['a comparison', 'object.spec.replicas <= 5'],
  [
    'a rule over three containers',
    `object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/') && c.securityContext.runAsNonRoot)`,
  ],
  ['a pattern', `object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`],
]

const microseconds = (nanoseconds: number): string => `${(nanoseconds / 1000).toFixed(1)} µs`

export const celBench: Bench = {
  name: 'cel',
  run() {
    return expressions.map(([what, expression]) => {
      const compiling = nanosecondsPer(2_000, (calls) => {
        for (let i = 0; i < calls; i++) compile(expression, environment).evaluate({ object: fromJson(object) }, costMax)
      })
      const program = compile(expression, environment)
      const evaluating = nanosecondsPer(100_000, (calls) => {
        for (let i = 0; i < calls; i++) program.evaluate({ object: fromJson(object) }, costMax)
      })
      return `${what}: compile ${microseconds(compiling - evaluating)}, evaluate ${microseconds(evaluating)}`
    })
  },
}
