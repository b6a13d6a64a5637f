// Why workloads have not what they want: their own conditions first, then the pods that hold them up.
import { daemonSet } from '../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { cronJob } from '../../api/batch/v1/cron-job.ts'
import { job } from '../../api/batch/v1/job.ts'
import { pod, type Pod } from '../../api/core/v1/pod.ts'
import { replicationController } from '../../api/core/v1/replication-controller.ts'
import { namespaceOf, type ApiObject } from '../../api/object.ts'
import { whyPod } from './pod.ts'
import { because, conditionOf, defineExplainer, plural, unseen, type Surroundings } from './surroundings.ts'

const ownedBy = (owner: ApiObject, { metadata }: ApiObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)

const isReady = ({ status }: Pod): boolean => conditionOf(status.conditions, 'Ready')?.status === 'True'

/** What the pods that are not ready wait for, alike ones together. */
async function whyPodsOf(owners: readonly ApiObject[], around: Surroundings): Promise<string[]> {
  const [first] = owners
  if (first === undefined) return []
  const all = await around.list(pod, namespaceOf(first))
  const held = all.filter((each) => !isReady(each) && owners.some((owner) => ownedBy(owner, each)))
  const reasons = new Map<Pod, string>()
  for (const each of held) reasons.set(each, (await whyPod(each, around)).join(' '))
  const byReason = Map.groupBy(held, (each) => reasons.get(each) ?? '')
  return [...byReason].map(([reason, pods]) => {
    const [{ metadata }] = pods as [Pod]
    const who =
      pods.length === 1 ? `Pod ${metadata.name}` : `${plural(pods.length, 'pod')} (${metadata.name} and others)`
    return `${who}: ${reason === '' ? 'nothing holds it up that can be seen.' : reason}`
  })
}

const refusal = (object: { status?: { conditions?: Parameters<typeof conditionOf>[0] } }): string[] => {
  const failure = conditionOf(object.status?.conditions, 'ReplicaFailure')
  return failure?.status === 'True' ? [`Its pods cannot be made: ${because(failure)}.`] : []
}

export const deploymentExplainer = defineExplainer({
  kind: deployment,
  async explain(object, around) {
    const { spec, status } = object
    const { replicas } = spec
    const { updatedReplicas = 0, availableReplicas = 0, replicas: present = 0 } = status
    const progressing = conditionOf(status.conditions, 'Progressing')
    const isDone = updatedReplicas === replicas && availableReplicas === replicas && present === replicas
    const sets = (await around.list(replicaSet, namespaceOf(object))).filter((set) => ownedBy(object, set))
    return [
      ...unseen(object, status),
      ...(spec.paused ? ['It is paused: changes of its template are not rolled out.'] : []),
      ...(progressing?.status === 'False' ? [`It makes no progress: ${because(progressing)}.`] : []),
      ...refusal(object),
      ...(isDone
        ? []
        : [
            `It wants ${plural(replicas, 'pod')}: ${updatedReplicas} of the newest template, ${availableReplicas} available, ${present} in all.`,
          ]),
      ...(await whyPodsOf(sets, around)),
    ]
  },
})

const replicaExplainer = <T extends typeof replicaSet | typeof replicationController>(kind: T) =>
  defineExplainer({
    kind: kind as typeof replicaSet,
    async explain(object, around) {
      const { replicas } = object.spec
      const { replicas: present, readyReplicas = 0 } = object.status
      return [
        ...unseen(object, object.status),
        ...refusal(object),
        ...(present === replicas && readyReplicas === replicas
          ? []
          : [`It wants ${plural(replicas, 'pod')}: ${present} in all, ${readyReplicas} ready.`]),
        ...(await whyPodsOf([object], around)),
      ]
    },
  })

export const replicaSetExplainer = replicaExplainer(replicaSet)
export const replicationControllerExplainer = replicaExplainer(replicationController)

export const statefulSetExplainer = defineExplainer({
  kind: statefulSet,
  async explain(object, around) {
    const { spec, status } = object
    const { replicas, podManagementPolicy, updateStrategy } = spec
    const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status
    const partition = updateStrategy?.rollingUpdate?.partition ?? 0
    return [
      ...unseen(object, status),
      ...(readyReplicas === replicas ? [] : [`It wants ${plural(replicas, 'pod')}: ${readyReplicas} ready.`]),
      ...(readyReplicas !== replicas && podManagementPolicy !== 'Parallel'
        ? ['It goes one pod at a time: the next one is made when the one before is ready.']
        : []),
      ...(currentRevision !== updateRevision
        ? [
            `It is being updated: ${updatedReplicas} of ${replicas} pods are new${partition > 0 ? `, and those below ${partition} stay as they are` : ''}.`,
          ]
        : []),
      ...(await whyPodsOf([object], around)),
    ]
  },
})

export const daemonSetExplainer = defineExplainer({
  kind: daemonSet,
  async explain(object, around) {
    const {
      desiredNumberScheduled: wanted,
      numberReady,
      updatedNumberScheduled: updated = 0,
      numberMisscheduled,
    } = object.status
    return [
      ...unseen(object, object.status),
      ...(wanted === 0 ? ['No node is one of those that it wants a pod on.'] : []),
      ...(numberReady === wanted && updated === wanted
        ? []
        : [`It wants a pod on ${plural(wanted, 'node')}: ${numberReady} ready, ${updated} of the newest template.`]),
      ...(numberMisscheduled > 0
        ? [
            numberMisscheduled === 1
              ? '1 pod runs where it should not.'
              : `${numberMisscheduled} pods run where they should not.`,
          ]
        : []),
      ...(await whyPodsOf([object], around)),
    ]
  },
})

export const jobExplainer = defineExplainer({
  kind: job,
  async explain(object, around) {
    const { spec, status } = object
    const [failed, complete] = [conditionOf(status.conditions, 'Failed'), conditionOf(status.conditions, 'Complete')]
    if (complete?.status === 'True') return ['It is complete.']
    if (failed?.status === 'True') return [`It has failed: ${because(failed)}.`]
    const { succeeded = 0, failed: failures = 0, active = 0 } = status
    return [
      ...(spec.suspend ? ['It is suspended: no pod is started before it is resumed.'] : []),
      `It wants ${plural(spec.completions ?? 1, 'success')}: ${succeeded} so far, ${plural(active, 'pod')} at work, ${failures} failed (it gives up after ${spec.backoffLimit ?? 6}).`.replace(
        'successs',
        'successes',
      ),
      ...(await whyPodsOf([object], around)),
    ]
  },
})

export const cronJobExplainer = defineExplainer({
  kind: cronJob,
  explain: ({ spec, status }) =>
    Promise.resolve([
      ...(spec.suspend ? ['It is suspended: no Job is started before it is resumed.'] : []),
      `It starts a Job at ${JSON.stringify(spec.schedule)}${spec.timeZone === undefined ? '' : ` (${spec.timeZone})`}; the last was at ${status.lastScheduleTime ?? 'no time yet'}.`,
      ...((status.active ?? []).length > 0 && spec.concurrencyPolicy === 'Forbid'
        ? ['The last Job still runs, and no second one may run beside it.']
        : []),
    ]),
})
