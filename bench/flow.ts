// Cost of one recorded flow event, and the memory that stays allocated afterwards.
import { realClock } from '../src/base/time/clock.ts'
import { causeOf, FlowRecorder, noCause } from '../src/base/observability/flow-recorder.ts'
import { requestStages } from '../src/base/observability/stage-passages.ts'
import { nanosecondsPer, type Bench } from './bench.ts'

const pod = { resource: 'pods', namespace: 'default', name: 'web-0' }

export const flowBench: Bench = {
  name: 'flow',
  run() {
    const flow = new FlowRecorder(realClock)
    let revision = 0
    const plain = nanosecondsPer(200_000, (calls) => {
      for (let i = 0; i < calls; i++) flow.record('call', 'Client', 'API Server', 'create', pod, 0, noCause)
    })
    const persisted = nanosecondsPer(200_000, (calls) => {
      for (let i = 0; i < calls; i++)
        flow.record('persist', 'API Server', 'Store', 'put', pod, ++revision, causeOf(flow.last))
    })
    const staged = nanosecondsPer(200_000, (calls) => {
      for (let i = 0; i < calls; i++) {
        const call = flow.record('call', 'Client', 'API Server', 'create', pod, 0, noCause)
        flow.startStages(call, realClock.monotonicMs())
        for (const stage of requestStages) flow.passStage(call, stage)
      }
    })
    globalThis.gc?.()
    const beforeBytes = process.memoryUsage().heapUsed
    for (let i = 0; i < 2_000_000; i++)
      flow.record('persist', 'API Server', 'Store', 'put', pod, ++revision, causeOf(flow.last))
    globalThis.gc?.()
    const grownBytes = process.memoryUsage().heapUsed - beforeBytes
    return [
      `record a call: ${plain.toFixed(0)} ns`,
      `record a call with all its stages: ${staged.toFixed(0)} ns`,
      `record a write with its cause: ${persisted.toFixed(0)} ns`,
      `heap growth over 2,000,000 further events: ${(grownBytes / 1024).toFixed(0)} KiB`,
    ]
  },
}
