import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder, type ReportedEvent } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { exportFlow } from './flow-exporter.ts'

function exporting(respond: (events: readonly ReportedEvent[]) => void) {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  const stop = new AbortController()
  const sent: string[][] = []
  const send = async (events: readonly ReportedEvent[]) => {
    sent.push(events.map(({ what, outcome }) => outcome ?? what))
    respond(events)
  }
  const deps = { flow, record: 'f'.repeat(32), send, clock, log: silentLog }
  const ended = exportFlow(deps, stop.signal).then(() => 'ended')
  const step = (what: string) => flow.record('step', 'a', 'a', what)
  return { clock, flow, sent, step, stop, ended }
}

test('events within the batch time are sent together, with spans that are valid outside the process', async () => {
  const events: ReportedEvent[] = []
  const { clock, flow, sent, step, stop, ended } = exporting((batch) => events.push(...batch))
  const call = flow.record('call', 'a', 'b', 'call', undefined, 0, causeOf(step('why'), 12))
  await clock.advance('1s')
  flow.finish(call, 'ok')
  step('later')
  await clock.advance('1s')
  deepEqual(sent, [
    ['why', 'call'],
    ['ok', 'later'],
  ])
  equal(events[1]?.span, `00-${'f'.repeat(32)}-0000000000000002-01`)
  deepEqual(events[1]?.cause, { event: 0, also: [], revisions: [12], span: events[0]?.span })
  stop.abort()
  equal(await ended, 'ended')
})

test('a batch that cannot be sent is dropped, and the next is sent after the retry delay', async () => {
  let fails = true
  const { clock, sent, step, stop, ended } = exporting(() => {
    if (fails) throw new Error('connection refused')
  })
  step('lost')
  await clock.advance('1s')
  fails = false
  step('kept')
  await clock.advance('1s')
  deepEqual(sent, [['lost']])
  await clock.advance('5s')
  deepEqual(sent, [['lost'], ['kept']])
  stop.abort()
  await ended
})

test('export ends when the server rejects flow events', async () => {
  for (const code of [403, 404, 405]) {
    const { clock, sent, step, ended } = exporting(() => {
      throw new StatusError(code, 'Forbidden', 'no')
    })
    step('one')
    await clock.advance('1s')
    equal(await ended, 'ended')
    deepEqual(sent, [['one']])
  }
})
