// Metric specs of the scenarios, in short form.
import type { HPAScalingRules, MetricSpec } from '../../../src/api/autoscaling/v2/autoscaler-spec.ts'
import type { PodState } from '../scenario.ts'

export const pods = (count: number, state: PodState = {}): PodState[] => Array.from({ length: count }, () => state)

export const each = (count: number, value: string): string[] => Array.from({ length: count }, () => value)

export const utilization = (averageUtilization: number, name = 'cpu'): MetricSpec => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
})

export const averageUsage = (averageValue: string, name = 'cpu'): MetricSpec => ({
  type: 'Resource',
  resource: { name, target: { type: 'AverageValue', averageValue } },
})

export const containerUtilization = (container: string, averageUtilization: number, name = 'cpu'): MetricSpec => ({
  type: 'ContainerResource',
  containerResource: { name, container, target: { type: 'Utilization', averageUtilization } },
})

export const containerAverage = (container: string, averageValue: string, name = 'cpu'): MetricSpec => ({
  type: 'ContainerResource',
  containerResource: { name, container, target: { type: 'AverageValue', averageValue } },
})

export const podsMetric = (name: string, averageValue: string): MetricSpec => ({
  type: 'Pods',
  pods: { metric: { name }, target: { type: 'AverageValue', averageValue } },
})

type Goal = { readonly value: string } | { readonly averageValue: string }
const targetOf = (goal: Goal) => ({ type: 'value' in goal ? 'Value' : 'AverageValue', ...goal })

export const objectMetric = (kind: string, name: string, goal: Goal, apiVersion = 'v1'): MetricSpec => ({
  type: 'Object',
  object: { describedObject: { kind, name: 'web', apiVersion }, metric: { name }, target: targetOf(goal) },
})

export const externalMetric = (name: string, goal: Goal, matchLabels?: Record<string, string>): MetricSpec => ({
  type: 'External',
  external: {
    metric: { name, ...(matchLabels === undefined ? {} : { selector: { matchLabels } }) },
    target: targetOf(goal),
  },
})

/** `4 Pods 60` allows four pods in sixty seconds. */
export const rules = (policies: readonly string[], more: Partial<HPAScalingRules> = {}): HPAScalingRules => ({
  policies: policies.map((text) => {
    const [value = '', type = '', periodSeconds = ''] = text.split(' ')
    return { type, value: Number(value), periodSeconds: Number(periodSeconds) }
  }),
  ...more,
})
