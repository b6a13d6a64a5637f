// Every interleaving of the two threads of a byte ring, on a model of it; and that the ring does what the model does.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../base/random/random.ts'
import { newRing, RingReader, RingWriter } from './byte-ring.ts'
import {
  beginPublish,
  beginTake,
  beginWrite,
  explore,
  faults,
  initialState,
  readerTransitions,
  writerTransitions,
  type RingModel,
  type Transition,
} from './byte-ring.harness.ts'

const models: readonly RingModel[] = [
  { slots: 2, frames: [1, 1, 1], framesPerTurn: 1 },
  { slots: 4, frames: [2, 3, 1, 2], framesPerTurn: 1 },
  { slots: 4, frames: [4, 4, 4], framesPerTurn: 64 },
  { slots: 4, frames: [1, 1, 1, 1, 1], framesPerTurn: 2 },
]
for (const model of models)
  test(`no interleaving loses, repeats or overwrites frames of ${model.frames.join(', ')} slots, or a wake-up`, () => {
    const { states, violation } = explore(model)
    equal(violation, undefined)
    ok(states > 1_000, `${states} states were visited`)
  })

for (const fault of faults)
  test(`the exploration finds the mistake: ${fault}`, () => {
    const { violation } = explore({ slots: 2, frames: [1, 1, 1], framesPerTurn: 1, fault })
    ok(violation !== undefined && violation.steps.length > 0)
  })

const slotBytes = 8
const marks = ['written', 'read', 'sleeps', 'needsRoom']

/** Runs a thread of the model until it is idle; returns the marks that it accesses. */
function accessesOf(transitions: () => Transition[], state: ReturnType<typeof initialState>): string[] {
  const accesses: string[] = []
  for (let [next] = transitions(); next !== undefined; [next] = transitions()) {
    const access = next.name
      .replace(/^\w+: /, '')
      .replace(/ to sleep$/, '')
      .replace('clear', 'store')
    if (access !== 'copy') accesses.push(access)
    next.apply(state)
  }
  return accesses
}

test('the ring accesses its marks in the order of the model, with the same values', (t) => {
  const random = seededRandom(11)
  const frames = Array.from({ length: 400 }, () => 1 + random.below(4))
  const model: RingModel = { slots: 4, frames, framesPerTurn: 2 }
  const memory = newRing(model.slots * slotBytes)
  const state = initialState(model)
  const accesses: string[] = []
  for (const name of ['load', 'store', 'exchange'] as const) {
    const original = Atomics[name] as (array: Int32Array, index: number, value?: number) => number
    t.mock.method(Atomics, name, (array: Int32Array, index: number, value?: number) => {
      accesses.push(`${name} ${marks[index]}`)
      return original(array, index, value)
    })
  }
  const wakes = { reader: 0, writer: 0 }
  const writer = new RingWriter(memory, () => wakes.reader++)
  const reader = new RingReader(memory, () => wakes.writer++)
  const view = new Int32Array(memory)
  let isAsleep = false
  for (let step = 0; step < 5_000; step++) {
    accesses.length = 0
    let expected: string[]
    switch (random.below(3)) {
      case 0: {
        const size = frames[state.sent]
        if (size === undefined) continue
        const bytes = (size - 1) * slotBytes
        writer.write(state.sent, [Buffer.alloc(bytes)], bytes)
        beginWrite(state)
        expected = accessesOf(() => (state.writer === 'idle' ? [] : writerTransitions(model, state)), state)
        break
      }
      case 1:
        writer.publish()
        beginPublish(model, state)
        expected = accessesOf(() => (state.writer === 'idle' ? [] : writerTransitions(model, state)), state)
        break
      default:
        reader.take(model.framesPerTurn, () => {})
        isAsleep = reader.sleep()
        beginTake(state)
        expected = accessesOf(() => (state.reader === 'idle' ? [] : readerTransitions(model, state)), state)
        equal(isAsleep, !state.isTakePlanned)
    }
    deepEqual(accesses, expected)
    const position = (index: number) => ((view[index] ?? 0) / slotBytes) % (model.slots * 2)
    deepEqual(
      [position(0), position(1), view[2] === 1, view[3] === 1, wakes.reader, wakes.writer, writer.isFull],
      [
        state.written,
        state.read,
        state.sleeps,
        state.needsRoom,
        state.readerWakes,
        state.writerWakes,
        state.sent > state.placed,
      ],
    )
  }
  equal(state.taken, frames.length)
})
