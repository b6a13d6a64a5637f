// Lists of the program itself: the contexts of the kubeconfig, and the ports that are forwarded.
import type { Action } from './bindings.ts'
import { objectText } from './resources.ts'
import type { Column, Row } from './rows.ts'
import { selectedRow, settled } from './scroll.ts'
import type { State, Step } from './state.ts'
import { failed, noticed, only } from './transitions.ts'
import { tableView, type TableView, type View } from './views.ts'

export type OwnList = 'contexts' | 'forwards'

const columnsOf = (...names: readonly string[]): readonly Column[] => names.map((name) => ({ name, priority: 0 }))

const columns: Readonly<Record<OwnList, readonly Column[]>> = {
  contexts: columnsOf('Name', 'Cluster', 'User', 'Namespace', 'Current'),
  forwards: columnsOf('Name', 'Ports', 'Status', 'Output'),
}

const rowOf = (key: string, name: string, ...cells: readonly string[]): Row => ({
  key,
  name,
  cells: [name, ...cells],
  namespace: '',
  uid: '',
  createdAt: undefined,
  isDeleting: false,
  labels: {},
  owners: [],
})

const rowsOf = ({ contexts, forwards, cluster }: State, list: OwnList): readonly Row[] =>
  list === 'contexts'
    ? contexts.map(({ name, cluster: of, user, namespace }) =>
        rowOf(name, name, of, user, namespace, name === cluster.context ? '*' : ''),
      )
    : forwards.map(({ id, object, ports, status, detail }) =>
        rowOf(String(id), objectText(object), ports, status, detail),
      )

/** The view with the rows of the state; other views as they are. */
export function withOwnRows(state: State, view: View): View {
  if (view.kind !== 'table') return view
  const { kind } = view.source
  if (kind !== 'contexts' && kind !== 'forwards') return view
  const rows = new Map(rowsOf(state, kind).map((row) => [row.key, row]))
  return settled<TableView>(state, { ...view, status: { kind: 'live' }, columns: columns[kind], rows })
}

export const ownListView = (state: State, list: OwnList): View =>
  withOwnRows(state, tableView(state.nextId, { kind: list }))

export const refreshed = (state: State): State => ({
  ...state,
  views: state.views.map((view) => withOwnRows(state, view)),
})

/** Undefined: an action that is the same in all views. */
export function ownListAction(state: State, view: TableView, list: OwnList, action: Action): Step | undefined {
  const row = selectedRow(view)
  switch (action) {
    case 'enter':
      if (list === 'forwards') return only(state)
      return row === undefined ? only(state) : switchContext(state, row.name)
    case 'delete':
      if (list === 'contexts') return only(failed(state, 'contexts are deleted with kubectl config delete-context'))
      return row === undefined ? only(noticed(state, 'nothing is selected')) : stopForward(state, Number(row.key))
    case 'describe':
    case 'yaml':
    case 'logs':
    case 'previous-logs':
    case 'shell':
    case 'scale':
    case 'restart':
    case 'forward':
    case 'edit':
    case 'kill':
    case 'flow':
    case 'why':
      return only(failed(state, `this is not possible for ${list === 'contexts' ? 'a context' : 'a forwarded port'}`))
    default:
      return undefined
  }
}

function stopForward(state: State, id: number): Step {
  const forward = state.forwards.find((each) => each.id === id)
  if (forward === undefined) return only(state)
  const next = refreshed({ ...state, forwards: state.forwards.filter((each) => each !== forward) })
  const text = `${forward.ports} of ${objectText(forward.object)} is no longer forwarded`
  return { state: noticed(next, text), effects: [{ kind: 'stop-forward', id }] }
}

export function switchContext(state: State, name: string): Step {
  if (!state.contexts.some((each) => each.name === name))
    return only(failed(state, `the kubeconfig has no context ${JSON.stringify(name)}; :ctx lists all`))
  if (name === state.cluster.context) return only(noticed(state, `${name} is shown already`))
  return { state: noticed(state, `connecting to ${name} …`), effects: [{ kind: 'context', name }] }
}
