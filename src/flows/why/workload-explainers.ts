// Explains problems of workloads: first their own conditions, then their pods that are not ready.
import { daemonSet } from '../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet } from '../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../api/apps/v1/stateful-set.ts'
import { cronJob } from '../../api/batch/v1/cron-job.ts'
import { job } from '../../api/batch/v1/job.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { replicationController } from '../../api/core/v1/workload/replication-controller.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { whyPod } from './pod-explainer.ts'
import { because, conditionOf, defineExplainer, plural, unobservedChange, type ClusterReader } from './explainer.ts'

const ownedBy = (owner: ApiObject, { metadata }: ApiObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)

const isReady = ({ status }: Pod): boolean => conditionOf(status.conditions, 'Ready')?.status === 'True'

/** Why pods are not ready; pods with similar reasons are grouped. */
async function whyPodsOf(owners: readonly ApiObject[], cluster: ClusterReader): Promise<string[]> {
  const [first] = owners
  if (first === undefined) return []
  const all = await cluster.list(pod, namespaceOf(first))
  const unready = all.filter((each) => !isReady(each) && owners.some((owner) => ownedBy(owner, each)))
  const reasons = new Map<Pod, string>()
  for (const each of unready) reasons.set(each, (await whyPod(each, cluster)).join(' '))
  const byReason = Map.groupBy(unready, (each) => generalReason(reasons.get(each) ?? '', each))
  return [...byReason.values()].map((pods) => {
    const [first_] = pods as [Pod]
    const { metadata } = first_
    const reason = reasons.get(first_) ?? ''
    const who =
      pods.length === 1 ? `Pod ${metadata.name}` : `${plural(pods.length, 'pod')} (${metadata.name} and others)`
    return `${who}: ${reason === '' ? 'not ready yet; its status gives no reason.' : reason}`
  })
}

/** `10s`, `1m20s`, `2.5s` */
const isDuration = /^\d+(\.\d+)?(ms|s|m|h)(\d+s)?$/

/** A reason without what differs between pods: names, ids, times and counts. */
function generalReason(reason: string, { metadata, spec }: Pod): string {
  let general = reason
  for (const own of [metadata.name, metadata.uid, spec.nodeName])
    if (own !== undefined && own !== '') general = general.replaceAll(own, '*')
  return general
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'T')
    .replaceAll(/restarted \d+ times?/g, 'restarted')
    .split(' ')
    .map((word) => (isDuration.test(word) ? 'D' : word))
    .join(' ')
}

const replicaFailure = (object: { status?: { conditions?: Parameters<typeof conditionOf>[0] } }): string[] => {
  const failure = conditionOf(object.status?.conditions, 'ReplicaFailure')
  return failure?.status === 'True' ? [`Its pods cannot be created: ${because(failure)}.`] : []
}

export const deploymentExplainer = defineExplainer({
  kind: deployment,
  checked: 'its rollout and its pods',
  async explain(object, cluster) {
    const { spec, status } = object
    const { replicas } = spec
    const { updatedReplicas = 0, availableReplicas = 0, replicas: present = 0 } = status
    const progressing = conditionOf(status.conditions, 'Progressing')
    const isDone = updatedReplicas === replicas && availableReplicas === replicas && present === replicas
    const sets = (await cluster.list(replicaSet, namespaceOf(object))).filter((set) => ownedBy(object, set))
    return [
      ...unobservedChange(object, status),
      ...(spec.paused ? ['It is paused: changes of its pod template are not rolled out.'] : []),
      ...(progressing?.status === 'False' ? [`Its rollout is not progressing: ${because(progressing)}.`] : []),
      ...replicaFailure(object),
      ...(isDone
        ? []
        : [
            `It needs ${plural(replicas, 'pod')}: ${updatedReplicas} up to date, ${availableReplicas} available, ${present} in total.`,
          ]),
      ...(await whyPodsOf(sets, cluster)),
    ]
  },
})

