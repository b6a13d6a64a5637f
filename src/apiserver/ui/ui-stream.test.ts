import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { behindEventsMax, uiStream, type StreamDeps, type StreamLine } from './ui-stream.ts'

interface Options {
  readonly past?: number
  readonly recent?: number
  readonly visible?: StreamDeps['visible']
}

function newStream(recorded: number, { past = 100, recent = 0, visible }: Options = {}) {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  const call = (count = 1) => {
    for (let index = 0; index < count; index++) flow.record('call', 'kubectl', 'API Server', `call ${flow.last + 1}`)
  }
  call(recorded)
  const stop = new AbortController()
  const state = { isOpen: true }
  const deps: StreamDeps = {
    flow,
    clock,
    nowMs: () => 5,
    isOpen: () => state.isOpen,
    visible: visible ?? ((events) => Promise.resolve(events)),
  }
  const pieces = uiStream(deps, { recent, past }, stop.signal)
  const linesOf = ({ value }: IteratorResult<string>) =>
    String(value ?? '')
      .trim()
      .split('\n')
      .map(shown)
  /** The lines of the next piece, after this time. */
  const after = async (ms: number): Promise<string[]> => {
    const piece = pieces.next()
    await clock.advance(ms)
    return linesOf(await piece)
  }
  const first = async (): Promise<string[]> => linesOf(await pieces.next())
  return { flow, clock, call, pieces, after, first, stop, state }
}

function shown(text: string): string {
  const line = JSON.parse(text) as StreamLine
  switch (line.kind) {
    case 'event':
      return line.event.what
    case 'gap':
      return `gap ${line.missed}`
    case 'ready':
      return `ready at ${line.nowMs}`
    case 'rates':
      return `rates ${line.lines.map(({ from, to, messages }) => `${from} to ${to}: ${messages}`).join()}`
    default:
      return line satisfies never
  }
}

test('a stream begins with the newest recorded events', async () => {
  const { first } = newStream(5, { past: 2 })
  deepEqual(await first(), ['call 4', 'call 5', 'ready at 5'])
})

test('a stream begins with the newest events that are not background, however many others there are', async () => {
  const { flow, call, first, after } = newStream(5, { past: 0, recent: 2 })
  for (const [what, resource] of [
    ['update leases', 'leases'],
    ['create events', 'events'],
    ['list pods', 'pods'],
  ] as const)
    for (let index = 0; index < 700; index++)
      flow.record('call', 'kubelet/a', 'API Server', what, { resource, namespace: 'x', name: 'y' })
  deepEqual(await first(), ['call 4', 'call 5'])
  deepEqual(await first(), ['ready at 5'])
  call()
  deepEqual(await after(60), [`call ${flow.last}`])
})

test('events that the user may not see are not counted as recent', async () => {
  const isOdd = ({ what }: { readonly what: string }) => /[13579]$/.test(what)
  const { first } = newStream(2_000, {
    past: 0,
    recent: 3,
    visible: (events) => Promise.resolve(events.filter(isOdd)),
  })
  deepEqual(await first(), ['call 1995', 'call 1997', 'call 1999'])
  const none = newStream(20_000, { past: 0, recent: 3, visible: () => Promise.resolve([]) })
  deepEqual(await none.first(), ['ready at 5'])
})

test('new events follow in batches, then the rates of their lines', async () => {
  const { call, first, after } = newStream(0)
  deepEqual(await first(), ['ready at 5'])
  call(2)
  deepEqual(await after(60), ['call 1', 'call 2'])
  deepEqual(await after(1_100), ['rates kubectl to API Server: 2'])
  deepEqual(await after(1_100), ['rates '])
})

test('only visible events are sent and counted', async () => {
  const { first } = newStream(3, {
    visible: (events) => Promise.resolve(events.filter(({ what }) => what === 'call 2')),
  })
  deepEqual(await first(), ['call 2', 'ready at 5'])
})

test('a slow reader gets a gap instead of the events that it missed', async () => {
  const { call, first, after } = newStream(0)
  await first()
  call(behindEventsMax + 7)
  deepEqual((await after(60)).slice(0, 2), ['gap 7', 'call 8'])
})

test('a stream ends with its session and with its client', async () => {
  const closed = newStream(0)
  await closed.first()
  closed.state.isOpen = false
  const end = closed.pieces.next()
  await closed.clock.advance(1_100)
  equal((await end).done, true)
  const left = newStream(0)
  await left.first()
  const last = left.pieces.next()
  left.stop.abort()
  equal((await last).done, true)
})
