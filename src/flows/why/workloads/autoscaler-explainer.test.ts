// Sentences about autoscalers, for each state that the controller reports.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  horizontalPodAutoscaler,
  type HorizontalPodAutoscaler,
} from '../../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { autoscalerExplainer } from './autoscaler-explainer.ts'

const reader = { list: () => Promise.resolve([]), find: () => Promise.resolve(undefined), nowMs: 0 }
const metrics = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
]
const spec = {
  minReplicas: 2,
  maxReplicas: 5,
  metrics,
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
}
const currentMetrics = [
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '90m' } } },
]
const condition = (type: string, status: string, reason: string, message = '') => ({ type, status, reason, message })

async function explain(status: object): Promise<string> {
  const { apiVersion, kind } = horizontalPodAutoscaler
  const object = { apiVersion, kind, metadata: { name: 'web' }, spec, status } as unknown as HorizontalPodAutoscaler
  return (await autoscalerExplainer.explain(object, reader)).map(({ text }) => text).join(' ')
}

const unread = "the HPA controller was unable to get the target's current scale: "
const uncomputed = 'the HPA was unable to compute the replica count: '
const failures: [why: string, condition: object, sentence: RegExp][] = [
  [
    'no target',
    condition('AbleToScale', 'False', 'FailedGetScale', `${unread}deployments.apps "web" not found`),
    /^It cannot read the number of replicas of Deployment\/web: deployments\.apps "web" not found\.$/,
  ],
  [
    'a conflict',
    condition(
      'AbleToScale',
      'False',
      'FailedUpdateScale',
      'the HPA controller was unable to update the target scale: conflict',
    ),
    /^It cannot change the number of replicas of Deployment\/web: conflict\.$/,
  ],
  [
    'zero replicas',
    condition('ScalingActive', 'False', 'ScalingDisabled'),
    /^It does not scale while Deployment\/web has zero replicas\./,
  ],
  [
    'no selector',
    condition('ScalingActive', 'False', 'InvalidSelector', 'missing'),
    /does not have a valid selector for its pods: missing\.$/,
  ],
  [
    'rivals',
    condition('ScalingActive', 'False', 'AmbiguousSelector', 'pods of both'),
    /^It does not scale, because several autoscalers control the same pods: pods of both\.$/,
  ],
  [
    'no request',
    condition('ScalingActive', 'False', 'FailedGetResourceMetric', `${uncomputed}missing request for cpu`),
    /^It does not scale Deployment\/web, because a metric cannot be used: missing request for cpu\. Utilization is a percentage/,
  ],
  [
    'no usage',
    condition(
      'ScalingActive',
      'False',
      'FailedGetResourceMetric',
      `${uncomputed}no metrics returned from resource metrics API`,
    ),
    /`kubectl top pods`/,
  ],
]
for (const [why, failure, sentence] of failures)
  test(`an autoscaler with ${why}`, async () =>
    match(await explain({ desiredReplicas: 0, conditions: [failure] }), sentence))

const states: [able: string, limited: string, text: string][] = [
  ['ReadyForNewScale', '', 'It keeps 3 replicas of Deployment/web: this number matches its metrics or its limits.'],
  [
    'ScaleDownStabilized',
    '',
    'It keeps 3 replicas of Deployment/web: fewer would do now, but more were recommended within the stabilization window.',
  ],
  [
    'ScaleUpStabilized',
    '',
    'It keeps 3 replicas of Deployment/web: more are recommended now, but fewer were recommended within the stabilization window.',
  ],
  [
    'SucceededRescale',
    'TooManyReplicas',
    'It has changed Deployment/web from 3 to 5 replicas at 2030-01-01T00:00:00Z. Its metrics ask for more replicas than its maximum of 5.',
  ],
  [
    'SucceededRescale',
    'TooFewReplicas',
    'It has changed Deployment/web from 3 to 5 replicas at 2030-01-01T00:00:00Z. Its metrics ask for fewer replicas than its minimum of 2.',
  ],
  [
    'SucceededRescale',
    'ScaleUpLimit',
    'It has changed Deployment/web from 3 to 5 replicas at 2030-01-01T00:00:00Z. Its metrics ask for more replicas than may be added at once.',
  ],
  [
    'SucceededRescale',
    'ScaleDownLimit',
    'It has changed Deployment/web from 3 to 5 replicas at 2030-01-01T00:00:00Z. Its metrics ask for fewer replicas than may be left at once.',
  ],
  [
    'SucceededRescale',
    'Other',
    'It has changed Deployment/web from 3 to 5 replicas at 2030-01-01T00:00:00Z. Its number of replicas is limited: Other.',
  ],
]
for (const [able, limited, text] of states)
  test(`an autoscaler with ${able} ${limited}`, async () => {
    const conditions = [
      condition('AbleToScale', 'True', able),
      condition('ScalingActive', 'True', 'ValidMetricFound'),
      condition('ScalingLimited', limited === '' ? 'False' : 'True', limited),
    ]
    const status = {
      currentReplicas: 3,
      desiredReplicas: 5,
      lastScaleTime: '2030-01-01T00:00:00Z',
      currentMetrics,
      conditions,
    }
    equal(await explain(status), `Its metrics are cpu: 90%/50% (current value and target). ${text}`)
  })

test('an autoscaler that was not evaluated', async () =>
  match(await explain({ desiredReplicas: 0 }), /^It has not been evaluated yet/))
