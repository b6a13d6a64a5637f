// All scenarios, by topic.
import type { Scenario } from './scenario.ts'
import { behaviorScenarios } from './scenarios/behavior.ts'
import { containerResourceScenarios } from './scenarios/container-resource.ts'
import { customScenarios } from './scenarios/custom.ts'
import { externalScenarios } from './scenarios/external.ts'
import {
  containerUtilization,
  externalMetric,
  objectMetric,
  pods,
  podsMetric,
  utilization,
} from './scenarios/metric-specs.ts'
import { resourceScenarios } from './scenarios/resource.ts'
import { targetScenarios } from './scenarios/target.ts'

export const scenarios: readonly Scenario[] = [
  ...resourceScenarios,
  ...containerResourceScenarios,
  ...customScenarios,
  ...externalScenarios,
  ...behaviorScenarios,
  ...targetScenarios,
]

/** The scenarios of a cluster without metrics APIs. */
export const scenariosWithoutApis: readonly Scenario[] = (
  [
    ['a resource', utilization(50)],
    ['a container resource', containerUtilization('c', 50)],
    ['a pods', podsMetric('queue', '10')],
    ['an object', objectMetric('Service', 'requests', { value: '10' })],
    ['an external', externalMetric('jobs', { value: '10' })],
  ] as const
).map(([name, metric]) => ({
  name: `${name} metric without its API`,
  spec: { metrics: [metric] },
  pods: pods(1),
  next: [{}],
}))
