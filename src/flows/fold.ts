// Folding: branches that differ only in names and revisions (the pods of one ReplicaSet) become one with a count.
import type { FlowEvent } from '../base/flow.ts'
import type { FlowNode } from './flow-graph.ts'

export interface Group {
  readonly node: FlowNode
  count: number
  readonly shape: string
}

/** Alike branches as one, in the order of their first; every one by itself when not folded. */
export function folded(nodes: readonly FlowNode[], fold: boolean): readonly Readonly<Group>[] {
  const groups: Group[] = []
  const byShape = new Map<string, Group>()
  for (const node of nodes) {
    const shape = shapeOf(node)
    const same = fold ? byShape.get(shape) : undefined
    if (same !== undefined) {
      same.count++
      continue
    }
    const group = { node, count: 1, shape }
    groups.push(group)
    byShape.set(shape, group)
  }
  return groups
}

/** What an event says: the action, its object, and how it ended. */
export function wordsOf(event: FlowEvent): string {
  const { arrow, what, outcome, revision, object } = event
  const subject = object === undefined || object.name === '' || isNamed(what, object.name) ? '' : ` ${object.name}`
  const at = arrow === 'persist' ? ` @${revision}` : ''
  const result = outcome === undefined || outcome === 'done' || outcome === 'ok' ? '' : ` → ${outcome}`
  const noun = arrow === 'watch' ? ` ${object?.resource ?? ''}` : ''
  return `${what}${noun}${subject}${at}${result}`
}

/** Whether the text names it as a whole word. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (isEdge(text[at - 1]) && isEdge(text[at + name.length])) return true
  return false
}

const isEdge = (character: string | undefined): boolean => character === undefined || !/[\w-]/.test(character)

/** What a branch looks like without the names in it; each branch is looked at once. */
function shapeOf(node: FlowNode): string {
  const known = shapes.get(node)
  if (known !== undefined) return known
  const { event } = node
  const children = folded(node.children, true).map(({ shape }) => shape)
  const shape = `${event.arrow} ${event.from} ${event.to} ${masked(wordsOf(event), event)}(${children.join()})`
  shapes.set(node, shape)
  return shape
}

const shapes = new WeakMap<FlowNode, string>()

function masked(text: string, { object }: FlowEvent): string {
  const named = object === undefined || object.name === '' ? text : text.replaceAll(object.name, '*')
  return named
    .replaceAll(/\b[\d.]+ms$/g, 'ms')
    .replaceAll(/@\d+/g, '@')
    .replaceAll(/-[a-z0-9]{5}\b/g, '-*')
}
