// What follows from the drain of a node, in sentences, for the question before it.
import type { DrainedPod, DrainPlan } from '../../../calls/drain.ts'

/** Names in one sentence; further ones are counted. */
const namesMax = 5

export function consequencesOfDrain(plan: DrainPlan): readonly string[] {
  const { evicted, ofDaemonSets, mirrors, unmanaged, withLocalData } = plan
  const sentences: readonly (readonly [string, readonly DrainedPod[]])[] = [
    ['Evicted as PodDisruptionBudgets allow', evicted],
    ['Nothing replaces', unmanaged],
    ['Data in emptyDir volumes are lost of', withLocalData],
    ['Stay, because a DaemonSet owns them', ofDaemonSets],
    ['Stay, because they are static pods of the kubelet', mirrors],
  ]
  return [
    'No new pods are scheduled to it.',
    ...(evicted.length === 0 ? ['No pod is evicted.'] : []),
    ...sentences.flatMap(([text, pods]) => (pods.length === 0 ? [] : [`${text}: ${namesOf(pods)}.`])),
  ]
}

function namesOf(pods: readonly DrainedPod[]): string {
  const names = pods.slice(0, namesMax).map(({ metadata }) => metadata.name)
  return `${names.join(', ')}${pods.length > namesMax ? ` and ${pods.length - namesMax} more` : ''}`
}
