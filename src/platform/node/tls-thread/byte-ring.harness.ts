// A model of the byte ring and of the two event loops that use it. Each step is one access to shared memory, or one turn
// of an event loop that begins; everything that a thread does between two such accesses is invisible to the other thread.
// The model counts in slots: a frame takes as many slots as it has words of eight bytes, its head included.

export interface RingModel {
  readonly slots: number
  /** The frames that the writer sends, by how many slots each takes. */
  readonly frames: readonly number[]
  /** So many frames the reader takes in one turn. */
  readonly framesPerTurn: number
  /** A mistake, to show that the checks find it. */
  readonly fault?: Fault
}

export const faults = [
  'the reader sleeps without checking for frames again',
  'the reader sleeps without checking whether the writer needs room',
  'the reader frees a frame before it is copied',
  'the reader does not wake a writer that needs room',
  'the writer checks whether the reader sleeps before it publishes',
  'the writer publishes a frame before it is copied',
  'the writer ignores how far the reader is',
  'the writer does not say that it needs room',
] as const
export type Fault = (typeof faults)[number]

type WriterStep =
  | 'idle'
  | 'load read'
  | 'copy'
  | 'store written'
  | 'store needsRoom'
  | 'load sleeps'
  | 'exchange sleeps'
type ReaderStep =
  | 'idle'
  | 'load written'
  | 'copy'
  | 'store read'
  | 'load needsRoom'
  | 'exchange needsRoom'
  | 'store sleeps'
  | 'load written to sleep'
  | 'load needsRoom to sleep'
  | 'clear sleeps'

export interface RingState {
  // Shared memory. Positions count modulo `positionsOf`.
  written: number
  read: number
  sleeps: boolean
  needsRoom: boolean
  /** Which part of which frame each slot holds. */
  cells: string[]
  /** Messages that wake a thread and have not arrived. */
  readerWakes: number
  writerWakes: number
  // The writer.
  writer: WriterStep
  writerAt: number
  /** Frames that were written, and those of them that found room. */
  sent: number
  placed: number
  copiedIn: number
  isPublishing: boolean
  isFlushPlanned: boolean
  // The reader.
  reader: ReaderStep
  readerAt: number
  readerEnd: number
  taken: number
  takenInTurn: number
  copiedOut: number
  isTakePlanned: boolean
}

export const initialState = ({ slots }: RingModel): RingState => ({
  written: 0,
  read: 0,
  sleeps: false,
  needsRoom: false,
  cells: Array.from({ length: slots }, () => ''),
  readerWakes: 0,
  writerWakes: 0,
  writer: 'idle',
  writerAt: 0,
  sent: 0,
  placed: 0,
  copiedIn: 0,
  isPublishing: false,
  isFlushPlanned: false,
  reader: 'idle',
  readerAt: 0,
  readerEnd: 0,
  taken: 0,
  takenInTurn: 0,
  copiedOut: 0,
  isTakePlanned: true,
})

/** Positions wrap around, as those of the ring do at 2^32. */
const positionsOf = ({ slots }: RingModel): number => slots * 2

const isFull = ({ sent, placed }: RingState): boolean => sent > placed

/** A frame is lost, repeated, overwritten or read too early. */
export class RingViolation extends Error {
  override name = 'RingViolation'
}

export interface Transition {
  readonly name: string
  apply(state: RingState): void
}

/** Everything that may happen next. Exactly one of the transitions of each thread once it is not idle. */
export const transitionsOf = (model: RingModel, state: RingState): Transition[] => [
  ...writerTransitions(model, state),
  ...readerTransitions(model, state),
]

export function writerTransitions(model: RingModel, state: RingState): Transition[] {
  if (state.writer !== 'idle') return [{ name: `writer: ${state.writer}`, apply: (next) => writerStep(model, next) }]
  const turns: Transition[] = []
  if (state.sent < model.frames.length) turns.push({ name: 'writer: send', apply: (next) => beginWrite(next) })
  if (state.isFlushPlanned) turns.push({ name: 'writer: flush', apply: (next) => beginPublish(model, next) })
  if (state.writerWakes > 0)
    turns.push({
      name: 'writer: wake',
      apply(next) {
        next.writerWakes--
        if (isFull(next)) beginPublish(model, next)
      },
    })
  return turns
}

