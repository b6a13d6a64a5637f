// The containers of a pod as rows.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Column, Row } from '../state/rows.ts'

export const containerColumns: readonly Column[] = [
  { name: 'Name', priority: 0 },
  { name: 'Type', priority: 0 },
  { name: 'Ready', priority: 0 },
  { name: 'State', priority: 0 },
  { name: 'Restarts', priority: 0 },
  { name: 'Image', priority: 0 },
]

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export function containerRows(pod: Pod): Row[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {}
  const statuses = new Map(
    [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].map((each) => [each.name, each]),
  )
  const rows = (type: string, all: readonly { readonly name: string; readonly image?: string }[]): Row[] =>
    all.map(({ name, image = '' }) => {
      const status = statuses.get(name)
      const cells = [
        name,
        type,
        status?.ready ? '1/1' : '0/1',
        stateText(status),
        String(status?.restartCount ?? 0),
        image,
      ]
      return { key: `${type}/${name}`, namespace: '', name, uid: '', cells, ...noMetadata }
    })
  return [...rows('init', initContainers), ...rows('main', containers), ...rows('ephemeral', ephemeralContainers)]
}

export function containerNames({ spec }: Pod): string[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec
  return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
}

const noMetadata = { createdAt: undefined, isDeleting: false, labels: {}, owners: [] }

export function stateText(status: ContainerStatus | undefined): string {
  const { running, waiting, terminated } = status?.state ?? {}
  if (running !== undefined) return 'Running'
  if (terminated !== undefined) return terminated.reason || `Exited (${terminated.exitCode})`
  return waiting?.reason || 'Waiting'
}
