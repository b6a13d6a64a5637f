// Explains why a pod is not scheduled, not started, not ready, failed, or not deleted yet.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { budgetSentence, nodeSentences } from './cluster-explainers.ts'
import { because, conditionOf, defineExplainer, plural, type ClusterReader } from './explainer.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export const podExplainer = defineExplainer({
  kind: pod,
  checked: 'its node, its containers and its readiness',
  explain: async (object, cluster) => [...(await whyPod(object, cluster)), ...(await whyNotEvicted(object, cluster))],
})

/** Why a pod does not run: problems of its node, then its own. */
export async function whyPod(object: Pod, cluster: ClusterReader): Promise<string[]> {
  const { nodeName } = object.spec
  const own = whyItself(object)
  if (nodeName === undefined || ['Succeeded', 'Failed'].includes(object.status.phase ?? '')) return own
  const boundNode = await cluster.find(node, '', nodeName)
  if (boundNode === undefined) return [`Its node ${nodeName} no longer exists.`, ...own]
  return [...nodeSentences(boundNode).map((sentence) => `Its node ${nodeName} has a problem: ${sentence}`), ...own]
}

/** Why a pod cannot be evicted from a cordoned node: its budgets allow no disruption. */
async function whyNotEvicted(object: Pod, cluster: ClusterReader): Promise<string[]> {
  const { metadata, spec } = object
  if (spec.nodeName === undefined || metadata.deletionTimestamp !== undefined) return []
  const boundNode = await cluster.find(node, '', spec.nodeName)
  if (!boundNode?.spec.unschedulable) return []
  const budgets = await cluster.list(podDisruptionBudget, namespaceOf(object))
  return budgets
    .filter((budget) => selects(budget.spec.selector, metadata.labels))
    .flatMap((budget) =>
      budgetSentence(budget).map(
        (sentence) =>
          `It cannot be evicted from its cordoned node ${spec.nodeName} because of the PodDisruptionBudget ${budget.metadata.name}: ${sentence}`,
      ),
    )
}

function whyItself({ metadata, spec, status }: Pod): string[] {
  const { phase = 'Pending', conditions, initContainerStatuses = [], containerStatuses = [] } = status
  if (metadata.deletionTimestamp !== undefined)
    return [
      spec.nodeName === undefined
        ? 'It is being deleted and was never scheduled.'
        : `It is being deleted: the kubelet of ${spec.nodeName} stops its containers by ${metadata.deletionTimestamp} (grace period ${metadata.deletionGracePeriodSeconds ?? 0} s).`,
    ]
  if (phase === 'Succeeded') return ['It has completed successfully.']
  if (phase === 'Failed') return [`It has failed: ${whyFailed(status)}`]
  const scheduled = conditionOf(conditions, 'PodScheduled')
  if (spec.nodeName === undefined) return whyUnscheduled(spec, scheduled)
  const init = initContainerStatuses.find((each) => !each.ready && each.state?.terminated?.exitCode !== 0)
  if (init !== undefined) return initSentences(init)
  const unready = containerStatuses.filter(({ ready }) => !ready)
  if (containerStatuses.length === 0)
    return [`It is scheduled on ${spec.nodeName}, but the kubelet has not reported its containers yet.`]
  const gates = (spec.readinessGates ?? []).filter(
    ({ conditionType }) => conditionOf(conditions, conditionType)?.status !== 'True',
  )
  return [
    ...unready.flatMap(containerSentences),
    ...gates.map(({ conditionType }) => `Its readiness gate ${conditionType} is not True.`),
  ]
}

function whyUnscheduled(
  { schedulerName, schedulingGates = [] }: Pod['spec'],
  scheduled: ReturnType<typeof conditionOf>,
) {
  if (schedulingGates.length > 0)
    return [
      `It is not scheduled until its scheduling gates are removed by the controllers that set them: ${schedulingGates.map(({ name }) => name).join(', ')}.`,
    ]
  if (scheduled === undefined)
    return [`It is not scheduled yet: the scheduler ${schedulerName ?? ''} has not processed it.`]
  return [`It cannot be scheduled: ${because(scheduled)}.`]
}

/** Why a pod has failed: its own reason and its failed containers. Never empty. */
function whyFailed({ reason = '', message = '', initContainerStatuses = [], containerStatuses = [] }: Pod['status']) {
  const failed = [...initContainerStatuses, ...containerStatuses]
    .filter(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
    .flatMap(ended)
  const own = reason === '' && message === '' ? [] : [`${because({ reason, message })}.`]
  const sentences = [...own, ...failed]
  return sentences.length === 0 ? 'its status gives no reason.' : sentences.join(' ')
}

/** Why the pod waits for an init container, which has not completed or, as a sidecar, has not started. */
const initSentences = (status: ContainerStatus): string[] => [
  `It waits for its init container ${status.name}.`,
  ...(status.state?.running === undefined
    ? containerSentences(status)
    : [`Container ${status.name} has been running since ${status.state.running.startedAt ?? 'now'}.`]),
]

function containerSentences(status: ContainerStatus): string[] {
  const { name, image, state, restartCount, started } = status
  if (state?.waiting) {
    const { reason = '', message = '' } = state.waiting
    const again = restartCount > 0 ? ` It was restarted ${plural(restartCount, 'time')}.` : ''
    return [`Container ${name} (${image}) is waiting: ${because({ reason, message })}.${again}`, ...lastEnd(status)]
  }
  if (state?.terminated) return ended(status)
  if (state?.running)
    return [
      started === false
        ? `Container ${name} is running, but its startup probe has not succeeded yet.`
        : `Container ${name} has been running since ${state.running.startedAt ?? 'now'}, but its readiness probe has not succeeded.`,
    ]
  return [`Container ${name} has not been started yet.`]
}

const ended = ({ name, state }: ContainerStatus): string[] =>
  state?.terminated === undefined
    ? []
    : [`Container ${name} exited with code ${state.terminated.exitCode} (${state.terminated.reason ?? 'no reason'}).`]

const lastEnd = ({ lastState }: ContainerStatus): string[] =>
  lastState?.terminated === undefined
    ? []
    : [
        `It last exited with code ${lastState.terminated.exitCode} (${lastState.terminated.reason ?? 'no reason'}) at ${lastState.terminated.finishedAt ?? 'an unknown time'}.`,
      ]
