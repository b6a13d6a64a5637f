// update: the next state for a key or for data that has arrived, and what is to be done outside.
import type { Key } from '../keys/key-decoder.ts'
import { actionOf, objectActions, sortKeys, type Action, type ObjectAction } from './bindings.ts'
import { favoriteOf, inNamespace } from './favorites.ts'
import { helpLines, kindLines } from './help.ts'
import { objectAction, selectedObject } from './object-actions.ts'
import { ownListAction, refreshed } from './own-lists.ts'
import { promptKey } from './prompt.ts'
import { changedRows, shownColumns } from './rows.ts'
import { isLive, isMove, lastOffset, moveIn, settled } from './scroll.ts'
import { shownView, type Data, type Input, type State, type Step } from './state.ts'
import { noticed, only, opened, replaced, withShown } from './transitions.ts'
import { flowView, mapView, tableView, textView, type TableView, type TextSource, type View } from './views.ts'
import { kubectlText } from './workload-actions.ts'

export function update(state: State, input: Input): Step {
  switch (input.kind) {
    case 'key':
      return keyPressed({ ...state, notice: undefined }, input.key)
    case 'resize': {
      const resized = { ...state, width: input.width, height: input.height }
      return only({ ...resized, views: resized.views.map((view) => placed(resized, view)) })
    }
    case 'notice':
      return only({ ...state, notice: input.notice })
    case 'forwarded':
      return only(forwarded(state, input))
    default:
      return only(arrived(state, input))
  }
}

/** A forward that was stopped is not there any more. */
function forwarded(state: State, { id, status, detail }: Extract<Input, { kind: 'forwarded' }>): State {
  const found = state.forwards.find((each) => each.id === id)
  if (found === undefined) return state
  const forwards = state.forwards.map((each) => (each === found ? { ...each, status, detail } : each))
  const text = `${kubectlText(found.object, { kind: 'forward', ports: found.ports })}: ${detail}`
  return { ...refreshed({ ...state, forwards }), notice: { text, isError: status === 'Failed' } }
}

const placed = (state: State, view: View): View =>
  view.kind === 'table' || view.kind === 'map' ? settled(state, view) : view

/** Data of views that have been closed is ignored. */
function arrived(state: State, data: Data): State {
  const views = state.views.map((view) => (view.id === data.id ? placed(state, received(view, data)) : view))
  if (data.kind !== 'drilled' || shownView(state).id !== data.id) return { ...state, views }
  if (data.to === undefined) return opened(state, textView(state.nextId, { kind: 'describe', object: data.of }))
  return opened(state, tableView(state.nextId, data.to))
}

function received(view: View, data: Data): View {
  const live = { kind: 'live' } as const
  if (data.kind === 'failed') return { ...view, status: { kind: 'failed', reason: data.reason } }
  if (data.kind === 'rows' && view.kind === 'table') {
    const columns = data.change.kind === 'replace' ? data.change.columns : view.columns
    return { ...view, status: live, columns, rows: changedRows(view.rows, data.change) }
  }
  if (data.kind === 'text' && view.kind === 'text') return { ...view, status: live, lines: data.lines }
  if (data.kind === 'messages' && view.kind === 'flow') return { ...view, status: live, messages: data.messages }
  if (data.kind === 'map' && view.kind === 'map')
    return { ...view, status: live, columns: data.columns, lines: data.lines }
  return view
}

function keyPressed(state: State, key: Key): Step {
  if (state.prompt !== undefined) return promptKey(state, state.prompt, key)
  const view = shownView(state)
  const column = view.kind === 'table' && key.length === 1 && Object.hasOwn(sortKeys, key) ? sortKeys[key] : undefined // safe name: hasOwn
  if (view.kind === 'table' && column !== undefined) return only(withShown(state, sorted(state, view, column)))
  const action = actionOf(key, view)
  if (action === undefined) return only(state)
  if (isMove(action)) return only(withShown(state, moveIn(state, view, action)))
  return view.kind === 'table' ? tableAction(state, view, action, key) : viewAction(state, view, action)
}

function sorted(state: State, view: TableView, column: string): View {
  const isKnown = column === 'Namespace' || view.columns.some(({ name }) => name.toLowerCase() === column.toLowerCase())
  if (!isKnown) return view
  const isDescending = view.sort?.column === column && !view.sort.isDescending
  return settled(state, { ...view, sort: { column, isDescending } })
}

