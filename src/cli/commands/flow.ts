// coxswain flow: draws the recorded lifecycle of an object in a running cluster.
import { lookup } from '../../base/collections/lookup.ts'
import {
  flowEventsDefault,
  type FlowEvent,
  type FlowId,
  type FlowObject,
} from '../../base/observability/flow-recorder.ts'
import { followFlowEvents } from '../../cluster/client/fetch-flow-events.ts'
import { flowTreesOf } from '../../flows/flow-graph.ts'
import type { FlowNode } from '../../flows/flow-graph.ts'
import { foldLateKubelets } from '../../flows/fold-participants.ts'
import { sequenceDiagram, SequenceDiagram, liveLaneWidth } from '../../flows/sequence-diagram.ts'
import { messagesOf, type FlowMessage } from '../../flows/flow-messages.ts'
import { mermaidDiagram, mermaidHead, MermaidStatements } from '../../flows/mermaid-diagram.ts'
import { textDiagram, type DiagramOptions } from '../../flows/text-diagram.ts'
import { colorizerFor } from '../../flows/diagram-colors.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint, type ChosenCluster } from '../options/choose-cluster.ts'
import { kindIn, namespaceFor, objectOperand, singularNames } from '../options/named-object.ts'
import { recordedLifecycles } from '../output/recorded-lifecycles.ts'

const drawings: Readonly<Record<string, (roots: readonly FlowNode[], options: DiagramOptions) => string>> = {
  text: sequenceDiagram,
  tree: textDiagram,
  mermaid: mermaidDiagram,
  json: (roots) => `${JSON.stringify(roots, undefined, 2)}\n`,
}

/** State of a diagram that is drawn message by message. */
interface Growing {
  readonly head: readonly string[]
  draw(message: FlowMessage): readonly string[]
}

const growing: Readonly<Record<string, (options: DiagramOptions) => Growing>> = {
  text(options) {
    const lifelines = new SequenceDiagram(options, liveLaneWidth(options.columns))
    const folded = foldLateKubelets()
    return { head: [], draw: ({ event, ...rest }) => lifelines.draw({ ...rest, event: folded(event) }) }
  },
  mermaid() {
    const statements = new MermaidStatements()
    return { head: [mermaidHead], draw: (message) => statements.draw(message) }
  },
  json: () => ({ head: [], draw: (message) => [JSON.stringify(message)] }),
}

/** As many as the server records. */
const followedMax = flowEventsDefault

const formats = Object.keys(drawings)

const legend = [
  '──► request   ══► write @revision   --► watch event   ···► reconcile',
  '×3 three similar messages; --all draws each',
]

export const flow = defineCommand({
  name: 'flow',
  summary: 'draws what happened to an object and why',
  operands: '<kind>/<name>',
  operandValues: singularNames,
  operandsMax: 2,
  options: {
    ...clusterOptions,
    'all-namespaces': { type: 'boolean', short: 'A', help: 'every namespace that has an object of that name' },
    output: {
      type: 'string',
      value: formats.join('|'),
      short: 'o',
      help: 'lifelines (text), each message below its cause (tree), a Mermaid diagram, or all data (json)',
    },
    watch: { type: 'boolean', short: 'w', help: 'then draw what happens from now on (json: one message per line)' },
    all: { type: 'boolean', help: 'draw similar messages and kubelets one by one' },
    rules: { type: 'boolean', help: 'name the authorization rule that allowed each request' },
    stages: { type: 'boolean', help: 'show the stages of each request in the API server, with their durations' },
    format: { type: 'string', value: formats.join('|'), help: 'the same as --output', section: 'Other names' },
    follow: { type: 'boolean', short: 'f', help: 'the same as --watch', section: 'Other names' },
  },
  async run({ operands, options }, terminal) {
    const { format, output = format ?? 'text', follow = false, watch = follow } = options
    const draw = lookup(drawings, output)
    if (draw === undefined) throw new UsageError(`--output ${output} is none of ${formats.join(', ')}`)
    const grow = lookup(growing, output)
    if (watch && grow === undefined) throw new UsageError(`--watch draws text, mermaid and json, not ${output}`)
    if (watch && options['all-namespaces']) throw new UsageError('--watch follows one object; name its namespace')
    const { kindName, name } = objectOperand(operands)
    const cluster = await chooseCluster(options, terminal.environment)
    const { all = false, rules = false, stages = false } = options
    const isTerminal = terminal.isTerminal && output !== 'mermaid' && output !== 'json'
    const screen = isTerminal ? { columns: terminal.columns, colors: hasColors(terminal) } : {}
    const drawing = { fold: !all && !watch, rules, stages, ...screen }
    return withReachabilityHint(cluster, async () => {
      const kind = await kindIn(cluster, kindName, terminal.signal)
      const namespace = namespaceFor(kind, options.namespace ?? cluster.namespace)
      if (watch && grow !== undefined) {
        const drawn = drawOn(cluster, { resource: kind.plural, namespace, name }, grow(drawing), drawing, terminal)
        await drawn.catch((error: unknown) => {
          if (!terminal.signal.aborted) throw error
        })
        return 0
      }
      const home = options['all-namespaces'] ? undefined : namespace
      const { lives, notes } = await recordedLifecycles({ kind, name }, home, cluster.kubeconfig, terminal.signal)
      for (const note of notes) terminal.err(`coxswain flow: ${note}\n`)
      if (output === 'json')
        terminal.out(
          draw(
            lives.flatMap(({ roots }) => roots),
            drawing,
          ),
        )
      else
        for (const life of lives)
          terminal.out(`${lives.length > 1 ? `namespace ${life.namespace}:\n` : ''}${draw(life.roots, drawing)}`)
      if (isTerminal)
        terminal.out(`\n${legend.map((line) => `${colorizerFor(drawing.colors)('dim', line)}\n`).join('')}`)
      return 0
    })
  },
})

/** https://no-color.org; `dumb` terminals have no colours either. */
const hasColors = ({ environment: { NO_COLOR = '', TERM } }: Terminal): boolean => NO_COLOR === '' && TERM !== 'dumb'

/** Draws messages until the signal is aborted or the server ends. A call is drawn when it has finished. */
async function drawOn(
  { kubeconfig }: ChosenCluster,
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
    for (const message of messagesOf(flowTreesOf(known.values(), object), options)) {
      const { id, arrow, outcome } = message.event
      if (drawn.has(id) || (arrow === 'call' && outcome === undefined)) continue
      drawn.add(id)
      for (const line of draw(message)) out(`${line.trimEnd()}\n`)
    }
  }
}
