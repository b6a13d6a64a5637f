// A flow as text: one line per arrow, indented under its cause. Alike branches (the pods of one ReplicaSet) are
// folded into one.
import type { Arrow, FlowEvent } from '../base/flow.ts'
import type { FlowNode } from './flow-graph.ts'

const signs: Readonly<Record<Arrow, string>> = {
  call: '──►',
  watch: '--►',
  persist: '══►',
  reconcile: '···►',
  step: '···',
}

export interface TextDiagramOptions {
  /** Fold alike branches; off shows every one. */
  readonly fold: boolean
  /** Name the rule by which each call was let through. */
  readonly rules?: boolean
}

export function textDiagram(roots: readonly FlowNode[], options: TextDiagramOptions = { fold: true }): string {
  const { fold } = options
  const startMs = roots[0]?.event.atMs ?? 0
  const lines = folded(roots, fold).flatMap((group) => linesOf(group, startMs, 0, options))
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

interface Group {
  readonly node: FlowNode
  count: number
  readonly shape: string
}

function linesOf(
  { node, count }: Readonly<Group>,
  startMs: number,
  depth: number,
  options: TextDiagramOptions,
): string[] {
  const { event, children } = node
  const time = `+${Math.round(event.atMs - startMs)}ms`.padStart(9)
  const times = count > 1 ? `  ×${count} alike` : ''
  const rule = options.rules && event.allowedBy ? `  (${event.allowedBy})` : ''
  const line = `${time}  ${'  '.repeat(depth)}${arrowText(node)}${times}${rule}`
  return [line, ...folded(children, options.fold).flatMap((child) => linesOf(child, startMs, depth + 1, options))]
}

function arrowText({ event }: FlowNode): string {
  const { arrow, from, to, what, outcome, revision } = event
  const subject = event.object === undefined || what.includes(event.object.name) ? '' : ` ${event.object.name}`
  const at = arrow === 'persist' ? ` @${revision}` : ''
  const result = outcome === undefined || outcome === 'done' || outcome === 'ok' ? '' : ` → ${outcome}`
  const parties = arrow === 'reconcile' ? `${from} ${signs[arrow]}` : `${from} ${signs[arrow]} ${to}`
  const noun = arrow === 'watch' ? ` ${event.object?.resource ?? ''}` : ''
  return `${parties}: ${what}${noun}${subject}${at}${result}`
}

/** Branches next to each other that differ only in names and revisions become one with a count. */
function folded(nodes: readonly FlowNode[], fold: boolean): Group[] {
  const groups: Group[] = []
  for (const node of nodes) {
    const shape = shapeOf(node)
    const same = fold ? groups.find((group) => group.shape === shape) : undefined
    if (same === undefined) groups.push({ node, count: 1, shape })
    else same.count++
  }
  return groups
}

/** What a branch looks like without the names in it; each branch is looked at once. */
function shapeOf(node: FlowNode): string {
  const known = shapes.get(node)
  if (known !== undefined) return known
  const children = folded(node.children, true).map(({ shape }) => shape)
  const shape = `${masked(arrowText(node), node.event)}(${children.join()})`
  shapes.set(node, shape)
  return shape
}

const shapes = new WeakMap<FlowNode, string>()

function masked(text: string, { object }: FlowEvent): string {
  const named = object === undefined || object.name === '' ? text : text.replaceAll(object.name, '*')
  return named.replaceAll(/@\d+/g, '@').replaceAll(/-[a-z0-9]{5}\b/g, '-*')
}
