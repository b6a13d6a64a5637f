// The stages of a request in the API server, as steps below the call, each with its duration.
import { isRead } from '../base/observability/background-events.ts'
import type { FlowEvent, FlowId } from '../base/observability/flow-recorder.ts'
import { requestStages, type RequestStage } from '../base/observability/stage-passages.ts'
import type { FlowNode } from './flow-graph.ts'

const labels: Readonly<Record<RequestStage, string>> = {
  authentication: 'authentication',
  fairness: 'priority and fairness',
  authorization: 'authorization',
  reading: 'reading',
  mutating: 'mutating admission',
  validation: 'schema validation',
  validating: 'validating admission',
  store: 'store',
}

/** The same trees, with the stages of each call among its children. */
export const withRequestStages = (nodes: readonly FlowNode[]): FlowNode[] =>
  nodes.map((node) => {
    const { event, children } = node
    const below = withRequestStages(children)
    const isStaged = event.arrow === 'call' && event.to === 'API Server'
    const steps = isStaged ? [...passedStages(event), ...rejectedStage(event, below)] : []
    return { ...node, children: [...below, ...steps].toSorted((a, b) => a.event.id - b.event.id) }
  })

function passedStages(call: FlowEvent): FlowNode[] {
  let beforeMs = 0
  return call.stages.map(({ stage, afterMs, afterEvent }) => {
    const what = `${labels[stage]} ${durationText(afterMs - beforeMs)}`
    beforeMs = afterMs
    return stepOf(call, stage, { what, atMs: Math.floor(call.atMs + afterMs) }, afterEvent)
  })
}

/** The stage that rejected the call, after all events that it caused. */
function rejectedStage(call: FlowEvent, below: readonly FlowNode[]): FlowNode[] {
  const stage = rejectingStage(call)
  if (stage === undefined) return []
  const { afterMs = 0, afterEvent = call.id } = call.stages.at(-1) ?? {}
  const atMs = call.endMs ?? call.atMs
  const what = `${labels[stage]} ${durationText(atMs - call.atMs - afterMs)}`
  const last = Math.max(afterEvent, ...below.map(({ event }) => event.id)) as FlowId
  return [stepOf(call, stage, { what, atMs, outcome: 'refused' }, last)]
}

/** A step with an id between those of recorded events, in the order of the stages. */
function stepOf(call: FlowEvent, stage: RequestStage, fields: Partial<FlowEvent>, after: FlowId): FlowNode {
  const id = (after + (requestStages.indexOf(stage) + 1) / (requestStages.length + 1)) as FlowId
  const none = {
    outcome: undefined,
    endMs: undefined,
    allowedBy: undefined,
    object: undefined,
    span: undefined,
    stages: [],
  }
  return {
    event: { ...call, ...none, id, arrow: 'step', from: 'API Server', to: 'API Server', ...fields },
    children: [],
    isInferred: false,
  }
}

const readStages: readonly RequestStage[] = ['authentication', 'fairness', 'authorization']

/** The stage that rejected a call: the one after the last that it passed, of the stages for its verb. */
function rejectingStage({ what, outcome = '', stages }: FlowEvent): RequestStage | undefined {
  if (!/^[45]\d\d\b/.test(outcome)) return undefined
  const isDeletion = what.startsWith('delete')
  const expected = isRead(what) ? readStages : requestStages.filter((name) => !(isDeletion && name === 'validation'))
  const last = stages.at(-1)?.stage
  return expected[last === undefined ? 0 : expected.indexOf(last) + 1]
}

const durationText = (ms: number): string =>
  Number.isInteger(ms) || ms >= 100 ? `${Math.round(ms)}ms` : `${ms.toFixed(2)}ms`
