// Actions on the selected object of a list.
import { isRestartable, isScalable } from '../../calls/workload-kinds.ts'
import type { ObjectAction } from './bindings.ts'
import { drillDown, selectsPods } from './drill-down.ts'
import { inNamespace } from './favorites.ts'
import { isPod, type ObjectRef } from './resources.ts'
import type { Row } from './rows.ts'
import { selectedRow } from './scroll.ts'
import type { Effect, State, Step } from './state.ts'
import { failed, only, opened } from './transitions.ts'
import { flowView, tableView, textView, type TableView, type TextSource } from './views.ts'
import { isForwardable } from './workload-actions.ts'

export interface SelectedObject {
  readonly object: ObjectRef
  readonly uid: string
  readonly container: string
  readonly row: Row
}

/** The selected object: that of the row, or the pod of a container. */
export function selectedObject(view: TableView): SelectedObject | undefined {
  const row = selectedRow(view)
  if (row === undefined) return undefined
  const { source } = view
  if (source.kind === 'containers') return { object: source.pod, uid: '', container: row.name, row }
  if (source.kind !== 'list') return undefined
  const { namespace, name, uid } = row
  return { object: { resource: source.resource, namespace, name }, uid, container: '', row }
}

export function objectAction(
  state: State,
  view: TableView,
  action: ObjectAction,
  { object, uid, container, row }: SelectedObject,
): Step {
  const isOfPod = isPod(object.resource)
  const isContainer = view.source.kind === 'containers'
  const a = `a ${object.resource.singular}`
  const effect = (each: Effect): Step => ({ state, effects: [each] })
  const text = (source: TextSource): Step => only(opened(state, textView(state.nextId, source)))
  switch (action) {
    case 'describe':
    case 'yaml':
    case 'why':
      return text({ kind: action, object })
    case 'logs':
    case 'previous-logs':
      if (!isOfPod && !selectsPods(object.resource))
        return only(failed(state, `${a} has no logs; pods, workloads and Services have`))
      return text({ kind: 'logs', object, container, isPrevious: action === 'previous-logs' })
    case 'shell':
      return isOfPod ? effect({ kind: 'shell', object, container }) : only(failed(state, 'a shell runs in a pod'))
    case 'scale':
      if (!isScalable(object.resource)) return only(failed(state, `${a} has no number of replicas`))
      return only({ ...state, prompt: { kind: 'scale', object, text: replicasOf(view, row), isProposed: true } })
    case 'restart':
      if (!isRestartable(object.resource))
        return only(failed(state, `${a} is not restarted; Deployments, StatefulSets and DaemonSets are`))
      return only({ ...state, prompt: { kind: 'confirm', action: 'restart', object, uid } })
    case 'forward':
      if (!isForwardable(object.resource))
        return only(failed(state, `${a} has no ports; pods, workloads and Services have`))
      return only({ ...state, prompt: { kind: 'forward', object, text: '', isProposed: false } })
    case 'edit':
      return effect({ kind: 'edit', object })
    case 'flow':
      if (state.cluster.missing !== undefined) return only(failed(state, state.cluster.missing))
      return only(opened(state, flowView(state.nextId, { object, between: '' })))
    case 'delete':
      if (isContainer) return only(failed(state, 'a container is not deleted by itself; go back to its pod'))
      return only({ ...state, prompt: { kind: 'confirm', action: 'delete', object, uid } })
    case 'kill':
      if (!isOfPod || isContainer) return only(failed(state, 'only a pod can be killed'))
      return effect({ kind: 'delete', object, uid, isNow: true })
    case 'enter': {
      if (isContainer) return text({ kind: 'logs', object, container, isPrevious: false })
      const to = drillDown(object, state.resources)
      if (to === 'read') return effect({ kind: 'drill', id: view.id, object })
      if (to === undefined) return text({ kind: 'describe', object })
      const isNamespace = object.resource.plural === 'namespaces'
      return only(opened(isNamespace ? inNamespace(state, object.name) : state, tableView(state.nextId, to)))
    }
    default:
      return action satisfies never
  }
}

/** The wanted number in the row: `2/3` of a Deployment, the column Desired of a ReplicaSet. */
function replicasOf({ columns }: TableView, { cells }: Row): string {
  const cell = (name: string): string => cells[columns.findIndex((column) => column.name === name)] ?? ''
  return /\/(\d+)$/.exec(cell('Ready'))?.[1] ?? cell('Desired')
}
