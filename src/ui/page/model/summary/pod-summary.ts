// The summary of a pod: its containers and what it uses; and the rows of pods in other summaries.
import { podReadyText, podRestartsText, podStatusText } from '../../../../api/core/v1/pod/pod-columns.ts'
import type { PodSpecAndStatus } from '../../../../api/core/v1/pod/pod-readiness.ts'
import { cellState, type CellState } from '../cell-states.ts'
import type { ClusterObject } from '../../source/source.ts'
import { referencesOf } from './pod-references.ts'
import {
  fact,
  linkNamed,
  linkTo,
  sinceCreation,
  tableRowsMax,
  type KindSummary,
  type SummaryTable,
  type SummaryValue,
} from './summary-parts.ts'

interface Container {
  readonly name: string
  readonly image?: string
  readonly ports?: readonly { readonly containerPort: number; readonly protocol?: string }[]
}

interface PodSpec {
  readonly nodeName?: string
  readonly serviceAccountName?: string
  readonly priorityClassName?: string
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
}

interface ContainerStatus {
  readonly name: string
  readonly ready?: boolean
  readonly restartCount?: number
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}

interface ContainerState {
  readonly running?: { readonly startedAt?: string }
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly finishedAt?: string }
}

interface PodStatus {
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip: string }[]
  readonly qosClass?: string
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
}

const specOf = ({ spec }: ClusterObject): PodSpec => spec ?? {}
const statusOf = ({ status }: ClusterObject): PodStatus => status ?? {}

/** A pod as the columns of kubectl expect it: what is absent is empty. */
function complete({ metadata, spec, status }: ClusterObject): PodSpecAndStatus {
  const { containerStatuses = [], initContainerStatuses = [] } = (status ?? {}) as PodStatus
  const withStates = (all: readonly ContainerStatus[]) =>
    all.map((each) => ({ restartCount: 0, ready: false, lastState: {}, ...each, state: each.state ?? {} }))
  return {
    metadata,
    spec: { containers: [], ...spec },
    status: {
      ...status,
      containerStatuses: withStates(containerStatuses),
      initContainerStatuses: withStates(initContainerStatuses),
    },
  } as unknown as PodSpecAndStatus
}

const state = (column: string, text: string): SummaryValue => ({ text, state: cellState(column, text) })

export const podState = (pod: ClusterObject): SummaryValue => state('Status', podStatusText(complete(pod)))

/** Restarts without the time of the last one. */
const restartsOf = (pod: ClusterObject): string => podRestartsText(complete(pod), 0).split(' ', 1)[0] ?? ''

/** The rows of pods; `other` is the column that the summary has instead of its own object. */
export function podsTable(title: string, pods: readonly ClusterObject[], other: 'Node' | 'Namespace'): SummaryTable {
  const otherOf = (pod: ClusterObject): SummaryValue =>
    other === 'Node' ? linkNamed('nodes', '', specOf(pod).nodeName) : (pod.metadata.namespace ?? '')
  return {
    title: titleOf(title, pods),
    columns: ['Name', 'Ready', 'Status', 'Restarts', other, 'Age'],
    rows: pods
      .slice(0, tableRowsMax)
      .map((pod) => [
        linkTo('pods', pod),
        state('Ready', podReadyText(complete(pod))),
        podState(pod),
        restartsOf(pod),
        otherOf(pod),
        sinceCreation(pod),
      ]),
    empty: 'It has no pods.',
  }
}

/** The title with the number of objects, and of those that are shown if these are not all. */
export const titleOf = (title: string, { length }: readonly unknown[]): string =>
  length > tableRowsMax ? `${title} (${tableRowsMax} of ${length})` : `${title} (${length})`

export const podSummary: KindSummary = {
  facts(pod) {
    const { nodeName, serviceAccountName, priorityClassName } = specOf(pod)
    const { podIP, podIPs = [], qosClass } = statusOf(pod)
    const { namespace = '' } = pod.metadata
    const { secrets, configMaps, claims } = referencesOf(pod.spec)
    const used = [
      ...configMaps.map((name) => linkNamed('configmaps', namespace, name)),
      ...secrets.map((name) => linkNamed('secrets', namespace, name)),
      ...claims.map((name) => linkNamed('persistentvolumeclaims', namespace, name)),
    ]
    return [
      ...fact('State', podState(pod)),
      ...fact('Node', linkNamed('nodes', '', nodeName)),
      ...fact('Addresses', ...(podIPs.length === 0 ? [podIP] : podIPs.map(({ ip }) => ip))),
      ...fact('Service account', linkNamed('serviceaccounts', namespace, serviceAccountName)),
      ...fact('Uses', ...used),
      ...fact('Priority', priorityClassName),
      ...fact('Quality of service', qosClass),
    ]
  },
  tables: (pod) => [containersTable(pod)],
}

function containersTable(pod: ClusterObject): SummaryTable {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = specOf(pod)
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = statusOf(pod)
  const rowsOf = (
    type: string,
    all: readonly Container[],
    statuses: readonly ContainerStatus[],
  ): readonly (readonly SummaryValue[])[] =>
    all.map((container) => {
      const status = statuses.find(({ name }) => name === container.name)
      return [
        container.name,
        type,
        container.image ?? '',
        stateOf(status?.state),
        String(status?.restartCount ?? 0),
        lastText(status?.lastState),
        (container.ports ?? []).map(({ containerPort, protocol = 'TCP' }) => `${containerPort}/${protocol}`).join(', '),
      ]
    })
  const rows = [
    ...rowsOf('init', initContainers, initContainerStatuses),
    ...rowsOf('', containers, containerStatuses),
    ...rowsOf('debug', ephemeralContainers, ephemeralContainerStatuses),
  ]
  return {
    title: `Containers (${rows.length})`,
    columns: ['Name', 'Type', 'Image', 'State', 'Restarts', 'Last end', 'Ports'],
    rows,
    empty: 'It has no containers.',
  }
}

function stateOf({ running, waiting, terminated }: ContainerState = {}): SummaryValue {
  if (running !== undefined) return { text: 'running', state: 'good' }
  if (terminated !== undefined) return { text: endText(terminated), state: endState(terminated.exitCode) }
  return waiting?.reason === undefined ? { text: 'waiting', state: 'waiting' } : state('Status', waiting.reason)
}

const endState = (exitCode: number | undefined): CellState => (exitCode === 0 ? 'ended' : 'failing')

const endText = ({ reason, exitCode = 0 }: NonNullable<ContainerState['terminated']>): string =>
  `${reason ?? 'ended'}, exit code ${exitCode}`

const lastText = ({ terminated }: ContainerState = {}): string => (terminated === undefined ? '' : endText(terminated))
