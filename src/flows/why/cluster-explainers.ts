// Explains problems of nodes, namespaces, quotas, budgets, claims and volumes.
import { lookup } from '../../base/collections/lookup.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { resourceQuota } from '../../api/core/v1/quota/resource-quota.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import { quantityUnits } from '../../schema/scalar/quantity.ts'
import { because, conditionOf, defineExplainer, plural, type ClusterReader } from './explainer.ts'

const namesOf = (pods: readonly Pod[]): string => {
  const names = pods.slice(0, namesMax).map(({ metadata }) => metadata.name)
  return pods.length > namesMax ? `${names.join(', ')} and ${pods.length - namesMax} more` : names.join(', ')
}

/** If there are more names, the others are counted. */
const namesMax = 5

const uses = (each: Pod, claim: string): boolean =>
  (each.spec.volumes ?? []).some(({ persistentVolumeClaim: volume }) => volume?.claimName === claim)

export const claimExplainer = defineExplainer({
  kind: persistentVolumeClaim,
  checked: 'its phase and the pods that use it',
  async explain({ metadata, spec, status }, cluster) {
    const { name, namespace: namespaceName = '', deletionTimestamp } = metadata
    const users = (await cluster.list(pod, namespaceName)).filter((each) => uses(each, name))
    if (deletionTimestamp !== undefined && users.length > 0)
      return [`${plural(users.length, 'pod')} still ${users.length === 1 ? 'uses' : 'use'} it: ${namesOf(users)}.`]
    if (status.phase === 'Bound') return []
    if (status.phase === 'Lost') return [`Its volume ${spec.volumeName ?? ''} no longer exists.`]
    if (spec.volumeName !== undefined) return [`It names the volume ${spec.volumeName}, which is not bound to it.`]
    return [`It is not bound to a volume: ${await whyNoVolume(spec.storageClassName, users.length, cluster)}`]
  },
})

async function whyNoVolume(className: string | undefined, users: number, cluster: ClusterReader): Promise<string> {
  if (className === undefined || className === '')
    return `it has no storage class, so it needs a PersistentVolume that an administrator creates; ${await availableVolumes('', cluster)}.`
  const found = await cluster.find(storageClass, '', className)
  if (found === undefined) return `the StorageClass ${className} does not exist.`
  if (found.volumeBindingMode === 'WaitForFirstConsumer' && users === 0)
    return `its StorageClass ${className} waits for the first pod that uses the claim.`
  if (found.provisioner === noProvisioner)
    return `its StorageClass ${className} has no provisioner; ${await availableVolumes(className, cluster)}.`
  return `the provisioner ${found.provisioner} has not created one.`
}

/** The provisioner of classes whose volumes are created by an administrator. */
const noProvisioner = 'kubernetes.io/no-provisioner'

/** The binder has found no suitable one among the available volumes of the class. */
async function availableVolumes(className: string, cluster: ClusterReader): Promise<string> {
  const volumes = (await cluster.list(persistentVolume, '')).filter(
    ({ spec, status }) => status.phase === 'Available' && (spec.storageClassName ?? '') === className,
  )
  const which = className === '' ? 'without a class' : 'of this class'
  return volumes.length === 0
    ? `no volume ${which} is available`
    : `of ${plural(volumes.length, 'available volume')} ${which} none has its size, access modes, volume mode and labels`
}

export const volumeExplainer = defineExplainer({
  kind: persistentVolume,
  checked: 'its phase',
  explain({ metadata, spec, status }) {
    const claim = spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`
    if (metadata.deletionTimestamp !== undefined && status.phase === 'Bound')
      return Promise.resolve([`It is still bound to the claim ${claim}.`])
    if (status.phase === 'Released')
      return Promise.resolve([
        `Its claim ${claim} is deleted. ${spec.persistentVolumeReclaimPolicy === 'Retain' ? 'It is retained (reclaim policy Retain) until an administrator deletes it' : `Its provisioner or storage driver has not deleted it yet (reclaim policy ${spec.persistentVolumeReclaimPolicy ?? 'Delete'})`}.`,
      ])
    if (status.phase === 'Failed') return Promise.resolve([`It could not be reclaimed: ${because(status)}.`])
    return Promise.resolve(status.phase === 'Available' ? ['No claim is bound to it.'] : [])
  },
})

/** Why a node does not run pods. */
export function nodeSentences({ status }: Node): string[] {
  const ready = conditionOf(status.conditions, 'Ready')
  if (ready === undefined) return ['Its kubelet has not reported its status yet.']
  if (ready.status === 'Unknown') return [`Its kubelet has stopped reporting: ${because(ready)}.`]
  return ready.status === 'False' ? [`It is not ready: ${because(ready)}.`] : []
}

/** Why a budget allows no disruption; empty if it allows one. */
export function budgetSentence({ status }: PodDisruptionBudget): string[] {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status
  if (disruptionsAllowed > 0) return []
  if (expectedPods === 0) return ['It allows no disruption: no pod matches its selector.']
  return [
    `It allows no disruption: ${currentHealthy} of ${plural(expectedPods, 'pod')} ${currentHealthy === 1 ? 'is' : 'are'} healthy, and ${desiredHealthy} must be.`,
  ]
}

export const budgetExplainer = defineExplainer({
  kind: podDisruptionBudget,
  checked: 'the number of healthy pods',
  explain: (budget) => Promise.resolve(budgetSentence(budget)),
})

export const nodeExplainer = defineExplainer({
  kind: node,
  checked: 'its conditions and taints',
  explain(object) {
    const { spec, status } = object
    const pressures = (status.conditions ?? []).filter(
      ({ type, status: value }) => type !== 'Ready' && value === 'True',
    )
    return Promise.resolve([
      ...nodeSentences(object),
      ...pressures.map((condition) => `${condition.type}: ${because(condition)}.`),
      ...(spec.unschedulable ? ['It is cordoned: no new pods are scheduled on it.'] : []),
      ...(spec.taints ?? []).map(
        ({ key, value, effect }) =>
          `Its taint ${key}${value === undefined ? '' : `=${value}`}:${effect} ${effect === 'PreferNoSchedule' ? 'discourages' : 'excludes'} pods that do not tolerate it.`,
      ),
    ])
  },
})

export const namespaceExplainer = defineExplainer({
  kind: namespace,
  checked: 'its conditions',
  explain({ metadata, status }) {
    if (metadata.deletionTimestamp === undefined) return Promise.resolve([])
    const holding = (status.conditions ?? []).filter(({ status: value }) => value === 'True')
    return Promise.resolve(holding.map((condition) => `${because(condition)}.`))
  },
})

export const quotaExplainer = defineExplainer({
  kind: resourceQuota,
  checked: 'its usage',
  explain({ status }) {
    const { hard = {}, used = {} } = status
    const full = Object.entries(hard).filter(
      ([name, most]) => quantityUnits(lookup(used, name) ?? '0') >= quantityUnits(most),
    )
    return Promise.resolve(
      full.map(([name, most]) => `Its quota of ${name} is used up: ${lookup(used, name) ?? '0'} of ${most}.`),
    )
  },
})