const replicaExplainer = <T extends typeof replicaSet | typeof replicationController>(kind: T) =>
  defineExplainer({
    kind: kind as typeof replicaSet,
    checked: 'its pods',
    async explain(object, cluster) {
      const { replicas } = object.spec
      const { replicas: present, readyReplicas = 0 } = object.status
      return [
        ...unobservedChange(object, object.status),
        ...replicaFailure(object),
        ...(present === replicas && readyReplicas === replicas
          ? []
          : [`It needs ${plural(replicas, 'pod')}: ${readyReplicas} ready, ${present} in total.`]),
        ...(await whyPodsOf([object], cluster)),
      ]
    },
  })

export const replicaSetExplainer = replicaExplainer(replicaSet)
export const replicationControllerExplainer = replicaExplainer(replicationController)

export const statefulSetExplainer = defineExplainer({
  kind: statefulSet,
  checked: 'its revision and its pods',
  async explain(object, cluster) {
    const { spec, status } = object
    const { replicas, podManagementPolicy, updateStrategy } = spec
    const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status
    const partition = updateStrategy?.rollingUpdate?.partition ?? 0
    return [
      ...unobservedChange(object, status),
      ...(readyReplicas === replicas ? [] : [`It needs ${plural(replicas, 'pod')}: ${readyReplicas} ready.`]),
      ...(readyReplicas !== replicas && podManagementPolicy !== 'Parallel'
        ? ['It creates its pods in order: the next one when the previous one is ready.']
        : []),
      ...(currentRevision !== updateRevision
        ? [
            `It is being updated: ${updatedReplicas} of ${plural(replicas, 'pod')} are up to date${partition > 0 ? `; its partition keeps pods below ordinal ${partition} as they are` : ''}.`,
          ]
        : []),
      ...(await whyPodsOf([object], cluster)),
    ]
  },
})

export const daemonSetExplainer = defineExplainer({
  kind: daemonSet,
  checked: 'its pods on each node',
  async explain(object, cluster) {
    const {
      desiredNumberScheduled: wanted,
      numberReady,
      updatedNumberScheduled: updated = 0,
      numberMisscheduled,
    } = object.status
    return [
      ...unobservedChange(object, object.status),
      ...(wanted === 0 ? ['No node matches its node selector and tolerations.'] : []),
      ...(numberReady === wanted && updated === wanted
        ? []
        : [`It needs a pod on ${plural(wanted, 'node')}: ${numberReady} ready, ${updated} up to date.`]),
      ...(numberMisscheduled > 0
        ? [
            numberMisscheduled === 1
              ? '1 pod runs on a node that it no longer matches.'
              : `${numberMisscheduled} pods run on nodes that it no longer matches.`,
          ]
        : []),
      ...(await whyPodsOf([object], cluster)),
    ]
  },
})

export const jobExplainer = defineExplainer({
  kind: job,
  checked: 'its conditions and its pods',
  async explain(object, cluster) {
    const { spec, status } = object
    const [failed, complete] = [conditionOf(status.conditions, 'Failed'), conditionOf(status.conditions, 'Complete')]
    if (complete?.status === 'True') return ['It is complete.']
    if (failed?.status === 'True') return [`It has failed: ${because(failed)}.`]
    const { succeeded = 0, failed: failures = 0, active = 0 } = status
    return [
      ...(spec.suspend ? ['It is suspended: no pod is started until it is resumed.'] : []),
      `It needs ${plural(spec.completions ?? 1, 'completion')}: ${succeeded} so far, ${plural(active, 'active pod')}, ${failures} failed (backoff limit ${spec.backoffLimit ?? 6}).`,
      ...(await whyPodsOf([object], cluster)),
    ]
  },
})

export const cronJobExplainer = defineExplainer({
  kind: cronJob,
  checked: 'its schedule and its last Jobs',
  explain: ({ spec, status }) =>
    Promise.resolve([
      ...(spec.suspend ? ['It is suspended: no Job is started until it is resumed.'] : []),
      `It starts a Job on the schedule ${JSON.stringify(spec.schedule)}${spec.timeZone === undefined ? '' : ` (${spec.timeZone})`}; ${status.lastScheduleTime === undefined ? 'it has not started one yet' : `the last one at ${status.lastScheduleTime}`}.`,
      ...((status.active ?? []).length > 0 && spec.concurrencyPolicy === 'Forbid'
        ? ['Its last Job is still running, and its concurrency policy Forbid allows no second one.']
        : []),
    ]),
})
