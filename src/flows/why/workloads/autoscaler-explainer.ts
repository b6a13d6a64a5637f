// Explains why an autoscaler scales its target, or why it does not.
import {
  horizontalPodAutoscaler,
  type HorizontalPodAutoscaler,
} from '../../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { metricsText } from '../../../api/autoscaling/v2/autoscaler-metrics-text.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { didYouMean, similarNames } from '../../../base/text/similar-names.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { because, conditionOf, defineExplainer, plural, questionSentence } from '../explainer/explainer.ts'
import { info, problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl, mergePatch } from '../explainer/fix-command.ts'

export const autoscalerExplainer = defineExplainer({
  kind: horizontalPodAutoscaler,
  checked: 'its target, its metrics and its limits',
  explain: async (object, cluster) => (await missingTarget(object, cluster)) ?? findings(object),
})

interface Reason {
  readonly reason?: string
  readonly message?: string
}

function findings(autoscaler: HorizontalPodAutoscaler): Finding[] {
  const { conditions = [] } = autoscaler.status
  const target = targetText(autoscaler)
  if (conditions.length === 0)
    return [
      info(`It has not been evaluated yet, which takes up to 15 seconds: ${target} keeps its number of replicas.`),
    ]
  const able = conditionOf(conditions, 'AbleToScale')
  if (able?.status === 'False') return [problem(unable(able, target))]
  const active = conditionOf(conditions, 'ScalingActive')
  if (active?.status === 'False') return inactive(autoscaler, active, target)
  const limited = conditionOf(conditions, 'ScalingLimited')
  return [
    ...measured(autoscaler),
    ...(able === undefined ? [] : decided(autoscaler, able)),
    ...(limited?.status === 'True' ? [limit(autoscaler, limited)] : []),
  ].map((text) => info(text))
}

/** What it scales does not exist; undefined where it does, or where that is not known. */
async function missingTarget(
  autoscaler: HorizontalPodAutoscaler,
  cluster: ClusterReader,
): Promise<Finding[] | undefined> {
  const { apiVersion = 'v1', kind: kindName, name } = autoscaler.spec.scaleTargetRef
  const home = namespaceOf(autoscaler)
  const kind = await cluster.kindOf?.(apiVersion, kindName)
  if (kind === undefined || !(await isMissing(cluster, kind, home, name))) return undefined
  const known = (await cluster.list(kind, home)).map(({ metadata }) => metadata.name)
  const similar = similarNames(name, known)
  const patch = { spec: { scaleTargetRef: { name: similar[0] ?? 'NAME' } } }
  return [
    problem(
      `It scales nothing: ${targetText(autoscaler)} does not exist in the namespace ${home}.${questionSentence(didYouMean(similar))}`,
      { fix: mergePatch(`hpa/${autoscaler.metadata.name}`, home, patch), covers: ['FailedGetScale'] },
    ),
  ]
}

const targetText = ({ spec: { scaleTargetRef } }: HorizontalPodAutoscaler): string =>
  `${scaleTargetRef.kind}/${scaleTargetRef.name}`

function unable(condition: Reason, target: string): string {
  const why = because({ message: cause(condition.message) })
  return condition.reason === 'FailedUpdateScale'
    ? `It cannot change the number of replicas of ${target}: ${why}.`
    : `It cannot read the number of replicas of ${target}: ${why}.`
}

/** The message behind the fixed text of the condition. */
const cause = (message = ''): string =>
  message
    .replace(/^the HPA controller was unable to (?:get the target's current scale|update the target scale): /, '')
    .replace(/^the HPA was unable to compute the replica count: /, '')

function inactive(autoscaler: HorizontalPodAutoscaler, condition: Reason, target: string): Finding[] {
  const why = because({ message: cause(condition.message) })
  const home = namespaceOf(autoscaler)
  switch (condition.reason) {
    case 'ScalingDisabled':
      return [
        info(`It does not scale while ${target} has zero replicas. Set at least one replica to resume.`, {
          fix: kubectl(home, 'scale', target.toLowerCase(), '--replicas=1'),
        }),
      ]
    case 'InvalidSelector':
      return [
        problem(
          `It does not scale, because the scale of ${target} does not have a valid selector for its pods: ${why}.`,
        ),
      ]
    case 'AmbiguousSelector':
      return [problem(`It does not scale, because several autoscalers control the same pods: ${why}.`)]
    default:
      return [
        problem([`It does not scale ${target}, because a metric cannot be used: ${why}.`, ...hints(why)].join(' '), {
          covers: ['FailedComputeMetricsReplicas', condition.reason ?? ''],
          ...withFix(requestCommand(why, target, home)),
        }),
      ]
  }
}

const hints = (why: string): string[] => [
  ...(/missing request for/.test(why) ? ['Utilization is a percentage of requests: every container needs one.'] : []),
  ...(/no metrics returned from resource metrics API/.test(why)
    ? ['No kubelet has reported the usage of its pods yet; `kubectl top pods` shows what is known.']
    : []),
  ...(/could not find the requested resource|unable to handle the request/.test(why)
    ? ['The metrics API (metrics.k8s.io) is not served; metrics-server provides it.']
    : []),
]

/** Sets the request that a utilization is relative to. */
function requestCommand(why: string, target: string, home: string): string | undefined {
  const [, resource, container] = /missing request for (cpu|memory)(?: in container (\S{1,63}))?/.exec(why) ?? []
  if (resource === undefined) return undefined
  const flags = container === undefined ? [] : ['-c', container]
  const amount = resource === 'cpu' ? '100m' : '128Mi'
  return kubectl(home, 'set', 'resources', target.toLowerCase(), ...flags, `--requests=${resource}=${amount}`)
}

const measured = ({ spec, status }: HorizontalPodAutoscaler): string[] =>
  (status.currentMetrics ?? []).length === 0
    ? []
    : [`Its metrics are ${metricsText(spec, status)} (current value and target).`]

function decided(autoscaler: HorizontalPodAutoscaler, { reason }: Reason): string[] {
  const { currentReplicas = 0, desiredReplicas, lastScaleTime } = autoscaler.status
  const target = targetText(autoscaler)
  const keeps = `It keeps ${plural(currentReplicas, 'replica')} of ${target}`
  switch (reason) {
    case 'SucceededRescale':
      return [
        `It has changed ${target} from ${currentReplicas} to ${plural(desiredReplicas, 'replica')} at ${lastScaleTime}.`,
      ]
    case 'ScaleDownStabilized':
      return [`${keeps}: fewer would do now, but more were recommended within the stabilization window.`]
    case 'ScaleUpStabilized':
      return [`${keeps}: more are recommended now, but fewer were recommended within the stabilization window.`]
    default:
      return [`${keeps}: this number matches its metrics or its limits.`]
  }
}

function limit({ spec }: HorizontalPodAutoscaler, { reason = '', message = '' }: Reason): string {
  switch (reason) {
    case 'TooManyReplicas':
      return `Its metrics ask for more replicas than its maximum of ${spec.maxReplicas}.`
    case 'TooFewReplicas':
      return `Its metrics ask for fewer replicas than its minimum of ${spec.minReplicas}.`
    case 'ScaleUpLimit':
      return 'Its metrics ask for more replicas than may be added at once.'
    case 'ScaleDownLimit':
      return 'Its metrics ask for fewer replicas than may be left at once.'
    default:
      return `Its number of replicas is limited: ${because({ reason, message })}.`
  }
}
