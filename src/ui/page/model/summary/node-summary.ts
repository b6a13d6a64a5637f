// The summary of a node: what weighs on it, how much of it is taken, and its pods.
import { amountOf, amountsFrom, podRequests } from '../../../../api/core/v1/pod/pod-requests.ts'
import type { PodSpecAndStatus } from '../../../../api/core/v1/pod/pod-readiness.ts'
import { cpuText, memoryText } from '../amounts.ts'
import type { ClusterObject } from '../../source/source.ts'
import { podsTable } from './pod-summary.ts'
import { fact, type KindSummary, type SummaryFact } from './summary-parts.ts'

interface NodeFields {
  readonly unschedulable?: boolean
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  readonly podCIDRs?: readonly string[]
}

interface NodeStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
  readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  readonly allocatable?: Readonly<Record<string, string>>
  readonly nodeInfo?: Readonly<Record<string, string>>
}

const roleLabel = 'node-role.kubernetes.io/'

const podsOf = ({ metadata: { name } }: ClusterObject, all: readonly ClusterObject[]): readonly ClusterObject[] =>
  all.filter(({ spec }) => spec?.['nodeName'] === name)

export const nodeSummary: KindSummary = {
  queries: ({ metadata: { name } }) => [{ resource: 'pods', namespace: '', fieldSelector: `spec.nodeName=${name}` }],
  facts(node, lists) {
    const { unschedulable = false, taints = [], podCIDRs = [] } = (node.spec ?? {}) as NodeFields
    const { conditions = [], addresses = [], nodeInfo = {} } = (node.status ?? {}) as NodeStatus
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
    const pressures = conditions.filter(({ type, status }) => type !== 'Ready' && status !== 'False')
    const roles = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith(roleLabel))
    return [
      ...fact('State', { text: isReady ? 'ready' : 'not ready', state: isReady ? 'good' : 'failing' }),
      ...fact('Scheduling', unschedulable ? { text: 'cordoned', state: 'waiting' } : undefined),
      ...fact(
        'Pressure',
        ...(pressures.length === 0
          ? [{ text: 'none', state: 'good' as const }]
          : pressures.map(({ type }) => ({ text: type, state: 'failing' as const }))),
      ),
      ...shares(node, podsOf(node, lists('pods'))),
      ...fact('Taints', ...taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)),
      ...fact('Roles', ...roles.map((label) => label.slice(roleLabel.length))),
      ...fact('Addresses', ...addresses.map(({ address }) => address)),
      ...fact('Pod addresses', ...podCIDRs),
      ...fact('Kubelet', nodeInfo['kubeletVersion']),
      ...fact('Runtime', nodeInfo['containerRuntimeVersion']),
      ...fact('System', nodeInfo['osImage'], nodeInfo['kernelVersion'], nodeInfo['architecture']),
    ]
  },
  tables: (node, lists) => [podsTable('Pods', podsOf(node, lists('pods')), 'Namespace')],
}

/** What its pods request of what it has for them. */
function shares({ status }: ClusterObject, pods: readonly ClusterObject[]): readonly SummaryFact[] {
  const { allocatable = {} } = (status ?? {}) as NodeStatus
  const counted = pods.filter((pod) => !['Succeeded', 'Failed'].includes(String(pod.status?.['phase'])))
  const requested = new Map<string, number>()
  for (const { spec, status: podStatus } of counted) {
    const pod = { spec: { containers: [], ...spec }, status: podStatus ?? {} } as unknown as PodSpecAndStatus
    for (const [name, amount] of podRequests(pod)) requested.set(name, (requested.get(name) ?? 0) + amount)
  }
  const capacity = amountsFrom(allocatable)
  const of = (name: string, text: (amount: number) => string): string | undefined =>
    capacity.has(name) ? `${text(requested.get(name) ?? 0)} of ${text(capacity.get(name) ?? 0)} requested` : undefined
  return [
    ...fact('CPU', of('cpu', cpuText)),
    ...fact('Memory', of('memory', memoryText)),
    ...fact('Pods', allocatable['pods'] && `${counted.length} of ${amountOf('pods', allocatable['pods'])}`),
  ]
}
