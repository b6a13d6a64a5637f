// Defaults of a HorizontalPodAutoscaler: metrics and behavior.
import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
} from './autoscaler-spec.ts'

const cpuUtilization: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
}
const doubling = { type: 'Percent', value: 100, periodSeconds: 15 }
const scaleUpDefaults: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, doubling],
}
// The stabilization window for scaling down is configured in the controller, hence no default.
const scaleDownDefaults: HPAScalingRules = { selectPolicy: 'Max', policies: [doubling] }

export function withAutoscalerDefaults(spec: HorizontalPodAutoscalerSpec): HorizontalPodAutoscalerSpec {
  const { metrics = [], behavior } = spec
  return {
    ...spec,
    metrics: metrics.length === 0 ? [cpuUtilization] : metrics,
    ...(behavior === undefined ? {} : { behavior: withBehaviorDefaults(behavior) }),
  }
}

const withBehaviorDefaults = ({
  scaleUp,
  scaleDown,
}: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior => ({
  scaleUp: { ...scaleUpDefaults, ...scaleUp },
  scaleDown: { ...scaleDownDefaults, ...scaleDown },
})
