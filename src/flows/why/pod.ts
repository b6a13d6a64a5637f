// Why a pod is not where it should be: not scheduled, not started, not ready, ended, or not gone yet.
import { pod, type Pod } from '../../api/core/v1/pod.ts'
import { node } from '../../api/core/v1/node.ts'
import { namespaceOf } from '../../api/object.ts'
import { selects } from '../../api/selectors.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { budgetSentence, nodeSentences } from './cluster.ts'
import { because, conditionOf, defineExplainer, plural, type Surroundings } from './surroundings.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export const podExplainer = defineExplainer({
  kind: pod,
  explain: async (object, around) => [...(await whyPod(object, around)), ...(await whyNotEvicted(object, around))],
})

/** What holds up a pod: its node where that is not ready, then itself. */
export async function whyPod(object: Pod, around: Surroundings): Promise<string[]> {
  const { nodeName } = object.spec
  const own = whyItself(object)
  if (nodeName === undefined || ['Succeeded', 'Failed'].includes(object.status.phase ?? '')) return own
  const home = await around.find(node, '', nodeName)
  if (home === undefined) return [`Its node ${nodeName} is not there any more.`, ...own]
  return [...nodeSentences(home).map((sentence) => `On its node ${nodeName}: ${sentence}`), ...own]
}

/** A node that is being emptied waits for pods whose budgets let none of them go. */
async function whyNotEvicted(object: Pod, around: Surroundings): Promise<string[]> {
  const { metadata, spec } = object
  if (spec.nodeName === undefined || metadata.deletionTimestamp !== undefined) return []
  const home = await around.find(node, '', spec.nodeName)
  if (!home?.spec.unschedulable) return []
  const budgets = await around.list(podDisruptionBudget, namespaceOf(object))
  return budgets
    .filter((budget) => selects(budget.spec.selector, metadata.labels))
    .flatMap((budget) =>
      budgetSentence(budget).map(
        (sentence) =>
          `Its node ${spec.nodeName} is cordoned, but it cannot be evicted: the budget ${budget.metadata.name} forbids it. ${sentence}`,
      ),
    )
}

function whyItself({ metadata, spec, status }: Pod): string[] {
  const { phase = 'Pending', conditions, initContainerStatuses = [], containerStatuses = [] } = status
  if (metadata.deletionTimestamp !== undefined)
    return [
      spec.nodeName === undefined
        ? 'It is being deleted and was never on a node.'
        : `It is being deleted: the kubelet of ${spec.nodeName} ends its containers, which have ${metadata.deletionGracePeriodSeconds ?? 0} s since ${metadata.deletionTimestamp}.`,
    ]
  if (phase === 'Succeeded') return ['It has ended with success.']
  if (phase === 'Failed')
    return [
      `It has failed: ${status.reason ?? ''} ${status.message ?? ''}`.trimEnd(),
      ...containerStatuses.flatMap(ended),
    ]
  const scheduled = conditionOf(conditions, 'PodScheduled')
  if (spec.nodeName === undefined) return whyUnscheduled(spec, scheduled)
  const init = initContainerStatuses.find((each) => !each.ready && each.state?.terminated?.exitCode !== 0)
  if (init !== undefined) return initSentences(init)
  const unready = containerStatuses.filter(({ ready }) => !ready)
  if (containerStatuses.length === 0)
    return [`It is on ${spec.nodeName}, whose kubelet has not told of its containers yet.`]
  const gates = (spec.readinessGates ?? []).filter(
    ({ conditionType }) => conditionOf(conditions, conditionType)?.status !== 'True',
  )
  return [
    ...unready.flatMap(containerSentences),
    ...gates.map(({ conditionType }) => `Its readiness gate ${conditionType} is not true.`),
  ]
}

function whyUnscheduled(
  { schedulerName, schedulingGates = [] }: Pod['spec'],
  scheduled: ReturnType<typeof conditionOf>,
) {
  if (schedulingGates.length > 0)
    return [
      `It is held back by ${schedulingGates.map(({ name }) => name).join(', ')}: nobody schedules it before ${schedulingGates.length === 1 ? 'that is' : 'these are'} removed.`,
    ]
  if (scheduled === undefined)
    return [`It waits for the scheduler ${schedulerName ?? ''}, which has not looked at it yet.`]
  return [`No node takes it: ${scheduled.message ?? scheduled.reason ?? ''}`]
}

/** An init container has nothing to be ready for: it ends, or is started where it goes on beside the others. */
const initSentences = (status: ContainerStatus): string[] => [
  `It waits for its init container ${status.name}.`,
  ...(status.state?.running === undefined
    ? containerSentences(status)
    : [`Container ${status.name} runs since ${status.state.running.startedAt ?? 'now'}.`]),
]

function containerSentences(status: ContainerStatus): string[] {
  const { name, image, state, restartCount, started } = status
  if (state?.waiting) {
    const { reason = '', message = '' } = state.waiting
    const again = restartCount > 0 ? ` It was restarted ${plural(restartCount, 'time')}.` : ''
    return [
      `Container ${name} (${image}) waits: ${because({ type: '', status: '', reason, message })}.${again}`,
      ...lastEnd(status),
    ]
  }
  if (state?.terminated) return ended(status)
  if (state?.running)
    return [
      started === false
        ? `Container ${name} runs, but its startup probe has not succeeded yet.`
        : `Container ${name} runs since ${state.running.startedAt ?? 'now'}, but is not ready: its readiness probe has not succeeded.`,
    ]
  return [`Container ${name} has not been started yet.`]
}

const ended = ({ name, state }: ContainerStatus): string[] =>
  state?.terminated === undefined
    ? []
    : [`Container ${name} ended with code ${state.terminated.exitCode} (${state.terminated.reason ?? 'no reason'}).`]

const lastEnd = ({ lastState }: ContainerStatus): string[] =>
  lastState?.terminated === undefined
    ? []
    : [
        `It last ended with code ${lastState.terminated.exitCode} (${lastState.terminated.reason ?? 'no reason'}) at ${lastState.terminated.finishedAt ?? 'an unknown time'}.`,
      ]
