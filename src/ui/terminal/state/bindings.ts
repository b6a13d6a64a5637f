// The keys of each view. The same table decides what a key does, what the header shows and what the help lists.
import type { Key } from '../keys/key-decoder.ts'
import type { View } from './views.ts'

export const actions = [
  'up',
  'down',
  'page-up',
  'page-down',
  'first',
  'last',
  'left',
  'right',
  'enter',
  'back',
  'command',
  'filter',
  'namespace',
  'describe',
  'yaml',
  'logs',
  'previous-logs',
  'shell',
  'edit',
  'delete',
  'kill',
  'flow',
  'why',
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
  /** The label in the header of its views; without one it is only in the help. */
  readonly hint?: string
}

const everywhere = ['table', 'text', 'flow', 'map'] as const
const lists = ['table', 'map'] as const
const texts = ['text', 'flow'] as const
const movable = ['table', 'text', 'flow'] as const

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
  { keys: ['d'], action: 'describe', label: 'describe', views: ['table'], hint: 'desc' },
  { keys: ['y'], action: 'yaml', label: 'YAML', views: ['table'], hint: 'YAML' },
  { keys: ['l'], action: 'logs', label: 'logs', views: ['table'], hint: 'logs' },
  { keys: ['p'], action: 'previous-logs', label: 'logs of the previous container', views: ['table'] },
  { keys: ['s'], action: 'shell', label: 'shell', views: ['table'], hint: 'shell' },
  { keys: ['e'], action: 'edit', label: 'edit', views: ['table'] },
  { keys: ['f'], action: 'flow', label: 'flow', views: ['table'], hint: 'flow' },
  { keys: ['w'], action: 'why', label: 'why', views: ['table'], hint: 'why' },
  { keys: ['m'], action: 'map', label: 'map', views: ['table', 'text', 'flow'], hint: 'map' },
  { keys: ['ctrl-k'], action: 'kill', label: 'kill a pod, without a question', views: ['table'] },
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
  I: 'IP',
  N: 'Name',
  O: 'Node',
  P: 'Namespace',
  R: 'Ready',
  S: 'Status',
  T: 'Restarts',
}

export const actionOf = (key: Key, view: View['kind']): Action | undefined =>
  bindings.find((binding) => binding.keys.includes(key) && binding.views.includes(view))?.action

export const keyText = (key: Key): string => (key === ' ' ? 'space' : key)

export const hintsOf = (view: View['kind']): readonly (readonly [key: string, label: string])[] =>
  bindings.flatMap(({ keys: [key = ''], views, hint }) =>
    hint !== undefined && views.includes(view) ? [[keyText(key), hint] as const] : [],
  )
