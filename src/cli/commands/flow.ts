// coxswain flow: the life of an object of a running cluster, as it was recorded.
import { flowEventsDefault, type FlowEvent, type FlowId, type FlowObject } from '../../base/flow.ts'
import { fetchFlowEvents, followFlowEvents } from '../../cluster/flow-events.ts'
import { lifeOf } from '../../flows/flow-graph.ts'
import type { FlowNode } from '../../flows/flow-graph.ts'
import { lifelineDiagram, Lifelines, messagesOf, type Message } from '../../flows/lifelines.ts'
import { mermaidDiagram, mermaidHead, MermaidStatements } from '../../flows/mermaid.ts'
import { textDiagram, type DiagramOptions } from '../../flows/text-diagram.ts'
import { defineCommand, UsageError, type Terminal } from '../command.ts'
import { readKubeconfig } from '../kubeconfig-file.ts'
import { namedObject } from '../named-object.ts'

const drawings: Readonly<Record<string, (roots: readonly FlowNode[], options: DiagramOptions) => string>> = {
  text: lifelineDiagram,
  tree: textDiagram,
  mermaid: mermaidDiagram,
  json: (roots) => `${JSON.stringify(roots, undefined, 2)}\n`,
}

/** What is drawn message by message, as it happens. */
interface Growing {
  readonly head: readonly string[]
  draw(message: Message): readonly string[]
}

const growing: Readonly<Record<string, (options: DiagramOptions) => Growing>> = {
  text(options) {
    const lifelines = new Lifelines(options)
    return { head: [], draw: (message) => lifelines.draw(message) }
  },
  mermaid() {
    const statements = new MermaidStatements()
    return { head: [mermaidHead], draw: (message) => statements.draw(message) }
  },
  json: () => ({ head: [], draw: (message) => [JSON.stringify(message)] }),
}

/** As many as the server itself keeps. */
const followedMax = flowEventsDefault

export const flow = defineCommand({
  name: 'flow',
  summary: 'draws what happened to an object and why',
  operands: '<kind>/<name>',
  options: {
    namespace: { type: 'string', value: '<name>', short: 'n', help: 'the namespace of the object (default)' },
    format: {
      type: 'string',
      value: 'text|tree|mermaid|json',
      help: 'lifelines (text), lines indented under their cause (tree), a diagram for Mermaid, or all that is known',
    },
    follow: { type: 'boolean', short: 'f', help: 'goes on with what happens from now on (json: a line each)' },
    all: { type: 'boolean', help: 'shows alike branches one by one' },
    rules: { type: 'boolean', help: 'names the rule by which each call was let through' },
    stations: { type: 'boolean', help: 'shows what the API server did with each call, and how long it took' },
    kubeconfig: { type: 'string', value: '<file>', help: 'how to reach the cluster ($KUBECONFIG)' },
  },
  async run({ operands, options }, terminal) {
    const { kind, namespace, name } = namedObject(operands[0], options.namespace)
    const { format = 'text', follow = false } = options
    const draw = drawings[format]
    if (draw === undefined) throw new UsageError(`--format ${format} is none of ${Object.keys(drawings).join(', ')}`)
    const grow = growing[format]
    if (follow && grow === undefined) throw new UsageError(`--follow draws text, mermaid and json, not ${format}`)
    const kubeconfig = await readKubeconfig(options.kubeconfig, terminal.environment)
    const object = { resource: kind.plural, namespace, name }
    const { all = false, rules = false, stations = false } = options
    const drawing = { fold: !all && !follow, rules, stations }
    if (follow && grow !== undefined) {
      await drawOn(kubeconfig, object, grow(drawing), drawing, terminal).catch((error: unknown) => {
        if (!terminal.signal.aborted) throw error
      })
      return 0
    }
    const roots = lifeOf(await fetchFlowEvents(kubeconfig, terminal.signal), object)
    if (roots.length === 0)
      throw new UsageError(`nothing is recorded of ${kind.singular}/${name} since the API server started`)
    terminal.out(draw(roots, drawing))
    return 0
  },
})

/** Message by message until the signal or the server's end; a call is drawn when it has been answered. */
async function drawOn(
  kubeconfig: string,
  object: FlowObject,
  { head, draw }: Growing,
  options: DiagramOptions,
  { out, signal }: Terminal,
): Promise<void> {
  for (const line of head) out(`${line}\n`)
  const drawn = new Set<FlowId>()
  const known = new Map<FlowId, FlowEvent>()
  for await (const events of followFlowEvents(kubeconfig, signal)) {
    for (const event of events) known.set(event.id, event)
    for (const id of known.keys()) {
      if (known.size <= followedMax) break
      known.delete(id)
      drawn.delete(id)
    }
    for (const message of messagesOf(lifeOf(known.values(), object), options)) {
      const { id, arrow, outcome } = message.event
      if (drawn.has(id) || (arrow === 'call' && outcome === undefined)) continue
      drawn.add(id)
      for (const line of draw(message)) out(`${line.trimEnd()}\n`)
    }
  }
}
