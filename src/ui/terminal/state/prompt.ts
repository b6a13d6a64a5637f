// The last line: a command after `:`, a filter after `/`, a number of replicas or ports, and the question before something
// is deleted or restarted.
import { replicasIn } from '../../calls/workload-kinds.ts'
import type { Key } from '../keys/key-decoder.ts'
import { inNamespace } from './favorites.ts'
import { helpLines, kindLines } from './help.ts'
import { ownListView, refreshed, switchContext } from './own-lists.ts'
import { completionOf, resourceNamed, unknownResourceText, type ObjectRef } from './resources.ts'
import { settled } from './scroll.ts'
import { shownView, type Prompt, type State, type Step } from './state.ts'
import { failed, only, opened, withShown } from './transitions.ts'
import { mapView, tableView, textView } from './views.ts'
import { isPorts } from './workload-actions.ts'

/** Commands that are not kinds. */
const commands = ['aliases', 'contexts', 'forwards', 'help', 'map', 'quit'] as const
/** Each is a process of kubectl. */
const forwardsMax = 20
/** A longer text is not a name. */
const textCharsMax = 256

export function promptKey(state: State, prompt: Prompt, key: Key): Step {
  if (key === 'ctrl-c') return { state, effects: [{ kind: 'quit' }] }
  if (prompt.kind === 'confirm') return confirmed(state, prompt, key)
  if (key === 'esc') return only(prompt.kind === 'filter' ? filtered(closed(state), prompt.former) : closed(state))
  if (key === 'enter') return submitted(closed(state), prompt)
  const text = edited(state, prompt, key)
  if (text === undefined) return only(closed(state))
  const next: State = {
    ...state,
    prompt: 'isProposed' in prompt ? { ...prompt, text, isProposed: false } : { ...prompt, text },
  }
  return only(prompt.kind === 'filter' ? filtered(next, text) : next)
}

function submitted(state: State, prompt: Exclude<Prompt, { kind: 'confirm' }>): Step {
  const { kind, text } = prompt
  switch (kind) {
    case 'filter':
      return only(state)
    case 'command':
      return entered(state, completed(state, text))
    case 'scale': {
      const replicas = replicasIn(text)
      if (replicas === undefined) return only(failed(state, `${JSON.stringify(text)} is not a number of replicas`))
      return { state, effects: [{ kind: 'scale', object: prompt.object, replicas }] }
    }
    case 'forward':
      return forwardStarted(state, prompt.object, text.trim())
    default:
      return kind satisfies never
  }
}

function forwardStarted(state: State, object: ObjectRef, ports: string): Step {
  if (!isPorts(ports)) return only(failed(state, `${JSON.stringify(ports)} are no ports, such as 8080:80`))
  if (state.forwards.length >= forwardsMax)
    return only(failed(state, `${forwardsMax} ports are forwarded; end one in :pf with ctrl-d`))
  const id = state.nextId
  const forwards = [...state.forwards, { id, object, ports, status: 'Starting', detail: '' } as const]
  return {
    state: refreshed({ ...state, forwards, nextId: id + 1 }),
    effects: [{ kind: 'forward', id, object, ports }],
  }
}

const closed = (state: State): State => ({ ...state, prompt: undefined })

/** The text after a key; undefined if the prompt is left. */
function edited(state: State, prompt: Exclude<Prompt, { kind: 'confirm' }>, key: Key): string | undefined {
  if (key === 'backspace') return prompt.text === '' ? undefined : Array.from(prompt.text).slice(0, -1).join('')
  if (key === 'ctrl-u') return ''
  if ((key === 'tab' || key === 'right') && prompt.kind === 'command') return completed(state, prompt.text)
  // Keys with names are longer than one character.
  if (Array.from(key).length > 1) return prompt.text
  const former = 'isProposed' in prompt && prompt.isProposed ? '' : prompt.text
  return former.length < textCharsMax ? former + key : former
}

/** The command with its last word completed: a kind, or the namespace of a list. */
export function completed({ resources, favorites }: State, text: string): string {
  const [word = '', namespace, ...rest] = text.split(' ')
  if (namespace === undefined) return completionOf(word, resources, commands)
  const found = namespace === '' ? undefined : ['all', ...favorites].find((each) => each.startsWith(namespace))
  return found === undefined || rest.length > 0 ? text : `${word} ${found}`
}

/** The filter has an effect while it is typed. */
function filtered(state: State, filter: string): State {
  const view = shownView(state)
  if (view.kind === 'table') return withShown(state, settled(state, { ...view, filter }))
  return view.kind === 'text' ? withShown(state, { ...view, filter }) : state
}

function confirmed(state: State, { action, object, uid }: Extract<Prompt, { kind: 'confirm' }>, key: Key): Step {
  const next = closed(state)
  if (key !== 'y') return only(next)
  return {
    state: next,
    effects: [action === 'restart' ? { kind: 'restart', object } : { kind: 'delete', object, uid, isNow: false }],
  }
}

function entered(state: State, text: string): Step {
  const [word = '', namespace] = text.trim().split(/\s+/)
  const live = { kind: 'live' } as const
  switch (word) {
    case '':
      return only(state)
    case 'q':
    case 'q!':
    case 'qa':
    case 'quit':
    case 'exit':
      return { state, effects: [{ kind: 'quit' }] }
    case 'map':
      return only(opened(state, mapView(state.nextId)))
    case 'help':
    case 'h':
    case '?':
      return only(opened(state, { ...textView(state.nextId, { kind: 'help' }), status: live, lines: helpLines }))
    case 'aliases':
    case 'a': {
      const lines = kindLines(state.resources)
      return only(opened(state, { ...textView(state.nextId, { kind: 'kinds' }), status: live, lines }))
    }
    case 'ctx':
    case 'context':
    case 'contexts':
      return namespace === undefined
        ? only(opened(state, ownListView(state, 'contexts')))
        : switchContext(state, namespace)
    case 'pf':
    case 'forwards':
      return only(opened(state, ownListView(state, 'forwards')))
    default: {
      const resource = resourceNamed(word, state.resources)
      if (resource === undefined) return only(failed(state, unknownResourceText(word, state.resources)))
      const chosen = namespace === 'all' ? '' : (namespace ?? state.namespace)
      const source = { kind: 'list', resource, namespace: resource.namespaced ? chosen : '' } as const
      return only(opened(inNamespace(state, chosen), tableView(state.nextId, source)))
    }
  }
}