export function readerTransitions(model: RingModel, state: RingState): Transition[] {
  if (state.reader !== 'idle') return [{ name: `reader: ${state.reader}`, apply: (next) => readerStep(model, next) }]
  const turns: Transition[] = []
  if (state.isTakePlanned) turns.push({ name: 'reader: take', apply: (next) => beginTake(next) })
  if (state.readerWakes > 0)
    turns.push({
      name: 'reader: wake',
      apply(next) {
        next.readerWakes--
        if (!next.isTakePlanned) beginTake(next)
      },
    })
  return turns
}

/** RingWriter.write. */
export function beginWrite(state: RingState): void {
  state.isFlushPlanned = true
  state.isPublishing = false
  const wasFull = isFull(state)
  state.sent++
  if (!wasFull) state.writer = 'load read'
}

/** RingWriter.publish. */
export function beginPublish(model: RingModel, state: RingState): void {
  state.isFlushPlanned = false
  state.isPublishing = true
  state.writer = isFull(state) ? 'load read' : beforeWritten(model)
}

const beforeWritten = ({ fault }: RingModel): WriterStep =>
  fault === 'the writer checks whether the reader sleeps before it publishes' ? 'load sleeps' : 'store written'

function writerStep(model: RingModel, state: RingState): void {
  const { fault } = model
  const checksEarly = fault === 'the writer checks whether the reader sleeps before it publishes'
  const publishesEarly = fault === 'the writer publishes a frame before it is copied'
  switch (state.writer) {
    case 'idle':
      return
    case 'load read': {
      const used = distance(model, state.read, state.writerAt)
      const size = model.frames[state.placed] ?? 0
      const fits = used + size <= model.slots || fault === 'the writer ignores how far the reader is'
      state.copiedIn = 0
      if (fits && publishesEarly) state.written = (state.writerAt + size) % positionsOf(model)
      state.writer = fits ? 'copy' : state.isPublishing ? beforeWritten(model) : 'idle'
      return
    }
    case 'copy':
      return copyIn(model, state)
    case 'store written':
      state.written = state.writerAt
      if (isFull(state) && fault !== 'the writer does not say that it needs room') state.writer = 'store needsRoom'
      else state.writer = checksEarly ? 'idle' : 'load sleeps'
      return
    case 'store needsRoom':
      state.needsRoom = true
      state.writer = checksEarly ? 'idle' : 'load sleeps'
      return
    case 'load sleeps':
      if (state.sleeps) state.writer = 'exchange sleeps'
      else state.writer = checksEarly ? 'store written' : 'idle'
      return
    case 'exchange sleeps':
      if (state.sleeps) state.readerWakes++
      state.sleeps = false
      state.writer = checksEarly ? 'store written' : 'idle'
      return
    default:
      state.writer satisfies never
  }
}

/** Writes one slot; behind the last one the next frame that waits is tried. */
function copyIn(model: RingModel, state: RingState): void {
  const size = model.frames[state.placed] ?? 0
  const position = (state.writerAt + state.copiedIn) % positionsOf(model)
  if (distance(model, state.readerAt, position) >= model.slots)
    throw new RingViolation(`frame ${state.placed} overwrites bytes that were not read`)
  state.cells[position % model.slots] = `${state.placed}.${state.copiedIn}`
  state.copiedIn++
  if (state.copiedIn < size) return
  state.writerAt = (state.writerAt + size) % positionsOf(model)
  state.placed++
  if (!state.isPublishing) state.writer = 'idle'
  else state.writer = isFull(state) ? 'load read' : beforeWritten(model)
}

/** RingReader.take. */
export function beginTake(state: RingState): void {
  state.isTakePlanned = false
  state.takenInTurn = 0
  state.reader = 'load written'
}

/** RingReader.sleep. */
export const beginSleep = (state: RingState): void => void (state.reader = 'store sleeps')

