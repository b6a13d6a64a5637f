// Node placement of daemon pods: which nodes match a DaemonSet, and the pod for a node.
import type { DaemonSet } from '../../api/apps/v1/daemon-set.ts'
import { templateGenerationAnnotation } from '../../api/apps/v1/daemon-set-rules.ts'
import type { Toleration } from '../../api/core/v1/scheduling/affinity.ts'
import { matchesRequiredAffinity } from '../../api/core/v1/pod-spec/node-selection.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import { untoleratedTaint } from '../../api/core/v1/node/tolerations.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { podFromTemplate, type NewPod } from '../workload/pod-from-template.ts'

export const hashLabel = 'controller-revision-hash'
export const generationLabel = 'pod-template-generation'

export type NodeVerdict = 'run' | 'continue' | 'leave'

/** Whether the node should run a pod, may keep an existing one, or must not run one. */
export function nodeVerdict({ spec: { template } }: DaemonSet, node: Node): NodeVerdict {
  const { spec } = template
  if (spec.nodeName !== undefined && spec.nodeName !== node.metadata.name) return 'leave'
  if (!matchesRequiredAffinity(spec, node)) return 'leave'
  const taints = [
    ...(node.spec.taints ?? []),
    ...(node.spec.unschedulable ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const }] : []),
  ]
  const tolerations = daemonTolerations(spec)
  if (untoleratedTaint(taints, tolerations, ['NoExecute']) !== undefined) return 'leave'
  return untoleratedTaint(taints, tolerations, ['NoSchedule']) === undefined ? 'run' : 'continue'
}

/** Whether a change of the node can affect a verdict. */
export const isRelevantChange = (now: Node | undefined, before: Node | undefined): boolean =>
  now === undefined ||
  before === undefined ||
  !equalValues(now.metadata.labels, before.metadata.labels) ||
  !equalValues(now.spec.taints, before.spec.taints) ||
  now.spec.unschedulable !== before.spec.unschedulable

/** Daemon pods keep running on a node with problems, since they may be needed to repair it. */
const toleratedNodeProblems = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
] as const

function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const network = hostNetwork ? [['network-unavailable', 'NoSchedule'] as const] : []
  const added = [...toleratedNodeProblems, ...network].map(([name, effect]): Toleration => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect,
  }))
  const isSame = (a: Toleration, b: Toleration) =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator && a.value === b.value
  return [...tolerations.filter((each) => !added.some((other) => isSame(each, other))), ...added]
}

/** The node of a daemon pod, also before the pod is scheduled. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined) return spec.nodeName
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === 'metadata.name')?.values?.[0]
}

export const templateGeneration = ({ metadata }: DaemonSet): string | undefined =>
  metadata.annotations?.[templateGenerationAnnotation]

export function daemonPod(object: DaemonSet, nodeName: string, hash: string): NewPod {
  const { metadata, spec } = podFromTemplate(object.metadata.name, object.spec.template)
  const generation = templateGeneration(object)
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }]
  return {
    metadata: {
      ...metadata,
      labels: {
        ...object.spec.template.metadata.labels,
        [hashLabel]: hash,
        ...(generation === undefined ? {} : { [generationLabel]: generation }),
      },
    },
    spec: {
      ...spec,
      tolerations: daemonTolerations(spec),
      affinity: {
        ...spec.affinity,
        nodeAffinity: {
          ...spec.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        },
      },
    },
  }
}
