// The keys of each view. The same table decides what a key does, what the header shows and what the help lists.
import { isRestartable, isScalable } from '../../calls/workload-kinds.ts'
import type { Key } from '../keys/key-decoder.ts'
import { isPod, type Resource } from './resources.ts'
import type { View } from './views.ts'
import { isForwardable } from './workload-actions.ts'

/** What is done with the selected object of a list. */
export const objectActions = [
  'enter',
  'describe',
  'yaml',
  'logs',
  'previous-logs',
  'shell',
  'scale',
  'restart',
  'forward',
  'edit',
  'delete',
  'kill',
  'flow',
  'why',
] as const
export type ObjectAction = (typeof objectActions)[number]

export const actions = [
  ...objectActions,
  'up',
  'down',
  'page-up',
  'page-down',
  'first',
  'last',
  'left',
  'right',
  'back',
  'command',
  'filter',
  'namespace',
  'map',
  'wide',
  'wrap',
  'follow',
  'refresh',
  'kinds',
  'help',
  'suspend',
  'quit',
] as const
export type Action = (typeof actions)[number]

export interface Binding {
  readonly keys: readonly Key[]
  readonly action: Action
  readonly label: string
  readonly views: readonly View['kind'][]
  /** The kinds of the list that it is for; all without it. */
  readonly isFor?: (resource: Resource) => boolean
  /** The label in the header of its views; without one it is only in the help. */
  readonly hint?: string
}

const everywhere = ['table', 'text', 'flow', 'map'] as const
const lists = ['table', 'map'] as const
const texts = ['text', 'flow'] as const
const movable = ['table', 'text', 'flow'] as const

/** Not for the lists of the program itself. */
const anyResource = (): boolean => true

const digits = Array.from('0123456789')

export const bindings: readonly Binding[] = [
  { keys: ['up', 'k'], action: 'up', label: 'up', views: everywhere },
  { keys: ['down', 'j'], action: 'down', label: 'down', views: everywhere },
  { keys: ['pageup', 'ctrl-b'], action: 'page-up', label: 'page up', views: everywhere },
  { keys: ['pagedown', 'ctrl-f', ' '], action: 'page-down', label: 'page down', views: everywhere },
  { keys: ['home', 'g'], action: 'first', label: 'to the start', views: everywhere },
  { keys: ['end', 'G'], action: 'last', label: 'to the end', views: everywhere },
  { keys: ['left', 'h'], action: 'left', label: 'left', views: movable },
  { keys: ['right'], action: 'right', label: 'right', views: movable },
  { keys: ['enter'], action: 'enter', label: 'open', views: lists },
  { keys: ['esc'], action: 'back', label: 'back', views: everywhere },
  { keys: [':'], action: 'command', label: 'another kind', views: everywhere, hint: 'kind' },
  { keys: ['/'], action: 'filter', label: 'filter', views: ['table', 'text'], hint: 'filter' },
  { keys: ['?'], action: 'help', label: 'help', views: everywhere, hint: 'help' },
  { keys: digits, action: 'namespace', label: 'all namespaces (0), or one that was chosen before', views: ['table'] },
  { keys: ['d'], action: 'describe', label: 'describe', views: ['table'], isFor: anyResource, hint: 'desc' },
  { keys: ['y'], action: 'yaml', label: 'YAML', views: ['table'], isFor: anyResource, hint: 'YAML' },
  { keys: ['l'], action: 'logs', label: 'logs', views: ['table'], isFor: anyResource, hint: 'logs' },
  {
    keys: ['p'],
    action: 'previous-logs',
    label: 'logs of the previous container',
    views: ['table'],
    isFor: anyResource,
  },
  { keys: ['s'], action: 'shell', label: 'shell in a pod', views: ['table'], hint: 'shell', isFor: isPod },
  { keys: ['s'], action: 'scale', label: 'scale a workload', views: ['table'], hint: 'scale', isFor: isScalable },
  {
    keys: ['r'],
    action: 'restart',
    label: 'restart a workload',
    views: ['table'],
    hint: 'restart',
    isFor: isRestartable,
  },
  { keys: ['F'], action: 'forward', label: 'forward a port', views: ['table'], isFor: isForwardable },
  { keys: ['e'], action: 'edit', label: 'edit', views: ['table'], isFor: anyResource },
  { keys: ['f'], action: 'flow', label: 'flow', views: ['table'], isFor: anyResource, hint: 'flow' },
  { keys: ['w'], action: 'why', label: 'why', views: ['table'], isFor: anyResource, hint: 'why' },
  { keys: ['m'], action: 'map', label: 'map', views: ['table', 'text', 'flow'], hint: 'map' },
  { keys: ['ctrl-k'], action: 'kill', label: 'kill a pod, without a question', views: ['table'], isFor: anyResource },
  { keys: ['ctrl-w'], action: 'wide', label: 'wide columns', views: ['table'] },
  { keys: ['w'], action: 'wrap', label: 'wrap lines', views: ['text'], hint: 'wrap' },
  { keys: ['s'], action: 'follow', label: 'follow the end', views: texts, hint: 'follow' },
  { keys: ['ctrl-r'], action: 'refresh', label: 'read again', views: everywhere },
  { keys: ['ctrl-a'], action: 'kinds', label: 'all kinds', views: everywhere },
  { keys: ['ctrl-z'], action: 'suspend', label: 'suspend', views: everywhere },
  { keys: ['q', 'ctrl-c'], action: 'quit', label: 'quit (q leaves a text)', views: everywhere, hint: 'quit' },
  { keys: ['ctrl-d'], action: 'delete', label: 'delete', views: ['table'], hint: 'delete' },
]

/** Shift and a letter sorts by a column; again reverses the order. */
export const sortKeys: Readonly<Record<Key, string>> = {
  A: 'Age',
  C: 'CPU',
  I: 'IP',
  M: 'MEM',
  N: 'Name',
  O: 'Node',
  P: 'Namespace',
  R: 'Ready',
  S: 'Status',
  T: 'Restarts',
}

/** The resource of a list, or of the pod whose containers are listed. */
const resourceOf = (view: View): Resource | undefined => {
  if (view.kind !== 'table') return undefined
  const { source } = view
  return source.kind === 'list' ? source.resource : source.kind === 'containers' ? source.pod.resource : undefined
}

const isFor = ({ views, isFor: isForResource }: Binding, view: View): boolean => {
  const resource = resourceOf(view)
  return (
    views.includes(view.kind) && (isForResource === undefined || (resource !== undefined && isForResource(resource)))
  )
}

/** A key that is for other kinds has its action too, which says what it is for. */
export const actionOf = (key: Key, view: View): Action | undefined => {
  const candidates = bindings.filter(({ keys, views }) => keys.includes(key) && views.includes(view.kind))
  return (candidates.find((binding) => isFor(binding, view)) ?? candidates[0])?.action
}

export const keyText = (key: Key): string => (key === ' ' ? 'space' : key)

export const hintsOf = (view: View): readonly (readonly [key: string, label: string])[] =>
  bindings.flatMap((binding) => {
    const [key = ''] = binding.keys
    const hint = hintIn(view, binding)
    return hint !== undefined && isFor(binding, view) ? [[keyText(key), hint] as const] : []
  })

/** Contexts are not deleted here, and a forwarded port is ended. */
function hintIn(view: View, { action, hint }: Binding): string | undefined {
  if (action !== 'delete' || view.kind !== 'table') return hint
  const { kind } = view.source
  return kind === 'contexts' ? undefined : kind === 'forwards' ? 'end' : hint
}