function readerStep(model: RingModel, state: RingState): void {
  const { fault } = model
  switch (state.reader) {
    case 'idle':
      return
    case 'load written':
      state.readerEnd = state.written
      return nextFrame(model, state)
    case 'copy':
      return copyOut(model, state)
    case 'store read':
      state.read = state.readerAt
      state.taken++
      state.takenInTurn++
      return nextFrame(model, state)
    case 'load needsRoom':
      state.reader = state.needsRoom ? 'exchange needsRoom' : 'store sleeps'
      return
    case 'exchange needsRoom':
      if (state.needsRoom && fault !== 'the reader does not wake a writer that needs room') state.writerWakes++
      state.needsRoom = false
      state.reader = 'store sleeps'
      return
    case 'store sleeps':
      state.sleeps = true
      state.reader =
        fault === 'the reader sleeps without checking for frames again'
          ? 'load needsRoom to sleep'
          : 'load written to sleep'
      return
    case 'load written to sleep':
      if (state.written !== state.readerAt) state.reader = 'clear sleeps'
      else if (fault === 'the reader sleeps without checking whether the writer needs room') state.reader = 'idle'
      else state.reader = 'load needsRoom to sleep'
      return
    case 'load needsRoom to sleep':
      state.reader = state.needsRoom ? 'clear sleeps' : 'idle'
      return
    case 'clear sleeps':
      state.sleeps = false
      state.isTakePlanned = true
      state.reader = 'idle'
      return
    default:
      state.reader satisfies never
  }
}

function nextFrame(model: RingModel, state: RingState): void {
  state.copiedOut = 0
  const isDone = state.takenInTurn === model.framesPerTurn || state.readerAt === state.readerEnd
  state.reader = isDone ? 'load needsRoom' : 'copy'
  if (isDone || model.fault !== 'the reader frees a frame before it is copied') return
  state.read = (state.readerAt + (model.frames[state.taken] ?? 0)) % positionsOf(model)
}

/** Reads one slot, which must hold the next part of the next frame. */
function copyOut(model: RingModel, state: RingState): void {
  const expected = `${state.taken}.${state.copiedOut}`
  const found = state.cells[(state.readerAt + state.copiedOut) % model.slots]
  if (found !== expected) throw new RingViolation(`the reader finds ${found} instead of ${expected}`)
  state.copiedOut++
  const size = model.frames[state.taken] ?? 0
  if (state.copiedOut < size) return
  state.readerAt = (state.readerAt + size) % positionsOf(model)
  state.reader = 'store read'
}

const distance = (model: RingModel, from: number, to: number): number =>
  (to - from + positionsOf(model)) % positionsOf(model)

export interface Exploration {
  readonly states: number
  /** The names of the steps that lead to a violation. */
  readonly violation: { readonly message: string; readonly steps: readonly string[] } | undefined
}

interface Node {
  readonly state: RingState
  readonly step: string
  readonly before: Node | undefined
}

/** Visits every state that any interleaving of the two threads reaches, breadth first: a violation has the fewest steps. */
export function explore(model: RingModel): Exploration {
  const start: Node = { state: initialState(model), step: '', before: undefined }
  const seen = new Set([keyOf(start.state)])
  const stepsTo = (node: Node | undefined): string[] =>
    node?.before === undefined ? [] : [...stepsTo(node.before), node.step]
  let level = [start]
  while (level.length > 0) {
    const next: Node[] = []
    for (const node of level) {
      const transitions = transitionsOf(model, node.state)
      if (transitions.length === 0 && node.state.taken < model.frames.length) {
        const message = `both threads wait, and ${node.state.taken} of ${model.frames.length} frames have arrived`
        return { states: seen.size, violation: { message, steps: stepsTo(node) } }
      }
      for (const { name, apply } of transitions) {
        const state = { ...node.state, cells: [...node.state.cells] }
        try {
          apply(state)
        } catch (error) {
          if (!(error instanceof RingViolation)) throw error
          return { states: seen.size, violation: { message: error.message, steps: [...stepsTo(node), name] } }
        }
        const key = keyOf(state)
        if (seen.has(key)) continue
        seen.add(key)
        next.push({ state, step: name, before: node })
      }
    }
    level = next
  }
  return { states: seen.size, violation: undefined }
}

const keyOf = (state: RingState): string => Object.values(state).join(' ')
