// Why what stands around pods does not do what it should: claims, volumes, Services, nodes,
// namespaces, quotas, autoscalers.
import { horizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { node, type Node } from '../../api/core/v1/node.ts'
import { persistentVolumeClaim } from '../../api/core/v1/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/persistent-volume.ts'
import { pod, type Pod } from '../../api/core/v1/pod.ts'
import { resourceQuota } from '../../api/core/v1/resource-quota.ts'
import { service } from '../../api/core/v1/service.ts'
import { ingress } from '../../api/networking/v1/ingress.ts'
import { namespaceOf } from '../../api/object.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import { quantityUnits } from '../../schema/quantity.ts'
import { because, conditionOf, defineExplainer, plural, type Surroundings } from './surroundings.ts'

const uses = (each: Pod, claim: string): boolean =>
  (each.spec.volumes ?? []).some(({ persistentVolumeClaim: volume }) => volume?.claimName === claim)

export const claimExplainer = defineExplainer({
  kind: persistentVolumeClaim,
  async explain({ metadata, spec, status }, around) {
    const { name, namespace: home = '', deletionTimestamp } = metadata
    const users = (await around.list(pod, home)).filter((each) => uses(each, name))
    if (deletionTimestamp !== undefined && users.length > 0)
      return [
        `It is being deleted, and goes when no pod uses it: ${users.map((each) => each.metadata.name).join(', ')}.`,
      ]
    if (status.phase === 'Bound') return []
    if (status.phase === 'Lost') return [`Its volume ${spec.volumeName ?? ''} is gone.`]
    if (spec.volumeName !== undefined)
      return [`It asks for the volume ${spec.volumeName}, which is not bound to it yet.`]
    return [`It is not bound to a volume. ${await whyNoVolume(spec.storageClassName, users.length, around)}`]
  },
})

async function whyNoVolume(className: string | undefined, users: number, around: Surroundings): Promise<string> {
  if (className === undefined || className === '')
    return 'It names no storage class, so only a volume that somebody makes can be bound to it.'
  const found = await around.find(storageClass, '', className)
  if (found === undefined) return `There is no storage class ${className}.`
  if (found.volumeBindingMode === 'WaitForFirstConsumer' && users === 0)
    return `Its storage class ${className} waits for the first pod that uses it.`
  return `The provisioner ${found.provisioner} has not made one yet.`
}

export const volumeExplainer = defineExplainer({
  kind: persistentVolume,
  explain({ metadata, spec, status }) {
    const claim = spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`
    if (metadata.deletionTimestamp !== undefined && status.phase === 'Bound')
      return Promise.resolve([`It is being deleted, and goes when the claim ${claim} does.`])
    if (status.phase === 'Released')
      return Promise.resolve([
        `Its claim ${claim} is gone; ${spec.persistentVolumeReclaimPolicy === 'Retain' ? 'it is kept until somebody clears it' : 'it will be reclaimed'}.`,
      ])
    if (status.phase === 'Failed') return Promise.resolve([`It could not be reclaimed: ${status.message ?? ''}`])
    return Promise.resolve(status.phase === 'Available' ? ['No claim is bound to it.'] : [])
  },
})

export const serviceExplainer = defineExplainer({
  kind: service,
  async explain(object, around) {
    const { type, selector = {}, externalName } = object.spec
    if (type === 'ExternalName') return [`It is another name for ${externalName ?? ''}.`]
    const pending =
      type === 'LoadBalancer' && (object.status.loadBalancer?.ingress ?? []).length === 0
        ? ['It waits for a load balancer: nobody has given it an address.']
        : []
    const wanted = Object.entries(selector)
    if (wanted.length === 0) return [...pending, 'It has no selector: its endpoints are whatever somebody writes.']
    const chosen = (await around.list(pod, namespaceOf(object))).filter(({ metadata }) =>
      wanted.every(([key, value]) => metadata.labels?.[key] === value),
    )
    const ready = chosen.filter(({ status }) => conditionOf(status.conditions, 'Ready')?.status === 'True')
    const words = wanted.map(([key, value]) => `${key}=${value}`).join(',')
    if (chosen.length === 0) return [...pending, `It has no endpoints: no pod has the labels ${words}.`]
    if (ready.length === 0)
      return [...pending, `It has no endpoints: of ${plural(chosen.length, 'pod')} with ${words} none is ready.`]
    return [
      ...pending,
      ...(ready.length < chosen.length
        ? [`${ready.length} of ${plural(chosen.length, 'pod')} are ready and get connections.`]
        : []),
    ]
  },
})

/** What is wrong with a node as a place for pods that are on it. */
export function nodeSentences({ status }: Node): string[] {
  const ready = conditionOf(status.conditions, 'Ready')
  if (ready === undefined) return ['Its kubelet has not told of it yet.']
  if (ready.status === 'Unknown') return [`Its kubelet is not heard of any more: ${because(ready)}`]
  return ready.status === 'False' ? [`It is not ready: ${because(ready)}.`] : []
}

/** Why a budget lets no pod go; none where it lets some. */
export function budgetSentence({ status }: PodDisruptionBudget): string[] {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status
  if (disruptionsAllowed > 0) return []
  if (expectedPods === 0) return ['It lets no pod go: it finds none of its pods.']
  return [
    `It lets no pod go: of ${plural(expectedPods, 'pod')} ${currentHealthy} ${currentHealthy === 1 ? 'is' : 'are'} healthy, and ${desiredHealthy} must be.`,
  ]
}

export const budgetExplainer = defineExplainer({
  kind: podDisruptionBudget,
  explain: (budget) => Promise.resolve(budgetSentence(budget)),
})

export const nodeExplainer = defineExplainer({
  kind: node,
  explain(object) {
    const { spec, status } = object
    const pressures = (status.conditions ?? []).filter(
      ({ type, status: value }) => type !== 'Ready' && value === 'True',
    )
    return Promise.resolve([
      ...nodeSentences(object),
      ...pressures.map((condition) => `${condition.type}: ${because(condition)}.`),
      ...(spec.unschedulable ? ['It is cordoned: new pods go elsewhere.'] : []),
      ...(spec.taints ?? []).map(
        ({ key, value, effect }) =>
          `Its taint ${key}${value === undefined ? '' : `=${value}`}:${effect} keeps away pods that do not tolerate it.`,
      ),
    ])
  },
})

export const namespaceExplainer = defineExplainer({
  kind: namespace,
  explain({ metadata, spec, status }) {
    if (metadata.deletionTimestamp === undefined) return Promise.resolve([])
    const told = (status.conditions ?? []).filter(({ status: value }) => value === 'True')
    return Promise.resolve([
      `It is being deleted since ${metadata.deletionTimestamp}.`,
      ...told.map((condition) => because(condition)),
      ...((spec?.finalizers ?? []).length > 0 && told.length === 0
        ? ['The namespace controller removes what is in it.']
        : []),
    ])
  },
})

export const ingressExplainer = defineExplainer({
  kind: ingress,
  async explain({ spec, status, metadata }, around) {
    const backends = [
      spec.defaultBackend,
      ...(spec.rules ?? []).flatMap(({ http }) => http?.paths ?? []).map((path) => path.backend),
    ]
    const names = new Set(backends.flatMap((backend) => backend?.service?.name ?? []))
    const missing: string[] = []
    for (const name of names)
      if ((await around.find(service, metadata.namespace ?? '', name)) === undefined) missing.push(name)
    return [
      ...((status.loadBalancer?.ingress ?? []).length === 0 ? ['No ingress controller has given it an address.'] : []),
      ...missing.map((name) => `There is no Service ${name}, which it leads to.`),
    ]
  },
})

export const quotaExplainer = defineExplainer({
  kind: resourceQuota,
  explain({ status }) {
    const { hard = {}, used = {} } = status
    const full = Object.entries(hard).filter(([name, most]) => quantityUnits(used[name] ?? '0') >= quantityUnits(most))
    return Promise.resolve(full.map(([name, most]) => `Its ${name} are used up: ${used[name] ?? '0'} of ${most}.`))
  },
})

export const autoscalerExplainer = defineExplainer({
  kind: horizontalPodAutoscaler,
  explain({ status, spec }) {
    const { kind, name } = spec.scaleTargetRef
    if (!status.desiredReplicas && (status.conditions ?? []).length === 0)
      return Promise.resolve([`No autoscaler has looked at it yet: ${kind}/${name} stays as it is.`])
    const bad = (status.conditions ?? []).filter(
      ({ type, status: value }) => (type === 'ScalingLimited') === (value === 'True'),
    )
    return Promise.resolve([
      `It wants ${status.desiredReplicas ?? 0} replicas of ${kind}/${name}, between ${spec.minReplicas ?? 1} and ${spec.maxReplicas}.`,
      ...bad.map((condition) => `${condition.type} is ${condition.status}: ${because(condition)}.`),
    ])
  },
})