/** Actions that are the same in all views. */
function viewAction(state: State, view: View, action: Action): Step {
  switch (action) {
    case 'quit':
      return view.kind === 'text' || view.kind === 'flow' ? back(state) : { state, effects: [{ kind: 'quit' }] }
    case 'back':
      return back(state)
    case 'command':
      return only({ ...state, prompt: { kind: 'command', text: '' } })
    case 'filter':
      return 'filter' in view
        ? only({ ...state, prompt: { kind: 'filter', text: view.filter, former: view.filter } })
        : only(state)
    case 'map':
      return only(opened(state, mapView(state.nextId)))
    case 'help':
      return only(openText(state, { kind: 'help' }, helpLines))
    case 'kinds':
      return only(openText(state, { kind: 'kinds' }, kindLines(state.resources)))
    case 'refresh':
      return only(replaced(state, { ...view, id: state.nextId }))
    case 'suspend':
      return { state, effects: [{ kind: 'suspend' }] }
    case 'left':
    case 'right':
      return only('left' in view ? withShown(state, shifted(view, action)) : state)
    case 'wrap':
      return only(view.kind === 'text' ? withShown(state, { ...view, isWrapped: !view.isWrapped, left: 0 }) : state)
    case 'follow':
      if ((view.kind !== 'text' && view.kind !== 'flow') || !isLive(view)) return only(state)
      return only(withShown(state, { ...view, isFollowing: !view.isFollowing, offset: lastOffset(state, view) }))
    case 'enter': {
      const line = view.kind === 'map' ? view.lines[view.cursor] : undefined
      if (line === undefined) return only(state)
      return only(opened(state, flowView(state.nextId, { object: undefined, between: line.id })))
    }
    default:
      return only(state)
  }
}

const shiftColumns = 8

/** Texts are moved by characters, lists by columns. The name of an object and one column remain. */
function shifted(view: Extract<View, { left: number }>, action: 'left' | 'right'): View {
  const by = view.kind === 'table' ? 1 : shiftColumns
  const last = view.kind === 'table' ? shownColumns(view.columns, view.isWide, view.sort?.column).length - 2 : Infinity
  return { ...view, left: Math.max(0, Math.min(view.left + (action === 'left' ? -by : by), last)) }
}

function openText(state: State, source: TextSource, lines: readonly string[]): State {
  return opened(state, { ...textView(state.nextId, source), status: { kind: 'live' }, lines })
}

/** Removes the filter first, then leaves the view. The first view remains. */
function back(state: State): Step {
  const view = shownView(state)
  if ('filter' in view && view.filter !== '') return only(withShown(state, placed(state, { ...view, filter: '' })))
  return only(state.views.length === 1 ? state : { ...state, views: state.views.slice(0, -1) })
}

/** Actions on the selected object of a list. */
function tableAction(state: State, view: TableView, action: Action, key: Key): Step {
  const { kind } = view.source
  if (kind === 'contexts' || kind === 'forwards') {
    const step = ownListAction(state, view, kind, action)
    if (step !== undefined) return step
  }
  if (action === 'namespace') return only(withFavorite(state, view, key))
  if (action === 'wide') return only(withShown(state, { ...view, isWide: !view.isWide }))
  if (!isObjectAction(action)) return viewAction(state, view, action)
  const selected = selectedObject(view)
  return selected === undefined
    ? only(noticed(state, 'nothing is selected'))
    : objectAction(state, view, action, selected)
}

const isObjectAction = (action: Action): action is ObjectAction => (objectActions as readonly Action[]).includes(action)

/** A list that is restricted to the objects of a workload is not in another namespace; the pods of a node are in all. */
function withFavorite(state: State, view: TableView, digit: string): State {
  const namespace = favoriteOf(state, digit)
  if (namespace === undefined) return noticed(state, `no namespace has the key ${digit} yet; :ns lists all`)
  const next = inNamespace(state, namespace)
  const { source, filter, sort, isWide } = view
  if (source.kind !== 'list' || !source.resource.namespaced)
    return noticed(next, `the next list is of ${namespace === '' ? 'all namespaces' : `namespace ${namespace}`}`)
  const { resource, selector } = source
  const kept = selector?.fieldSelector === undefined ? {} : { selector }
  const list = tableView(state.nextId, { kind: 'list', resource, namespace, ...kept })
  return replaced(next, { ...list, filter, sort, isWide })
}
